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
            let rounds = cells(matrix, device, common).map(|cell| cell.rounds().clone());
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
    let variance = |rounds: &Rounds| rounds.squares() / (f64::from(rounds.count) - 1.0);
    let several: Vec<f64> = rounds.iter().filter(|one| one.count > 1).map(variance).collect();
    if several.len() < 2 {
        let found = overalls(rounds).into_iter().zip(rounds);
        // A cell of the common set has a value.
        let time = |(found, rounds): (Option<Overall>, &Rounds)| {
            let value = rounds.mean().exp();
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
            * ((PRIOR * usual + rounds.squares()) / freedom / f64::from(rounds.count)).sqrt();
        let at = |distance: f64| (rounds.mean() + distance).exp();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result_matrix::result_matrix;
    use gpubench_core::record::Record;
    use gpubench_core::record::sample::{device, header, key, record};
    use gpubench_stats::Summary;

    fn rounds(logs: &[f64]) -> Rounds {
        let mut rounds = Rounds::default();
        for log in logs {
            rounds.add(&Summary::of(&[log.exp(); 20]).unwrap());
        }
        rounds
    }

    /// Variances of 0.0001 and 0.00025, usually 0.000175; half-widths by Student's t of 4 and the rounds' own degrees of
    /// freedom, 2.4469 of 6, 2.3060 of 8 and 2.7764 of 4.
    #[test]
    fn a_variance_is_moderated_by_the_usual_one() {
        let steady = rounds(&[-0.01, 0.0, 0.01]);
        let restless = rounds(&[-0.02, -0.01, 0.0, 0.01, 0.02].map(|log| log + 2f64.ln()));
        let halves: [f64; 3] = [0.017_302_3, 0.015_033_3, 0.036_728_9];
        let found = times(&[steady.clone(), restless.clone(), rounds(&[3f64.ln()])]);
        for ((time, [low, high]), (middle, half)) in
            found.iter().zip([1.0, 2.0, 3.0].iter().zip(halves))
        {
            let near = |x: f64, y: f64| assert!((x / y - 1.0).abs() < 1e-6, "{x} is not {y}");
            near(*time, *middle);
            near(*low, middle * (-half).exp());
            near(*high, middle * half.exp());
        }
        assert_eq!(found.len(), 3);
        // Two with several rounds are enough.
        assert_eq!(times(&[steady, restless])[..], found[..2]);
    }

    /// Cases of 3 and of 6 s, whose rounds scatter alike.
    #[test]
    fn speeds_are_the_best_time_over_each() {
        let of = |device: usize, n: i64, round: u32, by: f64| {
            let seconds = [3.0, 6.0][device] * (by * f64::from(round)).exp();
            Record { device, round, ..record(key("a", n), seconds) }
        };
        let each = |n| {
            (0..2).flat_map(move |device| {
                (0..3).map(move |round| of(device, n, round, 0.01 * n as f64))
            })
        };
        let records: Vec<Record> = (1..3).flat_map(each).collect();
        let header = header(vec![device("opencl"), device("wgpu")]);
        let matrix = result_matrix([(&header, &records[..])]);
        let found = winners(&matrix, &[0, 1], &[0, 1]);
        let [Winner { device: 0, lead, speeds, .. }] = &found[..] else { panic!("{found:?}") };
        assert!((lead - 2.0).abs() < 1e-9, "{found:?}");
        for (speed, wanted) in speeds.iter().zip([1.0, 0.5]) {
            let [low, high] = speed.interval;
            assert!(
                (speed.speed - wanted).abs() < 1e-9 && low < wanted && wanted < high,
                "{found:?}"
            );
            assert!(
                (low * high - wanted * wanted).abs() < 1e-9,
                "as far on either side: {found:?}"
            );
            assert!(high / low > 1.01);
        }
    }
}
