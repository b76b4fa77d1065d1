//! The chains in vectors of x86-64.

use super::{ADDEND, CHAINS, Chains, FACTOR, Type};
use std::arch::x86_64::*;
use std::hint::black_box;

/// The widest variant that this processor takes.
pub fn best(of: Type) -> Option<Chains> {
    let (wide, narrow) = (is_x86_feature_detected!("avx512f"), avx2());
    let chains = |variant, vector: u64, run| {
        Some(Chains { variant, operations: vector * CHAINS as u64, run })
    };
    match of {
        Type::F32 if wide => chains("AVX-512", 32, f32_512),
        Type::F32 if narrow => chains("AVX2", 16, f32_256),
        Type::F64 if wide => chains("AVX-512", 16, f64_512),
        Type::F64 if narrow => chains("AVX2", 8, f64_256),
        Type::F32Unfused if narrow => chains("AVX2, not fused", 16, f32_unfused_256),
        Type::F64Unfused if wide => chains("AVX-512, not fused", 16, f64_unfused_512),
        Type::F16 if wide => chains("AVX-512, converted", 32, f16_512),
        Type::F16 if narrow && is_x86_feature_detected!("f16c") => {
            chains("AVX2, converted", 16, f16_256)
        }
        Type::I8 if is_x86_feature_detected!("avx512vnni") => chains("VNNI", 128, i8_512),
        Type::I8Pairs if is_x86_feature_detected!("avx512bw") => {
            chains("AVX-512, pairs", 128, i8_pairs_512)
        }
        _ => None,
    }
}

fn avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

/// A function of chains: how a vector is filled, a step, and the sum of a vector's numbers.
macro_rules! chains {
    ($name:ident, $features:literal, $a:expr, $b:expr, $x:expr, $step:expr, $sum:expr) => {
        #[expect(unsafe_code, reason = "calls a function for a processor that was asked first")]
        fn $name(steps: u64) -> f32 {
            #[target_feature(enable = $features)]
            fn run(steps: u64) -> f32 {
                let (a, b) = ($a, $b);
                let mut x = [$x; CHAINS];
                for _ in 0..steps {
                    for x in &mut x {
                        *x = $step(a, *x, b);
                    }
                }
                x.into_iter().map(|x| $sum(x)).sum()
            }
            // SAFETY: `best` hands this out only where the processor has these features.
            unsafe { run(steps) }
        }
    };
}

const HALF: f32 = 0.5;
/// One 8-bit number in each byte.
const BYTES: i32 = 0x0101_0101;

chains!(
    f32_512,
    "avx512f",
    _mm512_set1_ps(black_box(FACTOR)),
    _mm512_set1_ps(black_box(ADDEND)),
    _mm512_set1_ps(black_box(HALF)),
    |a, x, b| _mm512_fmadd_ps(a, x, b),
    |x| _mm512_reduce_add_ps(x)
);
chains!(
    f32_256,
    "avx2,fma",
    _mm256_set1_ps(black_box(FACTOR)),
    _mm256_set1_ps(black_box(ADDEND)),
    _mm256_set1_ps(black_box(HALF)),
    |a, x, b| _mm256_fmadd_ps(a, x, b),
    |x| _mm_cvtss_f32(_mm256_castps256_ps128(x))
);
chains!(
    f32_unfused_256,
    "avx2",
    _mm256_set1_ps(black_box(FACTOR)),
    _mm256_set1_ps(black_box(ADDEND)),
    _mm256_set1_ps(black_box(HALF)),
    |a, x, b| _mm256_add_ps(_mm256_mul_ps(a, x), b),
    |x| _mm_cvtss_f32(_mm256_castps256_ps128(x))
);
chains!(
    f64_512,
    "avx512f",
    _mm512_set1_pd(f64::from(black_box(FACTOR))),
    _mm512_set1_pd(f64::from(black_box(ADDEND))),
    _mm512_set1_pd(f64::from(black_box(HALF))),
    |a, x, b| _mm512_fmadd_pd(a, x, b),
    |x| _mm512_reduce_add_pd(x) as f32
);
chains!(
    f64_unfused_512,
    "avx512f",
    _mm512_set1_pd(f64::from(black_box(FACTOR))),
    _mm512_set1_pd(f64::from(black_box(ADDEND))),
    _mm512_set1_pd(f64::from(black_box(HALF))),
    |a, x, b| _mm512_add_pd(_mm512_mul_pd(a, x), b),
    |x| _mm512_reduce_add_pd(x) as f32
);
chains!(
    f64_256,
    "avx2,fma",
    _mm256_set1_pd(f64::from(black_box(FACTOR))),
    _mm256_set1_pd(f64::from(black_box(ADDEND))),
    _mm256_set1_pd(f64::from(black_box(HALF))),
    |a, x, b| _mm256_fmadd_pd(a, x, b),
    |x| _mm_cvtsd_f64(_mm256_castpd256_pd128(x)) as f32
);
chains!(
    f16_512,
    "avx512f",
    _mm512_set1_ps(black_box(FACTOR)),
    _mm512_set1_ps(black_box(ADDEND)),
    _mm512_cvtps_ph::<0>(_mm512_set1_ps(black_box(HALF))),
    |a, x, b| _mm512_cvtps_ph::<0>(_mm512_fmadd_ps(a, _mm512_cvtph_ps(x), b)),
    |x| _mm512_reduce_add_ps(_mm512_cvtph_ps(x))
);
chains!(
    f16_256,
    "avx2,fma,f16c",
    _mm256_set1_ps(black_box(FACTOR)),
    _mm256_set1_ps(black_box(ADDEND)),
    _mm256_cvtps_ph::<0>(_mm256_set1_ps(black_box(HALF))),
    |a, x, b| _mm256_cvtps_ph::<0>(_mm256_fmadd_ps(a, _mm256_cvtph_ps(x), b)),
    |x| _mm_cvtss_f32(_mm256_castps256_ps128(_mm256_cvtph_ps(x)))
);
// A sum that goes on from itself: the bytes of its own are one factor, those of `a` the other.
chains!(
    i8_512,
    "avx512f,avx512vnni",
    _mm512_set1_epi32(black_box(BYTES)),
    (),
    _mm512_set1_epi32(black_box(BYTES)),
    |a, x, ()| _mm512_dpbusd_epi32(x, a, x),
    |x| _mm512_reduce_add_epi32(x) as f32
);
// Bytes in even and odd places, each extended to 16 bits; an instruction has two products and their sum.
chains!(
    i8_pairs_512,
    "avx512f,avx512bw",
    _mm512_set1_epi16(black_box(BYTES) as i16 & 0xff),
    (),
    _mm512_set1_epi32(black_box(BYTES)),
    |a, x, ()| {
        let even = _mm512_srai_epi16::<8>(_mm512_slli_epi16::<8>(x));
        let odd = _mm512_srai_epi16::<8>(x);
        let sums = _mm512_add_epi32(_mm512_madd_epi16(even, a), _mm512_madd_epi16(odd, a));
        _mm512_add_epi32(x, sums)
    },
    |x| _mm512_reduce_add_epi32(x) as f32
);
