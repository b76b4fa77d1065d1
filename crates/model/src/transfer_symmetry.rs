//! Model 10, symmetry: which devices can be exchanged, so that a state need be measured only once?
//!
//! Devices of one sort need not be alike: two of four may share a switch. They are taken for alike
//! where no measured state distinguishes them; every state of one device must have been measured by
//! then, and of more than two devices every state of two.

use super::transfer_states::{Both, State, state_name};

/// What each device does: whether it uploads, and whether it downloads.
pub type Doing = Vec<[bool; 2]>;

/// Every state of `devices` devices but the one in which all are idle, those with the fewest at
/// work first.
pub fn states(devices: usize) -> Vec<Doing> {
    let doing = |code: usize| -> Doing {
        (0..devices)
            .map(|at| [1, 2].map(|bit| code >> (2 * (devices - 1 - at)) & bit > 0))
            .collect()
    };
    let mut all: Vec<Doing> = (1..1 << (2 * devices)).map(doing).collect();
    all.sort_by_key(|doing| busy(doing));
    all
}

/// How many devices are at work.
pub fn busy(doing: &[[bool; 2]]) -> usize {
    doing.iter().filter(|does| **does != [false; 2]).count()
}

/// States of up to this many devices at work show which devices are alike, and are all measured.
pub fn max_busy_for_symmetry(devices: usize) -> usize {
    if devices > 2 { 2 } else { 1 }
}

/// The class of each device: the position of the first of those that it can be exchanged with,
/// with each of them, being of their sort (`sorts`) and moving in no measured state more than
/// `tolerance` (relative) more or less.
pub fn classes<T: PartialEq>(sorts: &[T], measured: &[State], tolerance: f64) -> Vec<usize> {
    let alike = |i: usize, j: usize| {
        let distinguishes = |state: &State| {
            let exchanged = state.exchanged(i, j);
            let other = measured.iter().find(|other| other.name == exchanged.name);
            other.is_some_and(|other| !near(&other.rates, &exchanged.rates, tolerance))
        };
        sorts[i] == sorts[j] && !measured.iter().any(distinguishes)
    };
    let mut classes: Vec<usize> = vec![];
    for j in 0..sorts.len() {
        let all_alike = |class: &usize| (0..j).all(|i| classes[i] != *class || alike(i, j));
        let class = (0..j).filter(|&i| classes[i] == i).find(all_alike).unwrap_or(j);
        classes.push(class);
    }
    classes
}

fn near(a: &[Both], b: &[Both], tolerance: f64) -> bool {
    let close = |x: f64, y: f64| (x - y).abs() <= tolerance * x.max(y);
    a.iter().zip(b).all(|(a, b)| close(a.upload, b.upload) && close(a.download, b.download))
}

/// The state that stands for `doing` and for all exchanges of devices of one class, and for each
/// device the one in whose place it stands there.
pub fn representative(doing: &[[bool; 2]], classes: &[usize]) -> (Doing, Vec<usize>) {
    let mut stands = vec![0; doing.len()];
    let mut chosen = doing.to_vec();
    for class in 0..doing.len() {
        let members: Vec<usize> = (0..doing.len()).filter(|&at| classes[at] == class).collect();
        let mut busiest = members.clone();
        busiest.sort_by_key(|&at| std::cmp::Reverse(doing[at]));
        for (&place, &at) in members.iter().zip(&busiest) {
            chosen[place] = doing[at];
            stands[at] = place;
        }
    }
    (chosen, stands)
}

/// All states: the measured ones, and for each other what its representative moves.
pub fn completed(measured: &[State], classes: &[usize]) -> Vec<State> {
    let of = |doing: Doing| {
        let name = state_name(&doing);
        if let Some(state) = measured.iter().find(|state| state.name == name) {
            return Some(state.clone());
        }
        let (chosen, stands) = representative(&doing, classes);
        let chosen = state_name(&chosen);
        let state = measured.iter().find(|state| state.name == chosen)?;
        let rates = stands.iter().map(|&place| state.rates[place]).collect();
        Some(State { name, rates })
    };
    states(classes.len()).into_iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(doing: &Doing) -> String {
        state_name(doing)
    }

    #[test]
    fn states_are_all_and_the_quiet_ones_come_first() {
        let two: Vec<String> = states(2).iter().map(named).collect();
        assert_eq!(two.len(), 15);
        assert_eq!(two[..6], ["N/S", "N/R", "N/SR", "S/N", "R/N", "SR/N"]);
        assert_eq!(states(4).len(), 255);
    }

    /// The rates of devices behind `switches`: what one moves falls with what moves behind the
    /// same switch.
    fn rates(doing: &Doing, switches: &[usize], speed: &[f64]) -> State {
        let moving = |at: usize| doing[at].iter().filter(|moves| **moves).count();
        let rates = (0..doing.len()).map(|at| {
            let behind = |other: &usize| switches[*other] == switches[at];
            let busy: usize = (0..doing.len()).filter(behind).map(moving).sum();
            let rate = speed[at] / busy.max(1) as f64;
            let of = |moves: bool| if moves { rate } else { 0.0 };
            Both { upload: of(doing[at][0]), download: of(doing[at][1]) }
        });
        State { name: state_name(doing), rates: rates.collect() }
    }

    /// Measures what must be, and completes it.
    fn learnt(switches: &[usize], speed: &[f64]) -> (Vec<usize>, usize, Vec<State>) {
        let devices = speed.len();
        let (first, later): (Vec<_>, Vec<_>) = states(devices)
            .into_iter()
            .partition(|doing| busy(doing) <= max_busy_for_symmetry(devices));
        let mut measured: Vec<State> = first.iter().map(|d| rates(d, switches, speed)).collect();
        let classes = classes(&vec!["one sort"; devices], &measured, 0.05);
        for doing in later {
            if representative(&doing, &classes).0 == doing {
                measured.push(rates(&doing, switches, speed));
            }
        }
        let all = completed(&measured, &classes);
        (classes, measured.len(), all)
    }

    #[test]
    fn a_pair_of_equal_devices_is_measured_in_12_of_15_states() {
        let (classes, measured, all) = learnt(&[0, 0], &[6.0, 6.1]);
        assert_eq!((classes, measured), (vec![0, 0], 12));
        for state in &all {
            let doing = states(2).into_iter().find(|d| state_name(d) == state.name).unwrap();
            assert!(near(&state.rates, &rates(&doing, &[0, 0], &[6.0, 6.1]).rates, 0.05));
        }
        assert_eq!(learnt(&[0, 0], &[6.0, 5.0]).0, [0, 1], "17 % apart are two sorts");
    }

    /// The first is like the second and the second like the third, but the first not like the third.
    #[test]
    fn a_class_holds_only_what_is_alike_with_each_other() {
        let measured = |speed: &[f64]| -> Vec<State> {
            states(3).iter().map(|doing| rates(doing, &[0, 1, 2], speed)).collect()
        };
        let found = |speed: &[f64]| classes(&["one sort"; 3], &measured(speed), 0.05);
        assert_eq!(found(&[6.0, 6.2, 6.4]), [0, 0, 2]);
        assert_eq!(found(&[6.0, 6.1, 6.2]), [0, 0, 0]);
    }

    #[test]
    fn devices_behind_other_switches_are_no_exchange_and_every_state_is_right() {
        let (switches, speed) = ([0, 0, 1, 1], [6.0; 4]);
        let (classes, measured, all) = learnt(&switches, &speed);
        assert_eq!(classes, [0, 0, 2, 2]);
        assert!(measured < 140, "{measured} of 255");
        assert_eq!(all.len(), 255);
        for doing in states(4) {
            let state = all.iter().find(|state| state.name == state_name(&doing)).unwrap();
            assert_eq!(state.rates, rates(&doing, &switches, &speed).rates, "{}", state.name);
        }
    }

    #[test]
    fn both_directions_distinguish() {
        let of = |upload, download| [Both { upload, download }];
        assert!(near(&of(1.0, 1.0), &of(1.0, 1.05), 0.1));
        assert!(
            !near(&of(1.0, 1.0), &of(1.0, 2.0), 0.1) && !near(&of(1.0, 1.0), &of(2.0, 1.0), 0.1)
        );
    }
}
