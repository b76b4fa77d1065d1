//! Star-shaped stencils on grids of up to three dimensions.

use super::{Data, Problem, map};
use gpubench_core::error::Result;

/// Five points on a plane: `centre` times the point plus `side` times its four neighbours.
/// The outermost points are copied.
///
/// # Errors
/// As [`super::Reference`].
pub fn stencil_2d_5(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let shape = [problem.size("rows")?, problem.size("cols")?];
    star(problem, &shape, &weights(problem, ["centre", "side"])?)
}

/// Seven points in space: `centre` times the point plus `side` times its six neighbours.
/// The outermost points are copied.
///
/// # Errors
/// As [`super::Reference`].
pub fn stencil_3d_7(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    star(problem, &space(problem)?, &weights(problem, ["centre", "side"])?)
}

/// Thirteen points in space: `centre` times the point plus `near` times its six neighbours
/// plus `far` times the six behind them. The two outermost layers are copied.
///
/// # Errors
/// As [`super::Reference`].
pub fn stencil_3d_13(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    star(problem, &space(problem)?, &weights(problem, ["centre", "near", "far"])?)
}

fn space(problem: &Problem) -> Result<[usize; 3]> {
    Ok([problem.size("planes")?, problem.size("rows")?, problem.size("cols")?])
}

/// Weights by distance, rounded as the kernel sees them.
fn weights<const N: usize>(problem: &Problem, names: [&str; N]) -> Result<Vec<f64>> {
    names.iter().map(|name| Ok(f64::from(problem.number(name)? as f32))).collect()
}

/// One step on a grid of `shape` (slowest axis first): a point becomes the sum of its
/// neighbours along every axis, each times the weight of its distance.
fn star(problem: &Problem, shape: &[usize], weights: &[f64]) -> Result<Vec<(&'static str, Data)>> {
    let len = shape.iter().fold(1, |len: usize, &size| len.saturating_mul(size));
    let before = problem.f32("before", len)?;
    let after = map(len, |i| point(before, i, shape, weights));
    Ok(vec![("after", Data::F32(after))])
}

fn point(before: &[f32], i: usize, shape: &[usize], weights: &[f64]) -> f32 {
    let reach = weights.len() - 1;
    let mut sum = weights[0] * f64::from(before[i]);
    let mut stride = 1;
    for &size in shape.iter().rev() {
        let at = i / stride % size;
        if at < reach || at + reach >= size {
            return before[i];
        }
        for (distance, weight) in weights.iter().enumerate().skip(1) {
            let [low, high] = [i - distance * stride, i + distance * stride];
            sum += weight * (f64::from(before[low]) + f64::from(before[high]));
        }
        stride *= size;
    }
    sum as f32
}

#[cfg(test)]
mod tests {
    use super::super::Reference;
    use super::*;

    fn step(how: Reference, numbers: &[(&str, f64)], before: &[f32]) -> Vec<f32> {
        let numbers = numbers.iter().map(|&(name, x)| (name.to_owned(), x)).collect();
        let buffers = vec![("before".to_owned(), Data::F32(before.to_vec()))];
        match how(&Problem::new(numbers, buffers)).unwrap().remove(0) {
            ("after", Data::F32(v)) => v,
            other => panic!("{other:?}"),
        }
    }

    fn cube(n: usize, rest: &[(&'static str, f64)]) -> Vec<(&'static str, f64)> {
        let n = n as f64;
        [&[("planes", n), ("rows", n), ("cols", n)], rest].concat()
    }

    #[test]
    fn hand_computed_five_points() {
        let numbers = [("rows", 3.0), ("cols", 4.0), ("centre", 0.5), ("side", 0.25)];
        let before = [1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12.];
        let mut expected = before;
        expected[5] = 0.5 * 6. + 0.25 * (2. + 10. + 5. + 7.);
        expected[6] = 0.5 * 7. + 0.25 * (3. + 11. + 6. + 8.);
        assert_eq!(step(stencil_2d_5, &numbers, &before), expected);
    }

    #[test]
    fn a_point_spreads_to_exactly_its_neighbours() {
        let n = 9;
        let at = |z: usize, y: usize, x: usize| (z * n + y) * n + x;
        let mut before = vec![0.0; n * n * n];
        before[at(4, 4, 4)] = 1.0;
        let seven = step(stencil_3d_7, &cube(n, &[("centre", 2.0), ("side", 3.0)]), &before);
        assert_eq!(seven[at(4, 4, 4)], 2.0);
        assert_eq!([seven[at(3, 4, 4)], seven[at(4, 5, 4)], seven[at(4, 4, 3)]], [3.0; 3]);
        assert_eq!(seven.iter().filter(|&&x| x != 0.0).count(), 7);
        let weights = [("centre", 2.0), ("near", 3.0), ("far", 5.0)];
        let thirteen = step(stencil_3d_13, &cube(n, &weights), &before);
        assert_eq!([thirteen[at(4, 4, 4)], thirteen[at(4, 3, 4)]], [2.0, 3.0]);
        assert_eq!([thirteen[at(2, 4, 4)], thirteen[at(4, 6, 4)], thirteen[at(4, 4, 6)]], [5.0; 3]);
        assert_eq!(thirteen.iter().filter(|&&x| x != 0.0).count(), 13);
    }

    #[test]
    fn weights_of_sum_one_keep_a_linear_field() {
        let n = 9;
        let field: Vec<f32> =
            (0..n * n * n).map(|i| (i / (n * n) + 2 * (i / n % n) + 3 * (i % n)) as f32).collect();
        let seven = cube(n, &[("centre", 0.25), ("side", 0.125)]);
        assert_eq!(step(stencil_3d_7, &seven, &field), field);
        let thirteen = cube(n, &[("centre", 0.25), ("near", 0.1875), ("far", -0.0625)]);
        assert_eq!(step(stencil_3d_13, &thirteen, &field), field);
    }

    #[test]
    fn a_grid_of_nothing_but_edge_is_copied() {
        for n in [1, 2] {
            let field: Vec<f32> = (0..n * n * n).map(|i| i as f32).collect();
            let seven = cube(n, &[("centre", 0.0), ("side", 0.0)]);
            assert_eq!(step(stencil_3d_7, &seven, &field), field);
        }
    }
}
