//! Elastic waves in a medium of layers, with a sponge or an absorbing layer at the faces.
//!
//! Computed difference by difference over the whole cube, in binary64; the kernels go cell by cell.

mod pml;
#[cfg(test)]
mod tests;

use super::seismic::{Side, sponge_keeps, stress};
use super::{Data, Problem, for_each_chunk};
use gpubench_core::error::Result;
use pml::Pml;

/// Half a time step as [`super::seismic::elastic`], in a medium whose density and Lamé constants change from
/// plane to plane: `layers` holds dt/(ρh) of each of the `n` planes along z, then λ·dt/h, then μ·dt/h.
/// What lies half a cell above a plane has the mean density and the harmonic mean of μ of the two planes (P.
/// Moczo et al., *3D heterogeneous staggered-grid finite-difference modeling of seismic motion*, 2002).
///
/// # Errors
/// As [`super::Reference`].
pub fn elastic_layered(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let step = HalfStep::new(problem)?;
    let (sponge, loss) = (problem.size("sponge")?, rounded(problem, "loss")?);
    let to_face = |place: usize| place.min(step.n - 1 - place);
    let kept = |cell: [usize; 3]| {
        let distance = cell.map(to_face).into_iter().min().unwrap_or(0);
        sponge_keeps(sponge, loss, distance)
    };
    Ok(vec![("field", Data::F32(step.after(|_, _| {}, kept)))])
}

/// Half a time step in the medium of [`elastic_layered`], with a perfectly matched layer of `pml` cells at
/// all faces instead of the sponge, whose convolutions are kept in `memory`.
///
/// # Errors
/// As [`super::Reference`].
pub fn elastic_pml(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let step = HalfStep::new(problem)?;
    let mut layer = Pml::new(problem, step.n, step.first)?;
    let after = step.after(|values, difference| layer.stretch(values, difference), |_| 1.0);
    Ok(vec![("memory", Data::F32(layer.memory)), ("field", Data::F32(after))])
}

/// A parameter as a kernel has it.
fn rounded(problem: &Problem, name: &str) -> Result<f64> {
    problem.number(name).map(|x| f64::from(x as f32))
}

/// What is differentiated: along `axis`, for (or of) the velocity along `velocity`.
#[derive(Clone, Copy)]
struct Difference {
    axis: usize,
    velocity: usize,
    side: Side,
}

/// Half a time step of a cube of `n` cells a side.
struct HalfStep<'a> {
    n: usize,
    /// Whether velocities come from stresses, or stresses from velocities.
    first: bool,
    before: &'a [f32],
    field: &'a [f32],
    /// dt/(ρh), λ·dt/h and μ·dt/h of each plane.
    layers: [Vec<f64>; 3],
}

impl<'a> HalfStep<'a> {
    fn new(problem: &'a Problem) -> Result<Self> {
        let n = problem.size("n")?;
        let cells = n.saturating_mul(n).saturating_mul(n);
        let layers = problem.f32("layers", n.saturating_mul(3))?;
        let of = |i: usize| layers[i * n..(i + 1) * n].iter().map(|&x| f64::from(x)).collect();
        Ok(Self {
            n,
            first: problem.size("phase")? == 0,
            before: problem.f32("before", cells.saturating_mul(9))?,
            field: problem.f32("field", cells.saturating_mul(9))?,
            layers: [of(0), of(1), of(2)],
        })
    }

    /// All fields afterwards. `stretch` changes differences on their way; of each cell, `kept` is left.
    fn after(
        &self,
        stretch: impl FnMut(&mut [f64], Difference),
        kept: impl Fn([usize; 3]) -> f64 + Sync,
    ) -> Vec<f32> {
        let mut after = self.field.to_vec();
        let changes = if self.first { self.forces(stretch) } else { self.strains(stretch) };
        let (n, cells) = (self.n, self.n.pow(3));
        for (c, change) in changes {
            let (before, field) = (&self.before[c * cells..], &mut after[c * cells..]);
            for_each_chunk(&mut field[..cells], n, |first, piece| {
                for (i, value) in (first * n..).zip(piece) {
                    let cell = [i % n, i / n % n, i / n / n];
                    *value = ((f64::from(before[i]) + change[i]) * kept(cell)) as f32;
                }
            });
        }
        after
    }

    /// What is added to each velocity.
    fn forces(&self, mut stretch: impl FnMut(&mut [f64], Difference)) -> Vec<(usize, Vec<f64>)> {
        let one = |velocity: usize| {
            let mut force = vec![0.0; self.n.pow(3)];
            for axis in 0..3 {
                let side = if axis == velocity { Side::Ahead } else { Side::Behind };
                let difference = Difference { axis, velocity, side };
                let mut values = self.differences(self.before, stress(velocity, axis), difference);
                stretch(&mut values, difference);
                add(&mut force, &values);
            }
            (velocity, self.scaled(force, &self.layers[0], velocity == 2))
        };
        (0..3).map(one).collect()
    }

    /// What is added to each stress.
    fn strains(&self, mut stretch: impl FnMut(&mut [f64], Difference)) -> Vec<(usize, Vec<f64>)> {
        let mut gradient = |velocity: usize, axis: usize| {
            let side = if axis == velocity { Side::Behind } else { Side::Ahead };
            let difference = Difference { axis, velocity, side };
            let mut values = self.differences(self.field, velocity, difference);
            stretch(&mut values, difference);
            values
        };
        let stretches = [0, 1, 2].map(|axis| gradient(axis, axis));
        let mut all = vec![0.0; self.n.pow(3)];
        for one in &stretches {
            add(&mut all, one);
        }
        let all = self.scaled(all, &self.layers[1], false);
        let normal = stretches.into_iter().enumerate().map(|(axis, one)| {
            let mut change = self.scaled(one, &self.layers[2], false);
            change.iter_mut().for_each(|x| *x *= 2.0);
            add(&mut change, &all);
            (stress(axis, axis), change)
        });
        let mut changes: Vec<_> = normal.collect();
        for [a, b] in [[0, 1], [0, 2], [1, 2]] {
            let mut shear = gradient(a, b);
            add(&mut shear, &gradient(b, a));
            changes.push((stress(a, b), self.scaled(shear, &self.layers[2], b == 2)));
        }
        changes
    }

    /// Field `c` of `fields`, differentiated; 0 is around it.
    fn differences(&self, fields: &[f32], c: usize, difference: Difference) -> Vec<f64> {
        let (n, axis) = (self.n, difference.axis);
        let values = &fields[c * n.pow(3)..(c + 1) * n.pow(3)];
        let apart = n.pow(axis as u32);
        let mut differences = vec![0.0; values.len()];
        for_each_chunk(&mut differences, n, |first, piece| {
            for (i, d) in (first * n..).zip(piece) {
                let place = i / apart % n;
                let at = |i: usize| f64::from(values[i]);
                *d = match difference.side {
                    Side::Ahead if place + 1 == n => -at(i),
                    Side::Ahead => at(i + apart) - at(i),
                    Side::Behind if place == 0 => at(i),
                    Side::Behind => at(i) - at(i - apart),
                };
            }
        });
        differences
    }

    /// Values times their plane's number: where they lie half a cell above it, the harmonic mean with the
    /// next plane's.
    fn scaled(&self, mut values: Vec<f64>, layers: &[f64], above: bool) -> Vec<f64> {
        let plane = self.n.pow(2).max(1);
        for (z, values) in values.chunks_mut(plane).enumerate() {
            let next = layers[(z + 1).min(self.n - 1)];
            let scale = if above { 2.0 / (1.0 / layers[z] + 1.0 / next) } else { layers[z] };
            values.iter_mut().for_each(|x| *x *= scale);
        }
        values
    }
}

fn add(sum: &mut [f64], values: &[f64]) {
    sum.iter_mut().zip(values).for_each(|(sum, x)| *sum += x);
}
