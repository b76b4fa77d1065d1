//! The rows of a ranking: speeds, intervals, ranks, and the order without each family.

use super::columns::Columns;
use super::workloads::winners;
use super::{Family, Options, Row, Without};
use crate::ceilings::{roof, share};
use crate::result_matrix::{Cell, ResultMatrix};
use gpubench_model::roofline::Share;
use gpubench_stats::{Noise, Replicates, Rounds, largest_first, threads};
use std::collections::BTreeMap;

/// The common cases' figures by device.
pub(super) struct Table<'a> {
    matrix: &'a ResultMatrix,
    devices: &'a [usize],
    common: &'a [usize],
    columns: Columns,
}

impl<'a> Table<'a> {
    pub fn new(
        matrix: &'a ResultMatrix,
        devices: &'a [usize],
        common: &'a [usize],
        weights: &BTreeMap<String, f64>,
    ) -> Self {
        let columns = Columns::new(matrix, devices, common, weights);
        Self { matrix, devices, common, columns }
    }

    pub fn fill(
        &self,
        family: &mut Family,
        reference: Option<usize>,
        coverage: &BTreeMap<usize, usize>,
        options: &Options,
    ) {
        let noise: Vec<Noise> = threads::map(self.devices.len(), |at| self.noise(self.devices[at]));
        let (speeds, strata) = (&self.columns.speeds, self.columns.strata());
        let count = options.replicates.max(1);
        let replicates = Replicates::draw(speeds, &strata, &noise, count, options.seed);
        let means = replicates.means();
        let order = largest_first(means);
        let asked = reference.and_then(|r| self.devices.iter().position(|&d| d == r));
        let reference = asked.unwrap_or(order[0]);
        let ranks = replicates.ranks();
        let row = |rank: usize| {
            let place = order[rank];
            Row {
                device: self.devices[place],
                speed: (means[place] - means[reference]).exp(),
                interval: replicates.interval(place, reference).map(f64::exp),
                ranks: [ranks[place][0].min(rank + 1), ranks[place][1].max(rank + 1)],
                verified: coverage[&self.devices[place]],
                rounds: self.rounds(self.devices[place]),
                roofline: self.roofline(self.devices[place]),
            }
        };
        family.rows = threads::map(order.len(), row);
        family.reference = Some(self.devices[reference]);
        family.level = replicates.level;
        family.winners = winners(self.matrix, self.devices, self.common);
        family.shares = self.columns.shares();
        family.without = self.without();
    }

    /// The order that each family's absence leaves.
    fn without(&self) -> Vec<Without> {
        let one = |(family, means): (String, Vec<f64>)| Without {
            family,
            order: largest_first(&means).into_iter().map(|place| self.devices[place]).collect(),
        };
        self.columns.means_without().into_iter().map(one).collect()
    }

    /// Fewest and most rounds of a common case.
    fn rounds(&self, device: usize) -> [u32; 2] {
        let rounds = || cells(self.matrix, device, self.common).map(|cell| cell.rounds().count);
        [rounds().min().unwrap_or(0), rounds().max().unwrap_or(0)]
    }

    /// The noise of the mean of a device: between rounds, pooled over the cases that have several;
    /// with single rounds, within them.
    fn noise(&self, device: usize) -> Noise {
        let cells = || {
            let cells = self.columns.parts.iter();
            cells.filter_map(|(case, part)| {
                Some((self.matrix.cell(device, *case).ok()?, part * part))
            })
        };
        let rounds = || cells().map(|(cell, squared)| (cell.rounds(), squared));
        let freedom: f64 = rounds().map(|(rounds, _)| f64::from(rounds.count) - 1.0).sum();
        if freedom == 0.0 {
            let variance = rounds().map(|(rounds, squared)| rounds.within() * squared).sum();
            return Noise { variance, freedom: f64::INFINITY };
        }
        let pooled = rounds().map(|(rounds, _)| rounds.squares()).sum::<f64>() / freedom;
        let each = |(rounds, squared): (&Rounds, f64)| squared * pooled / f64::from(rounds.count);
        Noise { variance: rounds().map(each).sum(), freedom }
    }

    fn roofline(&self, device: usize) -> Option<f64> {
        let cells = self.common.iter().filter_map(|&case| {
            Some((&self.matrix.cases[case], self.matrix.cell(device, case).ok()?))
        });
        share(&roof(self.matrix, device), cells).map(Share::value)
    }
}

/// The cells of the common cases, which a device has all.
pub(super) fn cells<'a>(
    matrix: &'a ResultMatrix,
    device: usize,
    common: &'a [usize],
) -> impl Iterator<Item = &'a Cell> {
    common.iter().filter_map(move |&case| matrix.cell(device, case).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result_matrix::result_matrix;
    use gpubench_core::record::Record;
    use gpubench_core::record::sample::{device, header, key, record};

    fn near(found: f64, wanted: f64) {
        assert!((found / wanted - 1.0).abs() < 1e-9, "{found} is not {wanted}");
    }

    fn rounds(n: i64, logs: &[f64]) -> Vec<Record> {
        let one = |(round, log): (u32, &f64)| Record { round, ..record(key("a", n), log.exp()) };
        (0..).zip(logs).map(one).collect()
    }

    /// Squares of 0.02 over two degrees of freedom and of 0.1 over four: 0.02 for one round of either.
    #[test]
    fn noise_is_pooled_over_cases_with_several_rounds() {
        let records =
            [rounds(1, &[-0.1, 0.0, 0.1]), rounds(2, &[-0.2, -0.1, 0.0, 0.1, 0.2])].concat();
        let matrix = result_matrix([(&header(vec![device("opencl")]), &records[..])]);
        let weights = BTreeMap::new();
        let table = Table::new(&matrix, &[0], &[0, 1], &weights);
        let Noise { variance, freedom } = table.noise(0);
        assert_eq!((freedom, table.rounds(0)), (6.0, [3, 5]));
        // Each case is half of the mean.
        near(variance, 0.02 * (1.0 / 3.0 + 1.0 / 5.0) / 4.0);
    }

    #[test]
    fn noise_of_single_rounds_is_that_within_them() {
        let mut records = [rounds(1, &[0.0]), rounds(2, &[0.0])].concat();
        for (record, step) in records.iter_mut().zip([1e-3, 3e-3]) {
            let samples = &mut record.measured.as_mut().unwrap().samples;
            samples.iter_mut().zip(0..).for_each(|(sample, i)| *sample += step * f64::from(i % 5));
        }
        let matrix = result_matrix([(&header(vec![device("opencl")]), &records[..])]);
        let weights = BTreeMap::new();
        let Noise { variance, freedom } = Table::new(&matrix, &[0], &[0, 1], &weights).noise(0);
        let within = |case| matrix.cell(0, case).unwrap().rounds().within();
        assert!(freedom.is_infinite() && within(1) > 2.0 * within(0) && within(0) > 0.0);
        near(variance, (within(0) + within(1)) / 4.0);
    }
}
