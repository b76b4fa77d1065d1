//! Builds a case's kernel; where several forms are given, the fastest of them.

use super::session::span;
use super::{Finding, Policy, Session, Stage};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{BuildReport, KernelId};
use gpubench_core::record::Built;
use gpubench_plan::{Candidate, Case, launches, partial_launch};
use std::time::Instant;

/// The kernel of a case that has the device for itself.
pub(super) const KERNEL: KernelId = KernelId(0);

/// A form that can be built and launched.
pub(super) struct Chosen<'a> {
    /// The form.
    pub candidate: &'a Candidate,
    /// Seconds of one launch, about.
    pub launch: f64,
    report: BuildReport,
}

/// What came of trying every form of a kernel.
pub(super) struct Forms<'a> {
    kernel: KernelId,
    /// Those that ran, the fastest by its rate of operations first (of bytes where it computes
    /// nothing).
    pub fastest_first: Vec<Chosen<'a>>,
    /// All, with the time of one launch; those that could not run or that the plan dropped without.
    tried: Vec<(String, Option<f64>)>,
}

impl Forms<'_> {
    /// Makes `chosen` the kernel on the device and in `finding`.
    ///
    /// # Errors
    /// What building it says.
    pub(super) fn keep(
        &self,
        session: &mut Session,
        chosen: &Chosen,
        stage: &mut dyn FnMut(Stage),
        finding: &mut Finding,
    ) -> Result<()> {
        if self.tried.len() > 1 {
            // Another form was built since.
            stage(Stage::Build);
            session.device.build(self.kernel, &chosen.candidate.kernel)?;
        }
        let built = built(chosen.candidate, chosen.report.clone());
        let tried = if self.tried.len() > 1 { self.tried.clone() } else { vec![] };
        finding.kernel = Some(Built { tried, ..built });
        Ok(())
    }
}

/// Tries every form (one build, a few launches). Each build and each first launch is a stage, so
/// that a search over many forms has no deadline as a whole.
///
/// # Errors
/// The last form's error (`Unsupported` only where there is no other) where none can be built and
/// launched; `OverBudget` where one launch would take too long for the policy.
pub(super) fn forms<'a>(
    session: &mut Session,
    case: &'a Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    finding: &mut Finding,
) -> Result<Forms<'a>> {
    let mut forms = Forms { kernel: case.kernel(), fastest_first: vec![], tried: vec![] };
    let mut last_error = Error::Unsupported("the case has no kernel".into());
    for candidate in &case.candidates {
        match attempt(session, case, candidate, policy, stage, finding) {
            Ok(chosen) => {
                forms.tried.push((candidate.label.clone(), Some(chosen.launch)));
                forms.fastest_first.push(chosen);
            }
            Err(
                error @ (Error::Unsupported(_)
                | Error::Build { .. }
                | Error::OutOfMemory(_)
                | Error::OverBudget(_)),
            ) => {
                forms.tried.push((candidate.label.clone(), None));
                // A form that this language lacks says less than one that takes too long.
                if tells_more(&error, &last_error) {
                    last_error = error;
                }
            }
            Err(error) => return Err(error),
        }
    }
    if forms.fastest_first.is_empty() {
        return Err(last_error);
    }
    forms.tried.extend(case.dropped.iter().map(|(label, _)| (label.clone(), None)));
    forms.fastest_first.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
    Ok(forms)
}

/// Tries every form and keeps the fastest.
///
/// # Errors
/// As [`forms`].
pub(super) fn choose<'a>(
    session: &mut Session,
    case: &'a Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    finding: &mut Finding,
) -> Result<Chosen<'a>> {
    let mut forms = forms(session, case, policy, stage, finding)?;
    let fastest = forms.fastest_first.remove(0);
    forms.keep(session, &fastest, stage, finding)?;
    Ok(fastest)
}

/// Builds the first form and launches nothing: for measures that choose their own launches.
///
/// # Errors
/// Whatever building it says; `Unsupported` for a case without a kernel.
pub(super) fn first_form<'a>(
    session: &mut Session,
    case: &'a Case,
    stage: &mut dyn FnMut(Stage),
    finding: &mut Finding,
) -> Result<&'a Candidate> {
    let no_kernel = || Error::Unsupported("the case has no kernel".into());
    let candidate = case.candidates.first().ok_or_else(no_kernel)?;
    stage(Stage::Build);
    let report = session.device.build(case.kernel(), &candidate.kernel)?;
    finding.kernel = Some(built(candidate, report));
    Ok(candidate)
}

fn tells_more(error: &Error, last: &Error) -> bool {
    !matches!(error, Error::Unsupported(_)) || matches!(last, Error::Unsupported(_))
}

fn rate(chosen: &Chosen) -> f64 {
    let candidate = chosen.candidate;
    let work = if candidate.flops > 0.0 { candidate.flops } else { candidate.bytes.max(1.0) };
    work / chosen.launch.max(1e-12)
}

/// Builds a form and finds the time of one launch.
fn attempt<'a>(
    session: &mut Session,
    case: &Case,
    candidate: &'a Candidate,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    finding: &mut Finding,
) -> Result<Chosen<'a>> {
    let alone = case.candidates.len() == 1;
    stage(Stage::Build);
    let report = session.device.build(case.kernel(), &candidate.kernel)?;
    stage(Stage::Launch);
    if alone {
        // Told even where launching it fails.
        finding.kernel = Some(built(candidate, report.clone()));
    }
    let affordable = policy.longest_launch.min(policy.seconds * 2.0 / policy.least as f64);
    check_duration(session, case, candidate, affordable)?;
    let once = launches(case, candidate, case.kernel(), 1);
    let mut launch = span(&session.device.run(&once)?);
    // The first launch of a form pays for what the driver put off; the best of a few counts, within
    // the form's share of the time that measuring the fastest will take.
    let (begun, share) = (Instant::now(), policy.seconds / case.candidates.len() as f64);
    let (more, long) = if alone { (2, TELLING) } else { (4, f64::INFINITY) };
    for _ in 0..more {
        if launch > long || begun.elapsed().as_secs_f64() > share {
            break;
        }
        launch = launch.min(span(&session.device.run(&once)?));
    }
    Ok(Chosen { candidate, launch, report })
}

/// A launch this long, in seconds, is mostly the kernel's own time; shorter ones are mostly the
/// cost of launching.
const TELLING: f64 = 2e-3;

pub(super) fn built(candidate: &Candidate, report: BuildReport) -> Built {
    Built {
        hash: candidate.kernel.hash(),
        group: candidate.kernel.group,
        groups: candidate.groups,
        checks: candidate.kernel.checks(),
        form: candidate.label.clone(),
        tried: vec![],
        report,
    }
}

/// Runs growing parts of the grid before the whole: a launch that would take longer than
/// `affordable` seconds is refused before it can block the device (or trip its watchdog).
fn check_duration(
    session: &mut Session,
    case: &Case,
    candidate: &Candidate,
    affordable: f64,
) -> Result<()> {
    let mut before = 0.0;
    for share in [1024, 128, 16] {
        let (recording, fraction) = partial_launch(case, candidate, case.kernel(), share);
        if fraction <= before {
            continue;
        }
        before = fraction;
        let too_long = |part: f64| part > TELLING && part / fraction > affordable;
        let mut part = span(&session.device.run(&recording)?);
        if too_long(part) {
            // It may have paid for what the driver put off, such as compiling: once more.
            part = part.min(span(&session.device.run(&recording)?));
        }
        if too_long(part) {
            let whole = part / fraction;
            return Err(Error::OverBudget(format!(
                "one launch would take about {}, {} fit the time budget of this case",
                gpubench_core::units::seconds(whole),
                gpubench_core::units::seconds(affordable)
            )));
        }
    }
    Ok(())
}
