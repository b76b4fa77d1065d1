//! A divisible problem in 1, 2, 4 … 64 chunks: copies of one chunk beside the kernel of another.
//!
//! Everything is timed on the host's clock, from the first command queued to the last one's end:
//! what overlapping saves is measured by that alone, since intervals of events can overlap where
//! nothing is gained.

use crate::Bench;
use crate::chunks::{Alone, Chunks, Prepared};
use crate::overlap::data::{Overlap, OverlapRun};
use crate::plan::{Case, Division};
use crate::timing::fastest;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::Access;
use gpubench_core::record::Detail;

/// Numbers of chunks that are tried.
const CHUNKS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Measures `case` with `bench`.
pub(super) fn measure(case: &Case, bench: &mut Bench) -> Result<()> {
    let prepared = Prepared::new(case, bench)?;
    let mut chunks = prepared.chunks(bench.lend());
    let Some(runs) = runs(&mut chunks)? else { return Ok(()) };
    if chunks.bench.policy.verify_only {
        return Ok(());
    }
    let Alone { upload, kernel, download, clock } = chunks.alone()?;
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
        runs,
    };
    let walls = detail.runs.iter().map(|run| &run.timed.walls[..]);
    let work = [prepared.candidate.flops, (to_device + to_host) as f64];
    bench.measurement.measured = Some(fastest(walls, clock, work));
    bench.measurement.detail = Some(Detail::new(&detail));
    bench.measurement.flag_if_not_converged(bench.policy);
    Ok(())
}

/// The problem in growing numbers of chunks; `None` where a result is wrong.
fn runs(chunks: &mut Chunks) -> Result<Option<Vec<OverlapRun>>> {
    let mut runs = Vec::new();
    for (count, queues) in configurations(chunks.division, chunks.queues) {
        let work = match chunks.equal(count, queues) {
            // A halo larger than so small chunks: fewer of them have run.
            Err(Error::Unsupported(_)) if count > 1 => continue,
            work => work?,
        };
        if chunks.bench.policy.verify_only {
            if !chunks.verified(&work)? {
                return Ok(None);
            }
            continue;
        }
        let Some((timed, _)) = chunks.measured(&work)? else { return Ok(None) };
        runs.push(OverlapRun { chunks: count as u32, queues, timed });
    }
    Ok(Some(runs))
}

/// Every number of chunks on all queues, and four chunks on one queue for comparison.
fn configurations(division: &Division, queues: u32) -> Vec<(u64, u32)> {
    let counts = CHUNKS.into_iter().filter(|&chunks| chunks <= division.rows);
    let mut all: Vec<_> = counts.map(|chunks| (chunks, queues)).collect();
    if queues > 1 {
        all.extend([1, 4].into_iter().filter(|&c| c <= division.rows).map(|chunks| (chunks, 1)));
    }
    all
}
