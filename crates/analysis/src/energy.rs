//! Work per joule, and the devices that no other beats in both speed and work per joule.
//!
//! Performance over power is work over time over power, which is work over energy: the energy of one
//! launch is all that is needed, and watts never are.

use super::result_matrix::ResultMatrix;
use gpubench_core::workload::CaseKey;
use gpubench_stats::geometric_mean;
use serde::Serialize;

/// Ranked devices by what they draw, over the cases of the overall common set whose energy all of
/// them report energy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Energy {
    /// The device whose speed and work per joule are 1: the ranking's reference, or the first row's
    /// where that reports no energy.
    pub reference: usize,
    /// The rows, the most work per joule first.
    pub rows: Vec<EnergyRow>,
    /// The cases.
    pub common: Vec<CaseKey>,
    /// Ranked devices that no case's energy is known of: not measured.
    pub unknown: Vec<usize>,
}

/// A device's speed and work per joule over one set of cases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EnergyRow {
    /// The device.
    pub device: usize,
    /// Geometric mean of the reference's times over its own, over these cases.
    pub speed: f64,
    /// Geometric mean of the reference's joules over its own: its performance per watt.
    pub per_joule: f64,
    /// Whether no other row is at least as good in both and better in one.
    pub pareto: bool,
}

/// Puts together what `devices` drew for the cases numbered in `common`; `None` where none of them
/// reports energy, or those that do share no case.
pub(super) fn energy(
    matrix: &ResultMatrix,
    devices: &[usize],
    common: &[usize],
    reference: usize,
) -> Option<Energy> {
    let joules = |device: usize, case: usize| matrix.cell(device, case).ok()?.joules();
    let reports = |device: &usize| common.iter().any(|&case| joules(*device, case).is_some());
    let (known, unknown): (Vec<usize>, Vec<usize>) = devices.iter().partition(|d| reports(d));
    let all_report = |case: &&usize| known.iter().all(|&device| joules(device, **case).is_some());
    let common: Vec<usize> = common.iter().filter(all_report).copied().collect();
    let first = known.iter().find(|device| **device == reference).or(known.first())?;
    let row = |&device: &usize| {
        let ratio = |of: &dyn Fn(usize, usize) -> Option<f64>| {
            let ratios =
                common.iter().filter_map(|&case| Some(of(*first, case)? / of(device, case)?));
            geometric_mean(&ratios.collect::<Vec<_>>())
        };
        let seconds = |device: usize, case: usize| Some(matrix.cell(device, case).ok()?.seconds());
        Some(EnergyRow {
            device,
            speed: ratio(&seconds)?,
            per_joule: ratio(&joules)?,
            pareto: false,
        })
    };
    let mut rows: Vec<EnergyRow> = known.iter().map(row).collect::<Option<_>>()?;
    mark_pareto(&mut rows);
    rows.sort_by(|a, b| b.per_joule.total_cmp(&a.per_joule).then(a.device.cmp(&b.device)));
    let common = common.iter().map(|&case| matrix.cases[case].key.clone()).collect();
    Some(Energy { reference: *first, rows, common, unknown })
}

fn mark_pareto(rows: &mut [EnergyRow]) {
    let all = rows.to_vec();
    for row in rows {
        let beats = |other: &EnergyRow| {
            let no_worse = other.speed >= row.speed && other.per_joule >= row.per_joule;
            no_worse && (other.speed > row.speed || other.per_joule > row.per_joule)
        };
        row.pareto = !all.iter().any(beats);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::{Options, rank};
    use crate::result_matrix;
    use gpubench_core::gpu::DeviceInfo;
    use gpubench_core::record::sample::{device, header, key, record};
    use gpubench_core::record::{Monitor, Record};

    /// Devices by the seconds and joules of their launches, the same factor in each of three cases.
    fn of(devices: &[(f64, Option<f64>)]) -> Option<Energy> {
        let named = |i| DeviceInfo { name: format!("card {i}"), ..device("opencl") };
        let header = header((0..devices.len()).map(named).collect());
        let mut records = vec![];
        for (place, &(seconds, joules)) in devices.iter().enumerate() {
            for n in 1..=3 {
                let size = n as f64;
                let joules = joules.map(|joules| joules * size);
                let monitor = Monitor { joules, ..Monitor::default() };
                records.push(Record {
                    device: place,
                    monitor,
                    ..record(key("a", n), seconds * size)
                });
            }
        }
        rank(&result_matrix([(&header, &records[..])]), &Options::default()).unwrap().energy
    }

    #[test]
    fn work_per_joule_is_the_inverse_ratio_of_energies() {
        let energy = of(&[(1.0, Some(300.0)), (2.0, Some(100.0)), (3.0, Some(200.0))]).unwrap();
        assert_eq!((energy.reference, energy.common.len()), (0, 3));
        let rows: Vec<_> = energy.rows.iter().map(|row| (row.device, row.pareto)).collect();
        // The third is slower than the second and draws more.
        assert_eq!(rows, [(1, true), (2, false), (0, true)]);
        assert!((energy.rows[0].per_joule - 3.0).abs() < 1e-12);
        assert!((energy.rows[0].speed - 0.5).abs() < 1e-12);
    }

    #[test]
    fn equals_are_both_in_the_set() {
        let energy = of(&[(1.0, Some(5.0)), (1.0, Some(5.0))]).unwrap();
        assert!(energy.rows.iter().all(|row| row.pareto));
    }

    #[test]
    fn what_was_not_measured_is_named() {
        assert_eq!(of(&[(1.0, None), (2.0, None)]), None);
        let energy = of(&[(1.0, None), (2.0, Some(100.0))]).unwrap();
        assert_eq!((energy.reference, energy.unknown.as_slice()), (1, &[0][..]));
        assert_eq!(energy.rows.len(), 1);
    }

    #[test]
    fn of_equally_fast_ones_the_thriftier_is_in_the_set() {
        let energy = of(&[(1.0, Some(5.0)), (1.0, Some(10.0)), (2.0, Some(5.0))]).unwrap();
        let pareto = |device| energy.rows.iter().find(|row| row.device == device).unwrap().pareto;
        assert_eq!([0, 1, 2].map(pareto), [true, false, false]);
    }
}
