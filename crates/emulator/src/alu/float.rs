//! Functions of `f32`.

use super::super::program::Op;

/// The function that an instruction is, where it takes one number to another.
pub(super) fn unary(op: Op) -> fn(f32) -> f32 {
    match op {
        Op::FInverseSqrt => |a| 1.0 / a.sqrt(),
        Op::FSign => |a| if a == 0.0 { 0.0 } else { a.signum() },
        Op::FFloor => f32::floor,
        Op::FCeil => f32::ceil,
        Op::FTrunc => f32::trunc,
        Op::FRound => f32::round_ties_even,
        Op::FExp => f32::exp,
        Op::FExp2 => f32::exp2,
        Op::FLog => f32::ln,
        Op::FLog2 => f32::log2,
        Op::FSin => f32::sin,
        Op::FCos => f32::cos,
        Op::FTan => f32::tan,
        Op::FAsin => f32::asin,
        Op::FAcos => f32::acos,
        Op::FAtan => f32::atan,
        Op::FSinh => f32::sinh,
        Op::FCosh => f32::cosh,
        Op::FTanh => f32::tanh,
        Op::FAsinh => f32::asinh,
        Op::FAcosh => f32::acosh,
        Op::FAtanh => f32::atanh,
        Op::FFraction => |a| split(a).0,
        Op::RoundHalf => |a| super::bits::half_value(super::bits::half_bits(a)),
        _ => f32::sqrt,
    }
}

/// A number as a fraction from one half to 1 and a power of two.
pub(super) fn split(x: f32) -> (f32, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    // Numbers below the normal ones become normal first.
    let (scaled, shift) = if x.is_normal() { (x, 0) } else { (x * 2f32.powi(24), -24) };
    let exponent = (scaled.to_bits() >> 23 & 0xff) as i32 - 126;
    let fraction = f32::from_bits(scaled.to_bits() & 0x807f_ffff | 126 << 23);
    (fraction, exponent + shift)
}

/// `x` times a power of two, rounded once.
pub(super) fn scaled(x: f32, exponent: i32) -> f32 {
    (f64::from(x) * 2f64.powi(exponent.clamp(-400, 400))) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_its_fraction_times_its_power() {
        for x in [1.0, -0.75, 6.5, 1e-40, f32::MIN_POSITIVE, f32::MAX] {
            let (fraction, exponent) = split(x);
            assert!((0.5..1.0).contains(&fraction.abs()), "{x}");
            assert_eq!(scaled(fraction, exponent), x);
        }
        assert_eq!(split(0.0), (0.0, 0));
        assert_eq!((scaled(1.0, 1000), scaled(1.0, -1000)), (f32::INFINITY, 0.0));
    }
}
