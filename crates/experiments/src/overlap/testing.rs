//! Invented cases of overlap, for tests.

use super::data::{Overlap, OverlapRun, Turns};
use super::saving::is_evaluated;
use gpubench_core::gpu::{Clock, MemoryKind};
use gpubench_core::record::Timed;
use gpubench_model::pipeline::Engines;
use gpubench_model::streams::Stages;

/// Turns of a device with `engines` copy engines that follow the pipeline: seven numbers of chunks on three queues,
/// if it has them, and on one. Every time scatters by `noise`.
pub fn case(stages: Stages, engines: u32, noise: f64) -> Overlap {
    let mut random = Random(7);
    let mut timed = |seconds: f64| {
        let walls = (0..15).map(|_| seconds * (1.0 + noise * random.next())).collect();
        Timed { walls, steps: vec![] }
    };
    let [upload, kernel, download] =
        [stages.upload, stages.kernel, stages.download].map(&mut timed);
    let mut runs = vec![];
    for chunks in [1, 2, 4, 8, 16, 32, 64] {
        for (queues, engines) in [(3, engines), (1, 0)] {
            if queues == 1 || engines > 0 {
                let seconds = Engines::ideal(engines).makespan(&stages.equal_chunks(chunks));
                runs.push(OverlapRun { chunks, queues, timed: timed(seconds) });
            }
        }
    }
    let turns = Some(Turns { allowed: 1.0, skipped: vec![] });
    let (clock, host_memory) = (Clock::Device, MemoryKind::Pinned);
    let (rows, bytes) = (1024, [1, 1]);
    Overlap { clock, host_memory, rows, bytes, upload, kernel, download, runs, turns }
}

/// Between −1 and 1: Knuth's generator of MMIX.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / f64::from(2u32).powi(52) - 1.0
    }
}

/// Stages that hide each other well.
pub const EVEN: Stages = Stages { upload: 4e-3, kernel: 5e-3, download: 4e-3 };

/// The same case in a round whose runs of several chunks on several queues take so many times as long.
pub fn slower(raw: &Overlap, times: f64) -> Overlap {
    let mut raw = raw.clone();
    for run in raw.runs.iter_mut().filter(|run| is_evaluated(run)) {
        run.timed.walls.iter_mut().for_each(|wall| *wall *= times);
    }
    raw
}
