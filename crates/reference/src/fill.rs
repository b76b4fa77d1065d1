//! Inputs drawn from a seeded generator: equal seeds give equal data on every machine.

use super::{Data, for_each_chunk};
use gpubench_core::gpu::Scalar;
use gpubench_core::workload::Fill;
use gpubench_emulator::Buffer;
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
            Fill::RandomBits => drawn(count, seed, |rng| scrambled_f32(rng.random())),
            Fill::Index => (0..count).map(|i| i as f32).collect(),
            Fill::Cycle => cycle(count, seed).into_iter().map(|i| i as f32).collect(),
            Fill::Constant(x) => vec![*x as f32; count],
        }),
        Scalar::U32 => Data::U32(integers(how, count, seed, |x| x as u32)),
        Scalar::I32 => Data::I32(integers(how, count, seed, |x| x as i32)),
    }
}

fn integers<T: Clone + Default + Send>(
    how: &Fill,
    count: usize,
    seed: u64,
    of: impl Fn(i64) -> T + Sync,
) -> Vec<T> {
    match how {
        Fill::Uniform([low, high]) => {
            drawn(count, seed, |rng| of(between(rng, *low, *high).floor() as i64))
        }
        Fill::RandomBits => drawn(count, seed, |rng| of(i64::from(rng.random::<u32>()))),
        Fill::Index => (0..count as i64).map(of).collect(),
        Fill::Cycle => cycle(count, seed).into_iter().map(|i| of(i as i64)).collect(),
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

/// The same contents as [`fill`]'s, made piece by piece when they are touched.
pub fn promise(how: &Fill, scalar: Scalar, count: usize, seed: u64) -> Buffer {
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
        Scalar::U32 => whole() as u32,
        Scalar::I32 => (whole() as i32).cast_unsigned(),
    }
}

/// The generator of a block.
fn generator(seed: u64, number: u64) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn between(rng: &mut Pcg64Mcg, low: f64, high: f64) -> f64 {
    low + (high - low) * rng.random::<f64>()
}

/// A number of random sign and mantissa whose exponent keeps it between 1/2 and 2.
fn scrambled_f32(bits: u32) -> f32 {
    let exponent = 126 + (bits >> 23 & 1);
    f32::from_bits(bits & 0x807f_ffff | exponent << 23)
}

/// Sattolo's shuffle: `next[i]` follows `i`, in one cycle through all.
fn cycle(count: usize, seed: u64) -> Vec<usize> {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut next: Vec<usize> = (0..count).collect();
    for i in (1..count).rev() {
        next.swap(i, rng.random_range(0..i));
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let Data::U32(next) = fill(&Fill::Cycle, Scalar::U32, 100, 3) else { unreachable!() };
        let mut at = 0;
        for step in 1..=100 {
            at = next[at as usize];
            assert_eq!(at == 0, step == 100);
        }
    }
}
