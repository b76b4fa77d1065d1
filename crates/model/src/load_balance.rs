//! Model 10, load balance: how much of the next block of work does each of several unequal devices
//! get?
//!
//! Source: C13 §4.4. The first block is partitioned in the ratio of predicted speeds, every later one in
//! the ratio that was seen. Two things are ours. The paper goes by the last block alone: we take the
//! geometric mean of it and of what was known before, since half of a block's scatter is not to be
//! learnt; only a device's first block says all that is known. And its blocks take 10 to 50 ms, long enough to
//! measure, short enough to correct: ours may take 200 ms, since the time slices in which an operating
//! system gives a processor to two drivers are a tenth of 50 ms.

use std::ops::RangeInclusive;

/// Seconds that a block may take.
pub const BLOCK_SECONDS: RangeInclusive<f64> = 0.010..=0.200;

/// Partitions work over devices block by block.
#[derive(Clone, Debug, PartialEq)]
pub struct Balancer {
    /// Work per second of each device.
    speeds: Vec<f64>,
    /// Seconds that a block should take.
    block: f64,
    /// Work that each device gets at least, in a block that nothing else limits.
    min_work: Vec<f64>,
    /// Of which devices nothing was seen yet.
    predicted: Vec<bool>,
}

impl Balancer {
    /// Devices of predicted `speeds` (work per second, above zero), and blocks of `block` seconds,
    /// which is brought into [`BLOCK_SECONDS`].
    pub fn new(speeds: Vec<f64>, block: f64) -> Self {
        let block = block.clamp(*BLOCK_SECONDS.start(), *BLOCK_SECONDS.end());
        let (min_work, predicted) = (vec![0.0; speeds.len()], vec![true; speeds.len()]);
        Self { speeds, block, min_work, predicted }
    }

    /// The same with blocks that are as long as it takes every device to do so much work, where as
    /// much is left.
    pub fn with_min_work(self, min_work: Vec<f64>) -> Self {
        Self { min_work, ..self }
    }

    /// Each device's part of the next block, with so much work left.
    pub fn next(&self, left: f64) -> Vec<f64> {
        let speed = self.combined_speed();
        let min_work = self.min_work.iter().zip(&self.speeds).map(|(work, speed)| work / speed);
        let block = left.min(speed * min_work.fold(self.block, f64::max)).max(0.0);
        self.speeds.iter().map(|s| block * s / speed).collect()
    }

    /// Work per second of all devices combined, where all end at once.
    pub fn combined_speed(&self) -> f64 {
        self.speeds.iter().sum()
    }

    /// Learns from the last block: each device's work and seconds. A device that had no work or no
    /// measurable time keeps its speed.
    pub fn learn(&mut self, done: &[(f64, f64)]) {
        let known = self.speeds.iter_mut().zip(&mut self.predicted);
        for ((speed, predicted), &(work, seconds)) in known.zip(done) {
            if work > 0.0 && seconds > 0.0 {
                let seen = work / seconds;
                *speed = if *predicted { seen } else { (*speed * seen).sqrt() };
                *predicted = false;
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
        assert!((balancer.combined_speed() - 400.0).abs() < 1e-9);
        let second = run(&balancer.next(1e9));
        assert!((second[0].1 - second[1].1).abs() < 1e-12, "both end together: {second:?}");
        assert!((second[0].0 + second[1].0 - 8.0).abs() < 1e-9, "a block of 20 ms");
    }

    #[test]
    fn the_last_block_is_what_is_left_and_lengths_stay_in_range() {
        let balancer = Balancer::new(vec![3.0, 1.0], 7.0);
        assert_eq!(balancer.next(0.04), [0.03, 0.01]);
        assert_eq!(balancer.next(100.0), [3.0 * 0.2, 0.2], "200 ms at most");
        let coarse = balancer.with_min_work(vec![0.3, 0.5]);
        assert_eq!(coarse.next(100.0), [3.0 * 0.5, 0.5], "as long as the second one needs");
        assert_eq!(coarse.next(0.04), [0.03, 0.01]);
        let first = coarse.clone().with_min_work(vec![6.0, 0.5]);
        assert_eq!(first.next(100.0), [6.0, 2.0], "as long as the first one needs");
        assert_eq!(coarse.next(0.0), [0.0, 0.0]);
    }

    #[test]
    fn after_the_first_block_half_of_what_is_seen_is_learnt() {
        let mut balancer = Balancer::new(vec![1.0, 1.0], 0.02);
        balancer.learn(&[(4.0, 1.0), (0.0, 0.0)]);
        assert_eq!(balancer.speeds, [4.0, 1.0], "a prediction is replaced");
        balancer.learn(&[(16.0, 1.0), (5.0, 1.0)]);
        assert_eq!(balancer.speeds, [8.0, 5.0], "4 and 16 are averaged, a prediction is not");
    }

    #[test]
    fn a_device_without_work_keeps_its_speed() {
        let mut balancer = Balancer::new(vec![3.0, 1.0], 0.02);
        balancer.learn(&[(0.0, 0.0), (1.0, 0.0)]);
        assert_eq!(balancer, Balancer::new(vec![3.0, 1.0], 0.02));
    }
}
