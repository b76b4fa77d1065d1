//! The loop over rounds and the devices of one machine: of one suite, or of two that take turns case by case.
//!
//! Two in turn see the same machine: what changes its speed in the course of a run changes it for both, and each round
//! of one can be compared with the same round of the other (randomised multiple interleaved trials: Abedi & Brecht
//! 2017). Cases over several devices alternate by rounds only.

use super::deferred::Phase;
use super::device_round::DeviceRound;
use super::interrupt;
use super::session::{Done, Session};
use super::time_budget::TimeBudget;
use gpubench_core::error::Result;
use gpubench_core::workload::CaseKey;
use gpubench_report::progress::Progress;
use std::collections::HashSet;

/// The sessions of one machine, one a suite.
pub(super) struct Turns<'a>(pub Vec<Session<'a>>);

impl Turns<'_> {
    /// Runs to the end, or until interrupted, of which it says whether it was with something left to do.
    ///
    /// # Errors
    /// When a record cannot be written. What fails on a device is a record.
    pub fn run(&mut self, progress: &mut Progress) -> Result<bool> {
        let done: Vec<Done> = self.0.iter().map(Session::done).collect();
        self.planned_rounds(&done, progress)?;
        let more = self.following_rounds(&done, progress)?;
        let left = self.0.iter().any(|session| session.left(&session.done()) > 0);
        Ok(interrupt::asked() && (more || left))
    }

    /// Seconds that all devices have left, where they are limited.
    pub fn time_left(&self) -> Option<f64> {
        self.0.iter().map(Session::time_left).sum()
    }

    /// The devices, those of each session.
    fn devices(&self) -> Vec<usize> {
        self.0.first().map_or_else(Vec::new, |session| session.own.clone())
    }

    /// The rounds that were planned: of all cases but the deferred, then of those.
    fn planned_rounds(&mut self, done: &[Done], progress: &mut Progress) -> Result<()> {
        let planned = self.0.iter().map(|session| session.rounds.planned).max().unwrap_or(0);
        for round in 0..planned {
            for device in self.devices() {
                if round == 0 {
                    self.record_skipped(device, done)?;
                }
                self.round(device, (Phase::Planned, round), done, progress)?;
            }
            for (session, done) in self.0.iter_mut().zip(done) {
                session.run_multi_device_round(round, done, progress)?;
            }
        }
        self.0.iter_mut().for_each(Session::recall_deferred);
        for round in 0..planned {
            for device in self.devices() {
                if self.0.iter().any(|session| !session.deferred[device].is_empty()) {
                    self.round(device, (Phase::Deferred, round), done, progress)?;
                }
            }
        }
        Ok(())
    }

    fn record_skipped(&mut self, device: usize, done: &[Done]) -> Result<()> {
        let mut sessions = self.0.iter_mut().zip(done);
        sessions.try_for_each(|(session, done)| session.record_skipped(device, done))
    }

    /// The rounds that follow, where all have time for them; whether there were any.
    fn following_rounds(&mut self, done: &[Done], progress: &mut Progress) -> Result<bool> {
        let mut any = false;
        let Some(following) = self.0.first().map(|session| session.rounds.following()) else {
            return Ok(false);
        };
        for round in following {
            for device in self.devices() {
                if self.0.iter().all(|session| session.has_time_for(device, round)) {
                    any |= !interrupt::asked();
                    self.round(device, (Phase::Following, round), done, progress)?;
                }
            }
        }
        Ok(any)
    }

    /// A round of one device: each case by all suites that have it. Who is first changes from round to round.
    fn round(
        &mut self,
        device: usize,
        (phase, round): (Phase, u32),
        done: &[Done],
        progress: &mut Progress,
    ) -> Result<()> {
        let both = self.0.iter_mut().zip(done);
        let mut rounds: Vec<DeviceRound> =
            both.map(|(session, done)| session.open_round(device, (phase, round), done)).collect();
        for key in &order(&rounds) {
            for member in members(self.0.len(), round) {
                if interrupt::asked() {
                    break;
                }
                let session = &mut self.0[member];
                let is_deferred =
                    session.step(&mut rounds[member], key, &done[member], progress)?;
                self.warm(device);
                if is_deferred {
                    self.defer(&mut rounds, key);
                    break;
                }
            }
        }
        self.0.iter_mut().zip(&rounds).for_each(|(session, round)| session.close_round(round));
        Ok(())
    }

    /// What has run a case of one suite is warm for those of the others.
    fn warm(&mut self, device: usize) {
        let mut budgets = self.0.iter().map(|session| &session.time_budgets[device]);
        if budgets.any(TimeBudget::is_warm) {
            self.0.iter_mut().for_each(|session| session.time_budgets[device].warm());
        }
    }

    /// Defers a case of all suites, so that they stay in turn.
    fn defer(&mut self, rounds: &mut [DeviceRound], key: &CaseKey) {
        self.0.iter_mut().zip(rounds).for_each(|(session, round)| {
            if !session.deferred[round.device].has(key) {
                session.defer(round, key);
            }
        });
    }
}

/// The suites in the order of a round: the one that begins changes.
fn members(count: usize, round: u32) -> Vec<usize> {
    let mut members: Vec<usize> = (0..count).collect();
    members.rotate_left(round as usize % count.max(1));
    members
}

/// The cases of all, each once: in the first one's order, then those that it lacks.
fn order(rounds: &[DeviceRound]) -> Vec<CaseKey> {
    let all = rounds.iter().flat_map(|round| &round.cases).map(|(_, case)| &case.key);
    let mut seen = HashSet::new();
    all.filter(|key| seen.insert(*key)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_begins_changes_from_round_to_round() {
        assert_eq!([0, 1, 2].map(|round| members(2, round)), [[0, 1], [1, 0], [0, 1]]);
        assert_eq!((members(1, 7), members(0, 1)), (vec![0], vec![]));
    }
}
