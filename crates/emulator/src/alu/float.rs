//! Functions of `f32`.

/// A number as a fraction from one half to 1 and a power of two.
pub(crate) fn split(x: f32) -> (f32, i32) {
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
pub(crate) fn scaled(x: f32, exponent: i32) -> f32 {
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
