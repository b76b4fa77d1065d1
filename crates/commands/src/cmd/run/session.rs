//! The loop over rounds, devices and cases; every case becomes a record.

use super::cases::Cases;
use super::cross_device_oracle::CrossDeviceOracle;
use super::interrupt;
use super::multi_device::MultiDeviceCase;
use super::time_budget::{Share, TimeBudget};
use crate::store::Writer;
use crate::worker::WorkerSupervisor;
use gpubench_core::error::Result;
use gpubench_core::gpu::DeviceKind;
use gpubench_core::reason::Reason;
use gpubench_core::record::{Footer, Header, Outcome, Record};
use gpubench_core::workload::CaseKey;
use gpubench_experiments::plan::{Case, is_no_larger, ranks, shuffle};
use gpubench_experiments::registry::seconds;
use gpubench_experiments::{Measurement, Policy, Stage};
use gpubench_report::labels::case_name;
use gpubench_report::progress::Progress;
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Instant;

/// A run in progress.
pub struct Session<'a> {
    /// What the run is.
    pub header: Header,
    /// The devices, in the header's order.
    pub supervisors: Vec<WorkerSupervisor>,
    /// Their cases, in the same order.
    pub cases: Vec<Cases>,
    /// Cases over several devices, each with the supervisor of those.
    pub multi_device_cases: Vec<(MultiDeviceCase, WorkerSupervisor)>,
    /// Devices that may compute expected results for others.
    pub cross_device_oracle: CrossDeviceOracle<'a>,
    /// Where the records go.
    pub writer: Writer,
    /// The records so far; those of a resumed run are not made again.
    pub records: Vec<Record>,
    /// How long each case may take.
    pub time_budget: TimeBudget,
    /// Cases that were too long for the budget on a device, each with the reason.
    pub too_long: Vec<(usize, Case, Reason)>,
    /// How well to measure.
    pub policy: Policy,
    /// Whether to be quiet about how far it is.
    pub quiet: bool,
}

/// What a run leaves.
pub struct Ended {
    /// What the run was.
    pub header: Header,
    /// All records.
    pub records: Vec<Record>,
    /// Of these, made before the run was resumed.
    pub resumed_at: usize,
    /// Seconds since it began or was resumed.
    pub seconds: f64,
    /// The result file.
    pub path: PathBuf,
    /// Whether it was interrupted: then it can be resumed.
    pub interrupted: bool,
}

impl Session<'_> {
    /// Runs to the end, or until interrupted.
    ///
    /// # Errors
    /// When a record cannot be written. What fails on a device is a record.
    pub fn run(mut self) -> Result<Ended> {
        let begun = Instant::now();
        let resumed_at = self.records.len();
        let done: HashSet<(usize, u32, CaseKey)> =
            self.records.iter().map(|r| (r.device, r.round, r.key.clone())).collect();
        for record in &self.records {
            self.supervisors[record.device].recall(record);
        }
        let mut left = self.left(&done);
        let own: u64 = self.cases.iter().map(|c| c.run.len() as u64).sum();
        let all = own + self.multi_device_cases.len() as u64;
        let all = all * u64::from(self.header.rounds);
        let mut progress = Progress::new(all, all - left, self.time_budget.total(), self.quiet);
        for round in 0..self.header.rounds {
            for device in 0..self.supervisors.len() {
                if round == 0 {
                    self.record_skipped(device, &done)?;
                }
                self.supervisors[device].scatter(scatter_seed(self.header.seed, round));
                let mut cases = self.order(device, round);
                cases.retain(|(_, case)| !done.contains(&(device, round, case.key.clone())));
                self.time_budget.begin(cases.len() as u64, left);
                for (rank, case) in cases {
                    if interrupt::asked() {
                        break;
                    }
                    let share = self.time_budget.share(left, rank == 0);
                    let record = self.run_one(&case, device, share, &mut progress);
                    self.append(placed(record, &case, device, round))?;
                    progress.end();
                    left -= 1;
                }
                // Each round is a fresh process.
                self.supervisors[device].leave();
            }
            left -= self.run_multi_device_round(round, left, &done, &mut progress)?;
        }
        progress.finish();
        self.end(begun, resumed_at, left > 0)
    }

    /// Cases still to be run, over all rounds and devices.
    fn left(&self, done: &HashSet<(usize, u32, CaseKey)>) -> u64 {
        let mut left = 0;
        for (device, cases) in self.cases.iter().enumerate() {
            for round in 0..self.header.rounds {
                let missing = |case: &&Case| !done.contains(&(device, round, case.key.clone()));
                left += cases.run.iter().filter(missing).count() as u64;
            }
        }
        let rounds = 0..self.header.rounds;
        left + rounds
            .map(|round| self.multi_device_cases_left(round, done).len() as u64)
            .sum::<u64>()
    }

    /// Positions of the cases over several devices that a round still has to run.
    fn multi_device_cases_left(
        &self,
        round: u32,
        done: &HashSet<(usize, u32, CaseKey)>,
    ) -> Vec<usize> {
        let missing = |&at: &usize| {
            let multi_device_case = &self.multi_device_cases[at].0;
            !done.contains(&(multi_device_case.first(), round, multi_device_case.key().clone()))
        };
        (0..self.multi_device_cases.len()).filter(missing).collect()
    }

    /// Runs a round's cases over several devices, which nobody else owns by now; returns their number.
    fn run_multi_device_round(
        &mut self,
        round: u32,
        left: u64,
        done: &HashSet<(usize, u32, CaseKey)>,
        progress: &mut Progress,
    ) -> Result<u64> {
        let todo = self.multi_device_cases_left(round, done);
        self.time_budget.begin(todo.len() as u64, left);
        let mut ended = 0;
        for at in todo {
            if interrupt::asked() {
                break;
            }
            let share = self.time_budget.share(left - ended, true);
            let record = self.run_multi_device(at, round, share, progress);
            let case = &self.multi_device_cases[at].0;
            self.append(placed(record, &case.cases[0], case.first(), round))?;
            progress.end();
            ended += 1;
        }
        Ok(ended)
    }

    /// Notes what the plan skipped on a device.
    fn record_skipped(
        &mut self,
        device: usize,
        done: &HashSet<(usize, u32, CaseKey)>,
    ) -> Result<()> {
        for record in std::mem::take(&mut self.cases[device].skipped) {
            if !done.contains(&(device, 0, record.key.clone())) {
                self.append(record)?;
            }
        }
        Ok(())
    }

    /// A round's cases with their ranks. The first round, which learns what fits the budget, goes
    /// from small to large.
    fn order(&self, device: usize, round: u32) -> Vec<(usize, Case)> {
        let cases = &self.cases[device].run;
        let mut cases: Vec<_> = ranks(cases).into_iter().zip(cases.iter().cloned()).collect();
        shuffle(&mut cases, self.header.seed, round);
        if round == 0 {
            cases.sort_by_key(|(rank, _)| *rank);
        }
        cases
    }

    /// Why a case is left out before it is prepared: it was too long in an earlier round, or a
    /// smaller size of the workload was. What a device has done once it may try again.
    fn skip_reason(&self, case: &Case, device: usize) -> Option<Reason> {
        let done = |r: &Record| r.device == device && r.key == case.key && r.outcome.is_ok();
        if self.records.iter().any(done) {
            return None;
        }
        let blocks =
            |(on, other, _): &&(usize, Case, Reason)| *on == device && is_no_larger(other, case);
        self.too_long.iter().find(blocks).map(|(_, other, why)| match other.key == case.key {
            true => why.clone(),
            false => why.clone().at("a smaller size was skipped"),
        })
    }

    fn append(&mut self, mut record: Record) -> Result<()> {
        let device = &self.header.devices[record.device];
        record.simulated = device.kind == DeviceKind::Simulated;
        self.writer.append(&record)?;
        self.records.push(record);
        Ok(())
    }

    /// How a case is measured whose share of the time this is.
    fn policy(&self, share: Option<Share>) -> std::result::Result<Policy, Outcome> {
        let none = || Outcome::Skipped(self.time_budget.used_up().into());
        let Share { seconds, warmup } = share.ok_or_else(none)?;
        Ok(Policy { seconds, warmup, ..self.policy.clone() })
    }

    /// Runs one case for its share of the time; else why it is not run.
    fn run_one(
        &mut self,
        case: &Case,
        device: usize,
        share: Option<Share>,
        progress: &mut Progress,
    ) -> std::result::Result<Record, Outcome> {
        let begun = Instant::now();
        if let Some(why) = self.skip_reason(case, device) {
            return Err(Outcome::Skipped(why));
        }
        let policy = self.policy(share)?;
        let needed = seconds(case).unwrap_or(0.0);
        if let Some(available) = self.time_budget.left().filter(|left| needed > *left) {
            let what = "measuring as long as the suite asks".to_owned();
            return Err(Outcome::Skipped(Reason::OverBudget { what, needed, available }));
        }
        let supervisor = &mut self.supervisors[device];
        progress.begin(&format!("{} on {}", case_name(&case.key), supervisor.device().label()));
        let case = self.cross_device_oracle.prepare(case, supervisor.device(), &policy)?;
        let mut stage = |stage| progress.stage(stage_label(stage));
        let record = supervisor.measure(&case, &policy, &mut stage);
        if let Outcome::Skipped(why) = &record.outcome {
            self.too_long.push((device, case, why.clone()));
        } else {
            let warmup = record.measured.as_ref().map_or(0.0, |measured| measured.warmup);
            self.time_budget.learn(begun.elapsed(), record.wall.measure - warmup);
        }
        Ok(record)
    }

    /// Runs one case over several devices for its share of the time; else why it is not run.
    fn run_multi_device(
        &mut self,
        at: usize,
        round: u32,
        share: Option<Share>,
        progress: &mut Progress,
    ) -> std::result::Result<Record, Outcome> {
        let begun = Instant::now();
        let policy = self.policy(share)?;
        let (multi_device_case, supervisor) = &mut self.multi_device_cases[at];
        let label = |&member: &usize| self.header.devices[member].label();
        let members: Vec<String> = multi_device_case.members.iter().map(label).collect();
        let name = case_name(multi_device_case.key());
        progress.begin(&format!("{name} on {}", members.join(" and ")));
        supervisor.scatter(scatter_seed(self.header.seed, round));
        let mut cases = multi_device_case.cases.clone();
        // What all devices compute is compared with what the first device's case expects.
        let first = &self.header.devices[multi_device_case.first()];
        cases[0] = self.cross_device_oracle.prepare(&cases[0], first, &policy)?;
        let mut stage = |stage| progress.stage(stage_label(stage));
        let record = supervisor.measure_multi_device(&cases, &policy, &mut stage);
        // Each round is a fresh process.
        supervisor.leave();
        self.time_budget.learn(begun.elapsed(), record.wall.measure);
        Ok(record)
    }

    fn end(self, begun: Instant, resumed_at: usize, interrupted: bool) -> Result<Ended> {
        let seconds = begun.elapsed().as_secs_f64();
        let path = if interrupted {
            self.writer.leave()?
        } else {
            let footer = Footer {
                ended: jiff::Timestamp::now().to_string(),
                wall: seconds,
                records: self.writer.records(),
            };
            self.writer.finish(&footer)?
        };
        let (header, records) = (self.header, self.records);
        Ok(Ended { header, records, resumed_at, seconds, path, interrupted })
    }
}

/// A record at its place in the run, or one that says why `case` was not measured.
fn placed(
    record: std::result::Result<Record, Outcome>,
    case: &Case,
    device: usize,
    round: u32,
) -> Record {
    match record {
        Ok(record) => Record { device, round, ..record },
        Err(outcome) => {
            let measurement = Measurement { outcome: Some(outcome), ..Measurement::default() };
            measurement.into_record(case, device, round)
        }
    }
}

/// A seed for the simulated devices of a round: rounds of one run scatter differently, and a run
/// of the same seed scatters as this one does.
fn scatter_seed(seed: u64, round: u32) -> u64 {
    (seed ^ u64::from(round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .wrapping_mul(0xff51_afd7_ed55_8ccd)
}

fn stage_label(stage: Stage) -> &'static str {
    match stage {
        Stage::Prepare => "prepare",
        Stage::Build => "build",
        Stage::Launch => "launch",
        Stage::Verify => "verify",
        Stage::Measure => "measure",
    }
}
