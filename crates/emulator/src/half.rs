//! `f16`: half a word of memory each, held in rows as the `f32` of the same value.

use super::Launch;
use super::machine::Machine;
use super::mask::Mask;
use super::program::{Access, Row, Space};

/// The `f16` next to `x`, of two as near the even one; infinite beyond the largest.
pub(super) fn to_half(x: f32) -> u16 {
    let bits = x.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return sign | 0x7e00; // not a number
    }
    // Below 2⁻¹⁴ all have the step 2⁻²⁴; adding ½ puts that step in the last place of an f32.
    if magnitude < 0x3880_0000 {
        let rounded = (f32::from_bits(magnitude) + 0.5).to_bits() - 0x3f00_0000;
        return sign | rounded as u16;
    }
    let even = magnitude >> 13 & 1;
    let rounded = magnitude + 0x0fff + even;
    if rounded >= 0x4780_0000 {
        return sign | 0x7c00;
    }
    sign | ((rounded - 0x3800_0000) >> 13) as u16
}

/// The value of an `f16`.
pub(super) fn from_half(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let magnitude = u32::from(half & 0x7fff);
    let bits = match magnitude {
        0..0x0400 => (magnitude as f32 * 2f32.powi(-24)).to_bits(),
        0x0400..0x7c00 => (magnitude << 13) + 0x3800_0000,
        _ => magnitude << 13 | 0x7f80_0000,
    };
    f32::from_bits(sign | bits)
}

impl Machine<'_> {
    /// Rows become the numbers that lanes find at halves of words; 0 for lanes that do not reach.
    pub(super) fn load_halves(
        &mut self,
        launch: &mut Launch,
        to: Row,
        access: &Access,
        reach: &Mask,
    ) {
        for i in 0..access.width {
            let start = (to + i) as usize * self.lanes;
            self.rows[start..start + self.lanes].fill(0);
            for lane in reach.lanes() {
                let half = (self.memory.addresses[lane] + i) as usize;
                let word = match access.place.space {
                    Space::Params => launch.params[half / 2],
                    space => *self.word(launch, space, half / 2),
                };
                let bits = (word >> (16 * (half % 2))) as u16;
                self.rows[start + lane] = from_half(bits).to_bits();
            }
        }
    }

    /// Halves of words become the numbers that lanes have.
    pub(super) fn store_halves(
        &mut self,
        launch: &mut Launch,
        from: [Row; 4],
        access: &Access,
        reach: &Mask,
    ) {
        for (i, from) in (0..access.width).zip(from) {
            for lane in reach.lanes() {
                let value = f32::from_bits(self.row(from)[lane]);
                let half = (self.memory.addresses[lane] + i) as usize;
                let word = self.word(launch, access.place.space, half / 2);
                let shift = 16 * (half % 2);
                *word = *word & !(0xffff << shift) | u32::from(to_half(value)) << shift;
            }
        }
        self.note_write(launch, access, reach);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_comes_back_and_neighbours_round_to_it() {
        for half in 0..=u16::MAX {
            let value = from_half(half);
            if value.is_nan() {
                assert!(from_half(to_half(value)).is_nan());
                continue;
            }
            assert_eq!(to_half(value), half, "{value}");
            if value.is_finite() && half & 0x7fff > 0 {
                assert_eq!(to_half(f32::from_bits(value.to_bits() + 1)), half, "{value}");
                assert_eq!(to_half(f32::from_bits(value.to_bits() - 1)), half, "{value}");
            }
        }
    }

    #[test]
    fn halfway_goes_to_the_even_one() {
        assert_eq!(from_half(0x3c00), 1.0);
        assert_eq!(from_half(0x0001), 2f32.powi(-24));
        assert_eq!(to_half(1.0 + 2f32.powi(-11)), 0x3c00);
        assert_eq!(to_half(1.0 + 3.0 * 2f32.powi(-11)), 0x3c02);
        assert_eq!((to_half(2f32.powi(-25)), to_half(3.0 * 2f32.powi(-25))), (0, 2));
        assert_eq!((to_half(65519.0), to_half(65520.0)), (0x7bff, 0x7c00));
        assert_eq!((to_half(-f32::INFINITY), to_half(f32::MAX)), (0xfc00, 0x7c00));
    }
}
