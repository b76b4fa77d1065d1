//! Racing: a variant that is known to be slower than the best is not measured any further.

use crate::outcome::Interval;

/// The best so far, which the others race against.
#[derive(Clone, Copy, Debug, Default)]
pub struct Race {
    best: Option<Interval>,
}

impl Race {
    /// Whether more samples of a variant known to `interval` are wasted: even its lower end is above the
    /// upper end of the best.
    pub fn has_lost(&self, interval: &Interval) -> bool {
        self.best.is_some_and(|best| interval.low > best.high)
    }

    /// Takes in a variant that was measured to its end.
    pub fn finish(&mut self, interval: Interval) {
        if self.best.is_none_or(|best| interval.time < best.time) {
            self.best = Some(interval);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_wholly_above_the_best_has_lost() {
        let mut race = Race::default();
        let slow = Interval { low: 2.0, time: 2.5, high: 3.0 };
        assert!(!race.has_lost(&slow), "the first has nobody to lose against");
        race.finish(slow);
        race.finish(Interval { low: 0.9, time: 1.0, high: 1.1 });
        race.finish(Interval { low: 1.0, time: 1.2, high: 1.3 });
        assert!(race.has_lost(&slow));
        assert!(!race.has_lost(&Interval { low: 1.1, time: 1.4, high: 1.5 }));
        assert!(race.has_lost(&Interval { low: 1.11, time: 1.4, high: 1.5 }));
    }
}
