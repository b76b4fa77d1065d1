//! A round of one device: its cases one after the other, each for its share of the device's time.

use super::deferred::Phase;
use super::deferred_order::{bounds_others, order_deferred};
use super::expected_launch::expected_launch;
use super::finalists::narrowed;
use super::session::{Done, Session, placed, scatter_seed};
use super::time_budget::{AtLeast, Share, ToCome};
use crate::worker::stage_label;
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
use gpubench_stats::median_of;
use std::collections::{HashMap, HashSet};

/// Seconds that a launch may take where results are checked only and nothing limits the run.
const LONGEST_CHECK: f64 = 600.0;

/// A device's round of a suite, case by case.
pub(super) struct DeviceRound {
    pub device: usize,
    pub phase: Phase,
    pub round: u32,
    /// Cases that are still to be run.
    pub cases: Vec<(Turn, Case)>,
}

impl Session<'_> {
    /// What a round of a phase has to run on a device, in a fresh process.
    pub(super) fn open_round(
        &mut self,
        device: usize,
        (phase, round): (Phase, u32),
        done: &Done,
    ) -> DeviceRound {
        self.supervisors[device].scatter(scatter_seed(self.header.seed, round));
        // The first round must find time for every case: which ones wait is known behind it.
        let is_kept = phase == Phase::Planned && round > 0 && !self.deferred[device].is_empty();
        self.time_budgets[device].keep_for_deferred(is_kept);
        let cases = self.order(device, (phase, round), done);
        DeviceRound { device, phase, round, cases }
    }

    /// Runs the case of a round that has this key, where it is one of those still to be run; whether it is deferred.
    pub(super) fn step(
        &mut self,
        of: &mut DeviceRound,
        key: &CaseKey,
        done: &Done,
        progress: &mut Progress,
    ) -> Result<bool> {
        let Some(at) = of.cases.iter().position(|(_, case)| case.key == *key) else {
            return Ok(false);
        };
        let to_come = self.to_come(of, done);
        let (turn, case) = of.cases.remove(at);
        let (device, at) = (of.device, (of.phase, of.round));
        if of.phase == Phase::Following {
            if !self.time_budgets[device].fits(&case) {
                return Ok(false);
            }
            progress.add(1);
        }
        self.time_budgets[device].begin();
        let record = self.turn(device, at, (turn, &case), to_come, progress);
        self.time_budgets[device].end();
        match record {
            Ok(record) => {
                self.append(record)?;
                progress.end();
                Ok(false)
            }
            Err(why) => {
                self.deferred[device].add(&case.key, why);
                Ok(true)
            }
        }
    }

    /// Defers a case because another suite's is deferred, which it is to be measured in turn with.
    pub(super) fn defer(&mut self, of: &mut DeviceRound, key: &CaseKey) {
        of.cases.retain(|(_, case)| case.key != *key);
        if self.cases[of.device].run.iter().any(|case| case.key == *key) {
            self.deferred[of.device].add(key, None);
        }
    }

    /// Ends a round: each is a fresh process.
    pub(super) fn close_round(&mut self, of: &DeviceRound) {
        self.time_budgets[of.device].begin();
        self.supervisors[of.device].leave();
        self.time_budgets[of.device].end();
    }

    /// Runs a case in its turn, the first of those to come. An error: it is too long for a turn and waits, with the reason
    /// where that was tried.
    fn turn(
        &mut self,
        device: usize,
        (phase, round): (Phase, u32),
        (turn, case): (Turn, &Case),
        to_come: ToCome,
        progress: &mut Progress,
    ) -> Result<Record, Option<Outcome>> {
        let budget = &self.time_budgets[device];
        let may_wait = self.may_be_deferred(device, phase);
        let is_smallest = turn.rank == 0;
        // What a simulated device takes of the host says nothing of the device.
        let is_real = self.header.devices[device].kind != DeviceKind::Simulated;
        let rounds = self.header.rounds.saturating_sub(round);
        if may_wait && is_real && !is_smallest && budget.is_long(case, rounds, to_come) {
            return Err(None);
        }
        let is_last = phase != Phase::Planned || round + 1 >= self.header.rounds;
        // Before it waited, a case gets no more than its share for what nobody has tried.
        let sampling = match phase {
            Phase::Deferred => self.sampling(case, device),
            _ => self.deferred[device].sampling(&case.key, &self.policy),
        };
        let sampling = sampling.unwrap_or(0.0);
        let at_least = AtLeast { is_last, is_smallest, sampling };
        let may_fit = phase != Phase::Deferred || budget.fits(case);
        let share = budget.share(case, to_come, at_least).filter(|_| may_fit);
        if may_wait && is_real && !is_smallest && round == 0 && self.seems_long(case, device, share)
        {
            return Err(None);
        }
        let record = placed(self.run_one(case, device, share, progress), case, device, round);
        // What was measured before and is too long now has what it has.
        match may_wait && round == 0 && is_over_budget(&record) {
            true => Err(Some(record.outcome)),
            false => Ok(record),
        }
    }

    /// Seconds of sampling that a case which waited needs, as far as is known: it was tried, or a smaller size was.
    fn sampling(&self, case: &Case, device: usize) -> Option<f64> {
        let tried = self.deferred[device].sampling(&case.key, &self.policy);
        tried.or_else(|| Some(self.policy.sampling_of(self.expected_launch(case, device)?)))
    }

    /// Whether a launch is expected to take longer than it may in a share.
    fn seems_long(&self, case: &Case, device: usize, share: Option<Share>) -> bool {
        let affordable = share.map(|share| self.policy_for(device, share).affordable_launch());
        affordable.zip(self.expected_launch(case, device)).is_some_and(|(may, takes)| takes > may)
    }

    fn expected_launch(&self, case: &Case, device: usize) -> Option<f64> {
        expected_launch(case, self.records.iter().filter(|record| record.device == device))
    }

    /// Whether cases that are too long for their share wait for what others leave.
    fn may_be_deferred(&self, device: usize, phase: Phase) -> bool {
        phase == Phase::Planned
            && self.time_budgets[device].total().is_some()
            && !self.policy.verify_only
    }

    /// What shares the time with a round's next turn: its other turns, and those of the same cases in later planned
    /// rounds. The deferred share with nobody, since later rounds will hardly have time for them.
    fn to_come(&self, of: &DeviceRound, done: &Done) -> ToCome {
        let time_budget = &self.time_budgets[of.device];
        if time_budget.total().is_none() {
            return ToCome::default();
        }
        let later = match of.phase {
            Phase::Planned => of.round + 1,
            Phase::Deferred | Phase::Following => self.header.rounds,
        };
        let next = of.cases.iter().map(|(_, case)| case);
        time_budget.to_come(next, self.left_on(of.device, later, done))
    }

    /// A round's cases with their turns, those left out of which there are records. The first round, which learns what
    /// fits the budget, goes from small to large, family after family; of the deferred ceilings go first, then the others
    /// from short turns to long ones; rounds beyond the planned ones run again what could be run. From the third round
    /// on the restless go first: the time may be over before all had their turn.
    fn order(&self, device: usize, (phase, round): (Phase, u32), done: &Done) -> Vec<(Turn, Case)> {
        let cases = &self.cases[device].run;
        let mut cases: Vec<_> = turns(cases).into_iter().zip(cases.iter().cloned()).collect();
        shuffle(&mut cases, self.header.seed, round);
        if phase == Phase::Deferred {
            let sampling = |case: &Case| self.sampling(case, device);
            let budget = &self.time_budgets[device];
            let seconds = |case: &Case| budget.turn_seconds(case, sampling(case));
            let bounds = |case: &Case| bounds_others(case, &self.records, device);
            order_deferred(&mut cases, bounds, seconds);
        } else if round == 0 {
            cases.sort_by_key(|(turn, _)| *turn);
        } else {
            let restless = restless(&self.records, device);
            cases.sort_by_key(|(_, case)| !restless.contains(&case.key));
        }
        let ran: HashSet<&CaseKey> = self
            .records
            .iter()
            .filter(|r| r.device == device && r.outcome.ran())
            .map(|r| &r.key)
            .collect();
        // In turn, a case may have been measured before the other suite's was deferred.
        let own = self.records.iter().filter(|record| record.device == device);
        let measured: HashSet<(u32, &CaseKey)> =
            own.map(|record| (record.round, &record.key)).collect();
        cases.retain(|(_, case)| {
            let is_of_phase = match phase {
                Phase::Planned => !self.deferred[device].has(&case.key),
                Phase::Deferred => self.deferred[device].has(&case.key),
                Phase::Following => ran.contains(&case.key),
            };
            is_of_phase
                && !done.contains(&(device, round, case.key.clone()))
                && !(phase == Phase::Deferred && measured.contains(&(round, &case.key)))
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

    /// Runs one case for its share of the time, else why it is not run.
    fn run_one(
        &mut self,
        case: &Case,
        device: usize,
        share: Option<Share>,
        progress: &mut Progress,
    ) -> Result<Record, Outcome> {
        if let Some(why) = self.skip_reason(case, device) {
            return Err(Outcome::Skipped(why));
        }
        let used_up = || Outcome::Skipped(self.time_budgets[device].used_up().into());
        let policy = self.policy_for(device, share.ok_or_else(used_up)?);
        if let Some(why) = self.deferred[device].too_long(&case.key, &policy) {
            return Err(why.clone());
        }
        let needed = seconds(case).unwrap_or(0.0);
        if let Some(available) = self.time_budgets[device].left().filter(|left| needed > *left) {
            let what = "measuring as long as the suite asks".to_owned();
            let why = Reason::OverBudget { what, needed, available, option: None };
            return Err(Outcome::Skipped(why));
        }
        let supervisor = &mut self.supervisors[device];
        progress.begin(&format!("{} on {}", case_name(&case.key), supervisor.device().label()));
        let case = self.cross_device_oracle.prepare(case, supervisor.device(), &policy)?;
        let case = narrowed(case, self.records.iter().filter(|record| record.device == device));
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
            let Share { seconds, warmup } = share;
            let cool_down = self.time_budgets[device].cool_down();
            return Policy { seconds, warmup, cool_down, ..policy };
        }
        let seconds = self.time_budgets[device].left().unwrap_or(LONGEST_CHECK);
        let longest_launch = match self.header.devices[device].kind {
            DeviceKind::Cpu | DeviceKind::Other => seconds,
            _ => policy.longest_launch,
        };
        Policy { seconds, warmup: 0.0, longest_launch, ..policy }
    }
}

/// The quarter of a device's cases that most needs another round: those with a single round where others have several, and
/// those whose rounds' medians differ by the largest factors. No more than a quarter, so that the rest stays in random order.
fn restless(records: &[Record], device: usize) -> HashSet<&CaseKey> {
    let mut medians: HashMap<&CaseKey, Vec<f64>> = HashMap::new();
    for record in records.iter().filter(|record| record.device == device && record.outcome.ran()) {
        let samples = record.measured.iter().flat_map(|measured| measured.samples.iter().copied());
        if let Some(median) = median_of(samples).filter(|median| *median > 0.0) {
            medians.entry(&record.key).or_default().push(median);
        }
    }
    if medians.values().all(|medians| medians.len() < 2) {
        return HashSet::new();
    }
    let factor = |medians: &[f64]| match medians {
        [_] => f64::INFINITY,
        several => {
            let ends = several.iter().fold([f64::INFINITY, 0.0], |[low, high], &median| {
                [median.min(low), median.max(high)]
            });
            ends[1] / ends[0]
        }
    };
    let mut cases: Vec<(f64, &CaseKey)> =
        medians.into_iter().map(|(key, medians)| (factor(&medians), key)).collect();
    cases.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    cases.truncate(cases.len().div_ceil(4));
    cases.into_iter().map(|(_, key)| key).collect()
}

#[test]
fn a_quarter_of_the_cases_is_restless_by_its_rounds_on_the_device() {
    use gpubench_core::record::sample::{key, record};
    let on = |device, name: &str, seconds| Record { device, ..record(key(name, 1), seconds) };
    let calm = |name| [on(0, name, 1.0), on(0, name, 1.1)];
    let mut records = [calm("a"), calm("b"), calm("c")].concat();
    records.extend([on(0, "d", 1.0), on(0, "d", 4.0), on(1, "a", 1.0)]);
    let names = |records: &[Record], device| -> Vec<String> {
        restless(records, device).into_iter().map(|key| key.workload.clone()).collect()
    };
    assert_eq!(names(&records, 0), ["d"]);
    assert!(names(&records, 1).is_empty(), "one round shows nothing");
    records.push(on(0, "e", 1.0));
    let mut two = names(&records, 0);
    two.sort_unstable();
    assert_eq!(two, ["d", "e"], "of five cases two are a quarter, rounded up");
}

/// Whether a case was too long for its share only, so that what others leave may be enough.
fn is_over_budget(record: &Record) -> bool {
    matches!(record.outcome, Outcome::Skipped(Reason::OverBudget { .. }))
}
