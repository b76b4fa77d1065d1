//! Model 10, transfer states: what is the least time to move data between a host and several
//! devices?
//!
//! Source: C13 §4.3 and §4.4. Each device is idle (N), uploading (S), downloading (R) or both (SR); a
//! state of the system fixes every device's rates, which depend on what the others do. The least
//! time spends `T_q` in state `q` so that `Σ T_q` is least and `Σ T_q · rate_q` covers all amounts:
//! a linear program. A state may stand idle in a direction, so covering is enough.

use good_lp::{Expression, ProblemVariables, Solution, SolverModel, constraint, microlp, variable};
use gpubench_core::error::{Error, Result};
use std::collections::HashSet;

/// A pair for the two directions of one device: rates (per second) or amounts, in one unit of
/// data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Both {
    /// Host to device.
    pub upload: f64,
    /// Device to host.
    pub download: f64,
}

/// A state of the system.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Its name: what each device does, joined by slashes, such as `S/N` or `SR/R`.
    pub name: String,
    /// The rates of each device.
    pub rates: Vec<Both>,
}

impl State {
    /// The state in which two devices do what the other did.
    pub(super) fn exchanged(&self, i: usize, j: usize) -> Self {
        let mut parts: Vec<&str> = self.name.split('/').collect();
        let mut rates = self.rates.clone();
        parts.swap(i, j);
        rates.swap(i, j);
        Self { name: parts.join("/"), rates }
    }
}

/// The name of the state in which the devices do `doing` (upload, download): `SR/N`.
pub fn state_name(doing: &[[bool; 2]]) -> String {
    let label = |does: &[bool; 2]| match does {
        [false, false] => "N",
        [true, false] => "S",
        [false, true] => "R",
        [true, true] => "SR",
    };
    doing.iter().map(label).collect::<Vec<_>>().join("/")
}

/// The seconds to spend in each of `states`, in their order, so that `amounts` (one entry a
/// device) are moved in the least time.
///
/// # Errors
/// [`Error::Unsupported`] when a device has an amount to move that no state moves, or the states
/// and amounts are not of the same number of devices.
pub fn min_time(states: &[State], amounts: &[Both]) -> Result<Vec<f64>> {
    check(states, amounts)?;
    // In units of the largest rate and amount, so that the solver's tolerances fit.
    let parts = |both: Both| [both.upload, both.download];
    let largest = |all: &[Both]| all.iter().copied().flat_map(parts).fold(0.0, f64::max);
    let rate_unit = states.iter().map(|state| largest(&state.rates)).fold(0.0, f64::max);
    let amount_unit = largest(amounts);
    if amount_unit <= 0.0 {
        return Ok(vec![0.0; states.len()]);
    }
    let mut variables = ProblemVariables::new();
    let seconds = variables.add_vector(variable().min(0.0), states.len());
    let total: Expression = seconds.iter().sum();
    let mut problem = variables.minimise(total).using(microlp);
    for (device, amount) in amounts.iter().enumerate() {
        for (direction, wanted) in parts(*amount).into_iter().enumerate() {
            if wanted <= 0.0 {
                continue; // any state covers nothing
            }
            let rate = |state: &State| parts(state.rates[device])[direction] / rate_unit;
            let moved: Expression =
                states.iter().zip(&seconds).map(|(state, &time)| rate(state) * time).sum();
            problem = problem.with(constraint!(moved >= wanted / amount_unit));
        }
    }
    let solution = problem
        .solve()
        .map_err(|error| Error::Unsupported(format!("no least transfer time: {error}")))?;
    let unit = amount_unit / rate_unit;
    Ok(seconds.iter().map(|&time| solution.value(time).max(0.0) * unit).collect())
}

fn check(states: &[State], amounts: &[Both]) -> Result<()> {
    let unsupported = |text: String| Err(Error::Unsupported(text));
    if let Some(state) = states.iter().find(|state| state.rates.len() != amounts.len()) {
        let (name, has, given) = (&state.name, state.rates.len(), amounts.len());
        return unsupported(format!("state `{name}` has {has} devices, amounts are for {given}"));
    }
    for (device, amount) in amounts.iter().enumerate() {
        let moves = |rate: fn(&Both) -> f64| states.iter().any(|s| rate(&s.rates[device]) > 0.0);
        if amount.upload > 0.0 && !moves(|rates| rates.upload) {
            return unsupported(format!("no state uploads to device {device}"));
        }
        if amount.download > 0.0 && !moves(|rates| rates.download) {
            return unsupported(format!("no state downloads from device {device}"));
        }
    }
    Ok(())
}

/// As many as eight devices have of which each sends, receives, does both or nothing.
const MAX_STATES: usize = 1 << 16;

/// Completes a list that names each state of equal devices once: every exchange of devices of a
/// listed state is a state with the rates exchanged. States already listed stay as they are.
///
/// # Errors
/// [`Error::Unsupported`] when a name does not have one part a device, or there would be more than 65,536 states.
pub fn mirrored(mut states: Vec<State>) -> Result<Vec<State>> {
    let mut names: HashSet<String> = states.iter().map(|state| state.name.clone()).collect();
    let mut next = 0;
    while next < states.len() {
        if states.len() > MAX_STATES {
            return Err(Error::Unsupported(format!("more than {MAX_STATES} states")));
        }
        let state = states[next].clone();
        let (name, devices) = (&state.name, state.rates.len());
        if name.split('/').count() != devices {
            return Err(Error::Unsupported(format!(
                "state `{name}` must name what each of {devices} devices does, such as `S/N`"
            )));
        }
        // Exchanges of neighbours reach every order.
        for i in 1..devices {
            let other = state.exchanged(i - 1, i);
            if names.insert(other.name.clone()) {
                states.push(other);
            }
        }
        next += 1;
    }
    Ok(states)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    fn state(name: &str, rates: &[[f64; 2]]) -> State {
        let rates = rates.iter().map(|&[upload, download]| Both { upload, download }).collect();
        State { name: name.into(), rates }
    }

    fn one_device() -> Vec<State> {
        vec![state("S", &[[6.0, 0.0]]), state("R", &[[0.0, 5.0]]), state("SR", &[[4.0, 3.0]])]
    }

    #[test]
    fn one_device_is_equation_4_18() {
        let time = |upload, download| {
            min_time(&one_device(), &[Both { upload, download }]).unwrap().iter().sum::<f64>()
        };
        let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-9, "{x} {y}");
        near(time(6.0, 0.0), 1.0);
        near(time(8.0, 6.0), 2.0);
        near(time(4.0, 8.0), 1.0 + 1.0);
        near(time(10.0, 3.0), 1.0 + 1.0);
        near(time(0.0, 0.0), 0.0);
        near(time(4e9, 3e9), 1e9);
    }

    #[test]
    fn what_no_state_moves_is_rejected() {
        let message =
            |states: &[State], amounts: &[Both]| min_time(states, amounts).unwrap_err().to_string();
        let both = Both { upload: 1.0, download: 1.0 };
        let uploads = [state("S", &[[6.0, 0.0]])];
        assert!(message(&uploads, &[both]).contains("no state downloads from device 0"));
        assert!(message(&uploads, &[both; 2]).contains("`S` has 1 devices"));
        assert!(message(&[], &[both]).contains("no state uploads to device 0"));
    }

    #[test]
    fn mirroring_completes_a_symmetric_list() {
        let listed = vec![
            state("S/N", &[[6.0, 0.0], [0.0, 0.0]]),
            state("SR/S", &[[2.9, 2.99], [2.99, 0.0]]),
            state("S/S", &[[5.0, 0.0], [5.0, 0.0]]),
        ];
        let complete = mirrored(listed.clone()).unwrap();
        assert_eq!(complete[..3], listed);
        assert_eq!(complete[3], state("N/S", &[[0.0, 0.0], [6.0, 0.0]]));
        assert_eq!(complete[4], state("S/SR", &[[2.99, 0.0], [2.9, 2.99]]));
        assert_eq!(complete.len(), 5);
        assert_eq!(mirrored(complete.clone()).unwrap(), complete, "nothing to add");
        let four = state("S/N/R/SR", &[[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.0, 1.0]]);
        assert_eq!(mirrored(vec![four]).unwrap().len(), 24);
        assert!(mirrored(vec![state("all", &[[1.0, 1.0]; 2])]).is_err());
        let nine = state("a/b/c/d/e/f/g/h/i", &[[1.0, 1.0]; 9]);
        assert!(mirrored(vec![nine]).unwrap_err().to_string().contains("65536 states"));
    }

    /// All states of `devices` equal devices whose rates fall with the number of directions busy.
    fn all_states(devices: u32, mut noise: impl FnMut() -> f64) -> Vec<State> {
        (0..4u32.pow(devices))
            .map(|code| {
                let actions: Vec<u32> = (0..devices).map(|d| code / 4u32.pow(d) % 4).collect();
                let busy: u32 = actions.iter().map(|a| a.count_ones()).sum();
                let rates = actions.iter().map(|&a| {
                    let rate = 6.0 / f64::from(busy.max(1)).powf(0.6) * (1.0 + noise());
                    [f64::from(a & 1) * rate, f64::from(a >> 1) * rate]
                });
                let names = ["N", "S", "R", "SR"];
                let name: Vec<&str> = actions.iter().map(|&a| names[a as usize]).collect();
                state(&name.join("/"), &rates.collect::<Vec<_>>())
            })
            .collect()
    }

    #[test]
    fn four_devices_with_256_states_move_exactly_what_is_asked_in_the_least_time() {
        let mut rng = Pcg64Mcg::seed_from_u64(4);
        let states = all_states(4, || rng.random_range(-0.2..0.2));
        assert_eq!(states.len(), 256);
        let amounts: Vec<Both> = [(3.0, 1.0), (2.0, 2.5), (0.0, 4.0), (1.0, 0.0)]
            .map(|(upload, download)| Both { upload, download })
            .to_vec();
        let seconds = min_time(&states, &amounts).unwrap();
        let moved = |device: usize, part: fn(&Both) -> f64| -> f64 {
            states.iter().zip(&seconds).map(|(s, t)| part(&s.rates[device]) * t).sum()
        };
        for (device, amount) in amounts.iter().enumerate() {
            assert!(moved(device, |b| b.upload) >= amount.upload - 1e-9);
            assert!(moved(device, |b| b.download) >= amount.download - 1e-9);
        }
        // A basic solution spends time in no more states than there are amounts.
        assert!(seconds.iter().filter(|t| **t > 1e-9).count() <= 7);
        // One device after the other is a solution, hence an upper bound.
        let alone: f64 = amounts
            .iter()
            .enumerate()
            .map(|(device, &amount)| {
                let mut one = vec![Both::default(); 4];
                one[device] = amount;
                min_time(&states, &one).unwrap().iter().sum::<f64>()
            })
            .sum();
        assert!(seconds.iter().sum::<f64>() <= alone + 1e-9);
    }
}
