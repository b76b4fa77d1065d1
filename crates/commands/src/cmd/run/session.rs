//! The loop over rounds and devices; every case becomes a record.

use super::cases::Cases;
use super::cross_device_oracle::CrossDeviceOracle;
use super::deferred::{Deferred, Phase};
use super::estimate::Estimates;
use super::interrupt;
use super::multi_device::MultiDeviceCase;
use super::rounds::Rounds;
use super::time_budget::TimeBudget;
use crate::store::{Writer, now};
use crate::worker::WorkerSupervisor;
use gpubench_core::error::Result;
use gpubench_core::gpu::DeviceKind;
use gpubench_core::reason::Reason;
use gpubench_core::record::{Footer, Header, Outcome, Record};
use gpubench_core::workload::CaseKey;
use gpubench_experiments::plan::Case;
use gpubench_experiments::registry::several_devices;
use gpubench_experiments::{Measurement, Policy, Stage};
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
    /// The time of each device.
    pub time_budgets: Vec<TimeBudget>,
    /// The time of the cases over several devices.
    pub multi_device_budget: TimeBudget,
    /// How long each device is estimated to take.
    pub estimates: Estimates,
    /// Its rounds.
    pub rounds: Rounds,
    /// The cases of each device that wait until others have had their rounds.
    pub(super) deferred: Vec<Deferred>,
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
    /// Seconds that were estimated when it began or was resumed.
    pub estimated: f64,
    /// The result file.
    pub path: PathBuf,
    /// Whether it was interrupted: then it can be resumed.
    pub interrupted: bool,
}

/// A case on a device in a round, of which there is one record.
pub(super) type Done = HashSet<(usize, u32, CaseKey)>;

impl Session<'_> {
    /// Runs to the end, or until interrupted.
    ///
    /// # Errors
    /// When a record cannot be written. What fails on a device is a record.
    pub fn run(mut self) -> Result<Ended> {
        let begun = Instant::now();
        let resumed_at = self.records.len();
        let done = self.done();
        self.recall();
        let estimated = self.estimated();
        let own: u64 = self.cases.iter().map(|c| c.run.len() as u64).sum();
        let all = own + self.multi_device_cases.len() as u64;
        let all = all * u64::from(self.header.rounds);
        let mut progress = Progress::new(all, all - self.left(&done), self.time_left(), self.quiet);
        self.planned_rounds(&done, &mut progress)?;
        let more = self.following_rounds(&done, &mut progress)?;
        progress.finish();
        let interrupted = interrupt::asked() && (more || self.left(&self.done()) > 0);
        self.end(begun, resumed_at, estimated, interrupted)
    }

    /// The rounds that were planned: of all cases but the deferred, then of those.
    fn planned_rounds(&mut self, done: &Done, progress: &mut Progress) -> Result<()> {
        for round in 0..self.rounds.planned {
            for device in 0..self.supervisors.len() {
                if round == 0 {
                    self.record_skipped(device, done)?;
                }
                self.round(device, (Phase::Planned, round), done, progress)?;
            }
            self.run_multi_device_round(round, done, progress)?;
        }
        for device in 0..self.supervisors.len() {
            // They get more time than they were too long for.
            let deferred = &self.deferred[device];
            self.too_long.retain(|(on, case, _)| *on != device || !deferred.has(&case.key));
        }
        for round in 0..self.rounds.planned {
            for device in 0..self.supervisors.len() {
                if !self.deferred[device].is_empty() {
                    self.round(device, (Phase::Deferred, round), done, progress)?;
                }
            }
        }
        Ok(())
    }

    /// The rounds that follow; whether there were any.
    fn following_rounds(&mut self, done: &Done, progress: &mut Progress) -> Result<bool> {
        let mut any = false;
        for round in self.rounds.following() {
            for device in 0..self.supervisors.len() {
                if self.has_time_for(device, round) {
                    any |= !interrupt::asked();
                    self.round(device, (Phase::Following, round), done, progress)?;
                }
            }
        }
        Ok(any)
    }

    /// What there are records of.
    pub(super) fn done(&self) -> Done {
        self.records.iter().map(|r| (r.device, r.round, r.key.clone())).collect()
    }

    /// Learns from the records of an earlier invocation.
    fn recall(&mut self) {
        for record in &self.records {
            self.supervisors[record.device].recall(record);
            match several_devices(record.key.measure) {
                true => self.multi_device_budget.recall(record),
                false => self.time_budgets[record.device].recall(record),
            }
        }
    }

    /// Seconds that the rest of the run is estimated to take.
    fn estimated(&self) -> f64 {
        let rest = |(estimate, budget): (&f64, &TimeBudget)| (estimate - budget.spent()).max(0.0);
        let own: f64 = self.estimates.devices.iter().zip(&self.time_budgets).map(rest).sum();
        own + rest((&self.estimates.multi_device, &self.multi_device_budget))
    }

    /// Seconds that all devices have left, where they are limited.
    fn time_left(&self) -> Option<f64> {
        self.time_budgets.iter().map(TimeBudget::left).sum()
    }

    /// Whether a device has time for a round that follows.
    fn has_time_for(&self, device: usize, round: u32) -> bool {
        let budget = &self.time_budgets[device];
        let time = budget.left().zip(budget.total());
        self.rounds.is_worth(round, self.header.devices[device].kind, time)
    }

    /// Cases still to be run, over all planned rounds and devices.
    fn left(&self, done: &Done) -> u64 {
        let rounds = 0..self.header.rounds;
        let devices = 0..self.cases.len();
        let own = devices.flat_map(|device| self.missing(device, 0, done)).count() as u64;
        own + rounds
            .map(|round| self.multi_device_cases_left(round, done).len() as u64)
            .sum::<u64>()
    }

    /// Cases still to be run on a device, the deferred apart, over the planned rounds from `first` on.
    pub(super) fn left_on(&self, device: usize, first: u32, done: &Done) -> u64 {
        let waits = |key: &&CaseKey| self.deferred[device].has(key);
        self.missing(device, first, done).filter(|key| !waits(key)).count() as u64
    }

    /// What there is no record of on a device, over the planned rounds from `first` on.
    fn missing(&self, device: usize, first: u32, done: &Done) -> impl Iterator<Item = &CaseKey> {
        let keys = move || self.cases[device].run.iter().map(|case| &case.key);
        let each =
            move |round| keys().filter(move |key| !done.contains(&(device, round, (*key).clone())));
        (first..self.header.rounds).flat_map(each)
    }

    /// Notes what the plan skipped on a device.
    fn record_skipped(&mut self, device: usize, done: &Done) -> Result<()> {
        for record in std::mem::take(&mut self.cases[device].skipped) {
            if !done.contains(&(device, 0, record.key.clone())) {
                self.append(record)?;
            }
        }
        Ok(())
    }

    /// Writes a record down.
    pub(super) fn append(&mut self, mut record: Record) -> Result<()> {
        let device = &self.header.devices[record.device];
        record.simulated = device.kind == DeviceKind::Simulated;
        self.writer.append(&record)?;
        self.records.push(record);
        Ok(())
    }

    fn end(
        self,
        begun: Instant,
        resumed_at: usize,
        estimated: f64,
        interrupted: bool,
    ) -> Result<Ended> {
        let seconds = begun.elapsed().as_secs_f64();
        let path = if interrupted {
            self.writer.leave()?
        } else {
            let footer = Footer {
                ended: now()?,
                wall: seconds,
                estimated: Some(estimated),
                records: self.writer.records(),
            };
            self.writer.finish(&footer)?
        };
        let (header, records) = (self.header, self.records);
        Ok(Ended { header, records, resumed_at, seconds, estimated, path, interrupted })
    }
}

/// A record at its place in the run, or one that says why `case` was not measured.
pub(super) fn placed(
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
pub(super) fn scatter_seed(seed: u64, round: u32) -> u64 {
    (seed ^ u64::from(round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .wrapping_mul(0xff51_afd7_ed55_8ccd)
}

/// A stage in a word.
pub(super) fn stage_label(stage: Stage) -> &'static str {
    match stage {
        Stage::CoolDown => "cool down",
        Stage::Prepare => "prepare",
        Stage::Build => "build",
        Stage::Launch => "launch",
        Stage::Verify => "verify",
        Stage::Measure => "measure",
    }
}
