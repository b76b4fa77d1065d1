//! The speedup of concurrent kernels, and what model 7 predicted.

use super::co_running::observed;
use crate::concurrency::data::{Concurrency, Launched, Pair};
use gpubench_model::concurrency::{Case, Device, Kernel};
use gpubench_model::event_driven::{Load, spans};
use gpubench_model::occupancy::Group;
use std::collections::BTreeMap;

/// What model 7 predicts of a pair in the order in which it ran.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// When the later kernel starts.
    pub case: Case,
    /// The later kernel's time over its time alone (5.1, 5.2).
    pub slowdown: f64,
    /// Speedup over serial: sum of the isolated times over the concurrent time, by placing group after group.
    pub speedup: f64,
}

/// The result of a pair.
#[derive(Clone, Debug, PartialEq)]
pub struct PairSummary {
    /// The first kernel.
    pub first: String,
    /// The second kernel.
    pub second: String,
    /// Median seconds of either kernel isolated.
    pub isolated: [f64; 2],
    /// Median seconds of both at once: A (the first kernel) queued first, then B (the second) queued first.
    pub concurrent: [f64; 2],
    /// Speedup over serial: sum of the isolated times over the concurrent time, in either order. This decides.
    pub speedup: [f64; 2],
    /// Time of the first and the second kernel over their times alone, the first queued first; one
    /// that ran after the other is counted from the other's end. It does not tell the speedup by itself.
    pub slowdown: Option<[f64; 2]>,
    /// When the later kernel started, as inferred from the ends of both.
    pub case: Option<Case>,
    /// The device began the one queued second first.
    pub swapped: bool,
    /// What model 7 predicts, where the device's residency is known and holds both kernels.
    pub expected: Option<Expected>,
}

/// The result of a kernel with those that run concurrently with it.
#[derive(Clone, Debug, PartialEq)]
pub struct ConcurrencySummary {
    /// Every pair.
    pub pairs: Vec<PairSummary>,
    /// Number of copies at once, and their speedup over serial.
    pub copies: Vec<(u32, f64)>,
}

/// How well model 7 predicted pairs on one device, over all rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct PairTally {
    /// Pairs whose case is measured and predicted.
    pub pairs: usize,
    /// Pairs of which either is not known.
    pub undecided: usize,
    /// Those of `pairs` whose case is the one predicted.
    pub right: usize,
    /// The others: the case measured, the one predicted, and how often.
    pub wrong: Vec<(Case, Case, usize)>,
    /// Mean of `|predicted / measured − 1|` over the later kernels' slowdowns of `pairs`.
    pub slowdown_error: f64,
}

/// Counts how well `pairs` were predicted; `None` where none is both measured and predicted. Of a pair
/// in several rounds the median case and the median slowdown count.
pub fn pair_tally<'a>(pairs: impl IntoIterator<Item = &'a PairSummary>) -> Option<PairTally> {
    let mut rounds: BTreeMap<[&str; 2], Vec<_>> = BTreeMap::new();
    for pair in pairs {
        let seen = rounds.entry([pair.first.as_str(), pair.second.as_str()]).or_default();
        seen.extend(pair_prediction(pair));
    }
    let (mut counts, mut errors) = (BTreeMap::new(), vec![]);
    for seen in rounds.values() {
        let Some(measured) = middle(seen.iter().map(|pair| pair.measured)) else { continue };
        let Some(predicted) = middle(seen.iter().map(|pair| pair.predicted)) else { continue };
        *counts.entry((measured, predicted)).or_insert(0) += 1;
        errors.extend(gpubench_stats::median_of(seen.iter().map(|pair| pair.slowdown_error)));
    }
    let all: usize = counts.values().sum();
    let wrong = counts.iter().filter(|((measured, predicted), _)| measured != predicted);
    let wrong: Vec<_> =
        wrong.map(|(&(measured, predicted), &n)| (measured, predicted, n)).collect();
    let right = all - wrong.iter().map(|(.., n)| n).sum::<usize>();
    let slowdown_error = errors.iter().sum::<f64>() / all as f64;
    let undecided = rounds.len() - all;
    (all > 0).then_some(PairTally { pairs: all, undecided, right, wrong, slowdown_error })
}

/// What a round measured of a pair, and what was predicted.
struct PairPrediction {
    measured: Case,
    predicted: Case,
    slowdown_error: f64,
}

fn pair_prediction(pair: &PairSummary) -> Option<PairPrediction> {
    let (measured, slowdown, expected) = (pair.case?, pair.slowdown?, pair.expected?);
    let later = slowdown[usize::from(!pair.swapped)];
    let slowdown_error = (expected.slowdown / later - 1.0).abs();
    Some(PairPrediction { measured, predicted: expected.case, slowdown_error })
}

/// The median case; of an even number the earlier of the two in the middle.
fn middle(cases: impl Iterator<Item = Case>) -> Option<Case> {
    let mut cases: Vec<Case> = cases.collect();
    cases.sort();
    cases.get(cases.len().saturating_sub(1) / 2).copied()
}

/// Puts a case's raw times together; `device` is the residency inferred from occupancy sweeps.
pub fn concurrency(raw: &Concurrency, device: Option<Device>) -> ConcurrencySummary {
    let isolated = raw.copies.iter().find(|(n, _)| *n == 1).and_then(|(_, timed)| timed.median());
    let speedup = |(n, timed): &(u32, gpubench_core::record::Timed)| {
        Some((*n, f64::from(*n) * isolated? / timed.median()?))
    };
    ConcurrencySummary {
        pairs: raw.pairs.iter().filter_map(|pair| summary(&raw.kernel, pair, device)).collect(),
        copies: raw.copies.iter().filter_map(speedup).collect(),
    }
}

fn summary(first: &Launched, pair: &Pair, device: Option<Device>) -> Option<PairSummary> {
    let isolated = [pair.first_isolated.median()?, pair.second_isolated.median()?];
    let concurrent = [pair.concurrent_a_first.median()?, pair.concurrent_b_first.median()?];
    let seen = observed(pair);
    let swapped = seen.is_some_and(|seen| seen.swapped);
    let mut ran = [(first, isolated[0]), (&pair.second, isolated[1])];
    if swapped {
        ran.reverse();
    }
    Some(PairSummary {
        first: first.name.clone(),
        second: pair.second.name.clone(),
        isolated,
        concurrent,
        speedup: concurrent.map(|both| (isolated[0] + isolated[1]) / both),
        slowdown: seen.map(|seen| seen.slowdown),
        case: seen.map(|seen| seen.case),
        swapped,
        expected: device.and_then(|device| expected(&device, ran)),
    })
}

fn kernel(launched: &Launched) -> Kernel {
    let local_memory = u32::try_from(launched.local_bytes).unwrap_or(u32::MAX);
    let group = Group { size: launched.group_size, registers: 0, local_memory };
    Kernel { groups: launched.groups, group }
}

/// Of kernels with their seconds alone, in the order in which they ran. Groups of a kernel take its
/// time alone over its waves; memory's bandwidth is not limiting.
fn expected(device: &Device, ran: [(&Launched, f64); 2]) -> Option<Expected> {
    let [one, two] = ran.map(|(launched, _)| kernel(launched));
    let closed = device.predict(one, two, true)?;
    let load = |(launched, seconds): (&Launched, f64)| {
        let kernel = kernel(launched);
        let waves = kernel.groups.div_ceil(device.capacity(kernel.group)).max(1);
        Load { kernel, group_seconds: seconds / f64::from(waves), bandwidth: 0.0 }
    };
    let spans = spans(device, &ran.map(load), f64::INFINITY)?;
    let both = spans.iter().map(|span| span.end).fold(0.0, f64::max);
    let speedup = (ran[0].1 + ran[1].1) / both;
    Some(Expected { case: closed.case, slowdown: closed.slowdown, speedup })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::Clock;
    use gpubench_core::record::{NamedStep, Timed};
    use gpubench_model::occupancy::Unit;

    fn timed(seconds: f64, steps: &[(f64, f64)]) -> Timed {
        let step = |&(started, ended): &(f64, f64)| NamedStep {
            name: String::new(),
            queue: 0,
            started,
            ended,
        };
        Timed { walls: vec![seconds; 3], steps: steps.iter().map(step).collect() }
    }

    fn launched(groups: u32) -> Launched {
        Launched { name: format!("{groups} groups"), groups, group_size: 256, local_bytes: 0 }
    }

    fn raw(first: u32, second: u32, concurrent_a_first: Timed) -> Concurrency {
        let pair = Pair {
            second: launched(second),
            first_isolated: timed(2.0, &[(0.0, 2.0)]),
            second_isolated: timed(1.0, &[(0.0, 1.0)]),
            concurrent_b_first: timed(3.0, &[]),
            concurrent_a_first,
        };
        Concurrency {
            clock: Clock::Device,
            queues: 2,
            kernel: launched(first),
            pairs: vec![pair],
            skipped: vec![],
            copies: vec![(1, timed(1.0, &[])), (2, timed(1.0, &[])), (4, timed(2.0, &[]))],
        }
    }

    #[test]
    fn the_wall_decides_and_the_intervals_only_inform() {
        let summary = concurrency(&raw(8, 8, timed(2.5, &[(0.0, 2.0), (0.1, 2.4)])), None);
        let pair = &summary.pairs[0];
        assert_eq!(pair.speedup, [3.0 / 2.5, 1.0]);
        assert_eq!(pair.case, Some(Case::A));
        let [first, second] = pair.slowdown.unwrap();
        assert!(first == 1.0 && (second - 2.3).abs() < 1e-12);
        assert_eq!(pair.expected, None);
        assert_eq!(summary.copies, [(1, 1.0), (2, 2.0), (4, 2.0)]);
    }

    #[test]
    fn pairs_are_counted_by_case_and_slowdowns_by_their_distance() {
        let device = Some(Device { units: 15, unit: Unit { registers: 0, ..Unit::K40 } });
        let pair = |groups: u32, second: (f64, f64)| {
            let concurrent = timed(2.5, &[(0.0, 2.0), second]);
            concurrency(&raw(groups, groups + 1, concurrent), device).pairs.remove(0)
        };
        // Concurrent, as predicted; serial, where concurrent was predicted; serial, as predicted.
        let pairs = [pair(8, (0.0, 1.25)), pair(9, (2.0, 3.0)), pair(120, (2.0, 3.0))];
        let tally = pair_tally(&pairs).unwrap();
        assert_eq!((tally.pairs, tally.right, tally.undecided), (3, 2, 0));
        assert_eq!(tally.wrong, [(Case::C, Case::A, 1)]);
        assert!((tally.slowdown_error - 0.2 / 3.0).abs() < 1e-12, "{tally:?}");
        let unknown = PairSummary { expected: None, first: "alien".into(), ..pairs[0].clone() };
        assert_eq!(pair_tally([&unknown]), None);
        assert_eq!(pair_tally(pairs.iter().chain([&unknown])).unwrap().undecided, 1);
    }

    #[test]
    fn of_a_pair_in_three_rounds_the_median_counts() {
        let device = Some(Device { units: 15, unit: Unit { registers: 0, ..Unit::K40 } });
        let round = |second| concurrency(&raw(8, 9, timed(2.5, &[(0.0, 2.0), second])), device);
        let rounds = [round((0.0, 1.0)), round((2.0, 3.0)), round((0.0, 1.0))];
        let tally = pair_tally(rounds.iter().flat_map(|round| &round.pairs)).unwrap();
        assert_eq!((tally.pairs, tally.right, tally.slowdown_error), (1, 1, 0.0));
    }

    #[test]
    fn model_7_uses_the_residency_of_occupancy_sweeps() {
        let unit = Unit { registers: 0, ..Unit::K40 };
        let device = Some(Device { units: 15, unit });
        let expect = |first, second| {
            let raw = raw(first, second, timed(3.0, &[]));
            concurrency(&raw, device).pairs[0].expected.unwrap()
        };
        let concurrent = expect(8, 8);
        assert_eq!((concurrent.case, concurrent.slowdown, concurrent.speedup), (Case::A, 1.0, 1.5));
        let serial = expect(120, 120);
        assert_eq!((serial.case, serial.slowdown, serial.speedup), (Case::C, 1.0, 1.0));
    }
}
