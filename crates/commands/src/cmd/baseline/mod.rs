//! `gpubench baseline`: keep what a device can do, to compare later runs with.

mod history;
mod pooled;
mod table;

use super::known::same_view;
use super::results;
use super::show::{print, show, warnings, width};
use crate::store::{Run, baseline, now, read};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::{Footer, Host, Noise};
use gpubench_core::text::counted;
use gpubench_report::progress::say;
use pooled::{Allow, Pooled};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

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
    /// Put newer runs in the place of a baseline's: its noise floors and its history are kept
    Update(Update),
    /// Show how each case went over many runs: steps, and slow slides
    History(history::Args),
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
    #[command(flatten)]
    update: Update,
    /// Write over a baseline that is there, with its noise floors and its history
    #[arg(long)]
    replace: bool,
}

#[derive(Debug, clap::Args)]
struct Update {
    /// Result files, or folders of them
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Save all the same with fewer than 3 rounds, with cases that are not verified, or with runs during or
    /// between which the device's speed changed
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    allow: Vec<Allow>,
}

/// What becomes of a baseline that is there.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    /// There may be none.
    None,
    /// It goes.
    Replaced,
    /// Its floors and its history stay.
    Kept,
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    match args.action {
        Action::Save(Save { update, replace }) => {
            save_all(&update, if replace { Before::Replaced } else { Before::None }, &args.folder)?;
        }
        Action::Update(update) => save_all(&update, Before::Kept, &args.folder)?,
        Action::History(wanted) => history::run(&wanted, &args.folder)?,
        Action::List => return list(&args.folder),
        Action::Show { name } => show_one(&name, &args.folder)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn save_all(args: &Update, before: Before, folder: &Path) -> Result<()> {
    let runs = results::open_all(&args.runs)?;
    if let Some(old) =
        runs.iter().find(|run| run.header.in_turn.as_ref().is_some_and(|of| of.is_old))
    {
        let why = "is the old state of two that were measured in turn: leave it out";
        return Err(Error::Usage(format!("{}: it {why}", old.path.display())));
    }
    let mut views: Vec<(&DeviceInfo, &Host)> = vec![];
    for Run { header, .. } in &runs {
        for device in &header.devices {
            let same =
                |known: &DeviceInfo| same_view(known, device) && known.driver == device.driver;
            let is_known = |(known, host): &(&DeviceInfo, &Host)| {
                same(known) && host.class() == header.host.class()
            };
            if !views.iter().any(is_known) {
                views.push((device, &header.host));
            }
        }
    }
    let of = |&(device, host): &(&DeviceInfo, &Host)| Pooled::new(&runs, device, host);
    let mut pooled: Vec<Pooled> = views.iter().filter_map(of).collect();
    if pooled.is_empty() {
        return Err(Error::Usage("no measured case in these runs".into()));
    }
    // All are checked before the first is written.
    for pooled in &mut pooled {
        pooled.check(&args.allow)?;
        let path = pooled.path(folder);
        match before {
            Before::Kept => pooled.keep(&old(&path)?)?,
            _ => baseline::ready(&path, before == Before::Replaced)?,
        }
    }
    for pooled in pooled {
        let path = pooled.path(folder);
        if before == Before::Replaced && path.is_file() {
            dropped(&read(&path)?);
        }
        let Pooled { header, records, noise, wall, .. } = pooled;
        let (ended, floors) = (now()?, learnt(&noise));
        let footer = Footer { ended, wall, estimated: None, records: records.len() as u64 };
        let (noise, footer) = (Some(noise), Some(footer));
        let run = Run { path, header, records, noise, footer, ..Run::default() };
        baseline::save(&run, before != Before::None)?;
        say(&format!("baseline: {}{floors}", run.path.display()));
    }
    Ok(())
}

/// The baseline that is updated.
fn old(path: &Path) -> Result<Run> {
    if !path.is_file() {
        return Err(Error::Usage(format!(
            "{} is not there: `gpubench baseline save` makes it",
            path.display()
        )));
    }
    read(path)
}

/// Says what a baseline that goes knew besides its times.
fn dropped(run: &Run) {
    let Some(noise) = run.noise.as_ref().filter(|noise| noise.runs > 1) else { return };
    say(&format!(
        "{}: dropped the noise floors of {} that {} runs taught (`gpubench baseline update` keeps them)",
        run.path.display(),
        counted(noise.floors.len(), "case"),
        noise.runs
    ));
}

fn learnt(noise: &Noise) -> String {
    match noise.runs {
        0 | 1 => String::new(),
        runs => {
            format!(" (noise floors of {} from {runs} runs)", counted(noise.floors.len(), "case"))
        }
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

fn show_one(name: &str, folder: &Path) -> Result<()> {
    let file = Path::new(name);
    let run = if file.is_file() { read(file)? } else { named(name, folder)? };
    warnings(&run.warnings);
    print(&table::show(&run, width()))
}

/// The one baseline with `name` in its file name.
fn named(name: &str, folder: &Path) -> Result<Run> {
    let (mut runs, _) = baseline::list(folder)?;
    let all: Vec<String> = runs.iter().map(Run::name).collect();
    runs.retain(|run| run.name().contains(&name.to_lowercase()));
    match runs.len() {
        1 => Ok(runs.remove(0)),
        0 => Err(Error::Usage(format!(
            "no baseline in {} is called `{name}`; there are: {}",
            folder.display(),
            if all.is_empty() { "none".to_owned() } else { all.join(", ") }
        ))),
        _ => {
            let found: Vec<String> = runs.iter().map(Run::name).collect();
            Err(Error::Usage(format!("`{name}` may be {}: say more", found.join(", "))))
        }
    }
}
