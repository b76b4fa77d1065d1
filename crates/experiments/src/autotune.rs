//! Builds a case's kernel; where it has several variants, autotunes: the fastest of them.

use super::session::span;
use super::{Bench, Stage};
use crate::first_build;
use crate::long_launch::{KERNEL_DOMINATED_SECONDS, check_duration};
use crate::plan::{Candidate, Case, launches, program_kernel};
use crate::policy::Race;
use crate::tries::Tries;
use crate::waking::sleeps;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{BuildReport, KernelId};
use gpubench_core::reason::Reason;
use gpubench_core::record::Built;
use gpubench_core::text::printable;
use gpubench_device::Device;
use gpubench_tune::{Interval, Outcome, halve};
use std::collections::BTreeMap;
use std::time::Instant;

/// The kernel of a case that has the device for itself.
pub(super) const KERNEL: KernelId = KernelId(0);

/// Characters of a reason that a record keeps.
const REASON: usize = 200;

/// A variant that was built and launched.
pub(super) struct BuiltVariant<'a> {
    /// The variant.
    pub candidate: &'a Candidate,
    /// Seconds of one launch, about.
    pub launch: f64,
    /// The number that it was built under.
    id: KernelId,
    report: BuildReport,
}

/// The result of trying every variant of a kernel.
pub(super) struct TriedVariants<'a> {
    kernel: KernelId,
    /// Those that ran, the fastest by its rate of operations first (of bytes where it computes
    /// nothing).
    pub fastest_first: Vec<BuiltVariant<'a>>,
    /// All, with the time of one launch; those that could not run or that the plan dropped without.
    tried: Vec<(String, Option<f64>)>,
    /// Variants that the search never came to.
    untried: usize,
    /// Why variants have no time: each reason with their labels.
    untimed: BTreeMap<String, Vec<String>>,
}

impl TriedVariants<'_> {
    /// Notes why a variant has no time: once for all that have the same reason, and not at length, or the log of a
    /// compiler would be most of the record.
    fn has_no_time(&mut self, label: &str, why: &str) {
        self.untimed.entry(printable(why, REASON)).or_default().push(label.to_owned());
    }

    /// Makes `variant` the kernel on the device and in the measurement.
    ///
    /// # Errors
    /// What building it says.
    pub(super) fn select(&self, bench: &mut Bench, variant: &BuiltVariant) -> Result<()> {
        if self.tried.len() > 1 {
            // It was built under a number of its own.
            bench.enter(Stage::Build);
            build(bench, self.kernel, variant.candidate)?;
        }
        let built = built(variant.candidate, variant.report.clone());
        let tried = if self.tried.len() > 1 { self.tried.clone() } else { vec![] };
        let (untried, untimed) = (self.untried, self.untimed.clone());
        bench.measurement.kernel = Some(Built { tried, untried, untimed, ..built });
        Ok(())
    }
}

/// Tries the kernel's variants, all where they are few (each one build and a launch or two), and holds the
/// better half of them against each other. Each build and each launch is a stage, so that a search over many
/// variants has no deadline as a whole.
///
/// # Errors
/// The last variant's error (`Unsupported` only where there is no other) where none can be built and
/// launched; `OverBudget` where one launch would take too long for the policy.
pub(super) fn try_variants<'a>(case: &'a Case, bench: &mut Bench) -> Result<TriedVariants<'a>> {
    let mut tried_variants = TriedVariants {
        kernel: case.kernel(),
        fastest_first: vec![],
        tried: vec![],
        untried: 0,
        untimed: BTreeMap::new(),
    };
    let mut last_error = Error::Unsupported("the case has no kernel".into());
    let mut tries = Tries::new(case, bench.device().info());
    let [mut lowest, mut highest]: [Option<f64>; 2] = [None; 2];
    while let Some(position) = tries.next() {
        let candidate = &case.candidates[position];
        let best = lowest.map(|cost| cost * candidate.work());
        let outcome = attempt(case, position, Race { best }, bench);
        let known = learned(outcome.as_ref().map(cost), candidate.work(), highest);
        highest = known.time().into_iter().chain(highest).max_by(f64::total_cmp);
        lowest = known.time().into_iter().chain(lowest).min_by(f64::total_cmp);
        tries.report(position, &known);
        match outcome {
            Ok(built) => {
                tried_variants.tried.push((candidate.label.clone(), Some(built.launch)));
                tried_variants.fastest_first.push(built);
            }
            Err(
                error @ (Error::Unsupported(_)
                | Error::Build { .. }
                | Error::OutOfMemory(_)
                | Error::OverBudget(_)),
            ) => {
                tried_variants.tried.push((candidate.label.clone(), None));
                tried_variants.has_no_time(&candidate.label, &error.to_string());
                // A variant that this language lacks says less than one that takes too long.
                if is_more_informative(&error, &last_error) {
                    last_error = error;
                }
            }
            Err(error) => return Err(error),
        }
    }
    if tried_variants.fastest_first.is_empty() {
        return Err(last_error);
    }
    tried_variants.untried = case.candidates.len() - tried_variants.tried.len();
    tried_variants.tried.extend(case.dropped.iter().map(|(label, _)| (label.clone(), None)));
    for (label, why) in &case.dropped {
        tried_variants.has_no_time(label, why);
    }
    tried_variants.fastest_first = fastest_first(case, tried_variants.fastest_first, bench)?;
    Ok(tried_variants)
}

/// The variants that ran, by successive halving over the cost of their work.
fn fastest_first<'a>(
    case: &Case,
    variants: Vec<BuiltVariant<'a>>,
    bench: &mut Bench,
) -> Result<Vec<BuiltVariant<'a>>> {
    let mut costs: Vec<f64> = variants.iter().map(cost).collect();
    if variants.len() > 1 {
        // While the host built the last of them, the device may have been idle.
        bench.enter(Stage::Launch);
        bench.session.wake();
    }
    let (begun, seconds) = (Instant::now(), bench.policy.seconds / 2.0);
    let order = halve(&mut costs, |one| {
        if begun.elapsed().as_secs_f64() > seconds {
            return Ok(None);
        }
        let variant = &variants[one];
        bench.enter(Stage::Launch);
        let once = launches(case, variant.candidate, variant.id, 1);
        let launch = span(&bench.device().run(&once)?);
        Ok(Some(launch / variant.candidate.work()))
    })?;
    let mut variants: Vec<Option<BuiltVariant>> = variants.into_iter().map(Some).collect();
    let ranked = order.into_iter().filter_map(|one| {
        let variant = variants[one].take()?;
        Some(BuiltVariant { launch: costs[one] * variant.candidate.work(), ..variant })
    });
    Ok(ranked.collect())
}

/// Autotunes: tries the variants and keeps the fastest.
///
/// # Errors
/// As [`try_variants`].
pub(super) fn autotune<'a>(case: &'a Case, bench: &mut Bench) -> Result<BuiltVariant<'a>> {
    let mut tried_variants = try_variants(case, bench)?;
    let fastest = tried_variants.fastest_first.remove(0);
    tried_variants.select(bench, &fastest)?;
    Ok(fastest)
}

/// Builds the first variant and launches nothing: for measures that choose their own launches.
///
/// # Errors
/// Whatever building it says; `Unsupported` for a case without a kernel.
pub(super) fn build_first_variant<'a>(case: &'a Case, bench: &mut Bench) -> Result<&'a Candidate> {
    let candidate = case.first_variant()?;
    bench.enter(Stage::Build);
    let report = build(bench, case.kernel(), candidate)?;
    bench.measurement.kernel = Some(built(candidate, report));
    Ok(candidate)
}

/// Builds the first variant that the device takes, and launches nothing.
///
/// # Errors
/// The most telling one where it takes none.
pub(super) fn build_any<'a>(case: &'a Case, bench: &mut Bench) -> Result<&'a Candidate> {
    let mut last_error = Error::Unsupported("the case has no kernel".into());
    for candidate in &case.candidates {
        bench.enter(Stage::Build);
        match build(bench, case.kernel(), candidate) {
            Ok(report) => {
                bench.measurement.kernel = Some(built(candidate, report));
                return Ok(candidate);
            }
            Err(error @ (Error::Unsupported(_) | Error::Build { .. })) => {
                if is_more_informative(&error, &last_error) {
                    last_error = error;
                }
            }
            Err(error) => return Err(error),
        }
    }
    Err(last_error)
}

/// Builds all kernels of `candidate` as [`build_on`] does, and notes whether the run does so for the first time.
fn build(bench: &mut Bench, first: KernelId, candidate: &Candidate) -> Result<BuildReport> {
    let mut report = build_on(bench.device(), first, candidate)?;
    let folder = bench.policy.cache.as_deref();
    let is_first =
        folder.and_then(|folder| first_build::note(folder, bench.device().info(), candidate));
    report.first = is_first.filter(|_| !report.kept);
    Ok(report)
}

/// Builds all kernels of `candidate`, the first one under the number `first`, and reports what that
/// one needs and what all cost: a program of several kernels once.
pub(super) fn build_on(
    device: &mut dyn Device,
    first: KernelId,
    candidate: &Candidate,
) -> Result<BuildReport> {
    let mut report = device.build(first, &candidate.kernel)?;
    let mut programs = vec![candidate.kernel.compiled_hash()];
    for (position, kernel) in (1..).zip(&candidate.others) {
        let other = device.build(program_kernel(first, position), kernel)?;
        let program = kernel.compiled_hash();
        if other.kept && programs.contains(&program) {
            continue;
        }
        report.seconds += other.seconds;
        report.log += &other.log;
        report.kept |= other.kept;
        programs.push(program);
    }
    Ok(report)
}

/// Of two variants that could not run, the one that came further says more: one that was built and is too long, than
/// one that was not built, than one that the device or the language lacks.
fn is_more_informative(error: &Error, last: &Error) -> bool {
    let progress = |error: &Error| match error {
        Error::Unsupported(_) => 0,
        Error::Build { .. } => 1,
        _ => 2,
    };
    progress(error) >= progress(last)
}

/// An estimate is no more than so many times the `highest` that was measured: a small part of a grid says little of the
/// whole, and one far off would hide how the others differ.
const FARTHEST: f64 = 10.0;

/// What a search learns of a variant of so much `work`: its cost, or, where it takes too long to be launched, about what that
/// would be.
fn learned(cost: Result<f64, &Error>, work: f64, highest: Option<f64>) -> Outcome {
    match cost {
        Ok(time) => Outcome::Measured(Interval { low: time, time, high: time }),
        Err(Error::OverBudget(
            Reason::OverBudget { needed: launch, .. } | Reason::Slow { launch, .. },
        )) => {
            let limit = highest.map_or(f64::INFINITY, |highest| FARTHEST * highest);
            Outcome::Slow((launch.max(1e-12) / work).min(limit))
        }
        Err(_) => Outcome::Failed,
    }
}

#[test]
fn what_takes_too_long_is_known_by_its_estimate_and_what_fails_by_nothing() {
    let estimated = |needed, highest| {
        let reason =
            Reason::OverBudget { what: "one launch".into(), needed, available: 1.0, option: None };
        learned(Err(&Error::OverBudget(reason)), 2.0, highest)
    };
    assert_eq!(estimated(4.0, None), Outcome::Slow(2.0));
    assert_eq!(estimated(4.0, Some(1.0)), Outcome::Slow(2.0));
    assert_eq!(estimated(400.0, Some(1.0)), Outcome::Slow(10.0), "far off");
    let slow = Error::OverBudget(Reason::Slow { launch: 6.0, fastest: 1.0 });
    assert_eq!(learned(Err(&slow), 2.0, None), Outcome::Slow(3.0));
    let failed = Error::Unsupported("its group is too large".into());
    assert_eq!(learned(Err(&failed), 2.0, Some(1.0)), Outcome::Failed);
    assert_eq!(learned(Ok(5.0), 2.0, None).time(), Some(5.0));
}

/// Seconds of an operation, or of a byte.
fn cost(variant: &BuiltVariant) -> f64 {
    variant.launch.max(1e-12) / variant.candidate.work()
}

/// Builds a variant and finds the time of one launch. `search` knows the best launch of those that were tried before.
fn attempt<'a>(
    case: &'a Case,
    position: usize,
    search: Race,
    bench: &mut Bench,
) -> Result<BuiltVariant<'a>> {
    let (candidate, alone) = (&case.candidates[position], case.candidates.len() == 1);
    let id = if alone { case.kernel() } else { tried_kernel(position) };
    let [building, launching] = stages(case, position);
    bench.enter(building);
    let report = build(bench, id, candidate)?;
    bench.enter(launching);
    if alone {
        // Reported even where launching it fails.
        bench.measurement.kernel = Some(built(candidate, report.clone()));
    }
    let policy = bench.policy;
    check_duration(bench.device(), case, (candidate, id), policy)?;
    let once = launches(case, candidate, id, 1);
    let mut launch = span(&bench.device().run(&once)?);
    // The first launch of a variant pays for what the driver put off; a second counts unless it would take more
    // than the variant's share of the time that measuring the fastest will take.
    let share = policy.seconds / case.candidates.len() as f64;
    let (more, long) = if alone { (2, KERNEL_DOMINATED_SECONDS) } else { (1, share) };
    let more = if policy.verify_only { 0 } else { more };
    // A device that sleeps may have been idle while the host built.
    let awake = !sleeps(bench.device().info().kind);
    let is_lost = |launch| awake && launch > KERNEL_DOMINATED_SECONDS && search.is_hopeless(launch);
    for _ in 0..more {
        if launch > long || is_lost(launch) {
            break;
        }
        launch = launch.min(span(&bench.device().run(&once)?));
    }
    let dismissal = |launch| {
        // Most of a short launch is no work of the kernel's.
        let race = policy.race.filter(|_| launch > KERNEL_DOMINATED_SECONDS)?;
        race.dismissal(launch)
    };
    if dismissal(launch).is_some() {
        // The device may have been idle while the host built, and the driver puts off more until a whole grid.
        bench.session.wake();
        launch = launch.min(span(&bench.device().run(&once)?));
    }
    if let Some(why) = dismissal(launch) {
        return Err(Error::OverBudget(why));
    }
    Ok(BuiltVariant { candidate, launch, id, report })
}

/// Building and launching a variant. The parent must know which of several ended the worker; a case in another place is
/// part of the experiment of the one that was asked for, so that its variants are not named.
fn stages(case: &Case, position: usize) -> [Stage; 2] {
    let position = u32::try_from(position).unwrap_or(u32::MAX);
    match case.candidates.len() == 1 || case.place != 0 {
        true => [Stage::Build, Stage::Launch],
        false => [Stage::BuildVariant(position), Stage::LaunchVariant(position)],
    }
}

/// Variants of a search have numbers apart from those of cases.
fn tried_kernel(position: usize) -> KernelId {
    KernelId(1 << 20 | u32::try_from(position).unwrap_or(u32::MAX))
}

pub(super) fn built(candidate: &Candidate, report: BuildReport) -> Built {
    Built {
        hash: candidate.hash(),
        group: candidate.kernel.group,
        groups: candidate.groups,
        bounds_checks: report.bounds_checks.unwrap_or(candidate.kernel.bounds_checks()),
        variant: candidate.label.clone(),
        tried: vec![],
        untried: 0,
        untimed: BTreeMap::new(),
        report,
    }
}
