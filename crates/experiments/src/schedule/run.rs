//! A divisible problem cut by each published rule, in equal parts, whole, and by our search: all
//! of them really run, verified, and timed on the host's clock.
//!
//! The rules and the search want to know the device: its stages alone are timed, and its copy
//! engines fitted to runs in equal chunks, before any plan is made.

use crate::chunks::{Alone, Chunks, Prepared};
use crate::plan::{Case, Parts};
use crate::schedule::data::{CopyEngines, Schedule, ScheduleRun};
use crate::timing::{MIN_SAMPLES_IN_TURN, fastest};
use crate::{Bench, Policy};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::MemoryKind;
use gpubench_core::record::{Detail, Timed};
use gpubench_core::workload::Split;
use gpubench_model::pipeline::Engines;
use gpubench_model::pipeline_fit::{Run, fit};
use gpubench_model::schedule::{Class, Plan, Problem};
use gpubench_model::schedule_search::search;
use gpubench_model::streams::Stages;

/// Numbers of equal chunks to which the copy engines are fitted.
const CALIBRATION: [u64; 6] = [1, 2, 4, 8, 16, 32];

/// Measures `case` with `bench`.
pub(super) fn measure(case: &Case, bench: &mut Bench) -> Result<()> {
    let policy = bench.policy;
    let prepared = Prepared::new(case, bench)?;
    // Eleven plans and nine other recordings share the case's time.
    let min_samples = policy.min_samples.min(MIN_SAMPLES_IN_TURN);
    let share = &Policy { min_samples, seconds: policy.seconds / 3.0, ..policy.clone() };
    let mut chunks = prepared.chunks(bench.with_policy(share));
    if policy.verify_only {
        return verify_equal_parts(&mut chunks);
    }
    if let Some(schedule) = schedule(&mut chunks, prepared.host_memory)? {
        let walls = schedule.runs.iter().map(|run| &run.timed.walls[..]);
        let bytes = case.buffers.iter().map(|buffer| buffer.bytes().0 as f64).sum();
        let work = [prepared.candidate.flops, bytes];
        bench.measurement.measured = Some(fastest(walls, schedule.clock, work));
        bench.measurement.detail = Some(Detail::new(&schedule));
        bench.measurement.flag_if_not_converged(policy);
    }
    Ok(())
}

fn verify_equal_parts(chunks: &mut Chunks) -> Result<()> {
    for count in calibration(chunks) {
        let work = chunks.equal_that_hold_a_halo(count, chunks.queues)?;
        let Some(work) = work else { break };
        if chunks.verified(&work)?.is_none() {
            break;
        }
    }
    Ok(())
}

/// Every plan, made for this device and run on it; `None` where a result is wrong.
fn schedule(chunks: &mut Chunks, host_memory: MemoryKind) -> Result<Option<Schedule>> {
    let Alone { upload, kernel, download, clock } = chunks.alone()?;
    let seconds = |timed: &Timed| timed.median().unwrap_or(0.0);
    let whole =
        Stages { upload: seconds(&upload), kernel: seconds(&kernel), download: seconds(&download) };
    let Some(engines) = engines(chunks, whole)? else { return Ok(None) };
    let problem = Problem { whole, engines, smallest: smallest(chunks) };
    let (mut runs, mut skipped) = (vec![], vec![]);
    for (name, plan) in plans(&problem) {
        let reason = match plan {
            None => "it does not apply to these times".to_owned(),
            Some(plan) => match run(chunks, &name, &plan, &problem) {
                Ok(Some(run)) => {
                    runs.push(run);
                    continue;
                }
                Ok(None) => return Ok(None),
                Err(Error::Unsupported(reason)) => reason,
                Err(error) => return Err(error),
            },
        };
        skipped.push((name, reason));
    }
    let Engines { count, command, duplex } = engines;
    let engines = CopyEngines { count, command, bidirectional: [duplex.upload, duplex.download] };
    let (queues, rows) = (chunks.queues, chunks.division.rows);
    let schedule = Schedule {
        clock,
        host_memory,
        queues,
        rows,
        upload,
        kernel,
        download,
        engines,
        runs,
        skipped,
    };
    Ok(Some(schedule))
}

/// The copy engines that explain runs in equal chunks best; `None` where a result is wrong.
/// With too few rows to decide, those that the queues allow.
fn engines(chunks: &mut Chunks, whole: Stages) -> Result<Option<Engines>> {
    let mut runs = vec![];
    for count in calibration(chunks) {
        let work = chunks.equal_that_hold_a_halo(count, chunks.queues)?;
        let Some(work) = work else { break };
        let Some((timed, _)) = chunks.measured(&work)? else { return Ok(None) };
        if let Some(seconds) = timed.median() {
            runs.push(Run { whole, chunks: count as u32, seconds });
        }
    }
    let allowed = Engines::ideal(if chunks.queues >= 3 { 2 } else { 0 });
    let fitted = fit(&runs).map_or(allowed, |fitted| fitted.best.engines());
    // Few chunks may hide what a command costs, but no command is cheaper than an empty launch.
    let command = fitted.command.max(chunks.bench.session.empty_launch().unwrap_or(0.0));
    Ok(Some(Engines { command, ..fitted }))
}

/// The smallest share that a part may be: a row, or as many as a neighbour reads.
fn smallest(chunks: &Chunks) -> f64 {
    let halo = chunks.check.case.buffers.iter().map(|buffer| match buffer.split {
        Split::Rows { halo } => halo,
        Split::Broadcast => 0,
    });
    f64::from(halo.max().unwrap_or(0).max(1)) / chunks.division.rows as f64
}

fn calibration(chunks: &Chunks) -> impl Iterator<Item = u64> + use<> {
    let rows = chunks.division.rows;
    CALIBRATION.into_iter().filter(move |&count| count <= rows)
}

fn run(
    chunks: &mut Chunks,
    name: &str,
    plan: &Plan,
    problem: &Problem,
) -> Result<Option<ScheduleRun>> {
    let rows = chunks.division.rows;
    let whole = u32::try_from(rows)
        .map_err(|_| Error::Unsupported("more rows than 32 bits count".into()))?;
    if plan.sizes.len() as u64 > rows {
        let parts = plan.sizes.len();
        return Err(Error::Unsupported(format!("{parts} parts of {whole} rows")));
    }
    let rows: Vec<u64> = plan.rows(whole).into_iter().map(u64::from).collect();
    let Plan { upload_all_first, download_all_last, .. } = *plan;
    let parts = Parts { rows: &rows, upload_all_first, download_all_last };
    let work = chunks.parts(parts, chunks.queues)?;
    let Some((timed, _)) = chunks.measured(&work)? else { return Ok(None) };
    let sizes = rows.iter().map(|&n| n as f64 / f64::from(whole)).collect();
    let predicted = Plan { sizes, ..*plan }.makespan(problem);
    let plan = name.to_owned();
    Ok(Some(ScheduleRun { plan, rows, upload_all_first, download_all_last, predicted, timed }))
}

/// Every plan by name; `None` where a rule does not apply.
fn plans(problem: &Problem) -> Vec<(String, Option<Plan>)> {
    let equal = |count: u32| match count {
        1 => ("no partition".to_owned(), Some(Plan::equal(1))),
        count => (format!("{count} equal parts"), Some(Plan::equal(count))),
    };
    let rule = |class: Class| (format!("rule {}", class.label()), class.plan(problem));
    [1, 10, 100, 1000]
        .into_iter()
        .map(equal)
        .chain(Class::ALL.into_iter().map(rule))
        .chain([("search".to_owned(), Some(search(problem).plan))])
        .collect()
}
