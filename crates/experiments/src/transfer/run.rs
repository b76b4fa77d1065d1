//! Copies of growing size between host and device: one way, the other, and both at once.
//!
//! One copy (or one pair) is timed at a time on the host's clock, from its queueing to its end:
//! so the time at the smallest size is the latency that a program sees.

use crate::buffer_pairs::{allocate, poison, queues, recording, verified};
use crate::plan::Case;
use crate::timing::{time, wall_clock};
use crate::transfer::data::{Direction, Transfer, TransferPoint};
use crate::{Bench, Stage};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Clock, HOST_RESOLUTION, MemoryKind, Recording};
use gpubench_core::record::{Detail, Measured, NamedStep};
use gpubench_core::units::Bytes;
use gpubench_core::workload::Fill;
use gpubench_reference::fill;

/// Bytes of the smallest copy, and by how much each next one is larger.
const SMALLEST: u64 = 4096;
const GROWTH: u64 = 4;

/// Measures `case` with `bench`.
pub(super) fn measure(case: &Case, bench: &mut Bench) -> Result<()> {
    let Some(buffer) = case.buffers.first() else {
        return Err(Error::Unsupported("a transfer needs a buffer".into()));
    };
    bench.enter(Stage::Prepare);
    let largest = buffer.bytes();
    let host_memory = case.key.host_memory.unwrap_or(MemoryKind::Pageable);
    let scalar = buffer.element.scalar;
    let mut data = fill(&Fill::RandomBits, scalar, largest.as_usize() / scalar.size(), case.seed);
    allocate(bench.session, largest, host_memory, &data)?;
    poison(bench.session, &mut data)?;
    bench.enter(Stage::Verify);
    let queues = queues(bench.session);
    bench.device().run(&copies(Direction::Both, largest.0, queues))?;
    if !verified(bench, &data, "first copies")? || bench.policy.verify_only {
        return Ok(());
    }
    let mut points = Vec::new();
    let mut clock = Clock::Host;
    let sizes = sizes(largest.0);
    // What a recording leaves of its share, the larger ones after it get.
    let (mut to_come, mut left) = (sizes.len() * Direction::ALL.len(), bench.policy.seconds);
    for bytes in sizes {
        // What the smaller copies left must not stand in for the largest.
        if bytes == largest.0 {
            bench.enter(Stage::Prepare);
            poison(bench.session, &mut data)?;
        }
        for direction in Direction::ALL {
            let recording = copies(direction, bytes, queues);
            let seconds = left / to_come as f64;
            bench.enter(Stage::Measure);
            let (timed, of_steps) = time(bench, &recording, seconds, |_| String::new())?;
            clock = wall_clock(of_steps);
            let spent = timed.walls.iter().sum::<f64>();
            (to_come, left) = (to_come - 1, (left - spent).max(0.0));
            let spans = if direction == Direction::Both { spans(&timed.steps) } else { None };
            points.push(TransferPoint { direction, bytes, samples: timed.walls, spans });
        }
    }
    bench.enter(Stage::Verify);
    if !verified(bench, &data, "timed copies")? {
        return Ok(());
    }
    bench.measurement.measured = largest_upload(&points, largest, clock);
    bench.measurement.flag_if_not_converged(bench.policy);
    bench.measurement.detail = Some(Detail::new(&Transfer { host_memory, queues, points }));
    Ok(())
}

/// Sizes from the smallest on, the largest always among them.
fn sizes(largest: u64) -> Vec<u64> {
    let growing = std::iter::successors(Some(SMALLEST), |bytes| bytes.checked_mul(GROWTH));
    let mut sizes: Vec<u64> = growing.take_while(|&bytes| bytes < largest).collect();
    sizes.push(largest);
    sizes
}

/// One copy of the first `bytes`, or one each way.
fn copies(direction: Direction, bytes: u64, queues: u32) -> Recording {
    match direction {
        Direction::Upload => recording([bytes, 0], bytes, 1),
        Direction::Download => recording([0, bytes], bytes, 1),
        Direction::Both => recording([bytes; 2], bytes, queues),
    }
}

/// Start and end of a pair's upload and of its download, in seconds from the first start.
fn spans(steps: &[NamedStep]) -> Option<[[f64; 2]; 2]> {
    let [upload, download] = steps else { return None };
    let begun = upload.started.min(download.started);
    Some([upload, download].map(|step| [step.started - begun, step.ended - begun]))
}

/// The largest upload stands for the case in tables.
fn largest_upload(points: &[TransferPoint], largest: Bytes, clock: Clock) -> Option<Measured> {
    let point = points.iter().rev().find(|p| p.direction == Direction::Upload)?;
    let measured = Measured::of(point.samples.clone(), clock, HOST_RESOLUTION);
    Some(Measured { bytes: largest.0 as f64, ..measured })
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
