//! How the devices compare on each workload of the common set.

use super::cells;
use crate::result_matrix::ResultMatrix;
use gpubench_stats::{Overall, Rounds, clear_best, overalls, t_quantile};
use serde::Serialize;
use std::collections::BTreeMap;

/// The devices on a workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Winner {
    /// The workload.
    pub workload: String,
    /// Its family.
    pub family: String,
    /// Its cases in the common set.
    pub cases: usize,
    /// The fastest device.
    pub device: usize,
    /// Its speed over the second's.
    pub lead: f64,
    /// Whether its interval lies apart from all others' and is narrower than its lead.
    pub is_clear: bool,
    /// Every device, in the order of their numbers.
    pub speeds: Vec<WorkloadSpeed>,
}

/// A device's speed on a workload.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WorkloadSpeed {
    /// The device.
    pub device: usize,
    /// The fastest device's time over its own: 1 for the fastest.
    pub speed: f64,
    /// The same at the ends of its own interval.
    pub interval: [f64; 2],
}

/// Each workload of the common cases; none for a device alone.
pub(super) fn winners(matrix: &ResultMatrix, devices: &[usize], common: &[usize]) -> Vec<Winner> {
    if devices.len() < 2 {
        return vec![];
    }
    let mut workloads: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, &case) in common.iter().enumerate() {
        workloads.entry(&matrix.cases[case].key.workload).or_default().push(place);
    }
    let times: Vec<Vec<Time>> = devices
        .iter()
        .map(|&device| {
            let rounds = cells(matrix, device, common).map(|cell| *cell.rounds());
            times(&rounds.collect::<Vec<Rounds>>())
        })
        .collect();
    let winner = |(workload, places): (&str, Vec<usize>)| {
        let means: Vec<Time> = times.iter().map(|of| mean(of, &places)).collect();
        let mut order: Vec<usize> = (0..devices.len()).collect();
        order.sort_by(|&a, &b| means[a].0.total_cmp(&means[b].0));
        let (first, second) = (order[0], order[1]);
        let best = means[first].0;
        let speed = |(&device, (time, [low, high])): (&usize, &Time)| WorkloadSpeed {
            device,
            speed: best / time,
            interval: [best / high, best / low],
        };
        Winner {
            workload: workload.to_owned(),
            family: matrix.cases[common[places[0]]].family.clone(),
            cases: places.len(),
            device: devices[first],
            lead: means[second].0 / best,
            is_clear: clear_best(&means) == Some(first),
            speeds: devices.iter().zip(&means).map(speed).collect(),
        }
    };
    workloads.into_iter().map(winner).collect()
}

/// A time and its 95 % interval.
type Time = (f64, [f64; 2]);

/// Prior degrees of freedom: as many rounds as the usual case's variance counts for. Set by hand; a device with few
/// cases cannot say how many.
const PRIOR: f64 = 4.0;

/// A device's times of the common cases. With several rounds a case's variance is moderated: the mean of its own and of
/// the usual case's, weighted by their degrees of freedom (Smyth 2004). [`overalls`] estimates the prior, too,
/// which takes longer than a ranking of a thousand runs may.
fn times(rounds: &[Rounds]) -> Vec<Time> {
    let variance = |rounds: &Rounds| rounds.squares / (f64::from(rounds.count) - 1.0);
    let several: Vec<f64> = rounds.iter().filter(|one| one.count > 1).map(variance).collect();
    if several.len() < 2 {
        let found = overalls(rounds).into_iter().zip(rounds);
        // A cell of the common set has a value.
        let time = |(found, rounds): (Option<Overall>, &Rounds)| {
            let value = rounds.mean.exp();
            found.map_or((value, [value; 2]), |time| (time.value, time.interval))
        };
        return found.map(time).collect();
    }
    let usual = several.iter().sum::<f64>() / several.len() as f64;
    let mut quantiles: BTreeMap<u32, f64> = BTreeMap::new();
    let time = |rounds: &Rounds| {
        let freedom = PRIOR + f64::from(rounds.count) - 1.0;
        let quantile = *quantiles.entry(rounds.count).or_insert_with(|| t_quantile(freedom, 0.975));
        let half = quantile
            * ((PRIOR * usual + rounds.squares) / freedom / f64::from(rounds.count)).sqrt();
        let at = |distance: f64| (rounds.mean + distance).exp();
        (at(0.0), [at(-half), at(half)])
    };
    rounds.iter().map(time).collect()
}

/// The geometric mean of some cases' times, and those of the ends of their intervals: as wide as if all
/// were off the same way, since what disturbs a device seldom disturbs one case alone.
fn mean(times: &[Time], places: &[usize]) -> Time {
    let of = |value: fn(&Time) -> f64| {
        let times = places.iter().filter_map(|&place| times.get(place));
        (times.map(|time| value(time).ln()).sum::<f64>() / places.len() as f64).exp()
    };
    (of(|time| time.0), [of(|time| time.1[0]), of(|time| time.1[1])])
}
