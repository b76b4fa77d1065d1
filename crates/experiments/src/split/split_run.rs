//! A split run of a job: the whole problem a given number of times, pass after pass, in blocks or on one device.

use super::partition::partition;
use super::partitioner::Partitioner;
use crate::Stage;
use crate::split::data::{Block, Job};
use gpubench_core::error::Result;
use gpubench_core::gpu::Clock;
use gpubench_model::load_balance::Balancer;
use gpubench_model::slowdown_budget::SlowdownBudget;
use std::time::Instant;

/// Most times that one block has the whole problem computed.
pub(super) const MAX_REPEATS: u64 = 10_000;

/// Whether two devices or more have rows: a block that one computes alone tries nothing.
fn is_shared(rows: &[u64]) -> bool {
    rows.iter().filter(|rows| **rows > 0).count() >= 2
}

/// The progress of a job.
pub(super) struct SplitRun<'d, 'a> {
    partitioner: &'d mut Partitioner<'a>,
    balancer: Balancer,
    /// Passes over all rows that are wanted, and those that are done.
    times: u64,
    passes: u64,
    /// The first row of the pass that is not done.
    first: u64,
    /// To which devices what every part reads is still to be uploaded in this pass.
    pending_upload: Vec<bool>,
    blocks: Vec<Block>,
    begun: Instant,
    /// Seconds of the simulated clock so far.
    simulated: f64,
}

impl<'d, 'a> SplitRun<'d, 'a> {
    /// The problem `times` times, partitioned by `balancer`.
    pub fn new(partitioner: &'d mut Partitioner<'a>, balancer: Balancer, times: u64) -> Self {
        partitioner.owners.clear();
        Self {
            pending_upload: vec![true; partitioner.members()],
            balancer,
            times,
            passes: 0,
            first: 0,
            blocks: vec![],
            begun: Instant::now(),
            simulated: 0.0,
            partitioner,
        }
    }

    /// Splits the job as far as the budget goes (not at all without one) and leaves the rest to
    /// `fastest`.
    pub fn run(mut self, mut budget: Option<SlowdownBudget>, fastest: usize) -> Result<Job> {
        while self.passes < self.times {
            self.partitioner.bench.enter(Stage::Measure);
            let (done, seconds) = (self.done(), self.seconds());
            let max_work = budget.as_mut().and_then(|budget| budget.next(done, seconds));
            match max_work.map(|max_work| self.partition(max_work)) {
                Some((rows, repeats)) if is_shared(&rows) => {
                    let speed = self.block(rows, repeats)?;
                    budget.iter_mut().for_each(|budget| budget.learn(speed));
                }
                // What is left of a pass may be too little to share; the next pass is not.
                Some(_) if self.first > 0 => self.on_one_device(fastest)?,
                _ => {
                    budget = None;
                    self.on_one_device(fastest)?;
                }
            }
        }
        let seconds = self.seconds();
        self.partitioner.busy += seconds;
        Ok(Job { blocks: self.blocks, fell_back: budget.is_none(), seconds })
    }

    /// The rows of each device in a block of about `max_work` rows at most, and how often: a part of the
    /// pass, or whole passes.
    fn partition(&self, max_work: f64) -> (Vec<u64>, u64) {
        let rows = self.partitioner.rows;
        let parts = self.balancer.next(max_work);
        let passes = (parts.iter().sum::<f64>() / rows as f64) as u64;
        let repeats = if self.first == 0 {
            passes.clamp(1, (self.times - self.passes).min(MAX_REPEATS))
        } else {
            1
        };
        (partition(&parts, &self.partitioner.grain, rows - self.first, repeats > 1), repeats)
    }

    /// A block on all devices; the rows a second that they would have done if all had ended at once.
    fn block(&mut self, rows: Vec<u64>, repeats: u64) -> Result<f64> {
        let block = self.partitioner.block(self.first, rows, repeats, &self.pending_upload)?;
        for (pending_upload, rows) in self.pending_upload.iter_mut().zip(&block.rows) {
            *pending_upload &= *rows == 0;
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
    fn on_one_device(&mut self, member: usize) -> Result<()> {
        let rows = self.first..self.partitioner.rows;
        let left = self.times - self.passes;
        let repeats = if self.first == 0 { self.partitioner.repeats[member].min(left) } else { 1 };
        self.simulated +=
            self.partitioner.rest(member, &rows, repeats, self.pending_upload[member])?;
        self.advance(rows.end - rows.start, repeats);
        Ok(())
    }

    /// The blocks of a calibration, `count` of them whatever they lose, and the balancer that has learnt from them; what
    /// is left of a pass and too little to share is done by `fastest`.
    pub fn calibrate(mut self, count: usize, fastest: usize) -> Result<(Vec<Block>, Balancer)> {
        for _ in 0..count {
            self.partitioner.bench.enter(Stage::Measure);
            if self.first > 0 && !is_shared(&self.partition(f64::INFINITY).0) {
                self.on_one_device(fastest)?;
            }
            let (rows, repeats) = self.partition(f64::INFINITY);
            self.block(rows, repeats)?;
        }
        if self.first > 0 {
            self.on_one_device(fastest)?;
        }
        self.partitioner.busy += self.seconds();
        Ok((self.blocks, self.balancer))
    }

    fn advance(&mut self, rows: u64, repeats: u64) {
        self.first += rows;
        if self.first == self.partitioner.rows {
            self.first = 0;
            self.passes += repeats;
            self.pending_upload.fill(true);
        }
    }

    /// Rows so far.
    fn done(&self) -> f64 {
        self.passes as f64 * self.partitioner.rows as f64 + self.first as f64
    }

    /// Seconds so far.
    fn seconds(&self) -> f64 {
        match self.partitioner.clock() {
            Clock::Simulated => self.simulated,
            _ => self.begun.elapsed().as_secs_f64(),
        }
    }
}
