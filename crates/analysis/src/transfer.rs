//! Latency and bandwidth of copies, fitted over sizes, alone and both ways at once (model 8).

use gpubench_core::error::Result;
use gpubench_core::record::{Direction, Transfer};
use gpubench_model::transfer::{Duplex, FittedLine, fit_line};
use gpubench_stats::median_of;

/// What a sweep of transfers comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct TransferSummary {
    /// Host to device, alone.
    pub send: FittedLine,
    /// Device to host, alone.
    pub receive: FittedLine,
    /// Bytes per second of both directions together at the largest size (each copies as much).
    pub both: f64,
    /// How the two directions ran beside each other at the largest size; `None` on one lane, or
    /// where no clock tells them apart.
    pub meanwhile: Option<Meanwhile>,
    /// Sum of the times alone over the time together at the largest size: 1 where the directions
    /// take turns, 2 where neither slows the other.
    pub gain: f64,
}

/// Two copies, one each way, that were queued together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meanwhile {
    /// One ran after the other.
    Turns,
    /// Bytes per second of the send and of the receive while both ran (`[S_SR, R_SR]`).
    Rates([f64; 2]),
}

/// Fits a sweep.
///
/// # Errors
/// `Unsupported` with too few sizes to fit.
pub fn transfer(raw: &Transfer) -> Result<TransferSummary> {
    let line = |direction: Direction| {
        let samples: Vec<(f64, f64)> = points(raw, direction).collect();
        fit_line(&samples)
    };
    let largest = |direction| points(raw, direction).max_by(|a, b| a.0.total_cmp(&b.0));
    let last = |direction| largest(direction).unwrap_or((0.0, f64::NAN));
    let (bytes, together) = last(Direction::Both);
    let (send, receive) = (line(Direction::Send)?, line(Direction::Receive)?);
    let alone = [send.bandwidth.value, receive.bandwidth.value];
    let both = raw.points.iter().filter(|p| p.direction == Direction::Both);
    let spans = both.max_by_key(|p| p.bytes).and_then(|p| p.spans).filter(|_| raw.lanes > 1);
    let beside = |spans| match Duplex::rates(bytes, spans, alone) {
        Some(rates) => Meanwhile::Rates(rates),
        None => Meanwhile::Turns,
    };
    Ok(TransferSummary {
        send,
        receive,
        meanwhile: spans.map(beside),
        both: 2.0 * bytes / together,
        gain: (last(Direction::Send).1 + last(Direction::Receive).1) / together,
    })
}

/// Bytes and median seconds of every size in one direction.
fn points(raw: &Transfer, direction: Direction) -> impl Iterator<Item = (f64, f64)> {
    raw.points.iter().filter(move |p| p.direction == direction).map(|point| {
        let seconds = median_of(point.samples.iter().copied()).unwrap_or(f64::NAN);
        (point.bytes as f64, seconds)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::MemoryKind;
    use gpubench_core::record::TransferPoint;

    /// A link of 12 and 10 GB/s, whose pairs run when `spans` says for so many bytes.
    fn sweep(spans: fn(f64) -> [[f64; 2]; 2]) -> Transfer {
        let sizes = [4096u64, 65536, 1 << 20, 1 << 24, 1 << 26];
        let point = |direction, bytes: u64, latency: f64, rate: f64| TransferPoint {
            direction,
            bytes,
            samples: vec![latency + bytes as f64 / rate; 5],
            spans: (direction == Direction::Both).then(|| spans(bytes as f64)),
        };
        let points = sizes.iter().flat_map(|&bytes| {
            [
                point(Direction::Send, bytes, 10e-6, 12e9),
                point(Direction::Receive, bytes, 15e-6, 10e9),
                point(Direction::Both, bytes, 15e-6, 8e9),
            ]
        });
        Transfer { host_memory: MemoryKind::Pinned, lanes: 2, points: points.collect() }
    }

    #[test]
    fn an_invented_link_is_recovered() {
        // The receive is a quarter behind when the send ends.
        let together = |bytes| [[0.0, bytes / 8e9], [0.0, bytes * (1.0 / 8e9 + 0.25 / 10e9)]];
        let summary = transfer(&sweep(together)).unwrap();
        assert!((summary.send.bandwidth.value / 12e9 - 1.0).abs() < 0.01);
        assert!((summary.receive.latency.value / 15e-6 - 1.0).abs() < 0.01);
        assert!((summary.both / 16e9 - 1.0).abs() < 0.01);
        let Some(Meanwhile::Rates([send, receive])) = summary.meanwhile else { panic!() };
        assert!((send / 8e9 - 1.0).abs() < 1e-9 && (receive / 6e9 - 1.0).abs() < 0.01);
        assert!((summary.gain - 8.0 * (1.0 / 12.0 + 1.0 / 10.0)).abs() < 0.01);
    }

    #[test]
    fn turns_are_told_and_one_lane_tells_nothing() {
        let mut raw = sweep(|bytes| [[bytes / 10e9, bytes / 5e9], [0.0, bytes / 10e9]]);
        assert_eq!(transfer(&raw).unwrap().meanwhile, Some(Meanwhile::Turns));
        raw.lanes = 1;
        assert_eq!(transfer(&raw).unwrap().meanwhile, None);
    }
}
