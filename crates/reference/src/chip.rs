//! The temperature of a chip (W. Huang et al., *HotSpot: A compact thermal modeling methodology for
//! early-stage VLSI design*, 2006), a step at a time. Where a cell has no neighbour, it is its own.

use super::{Data, Problem, map};
use gpubench_core::error::Result;

/// A plane: every cell changes by `step` times its power, plus `across` and `down` times what its
/// neighbours have more, plus `out` times what the ambient temperature is more.
///
/// # Errors
/// As [`super::Reference`].
pub fn hotspot_2d(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let (rows, cols) = (problem.size("rows")?, problem.size("cols")?);
    let [step, across, down, out, ambient] =
        numbers(problem, ["step", "across", "down", "out", "ambient"])?;
    let chip = Chip::new(problem, [1, rows, cols])?;
    let after = chip.cells(|at| {
        let here = chip.at(at, [0; 3]);
        let more = |way: [isize; 3]| chip.at(at, way) - here;
        let sides = across * (more([0, 0, -1]) + more([0, 0, 1]));
        let ends = down * (more([0, -1, 0]) + more([0, 1, 0]));
        here + step * (chip.power(at) + sides + ends + out * (ambient - here))
    });
    Ok(vec![("after", Data::F32(after))])
}

/// Layers: every cell becomes `centre` times itself, `side` times its neighbours in the layer, `over`
/// times those above and below, `heat` times its power, and `ambient`, added up.
///
/// # Errors
/// As [`super::Reference`].
pub fn hotspot_3d(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let shape = [problem.size("layers")?, problem.size("rows")?, problem.size("cols")?];
    let [centre, side, over, heat, ambient] =
        numbers(problem, ["centre", "side", "over", "heat", "ambient"])?;
    let chip = Chip::new(problem, shape)?;
    let after = chip.cells(|at| {
        let pair = |axis: usize| {
            let way = |step| std::array::from_fn(|i| if i == axis { step } else { 0 });
            chip.at(at, way(-1)) + chip.at(at, way(1))
        };
        let within = centre * chip.at(at, [0; 3]) + side * (pair(1) + pair(2));
        within + over * pair(0) + heat * chip.power(at) + ambient
    });
    Ok(vec![("after", Data::F32(after))])
}

/// Parameters, rounded as the kernel sees them.
fn numbers<const N: usize>(problem: &Problem, names: [&str; N]) -> Result<[f64; N]> {
    let mut all = [0.0; N];
    for (number, name) in all.iter_mut().zip(names) {
        *number = f64::from(problem.number(name)? as f32);
    }
    Ok(all)
}

/// Cells by layer, row and column.
struct Chip<'a> {
    shape: [usize; 3],
    before: &'a [f32],
    power: &'a [f32],
}

impl<'a> Chip<'a> {
    fn new(problem: &'a Problem, shape: [usize; 3]) -> Result<Self> {
        let len = shape.iter().fold(1, |len: usize, &n| len.saturating_mul(n));
        Ok(Self {
            shape,
            before: &problem.f32("before", len)?[..len],
            power: &problem.f32("power", len)?[..len],
        })
    }

    fn index(&self, at: [usize; 3]) -> usize {
        (at[0] * self.shape[1] + at[1]) * self.shape[2] + at[2]
    }

    /// The temperature one step `way` from `at`, or at the edge.
    fn at(&self, at: [usize; 3], way: [isize; 3]) -> f64 {
        let axis = |i: usize| at[i].saturating_add_signed(way[i]).min(self.shape[i] - 1);
        f64::from(self.before[self.index([axis(0), axis(1), axis(2)])])
    }

    fn power(&self, at: [usize; 3]) -> f64 {
        f64::from(self.power[self.index(at)])
    }

    /// What every cell becomes.
    fn cells(&self, cell: impl Fn([usize; 3]) -> f64 + Sync + Send) -> Vec<f32> {
        let [_, rows, cols] = self.shape;
        let place = |i: usize| [i / cols / rows, i / cols % rows, i % cols];
        map(self.before.len(), |i| cell(place(i)) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Reference;
    use super::*;

    fn step(how: Reference, given: &[(&str, f64)], before: &[f32], power: &[f32]) -> Vec<f32> {
        let given = given.iter().map(|&(name, x)| (name.to_owned(), x)).collect();
        let buffer = |name: &str, v: &[f32]| (name.to_owned(), Data::F32(v.to_vec()));
        let problem = Problem::new(given, vec![buffer("before", before), buffer("power", power)]);
        match how(&problem).unwrap().remove(0) {
            ("after", Data::F32(v)) => v,
            other => panic!("{other:?}"),
        }
    }

    const PLANE: [(&str, f64); 7] = [
        ("rows", 2.0),
        ("cols", 3.0),
        ("step", 0.5),
        ("across", 0.25),
        ("down", 0.125),
        ("out", 0.5),
        ("ambient", 8.0),
    ];

    #[test]
    fn hand_computed_plane() {
        let after = step(hotspot_2d, &PLANE, &[8., 16., 8., 8., 8., 8.], &[0., 2., 0., 0., 0., 4.]);
        // The warm cell: 2 + 0.25·(−16) + 0.125·(−8) + 0.5·(−8) = −7, half of it.
        assert_eq!(after, [9., 12.5, 9., 8., 8.5, 10.]);
    }

    #[test]
    fn hand_computed_layers() {
        let given = [
            ("layers", 2.0),
            ("rows", 1.0),
            ("cols", 2.0),
            ("centre", 0.5),
            ("side", 0.0625),
            ("over", 0.125),
            ("heat", 2.0),
            ("ambient", 1.0),
        ];
        let after = step(hotspot_3d, &given, &[16., 0., 0., 0.], &[0., 0., 0., 3.]);
        // Itself as its own neighbour: north, south, west and below.
        assert_eq!(after, [8. + 3. + 2. + 1., 1. + 1., 2. + 1., 7.]);
    }

    #[test]
    fn an_even_chip_at_the_ambient_temperature_stays() {
        assert_eq!(step(hotspot_2d, &PLANE, &[8.0; 6], &[0.0; 6]), [8.0; 6]);
    }
}
