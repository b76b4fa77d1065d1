//! What a ranking's mean is over: the common cases, family by family, each with its weight.

use super::Share;
use crate::result_matrix::{ResultMatrix, by_family};
use gpubench_core::workload::Size;
use gpubench_stats::Stratum;
use std::collections::BTreeMap;

/// The common cases' logarithms of speed (1 over seconds).
pub(super) struct Columns {
    /// By device, then column.
    pub speeds: Vec<Vec<f64>>,
    /// Every case, with its part in the mean: they add up to 1.
    pub parts: Vec<(usize, f64)>,
    /// The families in the order of their columns: name, share, number of columns.
    families: Vec<(String, f64, usize)>,
}

impl Columns {
    /// Of `common` cases on `devices`, families weighted by `weights` or by 1. Families without any weight
    /// count alike where all of them have none.
    pub fn new(
        matrix: &ResultMatrix,
        devices: &[usize],
        common: &[usize],
        weights: &BTreeMap<String, f64>,
    ) -> Self {
        let grouped: Vec<(&str, Vec<Vec<usize>>)> =
            by_family(&matrix.cases, common.iter().copied())
                .into_iter()
                .map(|(name, cases)| (name, columns(matrix, cases)))
                .collect();
        let weight = |name: &str| weights.get(name).copied().unwrap_or(1.0);
        let all: f64 = grouped.iter().map(|(name, _)| weight(name)).sum();
        let share = |name: &str| match all > 0.0 {
            true => weight(name) / all,
            false => 1.0 / grouped.len() as f64,
        };
        let families: Vec<(String, f64, usize)> = grouped
            .iter()
            .map(|(name, columns)| ((*name).to_owned(), share(name), columns.len()))
            .collect();
        let mut parts = vec![];
        for ((_, columns), (_, share, count)) in grouped.iter().zip(&families) {
            for column in columns {
                let part = share / (count * column.len()) as f64;
                parts.extend(column.iter().map(|&case| (case, part)));
            }
        }
        let speeds = devices.iter().map(|&device| {
            let log =
                |&case: &usize| matrix.cell(device, case).map_or(0.0, |cell| -cell.log_seconds());
            let mean =
                |column: &Vec<usize>| column.iter().map(log).sum::<f64>() / column.len() as f64;
            grouped.iter().flat_map(|(_, columns)| columns).map(mean).collect()
        });
        Self { speeds: speeds.collect(), parts, families }
    }

    /// The families as the bootstrap draws within them.
    pub fn strata(&self) -> Vec<Stratum> {
        let one = |&(_, share, cases): &(String, f64, usize)| Stratum { cases, share };
        self.families.iter().map(one).collect()
    }

    /// What each family weighs.
    pub fn shares(&self) -> Vec<Share> {
        let one = |(family, share, cases): &(String, f64, usize)| Share {
            family: family.clone(),
            share: *share,
            cases: *cases,
        };
        self.families.iter().map(one).collect()
    }

    /// The devices' means without each of the families; nothing where there is one alone.
    pub fn means_without(&self) -> Vec<(String, Vec<f64>)> {
        let weighing = self.families.iter().filter(|(_, share, _)| *share > 0.0).count();
        let dropped = self.families.iter().filter(|(_, share, _)| weighing > 1 && *share > 0.0);
        dropped.map(|(name, ..)| (name.clone(), self.means(name))).collect()
    }

    fn means(&self, without: &str) -> Vec<f64> {
        let mean = |speeds: &Vec<f64>| {
            let (mut first, mut sum, mut all) = (0, 0.0, 0.0);
            for (name, share, count) in &self.families {
                let family = &speeds[first..first + count];
                first += count;
                if name != without {
                    sum += share * family.iter().sum::<f64>() / *count as f64;
                    all += share;
                }
            }
            sum / all
        };
        self.speeds.iter().map(mean).collect()
    }
}

/// The cases of a family as they count: copies of one size by other ways (directions, kinds of host memory) as
/// one, any other case for itself.
fn columns(matrix: &ResultMatrix, cases: Vec<usize>) -> Vec<Vec<usize>> {
    let mut copies: BTreeMap<&Size, Vec<usize>> = BTreeMap::new();
    let mut columns = vec![];
    for case in cases {
        let key = &matrix.cases[case].key;
        match key.host_memory {
            Some(_) => copies.entry(&key.size).or_default().push(case),
            None => columns.push(vec![case]),
        }
    }
    columns.extend(copies.into_values());
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result_matrix::result_matrix;
    use gpubench_core::record::Record;
    use gpubench_core::record::sample::{device, header, key, record};

    /// Logarithms of speeds by family: 1 and 3 of compute, 10 of memory, 4 of overlap.
    fn of(weights: [f64; 3]) -> Columns {
        let one = |n, family: &str, log: f64| Record {
            family: family.to_owned(),
            ..record(key("a", n), (-log).exp())
        };
        let records = [
            one(1, "compute", 1.0),
            one(2, "compute", 3.0),
            one(3, "memory", 10.0),
            one(4, "overlap", 4.0),
        ];
        let matrix = result_matrix([(&header(vec![device("opencl")]), &records[..])]);
        let names = ["compute", "memory", "overlap"].map(str::to_owned);
        Columns::new(&matrix, &[0], &[0, 1, 2, 3], &names.into_iter().zip(weights).collect())
    }

    #[test]
    fn a_mean_without_a_family_is_that_of_the_others_by_their_shares() {
        // Shares of 3/8, 1/8 and 1/2.
        let found = of([3.0, 1.0, 4.0]).means_without();
        let wanted = [
            ("compute", (10.0 / 8.0 + 4.0 / 2.0) / (5.0 / 8.0)),
            ("memory", (2.0 * 3.0 / 8.0 + 4.0 / 2.0) / (7.0 / 8.0)),
            ("overlap", (2.0 * 3.0 / 8.0 + 10.0 / 8.0) / (4.0 / 8.0)),
        ];
        assert_eq!(found.len(), wanted.len());
        for ((name, means), (family, mean)) in found.iter().zip(wanted) {
            assert!(name == family && (means[0] - mean).abs() < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn what_weighs_nothing_is_not_held_out() {
        let names = |weights| -> Vec<String> {
            of(weights).means_without().into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(names([1.0, 1.0, 0.0]), ["compute", "memory"]);
        assert!(names([1.0, 0.0, 0.0]).is_empty(), "nothing would be left");
    }
}
