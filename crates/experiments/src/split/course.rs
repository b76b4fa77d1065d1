//! A work on its way: the whole problem so many times, pass after pass, in blocks or by one device.

use super::Dealer;
use super::deal::deal;
use crate::Stage;
use gpubench_core::error::Result;
use gpubench_core::gpu::Clock;
use gpubench_core::record::{Block, Work};
use gpubench_model::load_balance::Balancer;
use gpubench_model::loss_budget::LossBudget;
use std::time::Instant;

/// Most times that one block has the whole problem computed.
pub(super) const MOST_REPEATS: u64 = 10_000;

/// Whether two devices or more have rows: a block that one computes alone tries nothing.
fn is_shared(rows: &[u64]) -> bool {
    rows.iter().filter(|rows| **rows > 0).count() >= 2
}

/// Where a work has come to.
pub(super) struct Course<'d, 'a> {
    dealer: &'d mut Dealer<'a>,
    balancer: Balancer,
    /// Passes over all rows that are wanted, and those that are done.
    times: u64,
    passes: u64,
    /// The first row of the pass that is not done.
    first: u64,
    /// To which devices what every part reads is still to be sent in this pass.
    unsent: Vec<bool>,
    blocks: Vec<Block>,
    begun: Instant,
    /// Seconds of the simulated clock so far.
    simulated: f64,
}

impl<'d, 'a> Course<'d, 'a> {
    /// The problem so many `times`, dealt by `balancer`.
    pub fn new(dealer: &'d mut Dealer<'a>, balancer: Balancer, times: u64) -> Self {
        dealer.owners.clear();
        Self {
            unsent: vec![true; dealer.members()],
            balancer,
            times,
            passes: 0,
            first: 0,
            blocks: vec![],
            begun: Instant::now(),
            simulated: 0.0,
            dealer,
        }
    }

    /// Splits the work as far as the budget goes (not at all without one) and leaves the rest to
    /// `fastest`.
    pub fn run(
        mut self,
        mut budget: Option<LossBudget>,
        fastest: usize,
        stage: &mut dyn FnMut(Stage),
    ) -> Result<Work> {
        while self.passes < self.times {
            stage(Stage::Measure);
            let (done, seconds) = (self.done(), self.seconds());
            let most = budget.as_mut().and_then(|budget| budget.next(done, seconds));
            match most.map(|most| self.deal(most)) {
                Some((rows, repeats)) if is_shared(&rows) => {
                    let speed = self.block(rows, repeats)?;
                    budget.iter_mut().for_each(|budget| budget.learn(speed));
                }
                // What is left of a pass may be too little to share; the next pass is not.
                Some(_) if self.first > 0 => self.alone(fastest)?,
                _ => {
                    budget = None;
                    self.alone(fastest)?;
                }
            }
        }
        let seconds = self.seconds();
        self.dealer.busy += seconds;
        Ok(Work { blocks: self.blocks, left: budget.is_none(), seconds })
    }

    /// The rows of each device in a block of about `most` rows at most, and how often: a part of the
    /// pass, or whole passes.
    fn deal(&self, most: f64) -> (Vec<u64>, u64) {
        let rows = self.dealer.rows;
        let parts = self.balancer.next(most);
        let passes = (parts.iter().sum::<f64>() / rows as f64) as u64;
        let repeats = if self.first == 0 {
            passes.clamp(1, (self.times - self.passes).min(MOST_REPEATS))
        } else {
            1
        };
        (deal(&parts, &self.dealer.grain, rows - self.first, repeats > 1), repeats)
    }

    /// A block on all devices; the rows a second that they would have done if all had ended at once.
    fn block(&mut self, rows: Vec<u64>, repeats: u64) -> Result<f64> {
        let block = self.dealer.block(self.first, rows, repeats, &self.unsent)?;
        for (unsent, rows) in self.unsent.iter_mut().zip(&block.rows) {
            *unsent &= *rows == 0;
        }
        let done = block.rows.iter().zip(&block.seconds);
        let done: Vec<_> = done.map(|(r, s)| ((r * repeats) as f64, *s)).collect();
        self.balancer.learn(&done);
        let busy = done.iter().filter(|(_, seconds)| *seconds > 0.0);
        let speed = busy.map(|(rows, seconds)| rows / seconds).sum();
        self.simulated += block.wall();
        self.advance(block.rows.iter().sum(), repeats);
        self.blocks.push(block);
        Ok(speed)
    }

    /// What is left of the pass, or whole passes where nothing of it is done, on one device.
    fn alone(&mut self, member: usize) -> Result<()> {
        let rows = self.first..self.dealer.rows;
        let left = self.times - self.passes;
        let repeats = if self.first == 0 { self.dealer.repeats[member].min(left) } else { 1 };
        self.simulated += self.dealer.rest(member, &rows, repeats, self.unsent[member])?;
        self.advance(rows.end - rows.start, repeats);
        Ok(())
    }

    /// So many blocks of all devices, whatever they lose, and the balancer that has learnt from them; what
    /// is left of a pass and too little to share is done by `fastest`.
    pub fn rehearse(
        mut self,
        count: usize,
        fastest: usize,
        stage: &mut dyn FnMut(Stage),
    ) -> Result<(Vec<Block>, Balancer)> {
        for _ in 0..count {
            stage(Stage::Measure);
            if self.first > 0 && !is_shared(&self.deal(f64::INFINITY).0) {
                self.alone(fastest)?;
            }
            let (rows, repeats) = self.deal(f64::INFINITY);
            self.block(rows, repeats)?;
        }
        if self.first > 0 {
            self.alone(fastest)?;
        }
        self.dealer.busy += self.seconds();
        Ok((self.blocks, self.balancer))
    }

    fn advance(&mut self, rows: u64, repeats: u64) {
        self.first += rows;
        if self.first == self.dealer.rows {
            self.first = 0;
            self.passes += repeats;
            self.unsent.fill(true);
        }
    }

    /// Rows so far.
    fn done(&self) -> f64 {
        self.passes as f64 * self.dealer.rows as f64 + self.first as f64
    }

    /// Seconds so far.
    fn seconds(&self) -> f64 {
        match self.dealer.clock() {
            Clock::Simulated => self.simulated,
            _ => self.begun.elapsed().as_secs_f64(),
        }
    }
}
