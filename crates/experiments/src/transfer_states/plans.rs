//! Transfer plans of least time, made of measured states, and run: state after state.

use super::run::Movers;
use crate::Stage;
use crate::transfer_states::data::PlanRun;
use gpubench_core::error::Result;
use gpubench_model::transfer_states::{Both, State, min_time};
use gpubench_model::transfer_symmetry::completed;

/// What is to be uploaded to and downloaded from every device, in parts.
const MIXES: [[f64; 2]; 3] = [[1.0, 1.0], [5.0, 1.0], [1.0, 5.0]];
/// How often a plan and its rival are run.
const SAMPLES: usize = 3;
/// Shortest and longest plan, in seconds.
const PLAN_SECONDS: [f64; 2] = [0.15, 0.5];
/// Copies are multiples of this.
const ALIGNMENT: f64 = 4.0;
/// What would take a smaller share of a plan's time is left to its other states.
const TRIFLE: f64 = 1e-3;

/// Makes and runs a plan for every mix, in about `seconds`; `measured` are the states' rates.
pub(super) fn plans(
    movers: &mut Movers,
    measured: &[State],
    classes: &[usize],
    seconds: f64,
) -> Result<Vec<PlanRun>> {
    let states = completed(measured, classes);
    let [shortest, longest] = PLAN_SECONDS;
    let each = seconds / (MIXES.len() * SAMPLES * 2) as f64;
    let each = each.clamp(shortest, longest);
    let mut runs = vec![];
    for [upload, download] in MIXES {
        movers.bench.enter(Stage::Measure);
        let mut run = plan(&states, Both { upload, download }, classes.len(), each)?;
        let legs = legs(&run, &states);
        for _ in 0..SAMPLES {
            let mut wall = 0.0;
            for leg in &legs {
                wall += movers.run(leg)?.wall;
            }
            run.planned.push(wall);
            run.at_once.push(movers.run(&run.amounts)?.wall);
        }
        runs.push(run);
    }
    Ok(runs)
}

/// The plan that moves a multiple of `mix` to and from each of so many devices in `seconds`.
fn plan(states: &[State], mix: Both, devices: usize, seconds: f64) -> Result<PlanRun> {
    let unit = min_time(states, &vec![mix; devices])?;
    let scale = seconds / unit.iter().sum::<f64>().max(1e-30);
    let bytes = |part: f64| (part * scale / ALIGNMENT).round() as u64 * ALIGNMENT as u64;
    let amounts = vec![[bytes(mix.upload), bytes(mix.download)]; devices];
    let wanted =
        |&[upload, download]: &[u64; 2]| Both { upload: upload as f64, download: download as f64 };
    let spent = min_time(states, &amounts.iter().map(wanted).collect::<Vec<_>>())?;
    let predicted = spent.iter().sum::<f64>();
    let named = states.iter().zip(&spent).filter(|(_, time)| **time > TRIFLE * predicted);
    let spent = named.map(|(state, time)| (state.name.clone(), *time)).collect();
    Ok(PlanRun { amounts, predicted, spent, planned: vec![], at_once: vec![] })
}

/// Bytes to and from each device in each state of the plan; the last state that moves in a
/// direction moves what rounding left.
fn legs(run: &PlanRun, states: &[State]) -> Vec<Vec<[u64; 2]>> {
    let mut left = run.amounts.clone();
    let spent: Vec<(&State, f64)> = run
        .spent
        .iter()
        .filter_map(|(name, time)| Some((states.iter().find(|s| s.name == *name)?, *time)))
        .collect();
    let rate = |state: &State, device: usize, way: usize| {
        let Both { upload, download } = state.rates[device];
        [upload, download][way]
    };
    let mut legs = vec![];
    for (i, (state, time)) in spent.iter().enumerate() {
        let leg = (0..left.len()).map(|device| {
            [0, 1].map(|way| {
                let later = spent[i + 1..].iter().any(|(state, _)| rate(state, device, way) > 0.0);
                let moves = rate(state, device, way) * time;
                let bytes = match (moves > 0.0, later) {
                    (false, _) => 0,
                    (true, true) => (moves / ALIGNMENT).round() as u64 * ALIGNMENT as u64,
                    (true, false) => left[device][way],
                };
                let bytes = bytes.min(left[device][way]);
                left[device][way] -= bytes;
                bytes
            })
        });
        legs.push(leg.collect());
    }
    legs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_moves_all_of_it_and_takes_as_long_as_wanted() {
        let state = |name: &str, rates: [[f64; 2]; 2]| State {
            name: name.into(),
            rates: rates.map(|[upload, download]| Both { upload, download }).to_vec(),
        };
        let states = [
            state("S/N", [[6e9, 0.0], [0.0; 2]]),
            state("N/S", [[0.0; 2], [6e9, 0.0]]),
            state("S/S", [[5e9, 0.0], [5e9, 0.0]]),
            state("SR/SR", [[2e9, 2e9], [2e9, 2e9]]),
        ];
        let run = plan(&states, Both { upload: 5.0, download: 1.0 }, 2, 0.1).unwrap();
        assert!((run.predicted - 0.1).abs() < 1e-6, "{run:?}");
        let legs = legs(&run, &states);
        assert_eq!(legs.len(), run.spent.len());
        for device in 0..2 {
            for way in 0..2 {
                let moved: u64 = legs.iter().map(|leg| leg[device][way]).sum();
                assert_eq!(moved, run.amounts[device][way]);
            }
        }
    }
}
