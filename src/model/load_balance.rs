//! Model 10, load balance: how much of the next block of work does each of several unequal devices
//! get?
//!
//! Source: C13 §4.4. The first block is dealt in the ratio of predicted speeds, every later one in
//! the ratio that the last one showed. Blocks take 10 to 50 ms: long enough to measure, short
//! enough to correct.

use std::ops::RangeInclusive;

/// Seconds that a block may take.
pub const BLOCK_SECONDS: RangeInclusive<f64> = 0.010..=0.050;

/// Deals work to devices block by block.
#[derive(Clone, Debug, PartialEq)]
pub struct Balancer {
    /// Work per second of each device.
    speeds: Vec<f64>,
    /// Seconds that a block should take.
    block: f64,
}

impl Balancer {
    /// Devices of predicted `speeds` (work per second, above zero), and blocks of `block` seconds,
    /// which is brought into [`BLOCK_SECONDS`].
    pub fn new(speeds: Vec<f64>, block: f64) -> Self {
        Self { speeds, block: block.clamp(*BLOCK_SECONDS.start(), *BLOCK_SECONDS.end()) }
    }

    /// Each device's part of the next block, with so much work left.
    pub fn next(&self, left: f64) -> Vec<f64> {
        let speed = self.together();
        let block = left.min(speed * self.block).max(0.0);
        self.speeds.iter().map(|s| block * s / speed).collect()
    }

    /// Work per second of all devices together, where all end at once.
    pub fn together(&self) -> f64 {
        self.speeds.iter().sum()
    }

    /// Learns from the last block: each device's work and seconds. A device that had no work or no
    /// measurable time keeps its speed.
    pub fn learn(&mut self, done: &[(f64, f64)]) {
        for (speed, &(work, seconds)) in self.speeds.iter_mut().zip(done) {
            if work > 0.0 && seconds > 0.0 {
                *speed = work / seconds;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_prediction_is_corrected_after_one_block() {
        let truth = [300.0, 100.0];
        let mut balancer = Balancer::new(vec![100.0, 100.0], 0.02);
        let run = |parts: &[f64]| -> Vec<(f64, f64)> {
            parts.iter().zip(truth).map(|(&work, speed)| (work, work / speed)).collect()
        };
        let first = run(&balancer.next(1e9));
        assert_eq!(first, [(2.0, 2.0 / 300.0), (2.0, 0.02)], "equal parts as predicted");
        balancer.learn(&first);
        assert!((balancer.together() - 400.0).abs() < 1e-9);
        let second = run(&balancer.next(1e9));
        assert!((second[0].1 - second[1].1).abs() < 1e-12, "both end together: {second:?}");
        assert!((second[0].0 + second[1].0 - 8.0).abs() < 1e-9, "a block of 20 ms");
    }

    #[test]
    fn the_last_block_is_what_is_left_and_lengths_stay_in_range() {
        let balancer = Balancer::new(vec![3.0, 1.0], 7.0);
        assert_eq!(balancer.next(0.04), [0.03, 0.01]);
        assert_eq!(balancer.next(100.0), [3.0 * 0.05, 0.05], "50 ms at most");
        assert_eq!(balancer.next(0.0), [0.0, 0.0]);
    }

    #[test]
    fn a_device_without_work_keeps_its_speed() {
        let mut balancer = Balancer::new(vec![3.0, 1.0], 0.02);
        balancer.learn(&[(0.0, 0.0), (1.0, 0.0)]);
        assert_eq!(balancer, Balancer::new(vec![3.0, 1.0], 0.02));
    }
}
