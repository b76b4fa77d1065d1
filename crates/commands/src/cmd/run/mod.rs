//! `gpubench run`: run a suite on every device and write its results.

mod args;
pub(super) mod cases;
mod cross_device_oracle;
mod deferred;
mod deferred_order;
mod device_round;
mod dry;
mod estimate;
mod expected_launch;
mod finalists;
pub(super) mod interrupt;
pub(super) mod locks;
mod machines;
mod multi_device;
mod multi_device_round;
mod overhead;
mod planned;
mod resume;
mod rounds;
mod session;
mod time_budget;
pub(super) mod trust;
mod turns;

use super::found;
use super::report::{self, Shown};
use super::results;
use super::show::{print, print_report, warnings};
use crate::store::{Writer, result_name};
use crate::worker::{Remote, Remotes};
pub use args::Args;
use args::TEXT;
pub(super) use args::limit;
use cases::Filters;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::{Header, InTurn};
use gpubench_core::text::{counted, printable};
use gpubench_core::units::seconds;
use gpubench_core::workload::Kind;
use gpubench_device::browser::BROWSER;
use gpubench_device::device_choice::Selector;
use gpubench_experiments::registry::{COLD, experiment};
use gpubench_report::progress::say;
use gpubench_report::terminal::{Invocation, time};
use gpubench_suite::{Requested, Suite};
use machines::{Ended, Part};
use planned::{Plan, any_seed, new_header};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Sections that a run leaves to `gpubench report`.
const OF_REPORT: [&str; 3] = ["ranking", "rooflines", "environment"];

/// The suite with cold caches: what it asks for of kernels' times is asked for cold, and nothing else.
///
/// # Errors
/// `Usage` where it times no kernel.
fn cold(mut suite: Suite) -> Result<Suite> {
    for workload in &mut suite.workloads {
        let timed = |requested: &Requested| [Kind::KERNEL, COLD].contains(&requested.kind());
        let asked = workload.measure.iter().any(timed);
        workload.measure = match experiment(COLD).filter(|_| asked) {
            Some(cold) => {
                vec![Requested { experiment: cold.kind, options: Arc::new(()) }]
            }
            None => vec![],
        };
        // Nothing is slower than with cold caches, so that this bounds nothing.
        workload.ceiling = None;
    }
    suite.workloads.retain(|workload| !workload.measure.is_empty());
    if suite.workloads.is_empty() {
        let why = format!("suite `{}` times no kernel, and --cold is for kernels", suite.name);
        return Err(Error::Usage(why));
    }
    // It is another suite: a run of one does not go on as the other.
    suite.hash = resume::cold_hash(&suite.hash);
    Ok(suite)
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    runs(args).map(|(code, _)| ExitCode::from(code))
}

/// The exit code, and the files of the runs of the suite that ended.
pub(super) fn runs(args: Args) -> Result<(u8, Vec<PathBuf>)> {
    let load = |name: &String| {
        let suite = gpubench_experiments::load(name)?;
        if args.cold { cold(suite) } else { Ok(suite) }
    };
    let suite = load(&args.suite)?;
    let mut against = args.against.as_ref().map(load).transpose()?;
    // As many rounds, and as long.
    against.iter_mut().for_each(|other| other.budget = suite.budget);
    match &args.resume {
        Some(file) => resume(&args, &suite, file),
        None => start(&args, &suite, against.as_ref()),
    }
}

/// Begins a new run, or several, or only says what it would do.
fn start(args: &Args, suite: &Suite, against: Option<&Suite>) -> Result<(u8, Vec<PathBuf>)> {
    let filters = Filters::parse(&args.filter, suite)?;
    if args.list {
        list(args, suite, &filters)?;
        return Ok((0, vec![]));
    }
    interrupt::listen();
    let remotes = args.remotes.connect()?;
    let suites: Vec<&Suite> = std::iter::once(suite).chain(against).collect();
    let chosen = chosen(args, &suites, &remotes)?;
    let parts: Vec<&[DeviceInfo]> = match args.per_device {
        true => chosen.chunks(1).collect(),
        false => vec![&chosen],
    };
    if parts.len() > 1 && is_file(&args.output) {
        let why = "is one file, --per-device writes several: name a folder";
        return Err(Error::Usage(format!("{}: {why}", args.output.display())));
    }
    if args.dry_run {
        for devices in parts {
            describe(&plans(args, &suites, &filters, (devices, &remotes))?, devices)?;
        }
        return Ok((0, vec![]));
    }
    suites.iter().try_for_each(|suite| ask_trust(args, suite, &remotes))?;
    let mut worst = 0;
    let mut files: Vec<PathBuf> = vec![];
    'all: for _ in 0..args.repeat.unwrap_or(1) {
        for &devices in &parts {
            let Some(ends) = carry_out(args, &suites, &filters, (devices, &remotes))? else {
                return Ok((interrupt::EXIT, files));
            };
            if let Some(ended) = ends.first() {
                worst = worst.max(conclude(args, suite, ended, &took(&ends))?);
                files.push(ended.path.clone());
            }
            if let [new, old] = &ends[..] {
                say_of_old(old, &new.path);
            }
            if ends.iter().any(|ended| ended.interrupted) {
                break 'all;
            }
        }
    }
    if worst != interrupt::EXIT {
        document(args, &files)?;
    }
    say_of_noise(args, &files);
    Ok((worst, files))
}

/// Shows the cases.
fn list(args: &Args, suite: &Suite, filters: &Filters) -> Result<()> {
    // Cases are no device's, but a mistake in its name is one.
    if args.selector.names_devices() || !args.selector.backend.is_empty() {
        found::find(&args.selector, &args.remotes.connect()?)?;
    }
    print(&dry::list(suite, filters))
}

/// The devices that were asked for.
fn chosen(args: &Args, suites: &[&Suite], remotes: &Remotes) -> Result<Vec<DeviceInfo>> {
    let layers = suites.iter().any(|suite| suite.layers);
    let chosen = found::measured(&args.selector, remotes, layers)?;
    if suites.len() > 1 && chosen.iter().any(|device| device.backend == BROWSER) {
        let why = "a browser's page serves one worker: run one suite after the other";
        return Err(Error::Usage(format!("--against: {why}")));
    }
    Ok(chosen)
}

/// Measures the suites, each into a file of its own; `None` where it was interrupted before it began.
fn carry_out(
    args: &Args,
    suites: &[&Suite],
    filters: &Filters,
    (devices, remotes): (&[DeviceInfo], &Remotes),
) -> Result<Option<Vec<Ended>>> {
    let plans = plans(args, suites, filters, (devices, remotes))?;
    let name = &suites[0].name;
    let parts = plans.into_iter().enumerate().map(|(at, plan)| {
        let create = move |header: &Header| create(&args.output, header, name, at > 0);
        Part { plan, writer: Box::new(create), records: vec![] }
    });
    machines::carry_out(parts.collect(), (devices, remotes), args)
}

/// Says what repeated runs are good for.
fn say_of_noise(args: &Args, files: &[PathBuf]) {
    if args.repeat.is_some() && files.len() > 1 {
        let names: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
        let names = names.join(" ");
        say(&format!("to keep each case's noise floor: gpubench baseline save {names}"));
    }
}

/// What would be done: of each suite where two would be measured in turn.
fn describe(plans: &[Plan], devices: &[DeviceInfo]) -> Result<()> {
    for plan in plans {
        if plans.len() > 1 {
            print(&format!("Suite {}\n", printable(&plan.suite.name, 60)))?;
        }
        print(&plan.describe(devices))?;
    }
    match Plan::outlook_of_both(plans) {
        Some(both) => print(&format!("{both}\n")),
        None => Ok(()),
    }
}

/// What it took of what was estimated: of both suites where two were measured in turn.
fn took(ends: &[Ended]) -> String {
    let both = if ends.len() > 1 { ", both suites" } else { "" };
    let took = seconds(ends.iter().map(|one| one.seconds).sum());
    let estimated: f64 = ends.iter().map(|one| one.estimated).sum();
    // What is left of a run that goes on was estimated when it began.
    let of = (estimated > 0.0).then(|| format!(" of {} estimated", seconds(estimated)));
    format!("took {took}{}{both}", of.unwrap_or_default())
}

/// Where the old state's results are, what of it does not count (`compare` leaves it out), and how to compare the new with
/// it.
fn say_of_old(old: &Ended, new: &Path) {
    let failed = old.records.iter().filter(|record| record.outcome.is_failure()).count();
    let failed = match failed {
        0 => String::new(),
        failed => format!(", of which {} failed", counted(failed, "record")),
    };
    let (new, old) = (new.display(), old.path.display());
    say(&format!("results of the old suite: {old}{failed}"));
    say(&format!("to compare: gpubench compare {new} {old}"));
}

/// The plan of each suite on these devices. Where there are two, they are measured in turn: in as many rounds, in the
/// same order, for as long.
///
/// # Errors
/// As [`Plan::new`]; `Usage` where the two need the devices of several machines in different ways.
fn plans<'a>(
    args: &'a Args,
    suites: &[&'a Suite],
    filters: &Filters,
    (devices, remotes): (&[DeviceInfo], &Remotes),
) -> Result<Vec<Plan<'a>>> {
    let mut plans: Vec<Plan<'a>> = vec![];
    for suite in suites {
        let mut header = new_header(args, suite, devices, remotes)?;
        if let Some(Plan { header: first, time_budget, .. }) = plans.first() {
            header = Header {
                seed: first.seed,
                budget: time_budget.total(),
                in_turn: first.in_turn.clone().map(|first| InTurn { is_old: true, ..first }),
                ..header
            };
        } else if suites.len() > 1 {
            let pair = format!("{:016x}", any_seed());
            header.in_turn = Some(InTurn { pair, is_old: false });
        }
        plans.push(Plan::new(args, suite, filters, header)?);
    }
    if let [first, second] = &plans[..]
        && first.shares != second.shares
    {
        let why = "one of the suites verifies by another device, and the other does not";
        return Err(Error::Usage(format!("--against: {why}: use one machine")));
    }
    Ok(plans)
}

/// Asks for trust where the suite wants it, and tells the other machines: those of a suite that wants none are told of
/// none, and check by themselves that its kernels are gpubench's.
fn ask_trust(args: &Args, suite: &Suite, remotes: &Remotes) -> Result<()> {
    if trust::ask(suite, args.trust)? {
        remotes.iter().for_each(Remote::trust);
    }
    Ok(())
}

/// Goes on with the run in `file`.
fn resume(args: &Args, suite: &Suite, file: &Path) -> Result<(u8, Vec<PathBuf>)> {
    interrupt::listen();
    let (writer, run) = Writer::resume(file)?;
    warnings(&run.warnings);
    let filters = Filters::parse(&run.header.filters, suite)?;
    let backend = run.header.devices.iter().map(|device| device.backend.clone()).collect();
    let remotes = args.remotes.connect()?;
    let selector = Selector { backend, sim: args.selector.sim.clone(), device: vec![] };
    let here = found::list(&selector, &remotes)?;
    let chosen = resume::check(&run.header, suite, &here)?;
    resume::check_simulated(&args.selector, &chosen, &here)?;
    ask_trust(args, suite, &remotes)?;
    // What is asked for now holds, as with the budget.
    let header = Header { cool_down: args.cool_down.or(run.header.cool_down), ..run.header };
    let then = header.tuned.clone();
    let plan = Plan::new(args, suite, &filters, header)?;
    resume::check_tuned(then.as_deref(), plan.header.tuned.as_deref())?;
    let part = Part { plan, writer: Box::new(|_| Ok(writer)), records: run.records };
    let ends = machines::carry_out(vec![part], (&chosen, &remotes), args)?.unwrap_or_default();
    let Some(ended) = ends.first() else { return Ok((interrupt::EXIT, vec![])) };
    let code = conclude(args, suite, ended, &took(&ends))?;
    let files = vec![ended.path.clone()];
    if !ended.interrupted {
        document(args, &files)?;
    }
    Ok((code, files))
}

/// One report of all results, in a format other than text.
fn document(args: &Args, files: &[PathBuf]) -> Result<()> {
    if args.format.name == TEXT.name {
        return Ok(());
    }
    let text = report::text(results::open_all(files)?, args.format, &Shown::default(), &[])?;
    print_report(args.format, &text)
}

/// Whether an output is a file by its name, rather than a folder.
fn is_file(output: &Path) -> bool {
    output.extension().is_some_and(|extension| extension == "jsonl")
}

/// `output` is the file where it says so, else the folder, in which the file is named after a suite. The run that another is
/// compared with is called as that one, `….old`.
fn create(output: &Path, header: &Header, suite: &str, is_old: bool) -> Result<Writer> {
    if is_file(output) {
        let old = output.with_extension("old.jsonl");
        return Writer::create_at(if is_old { &old } else { output }, header);
    }
    let stem = result_name(&header.started, &header.host.name, &header.devices, suite);
    Writer::create(output, &(stem + if is_old { ".old" } else { "" }), header)
}

/// The options that the same run needs again: its header keeps hashes of what they ask for, and no more.
fn needed_again(args: &Args) -> String {
    let cold = if args.cold { " --cold" } else { "" };
    let tuned = args.tuned.as_ref().map(|file| format!(" --tuned {}", file.display()));
    format!("{cold}{}", tuned.unwrap_or_default())
}

/// Reports the outcome of a run, and gives the exit code.
fn conclude(args: &Args, suite: &Suite, ended: &Ended, took: &str) -> Result<u8> {
    let path = ended.path.display();
    if ended.interrupted {
        // No table: half of one would be taken for the whole.
        let files = args.selector.simulation();
        let files = files.files().iter().map(|file| format!(" {}", file.display()));
        let sim = files.reduce(|all, file| all + &file).map(|files| format!(" --sim{files}"));
        let count = ended.records.len();
        if ended.header.in_turn.is_some() {
            say(&format!("interrupted; {count} records are in {path}"));
            return Ok(interrupt::EXIT);
        }
        say(&format!(
            "interrupted; {count} records are in {path}\nto go on: gpubench run {} --resume {path}{}{}{}",
            args.suite,
            args.remotes.written(),
            sim.unwrap_or_default(),
            needed_again(args)
        ));
        return Ok(interrupt::EXIT);
    }
    if args.format.name == TEXT.name {
        let run = results::open(&ended.path)?;
        print_report(TEXT, &report::text(vec![run], TEXT, &Shown::default(), &OF_REPORT)?)?;
        let records = &ended.records[ended.resumed_at..];
        print(&time(Invocation { seconds: ended.seconds, records }))?;
        let models = super::fit::short_summary(suite, &ended.header, &ended.records);
        if !models.is_empty() {
            print(&format!("\n{models}"))?;
        }
    }
    say(took);
    say(&format!("results: {path}"));
    let outcomes = || ended.records.iter().map(|record| &record.outcome);
    let nothing = outcomes().all(|outcome| outcome.is_skipped());
    if nothing {
        say("nothing was run: every case was skipped");
    }
    let failed = nothing || outcomes().any(|outcome| outcome.is_failure());
    Ok(if failed { 4 } else { 0 })
}
