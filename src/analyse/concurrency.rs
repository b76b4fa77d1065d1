//! What kernels beside each other gained, and what model 7 foresaw.

use crate::model::concurrency::{Case, Device, Kernel};
use crate::model::event_driven::{Load, spans};
use crate::model::occupancy::Group;
use crate::record::{Concurrency, Launched, NamedStep, Pair};
use std::collections::BTreeMap;

/// From this share of the first kernel's run on, the second did not start with it.
const WITH_THE_FIRST: f64 = 0.1;

/// What model 7 foresees of a pair in the order in which it is named.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// When the second kernel starts.
    pub case: Case,
    /// The second kernel's time over its time alone (5.1, 5.2).
    pub slowdown: f64,
    /// Sum of the times alone over the time together, by placing group after group.
    pub gain: f64,
}

/// What a pair came to.
#[derive(Clone, Debug, PartialEq)]
pub struct PairSummary {
    /// The second kernel.
    pub second: String,
    /// Median seconds of either kernel alone.
    pub alone: [f64; 2],
    /// Median seconds of both, the first queued first, and the second queued first.
    pub together: [f64; 2],
    /// Sum of the times alone over the time together, in either order. This decides.
    pub gain: [f64; 2],
    /// Time of the first and the second kernel over their times alone, by the intervals of the
    /// steps, the first queued first. It is no loss by itself.
    pub slowdown: Option<[f64; 2]>,
    /// When the second kernel started, by the same intervals.
    pub case: Option<Case>,
    /// What model 7 foresees, where the device's residency is known and holds both kernels.
    pub expected: Option<Expected>,
}

/// What a kernel beside others came to.
#[derive(Clone, Debug, PartialEq)]
pub struct ConcurrencySummary {
    /// Every pair.
    pub pairs: Vec<PairSummary>,
    /// Number of copies at once, and the sum of their times alone over the time together.
    pub copies: Vec<(u32, f64)>,
}

/// How well model 7 foresaw pairs on one device.
#[derive(Clone, Debug, PartialEq)]
pub struct PairTally {
    /// Pairs whose case is measured and foreseen.
    pub pairs: usize,
    /// Pairs of which either is not known.
    pub untold: usize,
    /// Those of `pairs` whose case is the one foreseen.
    pub right: usize,
    /// The others: the case measured, the one foreseen, and how often.
    pub wrong: Vec<(Case, Case, usize)>,
    /// Mean of `|foreseen / measured − 1|` over the second kernels' slowdowns, where intervals tell
    /// them.
    pub slowdown_error: Option<f64>,
}

/// Counts how well `pairs` were foreseen; `None` where none is both measured and foreseen.
pub fn pair_tally<'a>(pairs: impl IntoIterator<Item = &'a PairSummary>) -> Option<PairTally> {
    let (mut counts, mut errors, mut met) = (BTreeMap::new(), vec![], 0);
    for pair in pairs {
        met += 1;
        let Some(Expected { case, slowdown, .. }) = pair.expected else { continue };
        if let Some(measured) = pair.case {
            *counts.entry((measured, case)).or_insert(0) += 1;
        }
        if let Some([_, measured]) = pair.slowdown {
            errors.push((slowdown / measured - 1.0).abs());
        }
    }
    let all: usize = counts.values().sum();
    let wrong = counts.iter().filter(|((measured, foreseen), _)| measured != foreseen);
    let wrong: Vec<_> = wrong.map(|(&(measured, foreseen), &n)| (measured, foreseen, n)).collect();
    let right = all - wrong.iter().map(|(.., n)| n).sum::<usize>();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let slowdown_error = (!errors.is_empty()).then_some(mean);
    let untold = met - all;
    (all > 0).then_some(PairTally { pairs: all, untold, right, wrong, slowdown_error })
}

/// Puts a case's raw times together; `device` is what staircases told of it.
pub fn concurrency(raw: &Concurrency, device: Option<Device>) -> ConcurrencySummary {
    let alone = raw.copies.iter().find(|(n, _)| *n == 1).and_then(|(_, timed)| timed.median());
    let gain = |(n, timed): &(u32, crate::record::Timed)| {
        Some((*n, f64::from(*n) * alone? / timed.median()?))
    };
    ConcurrencySummary {
        pairs: raw.pairs.iter().filter_map(|pair| summary(&raw.kernel, pair, device)).collect(),
        copies: raw.copies.iter().filter_map(gain).collect(),
    }
}

fn summary(first: &Launched, pair: &Pair, device: Option<Device>) -> Option<PairSummary> {
    let alone = [pair.first_alone.median()?, pair.second_alone.median()?];
    let together = [pair.together.median()?, pair.reversed.median()?];
    let steps = pair.together.steps.as_slice();
    let lengths = |steps: &[NamedStep]| steps.first().map(|step| step.ended - step.started);
    let slowdown =
        match (steps, lengths(&pair.first_alone.steps), lengths(&pair.second_alone.steps)) {
            ([a, b], Some(x), Some(y)) if x > 0.0 && y > 0.0 => {
                Some([(a.ended - a.started) / x, (b.ended - b.started) / y])
            }
            _ => None,
        };
    Some(PairSummary {
        second: pair.second.name.clone(),
        alone,
        together,
        gain: together.map(|both| (alone[0] + alone[1]) / both),
        slowdown,
        case: observed(steps),
        expected: device.and_then(|device| expected(&device, first, &pair.second, alone)),
    })
}

/// When the second of two steps started.
fn observed(steps: &[NamedStep]) -> Option<Case> {
    let [first, second] = steps else { return None };
    let length = first.ended - first.started;
    let share = (second.started - first.started) / length;
    (length > 0.0 && share.is_finite()).then_some(if share < WITH_THE_FIRST {
        Case::A
    } else if share < 1.0 {
        Case::B
    } else {
        Case::C
    })
}

fn kernel(launched: &Launched) -> Kernel {
    let local_memory = u32::try_from(launched.local_bytes).unwrap_or(u32::MAX);
    let group = Group { size: launched.group_size, registers: 0, local_memory };
    Kernel { groups: launched.groups, group }
}

/// Groups of a kernel take its time alone over its waves; memory's bandwidth is not limiting.
fn expected(
    device: &Device,
    first: &Launched,
    second: &Launched,
    alone: [f64; 2],
) -> Option<Expected> {
    let (one, two) = (kernel(first), kernel(second));
    let closed = device.predict(one, two, true)?;
    let load = |kernel: Kernel, seconds: f64| {
        let waves = kernel.groups.div_ceil(device.capacity(kernel.group)).max(1);
        Load { kernel, group_seconds: seconds / f64::from(waves), bandwidth: 0.0 }
    };
    let loads = [load(one, alone[0]), load(two, alone[1])];
    let spans = spans(device, &loads, f64::INFINITY)?;
    let both = spans.iter().map(|span| span.end).fold(0.0, f64::max);
    let gain = (alone[0] + alone[1]) / both;
    Some(Expected { case: closed.case, slowdown: closed.slowdown, gain })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Clock;
    use crate::model::occupancy::Unit;
    use crate::record::Timed;

    fn timed(seconds: f64, steps: &[(f64, f64)]) -> Timed {
        let step = |&(started, ended): &(f64, f64)| NamedStep {
            name: String::new(),
            lane: 0,
            started,
            ended,
        };
        Timed { walls: vec![seconds; 3], steps: steps.iter().map(step).collect() }
    }

    fn launched(groups: u32) -> Launched {
        Launched { name: format!("{groups} groups"), groups, group_size: 256, local_bytes: 0 }
    }

    fn raw(first: u32, second: u32, together: Timed) -> Concurrency {
        let pair = Pair {
            second: launched(second),
            first_alone: timed(2.0, &[(0.0, 2.0)]),
            second_alone: timed(1.0, &[(0.0, 1.0)]),
            reversed: timed(3.0, &[]),
            together,
        };
        Concurrency {
            clock: Clock::Device,
            lanes: 2,
            kernel: launched(first),
            pairs: vec![pair],
            left_out: vec![],
            copies: vec![(1, timed(1.0, &[])), (2, timed(1.0, &[])), (4, timed(2.0, &[]))],
        }
    }

    #[test]
    fn the_wall_decides_and_the_intervals_only_tell() {
        let summary = concurrency(&raw(8, 8, timed(2.5, &[(0.0, 2.0), (0.1, 2.4)])), None);
        let pair = &summary.pairs[0];
        assert_eq!(pair.gain, [3.0 / 2.5, 1.0]);
        assert_eq!(pair.case, Some(Case::A));
        let [first, second] = pair.slowdown.unwrap();
        assert!(first == 1.0 && (second - 2.3).abs() < 1e-12);
        assert_eq!(pair.expected, None);
        assert_eq!(summary.copies, [(1, 1.0), (2, 2.0), (4, 2.0)]);
    }

    #[test]
    fn cases_follow_the_start_of_the_second() {
        let case = |start| observed(&timed(1.0, &[(0.0, 2.0), (start, start + 1.0)]).steps);
        assert_eq!([0.0, 1.0, 2.0].map(case), [Some(Case::A), Some(Case::B), Some(Case::C)]);
        assert_eq!(observed(&[]), None);
    }

    #[test]
    fn pairs_are_counted_by_case_and_slowdowns_by_their_distance() {
        let device = Some(Device { units: 15, unit: Unit { registers: 0, ..Unit::K40 } });
        let pair = |groups: u32, second: (f64, f64)| {
            let together = timed(2.5, &[(0.0, 2.0), second]);
            concurrency(&raw(groups, groups, together), device).pairs.remove(0)
        };
        // Beside, as foreseen; after, where beside was foreseen; after, as foreseen.
        let pairs = [pair(8, (0.0, 1.25)), pair(8, (2.0, 3.0)), pair(120, (2.0, 3.0))];
        let tally = pair_tally(&pairs).unwrap();
        assert_eq!((tally.pairs, tally.right, tally.untold), (3, 2, 0));
        assert_eq!(tally.wrong, [(Case::C, Case::A, 1)]);
        assert!((tally.slowdown_error.unwrap() - 0.2 / 3.0).abs() < 1e-12, "{tally:?}");
        let unknown = PairSummary { expected: None, ..pairs[0].clone() };
        assert_eq!(pair_tally([&unknown]), None);
        assert_eq!(pair_tally(pairs.iter().chain([&unknown])).unwrap().untold, 1);
    }

    #[test]
    fn model_7_uses_what_staircases_told() {
        let unit = Unit { registers: 0, ..Unit::K40 };
        let device = Some(Device { units: 15, unit });
        let expect = |first, second| {
            let raw = raw(first, second, timed(3.0, &[]));
            concurrency(&raw, device).pairs[0].expected.unwrap()
        };
        let beside = expect(8, 8);
        assert_eq!((beside.case, beside.slowdown, beside.gain), (Case::A, 1.0, 1.5));
        let after = expect(120, 120);
        assert_eq!((after.case, after.slowdown, after.gain), (Case::C, 1.0, 1.0));
    }
}
