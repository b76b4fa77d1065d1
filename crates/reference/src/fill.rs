//! Inputs drawn from a seeded generator: equal seeds give equal data on every machine.

use super::{Data, for_each_chunk};
use gpubench_core::gpu::Scalar;
use gpubench_core::workload::Fill;
use gpubench_emulator::Buffer;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::sync::OnceLock;

/// Scalars that one generator draws. Each block has its own, so that all cores of the host fill a
/// large buffer and their number changes nothing.
const BLOCK: usize = 1 << 16;
/// Scalars that a promise makes at once: of a long row, a group that goes down a column touches few.
const PIECE: usize = 64;

/// `count` scalars of type `scalar`.
pub fn fill(how: &Fill, scalar: Scalar, count: usize, seed: u64) -> Data {
    match scalar {
        Scalar::F32 => Data::F32(match how {
            Fill::Uniform([low, high]) => {
                drawn(count, seed, |rng| between(rng, *low, *high) as f32)
            }
            Fill::Whole(bounds) => drawn(count, seed, |rng| whole(rng, *bounds) as f32),
            Fill::RandomBits => drawn(count, seed, |rng| scrambled_f32(rng.random())),
            Fill::Index => (0..count).map(|i| i as f32).collect(),
            Fill::Cycle => cycle(count, seed).into_iter().map(|i| i as f32).collect(),
            Fill::Constant(x) => vec![*x as f32; count],
        }),
        Scalar::U32 => Data::U32(integers(how, count, seed, |x| x as u32)),
        Scalar::I32 => Data::I32(integers(how, count, seed, |x| x as i32)),
        other => Data::Other(other, other_bytes(how, other, count, seed)),
    }
}

/// Scalars of a type that no reference computes with. Whole numbers beyond its range wrap around.
fn other_bytes(how: &Fill, scalar: Scalar, count: usize, seed: u64) -> Vec<u8> {
    let size = scalar.size();
    let cycle = if *how == Fill::Cycle { cycle(count, seed) } else { vec![] };
    let wrapped = |x: f64| match scalar.range() {
        Some([low, high]) if size < 8 => low + (x - low).rem_euclid(high - low + 1.0),
        _ => x,
    };
    let one = |rng: &mut Pcg64Mcg, i: usize, bytes: &mut [u8]| {
        let number = match how {
            Fill::Uniform([low, high]) if scalar.is_float() => between(rng, *low, *high),
            Fill::Uniform(bounds) | Fill::Whole(bounds) => whole(rng, *bounds),
            Fill::RandomBits if scalar.is_float() => f64::from(scrambled_f32(rng.random())),
            Fill::RandomBits => {
                return bytes.copy_from_slice(&rng.random::<u64>().to_ne_bytes()[..size]);
            }
            Fill::Index => i as f64,
            Fill::Cycle => f64::from(cycle[i]),
            Fill::Constant(x) => *x,
        };
        scalar.write(wrapped(number), bytes);
    };
    let mut out = vec![0; count * size];
    for_each_chunk(&mut out, BLOCK * size, |first, piece| {
        for (block, number) in piece.chunks_mut(BLOCK * size).zip(first..) {
            let mut rng = generator(seed, number as u64);
            for (bytes, i) in block.chunks_exact_mut(size).zip(number * BLOCK..) {
                one(&mut rng, i, bytes);
            }
        }
    });
    out
}

fn integers<T: Clone + Default + Send>(
    how: &Fill,
    count: usize,
    seed: u64,
    of: impl Fn(i64) -> T + Sync,
) -> Vec<T> {
    match how {
        Fill::Uniform(bounds) | Fill::Whole(bounds) => {
            drawn(count, seed, |rng| of(whole(rng, *bounds) as i64))
        }
        Fill::RandomBits => drawn(count, seed, |rng| of(i64::from(rng.random::<u32>()))),
        Fill::Index => (0..count as i64).map(of).collect(),
        Fill::Cycle => cycle(count, seed).into_iter().map(|i| of(i64::from(i))).collect(),
        Fill::Constant(x) => vec![of(*x as i64); count],
    }
}

/// `count` values, block by block.
fn drawn<T: Clone + Default + Send>(
    count: usize,
    seed: u64,
    draw: impl Fn(&mut Pcg64Mcg) -> T + Sync,
) -> Vec<T> {
    let mut out = vec![T::default(); count];
    for_each_chunk(&mut out, BLOCK, |first, piece| {
        for (block, number) in piece.chunks_mut(BLOCK).zip(first as u64..) {
            let mut rng = generator(seed, number);
            block.fill_with(|| draw(&mut rng));
        }
    });
    out
}

/// The same contents as [`fill`]'s, made piece by piece when they are touched: where they are of 32
/// bits, else at once.
pub fn promise(how: &Fill, scalar: Scalar, count: usize, seed: u64) -> Buffer {
    if scalar.size() != 4 {
        return Buffer::from(&fill(how, scalar, count, seed));
    }
    let how = how.clone();
    if how == Fill::Cycle {
        // A cycle is known as a whole only.
        let whole = OnceLock::new();
        return Buffer::lazy(count, count, move |_, words| {
            let all: &Data = whole.get_or_init(|| fill(&how, scalar, count, seed));
            words.copy_from_slice(bytemuck::cast_slice(all.as_bytes()));
        });
    }
    Buffer::lazy(count, PIECE, move |first, words| {
        let mut rng = generator(seed, (first / BLOCK) as u64);
        // A scalar takes one number of the generator, of whatever type it is.
        rng.advance((first % BLOCK) as u128);
        for (word, i) in words.iter_mut().zip(first..) {
            *word = match &how {
                Fill::Uniform([low, high]) => {
                    let x = between(&mut rng, *low, *high);
                    bits(scalar, x, || x.floor() as i64)
                }
                Fill::Whole(bounds) => {
                    let x = whole(&mut rng, *bounds);
                    bits(scalar, x, || x as i64)
                }
                Fill::RandomBits if scalar == Scalar::F32 => scrambled_f32(rng.random()).to_bits(),
                Fill::RandomBits => rng.random(),
                Fill::Index | Fill::Cycle => bits(scalar, i as f32 as f64, || i as i64),
                Fill::Constant(x) => bits(scalar, *x, || *x as i64),
            };
        }
    })
}

/// The word of a number that as an integer is `whole`.
fn bits(scalar: Scalar, x: f64, whole: impl FnOnce() -> i64) -> u32 {
    match scalar {
        Scalar::F32 => (x as f32).to_bits(),
        Scalar::I32 => (whole() as i32).cast_unsigned(),
        _ => whole() as u32,
    }
}

/// The generator of a block.
fn generator(seed: u64, number: u64) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn between(rng: &mut Pcg64Mcg, low: f64, high: f64) -> f64 {
    low + (high - low) * rng.random::<f64>()
}

fn whole(rng: &mut Pcg64Mcg, [low, high]: [f64; 2]) -> f64 {
    between(rng, low, high).floor()
}

/// A number of random sign and mantissa whose exponent keeps it between 1/2 and 2.
fn scrambled_f32(bits: u32) -> f32 {
    let exponent = 126 + (bits >> 23 & 1);
    f32::from_bits(bits & 0x807f_ffff | exponent << 23)
}

/// Positions of a line: of words of 32 bits, 128 bytes, the longest line of a cache that devices have.
const LINE: usize = 32;
/// Lines of a window: 32 pages of 4 KiB, which the smallest address translation caches reach.
const WINDOW: usize = 1024;
/// The quarters of a line in the order in which rounds visit them: the same half, or the same quarter, comes back
/// only when all lines were visited.
const QUARTERS: [usize; 4] = [0, 2, 1, 3];

/// `next[i]` follows `i`, in one cycle through all. It goes round all lines as often as a line has positions, and
/// visits one of each line in a round: window by window, the lines of a window at random. So whatever comes back
/// was last seen as many bytes ago as there are, and a level of memory ends sharply; no prefetcher knows the next
/// line; and translations of addresses, of which a window needs few, cost next to nothing. Positions are of 32 bits,
/// as the words are.
fn cycle(count: usize, seed: u64) -> Vec<u32> {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut lines: Vec<u32> = (0..count.div_ceil(LINE) as u32).collect();
    let mut next = vec![0; count];
    let mut ends: Option<[usize; 2]> = None;
    for round in 0..LINE {
        let place = QUARTERS[round % 4] * (LINE / 4) + round / 4;
        for window in lines.chunks_mut(WINDOW) {
            window.shuffle(&mut rng);
            let places = window.iter().map(|&line| line as usize * LINE + place);
            for at in places.filter(|at| *at < count) {
                if let Some([_, last]) = ends {
                    next[last] = at as u32;
                }
                ends = Some([ends.map_or(at, |[first, _]| first), at]);
            }
        }
    }
    if let Some([first, last]) = ends {
        next[last] = first as u32;
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn equal_seeds_equal_data() {
        let how = Fill::Uniform([-1.0, 1.0]);
        assert_eq!(fill(&how, Scalar::F32, 9, 7), fill(&how, Scalar::F32, 9, 7));
        assert_ne!(fill(&how, Scalar::F32, 9, 7), fill(&how, Scalar::F32, 9, 8));
    }

    #[test]
    fn what_is_promised_is_what_is_filled() {
        let count = BLOCK + 9;
        for scalar in [Scalar::F32, Scalar::U32, Scalar::I32] {
            for how in [
                Fill::Uniform([-3.0, 40.0]),
                Fill::Whole([-3.0, 40.0]),
                Fill::RandomBits,
                Fill::Index,
                Fill::Cycle,
                Fill::Constant(2.5),
            ] {
                let words = promise(&how, scalar, count, 5).into_words();
                let all = fill(&how, scalar, count, 5);
                assert!(
                    all.as_bytes() == bytemuck::cast_slice::<_, u8>(&words),
                    "{how:?} {scalar:?}"
                );
            }
        }
    }

    #[test]
    fn other_types_are_filled_within_their_range() {
        let numbers = |how: Fill, scalar: Scalar, count: usize| -> Vec<f64> {
            let data = fill(&how, scalar, count, 7);
            assert_eq!((data.scalar(), data.len()), (scalar, count));
            (0..count).filter_map(|i| data.get(i)).collect()
        };
        assert_eq!(numbers(Fill::Index, Scalar::U8, 258)[254..], [254.0, 255.0, 0.0, 1.0]);
        assert_eq!(numbers(Fill::Index, Scalar::I8, 130)[126..], [126.0, 127.0, -128.0, -127.0]);
        assert_eq!(numbers(Fill::Constant(0.1), Scalar::F64, 2), [0.1; 2]);
        let drawn = numbers(Fill::Uniform([-1.0, 1.0]), Scalar::F64, 100);
        assert!(drawn.iter().all(|x| x.abs() <= 1.0) && drawn[0] != f64::from(drawn[0] as f32));
        for scalar in [Scalar::F16, Scalar::F32, Scalar::F64, Scalar::I8] {
            let drawn = numbers(Fill::Whole([-1.0, 2.0]), scalar, 100);
            let found: BTreeSet<i64> = drawn.iter().map(|x| *x as i64).collect();
            assert!(drawn.iter().all(|x| x.fract() == 0.0), "{scalar:?}");
            assert_eq!(found.into_iter().collect::<Vec<_>>(), [-1, 0, 1], "{scalar:?}");
        }
        let drawn = numbers(Fill::RandomBits, Scalar::F16, 100);
        assert!(drawn.iter().all(|x| (0.5..=2.0).contains(&x.abs())));
        assert_ne!(numbers(Fill::RandomBits, Scalar::I16, 9), numbers(Fill::Index, Scalar::I16, 9));
    }

    #[test]
    fn no_two_blocks_are_alike() {
        let Data::U32(v) = fill(&Fill::RandomBits, Scalar::U32, 3 * BLOCK + 5, 7) else {
            unreachable!()
        };
        let blocks: Vec<&[u32]> = v.chunks(BLOCK).map(|block| &block[..5]).collect();
        assert!((1..4).all(|i| !blocks[..i].contains(&blocks[i])));
    }

    #[test]
    fn random_bits_are_finite_and_between_a_half_and_two() {
        let Data::F32(v) = fill(&Fill::RandomBits, Scalar::F32, 1000, 1) else { unreachable!() };
        assert!(v.iter().all(|x| (0.5..2.0).contains(&x.abs())));
    }

    #[test]
    fn a_cycle_visits_every_position_once() {
        for count in [1, 2, 31, 100, 4096, 70_000] {
            let Data::U32(next) = fill(&Fill::Cycle, Scalar::U32, count, 3) else { unreachable!() };
            let mut at = 0;
            for step in 1..=count {
                at = next[at as usize];
                assert_eq!(at == 0, step == count, "{step} of {count}");
            }
        }
    }

    #[test]
    fn between_two_visits_of_a_line_of_a_cycle_lie_all_other_lines() {
        let count = 4 * WINDOW * LINE;
        let Data::U32(next) = fill(&Fill::Cycle, Scalar::U32, count, 3) else { unreachable!() };
        // Of lines of 128, of 64 and of 32 bytes; the order within a window differs from round to round.
        for words in [32, 16, 8] {
            let lines = count / words;
            let mut last = vec![None; lines];
            let mut at = 0;
            let mut shortest = usize::MAX;
            for step in 0..count {
                if let Some(before) = last[at / words].replace(step) {
                    shortest = shortest.min(step - before);
                }
                at = next[at] as usize;
            }
            assert!(shortest > lines - WINDOW, "{words}: {shortest} of {lines}");
        }
    }
}
