//! Image filters over rows of RGBA pixels.

use super::{Data, Problem, for_each_chunk, map};
use gpubench_core::error::Result;

/// Components of a pixel.
const RGBA: usize = 4;

/// Mean of a pixel and its eight neighbours, each component for itself. Coordinates are
/// clamped: beyond the edge the nearest pixel of the image counts again.
///
/// # Errors
/// As [`super::Reference`].
pub fn linear(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let (rows, cols, image) = image(problem)?;
    let part = problem.rows(rows);
    let clamped = |at: usize, size: usize| [at.saturating_sub(1), at, (at + 1).min(size - 1)];
    let result = map(image.len(), |i| {
        let (y, x, component) = (i / RGBA / cols, i / RGBA % cols, i % RGBA);
        if !part.contains(&y) {
            return 0.0;
        }
        let mut sum = 0.0;
        for ny in clamped(y, rows) {
            for nx in clamped(x, cols) {
                sum += f64::from(image[(ny * cols + nx) * RGBA + component]);
            }
        }
        (sum / 9.0) as f32
    });
    Ok(vec![("result", Data::F32(result))])
}

/// Sepia tone: each colour becomes a weighted sum of all three, at most 1; alpha stays.
///
/// # Errors
/// As [`super::Reference`].
pub fn sepia(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    const WEIGHTS: [[f64; 3]; 3] =
        [[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]];
    let (rows, cols, image) = image(problem)?;
    let mut result = vec![0.0; image.len()];
    let (row, part) = (cols * RGBA, problem.rows(rows));
    for_each_chunk(&mut result[part.start * row..part.end * row], row, |first, piece| {
        let pixels = image[(part.start + first) * row..].chunks(RGBA);
        for (toned, pixel) in piece.chunks_mut(RGBA).zip(pixels) {
            for (colour, weights) in toned.iter_mut().zip(WEIGHTS) {
                let sum: f64 = weights.iter().zip(pixel).map(|(w, &x)| w * f64::from(x)).sum();
                *colour = sum.min(1.0) as f32;
            }
            toned[3] = pixel[3];
        }
    });
    Ok(vec![("result", Data::F32(result))])
}

/// Rows, columns, and the components of the pixels.
fn image(problem: &Problem) -> Result<(usize, usize, &[f32])> {
    let (rows, cols) = (problem.size("rows")?, problem.size("cols")?);
    let len = rows.saturating_mul(cols).saturating_mul(RGBA);
    Ok((rows, cols, &problem.f32("image", len)?[..len]))
}

#[cfg(test)]
mod tests {
    use super::super::Reference;
    use super::*;

    fn filtered(how: Reference, rows: usize, cols: usize, image: &[f32]) -> Vec<f32> {
        let problem = Problem::new(
            vec![("rows".to_owned(), rows as f64), ("cols".to_owned(), cols as f64)],
            vec![("image".to_owned(), Data::F32(image.to_vec()))],
        );
        match how(&problem).unwrap().remove(0) {
            ("result", Data::F32(v)) => v,
            other => panic!("{other:?}"),
        }
    }

    /// An image whose components all hold the same number per pixel.
    fn grey(pixels: &[f32]) -> Vec<f32> {
        pixels.iter().flat_map(|&x| [x; RGBA]).collect()
    }

    #[test]
    fn linear_leaves_a_constant_image() {
        for (rows, cols) in [(1, 1), (1, 5), (3, 1), (4, 7)] {
            let image = vec![0.75; rows * cols * RGBA];
            assert_eq!(filtered(linear, rows, cols, &image), image);
        }
    }

    #[test]
    fn linear_spreads_a_point_and_counts_the_edge_again() {
        let middle = grey(&[0., 0., 0., 0., 9., 0., 0., 0., 0.]);
        assert_eq!(filtered(linear, 3, 3, &middle), grey(&[1.0; 9]));
        // In the corner the clamped point counts four times for itself, twice beside it.
        let corner = grey(&[9., 0., 0., 0., 0., 0., 0., 0., 0.]);
        let expected = grey(&[4., 2., 0., 2., 1., 0., 0., 0., 0.]);
        assert_eq!(filtered(linear, 3, 3, &corner), expected);
    }

    #[test]
    fn linear_keeps_a_slope_away_from_the_edge() {
        let image: Vec<f32> = (0..5 * 6 * RGBA).map(|i| (i / RGBA) as f32).collect();
        let result = filtered(linear, 5, 6, &image);
        for (y, x) in [(1, 1), (2, 3), (3, 4)] {
            let at = (y * 6 + x) * RGBA;
            assert_eq!(result[at], image[at]);
        }
    }

    #[test]
    fn hand_computed_sepia() {
        let image = [1.0, 0.0, 0.0, 0.25, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0, 0.0];
        let expected =
            [0.393, 0.349, 0.272, 0.25, 0.6755, 0.6015, 0.4685, 1.0, 1.0, 1.0, 0.937, 0.0];
        let found = filtered(sepia, 1, 3, &image);
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
        }
    }
}
