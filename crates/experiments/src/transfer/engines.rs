//! Whether copies of both directions run at once.

use crate::engines::{middle, verdict};
use crate::transfer::analysis::transfer;
use crate::transfer::data::{Direction, Transfer};

/// Whether the largest copies save time when they run both ways at once. What passes before the
/// first byte moves (the shorter latency) may pass during the other copy on one engine, too.
pub(super) fn both_ways(raw: &Transfer) -> Option<bool> {
    if raw.queues < 2 {
        return None;
    }
    let largest = raw.points.iter().map(|point| point.bytes).max()?;
    let at = |direction: Direction| {
        let point = raw.points.iter().find(|p| p.bytes == largest && p.direction == direction)?;
        middle(&point.samples)
    };
    let (upload, download) = (at(Direction::Upload)?, at(Direction::Download)?);
    let both = at(Direction::Both)?;
    let fitted = transfer(raw).ok()?;
    let latency = fitted.upload.latency.value.min(fitted.download.latency.value);
    let error = upload.error.hypot(download.error).hypot(both.error);
    let hidden_seconds = upload.value + download.value - both.value;
    let hideable = upload.value.min(download.value) - latency;
    verdict(hidden_seconds - latency, hideable, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::engines;
    use crate::transfer::data::TransferPoint;
    use gpubench_core::gpu::MemoryKind;
    use gpubench_core::record::Detail;

    #[test]
    fn both_directions_are_seen_by_what_they_hide() {
        let detected = |ratio: f64| {
            let point = |bytes: u64, direction, seconds: f64| TransferPoint {
                direction,
                bytes,
                samples: vec![seconds; 9],
                spans: None,
            };
            let points = [1u64, 4, 16, 64].iter().flat_map(|&bytes| {
                let alone = 1.0 + bytes as f64;
                let both = 1.0 + ratio * bytes as f64;
                [
                    point(bytes, Direction::Upload, alone),
                    point(bytes, Direction::Download, alone),
                    point(bytes, Direction::Both, both),
                ]
            });
            let (host_memory, points) = (MemoryKind::Pinned, points.collect());
            let raw = Transfer { host_memory, queues: 2, points };
            engines(&[&Detail::new(&raw)]).both_ways
        };
        assert_eq!([1.0, 1.5, 2.0].map(detected), [Some(true), Some(true), Some(false)]);
    }
}
