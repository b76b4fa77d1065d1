//! Factors of matrices.

use super::{Data, Problem, for_each_chunk};
use gpubench_core::error::Result;

/// LU factors (Doolittle: the diagonal of L is 1, no pivoting) of `blocks` square blocks of `width`,
/// `shift` added to their diagonals: L below the diagonal, U on it and above.
///
/// # Errors
/// As [`super::Reference`].
pub fn lud(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let (blocks, width) = (problem.size("blocks")?, problem.size("width")?.max(1));
    let shift = f64::from(problem.number("shift")? as f32);
    let each = width.saturating_mul(width);
    let len = blocks.saturating_mul(each);
    let given = &problem.f32("block", len)?[..len];
    let mut factors = vec![0.0; len];
    for_each_chunk(&mut factors, each, |first, piece| {
        for (out, block) in piece.chunks_mut(each).zip(given[first * each..].chunks(each)) {
            let mut block: Vec<f64> = block.iter().map(|&x| f64::from(x)).collect();
            block.iter_mut().step_by(width + 1).for_each(|x| *x += shift);
            for (out, factor) in out.iter_mut().zip(doolittle(&block, width)) {
                *out = factor as f32;
            }
        }
    });
    Ok(vec![("factors", Data::F32(factors))])
}

/// Row by row: `u_ij = a_ij − Σ l_ik·u_kj`, `l_ij = (a_ij − Σ l_ik·u_kj) / u_jj`.
fn doolittle(a: &[f64], n: usize) -> Vec<f64> {
    let mut lu = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            let sum: f64 = (0..i.min(j)).map(|k| lu[i * n + k] * lu[k * n + j]).sum();
            let rest = a[i * n + j] - sum;
            lu[i * n + j] = if i > j { rest / lu[j * n + j] } else { rest };
        }
    }
    lu
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factors(blocks: usize, width: usize, shift: f64, block: Vec<f32>) -> Vec<f32> {
        let numbers = [("blocks", blocks as f64), ("width", width as f64), ("shift", shift)];
        let problem = Problem::new(
            numbers.map(|(name, x)| (name.to_owned(), x)).into(),
            vec![("block".to_owned(), Data::F32(block))],
        );
        match lud(&problem).unwrap().remove(0) {
            ("factors", Data::F32(v)) => v,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn hand_computed_two_blocks() {
        let lu = factors(2, 2, 1.0, vec![1., 4., 6., 14., 3., 1., 2., 1.]);
        assert_eq!(lu, [2., 4., 3., 3., 4., 1., 0.5, 1.5]);
    }

    #[test]
    fn the_product_is_the_matrix() {
        let n = 9;
        let a: Vec<f32> = (0..n * n).map(|i| (i * i % 13) as f32).collect();
        let lu = factors(1, n, 32.0, a.clone());
        for (i, j) in (0..n * n).map(|at| (at / n, at % n)) {
            let l = |k: usize| if k == i { 1.0 } else { f64::from(lu[i * n + k]) };
            let product: f64 = (0..=i.min(j)).map(|k| l(k) * f64::from(lu[k * n + j])).sum();
            let wanted = f64::from(a[i * n + j]) + if i == j { 32.0 } else { 0.0 };
            assert!((product - wanted).abs() < 1e-4, "{product} {wanted}");
        }
    }
}
