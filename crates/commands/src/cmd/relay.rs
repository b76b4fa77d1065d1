//! `gpubench relay`: serve a run in another machine (started by `run --on`).

use super::found;
use crate::worker::{SILENCE, SILENCES, relay};
use gpubench_core::error::Result;
use std::time::Duration;

/// Arguments of `gpubench relay`; everything else arrives on stdin.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Seconds without a byte from the run after which it is taken for gone
    #[arg(long, value_name = "SECONDS", value_parser = silence, default_value_t = SILENCE.as_secs_f64())]
    silence: f64,
}

/// Runs the command.
pub fn run(args: Args) -> Result<()> {
    relay(&found::list_here, Duration::from_secs_f64(args.silence))
}

fn silence(text: &str) -> Result<f64, String> {
    let expected =
        || format!("expected seconds between {} and {}", SILENCES.start(), SILENCES.end());
    text.parse().ok().filter(|seconds| SILENCES.contains(seconds)).ok_or_else(expected)
}
