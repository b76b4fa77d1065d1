//! `gpubench recover`: iterations whose worker is killed go on from their file; do they end as they
//! do undisturbed?

use super::found;
use super::run::locks::{self, IfTaken};
use super::run::{cases, trust};
use super::show::print;
use crate::store::Scratch;
use crate::worker::{Drill, Remotes, Try, host};
use cases::Filters;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::Outcome;
use gpubench_device::device_choice::Selector;
use gpubench_experiments::plan::{Candidate, Case, Limits};
use gpubench_experiments::registry::RESUMABLE;
use gpubench_report::progress::say;
use gpubench_suite::Suite;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::process::ExitCode;
use std::time::Duration;

/// Arguments of `gpubench recover`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A suite file, or the name of an embedded suite; of its cases, those that measure `checkpoint`
    #[arg(default_value = "checkpoint")]
    suite: String,
    #[command(flatten)]
    selector: Selector,
    /// Only cases with this in their name, this tag, or this size (`'n<=192'`); several must all hold
    #[arg(long, value_name = "FILTER")]
    filter: Vec<String>,
    /// How often each iteration is killed, on one, four and eight queues in turn
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    tries: u32,
    /// Seed of the inputs and of the moments
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run the kernels that came with the suite, and remember that you trust them as they are now
    #[arg(long)]
    trust: bool,
}

/// Queues of the tries, in turn, as far as a device has them.
const QUEUE_COUNTS: [u32; 3] = [1, 4, 8];

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    let suite = gpubench_experiments::load(&args.suite)?;
    let filters = Filters::parse(&args.filter, &suite)?;
    let devices = found::measured(&args.selector, &Remotes::default(), suite.layers)?;
    trust::ask(&suite, args.trust)?;
    let Some(_locks) = locks::take(&devices, &Remotes::default(), IfTaken::Wait)? else {
        return Ok(ExitCode::from(130));
    };
    let (mut all_well, mut any) = (true, false);
    for device in &devices {
        for case in iterations(&suite, &filters, device, args.seed)? {
            any = true;
            all_well &= recover_and_report(&args, device, &case)?;
        }
    }
    if !any {
        return Err(Error::Usage("no case that measures `checkpoint` can be run here".into()));
    }
    Ok(ExitCode::from(if all_well { 0 } else { 4 }))
}

/// The cases that can be run on a device; those that cannot are reported.
fn iterations(
    suite: &Suite,
    filters: &Filters,
    device: &DeviceInfo,
    seed: u64,
) -> Result<Vec<Case>> {
    let host = host();
    let limits = Limits {
        memory: suite.budget.memory,
        seconds: 120.0,
        seed,
        cores: host.cores,
        host_memory: host.known_memory(),
    };
    let cases = cases::cases(suite, filters, device, 0, &limits);
    for record in cases.skipped.iter().filter(|r| r.key.measure == RESUMABLE) {
        let why = record.outcome.details().join("\n  ");
        say(&format!("{} on {}: skipped: {why}", record.key, device.label()));
    }
    let wanted = |case: &Case| case.key.measure == RESUMABLE;
    Ok(cases.run.into_iter().filter(wanted).collect())
}

/// Kills one case's worker again and again, and reports the outcome; whether all was well.
fn recover_and_report(args: &Args, device: &DeviceInfo, case: &Case) -> Result<bool> {
    let scratch = Scratch::new()?;
    let name = format!("{} on {}", case.key, device.label());
    match tries(args, device, case, &scratch) {
        Ok(tries) => {
            let passes = case.candidates.first().map_or(1, Candidate::pass_count);
            print(&text(&name, &tries, passes))?;
            Ok(tries.iter().all(|one| one.equal))
        }
        Err(outcome) => {
            let lines: String =
                outcome.details().iter().map(|line| format!("  {line}\n")).collect();
            print(&format!("{name}: {}\n{lines}", outcome.label()))?;
            Ok(false)
        }
    }
}

fn tries(
    args: &Args,
    device: &DeviceInfo,
    case: &Case,
    scratch: &Scratch,
) -> Result<Vec<Try>, Outcome> {
    let mut drill = Drill::new(device, args.selector.simulation(), case, scratch.path())?;
    let mut rng = Pcg64Mcg::seed_from_u64(args.seed);
    let mut queues = vec![];
    for count in QUEUE_COUNTS.into_iter().filter(|&count| count <= device.queues) {
        queues.push((count, drill.seconds(count)?));
    }
    let (mut all, count) = (vec![], queues.len());
    for at in 0..args.tries as usize {
        let (queues, seconds) = &mut queues[at % count];
        let moment = *seconds * rng.random::<f64>();
        let one = drill.once(*queues, Duration::from_secs_f64(moment))?;
        if !one.killed {
            // It was over by then: the machine was slower when the time was taken.
            *seconds = moment;
        }
        all.push(one);
    }
    Ok(all)
}

fn text(name: &str, tries: &[Try], passes: usize) -> String {
    let count = |is: fn(&Try) -> bool| tries.iter().filter(|one| is(one)).count();
    let times = |n: usize| if n == 1 { "once".to_owned() } else { format!("{n} times") };
    let from = || tries.iter().filter(|one| one.killed && one.from > 0).map(|one| one.from);
    let gone_on = match (from().min(), from().max()) {
        (Some(low), Some(high)) => {
            format!("; gone on {} from passes {low} to {high} of {passes}", times(from().count()))
        }
        _ => String::new(),
    };
    format!(
        "{name}: {} of {} equal to the bit\n  killed {}, while a state was written {}{gone_on}\n",
        count(|one| one.equal),
        tries.len(),
        times(count(|one| one.killed)),
        times(count(|one| one.writing)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_are_counted_by_their_result() {
        let one = Try { killed: true, writing: true, from: 12, equal: true };
        let tries = [
            one,
            Try { writing: false, from: 0, ..one },
            Try { from: 48, equal: false, ..one },
            Try { killed: false, writing: false, from: 60, ..one },
        ];
        assert_eq!(
            text("floyd n=64 on sim:8", &tries, 64),
            "floyd n=64 on sim:8: 3 of 4 equal to the bit\n  killed 3 times, while a state was \
             written 2 times; gone on 2 times from passes 12 to 48 of 64\n"
        );
        assert!(
            text("a", &tries[1..2], 64)
                .ends_with("killed once, while a state was written 0 times\n")
        );
    }
}
