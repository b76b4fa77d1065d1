//! Elastic waves on a staggered grid.

use super::{Data, Problem, for_each_chunk};
use crate::error::Result;

/// Half a time step on a cube of `n` cells a side, in place: velocities from stresses (`phase` 0) or
/// stresses from velocities, second order in space and time (J. Virieux, *P-SV wave propagation in
/// heterogeneous media: velocity–stress finite-difference method*, 1986, in three dimensions).
/// `field` holds vx, vy, vz, sxx, syy, szz, sxy, sxz and syz, one after the other; all are 0 outside.
/// Within `sponge` cells of a face a wave keeps `1 − (loss·(sponge − distance))²` (after C. Cerjan et
/// al., *A nonreflecting boundary condition for discrete acoustic and elastic wave equations*, 1985).
///
/// # Errors
/// As [`super::Reference`].
pub fn elastic(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let n = problem.size("n")?;
    let cells = n.saturating_mul(n).saturating_mul(n);
    let before = problem.f32("field", cells.saturating_mul(9))?;
    let rounded = |name| problem.number(name).map(|x| f64::from(x as f32));
    let medium = Medium {
        n,
        field: before,
        density: rounded("density")?,
        lambda: rounded("lambda")?,
        mu: rounded("mu")?,
        sponge: problem.size("sponge")?,
        loss: rounded("loss")?,
    };
    let mut after = before.to_vec();
    let fields = if problem.size("phase")? == 0 { 0..3 } else { 3..9 };
    let part = &mut after[fields.start * cells..fields.end * cells];
    for_each_chunk(part, n, |first, piece| {
        for (row, line) in (fields.start * n * n + first..).zip(piece.chunks_mut(n.max(1))) {
            for (x, value) in line.iter_mut().enumerate() {
                let cell = [x, row % n, row / n % n];
                let changed = f64::from(*value) + medium.change(row / (n * n), cell);
                *value = (changed * medium.kept(cell)) as f32;
            }
        }
    });
    Ok(vec![("field", Data::F32(after))])
}

/// Where the difference of two neighbours lies, seen from a cell.
#[derive(Clone, Copy)]
enum Side {
    /// Between it and the one behind.
    Ahead,
    /// Between it and the one before.
    Behind,
}

struct Medium<'a> {
    n: usize,
    field: &'a [f32],
    density: f64,
    lambda: f64,
    mu: f64,
    sponge: usize,
    loss: f64,
}

impl Medium<'_> {
    /// What half a step adds to field `c`.
    fn change(&self, c: usize, cell: [usize; 3]) -> f64 {
        let stretch = |axis| self.difference(axis, axis, Side::Behind, cell);
        match c {
            0..3 => {
                let force = (0..3).map(|axis| {
                    let side = if axis == c { Side::Ahead } else { Side::Behind };
                    self.difference(stress(c, axis), axis, side, cell)
                });
                self.density * force.sum::<f64>()
            }
            3..6 => {
                let all: f64 = (0..3).map(stretch).sum();
                self.lambda * all + 2.0 * self.mu * stretch(c - 3)
            }
            _ => {
                let [a, b] = [[0, 1], [0, 2], [1, 2]][c - 6];
                let sheared = self.difference(a, b, Side::Ahead, cell)
                    + self.difference(b, a, Side::Ahead, cell);
                self.mu * sheared
            }
        }
    }

    /// Of field `c` along `axis`.
    fn difference(&self, c: usize, axis: usize, side: Side, cell: [usize; 3]) -> f64 {
        let next = |step: isize| self.at(c, axis, step, cell);
        match side {
            Side::Ahead => next(1) - next(0),
            Side::Behind => next(0) - next(-1),
        }
    }

    fn at(&self, c: usize, axis: usize, step: isize, mut cell: [usize; 3]) -> f64 {
        match cell[axis].checked_add_signed(step) {
            Some(place) if place < self.n => cell[axis] = place,
            _ => return 0.0,
        }
        let [x, y, z] = cell;
        f64::from(self.field[((c * self.n + z) * self.n + y) * self.n + x])
    }

    fn kept(&self, cell: [usize; 3]) -> f64 {
        let distance = cell.into_iter().map(|place| place.min(self.n - 1 - place)).min();
        let deep = self.sponge.saturating_sub(distance.unwrap_or(0)) as f64;
        1.0 - (self.loss * deep).powi(2)
    }
}

/// The field that holds the stress between two axes.
fn stress(a: usize, b: usize) -> usize {
    if a == b { 3 + a } else { 5 + a + b }
}

#[cfg(test)]
mod tests {
    use super::super::fill;
    use super::*;
    use crate::gpu::Scalar;
    use crate::workload::Fill;

    /// A P wave moves 0.4 cells a step.
    const STEP: f64 = 0.4;

    fn steps(n: usize, count: usize, sponge: usize, mut field: Vec<f32>) -> Vec<f32> {
        for half in 0..2 * count {
            let numbers = [
                ("n", n as f64),
                ("phase", (half % 2) as f64),
                ("sponge", sponge as f64),
                ("density", STEP),
                ("lambda", STEP / 3.0),
                ("mu", STEP / 3.0),
                ("loss", 0.1),
            ];
            let problem = Problem::new(
                numbers.map(|(name, x)| (name.to_owned(), x)).into(),
                vec![("field".to_owned(), Data::F32(field))],
            );
            field = match elastic(&problem).unwrap().remove(0) {
                ("field", Data::F32(v)) => v,
                other => panic!("{other:?}"),
            };
        }
        field
    }

    /// A wave along x that is even across it: a P wave (vx, with its stresses) moves a cell, an S wave
    /// (vy and sxy) 1/√3 of one per unit of time. Cells in the middle see no edge until it has arrived.
    #[test]
    fn plane_waves_arrive_within_one_cell() {
        let (n, from, count) = (32usize, 9.0, 25);
        let (p, s) = (1.0, (1.0f64 / 3.0).sqrt());
        // Velocity, stresses (each over rho c times the velocity) and speed.
        let waves = [
            (0usize, vec![(3usize, 1.0), (4, 1.0 / 3.0), (5, 1.0 / 3.0)], p),
            (1, vec![(6, 1.0)], s),
        ];
        for (velocity, stresses, speed) in waves {
            let pulse = |x: f64| (-((x - from) / 3.0).powi(2)).exp();
            let mut field = vec![0.0f32; 9 * n * n * n];
            for i in 0..n * n * n {
                let x = (i % n) as f64;
                field[velocity * n * n * n + i] = pulse(x) as f32;
                for (stress, share) in &stresses {
                    // Half a cell before or behind the velocity, and half a step later.
                    let apart = if velocity == 0 { 0.5 } else { -0.5 };
                    let later = speed * STEP / 2.0;
                    field[stress * n * n * n + i] =
                        (-speed * share * pulse(x - apart - later)) as f32;
                }
            }
            let field = steps(n, count, 0, field);
            let line = |x: usize| field[((velocity * n + n / 2) * n + n / 2) * n + x];
            let peak = (0..n).max_by(|&a, &b| line(a).total_cmp(&line(b))).unwrap();
            let wanted = from + speed * STEP * count as f64;
            assert!((peak as f64 - wanted).abs() <= 1.0, "{peak} {wanted}");
            assert!(line(peak) > 0.8, "it keeps its height: {}", line(peak));
        }
    }

    /// Kinetic energy and that of the strain, which stresses of Hooke's law have.
    fn energy(n: usize, field: &[f32]) -> f64 {
        let (lambda, mu) = (1.0 / 3.0, 1.0 / 3.0);
        let young = mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu);
        let poisson = lambda / (2.0 * (lambda + mu));
        let cells = n * n * n;
        let each = |i: usize| {
            let at = |c: usize| f64::from(field[c * cells + i]);
            let square = |cs: [usize; 3]| cs.map(|c| at(c).powi(2)).iter().sum::<f64>();
            let mixed = at(3) * at(4) + at(4) * at(5) + at(3) * at(5);
            let normal = (square([3, 4, 5]) - 2.0 * poisson * mixed) / young;
            square([0, 1, 2]) + normal + square([6, 7, 8]) / mu
        };
        (0..cells).map(each).sum::<f64>() / 2.0
    }

    /// The scheme keeps an energy that differs from this one by the half step between velocities and
    /// stresses: for waves of any length by a factor within (1 ± 0.7), 0.7 being what is left of the
    /// largest stable step.
    #[test]
    fn energy_stays_within_bounds_and_a_sponge_takes_it() {
        let n = 12;
        let noise = fill(&Fill::Uniform([-1.0, 1.0]), Scalar::F32, 9 * n * n * n, 3);
        let Data::F32(noise) = noise else { panic!("numbers are expected") };
        let begun = energy(n, &noise);
        for count in [1, 10, 100] {
            let ratio = energy(n, &steps(n, count, 0, noise.clone())) / begun;
            assert!((0.3 / 1.7..1.7 / 0.3).contains(&ratio), "{count}: {ratio}");
        }
        let absorbed = energy(n, &steps(n, 100, 4, noise)) / begun;
        assert!(absorbed < 0.05, "{absorbed}");
    }
}
