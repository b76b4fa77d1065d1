//! Elastic waves on a staggered grid.

use super::{Data, Problem, for_each_chunk};
use gpubench_core::error::Result;

/// Half a time step on a cube of `n` cells a side: velocities from stresses (`phase` 0) or
/// stresses from velocities, second order in space and time (J. Virieux, *P-SV wave propagation in
/// heterogeneous media: velocity–stress finite-difference method*, 1986, in three dimensions).
/// `before` and `field` hold vx, vy, vz, sxx, syy, szz, sxy, sxz and syz, one after the other; all are 0
/// outside. A step starts from `before`; `field` takes its velocities, which its stresses come from.
/// Within `sponge` cells of a face a wave keeps `1 − (loss·(sponge − distance))²` (after C. Cerjan et
/// al., *A nonreflecting boundary condition for discrete acoustic and elastic wave equations*, 1985).
///
/// # Errors
/// As [`super::Reference`].
pub fn elastic(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let n = problem.size("n")?;
    let cells = n.saturating_mul(n).saturating_mul(n);
    let before = problem.f32("before", cells.saturating_mul(9))?;
    let field = problem.f32("field", cells.saturating_mul(9))?;
    let first = problem.size("phase")? == 0;
    let waves = if first { before } else { field };
    let medium = Medium::new(problem, [n; 3], waves, ([n; 3], 0), [0; 3])?;
    Ok(vec![("field", Data::F32(medium.half_step(first, before, field)))])
}

/// Half a time step, as [`elastic`], in a box of `nx`·`ny`·`nz` cells of a domain of
/// `width`·`height`·`depth`, the first of which is (`x`, `y`, `z`). `field` has a shell of one cell around the box, which is left as it is;
/// velocities are changed in place by the stresses in it (`phase` 0), or stresses by velocities.
///
/// # Errors
/// As [`super::Reference`].
pub fn elastic_box(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let sizes = |names: [&str; 3]| -> Result<[usize; 3]> {
        let [x, y, z] = names.map(|name| problem.size(name));
        Ok([x?, y?, z?])
    };
    let shape = sizes(["nx", "ny", "nz"])?.map(|cells| cells.saturating_add(2));
    let cells = shape.into_iter().fold(9, usize::saturating_mul);
    let field = problem.f32("field", cells)?;
    let first = problem.size("phase")? == 0;
    let (domain, origin) = (sizes(["width", "height", "depth"])?, sizes(["x", "y", "z"])?);
    let medium = Medium::new(problem, domain, field, (shape, 1), origin)?;
    Ok(vec![("field", Data::F32(medium.half_step(first, field, field)))])
}

/// Where the difference of two neighbours lies, seen from a cell.
#[derive(Clone, Copy)]
pub enum Side {
    /// Between it and the one behind.
    Ahead,
    /// Between it and the one before.
    Behind,
}

struct Medium<'a> {
    /// Cells of the domain along x, y and z.
    domain: [usize; 3],
    /// What neighbours are read of.
    field: &'a [f32],
    /// Cells of each field along x, y and z, a shell of so many cells included.
    shape: [usize; 3],
    shell: usize,
    /// Where in the domain the first cell within the shell is.
    origin: [usize; 3],
    density: f64,
    lambda: f64,
    mu: f64,
    sponge: usize,
    loss: f64,
}

impl<'a> Medium<'a> {
    fn new(
        problem: &Problem,
        domain: [usize; 3],
        field: &'a [f32],
        (shape, shell): ([usize; 3], usize),
        origin: [usize; 3],
    ) -> Result<Self> {
        let rounded = |name| problem.number(name).map(|x| f64::from(x as f32));
        Ok(Self {
            domain,
            field,
            shape,
            shell,
            origin,
            density: rounded("density")?,
            lambda: rounded("lambda")?,
            mu: rounded("mu")?,
            sponge: problem.size("sponge")?,
            loss: rounded("loss")?,
        })
    }

    /// `field` after half a step: its velocities (`first`) or its stresses, from what they were
    /// `before`.
    fn half_step(&self, first: bool, before: &[f32], field: &[f32]) -> Vec<f32> {
        let [width, height, depth] = self.shape;
        let fields = if first { 0..3 } else { 3..9 };
        let rows = fields.start * height * depth..fields.end * height * depth;
        let mut after = field.to_vec();
        let part = &mut after[rows.start * width..rows.end * width];
        for_each_chunk(part, width, |first, piece| {
            for (row, line) in (rows.start + first..).zip(piece.chunks_mut(width.max(1))) {
                for (x, value) in line.iter_mut().enumerate() {
                    let cell = [x, row % height, row / height % depth];
                    if !self.is_inside(cell) {
                        continue;
                    }
                    let change = self.change(row / (height * depth), cell);
                    let changed = f64::from(before[row * width + x]) + change;
                    *value = (changed * self.kept(cell)) as f32;
                }
            }
        });
        after
    }

    /// Whether a cell lies within the shell.
    fn is_inside(&self, cell: [usize; 3]) -> bool {
        let along =
            |(place, cells): (usize, usize)| place >= self.shell && place + self.shell < cells;
        cell.into_iter().zip(self.shape).all(along)
    }

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
            Some(place) if place < self.shape[axis] => cell[axis] = place,
            _ => return 0.0,
        }
        let ([x, y, z], [width, height, depth]) = (cell, self.shape);
        f64::from(self.field[((c * depth + z) * height + y) * width + x])
    }

    fn kept(&self, cell: [usize; 3]) -> f64 {
        let place = |axis: usize| self.origin[axis] + cell[axis] - self.shell;
        let ahead = |axis: usize| self.domain[axis].saturating_sub(1 + place(axis));
        let distance = (0..3).map(|axis| place(axis).min(ahead(axis)));
        sponge_keeps(self.sponge, self.loss, distance.min().unwrap_or(0))
    }
}

/// What a sponge leaves of a wave in a cell, by its distance from the nearest face.
pub fn sponge_keeps(sponge: usize, loss: f64, distance: usize) -> f64 {
    1.0 - (loss * sponge.saturating_sub(distance) as f64).powi(2)
}

/// The field that holds the stress between two axes.
pub fn stress(a: usize, b: usize) -> usize {
    if a == b { 3 + a } else { 5 + a + b }
}

#[cfg(test)]
mod tests {
    use super::super::fill;
    use super::*;
    use gpubench_core::gpu::Scalar;
    use gpubench_core::workload::Fill;
    use std::ops::Range;

    /// A P wave moves 0.4 cells a step.
    const STEP: f64 = 0.4;

    fn steps(n: usize, count: usize, sponge: usize, field: Vec<f32>) -> Vec<f32> {
        halves(n, 0..2 * count, sponge, field)
    }

    fn halves(n: usize, halves: Range<usize>, sponge: usize, mut field: Vec<f32>) -> Vec<f32> {
        for half in halves {
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
                // What half a step does not change is the same in both.
                vec![
                    ("before".to_owned(), Data::F32(field.clone())),
                    ("field".to_owned(), Data::F32(field)),
                ],
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

    /// Boxes whose shells hold what is around them (zeros outside) compute what the whole cube does.
    #[test]
    fn boxes_with_the_cells_of_their_neighbours_are_the_whole() {
        let n = 8;
        let noise = fill(&Fill::Uniform([-1.0, 1.0]), Scalar::F32, 9 * n * n * n, 3);
        let Data::F32(noise) = noise else { panic!("numbers are expected") };
        // The box from plane `z` on, its shell filled with what is around it.
        let cut = |field: &[f32], z: usize, nz: usize| {
            let mut part = vec![];
            for i in 0..9 * (nz + 2) * (n + 2) * (n + 2) {
                let (x, row) = (i % (n + 2), i / (n + 2));
                let (y, plane) = (row % (n + 2), row / (n + 2));
                let (k, c) = (plane % (nz + 2) + z, plane / (nz + 2));
                let inside = [x, y, k].into_iter().all(|place| (1..=n).contains(&place));
                let at = |[x, y, k]: [usize; 3]| field[((c * n + k - 1) * n + y - 1) * n + x - 1];
                part.push(if inside { at([x, y, k]) } else { 0.0 });
            }
            part
        };
        let half = |phase: usize, z: usize, nz: usize, part: Vec<f32>| {
            let sizes =
                [("width", n), ("height", n), ("depth", n), ("nx", n), ("ny", n), ("nz", nz)];
            let more = [("x", 0), ("y", 0), ("z", z), ("phase", phase), ("sponge", 3)];
            let sizes = sizes.into_iter().chain(more);
            let mut numbers: Vec<_> = sizes.map(|(k, v)| (k.to_owned(), v as f64)).collect();
            let constants =
                [("density", STEP), ("lambda", STEP / 3.0), ("mu", STEP / 3.0), ("loss", 0.1)];
            numbers.extend(constants.map(|(name, x)| (name.to_owned(), x)));
            let problem = Problem::new(numbers, vec![("field".to_owned(), Data::F32(part))]);
            match elastic_box(&problem).unwrap().remove(0) {
                ("field", Data::F32(v)) => v,
                other => panic!("{other:?}"),
            }
        };
        let velocities = halves(n, 0..1, 3, noise.clone());
        let wanted = halves(n, 1..2, 3, velocities.clone());
        for (z, nz) in [(0, n), (0, n / 2), (n / 2, n / 2)] {
            let inside = |i: &usize| {
                let row = i / (n + 2);
                let cell = [i % (n + 2), row % (n + 2), row / (n + 2) % (nz + 2)];
                cell.into_iter().zip([n, n, nz]).all(|(x, cells)| (1..=cells).contains(&x))
            };
            for (phase, before, after) in [(0, &noise, &velocities), (1, &velocities, &wanted)] {
                let (found, wanted) = (half(phase, z, nz, cut(before, z, nz)), cut(after, z, nz));
                let mut places = (0..found.len()).filter(inside);
                assert!(
                    places.all(|i| found[i] == wanted[i]),
                    "phase {phase}, {nz} planes from {z}"
                );
            }
        }
    }
}
