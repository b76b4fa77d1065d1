//! Copies of growing size between host and device: one way, the other, and both at once.
//!
//! One copy (or one pair) is timed at a time on the host's clock, from its queueing to its end:
//! so the time at the smallest size is the latency that a program sees.

use crate::plan::Case;
use crate::timing::{time, wall_clock};
use crate::transfer::data::{Direction, Transfer, TransferPoint};
use crate::{Measurement, Policy, Session, Stage, compare};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{
    BufferId, Clock, HOST_RESOLUTION, MemoryKind, Op, Queue, Recording, Slice,
};
use gpubench_core::record::{Detail, Measured, NamedStep};
use gpubench_core::units::Bytes;
use gpubench_core::workload::{Comparison, Fill};
use gpubench_reference::{Data, fill};

/// Bytes of the smallest copy, and by how much each next one is larger.
const SMALLEST: u64 = 4096;
const GROWTH: u64 = 4;

/// What is timed of every size.
const DIRECTIONS: [Direction; 3] = [Direction::Upload, Direction::Download, Direction::Both];

/// Uploads use one pair of buffers, downloads another.
pub(crate) const UPLOAD_BUFFERS: (BufferId, BufferId) = (BufferId(1), BufferId(0));
pub(crate) const DOWNLOAD_BUFFERS: (BufferId, BufferId) = (BufferId(2), BufferId(3));

/// Measures `case` into `measurement`.
pub(super) fn measure(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    measurement: &mut Measurement,
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
    session.device.run(&copies(Direction::Both, largest.0, queues(session)))?;
    if !verified(session, &data, "first copies", measurement)? || policy.verify_only {
        return Ok(());
    }
    let queues = queues(session);
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
            let recording = copies(direction, bytes, queues);
            let seconds = left / to_come as f64;
            stage(Stage::Measure);
            let (timed, of_steps) = time(session, &recording, policy, seconds, |_| String::new())?;
            clock = wall_clock(of_steps);
            let spent = timed.walls.iter().sum::<f64>();
            measurement.wall.busy += spent;
            (to_come, left) = (to_come - 1, (left - spent).max(0.0));
            let spans = if direction == Direction::Both { spans(&timed.steps) } else { None };
            points.push(TransferPoint { direction, bytes, samples: timed.walls, spans });
        }
    }
    stage(Stage::Verify);
    if !verified(session, &data, "timed copies", measurement)? {
        return Ok(());
    }
    measurement.measured = largest_upload(&points, largest, clock);
    measurement.flag_if_not_converged(policy);
    measurement.detail = Some(Detail::new(&Transfer { host_memory, queues, points }));
    Ok(())
}

/// Both directions get a queue each where the device has two.
pub(crate) fn queues(session: &Session) -> u32 {
    session.device.info().queues.min(2)
}

/// Sizes from the smallest on, the largest always among them.
fn sizes(largest: u64) -> Vec<u64> {
    let growing = std::iter::successors(Some(SMALLEST), |bytes| bytes.checked_mul(GROWTH));
    let mut sizes: Vec<u64> = growing.take_while(|&bytes| bytes < largest).collect();
    sizes.push(largest);
    sizes
}

/// Allocates both pairs: the first is filled on the host, the second on the device.
pub(crate) fn allocate(
    session: &mut Session,
    bytes: Bytes,
    kind: MemoryKind,
    data: &Data,
) -> Result<()> {
    let device = session.device.as_mut();
    for ((from, to), from_host) in [(UPLOAD_BUFFERS, true), (DOWNLOAD_BUFFERS, false)] {
        let kinds = if from_host { [kind, MemoryKind::Device] } else { [MemoryKind::Device, kind] };
        device.alloc(from, bytes, kinds[0])?;
        device.alloc(to, bytes, kinds[1])?;
        device.write(from, data.as_bytes())?;
    }
    Ok(())
}

/// Both targets hold nothing of the source.
pub(crate) fn poison(session: &mut Session, bytes: Bytes) -> Result<()> {
    let poison = vec![0xff; bytes.as_usize()];
    [UPLOAD_BUFFERS.1, DOWNLOAD_BUFFERS.1]
        .into_iter()
        .try_for_each(|to| session.device.write(to, &poison))
}

/// One copy of the first `bytes`, or one each way.
fn copies(direction: Direction, bytes: u64, queues: u32) -> Recording {
    let part = |buffer| Slice { buffer, offset: Bytes(0), len: Bytes(bytes) };
    let mut recording = Recording::default();
    if direction != Direction::Download {
        let op = Op::Upload { from: part(UPLOAD_BUFFERS.0), to: part(UPLOAD_BUFFERS.1) };
        recording.push(Queue(0), vec![], op);
    }
    if direction != Direction::Upload {
        let queue = if direction == Direction::Both { queues - 1 } else { 0 };
        let op = Op::Download { from: part(DOWNLOAD_BUFFERS.0), to: part(DOWNLOAD_BUFFERS.1) };
        recording.push(Queue(queue), vec![], op);
    }
    recording
}

/// Start and end of a pair's upload and of its download, in seconds from the first start.
fn spans(steps: &[NamedStep]) -> Option<[[f64; 2]; 2]> {
    let [upload, download] = steps else { return None };
    let begun = upload.started.min(download.started);
    Some([upload, download].map(|step| [step.started - begun, step.ended - begun]))
}

/// Both targets must hold the source's bytes.
pub(crate) fn verified(
    session: &mut Session,
    data: &Data,
    when: &str,
    measurement: &mut Measurement,
) -> Result<bool> {
    let exact = Comparison { relative: 0.0, absolute: 0.0 };
    for (target, name) in [(UPLOAD_BUFFERS.1, "uploaded"), (DOWNLOAD_BUFFERS.1, "downloaded")] {
        let found = Data::from_bytes(data.scalar(), &session.device.read(target)?);
        let (norms, mismatch) = compare(name, data, &found, exact, when);
        measurement.norms = Some(norms);
        if let Some(mismatch) = mismatch {
            measurement.mismatch(mismatch);
            return Ok(false);
        }
    }
    Ok(true)
}

/// The largest upload stands for the case in tables.
fn largest_upload(points: &[TransferPoint], largest: Bytes, clock: Clock) -> Option<Measured> {
    let point = points.iter().rev().find(|p| p.direction == Direction::Upload)?;
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
    fn a_pair_is_timed_from_its_first_start_whichever_began() {
        let step = |started, ended| NamedStep { name: String::new(), queue: 0, started, ended };
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
