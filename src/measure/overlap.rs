//! A divisible problem in 1, 2, 4 … 64 chunks: copies of one chunk beside the kernel of another.
//!
//! Everything is timed on the host's clock, from the first command queued to the last one's end:
//! what overlapping saves is judged by that alone, since intervals of events can overlap where
//! nothing is gained.

use super::choose::{Chosen, KERNEL, choose};
use super::expected::expected;
use super::kernel::Check;
use super::timing::{time, wall_clock};
use super::{Finding, Policy, Session, Stage, memory};
use crate::error::{Error, Result};
use crate::gpu::{Access, MemoryKind};
use crate::plan::{Case, Chunked, Division, StageOf, chunked, equal_chunks, host_twin};
use crate::record::{Detail, Measured, Overlap, OverlapRun, Timed};
use crate::reference::Data;
use crate::stats::median;

/// Numbers of chunks that are tried.
const CHUNKS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Measures `case` into `finding`.
pub(super) fn measure(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    finding: &mut Finding,
) -> Result<()> {
    let division = case.division.as_ref().ok_or_else(|| {
        Error::Unsupported("the workload is not divisible (no `divide` in the suite)".into())
    })?;
    stage(Stage::Prepare);
    let initial = memory::initial(case);
    let host_memory = allocate(session, case, &initial)?;
    stage(Stage::Build);
    let chosen = choose(session, case, policy, stage, finding)?;
    stage(Stage::Verify);
    let wanted = expected(case, chosen.candidate, &initial, policy)?;
    let check = Check { case, initial: &initial, wanted: wanted.as_ref() };
    let lanes = if session.device.info().lanes >= 3 { 3 } else { 1 };
    let mut runs = Vec::new();
    for (chunks, lanes) in configurations(division, lanes) {
        let work =
            chunked(case, chosen.candidate, KERNEL, &equal_chunks(division.rows, chunks)?, lanes)?;
        stage(Stage::Verify);
        if !verified(session, &check, &work, finding)? {
            return Ok(());
        }
        if !policy.verify_only {
            stage(Stage::Measure);
            let (timed, _) = timed(session, &work, policy)?;
            runs.push(OverlapRun { chunks: chunks as u32, lanes, timed });
        }
    }
    if policy.verify_only {
        return Ok(());
    }
    let detail = alone(session, case, &chosen, division, policy, host_memory, runs)?;
    finding.measured = Some(best(&detail, &chosen));
    finding.detail = Some(Detail::Overlap(detail));
    Ok(())
}

/// Every number of chunks on all lanes, and four chunks on one lane for comparison.
fn configurations(division: &Division, lanes: u32) -> Vec<(u64, u32)> {
    let counts = CHUNKS.into_iter().filter(|&chunks| chunks <= division.rows);
    let mut all: Vec<_> = counts.map(|chunks| (chunks, lanes)).collect();
    if lanes > 1 {
        all.extend([1, 4].into_iter().filter(|&c| c <= division.rows).map(|chunks| (chunks, 1)));
    }
    all
}

/// Device buffers with their guards, and a host twin of each in the best kind of memory.
pub(super) fn allocate(session: &mut Session, case: &Case, initial: &[Data]) -> Result<MemoryKind> {
    let device = session.device.as_mut();
    let kind = case.key.host_memory.unwrap_or_else(|| best_kind(&device.info().host_memory));
    memory::allocate(device, case)?;
    memory::write(device, case, initial, false)?;
    for (i, data) in initial.iter().enumerate() {
        device.alloc(host_twin(case, i), case.buffers[i].bytes(), kind)?;
        device.write(host_twin(case, i), data.as_bytes())?;
    }
    Ok(kind)
}

fn best_kind(kinds: &[MemoryKind]) -> MemoryKind {
    if kinds.contains(&MemoryKind::Pinned) { MemoryKind::Pinned } else { MemoryKind::Pageable }
}

/// Poisons everything the recording writes (inputs on the device too, since it sends them), runs
/// it, and compares what was received.
pub(super) fn verified(
    session: &mut Session,
    check: &Check,
    work: &Chunked,
    finding: &mut Finding,
) -> Result<bool> {
    let case = check.case;
    let device = session.device.as_mut();
    memory::poison(device, case)?;
    for (i, buffer) in case.buffers.iter().enumerate() {
        if buffer.access != Access::Read {
            device.write(host_twin(case, i), check.initial[i].as_bytes())?;
        }
    }
    device.run(&work.recording)?;
    let when =
        format!("{} chunks", work.steps.iter().filter(|(_, s)| *s == StageOf::Kernel).count());
    check.all(finding, &when, |i| {
        let bytes = session.device.read(host_twin(case, i))?;
        Ok(Data::from_bytes(case.buffers[i].element.scalar, &bytes))
    })
}

fn timed(
    session: &mut Session,
    work: &Chunked,
    policy: &Policy,
) -> Result<(Timed, crate::gpu::Clock)> {
    time(session, &work.recording, policy, policy.seconds / 4.0, |i| {
        let (chunk, stage) = work.steps[i];
        format!("{stage:?} {chunk}").to_lowercase()
    })
}

/// The stages of the whole problem, each alone on one lane.
fn alone(
    session: &mut Session,
    case: &Case,
    chosen: &Chosen,
    division: &Division,
    policy: &Policy,
    host_memory: MemoryKind,
    runs: Vec<OverlapRun>,
) -> Result<Overlap> {
    let whole = chunked(case, chosen.candidate, KERNEL, &[division.rows], 1)?;
    let mut stage = |wanted: StageOf| timed(session, &only(&whole, wanted), policy);
    let (send, _) = stage(StageOf::Send)?;
    let (kernel, clock) = stage(StageOf::Kernel)?;
    let (receive, _) = stage(StageOf::Receive)?;
    let bytes = |wanted: fn(Access) -> bool| {
        case.buffers.iter().filter(|b| wanted(b.access)).map(|b| b.bytes().0).sum()
    };
    Ok(Overlap {
        clock,
        host_memory,
        rows: division.rows,
        bytes: [bytes(|a| a != Access::Write), bytes(|a| a != Access::Read)],
        send,
        kernel,
        receive,
        runs,
    })
}

/// The steps of one stage, which then depend on nothing else.
fn only(whole: &Chunked, wanted: StageOf) -> Chunked {
    let mut part = Chunked::default();
    for (step, &(chunk, stage)) in whole.recording.steps.iter().zip(&whole.steps) {
        if stage == wanted {
            part.recording.push(step.lane, vec![], step.op.clone());
            part.steps.push((chunk, stage));
        }
    }
    part
}

/// The fastest configuration's samples stand for the case in tables.
fn best(overlap: &Overlap, chosen: &Chosen) -> Measured {
    let middle = |timed: &Timed| {
        let mut walls = timed.walls.clone();
        walls.sort_by(f64::total_cmp);
        median(&walls)
    };
    let fastest = overlap.runs.iter().min_by(|a, b| middle(&a.timed).total_cmp(&middle(&b.timed)));
    Measured {
        samples: fastest.map_or_else(Vec::new, |run| run.timed.walls.clone()),
        batch: 1,
        clock: wall_clock(overlap.clock),
        resolution: 1e-9,
        flops: chosen.candidate.flops,
        bytes: (overlap.bytes[0] + overlap.bytes[1]) as f64,
        warmup: 0.0,
        dropped: 0,
    }
}
