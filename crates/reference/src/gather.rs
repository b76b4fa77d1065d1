//! Strided gathers.

use super::{Data, Problem, map};
use gpubench_core::error::Result;

/// `out[i] = a[i] + b[d*i + f]` for `i` below `n`.
pub fn gather(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let n = problem.size("n")?;
    let (d, f) = (problem.size("d")?, problem.size("f")?);
    let a = problem.f32("a", n)?;
    let last = n.saturating_sub(1).saturating_mul(d).saturating_add(f);
    let b = problem.f32("b", if n == 0 { 0 } else { last.saturating_add(1) })?;
    Ok(vec![("out", Data::F32(map(n, |i| a[i] + b[d * i + f])))])
}

/// `out[i] = a[i] + Σ b[d*((i + j*shift) mod n) + f]` for `i` below `n`, `j` below `times`, summed in their order.
///
/// # Errors
/// As [`super::Reference`].
pub fn gather_again(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let (n, times, shift) = (problem.size("n")?, problem.size("times")?, problem.size("shift")?);
    let (d, f) = (problem.size("d")?, problem.size("f")?);
    let a = problem.f32("a", n)?;
    let last = n.saturating_sub(1).saturating_mul(d).saturating_add(f);
    let b = problem.f32("b", if n == 0 { 0 } else { last.saturating_add(1) })?;
    let read = |i: usize, j: usize| {
        // Wider than a place: no sum of so many shifts runs over.
        let at = (i as u128 + j as u128 * shift as u128) % n as u128;
        b[d * at as usize + f]
    };
    let out = map(n, |i| (0..times).fold(a[i], |sum, j| sum + read(i, j)));
    Ok(vec![("out", Data::F32(out))])
}

/// `out[y][x] = a[y][x] + b[dx*x + dy*y + f]` for `x` below `cols` and `y` below `rows`.
///
/// # Errors
/// As [`super::Reference`].
pub fn gather_two(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let (cols, rows) = (problem.size("cols")?, problem.size("rows")?);
    let (dx, dy, f) = (problem.size("dx")?, problem.size("dy")?, problem.size("f")?);
    let len = cols.saturating_mul(rows);
    let last = |n: usize, stride: usize| n.saturating_sub(1).saturating_mul(stride);
    let reach = last(cols, dx).saturating_add(last(rows, dy)).saturating_add(f);
    let a = problem.f32("a", len)?;
    let b = problem.f32("b", if len == 0 { 0 } else { reach.saturating_add(1) })?;
    let out = map(len, |i| a[i] + b[dx * (i % cols) + dy * (i / cols) + f]);
    Ok(vec![("out", Data::F32(out))])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(n: usize, d: usize, f: usize) -> Problem {
        let numbers = [("n", n), ("d", d), ("f", f), ("times", 2), ("shift", 2)];
        Problem::new(
            numbers.map(|(name, value)| (name.to_owned(), value as f64)).into(),
            vec![
                ("a".to_owned(), Data::F32(vec![100.0, 200.0, 300.0])),
                ("b".to_owned(), Data::F32((0..8).map(|i| i as f32).collect())),
            ],
        )
    }

    #[test]
    fn hand_computed() {
        let out = gather(&problem(3, 3, 1)).unwrap();
        assert_eq!(out, [("out", Data::F32(vec![101.0, 204.0, 307.0]))]);
    }

    #[test]
    fn hand_computed_again() {
        // The first adds the numbers at 1 and 7, the second at 4 and 1, the third at 7 and 4.
        let out = gather_again(&problem(3, 3, 1)).unwrap();
        assert_eq!(out, [("out", Data::F32(vec![108.0, 205.0, 311.0]))]);
    }

    #[test]
    fn hand_computed_two_strides() {
        let numbers = [("cols", 3), ("rows", 2), ("dx", 1), ("dy", 4), ("f", 1)];
        let problem = Problem::new(
            numbers.map(|(name, value)| (name.to_owned(), f64::from(value))).into(),
            vec![
                ("a".to_owned(), Data::F32(vec![10., 20., 30., 40., 50., 60.])),
                ("b".to_owned(), Data::F32((0..8).map(|i| i as f32).collect())),
            ],
        );
        let out = Data::F32(vec![11., 22., 33., 45., 56., 67.]);
        assert_eq!(gather_two(&problem).unwrap(), [("out", out)]);
    }

    #[test]
    fn a_stride_past_the_end_is_an_error() {
        assert!(gather(&problem(3, 3, 2)).is_err());
        assert!(gather(&problem(3, 1 << 63, 0)).is_err(), "2 × 2^63 is 0 in 64 bits");
        assert!(gather(&problem(1, 1, usize::MAX)).is_err());
    }
}
