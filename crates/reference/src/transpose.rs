//! Transposes, read straight off their definition.
//!
//! Arrays of more than two dimensions follow MATLAB: the first dimension lies fastest in memory,
//! and the order `[o1, o2, o3]` makes dimension `k` of the result out of dimension `ok` of the
//! source, as `permute(a, [o1 o2 o3])` does (S. Laosooksathit, *Performance modeling and
//! optimization techniques for heterogeneous computing*, Louisiana Tech 2014, ch. 6).

use super::{Data, Problem, map};
use gpubench_core::error::Result;

/// `out` = the transpose of `a`, a matrix of `rows` × `cols` stored row after row.
pub fn transpose(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let (rows, cols) = (problem.size("rows")?, problem.size("cols")?);
    let len = rows.saturating_mul(cols);
    let a = problem.f32("a", len)?;
    Ok(vec![("out", Data::F32(map(len, |i| a[i % rows * cols + i / rows])))])
}

/// `out` = `a` permuted to `[2, 1, 3]`: `out(j, i, k) = a(i, j, k)`.
pub fn permute_213(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    permuted(problem, [2, 1, 3])
}

/// `out` = `a` permuted to `[2, 3, 1]`: `out(j, k, i) = a(i, j, k)`.
pub fn permute_231(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    permuted(problem, [2, 3, 1])
}

fn permuted(problem: &Problem, order: [usize; 3]) -> Result<Vec<(&'static str, Data)>> {
    let shape = [problem.size("d1")?, problem.size("d2")?, problem.size("d3")?];
    let a = problem.f32("a", shape.iter().fold(1, |len, &n| len.saturating_mul(n)))?;
    Ok(vec![("out", Data::F32(permute(a, shape, order)))])
}

/// `a` of `shape` with its dimensions in `order` (counted from 1).
fn permute(a: &[f32], shape: [usize; 3], order: [usize; 3]) -> Vec<f32> {
    let strides = [1, shape[0], shape[0] * shape[1]];
    let [n1, n2, _] = order.map(|dimension| shape[dimension - 1]);
    let [s1, s2, s3] = order.map(|dimension| strides[dimension - 1]);
    let from = |i: usize| a[i % n1 * s1 + i / n1 % n2 * s2 + i / n1 / n2 * s3];
    map(shape.iter().product(), from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(n: usize) -> Vec<f32> {
        (0..n).map(|i| i as f32).collect()
    }

    fn problem(sizes: &[(&str, usize)], a: Vec<f32>) -> Problem {
        let numbers = sizes.iter().map(|&(name, n)| (name.to_owned(), n as f64)).collect();
        Problem::new(numbers, vec![("a".to_owned(), Data::F32(a))])
    }

    #[test]
    fn two_rows_of_three_become_three_of_two() {
        let result = transpose(&problem(&[("rows", 2), ("cols", 3)], counted(6))).unwrap();
        assert_eq!(result, [("out", Data::F32(vec![0.0, 3.0, 1.0, 4.0, 2.0, 5.0]))]);
    }

    #[test]
    fn a_buffer_too_short_is_an_error() {
        assert!(transpose(&problem(&[("rows", 2), ("cols", 3)], counted(5))).is_err());
        assert!(permute_213(&problem(&[("d1", 2), ("d2", 3), ("d3", 1)], counted(5))).is_err());
        // 2^64 is 0 in 64 bits.
        let huge = 1 << 32;
        assert!(transpose(&problem(&[("rows", huge), ("cols", huge)], counted(5))).is_err());
        let sizes = [("d1", huge), ("d2", huge), ("d3", 3)];
        assert!(permute_231(&problem(&sizes, counted(5))).is_err());
    }

    #[test]
    fn hand_computed_as_in_matlab() {
        // a = reshape(0:11, [2 3 2]); permute(a, [2 1 3]), permute(a, [2 3 1])
        let sizes = [("d1", 2), ("d2", 3), ("d3", 2)];
        assert_eq!(
            permute_213(&problem(&sizes, counted(12))).unwrap(),
            [("out", Data::F32([0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11].map(|x| x as f32).into()))]
        );
        assert_eq!(
            permute_231(&problem(&sizes, counted(12))).unwrap(),
            [("out", Data::F32([0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11].map(|x| x as f32).into()))]
        );
    }

    #[test]
    fn permuting_back_is_the_identity() {
        let (a, shape) = (counted(3 * 5 * 4), [3, 5, 4]);
        assert_eq!(permute(&permute(&a, shape, [2, 1, 3]), [5, 3, 4], [2, 1, 3]), a);
        assert_eq!(permute(&permute(&a, shape, [2, 3, 1]), [5, 4, 3], [3, 1, 2]), a);
        assert_eq!(permute(&a, shape, [1, 2, 3]), a);
    }
}
