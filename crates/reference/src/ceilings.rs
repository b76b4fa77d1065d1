//! What the kernels of the suite `ceilings` leave behind.

use super::micro::{repeated, sum_rows};
use super::{Data, Problem, map};
use gpubench_core::error::Result;
use gpubench_core::gpu::Scalar;

/// From every seed, `steps` steps of `x' = a*x + b`; `out` holds the last in the order of the seeds, over and
/// over, up to `n`. In whole numbers, which every type of the kernels holds.
pub fn float_chains(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let steps = problem.size("steps")?;
    let (a, b) = (bits(problem, "a")?, bits(problem, "b")?);
    let end = |&seed: &u32| (0..steps).fold(seed, |x, _| a.wrapping_mul(x).wrapping_add(b));
    let ends = problem.u32("seeds", 1)?.iter().map(end).collect();
    Ok(vec![("out", Data::U32(repeated(problem, ends)?))])
}

/// From every seed, `steps` steps of `s' = s + a*r`, where `r` came before `s`, from the seed and
/// `b` less the seed on; `out` holds the last but one and 256 times the last, in the order of the
/// seeds, over and over, up to `n`. In whole numbers, which every type of the kernels holds.
pub fn whole_chains(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    chains(problem, u32::wrapping_mul)
}

/// As [`whole_chains`], with the dot product of the signed bytes of `a` and `r` in place of their product.
pub fn dot_chains(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let bytes = |x: u32| x.to_le_bytes().map(|byte| i32::from(byte.cast_signed()));
    chains(problem, |a, r| {
        let products = bytes(a).into_iter().zip(bytes(r)).map(|(a, r)| a * r);
        products.sum::<i32>().cast_unsigned()
    })
}

/// Chains whose every step adds `product(a, r)`.
fn chains(
    problem: &Problem,
    product: impl Fn(u32, u32) -> u32,
) -> Result<Vec<(&'static str, Data)>> {
    let steps = problem.size("steps")?;
    let (a, b) = (bits(problem, "a")?, bits(problem, "b")?);
    let step = |[r, s]: [u32; 2], _| [s, product(a, r).wrapping_add(s)];
    let end = |&seed: &u32| {
        let [r, s] = (0..steps).fold([seed, b.wrapping_sub(seed)], step);
        r.wrapping_add(s.wrapping_mul(256))
    };
    let ends = problem.u32("seeds", 1)?.iter().map(end).collect();
    Ok(vec![("out", Data::U32(repeated(problem, ends)?))])
}

/// The whole number `name`: signed or not, its sums and products have the same bits.
fn bits(problem: &Problem, name: &str) -> Result<u32> {
    problem.number(name).map(|x| (x as i32).cast_unsigned())
}

/// `a` holds blocks of DEPTH rows of STEP vectors of type V, `n` scalars in all; each row of `out` is
/// the sum of one block's rows, modulo 2^32.
pub fn read_runs(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let size = |name| problem.size(name).map(|size| size.max(1));
    sum_rows(problem, size("STEP")?.saturating_mul(size("V")?), size("DEPTH")?)
}

/// Blocks of STEP work-items, each V wide, `items` in all, read `n` words in all of `words` words, each
/// from where the one before it ends; of each component of each work-item the sum modulo 2^32. What
/// else there was in `out` stays.
pub fn read_again(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let size = |name| problem.size(name).map(|size| size.max(1));
    let (words, width) = (size("words")?, size("V")?);
    let row = size("STEP")?.saturating_mul(width);
    let data = problem.u32("data", words)?;
    let all = size("items")?.saturating_mul(width);
    let mut out = problem.u32("out", all)?.to_vec();
    let steps = size("n")? / all;
    for (block, sums) in out[..all].chunks_exact_mut(row).enumerate() {
        sums.fill(0);
        for k in block * steps..(block + 1) * steps {
            let at = |word: usize| data[(k * row + word) % words];
            sums.iter_mut().enumerate().for_each(|(word, sum)| *sum = sum.wrapping_add(at(word)));
        }
    }
    Ok(vec![("out", Data::U32(out))])
}

/// Sums modulo 2^32 of LOADS words each of `n` work-items, whose places among `words` words are the scrambled
/// numbers of the loads.
pub fn scattered(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let (loads, words) = (problem.size("LOADS")?, problem.size("words")?.max(1));
    let data = problem.u32("data", words)?;
    let n = problem.room("out", problem.size("n")?)?;
    let word = |load: usize| {
        let place = (load as u32).wrapping_mul(2_654_435_761);
        let place = (place ^ place >> 15).wrapping_mul(2_246_822_519);
        data[(place ^ place >> 13) as usize % words]
    };
    let sum = |i: usize| (i * loads..(i + 1) * loads).map(word).fold(0, u32::wrapping_add);
    Ok(vec![("out", Data::U32(map(n, sum)))])
}

/// The exclusive or of a vector's four components, for each of `n` work-items. The vector begins as the work-item's
/// number; `reads` times it becomes five times itself plus a vector of the table's first `words` words. Work-items are
/// in groups of 64; with SPREAD 1 neighbours read neighbours.
pub fn table_reads(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    const GROUP: usize = 64;
    let (reads, spread) = (problem.size("reads")?, problem.size("SPREAD")?);
    let words = problem.size("words")?.max(4);
    let vectors = problem.u32("data", words)?[..words].as_chunks::<4>().0;
    let n = problem.room("out", problem.size("n")?)?;
    let one = |i: usize| {
        let first = 7 * (i / GROUP) + spread * (i % GROUP);
        let next = |sum: [u32; 4], k: usize| {
            let read = vectors[(first + k) % vectors.len()];
            std::array::from_fn(|c| sum[c].wrapping_mul(5).wrapping_add(read[c]))
        };
        let sum = (0..reads).fold([i as u32; 4], next);
        sum.into_iter().fold(0, |all, component| all ^ component)
    };
    Ok(vec![("out", Data::U32(map(n, one)))])
}

/// Of each texel of an image of `n` columns and rows the sum of the SIDE × SIDE that begin with it; with FILTERED 1 of the
/// means of each with its three neighbours to the right and below. Beyond the edge is the nearest texel of the edge. Bytes
/// are read as fractions of 255.
pub fn image_sums(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    const CHANNELS: usize = 4;
    let (side, filtered) = (problem.size("SIDE")?, problem.size("FILTERED")? == 1);
    let n = problem.size("n")?.max(1);
    let numbers = problem.room("out", CHANNELS.saturating_mul(n).saturating_mul(n))?;
    problem.room("image", numbers)?;
    let image: Vec<f64> = match problem.data("image")? {
        Data::Other(Scalar::U8, bytes) => bytes.iter().map(|&x| f64::from(x) / 255.0).collect(),
        Data::Other(Scalar::F16, bytes) => {
            bytes.chunks_exact(2).map(|half| Scalar::F16.number(half)).collect()
        }
        _ => problem.f32("image", numbers)?.iter().copied().map(f64::from).collect(),
    };
    let texel = |column: usize, row: usize, channel: usize| {
        image[CHANNELS * (row.min(n - 1) * n + column.min(n - 1)) + channel]
    };
    let sum = |i: usize| {
        let (row, column, channel) = (i / CHANNELS / n, i / CHANNELS % n, i % CHANNELS);
        let window = (row..row + side).flat_map(|y| (column..column + side).map(move |x| (x, y)));
        let one = |(x, y): (usize, usize)| match filtered {
            false => texel(x, y, channel),
            true => {
                let four = [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)];
                four.iter().map(|&(x, y)| texel(x, y, channel)).sum::<f64>() / 4.0
            }
        };
        window.map(one).sum::<f64>() as f32
    };
    Ok(vec![("out", Data::F32(map(numbers, sum)))])
}

/// Counters after each of `n` work-items has added 1 to the first (SPREAD 0) or to its own, `times` times.
fn additions(problem: &Problem) -> Result<Vec<u64>> {
    let (n, times) = (problem.size("n")?, problem.size("times")? as u64);
    let mut added = vec![0; problem.room("counters", n.max(1))?];
    match problem.size("SPREAD")? {
        0 => added[0] = times * n as u64,
        _ => added[..n].fill(times),
    }
    Ok(added)
}

/// [`additions`] to whole numbers of 64 bits.
pub fn atomic_u64(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let bytes = additions(problem)?.into_iter().flat_map(u64::to_ne_bytes);
    Ok(vec![("counters", Data::Other(Scalar::U64, bytes.collect()))])
}

/// [`additions`] to `f32`, whose bits are written; the sums are whole numbers that it holds.
pub fn atomic_f32(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let added = additions(problem)?.into_iter().map(|added| added as f32);
    let counters = match problem.data("counters")?.scalar() {
        Scalar::F32 => Data::F32(added.collect()),
        _ => Data::U32(added.map(f32::to_bits).collect()),
    };
    Ok(vec![("counters", counters)])
}

/// `4·passes + 1` times what work-items of a subgroup, or of a group of 64, tell each other, `add` more each time: of the greatest
/// (OP 0) of equal numbers in a group of 64, of a neighbour's, which is there at the end, or of one's own.
pub fn subgroup_chain(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let steps = 4 * problem.size("passes")? as u32 + 1;
    let added = (problem.size("add")? as u32).wrapping_mul(steps);
    let (data, op) = (problem.u32("data", 1024)?, problem.size("OP")?);
    let n = problem.room("out", problem.size("n")?)?;
    let from = |i: usize| match op {
        0 => i / 64,
        1 => i ^ 1,
        _ => i,
    };
    let end = |i: usize| data[from(i) % 1024].wrapping_add(added);
    Ok(vec![("out", Data::U32(map(n, end)))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::testing::problem;

    #[test]
    fn a_dot_product_takes_the_sign_of_every_byte() {
        let a = i32::from_le_bytes([2, 11, (-3i8).cast_unsigned(), 5]);
        let r = i32::from_le_bytes([1, (-1i8).cast_unsigned(), 7, (-128i8).cast_unsigned()]);
        // One step from (r, s): what is added to s is 2 - 11 - 21 - 640.
        let s = 1000u32;
        let b = f64::from(r.wrapping_add(s.cast_signed()));
        let numbers = [("n", 1.0), ("steps", 1.0), ("a", f64::from(a)), ("b", b)];
        let seeds = ("seeds", Data::U32(vec![r.cast_unsigned()]));
        let out = ("out", Data::U32(vec![0]));
        let end = dot_chains(&problem(&numbers, vec![seeds, out])).unwrap().remove(0).1;
        assert_eq!(end, Data::U32(vec![s.wrapping_add((s - 670).wrapping_mul(256))]));
    }

    #[test]
    fn chains_of_floats_count_their_steps() {
        let ends = |steps: f64, a: f64| {
            let numbers = [("n", 3.0), ("steps", steps), ("a", a), ("b", 1.0)];
            let seeds = ("seeds", Data::U32(vec![1, 20]));
            let out = ("out", Data::U32(vec![0; 3]));
            float_chains(&problem(&numbers, vec![seeds, out])).unwrap().remove(0).1
        };
        assert_eq!(ends(1024.0, 1.0), Data::U32(vec![1025, 1044, 1025]));
        // 20, -39, 79: a times the one before it and b.
        assert_eq!(ends(2.0, -2.0), Data::U32(vec![3, 79, 3]));
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
    fn hand_computed_scattered_places() {
        let words = ("data", Data::U32(vec![1, 10, 100, 1000]));
        let numbers = [("n", 2.0), ("words", 4.0), ("LOADS", 2.0)];
        let out = ("out", Data::U32(vec![0; 2]));
        // The scrambled numbers of loads 0 to 3 end in 0x0, 0x5D139822, 0xD4FA0C2C and 0xEF5FD85.
        let sums = scattered(&problem(&numbers, vec![words, out])).unwrap();
        assert_eq!(sums, [("out", Data::U32(vec![1 + 100, 1 + 10]))]);
    }

    #[test]
    fn hand_computed_table_reads() {
        let reads = |spread: f64| {
            let data = ("data", Data::U32(vec![1, 0, 0, 0, 0, 10, 0, 0]));
            let numbers = [("n", 2.0), ("words", 8.0), ("reads", 2.0), ("SPREAD", spread)];
            let out = ("out", Data::U32(vec![0; 2]));
            table_reads(&problem(&numbers, vec![data, out])).unwrap().remove(0).1
        };
        // Of the second work-item every component begins as 1, and is 25 without the table.
        assert_eq!(reads(0.0), Data::U32(vec![5 ^ 10, 30 ^ 35]));
        assert_eq!(reads(1.0), Data::U32(vec![5 ^ 10, 26 ^ 75]));
    }

    #[test]
    fn hand_computed_texels() {
        let image: Vec<f32> = (0..16).map(|i| (i / 4) as f32 * 10.0_f32.powi(i % 4)).collect();
        let sums_of = |image: Data, filtered: f64| {
            let numbers = [("n", 2.0), ("SIDE", 2.0), ("FILTERED", filtered)];
            let buffers = vec![("image", image), ("out", Data::F32(vec![0.0; 16]))];
            image_sums(&problem(&numbers, buffers)).unwrap().remove(0).1.as_bytes().to_vec()
        };
        let sums = |filtered| sums_of(Data::F32(image.clone()), filtered);
        let bytes = [[0, 51, 102, 255]; 4].concat();
        let four_times = Data::F32([[0.0, 0.8, 1.6, 4.0]; 4].concat());
        assert_eq!(sums_of(Data::Other(Scalar::U8, bytes), 0.0), four_times.as_bytes());
        let halves = [[0.0, 0.5, 1.0, 2.0]; 4].concat();
        let halves = halves.into_iter().flat_map(|x| Scalar::F16.bytes(x)).collect();
        let four_times = Data::F32([[0.0, 2.0, 4.0, 8.0]; 4].concat());
        assert_eq!(sums_of(Data::Other(Scalar::F16, halves), 0.0), four_times.as_bytes());

        // Texels 0, 1, 2, 3 in two rows; of the last one each of its four is 3. The means of the first are those of
        // 0 to 3, of 1 and 3, of 2 and 3, and 3.
        let tens = |texels: [f32; 4]| {
            let all = texels.into_iter().flat_map(|t| (0..4).map(move |i| t * 10.0_f32.powi(i)));
            Data::F32(all.collect()).as_bytes().to_vec()
        };
        assert_eq!(sums(0.0), tens([6.0, 8.0, 10.0, 12.0]));
        assert_eq!(sums(1.0), tens([9.0, 10.0, 11.0, 12.0]));
    }

    #[test]
    fn hand_computed_counters() {
        let counters = |spread: f64| {
            let numbers = [("n", 2.0), ("times", 3.0), ("SPREAD", spread)];
            let counters = || ("counters", Data::U32(vec![0; 2]));
            atomic_f32(&problem(&numbers, vec![counters()])).unwrap().remove(0).1
        };
        assert_eq!(counters(0.0), Data::U32(vec![6f32.to_bits(), 0]));
        assert_eq!(counters(1.0), Data::U32(vec![3f32.to_bits(); 2]));
        let numbers = [("n", 2.0), ("times", 3.0), ("SPREAD", 0.0)];
        let floats = vec![("counters", Data::F32(vec![0.0; 2]))];
        let added = atomic_f32(&problem(&numbers, floats)).unwrap().remove(0).1;
        assert_eq!(added, Data::F32(vec![6.0, 0.0]));
    }

    #[test]
    fn hand_computed_neighbours() {
        let chain = |op: f64| {
            let numbers = [("n", 65.0), ("passes", 2.0), ("add", 3.0), ("OP", op)];
            let data = ("data", Data::U32((0..1024).collect()));
            let out = ("out", Data::U32(vec![0; 65]));
            let Data::U32(ends) =
                subgroup_chain(&problem(&numbers, vec![data, out])).unwrap().remove(0).1
            else {
                unreachable!()
            };
            [ends[0], ends[1], ends[64]]
        };
        assert_eq!(chain(0.0), [27, 27, 28]);
        assert_eq!(chain(1.0), [28, 27, 92]);
        assert_eq!(chain(2.0), [27, 28, 91]);
    }

    #[test]
    fn rows_are_as_wide_as_their_vectors() {
        let sums = |step: f64, width: f64| {
            let a = ("a", Data::U32(vec![u32::MAX, 2, 3, 4, 5, 6, 7, 8]));
            let out = ("out", Data::U32(vec![0; 8]));
            let numbers = [("n", 8.0), ("STEP", step), ("V", width), ("DEPTH", 2.0)];
            read_runs(&problem(&numbers, vec![a, out])).unwrap().remove(0).1
        };
        assert_eq!(sums(2.0, 1.0), Data::U32(vec![2, 6, 12, 14]));
        assert_eq!(sums(1.0, 2.0), sums(2.0, 1.0));
        assert_eq!(sums(1.0, 1.0), Data::U32(vec![1, 7, 11, 15]));
    }

    #[test]
    fn blocks_read_on_where_the_one_before_them_ended() {
        let sums = |step: f64, width: f64| {
            let numbers =
                [("n", 12.0), ("words", 4.0), ("items", 2.0), ("STEP", step), ("V", width)];
            let data = ("data", Data::U32(vec![1, 10, 100, u32::MAX]));
            let out = ("out", Data::U32(vec![7; 5]));
            read_again(&problem(&numbers, vec![data, out])).unwrap().remove(0).1
        };
        // Three pairs each: 1 10, 100 -1, 1 10; then 100 -1, 1 10, 100 -1.
        assert_eq!(sums(1.0, 2.0), Data::U32(vec![102, 19, 201, 8, 7]));
        // Six words side by side: 1 100 1 100 1 100, and what is between them.
        assert_eq!(sums(2.0, 1.0), Data::U32(vec![303, 27, 7, 7, 7]));
        // A run each: 1 10 100 -1 1 10, then 100 -1 1 10 100 -1.
        assert_eq!(sums(1.0, 1.0), Data::U32(vec![121, 209, 7, 7, 7]));
    }
}
