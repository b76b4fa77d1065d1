//! `gpubench relay`: serve a run in another machine (started by `run --on`).

use super::found;
use crate::worker::relay;
use gpubench_core::error::Result;
use std::process::ExitCode;

/// Arguments of `gpubench relay`: there are none, everything else arrives on stdin.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_: Args) -> Result<ExitCode> {
    relay(&found::list_here)?;
    Ok(ExitCode::SUCCESS)
}
