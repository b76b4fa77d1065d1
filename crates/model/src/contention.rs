//! Model 7, contention: how much can shared memory bandwidth slow the second of two kernels?
//!
//! Beyond Q17, which names bandwidth as its largest error and has no term for it. A first kernel that draws
//! the share `u_1` of the device's bandwidth isolated, and a second that draws `u_2`, together want
//! `u_1 + u_2/e` while the second is slowed by `e` because the first leaves it few slots. Where that is above 1
//! both are slowed by it: `max(e, e·u_1 + u_2)`. It is what [`super::event_driven`] gives while the
//! first kernel lasts. Since no kernel draws more than there is, contention adds at most 1.

/// The shares of the device's bandwidth that two kernels draw isolated, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Draw {
    /// The first kernel.
    pub first: f64,
    /// The second.
    pub second: f64,
}

impl Draw {
    /// The slowdown of the second kernel whose slots alone slow it by `by_slots` (at least 1).
    pub fn slowdown(self, by_slots: f64) -> f64 {
        by_slots.max(by_slots * self.first + self.second)
    }
}

/// The largest slowdown that contention can explain.
pub fn max_slowdown(by_slots: f64) -> f64 {
    Draw { first: 1.0, second: 1.0 }.slowdown(by_slots)
}

/// The one draw that fits `pairs` of (slowdown by slots, measured) best, by the mean of absolute relative
/// errors, in steps of 0.02; of several as good, the one that draws least.
pub fn fit(pairs: &[(f64, f64)]) -> Draw {
    const STEPS: u32 = 50;
    let share = |step: u32| f64::from(step) / f64::from(STEPS);
    let error = |draw: Draw| -> f64 {
        pairs.iter().map(|&(slots, measured)| (draw.slowdown(slots) / measured - 1.0).abs()).sum()
    };
    let all = (0..=STEPS).flat_map(|first| {
        (0..=STEPS).map(move |second| Draw { first: share(first), second: share(second) })
    });
    // The first of equals is kept, and it draws least.
    let best = all.map(|draw| (draw, error(draw))).min_by(|a, b| a.1.total_cmp(&b.1));
    best.map_or(Draw::default(), |(draw, _)| draw)
}

#[cfg(test)]
mod tests {
    use super::super::concurrency::{Device, Kernel};
    use super::super::event_driven::{self, Load};
    use super::super::occupancy::{Group, Unit};
    use super::*;

    #[test]
    fn it_is_what_groups_that_share_bandwidth_take() {
        let device = Device { units: 15, unit: Unit::K40 };
        let load = |groups, group_seconds, bandwidth| Load {
            kernel: Kernel { groups, group: Group { size: 256, ..Group::default() } },
            group_seconds,
            bandwidth,
        };
        // 60 groups next to 60 take all slots; 120 next to 60 take two waves for one.
        for (second_groups, by_slots) in [(60, 1.0), (120, 2.0)] {
            for bandwidth in [60e9, 90e9, 120e9, 400e9] {
                let (first, second) = (load(60, 100.0, 1e9), load(second_groups, 1.0, 0.5e9));
                let draw = Draw {
                    first: 60.0 * 1e9 / bandwidth,
                    second: f64::from(second_groups) * 0.5e9 / bandwidth,
                };
                let events = event_driven::slowdown(&device, first, second, bandwidth).unwrap();
                let ours = draw.slowdown(by_slots);
                assert!((events - ours).abs() < 1e-9, "{bandwidth}: {events} {ours}");
            }
        }
    }

    #[test]
    fn contention_adds_at_most_one() {
        assert_eq!(max_slowdown(1.29), 2.29);
        assert_eq!(Draw { first: 0.5, second: 0.5 }.slowdown(1.0), 1.0, "there is enough");
    }

    #[test]
    fn a_fit_finds_what_made_the_pairs_and_nothing_where_nothing_is_slowed() {
        let draw = Draw { first: 0.8, second: 0.6 };
        let pairs = [1.0, 1.3, 2.0, 4.0].map(|slots| (slots, draw.slowdown(slots)));
        assert_eq!(fit(&pairs), draw);
        assert_eq!(fit(&[(1.5, 1.5), (2.0, 2.0)]), Draw::default());
        assert_eq!(fit(&[]), Draw::default());
    }
}
