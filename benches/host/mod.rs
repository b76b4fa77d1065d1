//! What the host's processor reaches by itself, over all its cores.

use std::fmt;
use std::hint::black_box;
use std::num::NonZero;
use std::sync::Barrier;
use std::time::Instant;

/// Repetitions of each measurement.
const REPETITIONS: usize = 15;

/// One variant of a measurement: its name, and its rate in each repetition.
pub struct Rates {
    /// Which instructions it uses.
    pub variant: &'static str,
    /// GFLOP/s or GB/s.
    pub rates: Vec<f64>,
}

impl Rates {
    /// The middle repetition.
    pub fn median(&self) -> f64 {
        let mut sorted = self.rates.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let best = self.rates.iter().copied().fold(0.0, f64::max);
        write!(f, "{:<16} best {best:8.2}   median {:8.2}", self.variant, self.median())
    }
}

/// Logical processors that this process may use.
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Single-precision fused multiply-adds, in GFLOP/s.
pub fn fma() -> Rates {
    let (variant, chains) = fma::best();
    Rates { variant, rates: fma_rates(threads(), chains) }
}

/// A triad over three arrays of `mib` MiB each, in GB/s, in every variant that the processor takes;
/// the plain loop is the first.
pub fn triad(mib: usize) -> Vec<Rates> {
    let mut arrays = triad::Arrays::new(mib << 18, threads());
    let rates = |(variant, kernel)| Rates { variant, rates: arrays.rates(kernel) };
    triad::variants().into_iter().map(rates).collect()
}

/// Runs `work` on every part at once, each on a thread of its own, and returns the seconds from
/// the first to start to the last to end.
fn timed<T: Send>(parts: impl ExactSizeIterator<Item = T>, work: impl Fn(T) + Sync) -> f64 {
    let barrier = Barrier::new(parts.len());
    let run = |part| {
        barrier.wait();
        let start = Instant::now();
        work(part);
        (start, Instant::now())
    };
    let spans: Vec<(Instant, Instant)> = std::thread::scope(|scope| {
        let run = &run;
        let handles: Vec<_> = parts.map(|part| scope.spawn(move || run(part))).collect();
        handles.into_iter().filter_map(|handle| handle.join().ok()).collect()
    });
    let first = spans.iter().map(|span| span.0).min();
    let last = spans.iter().map(|span| span.1).max();
    first.zip(last).map_or(f64::NAN, |(first, last)| (last - first).as_secs_f64())
}

/// GFLOP/s, repetition by repetition; each lasts about a quarter of a second.
fn fma_rates(threads: usize, chains: fma::Chains) -> Vec<f64> {
    let mut steps = 1 << 16;
    let seconds = |steps| timed((0..threads).map(|_| steps), |steps| _ = black_box(chains(steps)));
    while seconds(steps) < 0.25 {
        steps *= 2;
    }
    let flops = (threads as u64 * fma::FLOPS_PER_STEP * steps) as f64;
    (0..REPETITIONS).map(|_| flops / seconds(steps) / 1e9).collect()
}

/// Chains of fused multiply-adds, enough of them side by side to hide their latency.
mod fma {
    use std::hint::black_box;

    /// Runs a given number of steps of all chains; returns something that depends on every one of them.
    pub type Chains = fn(u64) -> f32;

    /// A step advances a given number of scalars, however wide the processor's vectors are.
    const SCALARS: usize = 192;

    /// Operations of one step.
    pub const FLOPS_PER_STEP: u64 = 2 * SCALARS as u64;

    /// Near -1: values swap about 2 and stay between 0 and 4.
    const FACTOR: f32 = -0.999_755_86;
    const ADDEND: f32 = 4.0;

    /// The widest variant that this processor takes, and its name.
    pub fn best() -> (&'static str, Chains) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") {
            return ("AVX-512", x86::avx512);
        } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return ("AVX2", x86::avx2);
        }
        #[cfg(target_arch = "aarch64")]
        return ("NEON", portable);
        #[allow(unreachable_code, reason = "reached on every architecture not named above")]
        ("portable", portable)
    }

    /// As the compiler vectorises it: on AArch64, where fused multiply-adds belong to the base,
    /// that is all there is to do.
    fn portable(steps: u64) -> f32 {
        half(steps) + half(steps)
    }

    /// Half of the chains, as many as 32 vector registers of four hold beside `a` and `b`.
    fn half(steps: u64) -> f32 {
        let (a, b) = black_box((FACTOR, ADDEND));
        let mut x = [[black_box(0.5f32); 4]; SCALARS / 8];
        for _ in 0..steps {
            x = x.map(|vector| vector.map(|x| fused(a, x, b)));
        }
        x.as_flattened().iter().sum()
    }

    #[cfg(any(target_arch = "aarch64", target_feature = "fma"))]
    fn fused(a: f32, x: f32, b: f32) -> f32 {
        a.mul_add(x, b)
    }

    /// Where fusing would be a call into the mathematics library, two operations are the peak.
    #[cfg(not(any(target_arch = "aarch64", target_feature = "fma")))]
    fn fused(a: f32, x: f32, b: f32) -> f32 {
        a * x + b
    }

    #[cfg(target_arch = "x86_64")]
    mod x86 {
        use super::{ADDEND, FACTOR, SCALARS};
        use std::arch::x86_64::*;
        use std::hint::black_box;

        #[expect(unsafe_code, reason = "calls a function for a processor that was asked first")]
        pub fn avx512(steps: u64) -> f32 {
            // SAFETY: `best` hands this out only where the processor has AVX-512F.
            unsafe { chains_512(steps) }
        }

        #[target_feature(enable = "avx512f")]
        fn chains_512(steps: u64) -> f32 {
            let a = _mm512_set1_ps(black_box(FACTOR));
            let b = _mm512_set1_ps(black_box(ADDEND));
            let mut x = [_mm512_set1_ps(black_box(0.5)); SCALARS / 16];
            for _ in 0..steps {
                for x in &mut x {
                    *x = _mm512_fmadd_ps(a, *x, b);
                }
            }
            x.into_iter().map(|x| _mm512_reduce_add_ps(x)).sum()
        }

        #[expect(unsafe_code, reason = "calls a function for a processor that was asked first")]
        pub fn avx2(steps: u64) -> f32 {
            // SAFETY: `best` hands this out only where the processor has AVX2 and FMA.
            unsafe { chains_256(steps) + chains_256(steps) }
        }

        /// Half of the chains, as many as the 16 vector registers hold beside `a` and `b`.
        #[target_feature(enable = "avx2,fma")]
        fn chains_256(steps: u64) -> f32 {
            let a = _mm256_set1_ps(black_box(FACTOR));
            let b = _mm256_set1_ps(black_box(ADDEND));
            let mut x = [_mm256_set1_ps(black_box(0.5)); SCALARS / 16];
            for _ in 0..steps {
                for x in &mut x {
                    *x = _mm256_fmadd_ps(a, *x, b);
                }
            }
            x.into_iter().map(|x| _mm_cvtss_f32(_mm256_castps256_ps128(x))).sum()
        }
    }
}

/// `out = b + s*c` over arrays cut into one part a thread.
mod triad {
    use super::{REPETITIONS, timed};
    use std::hint::black_box;

    const S: f32 = 0.5;

    /// Computes one part.
    pub type Kernel = fn(&mut [f32], &[f32], &[f32]);

    /// The variants that this processor takes.
    pub fn variants() -> Vec<(&'static str, Kernel)> {
        let mut variants: Vec<(&str, Kernel)> = vec![("plain loop", plain)];
        #[cfg(target_arch = "x86_64")]
        variants.push(("streaming stores", streaming));
        variants
    }

    /// Three arrays, each part of which was first touched by the thread that works on it.
    pub struct Arrays {
        out: Vec<f32>,
        b: Vec<f32>,
        c: Vec<f32>,
        part: usize,
    }

    impl Arrays {
        pub fn new(n: usize, threads: usize) -> Self {
            let part = n.div_ceil(threads).max(1);
            let mut arrays = Self { out: vec![0.0; n], b: vec![0.0; n], c: vec![0.0; n], part };
            for array in [&mut arrays.out, &mut arrays.b, &mut arrays.c] {
                timed(array.chunks_mut(part), |part| {
                    for (value, i) in part.iter_mut().zip((1..=509u16).cycle()) {
                        *value = f32::from(i);
                    }
                });
            }
            arrays
        }

        /// GB/s, repetition by repetition.
        pub fn rates(&mut self, kernel: Kernel) -> Vec<f64> {
            let bytes = 12.0 * self.out.len() as f64;
            let mut once = || {
                let inputs = self.b.chunks(self.part).zip(self.c.chunks(self.part));
                let parts = self.out.chunks_mut(self.part).zip(inputs);
                let seconds = timed(parts, |(out, (b, c))| kernel(out, b, c));
                black_box(&self.out);
                bytes / seconds / 1e9
            };
            once();
            (0..REPETITIONS).map(|_| once()).collect()
        }
    }

    fn plain(out: &mut [f32], b: &[f32], c: &[f32]) {
        let s = black_box(S);
        for ((out, b), c) in out.iter_mut().zip(b).zip(c) {
            *out = b + s * c;
        }
    }

    /// Stores that go past the caches, so that no line is read before it is written.
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "streaming stores take a pointer")]
    fn streaming(out: &mut [f32], b: &[f32], c: &[f32]) {
        use std::arch::x86_64::{__m128, _mm_loadu_ps, _mm_sfence, _mm_stream_ps};
        let s = black_box(S);
        // SAFETY: four `f32` make a `__m128`, and every pattern of bits is valid in both.
        let (head, body, _) = unsafe { out.align_to_mut::<__m128>() };
        let skip = head.len();
        let whole = skip + 4 * body.len();
        let vectors =
            b[skip..whole].as_chunks::<4>().0.iter().zip(c[skip..whole].as_chunks::<4>().0);
        for (out, (b, c)) in body.iter_mut().zip(vectors) {
            let sum: [f32; 4] = std::array::from_fn(|i| b[i] + s * c[i]);
            // SAFETY: `out` is valid and aligned, `sum` holds four numbers, and x86-64 has SSE.
            unsafe { _mm_stream_ps(std::ptr::from_mut(out).cast(), _mm_loadu_ps(sum.as_ptr())) };
        }
        // SAFETY: x86-64 has SSE. The fence orders the stores before what other threads see next.
        unsafe { _mm_sfence() };
        plain(&mut out[..skip], &b[..skip], &c[..skip]);
        plain(&mut out[whole..], &b[whole..], &c[whole..]);
    }
}
