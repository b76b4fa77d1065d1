//! A divisible problem cut by each published rule, in equal parts, whole, and by our search: all
//! of them really run, verified, and timed on the host's clock.
//!
//! The rules and the search want to know the device: its stages alone are timed, and its copy
//! engines fitted to runs in equal chunks, before any plan is made.

use crate::check::Check;
use crate::chunks::{Alone, Chunks, division, queues, set_up};
use crate::expected::expected;
use crate::plan::{Candidate, Case, Parts};
use crate::schedule::data::{CopyEngines, Schedule, ScheduleRun};
use crate::timing::wall_clock;
use crate::{Measurement, Policy, Session, Stage, memory};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{HOST_RESOLUTION, MemoryKind};
use gpubench_core::record::{Detail, Measured, Timed};
use gpubench_core::workload::Split;
use gpubench_model::pipeline::Engines;
use gpubench_model::pipeline_fit::{Run, fit};
use gpubench_model::schedule::{Plan, Problem};
use gpubench_model::schedule_rules::Rule;
use gpubench_model::schedule_search::search;
use gpubench_model::streams::Stages;

/// Numbers of equal chunks to which the copy engines are fitted.
const CALIBRATION: [u64; 6] = [1, 2, 4, 8, 16, 32];

/// Measures `case` into `measurement`.
pub(super) fn measure(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    measurement: &mut Measurement,
) -> Result<()> {
    let division = division(case)?;
    stage(Stage::Prepare);
    let initial = memory::initial(case);
    let (variant, host_memory) = set_up(session, case, &initial, policy, stage, measurement)?;
    let candidate = variant.candidate;
    stage(Stage::Verify);
    let wanted = expected(case, candidate, &initial, policy)?;
    let check = Check { case, initial: &initial, wanted: wanted.as_ref() };
    // Eleven plans and nine other recordings share the case's time.
    let min_samples = policy.min_samples.min(crate::timing::MIN_SAMPLES_IN_TURN);
    let share = &Policy { min_samples, seconds: policy.seconds / 3.0, ..policy.clone() };
    let queues = queues(session);
    let chunks =
        Chunks { session, check, candidate, division, policy: share, stage, measurement, queues };
    let mut bench = Bench { chunks };
    if policy.verify_only {
        return bench.verify_equal_parts();
    }
    if let Some(schedule) = bench.schedule(host_memory)? {
        measurement.measured = Some(fastest(&schedule, case, candidate));
        measurement.detail = Some(Detail::new(&schedule));
        measurement.flag_if_not_converged(policy);
    }
    Ok(())
}

/// The fastest plan's samples stand for the case in tables.
fn fastest(schedule: &Schedule, case: &Case, candidate: &Candidate) -> Measured {
    let seconds = |run: &&ScheduleRun| run.timed.median().unwrap_or(f64::INFINITY);
    let run = schedule.runs.iter().min_by(|a, b| seconds(a).total_cmp(&seconds(b)));
    Measured {
        samples: run.map_or_else(Vec::new, |run| run.timed.walls.clone()),
        batch: 1,
        clock: wall_clock(schedule.clock),
        resolution: HOST_RESOLUTION,
        flops: candidate.flops,
        bytes: case.buffers.iter().map(|buffer| buffer.bytes().0 as f64).sum(),
        warmup: 0.0,
        dropped: 0,
    }
}

struct Bench<'a> {
    chunks: Chunks<'a>,
}

impl Bench<'_> {
    fn verify_equal_parts(&mut self) -> Result<()> {
        for count in self.calibration() {
            let work = match self.chunks.equal(count, self.chunks.queues) {
                Err(Error::Unsupported(_)) if count > 1 => break, // a halo larger than the chunks
                work => work?,
            };
            if !self.chunks.verified(&work)? {
                break;
            }
        }
        Ok(())
    }

    /// Every plan, made for this device and run on it; `None` where a result is wrong.
    fn schedule(&mut self, host_memory: MemoryKind) -> Result<Option<Schedule>> {
        let Alone { upload, kernel, download, clock } = self.chunks.alone()?;
        let seconds = |timed: &Timed| timed.median().unwrap_or(0.0);
        let whole = Stages {
            upload: seconds(&upload),
            kernel: seconds(&kernel),
            download: seconds(&download),
        };
        let Some(engines) = self.engines(whole)? else { return Ok(None) };
        let problem = Problem { whole, engines, smallest: self.smallest() };
        let (mut runs, mut skipped) = (vec![], vec![]);
        for (name, plan) in plans(&problem) {
            let reason = match plan {
                None => "it does not apply to these times".to_owned(),
                Some(plan) => match self.run(&name, &plan, &problem) {
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
        let engines =
            CopyEngines { count, command, bidirectional: [duplex.upload, duplex.download] };
        let (queues, rows) = (self.chunks.queues, self.chunks.division.rows);
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
    fn engines(&mut self, whole: Stages) -> Result<Option<Engines>> {
        let mut runs = vec![];
        for count in self.calibration() {
            let work = match self.chunks.equal(count, self.chunks.queues) {
                Err(Error::Unsupported(_)) if count > 1 => break, // a halo larger than the chunks
                work => work?,
            };
            let Some((timed, _)) = self.chunks.measured(&work)? else { return Ok(None) };
            if let Some(seconds) = timed.median() {
                runs.push(Run { whole, chunks: count as u32, seconds });
            }
        }
        let allowed = Engines::ideal(if self.chunks.queues >= 3 { 2 } else { 0 });
        let fitted = fit(&runs).map_or(allowed, |fitted| fitted.best.engines());
        // Few chunks may hide what a command costs, but no command is cheaper than an empty launch.
        let command = fitted.command.max(self.chunks.session.empty_launch());
        Ok(Some(Engines { command, ..fitted }))
    }

    /// The smallest share that a part may be: a row, or as many as a neighbour reads.
    fn smallest(&self) -> f64 {
        let halo = self.chunks.check.case.buffers.iter().map(|buffer| match buffer.split {
            Split::Rows { halo } => halo,
            Split::Broadcast => 0,
        });
        f64::from(halo.max().unwrap_or(0).max(1)) / self.chunks.division.rows as f64
    }

    fn calibration(&self) -> impl Iterator<Item = u64> + use<> {
        let rows = self.chunks.division.rows;
        CALIBRATION.into_iter().filter(move |&count| count <= rows)
    }

    fn run(&mut self, name: &str, plan: &Plan, problem: &Problem) -> Result<Option<ScheduleRun>> {
        let rows = self.chunks.division.rows;
        let whole = u32::try_from(rows)
            .map_err(|_| Error::Unsupported("more rows than 32 bits count".into()))?;
        if plan.sizes.len() as u64 > rows {
            let parts = plan.sizes.len();
            return Err(Error::Unsupported(format!("{parts} parts of {whole} rows")));
        }
        let rows: Vec<u64> = plan.rows(whole).into_iter().map(u64::from).collect();
        let Plan { upload_all_first, download_all_last, .. } = *plan;
        let parts = Parts { rows: &rows, upload_all_first, download_all_last };
        let work = self.chunks.parts(parts, self.chunks.queues)?;
        let Some((timed, _)) = self.chunks.measured(&work)? else { return Ok(None) };
        let sizes = rows.iter().map(|&n| n as f64 / f64::from(whole)).collect();
        let predicted = Plan { sizes, ..*plan }.makespan(problem);
        let plan = name.to_owned();
        Ok(Some(ScheduleRun { plan, rows, upload_all_first, download_all_last, predicted, timed }))
    }
}

/// Every plan by name; `None` where a rule does not apply.
fn plans(problem: &Problem) -> Vec<(String, Option<Plan>)> {
    let equal = |count: u32| match count {
        1 => ("no partition".to_owned(), Some(Plan::equal(1))),
        count => (format!("{count} equal parts"), Some(Plan::equal(count))),
    };
    let rule = |rule: Rule| (format!("rule {}", rule_name(rule)), rule.plan(problem));
    [1, 10, 100, 1000]
        .into_iter()
        .map(equal)
        .chain(Rule::ALL.into_iter().map(rule))
        .chain([("search".to_owned(), Some(search(problem).plan))])
        .collect()
}

fn rule_name(rule: Rule) -> &'static str {
    match rule {
        Rule::KernelBoundUploadHeavy => "kernel bound, upload heavy",
        Rule::KernelBoundDownloadHeavy => "kernel bound, download heavy",
        Rule::KernelBoundGeneral => "kernel bound, general",
        Rule::TransferBoundUploadHeavy => "transfer bound, upload heavy",
        Rule::TransferBoundDownloadHeavy => "transfer bound, download heavy",
        Rule::TransferBoundGeneral => "transfer bound, general",
    }
}
