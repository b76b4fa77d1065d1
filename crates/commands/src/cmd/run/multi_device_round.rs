//! A round's cases over several devices at once.

use super::interrupt;
use super::session::{Done, Session, placed, scatter_seed};
use super::time_budget::{AtLeast, Share};
use crate::worker::stage_label;
use gpubench_core::error::Result;
use gpubench_core::record::{Outcome, Record};
use gpubench_experiments::Policy;
use gpubench_report::labels::case_name;
use gpubench_report::progress::Progress;

impl Session<'_> {
    /// Positions of the cases over several devices that a round still has to run.
    pub(super) fn multi_device_cases_left(&self, round: u32, done: &Done) -> Vec<usize> {
        let missing = |&at: &usize| {
            let multi_device_case = &self.multi_device_cases[at].0;
            !done.contains(&(multi_device_case.first(), round, multi_device_case.key().clone()))
        };
        (0..self.multi_device_cases.len()).filter(missing).collect()
    }

    /// Runs a round's cases over several devices, which nobody else owns by now.
    pub(super) fn run_multi_device_round(
        &mut self,
        round: u32,
        done: &Done,
        progress: &mut Progress,
    ) -> Result<()> {
        let rounds = round + 1..self.header.rounds;
        let is_last = round + 1 >= self.header.rounds;
        let later: Vec<usize> =
            rounds.flat_map(|round| self.multi_device_cases_left(round, done)).collect();
        let now = self.multi_device_cases_left(round, done);
        self.multi_device_budget.begin();
        for (i, &at) in now.iter().enumerate() {
            if interrupt::asked() {
                break;
            }
            let case = |at: &usize| &self.multi_device_cases[*at].0.cases[0];
            let (now, later) = (now[i..].iter().map(case), later.iter().map(case));
            let to_come = self.multi_device_budget.to_come(now, later);
            let at_least = AtLeast { is_last, is_smallest: true, ..AtLeast::default() };
            let share = self.multi_device_budget.share(case(&at), to_come, at_least);
            let record = self.run_multi_device(at, round, share, progress);
            let of = &self.multi_device_cases[at].0;
            let record = placed(record, &of.cases[0], of.first(), round);
            self.multi_device_budget.learn(&of.cases[0], &record);
            self.append(record)?;
            progress.end();
        }
        self.multi_device_budget.end();
        Ok(())
    }

    /// Runs one case over several devices for its share of the time; else why it is not run.
    fn run_multi_device(
        &mut self,
        at: usize,
        round: u32,
        share: Option<Share>,
        progress: &mut Progress,
    ) -> Result<Record, Outcome> {
        let used_up = || Outcome::Skipped(self.multi_device_budget.used_up().into());
        let Share { seconds, warmup } = share.ok_or_else(used_up)?;
        let policy = Policy { seconds, warmup, ..self.policy.clone() };
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
        Ok(record)
    }
}
