//! Chains of multiply-adds by type, enough of them side by side to hide their latency.

#[cfg(target_arch = "x86_64")]
mod x86;

use std::hint::black_box;

/// A type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    F32,
    F64,
    /// Multiplied and added apart in vectors of 256 bits: what a compiler without fused multiply-adds can reach.
    F32Unfused,
    /// The same of `f64`, in vectors of 512 bits.
    F64Unfused,
    /// Held as `f16`, computed in `f32`, converted at each step: what a processor without arithmetic of `f16` does.
    F16,
    /// Dot products of four bytes.
    I8,
    /// The same without an instruction for it, in pairs of 16 bits: what a compiler that does not know of one can reach.
    I8Pairs,
}

/// What is measured.
#[derive(Clone, Copy)]
pub struct Chains {
    /// Its instructions.
    pub variant: &'static str,
    /// Operations of a step of all chains; a multiply-add is two.
    pub operations: u64,
    /// Runs a given number of steps; returns something that depends on every one of them.
    pub run: fn(u64) -> f32,
}

/// Chains of each variant.
const CHAINS: usize = 12;
/// Near -1: values swap about 2 and stay between 0 and 4.
const FACTOR: f32 = -0.999_755_86;
const ADDEND: f32 = 4.0;

/// The widest variant that this processor takes.
pub fn best(of: Type) -> Option<Chains> {
    #[cfg(target_arch = "x86_64")]
    if let Some(chains) = x86::best(of) {
        return Some(chains);
    }
    // As the compiler vectorises it: on AArch64, where fused multiply-adds belong to the base, that is all there
    // is to do.
    let operations = 2 * (CHAINS * PORTABLE) as u64;
    let variant = if cfg!(target_arch = "aarch64") { "NEON" } else { "portable" };
    (of == Type::F32).then_some(Chains { variant, operations, run: portable })
}

/// Numbers of a vector where the compiler chooses.
const PORTABLE: usize = 8;

fn portable(steps: u64) -> f32 {
    let (a, b) = (black_box(FACTOR), black_box(ADDEND));
    let mut x = [[black_box(0.5f32); PORTABLE]; CHAINS];
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
