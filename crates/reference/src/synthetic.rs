//! The synthetic kernel: a chain of integer arithmetic, loads, and an exchange within the group.

use super::{Data, Problem, map};
use gpubench_core::error::{Error, Result};
use std::collections::HashMap;

/// What decides one work-item's chain.
struct Chain<'a> {
    data: &'a [u32],
    passes: usize,
    steps: usize,
    reads: usize,
    chase: bool,
    stride: usize,
    add: u64,
}

impl Chain<'_> {
    /// Position of the word with which work-item `i` begins.
    fn seed(&self, i: usize) -> usize {
        (i ^ (i / 64)) % 256 % self.data.len()
    }

    /// Where the chain of work-item `i` ends, by arithmetic in 64 bits reduced after every step.
    fn end(&self, i: usize) -> u64 {
        const WORD: u64 = 1 << 32;
        let words = self.data.len();
        let mut x = u64::from(self.data[self.seed(i)]);
        for pass in 0..self.passes {
            for _ in 0..self.steps.saturating_mul(8) {
                x = ((x ^ (x >> 15)) * 2_654_435_761 + self.add) % WORD;
            }
            for read in 0..self.reads {
                // `words` is a power of two: what is lost above 64 bits does not matter.
                let step = pass.wrapping_mul(self.reads).wrapping_add(read);
                let moved = step.wrapping_mul(self.stride) as u64;
                let at = if self.chase { x } else { i as u64 }.wrapping_add(moved) % WORD;
                x = (x + u64::from(self.data[at as usize % words])) % WORD;
            }
        }
        x
    }
}

/// More work-items than any device's group has.
const MAX_GROUP: usize = 1 << 16;

/// For each of `n` work-items in groups of `group`: the end of its chain (of the first `busy`
/// items of a group; the others keep their seed) plus that of its neighbour among the group's
/// first `min(group, local)`.
pub fn synthetic(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let (n, words) = (problem.room("out", problem.size("n")?)?, problem.size("words")?);
    if !words.is_power_of_two() {
        return Err(Error::Usage(format!("`words` is a power of two, not {words}")));
    }
    let (group, local) = (problem.size("group")?.max(1), problem.size("local")?.max(1));
    if group > MAX_GROUP {
        return Err(Error::Usage(format!("a `group` has at most {MAX_GROUP} items, not {group}")));
    }
    let (busy, sharing) = (problem.size("busy")?, group.min(local));
    let chain = Chain {
        data: &problem.u32("data", words)?[..words],
        passes: problem.size("passes")?,
        steps: problem.size("steps")?,
        reads: problem.size("reads")?,
        chase: problem.number("chase")? != 0.0,
        stride: problem.size("stride")?,
        add: problem.size("add")? as u64,
    };
    let ends = ends(&chain, n.div_ceil(group) * group, group, busy);
    let out = (0..n).map(|i| {
        let (first, item) = (i - i % group, i % group);
        ends[i].wrapping_add(ends[first + (item + 1) % sharing])
    });
    Ok(vec![("out", Data::U32(out.collect()))])
}

/// The ends of `items` chains; where only the seed decides, each is computed once.
fn ends(chain: &Chain, items: usize, group: usize, busy: usize) -> Vec<u32> {
    let idle = |i: usize| chain.data[chain.seed(i)];
    if chain.reads > 0 && !chain.chase {
        return map(items, |i| if i % group < busy { chain.end(i) as u32 } else { idle(i) });
    }
    let mut known: HashMap<usize, u32> = HashMap::new();
    let end = |i: usize| match i % group < busy {
        true => *known.entry(chain.seed(i)).or_insert_with(|| chain.end(i) as u32),
        false => idle(i),
    };
    (0..items).map(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(numbers: &[(&str, f64)], data: Vec<u32>) -> Problem {
        let standard = [
            ("n", 4.0),
            ("passes", 1.0),
            ("steps", 0.0),
            ("reads", 0.0),
            ("chase", 0.0),
            ("busy", 2.0),
            ("words", data.len() as f64),
            ("stride", 2.0),
            ("group", 2.0),
            ("local", 2.0),
            ("add", 7.0),
        ];
        let all = standard.iter().chain(numbers).map(|&(name, x)| (name.to_owned(), x));
        let buffers = vec![("data".into(), Data::U32(data)), ("out".into(), Data::U32(vec![0; 8]))];
        Problem::new(all.collect(), buffers)
    }

    fn out(numbers: &[(&str, f64)], data: &[u32]) -> Vec<u32> {
        match synthetic(&problem(numbers, data.into())).unwrap().remove(0) {
            (_, Data::U32(out)) => out,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn neighbours_exchange_within_their_group() {
        assert_eq!(out(&[], &[1, 2, 3, 4]), [3, 3, 7, 7]);
        assert_eq!(out(&[("local", 1.0)], &[1, 2, 3, 4]), [2, 3, 6, 7], "with the first alone");
        assert_eq!(out(&[("n", 3.0)], &[1, 2, 3, 4]), [3, 3, 7], "the last group is whole");
    }

    #[test]
    fn what_does_not_fit_is_an_error_and_huge_strides_wrap() {
        let data = || vec![1, 2, 3, 4];
        for number in [("n", 2f64.powi(40)), ("n", 9.0), ("group", 2f64.powi(31))] {
            assert!(synthetic(&problem(&[number], data())).is_err(), "{number:?}");
        }
        let far = [("reads", 3.0), ("passes", 3.0), ("stride", 2f64.powi(62))];
        assert!(synthetic(&problem(&far, data())).is_ok());
    }

    #[test]
    fn hand_computed_steps_and_loads() {
        let one = |x: u32| (x ^ (x >> 15)).wrapping_mul(2_654_435_761).wrapping_add(7);
        let eight = |x| (0..8).fold(x, |x, _| one(x));
        let whole = [("n", 1.0), ("group", 1.0), ("steps", 1.0)];
        assert_eq!(out(&whole, &[5, 0]), [eight(5).wrapping_mul(2)]);
        // Two loads beside each other: words 0 and 2.
        let loads = [("n", 1.0), ("group", 1.0), ("reads", 2.0)];
        assert_eq!(out(&loads, &[5, 10, 20, 40]), [2 * (5 + 5 + 20)]);
        // Chased: word 0 + 5 = 1, then 2 + 15 = 1 again.
        let chased = [("n", 1.0), ("group", 1.0), ("reads", 2.0), ("chase", 1.0)];
        assert_eq!(out(&chased, &[5, 10, 20, 40]), [2 * (5 + 10 + 10)]);
    }

    #[test]
    fn a_lost_step_shows() {
        let end = |passes| out(&[("passes", passes), ("steps", 4.0)], &[1, 2, 3, 4]);
        for passes in [1.0, 2.0, 64.0] {
            assert!(end(passes).iter().zip(end(passes + 1.0)).all(|(a, b)| *a != b));
        }
    }
}
