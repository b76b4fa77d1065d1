//! Copies of growing size between host and device: one way, the other, and both at once.
//!
//! One copy (or one pair) is timed at a time on the host's clock, from its queueing to its end:
//! so the time at the smallest size is the latency that a program sees.

use super::timing::{time, wall_clock};
use super::{Finding, Policy, Session, Stage, compare};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{
    BufferId, Clock, HOST_RESOLUTION, Lane, MemoryKind, Op, Recording, Slice,
};
use gpubench_core::record::{Detail, Direction, Measured, NamedStep, Transfer, TransferPoint};
use gpubench_core::units::Bytes;
use gpubench_core::workload::{Comparison, Fill};
use gpubench_plan::Case;
use gpubench_reference::{Data, fill};

/// Bytes of the smallest copy, and by how much each next one is larger.
const SMALLEST: u64 = 4096;
const GROWTH: u64 = 4;

/// What is timed of every size.
const DIRECTIONS: [Direction; 3] = [Direction::Send, Direction::Receive, Direction::Both];

/// What is sent lies in one pair of buffers, what is received in another.
pub(super) const SENT: (BufferId, BufferId) = (BufferId(1), BufferId(0));
pub(super) const RECEIVED: (BufferId, BufferId) = (BufferId(2), BufferId(3));

/// Measures `case` into `finding`.
pub(super) fn measure(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    finding: &mut Finding,
) -> Result<()> {
    let Some(buffer) = case.buffers.first() else {
        return Err(Error::Unsupported("a transfer needs a buffer".into()));
    };
    stage(Stage::Prepare);
    let largest = buffer.bytes();
    let host_memory = case.key.host_memory.unwrap_or(MemoryKind::Pageable);
    let data = fill(&Fill::RandomBits, buffer.element.scalar, largest.as_usize() / 4, case.seed);
    allocate(session, largest, host_memory, &data)?;
    poison(session, largest)?;
    stage(Stage::Verify);
    session.device.run(&copies(Direction::Both, largest.0, lanes(session)))?;
    if !verified(session, &data, "first copies", finding)? || policy.verify_only {
        return Ok(());
    }
    let lanes = lanes(session);
    let mut points = Vec::new();
    let mut clock = Clock::Host;
    let sizes = sizes(largest.0);
    // What a recording leaves of its share, the larger ones after it get.
    let (mut to_come, mut left) = (sizes.len() * DIRECTIONS.len(), policy.seconds);
    for bytes in sizes {
        // What the smaller copies left must not stand in for the largest.
        if bytes == largest.0 {
            stage(Stage::Prepare);
            poison(session, largest)?;
        }
        for direction in DIRECTIONS {
            let recording = copies(direction, bytes, lanes);
            let seconds = left / to_come as f64;
            stage(Stage::Measure);
            let (timed, of_steps) = time(session, &recording, policy, seconds, |_| String::new())?;
            clock = wall_clock(of_steps);
            let spent = timed.walls.iter().sum::<f64>();
            finding.wall.busy += spent;
            (to_come, left) = (to_come - 1, (left - spent).max(0.0));
            let spans = if direction == Direction::Both { spans(&timed.steps) } else { None };
            points.push(TransferPoint { direction, bytes, samples: timed.walls, spans });
        }
    }
    stage(Stage::Verify);
    if !verified(session, &data, "timed copies", finding)? {
        return Ok(());
    }
    finding.measured = largest_send(&points, largest, clock);
    finding.flag_if_wide(policy);
    finding.detail = Some(Detail::Transfer(Transfer { host_memory, lanes, points }));
    Ok(())
}

/// Both directions get a lane each where the device has two.
pub(super) fn lanes(session: &Session) -> u32 {
    session.device.info().lanes.min(2)
}

/// Sizes from the smallest on, the largest always among them.
fn sizes(largest: u64) -> Vec<u64> {
    let growing = std::iter::successors(Some(SMALLEST), |bytes| bytes.checked_mul(GROWTH));
    let mut sizes: Vec<u64> = growing.take_while(|&bytes| bytes < largest).collect();
    sizes.push(largest);
    sizes
}

/// Allocates both pairs: the first is filled on the host, the second on the device.
pub(super) fn allocate(
    session: &mut Session,
    bytes: Bytes,
    kind: MemoryKind,
    data: &Data,
) -> Result<()> {
    let device = session.device.as_mut();
    for ((from, to), from_host) in [(SENT, true), (RECEIVED, false)] {
        let kinds = if from_host { [kind, MemoryKind::Device] } else { [MemoryKind::Device, kind] };
        device.alloc(from, bytes, kinds[0])?;
        device.alloc(to, bytes, kinds[1])?;
        device.write(from, data.as_bytes())?;
    }
    Ok(())
}

/// Both targets hold nothing of the source.
pub(super) fn poison(session: &mut Session, bytes: Bytes) -> Result<()> {
    let poison = vec![0xff; bytes.as_usize()];
    [SENT.1, RECEIVED.1].into_iter().try_for_each(|to| session.device.write(to, &poison))
}

/// One copy of the first `bytes`, or one each way.
fn copies(direction: Direction, bytes: u64, lanes: u32) -> Recording {
    let part = |buffer| Slice { buffer, offset: Bytes(0), len: Bytes(bytes) };
    let mut recording = Recording::default();
    if direction != Direction::Receive {
        let op = Op::Send { from: part(SENT.0), to: part(SENT.1) };
        recording.push(Lane(0), vec![], op);
    }
    if direction != Direction::Send {
        let lane = if direction == Direction::Both { lanes - 1 } else { 0 };
        let op = Op::Receive { from: part(RECEIVED.0), to: part(RECEIVED.1) };
        recording.push(Lane(lane), vec![], op);
    }
    recording
}

/// Start and end of a pair's send and of its receive, in seconds from the first start.
fn spans(steps: &[NamedStep]) -> Option<[[f64; 2]; 2]> {
    let [send, receive] = steps else { return None };
    let begun = send.started.min(receive.started);
    Some([send, receive].map(|step| [step.started - begun, step.ended - begun]))
}

/// Both targets must hold the source's bytes.
pub(super) fn verified(
    session: &mut Session,
    data: &Data,
    when: &str,
    finding: &mut Finding,
) -> Result<bool> {
    let exact = Comparison { relative: 0.0, absolute: 0.0 };
    for (target, name) in [(SENT.1, "sent"), (RECEIVED.1, "received")] {
        let found = Data::from_bytes(data.scalar(), &session.device.read(target)?);
        let (norms, mismatch) = compare(name, data, &found, exact, when);
        finding.norms = Some(norms);
        if let Some(mismatch) = mismatch {
            finding.mismatch(mismatch);
            return Ok(false);
        }
    }
    Ok(true)
}

/// The largest send stands for the case in tables.
fn largest_send(points: &[TransferPoint], largest: Bytes, clock: Clock) -> Option<Measured> {
    let point = points.iter().rev().find(|p| p.direction == Direction::Send)?;
    Some(Measured {
        samples: point.samples.clone(),
        batch: 1,
        clock,
        resolution: HOST_RESOLUTION,
        flops: 0.0,
        bytes: largest.0 as f64,
        warmup: 0.0,
        dropped: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::{NamedStep, spans};

    #[test]
    fn a_pair_is_told_from_its_first_start_whichever_began() {
        let step = |started, ended| NamedStep { name: String::new(), lane: 0, started, ended };
        let pair = [step(7.0, 9.0), step(5.0, 8.0)];
        assert_eq!(spans(&pair), Some([[2.0, 4.0], [0.0, 3.0]]));
        assert_eq!(spans(&pair[..1]), None);
    }

    #[test]
    fn sizes_grow_to_the_largest() {
        assert_eq!(super::sizes(100_000), [4096, 16384, 65536, 100_000]);
        assert_eq!(super::sizes(4096), [4096]);
    }
}
