//! Results of measurements over several devices.

use crate::split::data::{Block, Split};
use crate::transfer_states::data::{MovedState, PlanRun, TransferStates};
use gpubench_model::slowdown_budget::max_speedup;
use gpubench_model::transfer_states::{Both, State};
use gpubench_model::transfer_symmetry::completed;
use gpubench_stats::{Summary, median_of};

/// The rates of a measured state: of each device and direction the middle sample's. `None` where
/// nothing was measured.
pub fn state_of(moved: &MovedState) -> Option<State> {
    let devices = moved.samples.first()?.bytes.len();
    let rate = |device: usize, way: usize| {
        let of = |sample: &crate::transfer_states::data::Moved| {
            let part = |all: &[[f64; 2]]| all.get(device).map_or(0.0, |ways| ways[way]);
            part(&sample.bytes) / part(&sample.seconds).max(1e-12)
        };
        median_of(moved.samples.iter().map(of)).unwrap_or(0.0)
    };
    let rates = (0..devices).map(|at| Both { upload: rate(at, 0), download: rate(at, 1) });
    Some(State { name: moved.state.clone(), rates: rates.collect() })
}

/// Devices whose states can be named: one has none in common with others, five have 1024.
const DEVICES: std::ops::RangeInclusive<usize> = 2..=4;

/// Every state's rates, those that another stands for included. None where the record does not
/// fit together, as only one that was tampered with does.
pub fn all_states(raw: &TransferStates) -> Vec<State> {
    if !is_consistent(raw) {
        return vec![];
    }
    let measured: Vec<State> = raw.states.iter().filter_map(state_of).collect();
    completed(&measured, &raw.classes)
}

fn is_consistent(raw: &TransferStates) -> bool {
    let devices = raw.classes.len();
    let mut samples = raw.states.iter().flat_map(|state| &state.samples);
    DEVICES.contains(&devices)
        && raw.classes.iter().all(|&class| class < devices)
        && samples.all(|s| s.bytes.len() == devices && s.seconds.len() == devices)
}

/// A transfer plan against what it took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanAgainst {
    /// Seconds predicted.
    pub predicted: f64,
    /// Seconds taken, the middle sample.
    pub planned: f64,
    /// `min / max` of the two [C13 eq. 3.15].
    pub accuracy: f64,
    /// Seconds where everything was moved at once, the middle sample.
    pub at_once: f64,
}

/// Compares a plan with its runs; `None` where it was not run.
pub fn plan_against(run: &PlanRun) -> Option<PlanAgainst> {
    let planned = median_of(run.planned.iter().copied())?;
    let at_once = median_of(run.at_once.iter().copied())?;
    let predicted = run.predicted;
    let accuracy = predicted.min(planned) / predicted.max(planned).max(1e-30);
    Some(PlanAgainst { predicted, planned, accuracy, at_once })
}

/// Devices that end within this share of each other are balanced.
pub const BALANCED: f64 = 0.05;

/// A split workload.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitSummary {
    /// Seconds of the whole problem on each device alone, the middle sample.
    pub isolated: Vec<f64>,
    /// Speed of all devices over that of the fastest alone, if none disturbed another.
    pub max_speedup: f64,
    /// Of the calibration's blocks the first that was balanced, counted from 1.
    pub balanced_after: Option<usize>,
    /// The middle imbalance of all blocks from that one on.
    pub imbalance: Option<f64>,
    /// Speed of the calibration's middle block over that of the fastest device alone.
    pub combined_speedup: Option<f64>,
    /// Speed of a job, however it was decided, over that of the fastest device alone just before,
    /// with the interval of its median; `None` where it was not split.
    pub speedup: Option<Summary>,
    /// Jobs whose rest fell back to the fastest device.
    pub fallbacks: usize,
    /// Fewest and most blocks of a job.
    pub tried: [usize; 2],
}

/// Summarises a split workload; `None` where a device was not measured alone, or the record does not
/// fit together.
pub fn split(raw: &Split) -> Option<SplitSummary> {
    let isolated =
        raw.isolated.iter().map(|a| median_of(a.iter().copied())).collect::<Option<Vec<_>>>()?;
    let fastest = *isolated.get(raw.fastest)?;
    let max_speedup =
        max_speedup(&isolated.iter().map(|seconds| 1.0 / seconds).collect::<Vec<_>>());
    let balanced = |block: &Block| block.imbalance().is_some_and(|share| share <= BALANCED);
    let first = raw.blocks.iter().position(balanced);
    let imbalance =
        first.and_then(|first| median_of(raw.blocks[first..].iter().filter_map(Block::imbalance)));
    let combined_speedup =
        Split::combined_speed(&raw.blocks).map(|speed| speed * fastest / raw.rows as f64);
    let pairs = raw.jobs.iter().zip(&raw.fastest_device_seconds);
    let speedups: Vec<f64> = pairs.map(|(job, fastest)| fastest / job.seconds).collect();
    let tried = || raw.jobs.iter().map(|job| job.blocks.len());
    Some(SplitSummary {
        max_speedup,
        balanced_after: first.map(|first| first + 1),
        imbalance,
        combined_speedup,
        speedup: Summary::of(&speedups),
        fallbacks: raw.jobs.iter().filter(|job| job.fell_back).count(),
        tried: [tried().min().unwrap_or(0), tried().max().unwrap_or(0)],
        isolated,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::data::Job;
    use crate::transfer_states::data::Moved;
    use gpubench_core::gpu::{Clock, MemoryKind};

    #[test]
    fn a_states_rates_are_those_of_the_middle_sample() {
        let sample = |bytes: f64| Moved {
            bytes: vec![[bytes, 0.0], [0.0, 8.0]],
            seconds: vec![[2.0, 0.0], [0.0, 2.0]],
        };
        let samples = vec![sample(10.0), sample(40.0), sample(12.0)];
        let state = state_of(&MovedState { state: "S/R".into(), samples }).unwrap();
        assert_eq!(state.rates[0], Both { upload: 6.0, download: 0.0 });
        assert_eq!(state.rates[1], Both { upload: 0.0, download: 4.0 });
        assert_eq!(state_of(&MovedState { state: "S/R".into(), samples: vec![] }), None);
    }

    #[test]
    fn a_record_that_contradicts_itself_has_no_states() {
        let of = |classes: Vec<usize>, devices: usize| {
            let moved = Moved { bytes: vec![[1.0; 2]; devices], seconds: vec![[1.0; 2]; devices] };
            let state = MovedState { state: "S/N".into(), samples: vec![moved] };
            all_states(&TransferStates {
                clock: Clock::Host,
                host_memory: MemoryKind::Pinned,
                devices: vec![],
                classes,
                copy: 1,
                states: vec![state],
                plans: vec![],
            })
        };
        assert_eq!(of(vec![0, 0], 2).len(), 2, "S/N, and N/S as its exchange");
        for classes in [vec![], vec![0], vec![0; 5], vec![0; 16], vec![0; 40]] {
            let devices = classes.len();
            assert!(of(classes, devices).is_empty(), "{devices} devices");
        }
        assert!(of(vec![0, 0], 1).is_empty(), "a sample of one device");
        assert!(of(vec![0, 2], 2).is_empty(), "a class that is no device");
    }

    fn raw(blocks: Vec<Block>) -> Split {
        let job = |seconds: f64| Job { blocks: blocks.clone(), fell_back: seconds > 5.0, seconds };
        Split {
            clock: Clock::Host,
            devices: vec!["a:0".into(), "b:0".into()],
            host_memory: vec![MemoryKind::Pinned; 2],
            rows: 100,
            isolated: vec![vec![3.0, 1.0, 2.0], vec![4.0]],
            fastest: 0,
            times: 3,
            jobs: vec![job(4.0), job(6.0), job(5.0)],
            fastest_device_seconds: vec![6.0, 6.0, 6.0],
            blocks,
        }
    }

    #[test]
    fn a_split_is_held_to_the_fastest_device() {
        let block = |a: f64, b: f64| Block { rows: vec![60, 40], repeats: 1, seconds: vec![a, b] };
        let blocks = vec![block(1.0, 2.0), block(1.0, 0.98), block(1.0, 1.0)];
        let summary = split(&raw(blocks)).unwrap();
        assert_eq!((summary.max_speedup, summary.balanced_after), (1.5, Some(2)));
        assert_eq!(summary.combined_speedup, Some(2.0), "a pass a second, alone two seconds");
        let speedup = summary.speedup.unwrap();
        assert_eq!((speedup.median, speedup.interval), (1.2, [1.0, 1.5]));
        assert_eq!((summary.fallbacks, summary.tried), (1, [3, 3]));
        assert!(summary.imbalance.unwrap() < 0.02);
        let never = split(&raw(vec![block(1.0, 2.0)])).unwrap();
        assert_eq!((never.balanced_after, never.combined_speedup), (None, Some(1.0)));
        let one = Block { rows: vec![100, 0], repeats: 1, seconds: vec![2.0, 0.0] };
        assert_eq!(one.imbalance(), None, "one device is balanced with nobody");
        assert_eq!(split(&raw(vec![one])).unwrap().balanced_after, None);
    }

    #[test]
    fn what_was_not_tried_has_no_gain_and_what_does_not_fit_no_summary() {
        let untried = Split { jobs: vec![], fastest_device_seconds: vec![], ..raw(vec![]) };
        let summary = split(&untried).unwrap();
        assert_eq!((summary.speedup, summary.fallbacks, summary.tried), (None, 0, [0, 0]));
        assert_eq!(split(&Split { fastest: 2, ..raw(vec![]) }), None);
        let absurd = Block { rows: vec![u64::MAX; 2], repeats: 9, seconds: vec![1.0; 2] };
        assert!(split(&raw(vec![absurd])).unwrap().combined_speedup.unwrap() > 1e18);
        assert_eq!(split(&Split { isolated: vec![vec![1.0], vec![]], ..raw(vec![]) }), None);
    }

    #[test]
    fn a_plan_is_held_to_its_middle_sample() {
        let run = PlanRun {
            amounts: vec![[1, 1]; 2],
            predicted: 1.0,
            spent: vec![],
            planned: vec![1.3, 1.25, 1.0],
            at_once: vec![2.0],
        };
        let against = plan_against(&run).unwrap();
        assert_eq!((against.planned, against.accuracy, against.at_once), (1.25, 0.8, 2.0));
        assert_eq!(plan_against(&PlanRun { planned: vec![], ..run }), None);
    }
}
