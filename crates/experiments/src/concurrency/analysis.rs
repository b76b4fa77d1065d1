//! The speedup of concurrent kernels, and what model 7 predicted.

use super::co_running::observed;
use crate::concurrency::data::{Concurrency, Launched, Pair};
use gpubench_model::concurrency::{Case, Device, Kernel};
use gpubench_model::contention::Draw;
use gpubench_model::event_driven::{Load, Span, spans};
use gpubench_model::occupancy::Group;
use std::collections::BTreeMap;

/// What model 7 predicts of a pair in the order in which it ran.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// When the later kernel starts.
    pub case: Case,
    /// The later kernel's time over its time alone, by each variant of the model; `None` for contention where a
    /// kernel's bytes or the device's bandwidth are not known.
    pub slowdown: [Option<f64>; VARIANTS.len()],
    /// Speedup over serial: sum of the isolated times over the concurrent time, by placing group after group.
    pub speedup: f64,
}

/// The variants of model 7.
pub const VARIANTS: [&str; 4] =
    ["slots alone", "slots, contended", "group by group", "group by group, contended"];

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
    /// All pairs: one whose case is not measured, or not predicted, is a miss.
    pub pairs: usize,
    /// Pairs of which either is not known.
    pub undecided: usize,
    /// Pairs that ran concurrently, as far as that is known.
    pub concurrent: usize,
    /// Those of `pairs` whose case is the one predicted.
    pub right: usize,
    /// The others: the case measured, the one predicted, and how often.
    pub wrong: Vec<(Case, Case, usize)>,
    /// By variant of the model, where it predicts any.
    pub slowdowns: [Option<SlowdownTally>; VARIANTS.len()],
}

/// How near predicted slowdowns of later kernels came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowdownTally {
    /// Pairs whose slowdown is measured and predicted.
    pub pairs: usize,
    /// Mean of `|predicted / measured − 1|` over them.
    pub error: f64,
    /// Those of them with an error of at most [`NEAR`].
    pub near: usize,
}

/// An error that counts as near.
pub const NEAR: f64 = 0.1;

impl SlowdownTally {
    fn of(errors: &[f64]) -> Option<Self> {
        let pairs = errors.len();
        let near = errors.iter().filter(|error| **error <= NEAR).count();
        let error = errors.iter().sum::<f64>() / pairs as f64;
        (pairs > 0).then_some(Self { pairs, error, near })
    }
}

/// Counts how well `pairs` were predicted; `None` where there are none. Of a pair in several rounds the median case and
/// the median error count.
pub fn pair_tally<'a>(pairs: impl IntoIterator<Item = &'a PairSummary>) -> Option<PairTally> {
    let mut rounds: BTreeMap<[&str; 2], Vec<&PairSummary>> = BTreeMap::new();
    for pair in pairs {
        rounds.entry([pair.first.as_str(), pair.second.as_str()]).or_default().push(pair);
    }
    let (mut counts, mut concurrent) = (BTreeMap::new(), 0);
    let mut errors = [(); VARIANTS.len()].map(|()| vec![]);
    for seen in rounds.values() {
        let Some(measured) = middle(seen.iter().filter_map(|pair| pair.case)) else { continue };
        concurrent += usize::from(measured != Case::C);
        let predicted = seen.iter().filter_map(|pair| pair.case.and(pair.expected));
        let Some(predicted) = middle(predicted.map(|expected| expected.case)) else { continue };
        *counts.entry((measured, predicted)).or_insert(0) += 1;
        for (variant, errors) in errors.iter_mut().enumerate() {
            let of = seen.iter().filter_map(|pair| slowdown_error(pair, variant));
            errors.extend(gpubench_stats::median_of(of));
        }
    }
    let all: usize = counts.values().sum();
    let wrong = counts.iter().filter(|((measured, predicted), _)| measured != predicted);
    let wrong: Vec<_> =
        wrong.map(|(&(measured, predicted), &n)| (measured, predicted, n)).collect();
    let right = all - wrong.iter().map(|(.., n)| n).sum::<usize>();
    let (pairs, undecided) = (rounds.len(), rounds.len() - all);
    let slowdowns = errors.map(|errors| SlowdownTally::of(&errors));
    (pairs > 0).then_some(PairTally { pairs, undecided, concurrent, right, wrong, slowdowns })
}

/// How far a variant of the model was off in a round.
fn slowdown_error(pair: &PairSummary, variant: usize) -> Option<f64> {
    let later = pair.slowdown?[usize::from(!pair.swapped)];
    Some((pair.expected?.slowdown[variant]? / later - 1.0).abs())
}

/// The median case; of an even number the earlier of the two in the middle.
fn middle(cases: impl Iterator<Item = Case>) -> Option<Case> {
    let mut cases: Vec<Case> = cases.collect();
    cases.sort();
    cases.get(cases.len().saturating_sub(1) / 2).copied()
}

/// Summarises a case's raw times; `device` is the residency inferred from occupancy sweeps, `bandwidth` the
/// bytes a second that its memory gives at most.
pub fn concurrency(
    raw: &Concurrency,
    device: Option<Device>,
    bandwidth: Option<f64>,
) -> ConcurrencySummary {
    let summary = |pair| summary(&raw.kernel, pair, device, bandwidth);
    let isolated = raw.copies.iter().find(|(n, _)| *n == 1).and_then(|(_, timed)| timed.median());
    let speedup = |(n, timed): &(u32, gpubench_core::record::Timed)| {
        Some((*n, f64::from(*n) * isolated? / timed.median()?))
    };
    ConcurrencySummary {
        pairs: raw.pairs.iter().filter_map(summary).collect(),
        copies: raw.copies.iter().filter_map(speedup).collect(),
    }
}

fn summary(
    first: &Launched,
    pair: &Pair,
    device: Option<Device>,
    bandwidth: Option<f64>,
) -> Option<PairSummary> {
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
        expected: device.and_then(|device| expected(&device, bandwidth, ran)),
    })
}

/// Registers limit nothing where the device's are not known.
fn kernel(device: &Device, launched: &Launched) -> Kernel {
    let local_memory = u32::try_from(launched.local_bytes).unwrap_or(u32::MAX);
    let unit = device.unit;
    let size = launched.group_size;
    let work_items = size.div_ceil(unit.warp.max(1)).saturating_mul(unit.warp);
    let each = launched.registers.filter(|_| unit.registers > 0).unwrap_or(0);
    let group = Group { size, registers: each.saturating_mul(work_items), local_memory };
    Kernel { groups: launched.groups, group }
}

/// Of kernels with their seconds alone, in the order in which they ran.
fn expected(
    device: &Device,
    bandwidth: Option<f64>,
    ran: [(&Launched, f64); 2],
) -> Option<Expected> {
    let [one, two] = ran.map(|(launched, _)| kernel(device, launched));
    let closed = device.predict(one, two, true)?;
    // Each kernel's own draw: its bytes over its time alone, of what there is.
    let draw = |(launched, seconds): (&Launched, f64)| {
        Some((launched.bytes? / seconds / bandwidth?).min(1.0))
    };
    let draws = draw(ran[0]).zip(draw(ran[1]));
    // What of the first kernel is left when the second begins.
    let left = match closed.case {
        Case::A => 1.0,
        Case::B => last_wave(device, one),
        Case::C => 0.0,
    };
    let contended =
        draws.map(|(first, second)| Draw { first: first * left, second }.slowdown(closed.slowdown));
    let groups = placed(device, ran, [0.0; 2])?;
    let groups_contended = draws.and_then(|(first, second)| placed(device, ran, [first, second]));
    let (serial, both) =
        (ran[0].1 + ran[1].1, groups.iter().map(|span| span.end).fold(0.0, f64::max));
    let over = |spans: [Span; 2]| spans[1].seconds() / ran[1].1;
    let slowdown =
        [Some(closed.slowdown), contended, Some(over(groups)), groups_contended.map(over)];
    Some(Expected { case: closed.case, slowdown, speedup: serial / both })
}

/// Which share of the groups that run at once is left in a kernel's last wave, and so of what it draws.
fn last_wave(device: &Device, kernel: Kernel) -> f64 {
    let capacity = device.capacity(kernel.group).max(1);
    f64::from(kernel.groups % capacity) / f64::from(capacity)
}

/// When two kernels run whose groups are placed one by one. Groups take their kernel's time alone over its waves. Those
/// of a kernel that run at once where it is alone draw `draws` of the memory's bandwidth in all.
fn placed(device: &Device, ran: [(&Launched, f64); 2], draws: [f64; 2]) -> Option<[Span; 2]> {
    let load = |at: usize| {
        let (launched, seconds) = ran[at];
        let kernel = kernel(device, launched);
        let capacity = device.capacity(kernel.group);
        let waves = kernel.groups.div_ceil(capacity).max(1);
        let at_once = f64::from(kernel.groups.min(capacity).max(1));
        Load { kernel, group_seconds: seconds / f64::from(waves), bandwidth: draws[at] / at_once }
    };
    // Bandwidth is counted in shares of all that there is.
    spans(device, &[load(0), load(1)], 1.0)?.try_into().ok()
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
        Launched {
            name: format!("{groups} groups"),
            groups,
            group_size: 256,
            ..Launched::default()
        }
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
        let summary = concurrency(&raw(8, 8, timed(2.5, &[(0.0, 2.0), (0.1, 2.4)])), None, None);
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
            concurrency(&raw(groups, groups + 1, concurrent), device, None).pairs.remove(0)
        };
        // Concurrent, as predicted; serial, where concurrent was predicted; serial, as predicted.
        let pairs = [pair(8, (0.0, 1.25)), pair(9, (2.0, 3.0)), pair(120, (2.0, 3.0))];
        let tally = pair_tally(&pairs).unwrap();
        assert_eq!((tally.pairs, tally.right, tally.undecided), (3, 2, 0));
        assert_eq!(tally.wrong, [(Case::C, Case::A, 1)]);
        assert_eq!(tally.concurrent, 1);
        let [slots, contended, ..] = tally.slowdowns;
        let slots = slots.unwrap();
        assert!((slots.error - 0.2 / 3.0).abs() < 1e-12, "{tally:?}");
        assert_eq!((slots.pairs, slots.near, contended), (3, 2, None), "no bandwidth is known");
        let unknown = PairSummary { expected: None, first: "alien".into(), ..pairs[0].clone() };
        let tally = pair_tally([&unknown]).unwrap();
        assert_eq!((tally.pairs, tally.undecided, tally.right), (1, 1, 0), "a miss");
        assert_eq!((tally.slowdowns, pair_tally([])), ([None; 4], None));
        let tally = pair_tally(pairs.iter().chain([&unknown])).unwrap();
        assert_eq!((tally.pairs, tally.right, tally.undecided), (4, 2, 1));
    }

    #[test]
    fn of_a_pair_in_three_rounds_the_median_counts() {
        let device = Some(Device { units: 15, unit: Unit { registers: 0, ..Unit::K40 } });
        let round =
            |second| concurrency(&raw(8, 9, timed(2.5, &[(0.0, 2.0), second])), device, None);
        let rounds = [round((0.0, 1.0)), round((2.0, 3.0)), round((0.0, 1.0))];
        let tally = pair_tally(rounds.iter().flat_map(|round| &round.pairs)).unwrap();
        let slots = tally.slowdowns[0].unwrap();
        assert_eq!((tally.pairs, tally.right, slots.pairs, slots.error), (1, 1, 1, 0.0));
    }

    #[test]
    fn model_7_uses_the_residency_of_occupancy_sweeps() {
        let unit = Unit { registers: 0, ..Unit::K40 };
        let device = Some(Device { units: 15, unit });
        let expect = |first, second| {
            let raw = raw(first, second, timed(3.0, &[]));
            concurrency(&raw, device, None).pairs[0].expected.unwrap()
        };
        let one = [Some(1.0), None, Some(1.0), None];
        let concurrent = expect(8, 8);
        assert_eq!((concurrent.case, concurrent.slowdown, concurrent.speedup), (Case::A, one, 1.5));
        let serial = expect(120, 120);
        assert_eq!((serial.case, serial.slowdown, serial.speedup), (Case::C, one, 1.0));
    }

    /// 15 units that hold eight groups of 256 each. The first kernel takes 2 s, the second 1 s alone.
    #[test]
    fn contention_and_registers_slow_the_second_kernel() {
        let expect = |registers: u32, each: [u32; 2], bytes: [f64; 2]| {
            let mut raw = raw(60, 60, timed(3.0, &[]));
            (raw.kernel.registers, raw.kernel.bytes) = (Some(each[0]), Some(bytes[0]));
            let second = &mut raw.pairs[0].second;
            (second.registers, second.bytes) = (Some(each[1]), Some(bytes[1]));
            let device = Some(Device { units: 15, unit: Unit { registers, ..Unit::K40 } });
            concurrency(&raw, device, Some(100.0)).pairs[0].expected.unwrap()
        };
        // Draws of 140/2/100 = 0.7 and 50/1/100 = 0.5: both are slowed to 1/1.2 until the second is done.
        let expected = expect(0, [200; 2], [140.0, 50.0]);
        let near = |a: Option<f64>, b: f64| (a.unwrap() - b).abs() < 1e-9;
        let [slots, contended, groups, groups_contended] = expected.slowdown;
        assert_eq!((expected.case, slots, groups), (Case::A, Some(1.0), Some(1.0)));
        assert!(near(contended, 1.2) && near(groups_contended, 1.2), "{expected:?}");
        // No kernel draws more than there is: 1 and 0.5.
        assert!(near(expect(0, [0; 2], [900.0, 50.0]).slowdown[1], 1.5));
        // Case B: 30 of 120 groups are left of a first kernel that draws all there is.
        let mut last = raw(150, 60, timed(3.0, &[]));
        (last.kernel.bytes, last.pairs[0].second.bytes) = (Some(200.0), Some(90.0));
        let device = Some(Device { units: 15, unit: Unit { registers: 0, ..Unit::K40 } });
        let expected = concurrency(&last, device, Some(100.0)).pairs[0].expected.unwrap();
        assert!(expected.case == Case::B && near(expected.slowdown[1], 0.25 + 0.9), "{expected:?}");
        // Four groups of the first with 48 registers each leave 65536 − 4·12288 of a unit: room for one of the
        // second, not four. 60 groups are four waves of 15, of which alone each unit takes five groups at once.
        let expected = expect(65_536, [48, 48], [1.0; 2]);
        assert_eq!((expected.case, expected.slowdown[0]), (Case::A, Some(4.0)));
        // Until the first ends at 2 s two of four waves are done; then four run at once.
        assert!(near(expected.slowdown[2], 3.0), "{expected:?}");
    }
}
