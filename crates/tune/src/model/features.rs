//! Numbers about each variant that its time is likely to follow.

use super::roles::{Roles, odd_part};
use crate::space::Space;

/// Beyond 16 an odd part is as bad as any.
const LARGEST_ODD: f64 = 16.0;

/// A row of features a variant, each feature with mean 0 and deviation 1 over the space.
#[derive(Debug)]
pub struct Features {
    rows: Vec<f64>,
    width: usize,
}

impl Features {
    /// Each parameter (its log where it is positive and has more than two values), and of the group's shape
    /// and outputs a work-item what their products say; the log of the expected time, where there is one. What is the
    /// same in all variants is left out.
    pub fn of(space: &Space, roles: &Roles, expected: &[f64]) -> Self {
        let mut columns: Vec<Vec<f64>> = (0..space.names().len())
            .map(|parameter| {
                let values = space.values(parameter);
                let log = values.len() > 2 && values.iter().all(|value| *value > 0.0);
                let column = space.variants().iter().map(|one| one[parameter]);
                column.map(|value| if log { value.log2() } else { value }).collect()
            })
            .collect();
        let derived: Vec<Vec<f64>> =
            space.variants().iter().map(|values| derived(values, roles)).collect();
        columns.extend(
            (0..derived[0].len()).map(|at| derived.iter().map(|row| row[at]).collect::<Vec<_>>()),
        );
        if !expected.is_empty() {
            columns.push(expected.to_vec());
        }
        columns.retain_mut(|column| standardise(column));
        let rows = (0..space.len()).flat_map(|i| columns.iter().map(move |column| column[i]));
        Self { rows: rows.collect(), width: columns.len() }
    }

    /// How many there are.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Those of a variant.
    pub fn row(&self, variant: usize) -> &[f64] {
        &self.rows[variant * self.width..(variant + 1) * self.width]
    }
}

/// Work-items a group, outputs a work-item and a group; of each axis the outputs a group and their odd part;
/// whether all of these are powers of two, as most problems' sizes are.
fn derived(values: &[f64], roles: &Roles) -> Vec<f64> {
    if !roles.shapes_group() && !roles.shapes_tile() {
        return vec![];
    }
    let product = |numbers: [f64; 3]| numbers.iter().product::<f64>();
    let (group, tile) = (product(roles.group(values)), product(roles.tile(values)));
    let spans = roles.spans(values);
    let odd: Vec<f64> = spans.iter().map(|span| odd_part(*span).min(LARGEST_ODD)).collect();
    let even = odd.iter().all(|odd| *odd == 1.0);
    let mut features = vec![group.log2(), tile.log2(), (group * tile).log2()];
    features.extend(spans.iter().map(|span| span.log2()));
    features.extend(odd.iter().map(|odd| odd.log2()));
    features.push(f64::from(even));
    features
}

/// To mean 0 and deviation 1, however small or large the values; false where all are the same.
fn standardise(column: &mut [f64]) -> bool {
    if column.iter().all(|value| *value == column[0]) {
        return false;
    }
    let largest = column.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    // A power of two leaves their digits alone.
    let scale = largest.log2().floor().min(1023.0).exp2();
    column.iter_mut().for_each(|value| *value /= scale);
    let count = column.len() as f64;
    let mean = column.iter().sum::<f64>() / count;
    let deviation = (column.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
    for value in &mut *column {
        *value = (*value - mean) / deviation;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_odd_parts_join_the_parameters() {
        let names = ["block_size_x", "tile_size_x", "flag"].map(String::from);
        let variants = vec![vec![32.0, 1.0, 0.0], vec![64.0, 3.0, 0.0], vec![128.0, 2.0, 1.0]];
        let space = Space::new(names.into(), variants).unwrap();
        assert_eq!(
            derived(&space.variants()[1], &Roles::of(&space)),
            [6.0, 3f64.log2(), 192f64.log2(), 192f64.log2(), 3f64.log2(), 0.0]
        );
        let features = Features::of(&space, &Roles::of(&space), &[]);
        assert_eq!(features.width(), 9);
        for at in 0..features.width() {
            let sum: f64 = (0..3).map(|variant| features.row(variant)[at]).sum();
            assert!(sum.abs() < 1e-12);
        }
    }

    #[test]
    fn spaces_without_known_names_have_their_parameters_only() {
        let variants = vec![vec![1.0, 5.0], vec![2.0, 5.0]];
        let space = Space::new(vec!["a".into(), "b".into()], variants).unwrap();
        let features = Features::of(&space, &Roles::of(&space), &[]);
        assert_eq!(
            (features.width(), features.row(0), features.row(1)),
            (1, &[-1.0][..], &[1.0][..])
        );
    }
}
