//! Builds a case's kernel; where several forms are given, the fastest of them.

use super::session::span;
use super::{Finding, Policy, Session, Stage};
use crate::error::{Error, Result};
use crate::gpu::{BuildReport, KernelId, KernelSource};
use crate::hash::sha256_hex;
use crate::plan::{Candidate, Case, launches, partial_launch};
use crate::record::Built;
use std::time::Instant;

/// The only kernel that is kept.
pub(super) const KERNEL: KernelId = KernelId(0);

/// The chosen form, built, and seconds of one launch of it, about.
pub(super) struct Chosen<'a> {
    /// The form.
    pub candidate: &'a Candidate,
    /// Seconds of one launch, about.
    pub launch: f64,
}

/// Builds the only form, or tries each (one build, a few launches) and keeps the fastest by its
/// rate of operations (of bytes where it computes nothing). Each build and each first launch is a
/// stage, so that a search over many forms has no deadline as a whole.
///
/// # Errors
/// The last form's error (`Unsupported` only where there is no other) where none can be built and
/// launched; `OverBudget` where one launch would take too long for the policy.
pub(super) fn choose<'a>(
    session: &mut Session,
    case: &'a Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    finding: &mut Finding,
) -> Result<Chosen<'a>> {
    let mut best: Option<(f64, &Candidate)> = None;
    let mut tried = Vec::new();
    let mut last_error = Error::Unsupported("the case has no kernel".into());
    for candidate in &case.candidates {
        match attempt(session, case, candidate, policy, stage, finding) {
            Ok(launch) => {
                tried.push((candidate.label.clone(), Some(launch)));
                if best.is_none_or(|(best, _)| rate(candidate, launch) > best) {
                    best = Some((rate(candidate, launch), candidate));
                }
            }
            Err(
                error @ (Error::Unsupported(_)
                | Error::Build { .. }
                | Error::OutOfMemory(_)
                | Error::OverBudget(_)),
            ) => {
                tried.push((candidate.label.clone(), None));
                // A form that this language lacks says less than one that takes too long.
                if tells_more(&error, &last_error) {
                    last_error = error;
                }
            }
            Err(error) => return Err(error),
        }
    }
    let Some((_, candidate)) = best else { return Err(last_error) };
    stage(Stage::Build);
    let report = build(session, candidate, finding)?;
    let launch = attempted(&tried, candidate);
    let alone = case.candidates.len() == 1;
    finding.kernel = Some(Built {
        hash: hash(&candidate.kernel),
        group: candidate.kernel.group,
        groups: candidate.groups,
        checks: candidate.kernel.checks(),
        form: candidate.label.clone(),
        tried: if alone { vec![] } else { tried },
        report,
    });
    Ok(Chosen { candidate, launch })
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
    let report = build(session, candidate, finding)?;
    finding.kernel = Some(built_alone(candidate, report));
    Ok(candidate)
}

fn tells_more(error: &Error, last: &Error) -> bool {
    !matches!(error, Error::Unsupported(_)) || matches!(last, Error::Unsupported(_))
}

fn attempted(tried: &[(String, Option<f64>)], candidate: &Candidate) -> f64 {
    let launch = tried.iter().find(|(label, _)| *label == candidate.label);
    launch.and_then(|(_, seconds)| *seconds).unwrap_or(0.0)
}

fn rate(candidate: &Candidate, launch: f64) -> f64 {
    let work = if candidate.flops > 0.0 { candidate.flops } else { candidate.bytes.max(1.0) };
    work / launch.max(1e-12)
}

/// Builds a form and finds the time of one launch.
fn attempt(
    session: &mut Session,
    case: &Case,
    candidate: &Candidate,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    finding: &mut Finding,
) -> Result<f64> {
    let alone = case.candidates.len() == 1;
    stage(Stage::Build);
    let report = build(session, candidate, finding)?;
    stage(Stage::Launch);
    if alone {
        finding.kernel = Some(built_alone(candidate, report));
    }
    let affordable = policy.longest_launch.min(policy.seconds * 2.0 / policy.least as f64);
    check_duration(session, case, candidate, affordable)?;
    let once = launches(case, candidate, KERNEL, 1);
    let mut launch = span(&session.device.run(&once)?);
    if !alone {
        // The first launch of a form pays for what the driver put off; the best of a few counts,
        // within the form's share of the time that measuring the fastest will take.
        let (begun, share) = (Instant::now(), policy.seconds / case.candidates.len() as f64);
        for _ in 0..4 {
            launch = launch.min(span(&session.device.run(&once)?));
            if begun.elapsed().as_secs_f64() > share {
                break;
            }
        }
    }
    Ok(launch)
}

fn built_alone(candidate: &Candidate, report: BuildReport) -> Built {
    Built {
        hash: hash(&candidate.kernel),
        group: candidate.kernel.group,
        groups: candidate.groups,
        checks: candidate.kernel.checks(),
        form: candidate.label.clone(),
        tried: vec![],
        report,
    }
}

fn build(
    session: &mut Session,
    candidate: &Candidate,
    finding: &mut Finding,
) -> Result<BuildReport> {
    let start = Instant::now();
    let report = session.device.build(KERNEL, &candidate.kernel);
    finding.wall.build += start.elapsed().as_secs_f64();
    report
}

/// Runs growing parts of the grid before the whole: a launch that would take longer than
/// `affordable` seconds is refused before it can block the device (or trip its watchdog).
fn check_duration(
    session: &mut Session,
    case: &Case,
    candidate: &Candidate,
    affordable: f64,
) -> Result<()> {
    // A part this long predicts the whole well enough; shorter ones are mostly launch cost.
    const TELLING: f64 = 2e-3;
    for share in [1024, 128, 16] {
        let (recording, fraction) = partial_launch(case, candidate, KERNEL, share);
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
                crate::units::seconds(whole),
                crate::units::seconds(affordable)
            )));
        }
    }
    Ok(())
}

/// SHA-256 over all that decides what a kernel computes and how.
fn hash(kernel: &KernelSource) -> String {
    let mut kernel = kernel.clone();
    kernel.meaning = None;
    let bytes = serde_json::to_vec(&kernel).unwrap_or_default();
    sha256_hex(bytes)
}
