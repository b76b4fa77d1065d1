//! What an iteration takes with saves and without, and its parts alone.

use super::{Iterations, States};
use crate::Stage;
use crate::checkpoint::data::{Checkpoint, CheckpointRun};
use crate::iteration::{save_buffer, state_bytes};
use crate::timing::{time, wall_clock};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Clock, MemoryKind, Recording};
use gpubench_stats::{Decision, Sampling};
use std::time::Instant;

impl Iterations<'_> {
    /// Times everything; `None` where what the timed runs left is wrong.
    pub(super) fn timed(
        &mut self,
        queues: &[u32],
        simulated: bool,
        states: &States,
    ) -> Result<Option<Checkpoint>> {
        let whole = self.iteration.straight(0..self.iteration.passes());
        let saving = queues.iter().map(|&queues| self.iteration.saving(queues, self.saves));
        let recordings: Vec<Recording> = std::iter::once(whole).chain(saving).collect();
        let (mut all, clock) = self.in_turn(&recordings)?;
        let alone = all.remove(0);
        if !self.untouched("timed iterations")? {
            return Ok(None);
        }
        let snapshot = match queues.iter().any(|&n| n > 1) {
            true => self.sampled(&self.iteration.snapshot())?,
            false => vec![],
        };
        let mut runs = vec![];
        for (&queues, saving) in queues.iter().zip(all) {
            let downloading = self.sampled(&self.iteration.download(queues))?;
            let restoring = self.sampled(&self.iteration.restore(queues))?;
            runs.push(CheckpointRun { queues, to_file: false, saving, downloading, restoring });
        }
        let mut writing = vec![];
        if !simulated {
            let state = states.saved.last().unwrap_or(&states.last);
            let done = self.saves.last().copied().unwrap_or(0);
            writing = self.by_host(|runs| runs.checkpoint_store.save(done, state.clone()))?;
            for at in 0..queues.len() {
                let queues = queues[at];
                let saving = self.by_host(|runs| runs.save_to_file(queues))?;
                if !self.untouched(&format!("timed saves to a file on {queues} queues"))? {
                    return Ok(None);
                }
                let restoring = self.by_host(|runs| runs.restore_from_file(queues))?;
                let downloading = runs[at].downloading.clone();
                runs.push(CheckpointRun { queues, to_file: true, saving, downloading, restoring });
            }
        }
        // Once more after all of them.
        for &queues in queues {
            if !self.verified(queues, states)? {
                return Ok(None);
            }
        }
        Ok(Some(Checkpoint {
            clock: wall_clock(clock),
            host_memory: MemoryKind::Pageable,
            passes: self.iteration.passes() as u64,
            saves: self.saves.len() as u64,
            bytes: state_bytes(self.iteration.case).0,
            alone,
            snapshot,
            writing,
            runs,
            folder: None,
            skipped: vec![],
        }))
    }

    /// Wall times of recordings run in turn, so that a drift of the device falls on all of them and not
    /// on what distinguishes them; and the clock of their steps.
    fn in_turn(&mut self, recordings: &[Recording]) -> Result<(Vec<Vec<f64>>, Clock)> {
        self.bench.enter(Stage::Measure);
        self.begin()?;
        let policy = self.bench.policy;
        let sampling = |_| policy.sampling(policy.seconds);
        let mut samplings: Vec<Sampling> = recordings.iter().map(sampling).collect();
        let mut clock = Clock::Host;
        for recording in recordings {
            self.bench.device().run(recording)?;
        }
        let mut open = true;
        while open {
            open = false;
            for (recording, sampling) in recordings.iter().zip(&mut samplings) {
                let timeline = self.bench.device().run(recording)?;
                self.bench.measurement.wall.busy += timeline.wall;
                clock = timeline.clock;
                open |= sampling.feed(timeline.wall, timeline.wall) == Decision::Continue;
            }
        }
        Ok((samplings.into_iter().map(Sampling::into_samples).collect(), clock))
    }

    /// Wall times of a recording.
    fn sampled(&mut self, recording: &Recording) -> Result<Vec<f64>> {
        self.bench.enter(Stage::Measure);
        let seconds = self.bench.policy.seconds;
        let (timed, _) = time(&mut self.bench, recording, seconds, |_| String::new())?;
        Ok(timed.walls)
    }

    /// Seconds on the host's clock of what the device alone does not do.
    fn by_host(&mut self, mut once: impl FnMut(&mut Self) -> Result<()>) -> Result<Vec<f64>> {
        self.bench.enter(Stage::Measure);
        self.begin()?;
        once(self)?;
        let mut sampling = self.bench.policy.sampling(self.bench.policy.seconds);
        loop {
            let begun = Instant::now();
            once(self)?;
            let seconds = begun.elapsed().as_secs_f64();
            if sampling.feed(seconds, seconds) != Decision::Continue {
                return Ok(sampling.into_samples());
            }
        }
    }

    /// From the file until the iteration could go on.
    fn restore_from_file(&mut self, queues: u32) -> Result<()> {
        let missing = || Error::Device("the file of the saved state is gone".into());
        let loaded = self.checkpoint_store.load()?.ok_or_else(missing)?;
        self.bench.device().write(save_buffer(self.iteration.case, 0), &loaded.state)?;
        self.bench.device().run(&self.iteration.restore(queues)).map(drop)
    }
}
