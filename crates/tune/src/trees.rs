//! Extremely randomised trees (Geurts, Ernst and Wehenkel 2006): an ensemble that needs nothing but numbers.

use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Trees of an ensemble.
const TREES: usize = 100;
/// As many measurements at the mean count against what trees say: they pass through every value, noise and all. Chosen
/// on A100 and MI250X (`docs/results/real-gpus.md`).
const DRAWN: f64 = 12.0;

/// A split, or the mean of what came there.
enum Node {
    Split { column: usize, at: f64, sides: Box<[Node; 2]> },
    Leaf(f64),
}

/// An ensemble of trees.
pub struct Trees(Vec<Node>);

impl Trees {
    /// Fits trees to `values` at `rows`; equal seeds give equal trees.
    pub fn fit(rows: &[&[f64]], values: &[f64], seed: u64) -> Self {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let all: Vec<usize> = (0..rows.len().min(values.len())).collect();
        Self((0..TREES).map(|_| grow(rows, values, all.clone(), &mut random)).collect())
    }

    /// How much to keep of what trees say that were fitted to so many values of mean 0.
    pub fn kept(values: usize) -> f64 {
        values as f64 / (values as f64 + DRAWN)
    }

    /// The mean over the trees at a row.
    pub fn predict(&self, row: &[f64]) -> f64 {
        self.0.iter().map(|tree| leaf(tree, row)).sum::<f64>() / self.0.len() as f64
    }
}

fn leaf(mut node: &Node, row: &[f64]) -> f64 {
    loop {
        match node {
            Node::Leaf(mean) => return *mean,
            Node::Split { column, at, sides } => node = &sides[usize::from(row[*column] > *at)],
        }
    }
}

/// Splits where of one random place a column the squares fall most, until all values or rows are equal.
fn grow(rows: &[&[f64]], values: &[f64], here: Vec<usize>, random: &mut impl Rng) -> Node {
    let mean = here.iter().map(|&i| values[i]).sum::<f64>() / here.len().max(1) as f64;
    let width = rows.first().map_or(0, |row| row.len());
    let mut best: Option<(f64, usize, f64)> = None;
    for column in 0..width {
        let of = || here.iter().map(|&i| rows[i][column]);
        let (low, high) =
            (of().fold(f64::INFINITY, f64::min), of().fold(f64::NEG_INFINITY, f64::max));
        if low >= high {
            continue;
        }
        let at = random.random_range(low..high);
        let gain = gain(rows, values, &here, column, at);
        if best.is_none_or(|(max_gain, ..)| gain > max_gain) {
            best = Some((gain, column, at));
        }
    }
    match best {
        Some((gain, column, at)) if here.len() > 1 && gain > 0.0 => {
            let (right, left) = here.into_iter().partition(|&i| rows[i][column] > at);
            let sides = [left, right].map(|side| grow(rows, values, side, random));
            Node::Split { column, at, sides: Box::new(sides) }
        }
        _ => Node::Leaf(mean),
    }
}

/// What a split takes off the sum of squares, up to a constant: Σ n·mean² of its sides.
fn gain(rows: &[&[f64]], values: &[f64], here: &[usize], column: usize, at: f64) -> f64 {
    let mut sides = [(0.0, 0.0); 2];
    for &i in here {
        let side = &mut sides[usize::from(rows[i][column] > at)];
        *side = (side.0 + 1.0, side.1 + values[i]);
    }
    let part = |(count, sum): (f64, f64)| if count > 0.0 { sum * sum / count } else { 0.0 };
    let whole = (sides[0].0 + sides[1].0, sides[0].1 + sides[1].1);
    let gain = part(sides[0]) + part(sides[1]) - part(whole);
    if gain > 1e-12 * part(whole).abs() { gain } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_found_and_noise_columns_do_not_hide_it() {
        let rows: Vec<Vec<f64>> =
            (0..60).map(|i| vec![f64::from(i), f64::from(i * 7919 % 61)]).collect();
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        let values: Vec<f64> = (0..60).map(|i| if i < 30 { 1.0 } else { 5.0 }).collect();
        let trees = Trees::fit(&rows, &values, 1);
        assert!((trees.predict(&[5.0, 30.0]) - 1.0).abs() < 0.2);
        assert!((trees.predict(&[55.0, 30.0]) - 5.0).abs() < 0.2);
        assert_eq!(trees.predict(&[5.0, 3.0]), Trees::fit(&rows, &values, 1).predict(&[5.0, 3.0]));
    }

    #[test]
    fn equal_rows_get_their_mean() {
        let trees = Trees::fit(&[&[1.0], &[1.0]], &[2.0, 4.0], 0);
        assert_eq!(trees.predict(&[9.0]), 3.0);
    }
}
