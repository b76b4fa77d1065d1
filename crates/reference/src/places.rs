//! Lists of places.

use super::{Data, Problem, map};
use gpubench_core::error::Result;

/// `distances` of `n` places from the point (`x`, `y`).
///
/// # Errors
/// As [`super::Reference`].
pub fn nearest(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let n = problem.size("n")?;
    let [x, y] = [problem.number("x")?, problem.number("y")?].map(|x| f64::from(x as f32));
    let places = &problem.f32("place", n.saturating_mul(2))?[..2 * n];
    let distance = |place: &[f32]| (f64::from(place[0]) - x).hypot(f64::from(place[1]) - y) as f32;
    Ok(vec![("distances", Data::F32(places.chunks_exact(2).map(distance).collect()))])
}

/// Resampling of `n` particles: each takes the place of the first whose cumulative weight is not
/// below `n` times its draw, and of the last where there is none.
///
/// # Errors
/// As [`super::Reference`].
pub fn particle(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let n = problem.size("n")?;
    let weights = &problem.f32("cumulative", n)?[..n];
    let draws = problem.f32("draw", n)?;
    let places = problem.f32("place", n.saturating_mul(2))?;
    let taken = map(n, |i| {
        let wanted = draws[i] * n as f32;
        let found = weights.iter().position(|&weight| weight >= wanted).unwrap_or(n - 1);
        [places[2 * found], places[2 * found + 1]]
    });
    Ok(vec![("taken", Data::F32(taken.concat()))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hand_computed_distances() {
        let numbers = [("n", 2.0), ("x", 1.0), ("y", -1.0)];
        let place = Data::F32(vec![4.0, 3.0, 1.0, -1.0]);
        let problem = Problem::new(
            numbers.map(|(name, x)| (name.to_owned(), x)).into(),
            vec![("place".to_owned(), place)],
        );
        assert_eq!(nearest(&problem).unwrap(), [("distances", Data::F32(vec![5.0, 0.0]))]);
    }

    #[test]
    fn particles_take_the_place_of_heavy_ones() {
        let buffer = |name: &str, v: Vec<f32>| (name.to_owned(), Data::F32(v));
        let problem = Problem::new(
            vec![("n".to_owned(), 4.0)],
            vec![
                // The third weighs 2.5 of 4.
                buffer("cumulative", vec![0.5, 1.0, 3.5, 3.75]),
                buffer("draw", vec![0.5, 0.25, 0.99, 0.0]),
                buffer("place", vec![1., 10., 2., 20., 3., 30., 4., 40.]),
            ],
        );
        let taken = Data::F32(vec![3., 30., 2., 20., 4., 40., 1., 10.]);
        assert_eq!(particle(&problem).unwrap(), [("taken", taken)]);
    }
}
