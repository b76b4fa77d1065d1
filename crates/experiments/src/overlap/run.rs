//! A divisible problem in 1, 2, 4 … 64 chunks: copies of one chunk beside the kernel of another.
//!
//! Everything is timed on the host's clock, from the first command queued to the last one's end:
//! what overlapping saves is measured by that alone, since intervals of events can overlap where
//! nothing is gained.

use crate::autotune::BuiltVariant;
use crate::check::Check;
use crate::chunks::{Alone, Chunks, division, queues, set_up};
use crate::expected::expected;
use crate::overlap::data::{Overlap, OverlapRun};
use crate::plan::{Case, Division};
use crate::timing::wall_clock;
use crate::{Measurement, Policy, Session, Stage, memory};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Access, HOST_RESOLUTION};
use gpubench_core::record::{Detail, Measured};

/// Numbers of chunks that are tried.
const CHUNKS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Measures `case` into `measurement`.
pub(super) fn measure(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    measurement: &mut Measurement,
) -> Result<()> {
    let division = division(case)?;
    stage(Stage::Prepare);
    let initial = memory::initial(case);
    let (variant, host_memory) = set_up(session, case, &initial, policy, stage, measurement)?;
    let candidate = variant.candidate;
    stage(Stage::Verify);
    let wanted = expected(case, candidate, &initial, policy)?;
    let check = Check { case, initial: &initial, wanted: wanted.as_ref() };
    let queues = queues(session);
    let mut chunks =
        Chunks { session, check, candidate, division, policy, stage, measurement, queues };
    let Some(runs) = runs(&mut chunks)? else { return Ok(()) };
    if policy.verify_only {
        return Ok(());
    }
    let Alone { upload, kernel, download, clock } = chunks.alone()?;
    let bytes = |wanted: fn(Access) -> bool| {
        case.buffers.iter().filter(|b| wanted(b.access)).map(|b| b.bytes().0).sum()
    };
    let detail = Overlap {
        clock,
        host_memory,
        rows: division.rows,
        bytes: [bytes(|a| a != Access::Write), bytes(|a| a != Access::Read)],
        upload,
        kernel,
        download,
        runs,
    };
    measurement.measured = Some(best(&detail, &variant));
    measurement.detail = Some(Detail::new(&detail));
    measurement.flag_if_not_converged(policy);
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
        if chunks.policy.verify_only {
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

/// The fastest configuration's samples stand for the case in tables.
fn best(overlap: &Overlap, variant: &BuiltVariant) -> Measured {
    let middle = |run: &&OverlapRun| run.timed.median().unwrap_or(f64::INFINITY);
    let fastest = overlap.runs.iter().min_by(|a, b| middle(a).total_cmp(&middle(b)));
    Measured {
        samples: fastest.map_or_else(Vec::new, |run| run.timed.walls.clone()),
        batch: 1,
        clock: wall_clock(overlap.clock),
        resolution: HOST_RESOLUTION,
        flops: variant.candidate.flops,
        bytes: (overlap.bytes[0] + overlap.bytes[1]) as f64,
        warmup: 0.0,
        dropped: 0,
    }
}
