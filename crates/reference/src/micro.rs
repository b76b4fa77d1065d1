//! The small kernels that measure one thing each.

use super::{Data, Problem, map};
use gpubench_core::error::Result;

/// `out[i] = i`: what an otherwise empty launch of `n` work-items writes.
pub fn empty(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let n = problem.room("out", problem.size("n")?)?;
    Ok(vec![("out", Data::U32((0..n).map(|i| i as u32).collect()))])
}

/// `out[i] = i / 16`, of `n` scalars.
pub fn write_blocks(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let n = problem.room("out", problem.size("n")?)?;
    Ok(vec![("out", Data::U32((0..n).map(|i| i as u32 / 16).collect()))])
}

/// `out = a`, of `n` scalars.
pub fn copy(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let n = problem.room("out", problem.size("n")?)?;
    Ok(vec![("out", Data::F32(problem.f32("a", n)?[..n].to_vec()))])
}

/// `out = b + s*c`, of `n` scalars.
pub fn triad(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let n = problem.room("out", problem.size("n")?)?;
    let s = problem.number("s")? as f32;
    let (b, c) = (problem.f32("b", n)?, problem.f32("c", n)?);
    Ok(vec![("out", Data::F32(map(n, |i| b[i] + s * c[i])))])
}

/// `steps` times `x = a*x + b`, rounded once a step, from every number in `seeds`; `out` holds
/// the ends in the order of the seeds, over and over, up to `n`.
pub fn fma_chains(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let steps = problem.size("steps")?;
    let (a, b) = (problem.number("a")? as f32, problem.number("b")? as f32);
    let end = |&seed: &f32| (0..steps).fold(seed, |x, _| a.mul_add(x, b));
    let ends = problem.f32("seeds", 1)?.iter().map(end).collect();
    Ok(vec![("out", Data::F32(repeated(problem, ends)?))])
}

/// What the seeds end in, over and over, up to `n`.
pub(crate) fn repeated<T: Copy>(problem: &Problem, ends: Vec<T>) -> Result<Vec<T>> {
    let n = problem.room("out", problem.size("n")?)?;
    Ok(ends.into_iter().cycle().take(n).collect())
}

/// `a` holds blocks of `depth` rows of `width` scalars, `n` scalars in all; each row of `out` is
/// the sum of one block's rows, modulo 2^32.
pub fn read_sum(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    sum_rows(problem, problem.size("width")?.max(1), problem.size("depth")?.max(1))
}

/// As [`read_sum`], of rows and blocks of another shape.
pub(crate) fn sum_rows(
    problem: &Problem,
    width: usize,
    depth: usize,
) -> Result<Vec<(&'static str, Data)>> {
    let n = problem.size("n")?;
    let a = problem.u32("a", n)?;
    let block = width.saturating_mul(depth);
    let mut out = vec![0u32; problem.room("out", n / block * width)?];
    for (sums, block) in out.chunks_mut(width).zip(a.chunks(block)) {
        for row in block.chunks(width) {
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum = sum.wrapping_add(*x));
        }
    }
    Ok(vec![("out", Data::U32(out))])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A problem whose output has room for eight scalars.
    fn problem(numbers: &[(&str, f64)], mut buffers: Vec<(&str, Data)>) -> Problem {
        buffers.push(("out", Data::U32(vec![0; 8])));
        Problem::new(
            numbers.iter().map(|&(name, x)| (name.to_owned(), x)).collect(),
            buffers.into_iter().map(|(name, data)| (name.to_owned(), data)).collect(),
        )
    }

    #[test]
    fn an_empty_launch_counts() {
        let out = empty(&problem(&[("n", 3.0)], vec![])).unwrap();
        assert_eq!(out, [("out", Data::U32(vec![0, 1, 2]))]);
    }

    #[test]
    fn blocks_of_sixteen_have_one_number() {
        let room = vec![("out".to_owned(), Data::U32(vec![0; 40]))].into_iter().collect();
        let sizes = vec![("n".to_owned(), 33.0)].into_iter().collect();
        let out = write_blocks(&Problem::new(sizes, room)).unwrap();
        let numbers = [[0; 16], [1; 16]].concat().into_iter().chain([2]).collect();
        assert_eq!(out, [("out", Data::U32(numbers))]);
    }

    #[test]
    fn hand_computed_copy_and_triad() {
        let out =
            copy(&problem(&[("n", 2.0)], vec![("a", Data::F32(vec![7.0, -1.0, 5.0]))])).unwrap();
        assert_eq!(out, [("out", Data::F32(vec![7.0, -1.0]))]);
        let (b, c) = (Data::F32(vec![1.0, 2.0]), Data::F32(vec![10.0, 20.0]));
        let out = triad(&problem(&[("n", 2.0), ("s", 0.5)], vec![("b", b), ("c", c)])).unwrap();
        assert_eq!(out, [("out", Data::F32(vec![6.0, 12.0]))]);
    }

    #[test]
    fn chains_repeat_with_the_seeds() {
        let seeds = vec![("seeds", Data::F32(vec![1.0, 3.0]))];
        let numbers = [("n", 5.0), ("steps", 2.0), ("a", -1.0), ("b", 4.0)];
        // Two steps of x = 4 - x lead back to the seed.
        let out = fma_chains(&problem(&numbers, seeds)).unwrap();
        assert_eq!(out, [("out", Data::F32(vec![1.0, 3.0, 1.0, 3.0, 1.0]))]);
    }

    #[test]
    fn what_does_not_fit_the_buffers_is_an_error() {
        let huge = 2f64.powi(40);
        assert!(empty(&problem(&[("n", huge)], vec![])).is_err());
        assert!(empty(&problem(&[("n", 9.0)], vec![])).is_err(), "one more than there is room for");
        let a = || ("a", Data::F32(vec![0.0; 16]));
        assert!(copy(&problem(&[("n", huge)], vec![a()])).is_err());
        assert!(copy(&problem(&[("n", 16.0)], vec![a()])).is_err(), "a longer input than output");
        let seeds = vec![("seeds", Data::F32(vec![1.0]))];
        let numbers = [("n", huge), ("steps", 0.0), ("a", 0.0), ("b", 0.0)];
        assert!(fma_chains(&problem(&numbers, seeds)).is_err());
        // width × depth = 2^64 is 0 in 64 bits; a block larger than the array has no row.
        let numbers = [("n", 4.0), ("width", 2f64.powi(32)), ("depth", 2f64.powi(32))];
        let a = vec![("a", Data::U32(vec![0; 4]))];
        assert_eq!(read_sum(&problem(&numbers, a)).unwrap(), [("out", Data::U32(vec![]))]);
    }

    /// What makes the comparison of `suites/micro.yaml` sharp: two steps more or less change
    /// every end by more than the tolerance of 1e-4, and rounding twice a step by far less.
    #[test]
    fn a_lost_step_shows_and_a_rounding_does_not() {
        let (a, b, steps) = (-0.999_755_86_f32, 4.0f32, 4096);
        for seed in [0.5f32, 0.618, 0.75, 0.999] {
            let end = |steps| (0..steps).fold(seed, |x, _| a.mul_add(x, b));
            let unfused = (0..steps).fold(seed, |x, _| a * x + b);
            let relative = |x: f32| ((x - end(steps)) / end(steps)).abs();
            assert!(relative(unfused) < 5e-5, "{seed}: {}", relative(unfused));
            assert!(relative(end(steps - 2)) > 1e-4, "{seed}: {}", relative(end(steps - 2)));
            assert!((0.4..3.6).contains(&end(steps)));
        }
    }

    #[test]
    fn rows_of_a_block_add_up_and_wrap() {
        let a = vec![("a", Data::U32(vec![u32::MAX, 2, 3, 4, 5, 6, 7, 8]))];
        let numbers = [("n", 8.0), ("width", 2.0), ("depth", 2.0)];
        let out = read_sum(&problem(&numbers, a)).unwrap();
        assert_eq!(out, [("out", Data::U32(vec![2, 6, 12, 14]))]);
    }
}
