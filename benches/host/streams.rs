//! Arrays far larger than the caches: `out = b + s*c` and sums over one part a thread, and copies.

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

    /// GB/s of a sum, repetition by repetition.
    pub fn read_rates(&self) -> Vec<f64> {
        let bytes = 4.0 * self.b.len() as f64;
        let once = || bytes / timed(self.b.chunks(self.part), |b| _ = black_box(sum(b))) / 1e9;
        once();
        (0..REPETITIONS).map(|_| once()).collect()
    }

    /// GB/s of a triad, repetition by repetition.
    pub fn triad_rates(&mut self, kernel: Kernel) -> Vec<f64> {
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

/// GB/s of copying `n` numbers, repetition by repetition.
pub fn copy_rates(n: usize) -> Vec<f64> {
    let mut from = vec![1.0f32; n];
    // Zeros that were written, since all pages never written are one page.
    black_box(&mut from).fill(0.0);
    let mut to = vec![0.0f32; n];
    let mut once = || {
        let seconds = timed([&mut to].into_iter(), |to| to.copy_from_slice(black_box(&from)));
        black_box(&to);
        4.0 * n as f64 / seconds / 1e9
    };
    once();
    (0..REPETITIONS).map(|_| once()).collect()
}

/// The sum modulo 2^32 of the numbers' bits, in many sums beside each other.
fn sum(numbers: &[f32]) -> u32 {
    let (chunks, rest) = numbers.as_chunks::<64>();
    let mut sums = [0u32; 64];
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, x)| *sum = sum.wrapping_add(x.to_bits()));
    }
    rest.iter().map(|x| x.to_bits()).chain(sums).fold(0, u32::wrapping_add)
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
    let vectors = b[skip..whole].as_chunks::<4>().0.iter().zip(c[skip..whole].as_chunks::<4>().0);
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
