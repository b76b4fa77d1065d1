//! How soon devices were balanced, and whether splitting was worth it.

use super::data::{Block, Split};
use gpubench_model::slowdown_budget::max_speedup;
use gpubench_stats::{Summary, median_of};

/// Devices that end within this share of each other are balanced.
pub const BALANCED: f64 = 0.05;

/// A split workload.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitSummary {
    /// Seconds of the whole problem on each device alone, in order, the middle sample.
    pub isolated: Vec<f64>,
    /// The same in the chunks in which the device does its part.
    pub overlapped: Vec<f64>,
    /// Speed of all devices over that of the fastest alone, if none disturbed another.
    pub max_speedup: f64,
    /// Of the calibration's blocks the first that was balanced, counted from 1.
    pub balanced_after: Option<usize>,
    /// The middle imbalance of all blocks from that one on.
    pub imbalance: Option<f64>,
    /// Speed of the calibration's middle block over that of the fastest device alone.
    pub combined_speedup: Option<f64>,
    /// Speed of a job, however it was decided, over that of the fastest device alone just before,
    /// with the interval of its median; `None` where it was not split.
    pub speedup: Option<Summary>,
    /// Speed of the middle job that all devices shared over that of the fastest device alone that does everything in
    /// order: what splitting and overlapping gain.
    pub over_in_order: Option<f64>,
    /// Jobs whose rest fell back to the fastest device.
    pub fallbacks: usize,
    /// Fewest and most blocks of a job.
    pub tried: [usize; 2],
}

/// Summarises a split workload; `None` where a device was not measured alone, or the record does not
/// fit together.
pub fn split(raw: &Split) -> Option<SplitSummary> {
    let middle = |samples: &[Vec<f64>]| -> Option<Vec<f64>> {
        samples.iter().map(|samples| median_of(samples.iter().copied())).collect()
    };
    let (isolated, overlapped) = (middle(&raw.isolated)?, middle(raw.in_chunks())?);
    let fastest = *overlapped.get(raw.fastest)?;
    let max_speedup =
        max_speedup(&overlapped.iter().map(|seconds| 1.0 / seconds).collect::<Vec<_>>());
    let balanced = |block: &Block| block.imbalance().is_some_and(|share| share <= BALANCED);
    let first = raw.blocks.iter().position(balanced);
    let imbalance =
        first.and_then(|first| median_of(raw.blocks[first..].iter().filter_map(Block::imbalance)));
    let combined_speedup =
        Split::combined_speed(&raw.blocks).map(|speed| speed * fastest / raw.rows as f64);
    let pairs = raw.jobs.iter().zip(&raw.fastest_device_seconds);
    let speedups: Vec<f64> = pairs.map(|(job, fastest)| fastest / job.seconds).collect();
    let in_order = isolated.iter().copied().fold(f64::INFINITY, f64::min);
    let shared = raw.jobs.iter().filter(|job| !job.fell_back);
    let job = median_of(shared.map(|job| job.seconds));
    let tried = || raw.jobs.iter().map(|job| job.blocks.len());
    Some(SplitSummary {
        max_speedup,
        balanced_after: first.map(|first| first + 1),
        imbalance,
        combined_speedup,
        speedup: Summary::of(&speedups),
        over_in_order: job.map(|seconds| in_order * raw.times as f64 / seconds),
        fallbacks: raw.jobs.iter().filter(|job| job.fell_back).count(),
        tried: [tried().min().unwrap_or(0), tried().max().unwrap_or(0)],
        isolated,
        overlapped,
    })
}

#[cfg(test)]
mod tests {
    use super::super::data::Job;
    use super::*;
    use gpubench_core::gpu::{Clock, MemoryKind};

    fn raw(blocks: Vec<Block>) -> Split {
        let job = |seconds: f64| Job { blocks: blocks.clone(), fell_back: seconds > 5.0, seconds };
        Split {
            clock: Clock::Host,
            devices: vec!["a:0".into(), "b:0".into()],
            host_memory: vec![MemoryKind::Pinned; 2],
            rows: 100,
            isolated: vec![vec![3.0, 1.0, 2.0], vec![4.0]],
            chunks: vec![],
            overlapped: vec![],
            fastest: 0,
            times: 3,
            jobs: vec![job(4.0), job(6.0), job(5.0)],
            fastest_device_seconds: vec![6.0, 6.0, 6.0],
            blocks,
        }
    }

    #[test]
    fn a_split_is_held_to_the_fastest_device() {
        let block = |a: f64, b: f64| Block { rows: vec![60, 40], repeats: 1, seconds: vec![a, b] };
        let blocks = vec![block(1.0, 2.0), block(1.0, 0.98), block(1.0, 1.0)];
        let summary = split(&raw(blocks)).unwrap();
        assert_eq!((summary.max_speedup, summary.balanced_after), (1.5, Some(2)));
        assert_eq!(summary.combined_speedup, Some(2.0), "a pass a second, alone two seconds");
        let speedup = summary.speedup.unwrap();
        assert_eq!((speedup.median, speedup.interval), (1.2, [1.0, 1.5]));
        assert_eq!((summary.fallbacks, summary.tried), (1, [3, 3]));
        assert!(summary.imbalance.unwrap() < 0.02);
        let never = split(&raw(vec![block(1.0, 2.0)])).unwrap();
        assert_eq!((never.balanced_after, never.combined_speedup), (None, Some(1.0)));
        let one = Block { rows: vec![100, 0], repeats: 1, seconds: vec![2.0, 0.0] };
        assert_eq!(one.imbalance(), None, "one device is balanced with nobody");
        assert_eq!(split(&raw(vec![one])).unwrap().balanced_after, None);
    }

    #[test]
    fn devices_that_overlap_are_held_to_the_fastest_that_does_and_to_one_that_does_not() {
        let block = Block { rows: vec![60, 40], repeats: 1, seconds: vec![1.0, 1.0] };
        let overlapped = vec![vec![1.25], vec![2.0]];
        let raw = Split { chunks: vec![4, 16], overlapped, ..raw(vec![block]) };
        let summary = split(&raw).unwrap();
        assert_eq!((summary.isolated, summary.overlapped), (vec![2.0, 4.0], vec![1.25, 2.0]));
        assert!((summary.max_speedup - 1.625).abs() < 1e-12);
        assert_eq!(summary.combined_speedup, Some(1.25));
        // Three problems in 4 and 5 s, where the faster one takes 6 s in order; in the third job it was left all of them.
        assert_eq!(summary.over_in_order, Some(6.0 / 4.5));
    }

    #[test]
    fn what_was_not_tried_has_no_gain_and_what_does_not_fit_no_summary() {
        let untried = Split { jobs: vec![], fastest_device_seconds: vec![], ..raw(vec![]) };
        let summary = split(&untried).unwrap();
        assert_eq!((summary.speedup, summary.fallbacks, summary.tried), (None, 0, [0, 0]));
        assert_eq!(split(&Split { fastest: 2, ..raw(vec![]) }), None);
        let absurd = Block { rows: vec![u64::MAX; 2], repeats: 9, seconds: vec![1.0; 2] };
        assert!(split(&raw(vec![absurd])).unwrap().combined_speedup.unwrap() > 1e18);
        assert_eq!(split(&Split { isolated: vec![vec![1.0], vec![]], ..raw(vec![]) }), None);
    }
}
