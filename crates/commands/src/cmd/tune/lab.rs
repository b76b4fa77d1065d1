//! Variants measured on a device, by a worker: one that crashes or hangs costs its own try only.

use super::Args;
use super::search::{Attempt, Lab};
use super::target::Target;
use crate::cmd::run::interrupt;
use crate::store::tuned::{Tried, TunedFile};
use crate::worker::WorkerSupervisor;
use gpubench_core::error::{Error, Result};
use gpubench_core::reason::Reason;
use gpubench_core::record::{Outcome, Record};
use gpubench_core::text::printable;
use gpubench_core::units::seconds;
use gpubench_experiments::plan::Limits;
use gpubench_experiments::{Policy, Race};
use gpubench_report::progress::say;
use gpubench_stats::Summary;
use gpubench_tune::Interval;
use std::path::Path;
use std::time::Duration;

/// A variant whose launch takes so many times as long as the best is not even launched whole.
const TOO_LONG: f64 = 20.0;
/// A launch of so many seconds is bearable, whatever the best takes.
const BEARABLE: f64 = 0.05;
/// The longest launch, in seconds, where the user does not say.
const LONGEST: f64 = 2.0;
/// Losses of the device in a row after which no variant can be measured any more.
const ENOUGH: u32 = 3;
/// A reason longer than this is cut.
pub(super) const MAX_WHY: usize = 200;

/// A device that measures variants.
pub struct DeviceLab<'a> {
    target: &'a Target,
    /// The command line: how variants are measured.
    args: &'a Args,
    limits: &'a Limits,
    cache: &'a Path,
    file: &'a mut TunedFile,
    supervisor: WorkerSupervisor,
    lost: u32,
    best: Option<f64>,
}

impl<'a> DeviceLab<'a> {
    /// Of this target; inputs and expected results are kept in `cache`, tries go to `file`.
    pub fn new(
        target: &'a Target,
        args: &'a Args,
        limits: &'a Limits,
        cache: &'a Path,
        file: &'a mut TunedFile,
    ) -> Self {
        let supervisor = supervisor(target, args);
        Self { target, args, limits, cache, file, supervisor, lost: 0, best: None }
    }

    /// Ends the worker.
    pub fn leave(mut self) {
        self.supervisor.leave();
    }

    fn policy(&self, best: Option<f64>) -> Policy {
        let longest = self.args.longest_launch.unwrap_or(LONGEST);
        let launch =
            best.map_or(longest, |best| (TOO_LONG * best).clamp(BEARABLE, longest.max(BEARABLE)));
        Policy {
            min_samples: 7,
            max_samples: 60,
            target: 0.01,
            warmup: 0.3,
            seconds: 0.8,
            allowed_launch: Some(launch),
            race: Some(Race { best }),
            cache: Some(self.cache.to_owned()),
            ..Policy::default()
        }
    }
}

fn supervisor(target: &Target, args: &Args) -> WorkerSupervisor {
    let timeout = args.timeout.map(Duration::from_secs_f64);
    WorkerSupervisor::new(target.device.clone(), args.selector.simulation(), timeout)
}

impl Lab for DeviceLab<'_> {
    fn attempt(&mut self, variant: usize, best: Option<f64>) -> Result<Attempt> {
        let case = match self.target.case(&self.target.device, variant, self.limits) {
            Ok(case) => case,
            Err(reason) => {
                let why = Some(printable(&reason.to_string(), MAX_WHY));
                return Ok(Attempt { outcome: "unsupported".into(), why, ..Attempt::default() });
            }
        };
        let record = self.supervisor.measure(&case, &self.policy(best), &mut |_| {});
        if matches!(record.outcome, Outcome::Crash { .. } | Outcome::Timeout(_)) {
            // The variant is to blame, and not the device: its failures are not counted against that.
            self.supervisor = supervisor(self.target, self.args);
        }
        self.lost =
            if matches!(record.outcome, Outcome::DeviceLost(_)) { self.lost + 1 } else { 0 };
        if self.lost >= ENOUGH {
            let device = self.target.device.label();
            return Err(Error::DeviceLost(format!("{device} was lost {ENOUGH} times in a row")));
        }
        Ok(attempt(&record))
    }

    fn interrupted(&self) -> bool {
        interrupt::asked()
    }

    fn note(&mut self, variant: usize, attempt: &Attempt) -> Result<()> {
        let Target { device, workload, .. } = self.target;
        let kernel = self.target.kernel(variant);
        let time = attempt.interval.map(|interval| interval.time);
        if let Some(time) = time.filter(|time| self.best.is_none_or(|best| *time < best)) {
            self.best = Some(time);
            if !self.args.quiet {
                let (label, name) = (device.label(), &workload.name);
                say(&format!("{label} {name}: {} with {}", seconds(time), kernel.variant));
            }
        }
        let attempt = attempt.clone();
        self.file.append(Tried {
            outcome: attempt.outcome,
            why: attempt.why,
            launch: attempt.launch,
            seconds: attempt.interval.map(|at| [at.low, at.time, at.high]),
            samples: attempt.samples,
            ..Tried::new(device, workload, &kernel, self.target.size())
        })
    }
}

/// What a record says of its variant. Times count only where the result is right, or the suite verifies nothing.
fn attempt(record: &Record) -> Attempt {
    let samples = record.measured.as_ref().map_or(&[][..], |measured| &measured.samples);
    let right = record.outcome.ran();
    let summary = Summary::of(samples).filter(|summary| right && summary.median > 0.0);
    let interval = summary.map(|summary| {
        let [low, high] = summary.interval;
        Interval { low, time: summary.median, high }
    });
    let outcome = if interval.is_some() { "ok" } else { record.outcome.label() };
    let why = why(&record.outcome).map(|why| printable(&why, MAX_WHY));
    // What the device's language lacks is known without it.
    let on_device = !matches!(record.outcome, Outcome::Unsupported(_));
    let launch = slow_launch(&record.outcome);
    Attempt {
        interval,
        launch,
        outcome: outcome.to_owned(),
        why,
        samples: samples.len(),
        on_device,
    }
}

/// Seconds of a launch that lost the race by itself.
fn slow_launch(outcome: &Outcome) -> Option<f64> {
    match outcome {
        Outcome::Skipped(Reason::Slow { launch, .. }) => Some(*launch),
        _ => None,
    }
}

/// More about a failure, in a line.
fn why(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::BuildError(log) => {
            let line = |line: &&str| line.contains("error");
            log.lines().find(line).or(log.lines().next()).map(str::to_owned)
        }
        other => other.details().into_iter().next(),
    }
}

/// A try of an earlier search as an attempt.
pub fn earlier(tried: &Tried) -> Attempt {
    let interval = tried.seconds.map(|[low, time, high]| Interval { low, time, high });
    Attempt {
        interval,
        launch: tried.launch,
        outcome: tried.outcome.clone(),
        why: tried.why.clone(),
        samples: tried.samples,
        on_device: tried.outcome != "unsupported" || tried.samples > 0,
    }
}
