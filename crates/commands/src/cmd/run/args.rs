//! What the command line of `gpubench run` takes.

use crate::cmd::remotes::RemoteArgs;
use crate::cmd::report;
use gpubench_core::record::CoolDown;
use gpubench_device::device_choice::Selector;
use gpubench_report::formats::{FORMATS, Format};
use gpubench_suite::{ROUNDS, SECONDS};
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Arguments of `gpubench run`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A suite file, or the name of an embedded suite
    #[arg(default_value = "quick")]
    pub(super) suite: String,
    #[command(flatten)]
    pub(super) selector: Selector,
    #[command(flatten)]
    pub(super) remotes: RemoteArgs,
    /// Only cases with this in their name, this tag, or this size (`'n>=512'`); several must all hold
    #[arg(long, value_name = "FILTER")]
    pub(super) filter: Vec<String>,
    /// Rounds, each in a fresh process (default: the suite's, else 3, and more while the time budget lasts;
    /// one with --verify)
    #[arg(long, value_parser = clap::value_parser!(u32).range(rounds()))]
    pub(super) rounds: Option<u32>,
    /// Repeat the whole run N times, or until interrupted; each has its own result file
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "4294967295",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) repeat: Option<u32>,
    /// Seed of the inputs and of the order of cases (default: a new one, noted in the result)
    #[arg(long)]
    pub(super) seed: Option<u64>,
    /// List the cases and stop
    #[arg(long)]
    pub(super) list: bool,
    /// Show cases, memory, estimated time and skipped cases, and stop
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Check results only, measure nothing: the first variant of each case that builds, small parts of its
    /// grid before the whole
    #[arg(long)]
    pub(super) verify: bool,
    /// Time kernels with cold caches: before every launch, twice the last level of cache is written over.
    /// What is not a kernel's time is skipped
    #[arg(long)]
    pub(super) cold: bool,
    /// Run the kernels that came with the suite, and remember that you trust them as they are now
    #[arg(long)]
    pub(super) trust: bool,
    /// Take the variants that `gpubench tune` found for each device and size, from its file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list"])]
    pub(super) tuned: Option<PathBuf>,
    /// Seconds for each device (default: the suite's, and at most 5 a case under a --filter)
    #[arg(long, value_name = "SECONDS", value_parser = limit)]
    pub(super) budget: Option<f64>,
    /// Before each case but a device's first, let the device cool down: for so many seconds, or until it (else
    /// its host) is below a temperature, as `50C`, for at most 120 s, or `50C:300`
    #[arg(long, value_name = "SECONDS|TEMPERATURE", value_parser = str::parse::<CoolDown>,
          conflicts_with_all = ["verify", "list"])]
    pub(super) cool_down: Option<CoolDown>,
    /// Measure another suite in turn with this one, case by case: an older state of the same kernels, to compare with
    /// on a machine whose speed changes. Its results go to a file of their own, `….old.jsonl`
    #[arg(long, value_name = "SUITE", conflicts_with_all = ["verify", "list", "resume", "tuned"])]
    pub(super) against: Option<String>,
    /// In which format to report on standard output, as `gpubench report` would
    #[arg(long, value_parser = report::formats(|_| true), default_value = TEXT.name,
          conflicts_with_all = ["list", "dry_run"])]
    pub(super) format: &'static Format,
    /// Longest that one stage of a case may take before its worker is killed (default: by stage)
    #[arg(long, value_name = "SECONDS", value_parser = limit)]
    pub(super) timeout: Option<f64>,
    /// Longest that one launch may take (default: 2, and no more than lets its samples fit their time)
    #[arg(long, value_name = "SECONDS", value_parser = limit)]
    pub(super) longest_launch: Option<f64>,
    /// Result file (`….jsonl`) or folder
    #[arg(long, short, value_name = "PATH", default_value = "results")]
    pub(super) output: PathBuf,
    /// Run the devices one after the other, each with a result file of its own
    #[arg(long)]
    pub(super) per_device: bool,
    /// Go on with a run that was cut short
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["device", "backend", "filter", "rounds", "repeat", "seed", "verify",
                                "output", "list", "dry_run", "per_device"])]
    pub(super) resume: Option<PathBuf>,
    /// Measure even while another run measures the same device
    #[arg(long)]
    pub(super) no_lock: bool,
    /// Leave rather than wait while another run measures the same device
    #[arg(long)]
    pub(super) no_wait: bool,
    /// Show no progress
    #[arg(long, short)]
    pub(super) quiet: bool,
}

/// The format that each run of several is reported in by itself.
pub(super) const TEXT: &Format = &FORMATS[0];

/// What `--rounds` takes, as the argument's parser wants it.
fn rounds() -> RangeInclusive<i64> {
    i64::from(*ROUNDS.start())..=i64::from(*ROUNDS.end())
}

pub fn limit(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if SECONDS.contains(&seconds) => Ok(seconds),
        _ => Err(format!("expected seconds between {} and {}", SECONDS.start(), SECONDS.end())),
    }
}
