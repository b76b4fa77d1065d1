//! What the kernels of the suite `ceilings` leave behind.

use super::{Data, Problem};
use gpubench_core::error::Result;

/// From every seed, `steps` steps of `s' = s + a*r`, where `r` came before `s`, from the seed and
/// `b` less the seed on; `out` holds the last but one and 256 times the last, in the order of the
/// seeds, over and over, up to `n`. In whole numbers, which every type of the kernels holds.
pub fn whole_chains(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let steps = problem.size("steps")?;
    // Signed or not, the bits are the same.
    let number = |name| problem.number(name).map(|x| (x as i32).cast_unsigned());
    let (a, b) = (number("a")?, number("b")?);
    let step = |[r, s]: [u32; 2], _| [s, a.wrapping_mul(r).wrapping_add(s)];
    let end = |&seed: &u32| {
        let [r, s] = (0..steps).fold([seed, b.wrapping_sub(seed)], step);
        r.wrapping_add(s.wrapping_mul(256))
    };
    let ends: Vec<u32> = problem.u32("seeds", 1)?.iter().map(end).collect();
    let n = problem.room("out", problem.size("n")?)?;
    Ok(vec![("out", Data::U32(ends.into_iter().cycle().take(n).collect()))])
}

/// Groups of `group` work-items, each V wide, read `n` words in all of `words` words, each from
/// where the one before it ends; of each component of each work-item the sum modulo 2^32. What
/// else there was in `out` stays.
pub fn read_again(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let size = |name| problem.size(name).map(|size| size.max(1));
    let (words, width) = (size("words")?, size("V")?);
    let row = size("group")?.saturating_mul(width);
    let data = problem.u32("data", words)?;
    let groups = size("groups")?;
    let mut out = problem.u32("out", groups.saturating_mul(row))?.to_vec();
    let steps = size("n")? / groups / row;
    for (group, sums) in out.chunks_exact_mut(row).take(groups).enumerate() {
        sums.fill(0);
        for k in group * steps..(group + 1) * steps {
            let at = |word: usize| data[(k * row + word) % words];
            sums.iter_mut().enumerate().for_each(|(word, sum)| *sum = sum.wrapping_add(at(word)));
        }
    }
    Ok(vec![("out", Data::U32(out))])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(numbers: &[(&str, f64)], buffers: Vec<(&str, Data)>) -> Problem {
        Problem::new(
            numbers.iter().map(|&(name, x)| (name.to_owned(), x)).collect(),
            buffers.into_iter().map(|(name, data)| (name.to_owned(), data)).collect(),
        )
    }

    #[test]
    fn chains_come_back_after_six_steps() {
        let ends = |steps: f64| {
            let numbers = [("n", 3.0), ("steps", steps), ("a", -1.0), ("b", 61.0)];
            let seeds = ("seeds", Data::U32(vec![1, 20]));
            let out = ("out", Data::U32(vec![0; 3]));
            whole_chains(&problem(&numbers, vec![seeds, out])).unwrap().remove(0).1
        };
        assert_eq!(ends(0.0), Data::U32(vec![1 + 256 * 60, 20 + 256 * 41, 1 + 256 * 60]));
        // 20, 41, 21, -20: each is the one before it less the one before that.
        let minus = |r: u32, s: u32| r.wrapping_sub(256 * s);
        assert_eq!(ends(2.0), Data::U32(vec![minus(59, 1), minus(21, 20), minus(59, 1)]));
        assert_eq!(ends(6.0), ends(0.0));
        assert_ne!(ends(1024.0), ends(512.0));
    }

    #[test]
    fn groups_read_on_where_the_one_before_them_ended() {
        let numbers = [("n", 12.0), ("words", 4.0), ("groups", 2.0), ("group", 1.0), ("V", 2.0)];
        let data = ("data", Data::U32(vec![1, 10, 100, u32::MAX]));
        let out = ("out", Data::U32(vec![7; 5]));
        let sums = read_again(&problem(&numbers, vec![data, out])).unwrap();
        // Three pairs each: 1 10, 100 -1, 1 10; then 100 -1, 1 10, 100 -1.
        assert_eq!(sums, [("out", Data::U32(vec![102, 19, 201, 8, 7]))]);
    }
}
