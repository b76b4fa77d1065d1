//! `f16`: half a word of memory each, held in rows as the `f32` of the same value.

use super::Launch;
use super::machine::Machine;
use super::mask::Mask;
use super::program::{Access, Row, Space};
use half::f16;

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
                self.rows[start + lane] = f16::from_bits(bits).to_f32().to_bits();
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
                *word =
                    *word & !(0xffff << shift) | u32::from(f16::from_f32(value).to_bits()) << shift;
            }
        }
        self.note_write(launch, access, reach);
    }
}
