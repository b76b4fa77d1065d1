//! Arithmetic on rows, as WGSL defines it: integers wrap, an integer divided by 0 is itself, and a
//! float beyond the integers becomes the last of them that floats can hold.

mod bits;
mod float;

use super::program::{Op, Row};

/// The integers of either type farthest from 0 that an `f32` holds: WGSL clamps to them before it
/// converts, as devices do. Of a NaN it says nothing; here it becomes 0.
const U32_MAX: f32 = 4_294_967_040.0;
const I32_MAX: f32 = 2_147_483_520.0;
const I32_MIN: f32 = -2_147_483_648.0;

/// `to = op(from)` in each of `lanes` lanes.
pub(super) fn run(rows: &mut [u32], lanes: usize, op: Op, to: Row, from: [Row; 3]) {
    let (before, after) = rows.split_at_mut(to as usize * lanes);
    let to = &mut after[..lanes];
    let [a, b, c] = from.map(|row| &before[row as usize * lanes..][..lanes]);
    use Op::*;
    match op {
        FAdd => float2(to, a, b, |a, b| a + b),
        FSub => float2(to, a, b, |a, b| a - b),
        FMul => float2(to, a, b, |a, b| a * b),
        FDiv => float2(to, a, b, |a, b| a / b),
        FRem => float2(to, a, b, |a, b| a % b),
        FMin => float2(to, a, b, f32::min),
        FMax => float2(to, a, b, f32::max),
        FPow => float2(to, a, b, f32::powf),
        FFma => fused(to, a, b, c),
        FAtan2 => float2(to, a, b, f32::atan2),
        FNeg => int1(to, a, |a| a ^ 1 << 31),
        FAbs => int1(to, a, |a| a & !(1 << 31)),
        FSqrt => int1(to, a, |a| f32::from_bits(a).sqrt().to_bits()),
        FSign | FFloor | FCeil | FTrunc | FRound | FInverseSqrt | FExp | FExp2 | FLog | FLog2
        | FSin | FCos | FTan | FAsin | FAcos | FAtan | FSinh | FCosh | FTanh | FAsinh | FAcosh
        | FAtanh | FFraction | RoundHalf => {
            let f = float::unary(op);
            int1(to, a, |a| f(f32::from_bits(a)).to_bits());
        }
        FEqual => compare(to, a, b, |a, b| a == b),
        FNotEqual => compare(to, a, b, |a, b| a != b),
        FLess => compare(to, a, b, |a, b| a < b),
        FLessEqual => compare(to, a, b, |a, b| a <= b),
        Select => {
            for ((to, &a), (&b, &c)) in to.iter_mut().zip(a).zip(b.iter().zip(c)) {
                *to = if c != 0 { b } else { a };
            }
        }
        Extract => int3(to, a, b, c, bits::extract),
        ExtractSigned => int3(to, a, b, c, bits::extract_signed),
        BitMask | FirstLeading | FirstLeadingSigned | FirstTrailing | DotBytes | DotSignedBytes => {
            field(op, to, a, b);
        }
        FExponent | FScale | ToShare(_) | ToSignedShare(_) | FromShare(_) | FromSignedShare(_)
        | ToHalf | FromHalf => packed(op, to, a, b),
        _ => integer(op, to, a, b),
    }
}

/// Fields of bits.
fn field(op: Op, to: &mut [u32], a: &[u32], b: &[u32]) {
    match op {
        Op::BitMask => int2(to, a, b, bits::mask),
        Op::FirstLeading => int1(to, a, bits::first_leading),
        Op::FirstLeadingSigned => int1(to, a, bits::first_leading_signed),
        Op::FirstTrailing => int1(to, a, bits::first_trailing),
        Op::DotBytes => int2(to, a, b, bits::dot_bytes),
        _ => int2(to, a, b, bits::dot_signed_bytes),
    }
}

/// Numbers in few bits, and the parts of a float.
fn packed(op: Op, to: &mut [u32], a: &[u32], b: &[u32]) {
    let float = f32::from_bits;
    match op {
        Op::FExponent => int1(to, a, |a| float::split(float(a)).1.cast_unsigned()),
        Op::FScale => int2(to, a, b, |a, b| float::scaled(float(a), b.cast_signed()).to_bits()),
        Op::ToShare(n) => int1(to, a, |a| bits::to_share(float(a), n)),
        Op::ToSignedShare(n) => int1(to, a, |a| bits::to_signed_share(float(a), n)),
        Op::FromShare(n) => int1(to, a, |a| bits::from_share(a, n).to_bits()),
        Op::FromSignedShare(n) => int1(to, a, |a| bits::from_signed_share(a, n).to_bits()),
        Op::ToHalf => int1(to, a, |a| bits::half_bits(float(a))),
        _ => int1(to, a, |a| bits::half_value(a).to_bits()),
    }
}

/// Fused multiply-adds. `f64` holds the product of two `f32` exactly, so that their sum with a third
/// is rounded twice only. That is as good as once, save where the first rounding may have ended
/// in the middle of two `f32`: such rows are done again by the library, which takes a call a lane.
fn fused(to: &mut [u32], a: &[u32], b: &[u32], c: &[u32]) {
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

fn integer(op: Op, to: &mut [u32], a: &[u32], b: &[u32]) {
    use Op::*;
    match op {
        IAdd => int2(to, a, b, u32::wrapping_add),
        ISub => int2(to, a, b, u32::wrapping_sub),
        IMul => int2(to, a, b, u32::wrapping_mul),
        UDiv => int2(to, a, b, |a, b| a.checked_div(b).unwrap_or(a)),
        URem => int2(to, a, b, |a, b| a.checked_rem(b).unwrap_or(0)),
        SDiv => signed2(to, a, b, |a, b| a.checked_div(b).unwrap_or(a)),
        SRem => signed2(to, a, b, |a, b| a.checked_rem(b).unwrap_or(0)),
        ShiftLeft => int2(to, a, b, u32::wrapping_shl),
        ShiftRightU => int2(to, a, b, u32::wrapping_shr),
        ShiftRightS => int2(to, a, b, |a, b| (a as i32).wrapping_shr(b) as u32),
        And => int2(to, a, b, |a, b| a & b),
        Or => int2(to, a, b, |a, b| a | b),
        Xor => int2(to, a, b, |a, b| a ^ b),
        Equal => int2(to, a, b, |a, b| u32::from(a == b)),
        NotEqual => int2(to, a, b, |a, b| u32::from(a != b)),
        ULess => int2(to, a, b, |a, b| u32::from(a < b)),
        ULessEqual => int2(to, a, b, |a, b| u32::from(a <= b)),
        SLess => int2(to, a, b, |a, b| u32::from((a as i32) < b as i32)),
        SLessEqual => int2(to, a, b, |a, b| u32::from(a as i32 <= b as i32)),
        UMin => int2(to, a, b, u32::min),
        UMax => int2(to, a, b, u32::max),
        SMin => signed2(to, a, b, i32::min),
        SMax => signed2(to, a, b, i32::max),
        INeg => int1(to, a, u32::wrapping_neg),
        SAbs => int1(to, a, |a| (a as i32).wrapping_abs() as u32),
        SSign => int1(to, a, |a| (a as i32).signum() as u32),
        CountOnes => int1(to, a, u32::count_ones),
        LeadingZeros => int1(to, a, u32::leading_zeros),
        TrailingZeros => int1(to, a, u32::trailing_zeros),
        ReverseBits => int1(to, a, u32::reverse_bits),
        FToU => int1(to, a, |a| f32::from_bits(a).clamp(0.0, U32_MAX) as u32),
        FToS => int1(to, a, |a| f32::from_bits(a).clamp(I32_MIN, I32_MAX) as i32 as u32),
        UToF => int1(to, a, |a| (a as f32).to_bits()),
        SToF => int1(to, a, |a| (a as i32 as f32).to_bits()),
        // `Copy`; all others have been handled above.
        _ => to.copy_from_slice(a),
    }
}

#[inline(always)]
fn int1(to: &mut [u32], a: &[u32], f: impl Fn(u32) -> u32) {
    for (to, &a) in to.iter_mut().zip(a) {
        *to = f(a);
    }
}

#[inline(always)]
fn int2(to: &mut [u32], a: &[u32], b: &[u32], f: impl Fn(u32, u32) -> u32) {
    for ((to, &a), &b) in to.iter_mut().zip(a).zip(b) {
        *to = f(a, b);
    }
}

#[inline(always)]
fn int3(to: &mut [u32], a: &[u32], b: &[u32], c: &[u32], f: impl Fn(u32, u32, u32) -> u32) {
    for ((to, &a), (&b, &c)) in to.iter_mut().zip(a).zip(b.iter().zip(c)) {
        *to = f(a, b, c);
    }
}

#[inline(always)]
fn signed2(to: &mut [u32], a: &[u32], b: &[u32], f: impl Fn(i32, i32) -> i32) {
    int2(to, a, b, |a, b| f(a as i32, b as i32) as u32);
}

#[inline(always)]
fn float2(to: &mut [u32], a: &[u32], b: &[u32], f: impl Fn(f32, f32) -> f32) {
    int2(to, a, b, |a, b| f(f32::from_bits(a), f32::from_bits(b)).to_bits());
}

#[inline(always)]
fn compare(to: &mut [u32], a: &[u32], b: &[u32], f: impl Fn(f32, f32) -> bool) {
    int2(to, a, b, |a, b| u32::from(f(f32::from_bits(a), f32::from_bits(b))));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(op: Op, a: u32, b: u32, c: u32) -> u32 {
        let mut rows = [a, b, c, 0];
        run(&mut rows, 1, op, 3, [0, 1, 2]);
        rows[3]
    }

    #[test]
    fn integers_behave_as_wgsl_says() {
        let min_i32 = i32::MIN as u32;
        assert_eq!(one(Op::UDiv, 7, 0, 0), 7);
        assert_eq!(one(Op::URem, 7, 0, 0), 0);
        assert_eq!(one(Op::SDiv, min_i32, u32::MAX, 0), min_i32);
        assert_eq!(one(Op::SRem, (-7i32) as u32, 2, 0), u32::MAX);
        assert_eq!(one(Op::ShiftRightS, min_i32, 31, 0), u32::MAX);
        assert_eq!(one(Op::ShiftLeft, 1, 33, 0), 2);
        assert_eq!(one(Op::SLess, u32::MAX, 0, 0), 1);
        assert_eq!(one(Op::ULess, u32::MAX, 0, 0), 0);
    }

    #[test]
    fn conversions_clamp_to_what_floats_hold() {
        assert_eq!(one(Op::FToU, (-1f32).to_bits(), 0, 0), 0);
        assert_eq!(one(Op::FToU, f32::INFINITY.to_bits(), 0, 0), 4_294_967_040);
        assert_eq!(one(Op::FToS, 1e20f32.to_bits(), 0, 0), 2_147_483_520);
        assert_eq!(one(Op::FToS, (-1e20f32).to_bits(), 0, 0), i32::MIN as u32);
        assert_eq!(one(Op::FToU, f32::NAN.to_bits(), 0, 0), 0);
        assert_eq!(f32::from_bits(one(Op::SToF, (-3i32) as u32, 0, 0)), -3.0);
    }

    #[test]
    fn select_takes_the_second_where_the_condition_holds() {
        assert_eq!((one(Op::Select, 5, 6, 0), one(Op::Select, 5, 6, 1)), (5, 6));
    }

    #[test]
    fn a_fused_multiply_add_rounds_once() {
        let a = 1.0 + 2f32.powi(-12);
        let exact = one(Op::FFma, a.to_bits(), a.to_bits(), (-1f32).to_bits());
        assert_eq!(f32::from_bits(exact), a.mul_add(a, -1.0));
        assert_ne!(f32::from_bits(exact), a * a - 1.0);
    }

    #[test]
    fn fused_multiply_adds_that_f64_would_round_to_a_middle_are_right() {
        let fused = |a: f32, b: f32, c: f32| {
            let done = one(Op::FFma, a.to_bits(), b.to_bits(), c.to_bits());
            assert_eq!(done, a.mul_add(b, c).to_bits(), "{a} {b} {c}");
            (f64::from(a) * f64::from(b) + f64::from(c)) as f32 != f32::from_bits(done)
        };
        // A product just below `scale` squared.
        let below = |scale: f32| [(1.0 + f32::EPSILON) * scale, (1.0 - f32::EPSILON) * scale];
        let [a, b] = below(2f32.powi(-12));
        assert!(fused(a, b, 1.0 + f32::EPSILON));
        // Half of the least number there is.
        let [a, b] = below(2f32.powi(-75));
        assert!(fused(a, b, f32::MIN_POSITIVE / 2.0 + f32::from_bits(1)));
        assert!(!fused(0.0, 3.0, -0.0) && !fused(f32::MAX, 2.0, 1.0) && !fused(0.1, 0.2, 0.3));
    }
}
