//! Sums of everything.

use super::{Data, Problem};
use gpubench_core::error::Result;

/// One pass of a sum of `n` numbers modulo 2^32. The first (`last` is 0) leaves the sum of every
/// `share` numbers behind the place of the total, the second adds these up into the total.
///
/// # Errors
/// As [`super::Reference`].
pub fn reduction(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let (n, share) = (problem.size("n")?, problem.size("share")?.max(1));
    let shares = n.div_ceil(share);
    let mut sums = problem.u32("sums", shares.saturating_add(1))?.to_vec();
    let add = |numbers: &[u32]| numbers.iter().fold(0u32, |sum, x| sum.wrapping_add(*x));
    if problem.size("last")? == 0 {
        let data = &problem.u32("data", n)?[..n];
        for (sum, share) in sums[1..].iter_mut().zip(data.chunks(share)) {
            *sum = add(share);
        }
    } else {
        sums[0] = add(&sums[1..=shares]);
    }
    Ok(vec![("sums", Data::U32(sums))])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(last: f64, sums: Vec<u32>) -> Vec<u32> {
        let numbers = [("n", 10.0), ("share", 4.0), ("last", last)];
        let data = vec![u32::MAX, 2, 3, 4, 5, 6, 7, 8, 9, 10];
        let problem = Problem::new(
            numbers.map(|(name, x)| (name.to_owned(), x)).into(),
            vec![("data".to_owned(), Data::U32(data)), ("sums".to_owned(), Data::U32(sums))],
        );
        match reduction(&problem).unwrap().remove(0) {
            ("sums", Data::U32(v)) => v,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn shares_first_and_the_total_of_them_then() {
        let shares = pass(0.0, vec![0; 4]);
        assert_eq!(shares, [0, 8, 26, 19]);
        assert_eq!(pass(1.0, shares), [53, 8, 26, 19]);
    }
}
