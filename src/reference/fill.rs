//! Inputs drawn from a seeded generator: equal seeds give equal data on every machine.

use super::Data;
use crate::gpu::Scalar;
use crate::workload::Fill;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// `count` scalars of type `scalar`.
pub fn fill(how: &Fill, scalar: Scalar, count: usize, seed: u64) -> Data {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    match scalar {
        Scalar::F32 => Data::F32(match how {
            Fill::Uniform([low, high]) => {
                (0..count).map(|_| (low + (high - low) * rng.random::<f64>()) as f32).collect()
            }
            Fill::RandomBits => (0..count).map(|_| scrambled_f32(rng.random())).collect(),
            Fill::Index => (0..count).map(|i| i as f32).collect(),
            Fill::Cycle => cycle(&mut rng, count).into_iter().map(|i| i as f32).collect(),
            Fill::Constant(x) => vec![*x as f32; count],
        }),
        Scalar::U32 => Data::U32(integers(how, count, &mut rng).map(|x| x as u32).collect()),
        Scalar::I32 => Data::I32(integers(how, count, &mut rng).map(|x| x as i32).collect()),
    }
}

fn integers<'a>(
    how: &'a Fill,
    count: usize,
    rng: &'a mut Pcg64Mcg,
) -> Box<dyn Iterator<Item = i64> + 'a> {
    match how {
        Fill::Uniform([low, high]) => Box::new(
            (0..count).map(move |_| (low + (high - low) * rng.random::<f64>()).floor() as i64),
        ),
        Fill::RandomBits => Box::new((0..count).map(move |_| i64::from(rng.random::<u32>()))),
        Fill::Index => Box::new(0..count as i64),
        Fill::Cycle => Box::new(cycle(rng, count).into_iter().map(|i| i as i64)),
        Fill::Constant(x) => Box::new(std::iter::repeat_n(*x as i64, count)),
    }
}

/// A number of random sign and mantissa whose exponent keeps it between 1/2 and 2.
fn scrambled_f32(bits: u32) -> f32 {
    let exponent = 126 + (bits >> 23 & 1);
    f32::from_bits(bits & 0x807f_ffff | exponent << 23)
}

/// Sattolo's shuffle: `next[i]` follows `i`, in one cycle through all.
fn cycle(rng: &mut Pcg64Mcg, count: usize) -> Vec<usize> {
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
