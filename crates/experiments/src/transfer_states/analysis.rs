//! Rates of every state, and plans against what they took.

use super::data::{Moved, MovedState, PlanRun, TransferStates};
use gpubench_model::transfer_states::{Both, State};
use gpubench_model::transfer_symmetry::completed;
use gpubench_stats::median_of;

/// The rates of a measured state: of each device and direction the middle sample's. `None` where
/// nothing was measured.
pub fn state_of(moved: &MovedState) -> Option<State> {
    let devices = moved.samples.first()?.bytes.len();
    let rate = |device: usize, way: usize| {
        let of = |sample: &Moved| {
            let part = |all: &[[f64; 2]]| all.get(device).map_or(0.0, |ways| ways[way]);
            part(&sample.bytes) / part(&sample.seconds).max(1e-12)
        };
        median_of(moved.samples.iter().map(of)).unwrap_or(0.0)
    };
    let rates = (0..devices).map(|at| Both { upload: rate(at, 0), download: rate(at, 1) });
    Some(State { name: moved.state.clone(), rates: rates.collect() })
}

/// Devices whose states can be named: one has none in common with others, five have 1024.
pub(super) const DEVICES: std::ops::RangeInclusive<usize> = 2..=4;

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

#[cfg(test)]
mod tests {
    use super::*;
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
