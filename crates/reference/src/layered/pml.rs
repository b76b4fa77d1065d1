//! A convolutional perfectly matched layer (D. Komatitsch and R. Martin, *An unsplit convolutional perfectly
//! matched layer improved at grazing incidence for the seismic wave equation*, 2007), with κ = 1.

use super::super::Problem;
use super::super::seismic::Side;
use super::{Difference, rounded};
use gpubench_core::error::Result;

/// The layer of `cells` cells at each face. A difference across it becomes itself plus its convolution
/// with a decaying exponential, which is updated recursively in `memory`: ψ ← b·ψ + a·Δ with
/// b = exp(−(d + α)) and a = d/(d + α)·(b − 1). Towards the outer edge d rises with the square of the depth from
/// 0 to `damping`, and α falls from `shift` to 0; both are times dt. The edge of the layer lies `cells` cells
/// behind the first cell, and as much before the last place half a cell ahead.
pub(super) struct Pml {
    n: usize,
    cells: usize,
    damping: f64,
    shift: f64,
    /// 0 while velocities change, 1 while stresses do.
    phase: usize,
    /// A block for each phase, axis and velocity: the cube, of which only cells of the layer across that
    /// axis are there.
    pub(super) memory: Vec<f32>,
}

impl Pml {
    pub(super) fn new(problem: &Problem, n: usize, first: bool) -> Result<Self> {
        let cells = problem.size("pml")?;
        let size = [n, n, cells].into_iter().fold(36, usize::saturating_mul);
        Ok(Self {
            n,
            cells,
            damping: rounded(problem, "damping")?,
            shift: rounded(problem, "shift")?,
            phase: usize::from(!first),
            memory: problem.f32("memory", size)?.to_vec(),
        })
    }

    /// Adds what the layer remembers to a difference over the whole cube.
    pub(super) fn stretch(&mut self, values: &mut [f64], difference: Difference) {
        let Difference { axis, velocity, side } = difference;
        let mut shape = [self.n; 3];
        shape[axis] = 2 * self.cells;
        let size = shape.iter().product::<usize>();
        let block = (self.phase * 3 + axis) * 3 + velocity;
        let factors: Vec<_> = (0..shape[axis]).map(|slot| self.factors(slot, side)).collect();
        for i in 0..size {
            let mut cell = [i % shape[0], i / shape[0] % shape[1], i / shape[0] / shape[1]];
            let slot = cell[axis];
            let Some(place) = self.place(slot) else { continue };
            cell[axis] = place;
            let value = &mut values[(cell[2] * self.n + cell[1]) * self.n + cell[0]];
            let (keep, part) = factors[slot];
            let convolved = &mut self.memory[block * size + i];
            let now = keep * f64::from(*convolved) + part * *value;
            *convolved = now as f32;
            *value += now;
        }
    }

    /// Where along its axis a slot of the layer is. Where both layers meet, the first has the cell.
    fn place(&self, slot: usize) -> Option<usize> {
        if slot < self.cells {
            return Some(slot).filter(|&place| place < self.n);
        }
        let place = (self.n + slot).checked_sub(2 * self.cells)?;
        Some(place).filter(|&place| place >= self.cells)
    }

    /// b and a of a slot.
    fn factors(&self, slot: usize, side: Side) -> (f64, f64) {
        let cells = self.cells as f64;
        let ahead = if matches!(side, Side::Ahead) { 0.5 } else { 0.0 };
        // From the inner edge, which the first layer has ahead and the second behind.
        let from_edge = if slot < self.cells {
            cells - (slot as f64 + ahead)
        } else {
            slot as f64 + ahead - (cells - 0.5)
        };
        let depth = from_edge / cells;
        let (damping, shift) = (self.damping * depth.powi(2), self.shift * (1.0 - depth));
        let keep = (-damping - shift).exp();
        let share = if damping > 0.0 { damping / (damping + shift) } else { 0.0 };
        (keep, share * (keep - 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At the outer edges d is `damping` and α is 0; in the middle of four cells d is a quarter, α half.
    #[test]
    fn factors_are_hand_computed_at_the_edge_and_in_the_middle_and_both_layers_are_equal() {
        let layer = Pml { n: 12, cells: 4, damping: 2.0, shift: 1.0, phase: 0, memory: vec![] };
        let close = |(b, a): (f64, f64), wanted: (f64, f64)| {
            assert!((b - wanted.0).abs() < 1e-12 && (a - wanted.1).abs() < 1e-12, "{b} {a}");
        };
        // exp(-2), and exp(-1) with half of what the two are.
        close(layer.factors(0, Side::Behind), (0.1353352832366127, -0.8646647167633873));
        close(layer.factors(2, Side::Behind), (0.3678794411714423, -0.31606027941427883));
        for slot in 0..8 {
            close(layer.factors(slot, Side::Behind), layer.factors(7 - slot, Side::Ahead));
        }
        let places: Vec<_> = (0..8).filter_map(|slot| layer.place(slot)).collect();
        assert_eq!(places, [0, 1, 2, 3, 8, 9, 10, 11]);
    }

    /// A step of 1 everywhere leaves a·1, then b·a + a, in the memory of its block and axis alone.
    #[test]
    fn a_difference_is_convolved_in_its_own_block() {
        let (n, cells) = (3, 1);
        let memory = vec![0.0; 36 * cells * n * n];
        let mut layer = Pml { n, cells, damping: 1.0, shift: 0.0, phase: 1, memory };
        let difference = Difference { axis: 2, velocity: 1, side: Side::Behind };
        let (b, a) = layer.factors(0, Side::Behind);
        for wanted in [a, b * a + a] {
            let mut values = vec![1.0; 27];
            layer.stretch(&mut values, difference);
            assert!((0..9).all(|i| (values[i] - 1.0 - wanted).abs() < 1e-7), "{values:?}");
            assert!(values[9..18].iter().all(|&x| x == 1.0), "between the layers: {values:?}");
        }
        let block = (3 + 2) * 3 + 1;
        let others = |i: &usize| i / 18 != block;
        assert!((0..layer.memory.len()).filter(others).all(|i| layer.memory[i] == 0.0));
        assert!(layer.memory[18 * block..18 * (block + 1)].iter().all(|&m| m < 0.0));
    }
}
