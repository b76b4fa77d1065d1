//! Where the cells of a box lie in an array with a shell of one cell around them.

use serde::{Deserialize, Serialize};

/// Fields of so many cells along x, y and z, each within a shell of one cell, x fastest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Array {
    /// Cells within the shell.
    pub cells: [u64; 3],
}

impl Array {
    /// Elements from one cell to the next along x, y and z, and from field to field.
    pub fn strides(&self) -> [u64; 4] {
        let [nx, ny, nz] = self.cells.map(|cells| cells + 2);
        [1, nx, nx * ny, nx * ny * nz]
    }

    /// Elements of one field, shell included.
    pub fn field(&self) -> u64 {
        self.strides()[3]
    }

    /// The layer number `layer` along `axis` (0 is the shell's, as is the one behind the last), as far
    /// as it lies within the shell's other sides, of `fields`: ascending, at equal distances.
    pub fn layer(&self, axis: usize, layer: u64, fields: &[u32]) -> Face {
        let mut first = [1; 3];
        first[axis] = layer;
        let mut counts = self.cells;
        counts[axis] = 1;
        self.part(first, counts, fields)
    }

    /// The part of `counts` cells from `first` on (in which the shell is 0), of `fields`.
    pub fn part(&self, first: [u64; 3], counts: [u64; 3], fields: &[u32]) -> Face {
        let [_, sy, sz, sc] = self.strides();
        let [x, y, z] = first;
        let [nx, ny, nz] = counts;
        let begin = u64::from(fields.first().copied().unwrap_or(0));
        let step = fields.get(1).map_or(1, |second| u64::from(*second) - begin);
        Face {
            first: x + y * sy + z * sz + begin * sc,
            counts: [nx, ny, nz, fields.len() as u64],
            strides: [1, sy, sz, step * sc],
        }
    }
}

/// Elements of an array that lie in a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Face {
    /// The first element.
    pub first: u64,
    /// How many along x, y, z and over fields.
    pub counts: [u64; 4],
    /// Elements from one to the next along each.
    pub strides: [u64; 4],
}

impl Face {
    /// Elements in all.
    pub fn len(&self) -> u64 {
        self.counts.iter().product()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first element of each run along x, in order.
    pub fn runs(&self) -> impl Iterator<Item = usize> + '_ {
        let [_, ny, nz, nc] = self.counts;
        let [_, sy, sz, sc] = self.strides;
        let starts = (0..nc).flat_map(move |c| {
            (0..nz).flat_map(move |z| (0..ny).map(move |y| self.first + c * sc + z * sz + y * sy))
        });
        starts.map(|element| element as usize)
    }

    /// Elements of a run.
    pub fn run(&self) -> usize {
        self.counts[0] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_where_they_are_in_an_array_written_out() {
        let array = Array { cells: [2, 3, 4] };
        assert_eq!(array.strides(), [1, 4, 20, 120]);
        let at = |x: u64, y: u64, z: u64, c: u64| ((c * 6 + z) * 5 + y) * 4 + x;
        let face = array.layer(1, 3, &[6, 8]);
        assert_eq!((face.len(), face.run()), (2 * 4 * 2, 2));
        let runs: Vec<usize> = face.runs().collect();
        let wanted = [6, 8].iter().flat_map(|&c| (1..=4).map(move |z| at(1, 3, z, c) as usize));
        assert_eq!(runs, wanted.collect::<Vec<_>>());
        assert_eq!(array.layer(0, 0, &[1]).first, at(0, 1, 1, 1));
    }
}
