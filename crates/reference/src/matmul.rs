//! The matrix product, blocked for the host's caches and summed in `f64`.

use super::{Data, Problem, for_each_chunk};
use gpubench_core::error::Result;
use gpubench_core::gpu::Scalar;

/// Rows of C that one pass over B serves.
const ROWS: usize = 16;
/// Columns of C whose sums stay in cache meanwhile.
const COLS: usize = 512;
/// Rows of B added at a time.
const DEPTH: usize = 4;

/// The type of a matrix's numbers.
trait Number: Copy + Default + Into<f64> + Send + Sync {
    /// The nearest number of the type.
    fn nearest(sum: f64) -> Self;
}

impl Number for f32 {
    fn nearest(sum: f64) -> Self {
        sum as f32
    }
}

impl Number for f64 {
    fn nearest(sum: f64) -> Self {
        sum
    }
}

/// `c = a·b` for row-major `a` (`m`×`k`) and `b` (`k`×`n`), both of `f32` or both of `f64`, as `c` is.
///
/// # Errors
/// As [`super::Reference`].
pub fn matmul(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let (m, k, n) = (problem.size("m")?, problem.size("k")?, problem.size("n")?);
    let (in_a, in_b) = (m.saturating_mul(k), k.saturating_mul(n));
    let c = match problem.data("a")?.scalar() {
        Scalar::F64 => {
            let (a, b) = (problem.f64("a", in_a)?, problem.f64("b", in_b)?);
            let c = product(problem, &a, &b, [m, k, n]);
            Data::Other(Scalar::F64, bytemuck::cast_slice(&c).to_vec())
        }
        _ => {
            let (a, b) = (problem.f32("a", in_a)?, problem.f32("b", in_b)?);
            Data::F32(product(problem, a, b, [m, k, n]))
        }
    };
    Ok(vec![("c", c)])
}

/// The rows of the product that the problem wants; the others are zero.
fn product<T: Number>(problem: &Problem, a: &[T], b: &[T], [m, k, n]: [usize; 3]) -> Vec<T> {
    let mut c = vec![T::default(); m.saturating_mul(n)];
    let part = problem.rows(m);
    for_each_chunk(&mut c[part.start * n..part.end * n], n, |first, piece| {
        let first = first + part.start;
        for (i, rows) in piece.chunks_mut((ROWS * n).max(1)).enumerate() {
            multiply(&a[(first + i * ROWS) * k..], b, rows, k, n);
        }
    });
    c
}

/// At most [`ROWS`] rows of the product; `a` begins with the first of them.
fn multiply<T: Number>(a: &[T], b: &[T], rows: &mut [T], k: usize, n: usize) {
    for left in (0..n).step_by(COLS) {
        let width = COLS.min(n - left);
        let mut sums = vec![[0.0; COLS]; rows.len() / n];
        for depth in (0..k).step_by(DEPTH) {
            let steps = DEPTH.min(k - depth);
            let panel = widened(&b[depth * n..], steps, left, width, n);
            for (row, sum) in sums.iter_mut().enumerate() {
                let mut factors = [0.0; DEPTH];
                for (step, factor) in factors.iter_mut().enumerate().take(steps) {
                    *factor = a[row * k + depth + step].into();
                }
                add_scaled(&mut sum[..width], &panel, factors);
            }
        }
        for (row, sum) in rows.chunks_mut(n).zip(&sums) {
            for (result, &sum) in row[left..left + width].iter_mut().zip(sum) {
                *result = T::nearest(sum);
            }
        }
    }
}

/// The first `steps` rows of `b` between columns `left` and `left + width`, the others zero.
fn widened<T: Number>(
    b: &[T],
    steps: usize,
    left: usize,
    width: usize,
    n: usize,
) -> [[f64; COLS]; DEPTH] {
    let mut panel = [[0.0; COLS]; DEPTH];
    for (step, wide) in panel.iter_mut().enumerate().take(steps) {
        let from = step * n + left;
        for (wide, &narrow) in wide.iter_mut().zip(&b[from..from + width]) {
            *wide = narrow.into();
        }
    }
    panel
}

fn add_scaled(sum: &mut [f64], panel: &[[f64; COLS]; DEPTH], factors: [f64; DEPTH]) {
    let [p0, p1, p2, p3] = panel;
    let [f0, f1, f2, f3] = factors;
    for ((((sum, p0), p1), p2), p3) in sum.iter_mut().zip(p0).zip(p1).zip(p2).zip(p3) {
        *sum += (f0 * p0 + f1 * p1) + (f2 * p2 + f3 * p3);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fill;
    use super::*;
    use gpubench_core::gpu::Scalar;
    use gpubench_core::workload::Fill;

    fn product(m: usize, k: usize, n: usize, a: &[f32], b: &[f32]) -> Vec<f32> {
        let size = |name: &str, x: usize| (name.to_owned(), x as f64);
        let problem = Problem::new(
            vec![size("m", m), size("k", k), size("n", n)],
            vec![("a".to_owned(), Data::F32(a.to_vec())), ("b".to_owned(), Data::F32(b.to_vec()))],
        );
        match matmul(&problem).unwrap().remove(0) {
            ("c", Data::F32(c)) => c,
            other => panic!("{other:?}"),
        }
    }

    fn random(count: usize, seed: u64) -> Vec<f32> {
        match fill(&Fill::Uniform([-1.0, 1.0]), Scalar::F32, count, seed) {
            Data::F32(v) => v,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn hand_computed_product() {
        let c = product(2, 3, 2, &[1., 2., 3., 4., 5., 6.], &[7., 8., 9., 10., 11., 12.]);
        assert_eq!(c, [58., 64., 139., 154.]);
    }

    #[test]
    fn the_identity_changes_nothing_at_sizes_off_every_block() {
        let n = COLS + 17;
        let mut one = vec![0.0; n * n];
        (0..n).for_each(|i| one[i * n + i] = 1.0);
        let a = random(3 * n, 1);
        assert_eq!(product(3, n, n, &a, &one), a);
        let b = random(n * 5, 2);
        assert_eq!(product(n, n, 5, &one, &b), b);
    }

    #[test]
    fn blocks_agree_with_the_sum_as_written() {
        let (m, k, n) = (ROWS + 3, 7, COLS + 2);
        let (a, b) = (random(m * k, 3), random(k * n, 4));
        let c = product(m, k, n, &a, &b);
        for (row, col) in [(0, 0), (ROWS, COLS), (m - 1, n - 1), (5, COLS - 1)] {
            let sum: f64 =
                (0..k).map(|i| f64::from(a[row * k + i]) * f64::from(b[i * n + col])).sum();
            assert!((f64::from(c[row * n + col]) - sum).abs() < 1e-6);
        }
    }

    /// Of whole numbers every sum is exact, and of thirds no `f32` holds the products.
    #[test]
    fn doubles_stay_doubles() {
        let double = |numbers: &[f64]| {
            Data::from_bytes(Scalar::F64, bytemuck::cast_slice::<f64, u8>(numbers))
        };
        let problem = |a: &[f64], b: Data| {
            let size = |name: &str, x: usize| (name.to_owned(), x as f64);
            Problem::new(
                vec![size("m", 2), size("k", 2), size("n", 1)],
                vec![("a".to_owned(), double(a)), ("b".to_owned(), b)],
            )
        };
        let c = matmul(&problem(&[1., 2., 1. / 3., 0.], double(&[1. / 3., 2.]))).unwrap();
        assert_eq!(c, [("c", double(&[1. / 3. + 4., 1. / 9.]))]);
        let mixed = matmul(&problem(&[0.; 4], Data::F32(vec![0.; 2]))).unwrap_err().to_string();
        assert!(mixed.contains("needs `b` as f64, not f32"), "{mixed}");
        let short = matmul(&problem(&[0.; 3], double(&[0.; 2]))).unwrap_err().to_string();
        assert!(short.contains("needs 4 scalars in `a`, which has 3"), "{short}");
    }

    #[test]
    fn a_short_buffer_is_reported() {
        let size = |name: &str| (name.to_owned(), 2.0);
        let problem = Problem::new(
            vec![size("m"), size("k"), size("n")],
            vec![("a".to_owned(), Data::F32(vec![1.0; 3]))],
        );
        assert!(matmul(&problem).unwrap_err().to_string().contains("needs 4 scalars in `a`"));
    }
}
