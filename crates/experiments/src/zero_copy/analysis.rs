//! What zero-copy memory costs a kernel, and what it saves of the copies.

use super::data::InPlace;
use gpubench_stats::Summary;

/// What came of a kind of zero-copy memory; intervals of 95 %. `None` where nothing was timed.
#[derive(Clone, Debug, PartialEq)]
pub struct InPlaceSummary {
    /// Seconds of mapping what the host writes, and of giving it back.
    pub to_write: [Option<Summary>; 2],
    /// Seconds of mapping what the host reads, and of giving it back.
    pub to_read: [Option<Summary>; 2],
    /// Seconds of a launch there, and in the device's memory.
    pub kernel: [Option<Summary>; 2],
    /// The first of them over the second.
    pub kernel_ratio: Option<Summary>,
    /// Seconds of maps, launch and unmaps, and of copies, launch and copies.
    pub whole: [Option<Summary>; 2],
    /// The first of them over the second: below 1 zero-copy is faster.
    pub whole_ratio: Option<Summary>,
}

/// Puts the raw times of a kind of memory together.
pub fn in_place(raw: &InPlace) -> InPlaceSummary {
    let of = |samples: &Vec<f64>| Summary::of(samples);
    InPlaceSummary {
        to_write: [&raw.map_to_write, &raw.unmap_written].map(of),
        to_read: [&raw.map_to_read, &raw.unmap_read].map(of),
        kernel: [&raw.kernel, &raw.device_kernel].map(of),
        kernel_ratio: ratio(&raw.kernel, &raw.device_kernel),
        whole: [&raw.whole, &raw.copied].map(of),
        whole_ratio: ratio(&raw.whole, &raw.copied),
    }
}

/// The quotients of the turns: what slows the device down for a turn is in both.
fn ratio(first: &[f64], second: &[f64]) -> Option<Summary> {
    let turns: Vec<f64> = first.iter().zip(second).map(|(first, second)| first / second).collect();
    Summary::of(&turns).filter(|summary| summary.max.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zero_copy::data::sample;

    #[test]
    fn ratios_are_those_of_the_turns() {
        // A device that is half as fast every second turn.
        let scattered = |seconds: f64| (0..9).map(|i| seconds * f64::from(1 + i % 2)).collect();
        let raw = InPlace {
            kernel: scattered(3e-3),
            device_kernel: scattered(2e-3),
            whole: scattered(4e-3),
            copied: scattered(5e-3),
            ..sample()
        };
        let summary = in_place(&raw);
        let [kernel, whole] = [summary.kernel_ratio, summary.whole_ratio].map(Option::unwrap);
        assert!((kernel.median - 1.5).abs() < 1e-9 && (whole.median - 0.8).abs() < 1e-9);
        assert!((kernel.interval[1] - kernel.interval[0]).abs() < 1e-9, "the scatter is in both");
        assert_eq!(summary.kernel[0].unwrap().median, 3e-3);
        assert_eq!(summary.to_write.map(|map| map.unwrap().median), [2e-6, 1e-6]);
        assert_eq!(summary.to_read.map(|map| map.unwrap().median), [4e-6, 3e-6]);
    }

    #[test]
    fn what_was_not_timed_has_no_figure() {
        let summary = in_place(&InPlace { whole: vec![], copied: vec![0.0; 3], ..sample() });
        assert_eq!((summary.whole[0], summary.whole_ratio), (None, None));
        let summary = in_place(&InPlace { copied: vec![0.0; 3], ..sample() });
        assert_eq!(summary.whole_ratio, None, "nothing is divided by no time");
    }
}
