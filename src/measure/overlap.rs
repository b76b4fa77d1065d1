//! A divisible problem in 1, 2, 4 … 64 chunks: copies of one chunk beside the kernel of another.
//!
//! Everything is timed on the host's clock, from the first command queued to the last one's end:
//! what overlapping saves is judged by that alone, since intervals of events can overlap where
//! nothing is gained.

use super::check::Check;
use super::choose::{Chosen, KERNEL, choose};
use super::expected::expected;
use super::timing::{time, wall_clock};
use super::{Finding, Policy, Session, Stage, memory};
use crate::error::{Error, Result};
use crate::gpu::{Access, Clock, HOST_RESOLUTION, MemoryKind};
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
    let chosen = choose(session, case, policy, stage, finding)?;
    stage(Stage::Verify);
    let wanted = expected(case, chosen.candidate, &initial, policy)?;
    let check = Check { case, initial: &initial, wanted: wanted.as_ref() };
    let mut sitting = Sitting { session, check, chosen: &chosen, policy, stage, finding };
    let Some(runs) = sitting.runs(division)? else { return Ok(()) };
    if policy.verify_only {
        return Ok(());
    }
    let [(send, _), (kernel, clock), (receive, _)] = sitting.alone(division)?;
    let bytes = |wanted: fn(Access) -> bool| {
        case.buffers.iter().filter(|b| wanted(b.access)).map(|b| b.bytes().0).sum()
    };
    let detail = Overlap {
        clock,
        host_memory,
        rows: division.rows,
        bytes: [bytes(|a| a != Access::Write), bytes(|a| a != Access::Read)],
        send,
        kernel,
        receive,
        runs,
    };
    finding.measured = Some(best(&detail, &chosen));
    finding.detail = Some(Detail::Overlap(detail));
    finding.flag_if_wide(policy);
    Ok(())
}

/// A case on a device, its kernel built and its buffers filled.
struct Sitting<'a> {
    session: &'a mut Session,
    check: Check<'a>,
    chosen: &'a Chosen<'a>,
    policy: &'a Policy,
    stage: &'a mut dyn FnMut(Stage),
    finding: &'a mut Finding,
}

impl Sitting<'_> {
    /// The problem in growing numbers of chunks, verified before and after it is timed; `None`
    /// where a result is wrong.
    fn runs(&mut self, division: &Division) -> Result<Option<Vec<OverlapRun>>> {
        let lanes = if self.session.device.info().lanes >= 3 { 3 } else { 1 };
        let mut runs = Vec::new();
        for (chunks, lanes) in configurations(division, lanes) {
            let rows = equal_chunks(division.rows, chunks)?;
            let work = chunked(self.check.case, self.chosen.candidate, KERNEL, &rows, lanes)?;
            (self.stage)(Stage::Verify);
            if !verified(self.session, &self.check, &work, self.finding)? {
                return Ok(None);
            }
            if self.policy.verify_only {
                continue;
            }
            poison(self.session, &self.check)?;
            let (timed, _) = self.timed(&work)?;
            runs.push(OverlapRun { chunks: chunks as u32, lanes, timed });
            (self.stage)(Stage::Verify);
            if !self.timed_right(&work, chunks)? {
                return Ok(None);
            }
        }
        Ok(Some(runs))
    }

    /// Whether the timed runs left what they should. Of a kernel that works in place nothing is
    /// known after many runs: it runs once more afresh.
    fn timed_right(&mut self, work: &Chunked, chunks: u64) -> Result<bool> {
        if self.check.in_place() {
            return verified(self.session, &self.check, work, self.finding);
        }
        received_right(self.session, &self.check, &format!("{chunks} timed chunks"), self.finding)
    }

    /// Send, kernel and receive of the whole problem, each alone on one lane.
    fn alone(&mut self, division: &Division) -> Result<[(Timed, Clock); 3]> {
        let candidate = self.chosen.candidate;
        let whole = chunked(self.check.case, candidate, KERNEL, &[division.rows], 1)?;
        Ok([
            self.timed(&only(&whole, StageOf::Send))?,
            self.timed(&only(&whole, StageOf::Kernel))?,
            self.timed(&only(&whole, StageOf::Receive))?,
        ])
    }

    fn timed(&mut self, work: &Chunked) -> Result<(Timed, Clock)> {
        (self.stage)(Stage::Measure);
        let (policy, seconds) = (self.policy, self.policy.seconds / 4.0);
        let timed = time(self.session, &work.recording, policy, seconds, |i| {
            let (chunk, stage) = work.steps[i];
            format!("{stage:?} {chunk}").to_lowercase()
        })?;
        self.finding.wall.busy += timed.0.walls.iter().sum::<f64>();
        Ok(timed)
    }
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

/// Poisons everything the recording writes (inputs on the device too, since it sends them).
fn poison(session: &mut Session, check: &Check) -> Result<()> {
    let (device, case) = (session.device.as_mut(), check.case);
    memory::poison(device, case)?;
    for (i, buffer) in case.buffers.iter().enumerate() {
        if buffer.access != Access::Read {
            device.write(host_twin(case, i), check.initial[i].as_bytes())?;
        }
    }
    Ok(())
}

/// Runs the recording once over poison, and compares what was received.
pub(super) fn verified(
    session: &mut Session,
    check: &Check,
    work: &Chunked,
    finding: &mut Finding,
) -> Result<bool> {
    poison(session, check)?;
    session.device.run(&work.recording)?;
    let chunks = work.steps.iter().filter(|(_, s)| *s == StageOf::Kernel).count();
    received_right(session, check, &format!("{chunks} chunks"), finding)
}

/// Compares what was received, and the guards on the device.
fn received_right(
    session: &mut Session,
    check: &Check,
    when: &str,
    finding: &mut Finding,
) -> Result<bool> {
    let case = check.case;
    Ok(check.guards(session, when, finding)?
        && check.all(finding, when, |i| {
            let bytes = session.device.read(host_twin(case, i))?;
            Ok(Data::from_bytes(case.buffers[i].element.scalar, &bytes))
        })?)
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
        resolution: HOST_RESOLUTION,
        flops: chosen.candidate.flops,
        bytes: (overlap.bytes[0] + overlap.bytes[1]) as f64,
        warmup: 0.0,
        dropped: 0,
    }
}
