//! When to begin and when to stop sampling: small objects that are fed numbers.

use super::{Summary, median};

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Take another sample.
    Continue,
    /// Done, as well as was asked.
    Reached,
    /// Done for another reason (time or number), not as well as was asked.
    GaveUp,
}

/// Warm-up: until the medians of two consecutive blocks of samples agree within 1 %. A block is long
/// beside what a clock needs to rise after a pause: short launches agree long before that.
#[derive(Clone, Debug)]
pub struct WarmUp {
    limit: f64,
    spent: f64,
    block: Vec<f64>,
    /// Seconds spent when the block began.
    begun: f64,
    last: Option<f64>,
}

impl WarmUp {
    /// Fewest samples in a block.
    pub const BLOCK: usize = 5;
    /// Least seconds of a block, but not more than a tenth of the limit.
    pub const SECONDS: f64 = 0.02;
    /// How closely two blocks must agree.
    pub const AGREEMENT: f64 = 0.01;

    /// Giving up after `limit` seconds.
    pub fn new(limit: f64) -> Self {
        Self { limit, spent: 0.0, block: Vec::new(), begun: 0.0, last: None }
    }

    /// Takes a sample and the wall time it cost.
    pub fn feed(&mut self, sample: f64, wall: f64) -> Decision {
        self.spent += wall;
        self.block.push(sample);
        let min_seconds = Self::SECONDS.min(self.limit / 10.0);
        if self.block.len() >= Self::BLOCK && self.spent - self.begun >= min_seconds {
            self.block.sort_by(f64::total_cmp);
            let now = median(&self.block);
            let before = self.last.replace(now);
            self.block.clear();
            self.begun = self.spent;
            if before.is_some_and(|before| (now / before - 1.0).abs() <= Self::AGREEMENT) {
                return Decision::Reached;
            }
        }
        if self.spent >= self.limit { Decision::GaveUp } else { Decision::Continue }
    }
}

/// Whether the median's interval is as narrow as `target`, its relative half-width.
pub fn converged(samples: &[f64], target: f64) -> bool {
    Summary::of(samples).is_some_and(|summary| summary.relative_half_width() <= target)
}

/// Whether a case has spent so much more than the `limit` of its sampling, in seconds, that it ends
/// however few samples it has: those that do not count must not keep it going for ever.
pub fn is_overdue(spent: f64, limit: f64) -> bool {
    spent > 3.0 * limit
}

/// Sampling: until the median's interval is narrow enough, the samples are many, or time is up.
#[derive(Clone, Debug)]
pub struct Sampling {
    target: f64,
    min_samples: usize,
    max_samples: usize,
    limit: f64,
    spent: f64,
    samples: Vec<f64>,
}

impl Sampling {
    /// Aims at a relative half-width `target` of the median's interval, with `min_samples` to `max_samples`
    /// samples and `limit` seconds.
    pub fn new(target: f64, min_samples: usize, max_samples: usize, limit: f64) -> Self {
        Self { target, min_samples, max_samples, limit, spent: 0.0, samples: Vec::new() }
    }

    /// Takes a sample and the wall time it cost.
    pub fn feed(&mut self, sample: f64, wall: f64) -> Decision {
        self.spent += wall;
        self.samples.push(sample);
        if self.samples.len() < self.min_samples {
            return Decision::Continue;
        }
        if converged(&self.samples, self.target) {
            Decision::Reached
        } else if self.samples.len() >= self.max_samples || self.spent >= self.limit {
            Decision::GaveUp
        } else {
            Decision::Continue
        }
    }

    /// The samples so far, in order.
    pub fn samples(&self) -> &[f64] {
        &self.samples
    }

    /// The samples taken, in order.
    pub fn into_samples(self) -> Vec<f64> {
        self.samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds samples until the object is done; how many it took and what it said.
    fn run(mut feed: impl FnMut(f64) -> Decision, samples: &[f64]) -> (usize, Decision) {
        for (i, &sample) in samples.iter().enumerate() {
            match feed(sample) {
                Decision::Continue => {}
                done => return (i + 1, done),
            }
        }
        (samples.len(), Decision::Continue)
    }

    #[test]
    fn samples_come_back_in_their_order() {
        let mut sampling = Sampling::new(0.01, 5, 10, 1.0);
        for sample in [3.0, 1.0, 2.0] {
            assert_eq!(sampling.feed(sample, 0.1), Decision::Continue);
        }
        assert_eq!(sampling.samples(), [3.0, 1.0, 2.0]);
        assert_eq!(sampling.into_samples(), [3.0, 1.0, 2.0]);
    }

    #[test]
    fn warm_up_ends_when_two_blocks_agree() {
        let mut warm = WarmUp::new(1e9);
        let falling: Vec<f64> = (0..10).map(|i| 10.0 - f64::from(i)).chain([1.0; 20]).collect();
        // Blocks: 8, 3, 1, 1: the third and fourth agree.
        assert_eq!(run(|s| warm.feed(s, 0.1), &falling), (20, Decision::Reached));
    }

    #[test]
    fn a_block_of_short_samples_lasts_twenty_milliseconds() {
        let mut warm = WarmUp::new(1e9);
        assert_eq!(run(|s| warm.feed(s, 1.001e-3), &[1e-3; 99]), (40, Decision::Reached));
        // But a tenth of what there is at most: 10 ms of 0.1 s.
        let mut hurried = WarmUp::new(0.1);
        assert_eq!(run(|s| hurried.feed(s, 1.001e-3), &[1e-3; 99]), (20, Decision::Reached));
    }

    #[test]
    fn warm_up_gives_up_at_its_limit() {
        let mut warm = WarmUp::new(1.0);
        let restless: Vec<f64> = (0..100).map(|i| f64::from(i / 5 % 2) + 1.0).collect();
        assert_eq!(run(|s| warm.feed(s, 0.05), &restless).1, Decision::GaveUp);
    }

    #[test]
    fn a_case_is_overdue_after_three_times_its_seconds() {
        assert!(!is_overdue(6.0, 2.0));
        assert!(is_overdue(6.1, 2.0));
    }

    #[test]
    fn equal_samples_stop_at_min_samples() {
        let mut sampling = Sampling::new(0.005, 15, 200, 1e9);
        assert_eq!(run(|s| sampling.feed(s, 0.0), &[2.0; 50]), (15, Decision::Reached));
    }

    #[test]
    fn noisy_samples_stop_at_max_samples() {
        let mut sampling = Sampling::new(0.005, 15, 40, 1e9);
        let noisy: Vec<f64> = (0..50).map(|i| 1.0 + f64::from(i * 7 % 11)).collect();
        assert_eq!(run(|s| sampling.feed(s, 0.0), &noisy), (40, Decision::GaveUp));
    }

    #[test]
    fn time_stops_sampling_but_not_before_min_samples() {
        let mut sampling = Sampling::new(0.0, 15, 200, 1.0);
        let noisy: Vec<f64> = (0..50).map(|i| 1.0 + f64::from(i * 7 % 11)).collect();
        assert_eq!(run(|s| sampling.feed(s, 0.5), &noisy), (15, Decision::GaveUp));
    }
}
