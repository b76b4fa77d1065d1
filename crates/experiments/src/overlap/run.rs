//! A divisible problem in 1, 2, 4 … 64 chunks: copies of one chunk beside the kernel of another.
//!
//! Stages in isolation, one queue and several queues are timed in turn, so that a change of pace is in all of them alike.
//! Everything is timed on the host's clock, from the first command queued to the last one's end:
//! what overlapping saves is measured by that alone, since intervals of events can overlap where
//! nothing is gained.

use crate::Bench;
use crate::Policy;
use crate::chunks::{Chunks, Prepared};
use crate::overlap::data::{Overlap, OverlapRun, Turns};
use crate::plan::{Case, Chunked};
use crate::timing::fastest;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::Access;
use gpubench_core::record::Detail;
use gpubench_stats::median_of;

/// Numbers of chunks that are tried.
const CHUNKS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];
/// The fewest turns, where there is time for them: one more than give six numbers of chunks an interval at once.
const TURNS: usize = 9;

/// Measures `case` with `bench`.
pub(super) fn measure(case: &Case, bench: &mut Bench) -> Result<()> {
    let prepared = Prepared::new(case, bench)?;
    let Some(mut runs) = verified(&mut prepared.chunks(bench.lend()))? else { return Ok(()) };
    if bench.policy.verify_only {
        return Ok(());
    }
    let allowed = bench.policy.seconds;
    let skipped = leave_out(&mut runs, allowed);
    let policy = Policy { min_samples: turns_within(&runs, allowed), ..bench.policy.clone() };
    let mut chunks = prepared.chunks(bench.with_policy(&policy));
    let stages = chunks.stages()?;
    let jobs: Vec<&Chunked> = stages.iter().chain(runs.iter().map(|run| &run.work)).collect();
    let Some((timed, clock)) = chunks.in_turn(&jobs, allowed)? else { return Ok(()) };
    // The turns leave the result of their last run alone: each must still be right behind them.
    for run in &runs {
        if chunks.verified(&run.work)?.is_none() {
            return Ok(());
        }
    }
    let mut timed = timed.into_iter();
    let [Some(upload), Some(kernel), Some(download)] = [timed.next(), timed.next(), timed.next()]
    else {
        return Err(Error::Device("a stage was not timed".into()));
    };
    let runs = runs.iter().zip(timed);
    let runs =
        runs.map(|(run, timed)| OverlapRun { chunks: run.chunks, queues: run.queues, timed });
    let bytes = |wanted: fn(Access) -> bool| -> u64 {
        case.buffers.iter().filter(|b| wanted(b.access)).map(|b| b.bytes().0).sum()
    };
    let [to_device, to_host] = [bytes(|a| a != Access::Write), bytes(|a| a != Access::Read)];
    let detail = Overlap {
        clock,
        host_memory: prepared.host_memory,
        rows: prepared.division.rows,
        bytes: [to_device, to_host],
        upload,
        kernel,
        download,
        runs: runs.collect(),
        turns: Some(Turns { allowed, skipped }),
    };
    let walls = detail.runs.iter().map(|run| &run.timed.walls[..]);
    let work = [prepared.candidate.flops, (to_device + to_host) as f64];
    bench.measurement.measured = Some(fastest(walls, clock, work));
    bench.measurement.detail = Some(Detail::new(&detail));
    bench.measurement.flag_if_not_converged(bench.policy);
    bench.measurement.flag_if_few(detail.upload.walls.len(), TURNS.min(bench.policy.min_samples));
    Ok(())
}

/// A verified recording.
struct Run {
    chunks: u32,
    queues: u32,
    work: Chunked,
    /// Of the run that was verified.
    seconds: f64,
}

/// The problem in growing numbers of chunks, each on one queue and on all; `None` where a result is wrong.
fn verified(chunks: &mut Chunks) -> Result<Option<Vec<Run>>> {
    let mut runs = Vec::new();
    for count in CHUNKS.into_iter().filter(|&count| count <= chunks.division.rows) {
        for queues in if chunks.queues > 1 { vec![1, chunks.queues] } else { vec![1] } {
            // Where they are too small for a halo, fewer of them have run.
            let Some(work) = chunks.equal_that_hold_a_halo(count, queues)? else { continue };
            let Some(seconds) = chunks.verified(&work)? else { return Ok(None) };
            runs.push(Run { chunks: count as u32, queues, work, seconds });
        }
    }
    Ok(Some(runs))
}

/// Leaves out every second number of chunks, as long as there is no time for [`TURNS`] of all of them; which they
/// were. One chunk, and a number of several, stay.
fn leave_out(runs: &mut Vec<Run>, allowed: f64) -> Vec<u32> {
    let mut skipped = vec![];
    while turns_within(runs, allowed) < TURNS {
        let mut counts: Vec<u32> = runs.iter().map(|run| run.chunks).collect();
        counts.dedup();
        if counts.len() <= 2 {
            break;
        }
        let out: Vec<u32> = counts.into_iter().skip(1).step_by(2).collect();
        runs.retain(|run| !out.contains(&run.chunks));
        skipped.extend(out);
    }
    skipped.sort_unstable();
    skipped
}

/// Turns of all runs and of the isolated stages that take so many seconds, up to [`TURNS`]. The first launch of a kernel
/// may take long, so the median run stands for all; the stages take about as long as one.
fn turns_within(runs: &[Run], allowed: f64) -> usize {
    let middle = median_of(runs.iter().map(|run| run.seconds)).unwrap_or(0.0);
    let turn = middle * (runs.len() + 1) as f64;
    ((allowed / turn).floor() as usize).clamp(1, TURNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_time_is_short_numbers_of_chunks_are_skipped_before_turns_are() {
        let runs = || -> Vec<Run> {
            let counts = CHUNKS.into_iter().flat_map(|chunks| [(chunks, 1), (chunks, 3)]);
            let run = |(chunks, queues)| Run {
                chunks: chunks as u32,
                queues,
                work: Chunked::default(),
                seconds: 0.01,
            };
            counts.map(run).collect()
        };
        // A turn takes 0.15 s, and nine of them 1.35 s; with four numbers 0.81 s, with two 0.45 s.
        let left = |allowed: f64| {
            let mut runs = runs();
            let skipped = leave_out(&mut runs, allowed);
            (runs.len(), skipped, turns_within(&runs, allowed))
        };
        assert_eq!(left(2.0), (14, vec![], TURNS));
        assert_eq!(left(1.0), (8, vec![2, 8, 32], TURNS));
        assert_eq!(left(0.5), (4, vec![2, 4, 8, 32, 64], TURNS));
        assert_eq!(left(0.12), (4, vec![2, 4, 8, 32, 64], 2));
        assert_eq!(left(0.0).2, 1);
    }
}
