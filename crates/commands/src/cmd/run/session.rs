//! A suite on the devices of one machine, in progress; every case becomes a record.

use super::cases::Cases;
use super::cross_device_oracle::CrossDeviceOracle;
use super::deferred::Deferred;
use super::estimate::Estimate;
use super::multi_device::MultiDeviceCase;
use super::rounds::Rounds;
use super::time_budget::TimeBudget;
use crate::store::Writer;
use crate::worker::WorkerSupervisor;
use gpubench_core::error::Result;
use gpubench_core::gpu::DeviceKind;
use gpubench_core::reason::Reason;
use gpubench_core::record::{Header, Outcome, Record};
use gpubench_core::workload::CaseKey;
use gpubench_experiments::plan::Case;
use gpubench_experiments::registry::several_devices;
use gpubench_experiments::{Measurement, Policy};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// A machine's part of a run in progress. What there is one of for each device, is there for all of the run's, so
/// that a device has one number everywhere.
pub struct Session<'a> {
    /// What the run is.
    pub header: &'a Header,
    /// The devices that are measured here, one after the other.
    pub own: Vec<usize>,
    /// The devices, in the header's order.
    pub supervisors: Vec<WorkerSupervisor>,
    /// Their cases, in the same order; of a device of another machine none.
    pub cases: Vec<Cases>,
    /// Cases over several devices, each with the supervisor of those.
    pub multi_device_cases: Vec<(MultiDeviceCase, WorkerSupervisor)>,
    /// Devices that may compute expected results for others.
    pub cross_device_oracle: CrossDeviceOracle<'a>,
    /// Where the records go, those of all machines.
    pub writer: &'a Mutex<Writer>,
    /// The records of these devices so far; those of a resumed run are not made again.
    pub records: Vec<Record>,
    /// How many of them were made by an earlier invocation.
    pub resumed_at: usize,
    /// The time of each device.
    pub time_budgets: Vec<TimeBudget>,
    /// The time of the cases over several devices.
    pub multi_device_budget: TimeBudget,
    /// How long the devices are estimated to take.
    pub estimate: Estimate,
    /// Its rounds.
    pub rounds: Rounds,
    /// The cases of each device that wait until others have had their rounds.
    pub(super) deferred: Vec<Deferred>,
    /// Cases that were too long for the budget on a device, each with the reason.
    pub too_long: Vec<(usize, Case, Reason)>,
    /// How well to measure.
    pub policy: Policy,
}

/// A case on a device in a round, of which there is one record.
pub(super) type Done = HashSet<(usize, u32, CaseKey)>;

impl Session<'_> {
    /// Cases over all planned rounds, and how many of them there are records of.
    pub fn count(&self) -> (u64, u64) {
        let own: u64 = self.cases.iter().map(|c| c.run.len() as u64).sum();
        let all = own + self.multi_device_cases.len() as u64;
        let all = all * u64::from(self.header.rounds);
        (all, all - self.left(&self.done()))
    }

    /// Lets the deferred cases of all devices try again, which get more time than they were too long for.
    pub(super) fn recall_deferred(&mut self) {
        for device in self.own.clone() {
            let deferred = &self.deferred[device];
            self.too_long.retain(|(on, case, _)| *on != device || !deferred.has(&case.key));
        }
    }

    /// What there are records of.
    pub(super) fn done(&self) -> Done {
        self.records.iter().map(|r| (r.device, r.round, r.key.clone())).collect()
    }

    /// Learns from the records of an earlier invocation.
    pub fn recall(&mut self) {
        for record in &self.records {
            self.supervisors[record.device].recall(record);
            match several_devices(record.key.measure) {
                true => self.multi_device_budget.recall(record),
                false => self.time_budgets[record.device].recall(record),
            }
        }
    }

    /// Seconds that the rest is estimated to take.
    pub fn estimated(&self) -> f64 {
        let rest = |(estimate, budget): (&f64, &TimeBudget)| (estimate - budget.spent()).max(0.0);
        let budgets = self.own.iter().map(|&device| &self.time_budgets[device]);
        let own: f64 = self.estimate.devices.iter().zip(budgets).map(rest).sum();
        own + rest((&self.estimate.multi_device, &self.multi_device_budget))
    }

    /// Seconds of its devices' turns so far.
    pub fn spent(&self) -> f64 {
        let own: f64 = self.own.iter().map(|&device| self.time_budgets[device].spent()).sum();
        own + self.multi_device_budget.spent()
    }

    /// Seconds that all its devices have left, where they are limited.
    pub fn time_left(&self) -> Option<f64> {
        self.own.iter().map(|&device| self.time_budgets[device].left()).sum()
    }

    /// Whether a device has time for a round that follows.
    pub(super) fn has_time_for(&self, device: usize, round: u32) -> bool {
        let budget = &self.time_budgets[device];
        let time = budget.left().zip(budget.total());
        self.rounds.is_worth(round, self.header.devices[device].kind, time)
    }

    /// Cases still to be run, over all planned rounds and devices.
    pub(super) fn left(&self, done: &Done) -> u64 {
        let rounds = 0..self.header.rounds;
        let devices = 0..self.cases.len();
        let own = devices.flat_map(|device| self.missing(device, 0, done)).count() as u64;
        own + rounds
            .map(|round| self.multi_device_cases_left(round, done).len() as u64)
            .sum::<u64>()
    }

    /// Cases still to be run on a device, the deferred apart, over the planned rounds from `first` on.
    pub(super) fn left_on<'a>(
        &'a self,
        device: usize,
        first: u32,
        done: &'a Done,
    ) -> impl Iterator<Item = &'a Case> {
        let waits = move |case: &&Case| self.deferred[device].has(&case.key);
        self.missing(device, first, done).filter(move |case| !waits(case))
    }

    /// What there is no record of on a device, over the planned rounds from `first` on.
    fn missing<'a>(
        &'a self,
        device: usize,
        first: u32,
        done: &'a Done,
    ) -> impl Iterator<Item = &'a Case> {
        let cases = move || self.cases[device].run.iter();
        let each = move |round| {
            let is_left = move |case: &&Case| {
                done.is_empty() || !done.contains(&(device, round, case.key.clone()))
            };
            cases().filter(is_left)
        };
        (first..self.header.rounds).flat_map(each)
    }

    /// Notes what the plan skipped on a device.
    pub(super) fn record_skipped(&mut self, device: usize, done: &Done) -> Result<()> {
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
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).append(&record)?;
        self.records.push(record);
        Ok(())
    }
}

/// A record at its place in the run, or one that says why `case` was not measured.
pub(super) fn placed(
    record: Result<Record, Outcome>,
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
