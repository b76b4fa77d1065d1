//! `gpubench tune SUITE`: the search on devices.

use super::expected::expected;
use super::found::{Report, Searched};
use super::lab::{DeviceLab, earlier};
use super::search::{Budget, Lab, search};
use super::target::Target;
use super::{Args, kernel_tuner};
use crate::cmd::found;
use crate::cmd::known::Profiles;
use crate::cmd::require_threads;
use crate::cmd::run::cases::Filters;
use crate::cmd::run::locks::{self, IfTaken};
use crate::cmd::run::{interrupt, trust};
use crate::cmd::show::{print, text};
use crate::store::tuned::TunedFile;
use crate::store::{Scratch, replace};
use crate::worker::Remotes;
use gpubench_analysis::fit::{End, Model, Profiled};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::workload::{Size, Verify};
use gpubench_experiments::keys;
use gpubench_experiments::plan::Limits;
use gpubench_report::progress::say;
use gpubench_report::render::json::json;
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
    let profiles = profiles(args)?;
    interrupt::listen();
    let devices = found::measured(&args.selector, &Remotes::default(), suite.layers)?;
    let profiled = profiled(&profiles, &devices)?;
    trust::ask(&suite, args.trust)?;
    let if_taken = IfTaken::of(args.no_lock, args.no_wait);
    let locks = locks::take(&devices, &Remotes::default(), if_taken)?;
    let Some(_locks) = locks else { return Ok(ExitCode::from(interrupt::EXIT)) };
    let targets = targets(&suite, &asked, &devices, &profiled)?;
    if args.exports() && targets.len() != 1 {
        let count = targets.len();
        return Err(Error::Usage(format!(
            "--t4 and --cache write one search, and these are {count}: choose with --workload, --filter and --device"
        )));
    }
    let mut file = TunedFile::open(&args.tuned)?;
    let searched = searched(args, targets, &mut file)?;
    export(args, &searched)?;
    let report = Report { suite: &suite.name, kind: args.strategy, searched: &searched };
    let sections = || report.sections().iter().map(text).collect();
    print(&if args.json { json(&report.data()) } else { sections() })?;
    let file = args.tuned.display();
    if interrupt::asked() {
        say(&format!("interrupted; the same command goes on from {file}"));
        return Ok(ExitCode::from(interrupt::EXIT));
    }
    say(&format!("to use what was found: gpubench run {name} --tuned {file}"));
    let none = searched.iter().any(|one| one.found.best().is_none());
    Ok(ExitCode::from(if none { 4 } else { 0 }))
}

/// The profiles that were named, for the one strategy that takes them.
fn profiles(args: &Args) -> Result<Profiles> {
    if args.profiles.is_empty() {
        return Ok(Profiles::default());
    }
    if args.strategy != Kind::Model {
        let why = "--profile: only the strategy `model` orders variants by what they are expected to take";
        return Err(Error::Usage(why.into()));
    }
    require_threads()?;
    Profiles::of(&args.profiles)
}

/// What predicts times on each of the devices, where there is a profile of it.
///
/// # Errors
/// `Usage` where no profile is of any of them; a profile that is not enough for the model.
fn profiled(profiles: &Profiles, devices: &[DeviceInfo]) -> Result<Vec<Option<Profiled>>> {
    let of = |device: &DeviceInfo| {
        let profile = profiles.of_device(device)?;
        Some(Profiled::new(Model::COMPONENTS, profile, End::Middle))
    };
    let all: Vec<_> = devices.iter().map(|device| of(device).transpose()).collect::<Result<_>>()?;
    if !profiles.all.is_empty() && all.iter().all(Option::is_none) {
        let why = "--profile: none of the profiles is of a device that is searched on";
        return Err(Error::Usage(why.into()));
    }
    Ok(all)
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

fn targets(
    suite: &Suite,
    asked: &Asked,
    devices: &[DeviceInfo],
    profiled: &[Option<Profiled>],
) -> Result<Vec<Target>> {
    let mut targets = vec![];
    for (device, profiled) in devices.iter().zip(profiled) {
        for (workload, size) in asked {
            // A kernel that has no text in the device's language has nothing to try there.
            let kernel = workload.kernel.as_ref();
            if kernel.is_some_and(|kernel| kernel.text(device.language).is_some()) {
                targets.extend(Target::new(suite, workload, size, (device, profiled.as_ref()))?);
            }
        }
    }
    Ok(targets)
}

/// Searches each, then tries on each device what was the best of others.
fn searched(args: &Args, targets: Vec<Target>, file: &mut TunedFile) -> Result<Vec<Searched>> {
    let scratch = Scratch::new()?;
    let limits = args.limits();
    let mut searched: Vec<Searched> = vec![];
    for target in targets {
        if interrupt::asked() {
            break;
        }
        searched.push(one(args, &limits, target, scratch.path(), file)?);
    }
    for one in 0..searched.len() {
        let missing = others_bests(&searched, one);
        let Searched { target, found, .. } = &mut searched[one];
        let mut lab = DeviceLab::new(target, args, &limits, scratch.path(), file);
        for variant in missing.into_iter().take_while(|_| !interrupt::asked()) {
            let attempt = lab.attempt(variant, None)?;
            lab.note(variant, &attempt)?;
            found.add(variant, attempt);
        }
        lab.leave();
    }
    Ok(searched)
}

fn one(
    args: &Args,
    limits: &Limits,
    target: Target,
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
    let variants = args.variants.or_else(|| args.budget.is_none().then_some(VARIANTS));
    let begun = Instant::now();
    let on_device = before.iter().filter(|(_, one)| one.on_device).count();
    let is_left = before.len() < target.space.len()
        && variants.is_none_or(|count| on_device < count as usize);
    let expected = match is_left {
        true => expected(&target, limits, args.budget.map(Duration::from_secs_f64)),
        false => Expected::default(),
    };
    let mut strategy = strategy(args.strategy, &target.space, args.seed, &expected);
    let budget = Budget {
        variants: variants.map_or(usize::MAX, |count| count as usize),
        time: args.budget.map(|time| Duration::from_secs_f64(time).saturating_sub(begun.elapsed())),
    };
    let mut lab = DeviceLab::new(&target, args, limits, cache, file);
    let found = search(strategy.as_mut(), &mut lab, budget, (before, target.own))?;
    lab.leave();
    drop(strategy);
    Ok(Searched { target, expected, found })
}

/// The bests of other devices on the same workload and size that have no time on this one.
fn others_bests(searched: &[Searched], one: usize) -> Vec<usize> {
    let this = &searched[one];
    let others = searched.iter().filter(|other| other.is_other_device(this));
    let bests = others.filter_map(|other| {
        let best = &other.target.variants[other.found.best()?.0];
        this.target.variants.iter().position(|variant| variant == best)
    });
    // One that lost by its launches has no time yet.
    let lacks_time = |best: &usize| this.found.of(*best).is_none_or(|one| one.launch.is_some());
    let mut missing: Vec<usize> = bests.filter(lacks_time).collect();
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
