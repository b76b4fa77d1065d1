//! The instructions: the class that each counts in, and what it does in every lane.
//!
//! They compute as WGSL defines it: integers wrap, an integer divided by 0 is itself, and a float
//! beyond the integers becomes the last of them that floats can hold.

use super::Class;
use super::alu::{bits, float, lanes::*};
use super::program::Row;
use half::f16;

/// The integers of either type farthest from 0 that an `f32` holds: WGSL clamps to them before it
/// converts, as devices do. Of a NaN it says nothing; here it becomes 0.
const U32_MAX: f32 = 4_294_967_040.0;
const I32_MAX: f32 = 2_147_483_520.0;
const I32_MIN: f32 = -2_147_483_648.0;

/// Declares the instructions, a line each: name, class (none for what costs nothing on a GPU), and
/// how its operands are read with what it makes of them.
macro_rules! operations {
    ($($name:ident $(($n:ident: $number:ty))? [$($class:ident)?] $kind:ident $(($f:expr))?;)*) => {
        /// What one instruction computes on a row.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Op { $($name $(($number))?,)* }

        impl Op {
            /// The class it counts in; `None` for what costs nothing on a GPU.
            pub(super) fn class(self) -> Option<Class> {
                let classes: &[Class] = match self {
                    $(Self::$name { .. } => &[$(Class::$class)?],)*
                };
                classes.first().copied()
            }

            /// `to = self(from)` in each of `lanes` lanes; `to` lies behind all of `from`.
            pub(super) fn run(self, rows: &mut [u32], lanes: usize, to: Row, from: [Row; 3]) {
                let (before, after) = rows.split_at_mut(to as usize * lanes);
                let to = &mut after[..lanes];
                let from = from.map(|row| &before[row as usize * lanes..][..lanes]);
                match self {
                    $(Self::$name $(($n))? => $kind(to, from $(, $f)?),)*
                }
            }
        }
    };
}

operations! {
    FAdd [FloatAdd] float2(|a, b| a + b);
    FSub [FloatAdd] float2(|a, b| a - b);
    FMul [FloatMul] float2(|a, b| a * b);
    FDiv [FloatDiv] float2(|a, b| a / b);
    FRem [FloatDiv] float2(|a, b| a % b);
    FFma [FloatFma] fused;
    FNeg [FloatMinMax] int1(|a| a ^ 1 << 31);
    FAbs [FloatMinMax] int1(|a| a & !(1 << 31));
    FMin [FloatMinMax] float2(f32::min);
    FMax [FloatMinMax] float2(f32::max);
    FSign [FloatMinMax] float1(|a| if a == 0.0 { 0.0 } else { a.signum() });
    FFloor [FloatMinMax] float1(f32::floor);
    FCeil [FloatMinMax] float1(f32::ceil);
    FTrunc [FloatMinMax] float1(f32::trunc);
    FRound [FloatMinMax] float1(f32::round_ties_even);
    FSqrt [FloatSqrt] float1(f32::sqrt);
    FInverseSqrt [FloatSqrt] float1(|a| 1.0 / a.sqrt());
    FExp [FloatExp] float1(f32::exp);
    FExp2 [FloatExp] float1(f32::exp2);
    FPow [FloatExp] float2(f32::powf);
    FLog [FloatLog] float1(f32::ln);
    FLog2 [FloatLog] float1(f32::log2);
    FSin [FloatTrigonometry] float1(f32::sin);
    FCos [FloatTrigonometry] float1(f32::cos);
    FTan [FloatTrigonometry] float1(f32::tan);
    FAsin [FloatTrigonometry] float1(f32::asin);
    FAcos [FloatTrigonometry] float1(f32::acos);
    FAtan [FloatTrigonometry] float1(f32::atan);
    FAtan2 [FloatTrigonometry] float2(f32::atan2);
    FSinh [FloatExp] float1(f32::sinh);
    FCosh [FloatExp] float1(f32::cosh);
    FTanh [FloatExp] float1(f32::tanh);
    FAsinh [FloatLog] float1(f32::asinh);
    FAcosh [FloatLog] float1(f32::acosh);
    FAtanh [FloatLog] float1(f32::atanh);

    // The fraction and the exponent of `frexp`, and `ldexp`.
    FFraction [Convert] float1(|a| float::split(a).0);
    FExponent [Convert] int1(|a| float::split(f32::from_bits(a)).1.cast_unsigned());
    FScale [Convert] int2(|a, b| float::scaled(f32::from_bits(a), b.cast_signed()).to_bits());

    // The nearest `f16` as an `f32` (an instruction on `f16` rounds by itself), its bits, and the
    // value of such bits.
    RoundHalf [] float1(|a| f16::from_f32(a).to_f32());
    ToHalf [Convert] int1(|a| f16::from_f32(f32::from_bits(a)).to_bits().into());
    FromHalf [Convert] int1(|a| f16::from_bits(a as u16).to_f32().to_bits());

    // A number from 0 or -1 to 1 in so many bits, and back.
    ToShare(n: u32) [Convert] int1(|a| bits::to_share(f32::from_bits(a), n));
    ToSignedShare(n: u32) [Convert] int1(|a| bits::to_signed_share(f32::from_bits(a), n));
    FromShare(n: u32) [Convert] int1(|a| bits::from_share(a, n).to_bits());
    FromSignedShare(n: u32) [Convert] int1(|a| bits::from_signed_share(a, n).to_bits());

    IAdd [IntAdd] int2(u32::wrapping_add);
    ISub [IntAdd] int2(u32::wrapping_sub);
    IMul [IntMul] int2(u32::wrapping_mul);
    INeg [IntAdd] int1(u32::wrapping_neg);
    SAbs [IntAdd] int1(|a| (a as i32).wrapping_abs() as u32);
    SSign [IntAdd] int1(|a| (a as i32).signum() as u32);
    UDiv [IntDiv] int2(|a, b| a.checked_div(b).unwrap_or(a));
    URem [IntDiv] int2(|a, b| a.checked_rem(b).unwrap_or(0));
    SDiv [IntDiv] signed2(|a, b| a.checked_div(b).unwrap_or(a));
    SRem [IntDiv] signed2(|a, b| a.checked_rem(b).unwrap_or(0));
    ShiftLeft [Shift] int2(u32::wrapping_shl);
    ShiftRightU [Shift] int2(u32::wrapping_shr);
    ShiftRightS [Shift] int2(|a, b| (a as i32).wrapping_shr(b) as u32);
    And [Logic] int2(|a, b| a & b);
    Or [Logic] int2(|a, b| a | b);
    Xor [Logic] int2(|a, b| a ^ b);
    CountOnes [Logic] int1(u32::count_ones);
    LeadingZeros [Logic] int1(u32::leading_zeros);
    TrailingZeros [Logic] int1(u32::trailing_zeros);
    ReverseBits [Logic] int1(u32::reverse_bits);
    FirstLeading [Logic] int1(bits::first_leading);
    FirstLeadingSigned [Logic] int1(bits::first_leading_signed);
    FirstTrailing [Logic] int1(bits::first_trailing);

    // Ones from a bit on, so many; so many bits from a bit on.
    BitMask [Logic] int2(bits::mask);
    Extract [Logic] int3(bits::extract);
    ExtractSigned [Logic] int3(bits::extract_signed);
    DotBytes [IntMul] int2(bits::dot_bytes);
    DotSignedBytes [IntMul] int2(bits::dot_signed_bytes);

    FEqual [Compare] compare(|a, b| a == b);
    FNotEqual [Compare] compare(|a, b| a != b);
    FLess [Compare] compare(|a, b| a < b);
    FLessEqual [Compare] compare(|a, b| a <= b);
    Equal [Compare] int2(|a, b| u32::from(a == b));
    NotEqual [Compare] int2(|a, b| u32::from(a != b));
    ULess [Compare] int2(|a, b| u32::from(a < b));
    ULessEqual [Compare] int2(|a, b| u32::from(a <= b));
    SLess [Compare] int2(|a, b| u32::from((a as i32) < b as i32));
    SLessEqual [Compare] int2(|a, b| u32::from(a as i32 <= b as i32));
    UMin [Compare] int2(u32::min);
    UMax [Compare] int2(u32::max);
    SMin [Compare] signed2(i32::min);
    SMax [Compare] signed2(i32::max);
    Select [Compare] int3(|a, b, c| if c != 0 { b } else { a });

    FToU [Convert] int1(|a| f32::from_bits(a).clamp(0.0, U32_MAX) as u32);
    FToS [Convert] int1(|a| f32::from_bits(a).clamp(I32_MIN, I32_MAX) as i32 as u32);
    UToF [Convert] int1(|a| (a as f32).to_bits());
    SToF [Convert] int1(|a| (a as i32 as f32).to_bits());
    Copy [] int1(|a| a);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(op: Op, a: u32, b: u32, c: u32) -> u32 {
        let mut rows = [a, b, c, 0];
        op.run(&mut rows, 1, 3, [0, 1, 2]);
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
