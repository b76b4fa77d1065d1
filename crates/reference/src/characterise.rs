//! What the kernels of the suite `characterise` leave behind.

use super::{Data, Problem, map};
use gpubench_core::error::{Error, Result};

/// What a reference gives: the buffers that a launch writes.
type Written = Result<Vec<(&'static str, Data)>>;

/// Four instructions of the chain `op` on `f32`, rounded one by one.
fn float_step(op: usize, x: f32, [a, b, c, d]: [f32; 4]) -> f32 {
    let all = [a, b, c, d];
    match op {
        0 => all.into_iter().fold(x, |x, y| x + y),
        1 => all.into_iter().fold(x, |x, y| x * y),
        2 => (0..4).fold(x, |x, _| x.mul_add(a, b)),
        3 => all.into_iter().fold(x, |x, y| y / x),
        4 => (0..4).fold(x, |x, _| x.sqrt()),
        5 => (0..4).fold(x, |x, _| (-x).exp()),
        6 => all.into_iter().fold(x, |x, y| x.ln() + y),
        7 => (0..2).fold(x, |x, _| x.cos().sin()),
        9 => (0..4).fold(x, |x, _| (x * x).sqrt().recip()),
        _ => x.min(a).max(b).min(c).max(d),
    }
}

/// `passes` times REPEAT instructions of class OP from every number in `seeds`; `out` holds the
/// ends in the order of the seeds, over and over, up to `n`.
pub fn float_chain(problem: &Problem) -> Written {
    let (op, fours) = chain(problem)?;
    let operand = |name| problem.number(name).map(|x| x as f32);
    let operands = [operand("a")?, operand("b")?, operand("c")?, operand("d")?];
    let seeds = problem.f32("seeds", 1)?;
    let end = |&seed: &f32| (0..fours).fold(seed, |x, _| float_step(op, x, operands));
    let ends: Vec<f32> = seeds.iter().map(end).collect();
    let n = problem.room("out", problem.size("n")?)?;
    Ok(vec![("out", Data::F32(ends.into_iter().cycle().take(n).collect()))])
}

/// Four instructions of the chain `op` on pairs of integers.
fn int_step(op: usize, [x, y]: [u32; 2], [a, b, c, d, e]: [u32; 5]) -> [u32; 2] {
    // Twice to and fro: what is done to the first, then to the second with the result.
    let to_and_fro = |f: fn(u32, u32) -> u32| {
        (0..2).fold([x, y], |[x, y], _| {
            let x = f(x, y);
            [x, f(y, x)]
        })
    };
    let divided = |by: u32, x: u32| by.checked_div(x).unwrap_or(by);
    match op {
        0 => to_and_fro(u32::wrapping_add),
        1 => to_and_fro(u32::wrapping_mul),
        2 => [[a, b, c, d].into_iter().fold(x, |x, by| divided(by, x)), y],
        3 => [x.wrapping_shl(a).wrapping_shr(b).wrapping_shl(c).wrapping_shr(d), y],
        4 => [((x ^ a) & b ^ c) | d, y],
        _ => {
            let x = if x < a { b } else { c };
            let x = if x < d { c } else { b };
            let x = if x < a { d } else { b };
            [if x < e { b } else { c }, y]
        }
    }
}

/// As [`float_chain`], for pairs of integers whose second begins as `seed ^ a`; `out` holds both
/// ends, one exclusive-ored with the other.
pub fn int_chain(problem: &Problem) -> Written {
    let (op, fours) = chain(problem)?;
    let operand = |name| problem.number(name).map(|x| x as u32);
    let operands = [operand("a")?, operand("b")?, operand("c")?, operand("d")?, operand("e")?];
    let end = |&seed: &u32| {
        let begin = [seed, seed ^ operands[0]];
        let [x, y] = (0..fours).fold(begin, |pair, _| int_step(op, pair, operands));
        x ^ y
    };
    integer_ends(problem, end)
}

/// As [`float_chain`], for conversions to `f32` and back, each pair after an exclusive or with
/// `a`.
pub fn convert_chain(problem: &Problem) -> Written {
    let (_, fours) = chain(problem)?;
    let a = problem.number("a")? as u32;
    let end = |&seed: &u32| (0..2 * fours).fold(seed, |x, _| (x ^ a) as f32 as u32);
    integer_ends(problem, end)
}

/// The class, and how many times four instructions are run.
fn chain(problem: &Problem) -> Result<(usize, usize)> {
    let instructions = problem.size("passes")?.saturating_mul(problem.size("REPEAT")?);
    Ok((problem.size("OP").unwrap_or(0), instructions / 4))
}

fn integer_ends(problem: &Problem, end: impl Fn(&u32) -> u32) -> Written {
    let ends = problem.u32("seeds", 1)?.iter().map(end).collect();
    Ok(vec![("out", Data::U32(super::micro::repeated(problem, ends)?))])
}

/// Blocks of MAX_REPEAT rows of `group` vectors of V words: in each, the first REPEAT rows are added up,
/// written or copied, as MODE says; what else there was in `out` stays.
pub fn stream(problem: &Problem) -> Written {
    let (n, width) = (problem.size("n")?, problem.size("V")?.max(1));
    let (group, max_repeat) = (problem.size("group")?.max(1), problem.size("MAX_REPEAT")?.max(1));
    let (repeat, mode) = (problem.size("REPEAT")?.min(max_repeat), problem.size("MODE")?);
    let data = problem.u32("data", n)?;
    let mut out = problem.u32("out", n)?.to_vec();
    let row = group.saturating_mul(width);
    let block = row.saturating_mul(max_repeat);
    for number in 0..n / block {
        let item = |word: usize| number * group + word / width;
        let at = |r: usize, word: usize| number * block + r * row + word;
        for word in 0..row {
            let rows = 0..repeat;
            match mode {
                0 => {
                    let sum =
                        rows.fold(item(word) as u32, |sum, r| sum.wrapping_add(data[at(r, word)]));
                    out[number * row + word] = sum;
                }
                1 => rows.for_each(|r| out[at(r, word)] = (item(word) + r) as u32),
                _ => rows.for_each(|r| out[at(r, word)] = data[at(r, word)]),
            }
        }
    }
    Ok(vec![("out", Data::U32(out))])
}

/// `at` after `passes` times 16·REPEAT steps along the cycle `next` of `words` words.
pub fn chase(problem: &Problem) -> Written {
    let words = problem.size("words")?.max(1);
    let next = &problem.u32("next", words)?[..words];
    let mut at = problem.u32("at", 1)?.to_vec();
    let steps = loads(problem)?;
    // A division would take longer than the load.
    let follow = |x: u32| next.get(x as usize).copied().unwrap_or_else(|| next[x as usize % words]);
    at[0] = (0..steps).fold(at[0] % words as u32, |x, _| follow(x));
    Ok(vec![("at", Data::U32(at))])
}

/// Where `passes` times 16·REPEAT steps through `words` words of BYTES bytes end, and the words: as they were, or with
/// WRITE what was stored on the way. Words have `T` components.
pub fn word_chain(problem: &Problem) -> Written {
    let data = problem.data("data")?;
    let (words, bytes) = (problem.size("words")?, problem.size("BYTES")?);
    let (parts, writes) = (problem.size("T")?.max(1), problem.size("WRITE")? != 0);
    let fits = (1..=64).contains(&bytes)
        && words.is_power_of_two()
        && words.checked_mul(bytes) == Some(data.as_bytes().len());
    if !fits {
        let why = format!("{words} words of {bytes} bytes are no whole buffer, or no power of two");
        return Err(Error::Usage(why));
    }
    let mut at = problem.u32("at", 1)?.to_vec();
    let mut all = data.as_bytes().to_vec();
    let (line, mask) = (64 / bytes, words - 1);
    let mut x = at[0] as usize & mask;
    for _ in 0..loads(problem)? {
        let word = &mut all[x * bytes..(x + 1) * bytes];
        if writes {
            let stored = ((x / line) as u64).to_le_bytes();
            word.chunks_mut(bytes / parts)
                .for_each(|part| part.copy_from_slice(&stored[..part.len()]));
        }
        let is_odd = word.chunks(bytes / parts).any(|part| part[0] & 1 == 1);
        let near = ((x as u32).wrapping_mul(2_654_435_761) >> 26) as usize;
        x = (x + line * (1 + near + 32 * usize::from(is_odd))) & mask;
    }
    at[0] = x as u32;
    let data = Data::from_bytes(data.scalar(), &all);
    Ok(vec![("data", data), ("at", Data::U32(at))])
}

fn loads(problem: &Problem) -> Result<usize> {
    let each = 16 * problem.size("REPEAT")?.min(1 << 16);
    Ok(problem.size("passes")?.saturating_mul(each))
}

/// For each of `n` work-items its number and REPEAT words, read STRIDE apart and OFFSET on; at the
/// end of `words` words the next word of each stride.
pub fn stride(problem: &Problem) -> Written {
    let (n, words) = (problem.room("out", problem.size("n")?)?, problem.size("words")?);
    let (apart, offset) = (problem.size("STRIDE")?.max(1), problem.size("OFFSET")?);
    let repeat = problem.size("REPEAT")?;
    let lanes = words / apart;
    let last = n.saturating_mul(repeat).checked_div(lanes).unwrap_or(usize::MAX);
    let data = problem.u32("data", words.saturating_add(offset))?;
    if last > apart {
        return Err(Error::Usage(format!("{n} times {repeat} reads, {apart} apart, of {words}")));
    }
    let read = |j: usize| data[j % lanes * apart + j / lanes + offset];
    let sum = |i: usize| (0..repeat).fold(i as u32, |sum, r| sum.wrapping_add(read(r * n + i)));
    Ok(vec![("out", Data::U32(map(n, sum)))])
}

/// Words of local memory that [`local_chase`] follows.
const LOCAL: usize = 2048;

/// Where each of `n` work-items, STRIDE words from its neighbour in its `group`, ends after
/// `passes` times 16·REPEAT steps through local memory.
pub fn local_chase(problem: &Problem) -> Written {
    let n = problem.room("out", problem.size("n")?)?;
    let (group, stride) = (problem.size("group")?.max(1), problem.size("STRIDE")?);
    let data = problem.u32("data", LOCAL)?;
    let next = |k: usize| k % 1024 + 1024 * (data[k] % 2) as usize;
    let steps = loads(problem)?;
    let end = |item: usize| {
        let begin = item.wrapping_mul(stride) % LOCAL;
        // Two words at most take turns: an even number of steps more changes nothing.
        (0..steps.min(2 + steps % 2)).fold(begin, |k, _| next(k)) as u32
    };
    let ends: Vec<u32> = (0..group.min(LOCAL)).map(end).collect();
    Ok(vec![("out", Data::U32((0..n).map(|i| ends[i % group % LOCAL]).collect()))])
}

/// The number that each of `n` work-items holds after `passes` times REPEAT steps round its
/// `group`, in each of which it grows by `add`.
pub fn exchange(problem: &Problem) -> Written {
    let n = problem.room("out", problem.size("n")?)?;
    let group = problem.size("group")?.max(1);
    let steps = problem.size("passes")?.saturating_mul(problem.size("REPEAT")?);
    let grown = (problem.size("add")? as u32).wrapping_mul(steps as u32);
    let data = problem.u32("data", 1024)?;
    let from = |i: usize| i - i % group + (i % group).wrapping_add(steps) % group;
    let out = (0..n).map(|i| data[from(i) % 1024].wrapping_add(grown));
    Ok(vec![("out", Data::U32(out.collect()))])
}

/// Counters after each of `n` work-items has added 1, 2, 3 … 16·REPEAT: to the first (SPREAD 0),
/// or to its own.
pub fn atomics(problem: &Problem) -> Written {
    let (n, spread) = (problem.size("n")?, problem.size("SPREAD")?);
    let mut counters = problem.u32("counters", n.max(1))?.to_vec();
    let times = 16 * problem.size("REPEAT")? as u32;
    let sum = times * (times + 1) / 2;
    match spread {
        0 => counters[0] = counters[0].wrapping_add(sum.wrapping_mul(n as u32)),
        _ => counters[..n].iter_mut().for_each(|counter| *counter = counter.wrapping_add(sum)),
    }
    Ok(vec![("counters", Data::U32(counters))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::testing::problem;

    fn out(written: Written) -> Vec<u32> {
        match written.unwrap().remove(0).1 {
            Data::U32(out) => out,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn hand_computed_chains() {
        let four = |op: f64, seed: f32| {
            let numbers = [
                ("OP", op),
                ("n", 2.0),
                ("passes", 1.0),
                ("REPEAT", 4.0),
                ("a", 2.0),
                ("b", 4.0),
                ("c", 8.0),
                ("d", 16.0),
            ];
            let seeds = ("seeds", Data::F32(vec![seed]));
            let room = ("out", Data::F32(vec![0.0; 2]));
            let (_, ends) = float_chain(&problem(&numbers, vec![seeds, room])).unwrap().remove(0);
            assert_eq!(ends.get(0), ends.get(1), "seeds come again");
            ends.get(0).unwrap()
        };
        assert_eq!(four(0.0, 1.0), 31.0);
        assert_eq!(four(1.0, 1.0), 1024.0);
        assert_eq!(four(2.0, 1.0), 16.0 + 15.0 * 4.0, "four times 2x + 4");
        assert_eq!(four(3.0, 1.0), 16.0 / (8.0 / (4.0 / 2.0)));
        assert_eq!(four(4.0, 65536.0), 2.0);
        assert_eq!(four(8.0, 9.0), 16.0);
        let all = [2, 4, 8, 16, 32];
        assert_eq!(int_step(0, [1, 1], all), [5, 8], "Fibonacci");
        assert_eq!(int_step(1, [2, 3], all), [108, 1944], "6, 18, 108, 1944");
        assert_eq!(int_step(2, [1, 0], [100, 200, 300, 400, 0]), [400 / (300 / 2), 0]);
        assert_eq!(int_step(3, [1, 0], [3, 1, 4, 2, 0]), [16, 0]);
        assert_eq!(int_step(4, [5, 0], [2, 6, 1, 8, 0]), [(5 ^ 2) & 6 ^ 1 | 8, 0]);
    }

    /// What the operands of `suites/characterise.yaml` are chosen for.
    #[test]
    fn comparisons_never_settle() {
        let operands = [40, 30, 42, 35, 33];
        let ends: Vec<u32> = [30, 42].map(|x| int_step(5, [x, 0], operands)[0]).to_vec();
        assert_eq!(ends, [30, 42], "each seed has an end of its own");
    }

    #[test]
    fn streams_leave_other_rows_alone() {
        let stream = |mode: f64| {
            let numbers = [
                ("n", 12.0),
                ("V", 2.0),
                ("group", 1.0),
                ("MAX_REPEAT", 3.0),
                ("REPEAT", 2.0),
                ("MODE", mode),
            ];
            let data = ("data", Data::U32((100..112).collect()));
            out(stream(&problem(&numbers, vec![data, ("out", Data::U32(vec![7; 12]))])))
        };
        assert_eq!(stream(0.0)[..4], [202, 204, 215, 217], "two sums of two rows each");
        assert_eq!(stream(1.0), [0, 0, 1, 1, 7, 7, 1, 1, 2, 2, 7, 7]);
        assert_eq!(stream(2.0)[..8], [100, 101, 102, 103, 7, 7, 106, 107]);
    }

    #[test]
    fn hand_computed_chases_strides_and_exchanges() {
        let next = || ("next", Data::U32(vec![1, 2, 0]));
        let numbers = [("words", 3.0), ("passes", 1.0), ("REPEAT", 1.0)];
        let at = ("at", Data::U32(vec![2]));
        assert_eq!(out(chase(&problem(&numbers, vec![next(), at]))), [0], "2 and 16 steps more");
        let numbers =
            [("n", 4.0), ("words", 8.0), ("STRIDE", 4.0), ("OFFSET", 1.0), ("REPEAT", 1.0)];
        let data = || ("data", Data::U32((0..9).map(|i| 10 * i).collect()));
        let room = || ("out", Data::U32(vec![0; 4]));
        assert_eq!(out(stride(&problem(&numbers, vec![data(), room()]))), [10, 51, 22, 63]);
        let far = [("n", 4.0), ("words", 8.0), ("STRIDE", 4.0), ("OFFSET", 1.0), ("REPEAT", 3.0)];
        assert!(stride(&problem(&far, vec![data(), room()])).is_err());
        let numbers = [("n", 4.0), ("group", 2.0), ("passes", 1.0), ("REPEAT", 3.0), ("add", 5.0)];
        let data = ("data", Data::U32((0..1024).collect()));
        assert_eq!(out(exchange(&problem(&numbers, vec![data, room()]))), [16, 15, 18, 17]);
    }

    /// 64 words of 16 bytes, four a line: from word 0, whose multiple gives no line more, 16 steps.
    #[test]
    fn words_are_gone_through_by_what_they_hold() {
        let of = |write: f64, word: u32| {
            let numbers = [
                ("words", 64.0),
                ("BYTES", 16.0),
                ("T", 4.0),
                ("WRITE", write),
                ("passes", 1.0),
                ("REPEAT", 1.0),
            ];
            let data = vec![word; 256];
            let buffers = vec![("data", Data::U32(data)), ("at", Data::U32(vec![0]))];
            let written = word_chain(&problem(&numbers, buffers)).unwrap();
            let [(_, Data::U32(data)), (_, Data::U32(at))] = &written[..] else { panic!() };
            (data.clone(), at[0])
        };
        let walk = |odd: &dyn Fn(u32) -> u32| {
            let next =
                |x: u32| (x + 4 * (1 + (x.wrapping_mul(2_654_435_761) >> 26) + 32 * odd(x))) % 64;
            (0..16).fold(0, |x, _| next(x))
        };
        let (even, odd) = (of(0.0, 2), of(0.0, 3));
        assert_eq!((even.1, odd.1), (walk(&|_| 0), walk(&|_| 1)));
        assert!(even.0.iter().all(|word| *word == 2), "nothing is written");
        let (data, at) = of(1.0, 9);
        assert_eq!(at, walk(&|x| x / 4 % 2), "the words that were stored are loaded");
        let written: Vec<usize> = (0..64).filter(|word| data[4 * word] != 9).collect();
        assert!(written.contains(&0) && written.iter().all(|word| word % 4 == 0), "{written:?}");
        assert!(written.iter().all(|word| data[4 * word..4 * word + 4] == [*word as u32 / 4; 4]));
        let short = problem(
            &[("words", 3.0), ("BYTES", 4.0), ("T", 1.0), ("WRITE", 0.0)],
            vec![("data", Data::U32(vec![0; 3]))],
        );
        assert!(word_chain(&short).is_err());
    }

    #[test]
    fn a_local_chase_is_followed_to_its_end() {
        let data: Vec<u32> = (0..2048u32).map(|k| k.wrapping_mul(2_654_435_761) >> 7).collect();
        let numbers =
            [("n", 64.0), ("group", 64.0), ("STRIDE", 32.0), ("passes", 3.0), ("REPEAT", 1.0)];
        let buffers = vec![("data", Data::U32(data.clone())), ("out", Data::U32(vec![0; 64]))];
        let found = out(local_chase(&problem(&numbers, buffers)));
        for (item, found) in found.into_iter().enumerate() {
            let step = |k: u32| k % 1024 + 1024 * (data[k as usize] & 1);
            assert_eq!(found, (0..48).fold(32 * item as u32, |k, _| step(k)));
        }
    }

    #[test]
    fn counters_add_up() {
        let counters = |spread: f64| {
            let numbers = [("n", 3.0), ("SPREAD", spread), ("REPEAT", 1.0)];
            out(atomics(&problem(&numbers, vec![("counters", Data::U32(vec![0; 3]))])))
        };
        assert_eq!(counters(0.0), [3 * 136, 0, 0]);
        assert_eq!(counters(1.0), [136; 3]);
    }
}
