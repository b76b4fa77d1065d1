//! `gpubench tune SUITE`: the search on devices.

use super::expected::expected;
use super::found::{Report, Searched};
use super::lab::{DeviceLab, Terms, earlier};
use super::search::{Budget, Lab, search};
use super::target::Target;
use super::{Args, StrategyName, kernel_tuner};
use crate::cmd::found;
use crate::cmd::known::Profiles;
use crate::cmd::run::cases::Filters;
use crate::cmd::run::{interrupt, locks, trust};
use crate::cmd::show::{print, print_pretty_json, text};
use crate::store::tuned::TunedFile;
use crate::store::{Scratch, replace};
use crate::worker::{Remotes, host};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::units::seconds;
use gpubench_core::workload::{Size, Verify};
use gpubench_experiments::keys;
use gpubench_experiments::plan::Limits;
use gpubench_report::progress::say;
use gpubench_suite::{Suite, Variant, Workload, suggest};
use gpubench_tune::model::Expected;
use gpubench_tune::{Kind, strategy};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Variants of each search where neither they nor its time are said.
const VARIANTS: u32 = 50;

/// Runs the command.
pub fn run(args: &Args, name: &str) -> Result<ExitCode> {
    let suite = gpubench_experiments::load(name)?;
    let asked = asked(args, &suite)?;
    let profiles = Profiles::of(&args.profiles)?;
    interrupt::listen();
    let devices = found::measured(&args.selector, &Remotes::default(), suite.layers)?;
    trust::ask(&suite, args.trust)?;
    let _locks = match args.no_lock {
        true => vec![],
        false => match locks::take(&devices, &Remotes::default(), args.no_wait)? {
            Some(locks) => locks,
            None => return Ok(ExitCode::from(interrupt::EXIT)),
        },
    };
    let targets = targets(&suite, &asked, &devices)?;
    require_use(args, &profiles, &targets)?;
    if args.exports() && targets.len() != 1 {
        let count = targets.len();
        return Err(Error::Usage(format!(
            "--t4 and --cache write one search, and these are {count}: choose with --workload, --filter and --device"
        )));
    }
    let mut file = TunedFile::open(&args.tuned)?;
    let searched = searched(args, targets, &profiles, &mut file)?;
    export(args, &searched)?;
    let report =
        Report { suite: &suite.name, kind: Kind::from(args.strategy), searched: &searched };
    match args.json {
        true => print_pretty_json(&report.data())?,
        false => report.sections().iter().try_for_each(|section| print(&text(section)))?,
    }
    let file = args.tuned.display();
    if interrupt::asked() {
        say(&format!("interrupted; the same command goes on from {file}"));
        return Ok(ExitCode::from(interrupt::EXIT));
    }
    say(&format!("to use what was found: gpubench run {name} --tuned {file}"));
    let none = searched.iter().any(|one| one.found.best().is_none());
    Ok(ExitCode::from(if none { 4 } else { 0 }))
}

/// Rejects profiles that order nothing.
fn require_use(args: &Args, profiles: &Profiles, targets: &[Target]) -> Result<()> {
    let wrong = |why: &str| Err(Error::Usage(format!("--profile: {why}")));
    match args.profiles.is_empty() {
        true => Ok(()),
        false if args.strategy != StrategyName::Model => {
            wrong("only the strategy `model` orders variants by what they are expected to take")
        }
        false if targets.iter().all(|target| profiles.of_device(&target.device).is_none()) => {
            wrong("none of the profiles is of a device that is searched on")
        }
        false => Ok(()),
    }
}

/// Workloads with the sizes that are asked for.
type Asked<'a> = Vec<(&'a Workload, Size)>;

fn asked<'a>(args: &Args, suite: &'a Suite) -> Result<Asked<'a>> {
    let searches =
        |workload: &Workload| workload.kernel.as_ref().is_some_and(|k| k.search.is_some());
    let known = || suite.workloads.iter().filter(|w| searches(w)).map(|w| w.name.as_str());
    for name in &args.workload {
        if suite.workloads.iter().all(|workload| workload.name != *name) {
            let help = suggest(name, known()).map_or(String::new(), |help| format!("; {help}"));
            return Err(Error::Usage(format!(
                "suite `{}` has no workload `{name}`{help}",
                suite.name
            )));
        }
        if !known().any(|searched| searched == name) {
            return Err(Error::Usage(format!(
                "workload `{name}` has nothing to tune: give it a `search:` (docs/TUNING.md)"
            )));
        }
    }
    let filters = Filters::parse(&args.filter, suite)?;
    let mut asked: Asked = vec![];
    for (workload, key) in keys(suite) {
        let named = args.workload.is_empty() || args.workload.contains(&workload.name);
        let passes = filters.pass(&key, &workload.tags, &workload.family);
        if named && passes && searches(workload) && key.measure.is_kernel() {
            if matches!(workload.verify, Verify::Device(_)) {
                let why = "is verified against another device; tune needs a reference, a file, a command or the emulator";
                return Err(Error::Usage(format!("workload `{}` {why}", workload.name)));
            }
            asked.push((workload, key.size));
        }
    }
    match asked.is_empty() {
        true => Err(Error::Usage(format!(
            "nothing to tune in suite `{}`: no workload that was asked for has a `search:`",
            suite.name
        ))),
        false => Ok(asked),
    }
}

fn targets(suite: &Suite, asked: &Asked, devices: &[DeviceInfo]) -> Result<Vec<Target>> {
    let mut targets = vec![];
    for device in devices {
        for (workload, size) in asked {
            // A kernel that has no text in the device's language has nothing to try there.
            let kernel = workload.kernel.as_ref();
            if kernel.is_some_and(|kernel| kernel.text(device.language).is_some()) {
                targets.extend(Target::new(suite, workload, size, device)?);
            }
        }
    }
    Ok(targets)
}

/// Searches each, then tries on each device what was the best of others.
fn searched(
    args: &Args,
    targets: Vec<Target>,
    profiles: &Profiles,
    file: &mut TunedFile,
) -> Result<Vec<Searched>> {
    let scratch = Scratch::new()?;
    let terms = terms(args);
    let mut searched: Vec<Searched> = vec![];
    for target in targets {
        if interrupt::asked() {
            break;
        }
        searched.push(one((args, profiles), target, &terms, scratch.path(), file)?);
    }
    for one in 0..searched.len() {
        let missing = others_bests(&searched, one);
        let Searched { target, found, .. } = &mut searched[one];
        let mut lab = DeviceLab::new(target, &terms, scratch.path(), file);
        for variant in missing.into_iter().take_while(|_| !interrupt::asked()) {
            let attempt = lab.attempt(variant, None)?;
            lab.note(variant, &attempt)?;
            found.add(variant, attempt);
        }
        lab.leave();
    }
    Ok(searched)
}

fn terms(args: &Args) -> Terms {
    let limits = Limits {
        memory: None,
        seconds: f64::INFINITY,
        seed: args.seed,
        cores: host().cores,
        host_memory: None,
    };
    Terms {
        limits,
        sim: args.selector.simulation(),
        timeout: args.timeout.map(Duration::from_secs_f64),
        longest_launch: args.longest_launch,
        quiet: args.quiet,
    }
}

fn one(
    (args, profiles): (&Args, &Profiles),
    target: Target,
    terms: &Terms,
    cache: &Path,
    file: &mut TunedFile,
) -> Result<Searched> {
    let Target { device, workload, .. } = &target;
    let mut before: Vec<(usize, _)> = vec![];
    for tried in file.tried.iter().filter(|tried| tried.is_of(device, workload, target.size())) {
        let same = |variant: &Variant| *variant == tried.as_variant();
        if let Some(variant) = target.variants.iter().position(same) {
            before.retain(|(known, _)| *known != variant);
            before.push((variant, earlier(tried)));
        }
    }
    let begun = Instant::now();
    let expected = expectation((args, profiles), &target, &terms.limits)?;
    let mut strategy = strategy(args.strategy.into(), &target.space, args.seed, &expected);
    let variants = args.variants.or_else(|| args.budget.is_none().then_some(VARIANTS));
    let budget = Budget {
        variants: variants.map_or(usize::MAX, |count| count as usize),
        time: args.budget.map(|time| Duration::from_secs_f64(time).saturating_sub(begun.elapsed())),
    };
    let mut lab = DeviceLab::new(&target, terms, cache, file);
    let found = search(strategy.as_mut(), &mut lab, budget, (before, target.own))?;
    lab.leave();
    drop(strategy);
    Ok(Searched { target, expected, found })
}

/// What the device's profile, where there is one, says of the variants.
fn expectation(
    (args, profiles): (&Args, &Profiles),
    target: &Target,
    limits: &Limits,
) -> Result<Expected> {
    let Some(profile) = profiles.of_device(&target.device) else {
        return Ok(Expected::default());
    };
    let begun = Instant::now();
    let budget = args.budget.map(Duration::from_secs_f64);
    let expected = expected(target, profile, limits, budget)?;
    let known = expected.0.iter().flatten().count();
    let (label, workload, all) = (target.device.label(), &target.workload.name, expected.0.len());
    let took = seconds(begun.elapsed().as_secs_f64());
    say(&format!("{label} {workload}: counts order {known} of {all} variants ({took})"));
    Ok(expected)
}

/// The bests of other devices on the same workload and size that this one did not try.
fn others_bests(searched: &[Searched], one: usize) -> Vec<usize> {
    let this = &searched[one];
    let others = searched.iter().filter(|other| other.is_other_device(this));
    let bests = others.filter_map(|other| {
        let best = &other.target.variants[other.found.best()?.0];
        this.target.variants.iter().position(|variant| variant == best)
    });
    let mut missing: Vec<usize> = bests.filter(|best| this.found.of(*best).is_none()).collect();
    missing.sort_unstable();
    missing.dedup();
    missing
}

/// Writes the one search for Kernel Tuner.
fn export(args: &Args, searched: &[Searched]) -> Result<()> {
    let Some(one) = searched.first() else { return Ok(()) };
    let Some(recorded) = one.recorded() else { return Ok(()) };
    let tried: Vec<usize> = (0..recorded.space().len()).collect();
    if let Some(path) = &args.t4 {
        replace(path, &kernel_tuner::write(&recorded, &tried))?;
    }
    if let Some(path) = &args.cache {
        let target = &one.target;
        let names = [&target.device.name, &target.workload.name];
        replace(path, &kernel_tuner::write_cache(&recorded, names.map(String::as_str)))?;
    }
    Ok(())
}
