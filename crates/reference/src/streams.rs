//! Problems of little data and as many steps as wanted, for copying while computing.

use super::{Data, Problem, map};
use gpubench_core::error::Result;

/// `out` of `n` numbers: `steps` steps of the linear congruential generator
/// `x → 1664525·x + 1013904223` modulo 2^32 from every position on (D. Knuth and H. W. Lewis; W. H.
/// Press et al., *Numerical recipes in C*, 1992, 7.1).
///
/// # Errors
/// As [`super::Reference`].
pub fn initialise(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let n = problem.room("out", problem.size("n")?)?;
    // All steps at once: x → factor·x + term.
    let (mut factor, mut term) = (1u32, 0u32);
    for _ in 0..problem.size("steps")? {
        factor = factor.wrapping_mul(1_664_525);
        term = term.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    }
    let mut out = vec![0; n];
    for i in problem.rows(n) {
        out[i] = (i as u32).wrapping_mul(factor).wrapping_add(term);
    }
    Ok(vec![("out", Data::U32(out))])
}

/// `out = |…||a + b| + b| + …|`, of `n` scalars, with `steps` times `b`, rounded every time.
///
/// # Errors
/// As [`super::Reference`].
pub fn add_again(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let n = problem.room("out", problem.size("n")?)?;
    let steps = problem.size("steps")?;
    let (a, b) = (problem.f32("a", n)?, problem.f32("b", n)?);
    let part = problem.rows(n);
    let sum = |i: usize| match part.contains(&i) {
        true => (0..steps).fold(a[i], |sum, _| (sum + b[i]).abs()),
        false => 0.0,
    };
    Ok(vec![("out", Data::F32(map(n, sum)))])
}

#[cfg(test)]
mod tests {
    use super::super::Reference;
    use super::*;

    fn numbers(n: usize, first: usize, count: usize, steps: usize) -> Vec<(String, f64)> {
        let all = [("n", n), ("first", first), ("count", count), ("steps", steps)];
        all.map(|(name, x)| (name.to_owned(), x as f64)).into()
    }

    fn result(how: Reference, numbers: Vec<(String, f64)>, buffers: Vec<(&str, Data)>) -> Data {
        let buffers = buffers.into_iter().map(|(name, data)| (name.to_owned(), data)).collect();
        how(&Problem::new(numbers, buffers)).unwrap().remove(0).1
    }

    #[test]
    fn numbers_are_those_of_the_generator() {
        let out = || vec![("out", Data::U32(vec![0; 3]))];
        let once = result(initialise, numbers(3, 0, 3, 1), out());
        // From 0 on, the book's sequence is 3C6EF35F, 47502932, D1CCF6E9.
        assert_eq!(once.get(0), Some(f64::from(0x3c6e_f35f_u32)));
        let thrice = result(initialise, numbers(3, 0, 3, 3), out());
        assert_eq!(thrice.get(0), Some(f64::from(0xd1cc_f6e9_u32)));
        assert_eq!(thrice.get(2), {
            let step = |x: u32| x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Some(f64::from(step(step(step(2)))))
        });
    }

    #[test]
    fn sums_of_a_part() {
        let (a, b) = (Data::F32(vec![1.0; 4]), Data::F32(vec![0.0, 0.5, 2.0, 9.0]));
        let buffers = vec![("a", a), ("b", b), ("out", Data::F32(vec![0.0; 4]))];
        let out = result(add_again, numbers(4, 1, 2, 3), buffers);
        assert_eq!(out, Data::F32(vec![0.0, 2.5, 7.0, 0.0]));
    }
}
