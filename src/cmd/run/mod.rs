//! `gpubench run`: run a suite on every device and write its results.

pub(super) mod cases;
mod dry;
mod interrupt;
pub(super) mod locks;
mod pace;
mod resume;
mod session;
mod together;
pub(super) mod trust;
mod witness;

use super::found;
use super::show::{print, style};
use crate::analyse::flag_implausible;
use crate::backend::select::Selector;
use crate::error::{Error, Result};
use crate::gpu::DeviceInfo;
use crate::measure::Policy;
use crate::plan::Limits;
use crate::record::{Header, VERSION};
use crate::report::progress::say;
use crate::report::terminal::{Sitting, report};
use crate::store::{Scratch, Writer, result_name};
use crate::suite::{ROUNDS, SECONDS, Suite, Workload};
use crate::units::Bytes;
use crate::worker::{Seat, host};
use crate::workload::{Measure, Verify};
use cases::{Filters, cases, count, seconds_each};
use pace::Pace;
use session::{Ended, Session};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use together::Joint;
use witness::Witness;

/// Arguments of `gpubench run`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A suite file, or the name of an embedded suite
    #[arg(default_value = "quick")]
    suite: String,
    #[command(flatten)]
    selector: Selector,
    /// Only cases with this in their name, this tag, or this size (`'n>=512'`); several must all hold
    #[arg(long, value_name = "FILTER")]
    filter: Vec<String>,
    /// Rounds, each in a fresh process (default: the suite's, else 3)
    #[arg(long, value_parser = clap::value_parser!(u32).range(rounds()))]
    rounds: Option<u32>,
    /// Repeat the whole run N times, or until interrupted; each has its own result file
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "4294967295",
          value_parser = clap::value_parser!(u32).range(1..))]
    repeat: Option<u32>,
    /// Seed of the inputs and of the order of cases (default: a new one, noted in the result)
    #[arg(long)]
    seed: Option<u64>,
    /// List the cases and stop
    #[arg(long)]
    list: bool,
    /// Show cases, memory, estimated time and refusals, and stop
    #[arg(long)]
    dry_run: bool,
    /// Check results only, measure nothing
    #[arg(long)]
    verify: bool,
    /// Run the kernels that came with the suite, and remember that you trust them as they are now
    #[arg(long)]
    trust: bool,
    /// Seconds for the whole run (default: the suite's)
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    budget: Option<f64>,
    /// Longest that one stage of a case may take before its worker is killed (default: by stage)
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<f64>,
    /// Result file (`….jsonl`) or folder
    #[arg(long, short, value_name = "PATH", default_value = "results")]
    output: PathBuf,
    /// Run the devices one after the other, each with a result file of its own
    #[arg(long)]
    per_device: bool,
    /// Go on with a run that was cut short
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["device", "backend", "filter", "rounds", "repeat", "seed", "verify",
                                "output", "list", "dry_run", "per_device"])]
    resume: Option<PathBuf>,
    /// Measure even while another run measures the same device
    #[arg(long)]
    no_lock: bool,
    /// Leave rather than wait while another run measures the same device
    #[arg(long)]
    no_wait: bool,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
}

/// What `--rounds` takes, as the argument's parser wants it.
fn rounds() -> RangeInclusive<i64> {
    i64::from(*ROUNDS.start())..=i64::from(*ROUNDS.end())
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if SECONDS.contains(&seconds) => Ok(seconds),
        _ => Err(format!("expected seconds between {} and {}", SECONDS.start(), SECONDS.end())),
    }
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    let references: Vec<_> = crate::reference::names().collect();
    let suite = crate::suite::load(&args.suite, &references)?;
    match &args.resume {
        Some(file) => resume(&args, &suite, file),
        None => start(&args, &suite),
    }
}

/// Begins a new run, or several, or only says what it would do.
fn start(args: &Args, suite: &Suite) -> Result<ExitCode> {
    let filters = Filters::parse(&args.filter, suite)?;
    if args.list {
        print(&dry::list(suite, &filters))?;
        return Ok(ExitCode::SUCCESS);
    }
    interrupt::listen();
    let chosen = found::devices(&args.selector)?;
    if !args.dry_run {
        trust::ask(suite, args.trust)?;
    }
    let parts: Vec<&[DeviceInfo]> = match args.per_device {
        true => chosen.chunks(1).collect(),
        false => vec![&chosen],
    };
    if parts.len() > 1 && is_file(&args.output) {
        let why = "is one file, --per-device writes several: name a folder";
        return Err(Error::Usage(format!("{}: {why}", args.output.display())));
    }
    let mut worst = 0;
    let mut files: Vec<String> = vec![];
    'all: for _ in 0..args.repeat.unwrap_or(1) {
        for &devices in &parts {
            let plan = Plan::new(args, suite, &filters, new_header(args, suite, devices));
            if args.dry_run {
                print(&plan.describe(devices))?;
                continue;
            }
            let create = |header: &Header| create(&args.output, header);
            let Some(ended) = plan.run(devices, create, vec![])? else {
                return Ok(ExitCode::from(interrupt::EXIT));
            };
            worst = worst.max(conclude(args, suite, &ended)?);
            if ended.interrupted {
                break 'all;
            }
            files.push(ended.path.display().to_string());
        }
        if args.dry_run {
            return Ok(ExitCode::SUCCESS);
        }
    }
    if args.repeat.is_some() && files.len() > 1 {
        let files = files.join(" ");
        say(&format!("to keep each case's noise floor: gpubench baseline save {files}"));
    }
    Ok(ExitCode::from(worst))
}

/// Goes on with the run in `file`.
fn resume(args: &Args, suite: &Suite, file: &Path) -> Result<ExitCode> {
    interrupt::listen();
    let (writer, run) = Writer::resume(file)?;
    for warning in &run.warnings {
        say(&warning.to_string());
    }
    let filters = Filters::parse(&run.header.filters, suite)?;
    let backend = run.header.devices.iter().map(|device| device.backend.clone()).collect();
    let here = found::list(&Selector { backend, sim: args.selector.sim.clone(), device: vec![] })?;
    let chosen = resume::check(&run.header, suite, &here)?;
    trust::ask(suite, args.trust)?;
    let plan = Plan::new(args, suite, &filters, run.header);
    match plan.run(&chosen, |_| Ok(writer), run.records)? {
        Some(ended) => Ok(ExitCode::from(conclude(args, suite, &ended)?)),
        None => Ok(ExitCode::from(interrupt::EXIT)),
    }
}

/// What a run is made of, before any device is touched.
struct Plan<'a> {
    args: &'a Args,
    suite: &'a Suite,
    header: Header,
    limits: Limits,
    cases: Vec<cases::Cases>,
    joints: Vec<Joint>,
    pace: Pace,
}

impl<'a> Plan<'a> {
    fn new(args: &'a Args, suite: &'a Suite, filters: &Filters, header: Header) -> Self {
        let total = args.budget.or(suite.budget.total);
        let times = header.devices.len() as u64 * u64::from(header.rounds);
        let (all, smallest) = count(suite, filters);
        let (all, smallest) = (all * times, smallest * times);
        let limits = Limits {
            memory: suite.budget.memory,
            seconds: seconds_each(total, (all, smallest)),
            seed: header.seed,
            cores: header.host.cores,
            host_memory: Some(Bytes(header.host.memory)).filter(|memory| memory.0 > 0),
        };
        let devices = header.devices.iter().enumerate();
        let mut cases: Vec<_> =
            devices.map(|(i, d)| cases(suite, filters, d, i, &limits)).collect();
        let joints = together::take(&mut cases, &header.devices);
        let most = suite.budget.case.unwrap_or(Policy::default().seconds);
        let pace = Pace::new(total, most, smallest);
        Self { args, suite, header, limits, cases, joints, pace }
    }

    fn describe(&self, devices: &[DeviceInfo]) -> String {
        let runs = self.cases.iter().map(|c| c.run.len()).sum::<usize>() + self.joints.len();
        let share = self.pace.share(runs as u64 * u64::from(self.header.rounds), false);
        let share = share.unwrap_or(pace::Share { seconds: 0.0, warmup: 0.0 });
        dry::describe(
            devices,
            (&self.cases, &self.joints),
            &self.limits,
            self.header.rounds,
            share,
            self.pace.total(),
        )
    }

    /// Runs on `devices`, today's view of the header's. `None` when interrupted before it began.
    fn run(
        mut self,
        devices: &[DeviceInfo],
        writer: impl FnOnce(&Header) -> Result<Writer>,
        records: Vec<crate::record::Record>,
    ) -> Result<Option<Ended>> {
        let _locks = match self.args.no_lock {
            true => vec![],
            false => match locks::take(devices, self.args.no_wait)? {
                Some(locks) => locks,
                None => return Ok(None),
            },
        };
        if records.is_empty() {
            // It begins when the devices are free.
            self.header.started = jiff::Timestamp::now().to_string();
        }
        let scratch = Scratch::new()?;
        let disk = self.disk()?;
        let limit = self.args.timeout.map(Duration::from_secs_f64);
        let policy = Policy {
            target: self.suite.budget.target.unwrap_or(Policy::default().target),
            verify_only: self.header.verify_only,
            cache: Some(scratch.path().to_owned()),
            disk: disk.as_ref().map(|disk| disk.path().to_owned()),
            ..Policy::default()
        };
        let sim = self.args.selector.simulation();
        let others = self.others(devices)?;
        let seated = |joint: Joint| {
            let members = joint.members.iter().map(|&member| devices[member].clone()).collect();
            (joint, Seat::together(members, sim.clone(), limit))
        };
        let session = Session {
            witness: Witness::new(self.suite, self.limits, scratch.path(), &others, &sim, limit),
            writer: writer(&self.header)?,
            header: self.header,
            seats: devices.iter().map(|d| Seat::new(d.clone(), sim.clone(), limit)).collect(),
            joints: self.joints.into_iter().map(seated).collect(),
            cases: self.cases,
            records,
            // The budget begins here, not while waiting for a device.
            pace: self.pace.anew(),
            too_long: vec![],
            policy,
            quiet: self.args.quiet,
        };
        session.run().map(Some)
    }
}

impl Plan<'_> {
    /// A folder beside the results, where a case saves states to a file: what is measured is the disk
    /// that they lie on, which need not be that of temporary files. Where it takes no such folder (a network
    /// file system without locks), it is that of temporary files after all.
    fn disk(&self) -> Result<Option<Scratch>> {
        let saves = |case: &crate::plan::Case| case.key.measure == Measure::Checkpoint;
        if !self.cases.iter().flat_map(|cases| &cases.run).any(saves) {
            return Ok(None);
        }
        let output = &self.args.output;
        let folder = match is_file(output) {
            true => output.parent().filter(|folder| !folder.as_os_str().is_empty()),
            false => Some(output.as_path()),
        };
        let folder = folder.unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
        Ok(Scratch::beside(folder).map(Some).unwrap_or_else(|error| {
            say(&format!("{error}: states are saved in the system's temporary folder instead"));
            None
        }))
    }

    /// The devices that may compute expected results: all of this machine, where a case asks for
    /// another device's.
    fn others(&self, devices: &[DeviceInfo]) -> Result<Vec<DeviceInfo>> {
        let asks = |workload: &Workload| matches!(workload.verify, Verify::Device(_));
        if !self.suite.workloads.iter().any(asks) {
            return Ok(vec![]);
        }
        let mut others = found::devices(&Selector::default()).or_else(|error| match error {
            Error::NoDevice => Ok(vec![]),
            other => Err(other),
        })?;
        for device in devices {
            let is_it = |d: &DeviceInfo| d.backend == device.backend && d.index == device.index;
            if !others.iter().any(is_it) {
                others.push(device.clone());
            }
        }
        Ok(others)
    }
}

fn new_header(args: &Args, suite: &Suite, devices: &[DeviceInfo]) -> Header {
    Header {
        version: VERSION,
        gpubench: format!("{} ({})", env!("CARGO_PKG_VERSION"), env!("GPUBENCH_COMMIT")),
        started: jiff::Timestamp::now().to_string(),
        suite: suite.name.clone(),
        suite_hash: suite.hash.clone(),
        seed: args.seed.unwrap_or_else(any_seed),
        rounds: args.rounds.or(suite.budget.rounds).unwrap_or(3),
        verify_only: args.verify,
        filters: args.filter.clone(),
        host: host(),
        devices: devices.to_vec(),
    }
}

/// A new seed of 32 bits, which survive every reader of JSON.
fn any_seed() -> u64 {
    use std::hash::BuildHasher;
    std::hash::RandomState::new().hash_one(std::process::id()) >> 32
}

/// Whether an output is a file by its name, rather than a folder.
fn is_file(output: &Path) -> bool {
    output.extension().is_some_and(|extension| extension == "jsonl")
}

/// `output` is the file where it says so, else the folder.
fn create(output: &Path, header: &Header) -> Result<Writer> {
    if is_file(output) {
        return Writer::create_at(output, header);
    }
    let stem = result_name(&header.started, &header.host.name, &header.devices, &header.suite);
    Writer::create(output, &stem, header)
}

/// Tells what came of a run, and gives the exit code.
fn conclude(args: &Args, suite: &Suite, ended: &Ended) -> Result<u8> {
    let path = ended.path.display();
    if ended.interrupted {
        // No table: half of one would be taken for the whole.
        let files = args.selector.simulation();
        let files = files.files().iter().map(|file| format!(" {}", file.display()));
        let sim = files.reduce(|all, file| all + &file).map(|files| format!(" --sim{files}"));
        say(&format!(
            "interrupted; {} records are in {path}\nto go on: gpubench run {} --resume {path}{}",
            ended.records.len(),
            args.suite,
            sim.unwrap_or_default()
        ));
        return Ok(interrupt::EXIT);
    }
    let mut records = ended.records.clone();
    flag_implausible(&mut records);
    let sitting = Sitting { seconds: ended.seconds, records: &records[ended.resumed_at..] };
    print(&report(&ended.header, &records, sitting, style()))?;
    let models = super::fit::short_form(suite, &ended.header, &records);
    if !models.is_empty() {
        print(&format!("\n{models}"))?;
    }
    say(&format!("results: {path}"));
    let outcomes = || ended.records.iter().map(|record| &record.outcome);
    let nothing = outcomes().all(|outcome| outcome.is_left_out());
    if nothing {
        say("nothing was run: every case was left out");
    }
    let failed = nothing || outcomes().any(|outcome| outcome.is_failure());
    Ok(if failed { 4 } else { 0 })
}
