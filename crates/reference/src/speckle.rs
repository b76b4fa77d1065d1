//! Smoothing that spares edges.

use super::{Data, Problem, map};
use gpubench_core::error::Result;

/// One step of speckle-reducing anisotropic diffusion: `smoothed = image + rate·div(c·∇image)`, with
/// the conduction `c = 1/(1 + (q² − q0²)/(q0²(1 + q0²)))`, between 0 and 1, of the instantaneous
/// coefficient of variation `q` (Y. Yu, S. T. Acton, *Speckle reducing anisotropic diffusion*, 2002,
/// equations 31 to 35, 58 to 60; `speckle` is `q0²`). Where a point has no neighbour, it is its own.
///
/// # Errors
/// As [`super::Reference`].
pub fn srad(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let (rows, cols) = (problem.size("rows")?, problem.size("cols")?);
    let len = rows.saturating_mul(cols);
    let pixels = &problem.f32("image", len)?[..len];
    let image = Image { rows, cols, pixels };
    let speckle = f64::from(problem.number("speckle")? as f32);
    let rate = f64::from(problem.number("rate")? as f32);
    let conduction = map(len, |i| image.conduction(i / cols, i % cols, speckle));
    let smoothed = |i: usize| {
        let (row, col) = (i / cols, i % cols);
        let [north, south, west, east] = image.more(row, col);
        // Conductions between points are those of the lower and of the right one.
        let c = conduction[i];
        let below = conduction[(row + 1).min(rows - 1) * cols + col];
        let right = conduction[row * cols + (col + 1).min(cols - 1)];
        let flow = c * north + below * south + c * west + right * east;
        (f64::from(image.pixels[i]) + rate * flow) as f32
    };
    Ok(vec![("smoothed", Data::F32(map(len, smoothed)))])
}

struct Image<'a> {
    rows: usize,
    cols: usize,
    pixels: &'a [f32],
}

impl Image<'_> {
    fn at(&self, row: usize, col: usize) -> f64 {
        f64::from(self.pixels[row * self.cols + col])
    }

    /// What the neighbours north, south, west and east have more.
    fn more(&self, row: usize, col: usize) -> [f64; 4] {
        let here = self.at(row, col);
        [
            self.at(row.saturating_sub(1), col) - here,
            self.at((row + 1).min(self.rows - 1), col) - here,
            self.at(row, col.saturating_sub(1)) - here,
            self.at(row, (col + 1).min(self.cols - 1)) - here,
        ]
    }

    fn conduction(&self, row: usize, col: usize, speckle: f64) -> f64 {
        let more = self.more(row, col).map(|d| d / self.at(row, col));
        let gradient: f64 = more.iter().map(|d| d * d).sum();
        let laplacian: f64 = more.iter().sum();
        let varied = (gradient / 2.0 - (laplacian / 4.0).powi(2)) / (1.0 + laplacian / 4.0).powi(2);
        let edge = (varied - speckle) / (speckle * (1.0 + speckle));
        (1.0 / (1.0 + edge)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(rows: usize, image: &[f32], speckle: f64) -> Vec<f32> {
        let cols = image.len() / rows;
        let numbers =
            [("rows", rows as f64), ("cols", cols as f64), ("speckle", speckle), ("rate", 0.125)];
        let problem = Problem::new(
            numbers.map(|(name, x)| (name.to_owned(), x)).into(),
            vec![("image".to_owned(), Data::F32(image.to_vec()))],
        );
        match srad(&problem).unwrap().remove(0) {
            ("smoothed", Data::F32(v)) => v,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_even_image_stays() {
        assert_eq!(step(3, &[0.7; 12], 0.05), [0.7; 12]);
    }

    #[test]
    fn speckle_is_smoothed_and_an_edge_is_kept() {
        // 1 next to 1.1: varies less than speckle, so that it conducts fully.
        let weak = step(1, &[1.0, 1.1], 0.05);
        assert!((f64::from(weak[0]) - 1.0125).abs() < 1e-6, "{weak:?}");
        // 1 next to 9, hand-computed: q² of the right point is (64/162 − 4/81)/(7/9)² = 0.5714.
        let edge = step(1, &[1.0, 9.0], 0.05);
        let conduction = 1.0 / (1.0 + (0.571_428_571 - 0.05) / (0.05 * 1.05));
        assert!((f64::from(edge[0]) - (1.0 + conduction)).abs() < 1e-5, "{edge:?}");
    }
}
