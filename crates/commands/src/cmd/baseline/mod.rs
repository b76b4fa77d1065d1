//! `gpubench baseline`: keep what a device can do, to compare later runs with.

mod table;

use super::known::same_view;
use super::results;
use super::show::{print, show, warnings, width};
use crate::store::{Run, baseline, now, read};
use gpubench_analysis::{DeviceCases, collect, noise};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::{Footer, Header, Noise, Outcome, Record};
use gpubench_core::text::{counted, printable};
use gpubench_report::labels::case_name;
use gpubench_report::progress::say;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A baseline of fewer rounds says too little of what the next run may be.
const ROUNDS: usize = 3;

/// Arguments of `gpubench baseline`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
    /// The folder of baselines
    #[arg(long, global = true, value_name = "FOLDER", default_value = baseline::FOLDER)]
    folder: PathBuf,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Make a baseline of a run; several runs of one machine teach each case's noise floor
    Save(Save),
    /// List the baselines
    List,
    /// Show the cases of a baseline
    Show {
        /// A file, or part of a baseline's name
        name: String,
    },
}

#[derive(Debug, clap::Args)]
struct Save {
    /// Result files, or folders of them
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Save all the same with fewer than 3 rounds, or with cases that are not verified
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    allow: Vec<Allow>,
    /// Write over a baseline that is there
    #[arg(long)]
    replace: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Allow {
    /// Fewer than 3 rounds of a case
    FewRounds,
    /// Cases that failed or are not checked
    Unverified,
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    match args.action {
        Action::Save(save) => save_all(&save, &args.folder),
        Action::List => list(&args.folder),
        Action::Show { name } => show_one(&name, &args.folder),
    }
}

fn save_all(args: &Save, folder: &Path) -> Result<ExitCode> {
    let runs = results::open_all(&args.runs)?;
    let mut devices: Vec<&DeviceInfo> = vec![];
    for device in runs.iter().flat_map(|run| &run.header.devices) {
        if !devices.iter().any(|known| same_view(known, device)) {
            devices.push(device);
        }
    }
    let pooled: Vec<Pooled> = devices.iter().filter_map(|d| Pooled::new(&runs, d)).collect();
    if pooled.is_empty() {
        return Err(Error::Usage("no measured case in these runs".into()));
    }
    // All are checked before the first is written.
    for pooled in &pooled {
        pooled.check(&args.allow)?;
        baseline::ready(&pooled.path(folder), args.replace)?;
    }
    for pooled in pooled {
        let path = pooled.path(folder);
        let footer = Footer {
            ended: now()?,
            wall: pooled.wall,
            estimated: None,
            records: pooled.records.len() as u64,
        };
        let Pooled { header, records, noise, .. } = &pooled;
        baseline::save(&path, header, records, noise, &footer, args.replace)?;
        say(&format!("baseline: {}{}", path.display(), learnt(noise)));
    }
    Ok(ExitCode::SUCCESS)
}

fn learnt(noise: &Noise) -> String {
    match noise.runs {
        0 | 1 => String::new(),
        runs => {
            format!(" (noise floors of {} from {runs} runs)", counted(noise.floors.len(), "case"))
        }
    }
}

/// All runs of one device as one, with rounds numbered on.
struct Pooled {
    header: Header,
    records: Vec<Record>,
    noise: Noise,
    cases: DeviceCases,
    per_run: Vec<DeviceCases>,
    wall: f64,
}

impl Pooled {
    /// `None` where the device has no record of a case that ran.
    fn new(runs: &[Run], device: &DeviceInfo) -> Option<Self> {
        let (mut records, mut per_run, mut wall) = (vec![], vec![], 0.0);
        let mut header: Option<Header> = None;
        for run in runs {
            // Of equal GPUs the first is taken: another GPU is another sample.
            let place = run.header.devices.iter().position(|d| same_view(d, device));
            let Some(place) = place else { continue };
            let mut mine: Vec<Record> =
                run.records.iter().filter(|r| r.device == place).cloned().collect();
            let one = Header { devices: vec![device.clone()], ..run.header.clone() };
            mine.iter_mut().for_each(|record| record.device = 0);
            per_run.extend(collect(&one, &mine));
            let before = header.as_ref().map_or(0, |header| header.rounds);
            mine.iter_mut().for_each(|record| record.round += before);
            records.append(&mut mine);
            wall += run.footer.as_ref().map_or(0.0, |footer| footer.wall);
            match &mut header {
                Some(header) => header.rounds += run.header.rounds,
                None => header = Some(one),
            }
        }
        let header = header?;
        let cases = collect(&header, &records).into_iter().next()?;
        let ran = cases.cases.values().any(|case| !case.medians.is_empty());
        let noise = noise(&per_run);
        ran.then_some(Self { header, records, noise, cases, per_run, wall })
    }

    fn path(&self, folder: &Path) -> PathBuf {
        baseline::path(folder, &self.header.devices[0])
    }

    /// Whether it may be a baseline.
    fn check(&self, allow: &[Allow]) -> Result<()> {
        let name = printable(&self.header.devices[0].name, 60);
        self.one_kernel(&name)?;
        let names = |keys: Vec<String>| {
            let more = keys.len().saturating_sub(4);
            let listed = keys.into_iter().take(4).collect::<Vec<_>>().join(", ");
            if more > 0 { format!("{listed} and {more} more") } else { listed }
        };
        let cases = || self.cases.cases.iter();
        let few: Vec<String> = cases()
            .filter(|(_, case)| case.outcome.is_ok() && case.medians.len() < ROUNDS)
            .map(|(key, case)| format!("{} ({})", case_name(key), case.medians.len()))
            .collect();
        if !few.is_empty() && !allow.contains(&Allow::FewRounds) {
            return Err(Error::Usage(format!(
                "{name}: fewer than {ROUNDS} rounds of {}: run with --rounds {ROUNDS} or more \
                 (--allow few-rounds saves it all the same)",
                names(few)
            )));
        }
        let bad = |outcome: &Outcome| outcome.is_failure() || *outcome == Outcome::Unchecked;
        let wrong: Vec<String> = cases()
            .filter(|(_, case)| bad(&case.outcome))
            .map(|(key, case)| format!("{} ({})", case_name(key), case.outcome.label()))
            .collect();
        if !wrong.is_empty() && !allow.contains(&Allow::Unverified) {
            return Err(Error::Usage(format!(
                "{name}: not verified: {} (--allow unverified saves the others, and these as \
                 what they are)",
                names(wrong)
            )));
        }
        Ok(())
    }

    /// Repetitions are of one kernel: else their differences are no noise.
    fn one_kernel(&self, name: &str) -> Result<()> {
        for (key, case) in &self.cases.cases {
            let other = self.per_run.iter().filter_map(|run| run.cases.get(key)).find(|other| {
                let both = other.kernel_hash.is_some() && case.kernel_hash.is_some();
                both && (&other.kernel_hash, other.bounds_checks)
                    != (&case.kernel_hash, case.bounds_checks)
            });
            if other.is_some() {
                return Err(Error::Usage(format!(
                    "{name}: the kernel of {} is not the same in all of these runs: save them apart",
                    case_name(key)
                )));
            }
        }
        Ok(())
    }
}

fn list(folder: &Path) -> Result<ExitCode> {
    let (runs, errors) = baseline::list(folder)?;
    errors.iter().for_each(show);
    if runs.is_empty() {
        say(&format!("no baseline in {}", folder.display()));
    }
    print(&table::list(&runs, width()))?;
    Ok(if errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

fn show_one(name: &str, folder: &Path) -> Result<ExitCode> {
    let file = Path::new(name);
    let run = if file.is_file() { read(file)? } else { named(name, folder)? };
    warnings(&run.warnings);
    print(&table::show(&run, width()))?;
    Ok(ExitCode::SUCCESS)
}

/// The one baseline with `name` in its file name.
fn named(name: &str, folder: &Path) -> Result<Run> {
    let stem = |run: &Run| {
        run.path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
    };
    let (mut runs, _) = baseline::list(folder)?;
    let all: Vec<String> = runs.iter().map(stem).collect();
    runs.retain(|run| stem(run).contains(&name.to_lowercase()));
    match runs.len() {
        1 => Ok(runs.remove(0)),
        0 => Err(Error::Usage(format!(
            "no baseline in {} is called `{name}`; there are: {}",
            folder.display(),
            if all.is_empty() { "none".to_owned() } else { all.join(", ") }
        ))),
        _ => {
            let found: Vec<String> = runs.iter().map(stem).collect();
            Err(Error::Usage(format!("`{name}` may be {}: say more", found.join(", "))))
        }
    }
}
