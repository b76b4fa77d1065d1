//! A round of one device: its cases one after the other, each for its share of the device's time.

use super::interrupt;
use super::session::{Done, Session, placed, scatter_seed, stage_label};
use super::time_budget::{Others, Share};
use gpubench_core::error::Result;
use gpubench_core::gpu::DeviceKind;
use gpubench_core::reason::Reason;
use gpubench_core::record::{Outcome, Record};
use gpubench_core::workload::CaseKey;
use gpubench_experiments::Policy;
use gpubench_experiments::plan::{Case, Turn, is_no_larger, shuffle, turns};
use gpubench_experiments::registry::seconds;
use gpubench_report::labels::case_name;
use gpubench_report::progress::Progress;
use std::collections::HashSet;

/// Seconds that a launch may take where results are checked only and nothing limits the run.
const LONGEST_CHECK: f64 = 600.0;

impl Session<'_> {
    /// Runs what a round has to run on a device, in a fresh process.
    pub(super) fn round(
        &mut self,
        device: usize,
        round: u32,
        done: &Done,
        progress: &mut Progress,
    ) -> Result<()> {
        let cases = self.order(device, round, done);
        let planned = round < self.header.rounds;
        let mut left = match planned {
            true => self.left_on(device, &self.done()),
            false => cases.len() as u64,
        };
        self.supervisors[device].scatter(scatter_seed(self.header.seed, round));
        self.time_budgets[device].begin();
        let mut deferred = vec![];
        for (turn, case) in cases {
            if interrupt::asked() {
                break;
            }
            let budget = &self.time_budgets[device];
            if !planned {
                if !budget.fits(&case) {
                    left -= 1;
                    continue;
                }
                progress.add(1);
            }
            let share = budget.share(&case, left, turn.rank == 0);
            let record = self.one(&case, device, round, share, progress);
            left -= 1;
            match round == 0 && self.may_be_tried_again(device, &record) {
                true => deferred.push((case, record)),
                false => {
                    self.append(record)?;
                    progress.end();
                }
            }
        }
        self.try_again(device, deferred, progress)?;
        // Each round is a fresh process.
        self.supervisors[device].leave();
        self.time_budgets[device].end();
        Ok(())
    }

    /// Whether a case was too long for its share only, so that what others leave may be enough.
    fn may_be_tried_again(&self, device: usize, record: &Record) -> bool {
        self.time_budgets[device].total().is_some()
            && !self.policy.verify_only
            && matches!(record.outcome, Outcome::Skipped(Reason::OverBudget { .. }))
    }

    /// Cases of the first round that were too long for their share of the time get a share of what the
    /// others have left, the smaller ones first.
    fn try_again(
        &mut self,
        device: usize,
        deferred: Vec<(Case, Record)>,
        progress: &mut Progress,
    ) -> Result<()> {
        let mut parts = deferred.len() as u64;
        let mut others = self.others(device, parts);
        for (case, record) in deferred {
            if interrupt::asked() {
                break;
            }
            let share = self.time_budgets[device].second_share(&record.outcome, parts, &others);
            let record = match share {
                Some(share) => {
                    let same = |other: &Case| other.key == case.key;
                    self.too_long.retain(|(on, other, _)| *on != device || !same(other));
                    self.one(&case, device, 0, Some(share), progress)
                }
                None => record,
            };
            parts -= 1;
            others.deferred -= u64::from(self.header.rounds);
            self.append(record)?;
            progress.end();
        }
        Ok(())
    }

    /// What later rounds need on a device for all cases but those that were `deferred`: what each took in the
    /// first.
    fn others(&self, device: usize, deferred: u64) -> Others {
        let later = self.header.rounds - 1;
        let again = |r: &&Record| r.device == device && !r.outcome.is_skipped();
        let took: f64 = self.records.iter().filter(again).map(|r| r.wall.total()).sum();
        let deferred = deferred * u64::from(self.header.rounds);
        let turns = self.left_on(device, &self.done()).saturating_sub(deferred);
        Others { turns, needed: f64::from(later) * took, deferred }
    }

    /// A round's cases with their turns, those left out of which there are records. The first round,
    /// which learns what fits the budget, goes from small to large, family after family; rounds beyond
    /// the planned ones run again what could be run.
    fn order(&self, device: usize, round: u32, done: &Done) -> Vec<(Turn, Case)> {
        let cases = &self.cases[device].run;
        let mut cases: Vec<_> = turns(cases).into_iter().zip(cases.iter().cloned()).collect();
        shuffle(&mut cases, self.header.seed, round);
        if round == 0 {
            cases.sort_by_key(|(turn, _)| *turn);
        }
        let ran: HashSet<&CaseKey> = self
            .records
            .iter()
            .filter(|r| r.device == device && matches!(r.outcome, Outcome::Ok | Outcome::Unchecked))
            .map(|r| &r.key)
            .collect();
        cases.retain(|(_, case)| {
            let again = round < self.header.rounds || ran.contains(&case.key);
            again && !done.contains(&(device, round, case.key.clone()))
        });
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

    /// Runs one case for its share of the time.
    fn one(
        &mut self,
        case: &Case,
        device: usize,
        round: u32,
        share: Option<Share>,
        progress: &mut Progress,
    ) -> Record {
        let record = self.run_one(case, device, share, progress);
        placed(record, case, device, round)
    }

    /// As [`Session::one`], else why it is not run.
    fn run_one(
        &mut self,
        case: &Case,
        device: usize,
        share: Option<Share>,
        progress: &mut Progress,
    ) -> std::result::Result<Record, Outcome> {
        if let Some(why) = self.skip_reason(case, device) {
            return Err(Outcome::Skipped(why));
        }
        let used_up = || Outcome::Skipped(self.time_budgets[device].used_up().into());
        let policy = self.policy_for(device, share.ok_or_else(used_up)?);
        let needed = seconds(case).unwrap_or(0.0);
        if let Some(available) = self.time_budgets[device].left().filter(|left| needed > *left) {
            let what = "measuring as long as the suite asks".to_owned();
            return Err(Outcome::Skipped(Reason::OverBudget {
                what,
                needed,
                available,
                option: None,
            }));
        }
        let supervisor = &mut self.supervisors[device];
        progress.begin(&format!("{} on {}", case_name(&case.key), supervisor.device().label()));
        let case = self.cross_device_oracle.prepare(case, supervisor.device(), &policy)?;
        let mut stage = |stage| progress.stage(stage_label(stage));
        let record = supervisor.measure(&case, &policy, &mut stage);
        match &record.outcome {
            Outcome::Skipped(why) => self.too_long.push((device, case, why.clone())),
            _ => self.time_budgets[device].learn(&case, &record),
        }
        Ok(record)
    }

    /// How to measure, or only check, a case in its share of the time. One launch may take all the time
    /// that is left where there is one only; but a display's watchdog may look at a GPU.
    fn policy_for(&self, device: usize, share: Share) -> Policy {
        let policy = self.policy.clone();
        if !policy.verify_only {
            return Policy { seconds: share.seconds, warmup: share.warmup, ..policy };
        }
        let seconds = self.time_budgets[device].left().unwrap_or(LONGEST_CHECK);
        let longest_launch = match self.header.devices[device].kind {
            DeviceKind::Cpu | DeviceKind::Other => seconds,
            _ => policy.longest_launch,
        };
        Policy { seconds, warmup: 0.0, longest_launch, ..policy }
    }
}
