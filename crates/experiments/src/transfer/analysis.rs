//! Latency and bandwidth of copies, fitted over sizes, alone and both ways at once (model 8).

use crate::transfer::data::{Direction, Transfer};
use gpubench_core::error::Result;
use gpubench_model::transfer::{Duplex, FittedLine, fit_line};
use gpubench_stats::median_of;

/// The result of a sweep of transfers.
#[derive(Clone, Debug, PartialEq)]
pub struct TransferSummary {
    /// Host to device, alone.
    pub upload: FittedLine,
    /// Device to host, alone.
    pub download: FittedLine,
    /// Bytes per second of both directions together at the largest size (each copies as much).
    pub both: f64,
    /// How the two directions ran at the same time at the largest size; `None` on one queue, or
    /// where no clock distinguishes them.
    pub meanwhile: Option<Meanwhile>,
    /// Speedup over serial: the sum of both isolated times over the bidirectional time at the largest size: 1 where the directions
    /// take turns, 2 where neither slows the other.
    pub speedup: f64,
}

/// Two copies, one each way, that were queued together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meanwhile {
    /// One ran after the other.
    Turns,
    /// Bytes per second of the upload and of the download while both ran (`[S_SR, R_SR]`).
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
    let (bytes, bidirectional) = last(Direction::Both);
    let (upload, download) = (line(Direction::Upload)?, line(Direction::Download)?);
    let alone = [upload.bandwidth.value, download.bandwidth.value];
    let both = raw.points.iter().filter(|p| p.direction == Direction::Both);
    let spans = both.max_by_key(|p| p.bytes).and_then(|p| p.spans).filter(|_| raw.queues > 1);
    let rates_meanwhile = |spans| match Duplex::rates(bytes, spans, alone) {
        Some(rates) => Meanwhile::Rates(rates),
        None => Meanwhile::Turns,
    };
    Ok(TransferSummary {
        upload,
        download,
        meanwhile: spans.map(rates_meanwhile),
        both: 2.0 * bytes / bidirectional,
        speedup: (last(Direction::Upload).1 + last(Direction::Download).1) / bidirectional,
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
    use crate::transfer::data::TransferPoint;
    use gpubench_core::gpu::MemoryKind;

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
                point(Direction::Upload, bytes, 10e-6, 12e9),
                point(Direction::Download, bytes, 15e-6, 10e9),
                point(Direction::Both, bytes, 15e-6, 8e9),
            ]
        });
        Transfer { host_memory: MemoryKind::Pinned, queues: 2, points: points.collect() }
    }

    #[test]
    fn an_invented_link_is_recovered() {
        // The download is a quarter behind when the upload ends.
        let duplex_spans = |bytes| [[0.0, bytes / 8e9], [0.0, bytes * (1.0 / 8e9 + 0.25 / 10e9)]];
        let summary = transfer(&sweep(duplex_spans)).unwrap();
        assert!((summary.upload.bandwidth.value / 12e9 - 1.0).abs() < 0.01);
        assert!((summary.download.latency.value / 15e-6 - 1.0).abs() < 0.01);
        assert!((summary.both / 16e9 - 1.0).abs() < 0.01);
        let Some(Meanwhile::Rates([upload, download])) = summary.meanwhile else { panic!() };
        assert!((upload / 8e9 - 1.0).abs() < 1e-9 && (download / 6e9 - 1.0).abs() < 0.01);
        assert!((summary.speedup - 8.0 * (1.0 / 12.0 + 1.0 / 10.0)).abs() < 0.01);
    }

    #[test]
    fn turns_are_detected_and_one_queue_shows_nothing() {
        let mut raw = sweep(|bytes| [[bytes / 10e9, bytes / 5e9], [0.0, bytes / 10e9]]);
        assert_eq!(transfer(&raw).unwrap().meanwhile, Some(Meanwhile::Turns));
        raw.queues = 1;
        assert_eq!(transfer(&raw).unwrap().meanwhile, None);
    }
}
