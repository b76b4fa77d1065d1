//! The loop over rounds, devices and cases; every case becomes a record.

use super::cases::Cases;
use super::interrupt;
use super::pace::{Pace, Share};
use super::together::Joint;
use super::witness::Witness;
use crate::store::Writer;
use crate::worker::Seat;
use gpubench_core::error::Result;
use gpubench_core::gpu::DeviceKind;
use gpubench_core::record::{Footer, Header, Outcome, Record};
use gpubench_core::workload::CaseKey;
use gpubench_experiments::{Finding, Policy, Stage};
use gpubench_plan::{Case, is_no_larger, ranks, shuffle};
use gpubench_report::progress::Progress;
use gpubench_report::terminal::{case_name, label};
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Instant;

/// A run in progress.
pub struct Session<'a> {
    /// What the run is.
    pub header: Header,
    /// The devices, in the header's order.
    pub seats: Vec<Seat>,
    /// Their cases, in the same order.
    pub cases: Vec<Cases>,
    /// Cases over several devices, each with the seat of those.
    pub joints: Vec<(Joint, Seat)>,
    /// Devices that may compute expected results for others.
    pub witness: Witness<'a>,
    /// Where the records go.
    pub writer: Writer,
    /// The records so far; those of a resumed run are not made again.
    pub records: Vec<Record>,
    /// How long each case may take.
    pub pace: Pace,
    /// Cases that were too long for the budget on a device, each with the reason.
    pub too_long: Vec<(usize, Case, String)>,
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
            self.seats[record.device].recall(record);
        }
        let mut left = self.left(&done);
        let own: u64 = self.cases.iter().map(|c| c.run.len() as u64).sum();
        let all = own + self.joints.len() as u64;
        let all = all * u64::from(self.header.rounds);
        let mut progress = Progress::new(all, all - left, self.pace.total(), self.quiet);
        for round in 0..self.header.rounds {
            for device in 0..self.seats.len() {
                if round == 0 {
                    self.refuse(device, &done)?;
                }
                self.seats[device].scatter(scatter_seed(self.header.seed, round));
                let mut cases = self.order(device, round);
                cases.retain(|(_, case)| !done.contains(&(device, round, case.key.clone())));
                self.pace.begin(cases.len() as u64, left);
                for (rank, case) in cases {
                    if interrupt::asked() {
                        break;
                    }
                    let share = self.pace.share(left, rank == 0);
                    let record = self.one(&case, device, round, share, &mut progress);
                    self.append(record)?;
                    progress.end();
                    left -= 1;
                }
                // Each round is a fresh process.
                self.seats[device].leave();
            }
            left -= self.together(round, left, &done, &mut progress)?;
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
        left + rounds.map(|round| self.joints_left(round, done).len() as u64).sum::<u64>()
    }

    /// Positions of the cases over several devices that a round still has to run.
    fn joints_left(&self, round: u32, done: &HashSet<(usize, u32, CaseKey)>) -> Vec<usize> {
        let missing = |&at: &usize| {
            let joint = &self.joints[at].0;
            !done.contains(&(joint.first(), round, joint.key().clone()))
        };
        (0..self.joints.len()).filter(missing).collect()
    }

    /// Runs a round's cases over several devices, which nobody else owns by now; so many of them.
    fn together(
        &mut self,
        round: u32,
        left: u64,
        done: &HashSet<(usize, u32, CaseKey)>,
        progress: &mut Progress,
    ) -> Result<u64> {
        let todo = self.joints_left(round, done);
        self.pace.begin(todo.len() as u64, left);
        let mut ended = 0;
        for at in todo {
            if interrupt::asked() {
                break;
            }
            let share = self.pace.share(left - ended, true);
            let record = self.joint(at, round, share, progress);
            self.append(record)?;
            progress.end();
            ended += 1;
        }
        Ok(ended)
    }

    /// Notes what the plan refused on a device.
    fn refuse(&mut self, device: usize, done: &HashSet<(usize, u32, CaseKey)>) -> Result<()> {
        for record in std::mem::take(&mut self.cases[device].refused) {
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
    fn foretold(&self, case: &Case, device: usize) -> Option<String> {
        let done = |r: &Record| r.device == device && r.key == case.key && r.outcome.is_ok();
        if self.records.iter().any(done) {
            return None;
        }
        let told =
            |(on, other, _): &&(usize, Case, String)| *on == device && is_no_larger(other, case);
        self.too_long.iter().find(told).map(|(_, other, why)| match other.key == case.key {
            true => why.clone(),
            false => format!("a smaller size was left out: {why}"),
        })
    }

    fn append(&mut self, mut record: Record) -> Result<()> {
        let device = &self.header.devices[record.device];
        record.simulated = device.kind == DeviceKind::Simulated;
        self.writer.append(&record)?;
        self.records.push(record);
        Ok(())
    }

    /// Runs one case for its share of the time.
    fn one(
        &mut self,
        case: &Case,
        device: usize,
        round: u32,
        share: Option<Share>,
        progress: &mut Progress,
    ) -> Record {
        let begun = Instant::now();
        let place = |record: Record| Record { device, round, ..record };
        let without = |outcome| {
            let finding = Finding { outcome: Some(outcome), ..Finding::default() };
            finding.into_record(case, device, round)
        };
        if let Some(why) = self.foretold(case, device) {
            return without(Outcome::Skipped(why));
        }
        let Some(share) = share else {
            return without(Outcome::Skipped(self.pace.used_up()));
        };
        let policy = Policy { seconds: share.seconds, warmup: share.warmup, ..self.policy.clone() };
        let seat = &mut self.seats[device];
        progress.begin(&format!("{} on {}", case_name(&case.key), label(seat.device())));
        let case = match self.witness.prepare(case, seat.device(), &policy) {
            Ok(case) => case,
            Err(outcome) => return without(outcome),
        };
        let mut stage = |stage| progress.stage(stage_word(stage));
        let record = place(seat.measure(&case, &policy, &mut stage));
        if let Outcome::Skipped(why) = &record.outcome {
            self.too_long.push((device, case, why.clone()));
        } else {
            let warmup = record.measured.as_ref().map_or(0.0, |measured| measured.warmup);
            self.pace.learn(begun.elapsed(), record.wall.measure - warmup);
        }
        record
    }

    /// Runs one case over several devices for its share of the time.
    fn joint(
        &mut self,
        at: usize,
        round: u32,
        share: Option<Share>,
        progress: &mut Progress,
    ) -> Record {
        let begun = Instant::now();
        let (joint, seat) = &mut self.joints[at];
        let without = |outcome| {
            let finding = Finding { outcome: Some(outcome), ..Finding::default() };
            finding.into_record(&joint.cases[0], joint.first(), round)
        };
        let Some(Share { seconds, warmup }) = share else {
            return without(Outcome::Skipped(self.pace.used_up()));
        };
        let policy = Policy { seconds, warmup, ..self.policy.clone() };
        let members = joint.members.iter().map(|&member| label(&self.header.devices[member]));
        let members: Vec<String> = members.collect();
        progress.begin(&format!("{} on {}", case_name(joint.key()), members.join(" and ")));
        seat.scatter(scatter_seed(self.header.seed, round));
        let mut cases = joint.cases.clone();
        // What is computed together is compared with what the first device's case expects.
        match self.witness.prepare(&cases[0], &self.header.devices[joint.first()], &policy) {
            Ok(case) => cases[0] = case,
            Err(outcome) => return without(outcome),
        }
        let mut stage = |stage| progress.stage(stage_word(stage));
        let record = seat.measure_together(&cases, &policy, &mut stage);
        // Each round is a fresh process.
        seat.leave();
        self.pace.learn(begun.elapsed(), record.wall.measure);
        Record { device: joint.first(), round, ..record }
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

/// A seed for the simulated devices of a round: rounds of one run scatter differently, and a run
/// of the same seed scatters as this one does.
fn scatter_seed(seed: u64, round: u32) -> u64 {
    (seed ^ u64::from(round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .wrapping_mul(0xff51_afd7_ed55_8ccd)
}

fn stage_word(stage: Stage) -> &'static str {
    match stage {
        Stage::Prepare => "prepare",
        Stage::Build => "build",
        Stage::Launch => "launch",
        Stage::Verify => "verify",
        Stage::Measure => "measure",
    }
}
