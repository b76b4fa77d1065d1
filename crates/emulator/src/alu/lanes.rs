//! Rows of lanes: how an instruction reads its operands, and where what it makes of them goes.

/// The rows of up to three operands; an instruction of fewer leaves the last ones alone.
type From<'r> = [&'r [u32]; 3];

/// Fused multiply-adds. `f64` holds the product of two `f32` exactly, so that their sum with a third
/// is rounded twice only. That is as good as once, save where the first rounding may have ended
/// in the middle of two `f32`: such rows are done again by the library, which takes a call a lane.
pub(crate) fn fused(to: &mut [u32], [a, b, c]: From) {
    let wide = |bits: u32| f64::from(f32::from_bits(bits));
    let mut doubtful = false;
    for ((to, &a), (&b, &c)) in to.iter_mut().zip(a).zip(b.iter().zip(c)) {
        let sum = wide(a) * wide(b) + wide(c);
        // Numbers below the normal ones have their middles elsewhere.
        let is_small = sum.abs() < f64::from(f32::MIN_POSITIVE) && sum != 0.0;
        doubtful |= sum.to_bits() as u32 & 0x1fff_ffff == 0x1000_0000 || is_small;
        *to = (sum as f32).to_bits();
    }
    if doubtful {
        for ((to, &a), (&b, &c)) in to.iter_mut().zip(a).zip(b.iter().zip(c)) {
            *to = f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c)).to_bits();
        }
    }
}

#[inline(always)]
pub(crate) fn int1(to: &mut [u32], [a, ..]: From, f: impl Fn(u32) -> u32) {
    for (to, &a) in to.iter_mut().zip(a) {
        *to = f(a);
    }
}

#[inline(always)]
pub(crate) fn int2(to: &mut [u32], [a, b, _]: From, f: impl Fn(u32, u32) -> u32) {
    for ((to, &a), &b) in to.iter_mut().zip(a).zip(b) {
        *to = f(a, b);
    }
}

#[inline(always)]
pub(crate) fn int3(to: &mut [u32], [a, b, c]: From, f: impl Fn(u32, u32, u32) -> u32) {
    for ((to, &a), (&b, &c)) in to.iter_mut().zip(a).zip(b.iter().zip(c)) {
        *to = f(a, b, c);
    }
}

#[inline(always)]
pub(crate) fn signed2(to: &mut [u32], from: From, f: impl Fn(i32, i32) -> i32) {
    int2(to, from, |a, b| f(a as i32, b as i32) as u32);
}

#[inline(always)]
pub(crate) fn float1(to: &mut [u32], from: From, f: impl Fn(f32) -> f32) {
    int1(to, from, |a| f(f32::from_bits(a)).to_bits());
}

#[inline(always)]
pub(crate) fn float2(to: &mut [u32], from: From, f: impl Fn(f32, f32) -> f32) {
    int2(to, from, |a, b| f(f32::from_bits(a), f32::from_bits(b)).to_bits());
}

#[inline(always)]
pub(crate) fn compare(to: &mut [u32], from: From, f: impl Fn(f32, f32) -> bool) {
    int2(to, from, |a, b| u32::from(f(f32::from_bits(a), f32::from_bits(b))));
}
