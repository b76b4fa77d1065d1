//! How long each case may take, so that all of them fit the time budget.

use gpubench_core::units;
use std::time::{Duration, Instant};

/// The shortest time worth sampling for, in seconds.
const SHORTEST: f64 = 0.1;
/// The longest warm-up, in seconds.
const LONGEST_WARMUP: f64 = 5.0;

/// Shares the remaining time over the remaining cases.
#[derive(Clone, Debug)]
pub struct TimeBudget {
    begun: Instant,
    /// Seconds for the whole run.
    total: Option<f64>,
    /// Most seconds of sampling for one case.
    max_seconds: f64,
    /// Least seconds for the smallest size of a workload.
    smallest: f64,
    /// When the device at hand has used its part, in seconds since the run began.
    until: f64,
    /// Seconds spent outside sampling (building, preparing, verifying, warming up) so far, and
    /// the cases that needed them.
    overhead: (f64, u32),
}

/// The time for one case, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Of sampling.
    pub seconds: f64,
    /// Of warm-up, at most.
    pub warmup: f64,
}

impl TimeBudget {
    /// `total` seconds for the run, where it is limited; at most `max_seconds` of sampling a case. The
    /// smallest case of a workload, of which there are `smallest` over all rounds and devices, gets
    /// at least its share of half of the total.
    pub fn new(total: Option<f64>, max_seconds: f64, smallest: u64) -> Self {
        let min_share = total.map_or(0.0, |total| 0.5 * total / smallest.max(1) as f64);
        let begun = Instant::now();
        let smallest = min_share.min(max_seconds);
        Self { begun, total, max_seconds, smallest, until: f64::INFINITY, overhead: (0.0, 0) }
    }

    /// The same from now on.
    pub fn anew(&self) -> Self {
        Self { begun: Instant::now(), ..self.clone() }
    }

    /// Begins a device's round: its `cases` of all `left` ones may use their part of the time and
    /// a quarter more, so that a slow device does not starve those behind it.
    pub fn begin(&mut self, cases: u64, left: u64) {
        let Some(total) = self.total else { return };
        let elapsed = self.begun.elapsed().as_secs_f64();
        let part = cases as f64 / left.max(1) as f64;
        self.until = if cases >= left { total } else { elapsed + 1.25 * part * (total - elapsed) };
    }

    /// Why the next case gets no time: the run's is used up, or the device's part of it.
    pub fn used_up(&self) -> String {
        let total = units::seconds(self.total.unwrap_or_default());
        match self.begun.elapsed().as_secs_f64() < self.total.unwrap_or(f64::INFINITY) {
            true => format!("this device's part of the time budget of {total} is used up"),
            false => format!("the time budget of {total} is used up"),
        }
    }

    /// The time for the next of `left` cases, of which it is its workload's smallest or not;
    /// `None` when the budget is used up.
    pub fn share(&self, left: u64, smallest: bool) -> Option<Share> {
        self.share_at(self.begun.elapsed().as_secs_f64(), left, smallest)
    }

    fn share_at(&self, elapsed: f64, left: u64, smallest: bool) -> Option<Share> {
        let min_seconds = if smallest { SHORTEST.max(self.smallest) } else { SHORTEST };
        let seconds = match self.total {
            None => self.max_seconds,
            Some(total) if elapsed >= total.min(self.until) => return None,
            Some(total) => {
                let each = (total - elapsed) / left.max(1) as f64;
                let overhead = self.overhead.0 / f64::from(self.overhead.1.max(1));
                (each - overhead).clamp(min_seconds.min(self.max_seconds), self.max_seconds)
            }
        };
        Some(Share { seconds, warmup: seconds.min(LONGEST_WARMUP) })
    }

    /// Learns from a case that took `wall`, of which `sampling` seconds were sampling.
    pub fn learn(&mut self, wall: Duration, sampling: f64) {
        self.overhead.0 += (wall.as_secs_f64() - sampling).max(0.0);
        self.overhead.1 += 1;
    }

    /// Seconds that are left of the run's, where these are limited.
    pub fn left(&self) -> Option<f64> {
        Some((self.total? - self.begun.elapsed().as_secs_f64()).max(0.0))
    }

    /// Seconds for the whole run, where it is limited.
    pub fn total(&self) -> Option<f64> {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_budget_every_case_has_max_seconds() {
        let time_budget = TimeBudget::new(None, 7.0, 10);
        assert_eq!(
            time_budget.share_at(1e6, 1000, false),
            Some(Share { seconds: 7.0, warmup: 5.0 })
        );
    }

    #[test]
    fn what_is_left_is_shared() {
        let mut time_budget = TimeBudget::new(Some(100.0), 5.0, 25);
        assert_eq!(time_budget.share_at(0.0, 10, false).map(|s| s.seconds), Some(5.0));
        assert_eq!(time_budget.share_at(0.0, 50, false).map(|s| s.seconds), Some(2.0));
        assert_eq!(time_budget.share_at(50.0, 50, false).map(|s| s.seconds), Some(1.0));
        assert_eq!(time_budget.share_at(99.0, 1000, false).map(|s| s.seconds), Some(SHORTEST));
        assert_eq!(time_budget.share_at(100.0, 1, false), None);
        assert_eq!(time_budget.share_at(99.0, 1000, true).map(|s| s.seconds), Some(2.0));
        time_budget.learn(Duration::from_secs_f64(1.5), 1.0);
        assert_eq!(time_budget.share_at(50.0, 50, false).map(|s| s.seconds), Some(0.5));
    }
}
