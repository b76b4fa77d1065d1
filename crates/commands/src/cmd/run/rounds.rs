//! How many rounds a run has: those that were planned, and more while a device has time left. The session
//! makes them and the estimate counts on them by the same rule.

use gpubench_core::gpu::DeviceKind;
use std::ops::Range;

/// Most rounds that follow those that were planned.
const MAX_MORE_ROUNDS: u32 = 20;
/// The least share of a device's time that is worth another round.
const WORTH_A_ROUND: f64 = 0.03;

/// The rounds of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// Those that every device has.
    pub planned: u32,
    /// Whether others may follow.
    pub may_follow: bool,
}

impl Rounds {
    /// All that a device may have.
    pub fn all(self) -> Range<u32> {
        0..self.planned + if self.may_follow { MAX_MORE_ROUNDS } else { 0 }
    }

    /// Those that a device may have beyond the planned ones.
    pub fn following(self) -> Range<u32> {
        self.planned..self.all().end
    }

    /// Whether a device of this kind has a round that it may have; `time` is what it has left of its seconds, and
    /// all of them, where they are limited. A simulated device would only give the same again.
    pub fn is_worth(self, round: u32, kind: DeviceKind, time: Option<(f64, f64)>) -> bool {
        let is_enough = |(left, total): (f64, f64)| left > WORTH_A_ROUND * total;
        let follows = self.may_follow && kind != DeviceKind::Simulated;
        round < self.planned || follows && time.is_some_and(is_enough)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_follow_while_a_real_device_has_time() {
        let rounds = Rounds { planned: 3, may_follow: true };
        let gpu = DeviceKind::Discrete;
        assert_eq!((rounds.all(), rounds.following()), (0..23, 3..23));
        assert!(rounds.is_worth(2, gpu, Some((0.0, 100.0))), "it was planned");
        assert!(rounds.is_worth(3, gpu, Some((3.1, 100.0))));
        assert!(!rounds.is_worth(3, gpu, Some((2.9, 100.0))));
        assert!(!rounds.is_worth(3, gpu, None), "nothing would end it");
        assert!(!rounds.is_worth(3, DeviceKind::Simulated, Some((100.0, 100.0))));
        let exact = Rounds { may_follow: false, ..rounds };
        assert!(exact.all() == (0..3) && exact.following().is_empty());
        assert!(!exact.is_worth(3, gpu, Some((100.0, 100.0))));
    }
}
