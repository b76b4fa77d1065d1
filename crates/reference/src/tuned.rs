//! Kernels whose variants others have measured on many GPUs: a convolution and a dedispersion.

use super::{Data, Problem, map};
use gpubench_core::error::{Error, Result};

/// Weights along either axis of the filter.
const FILTER: usize = 15;

/// A filter of 15×15 weights over an image with a rim of 14 beyond the last row and column.
///
/// # Errors
/// As [`super::Reference`].
pub fn convolution(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let (width, height) = (problem.size("width")?, problem.size("height")?);
    let pitch = width + FILTER - 1;
    let image = problem.f32("image", pitch * (height + FILTER - 1))?;
    let weights = problem.f32("weights", FILTER * FILTER)?;
    let result = map(problem.room("result", width * height)?, |at| {
        let (x, y) = (at % width, at / width);
        let row = |i: usize| {
            let pixels = image[(y + i) * pitch + x..].iter();
            pixels.zip(&weights[i * FILTER..(i + 1) * FILTER])
        };
        let products = (0..FILTER).flat_map(row).map(|(p, w)| f64::from(*p) * f64::from(*w));
        products.sum::<f64>() as f32
    });
    Ok(vec![("result", Data::F32(result))])
}

/// Sums over channels of samples of 8 bits, four in a word, each channel delayed by `step` times its delay for every
/// dispersion measure.
///
/// # Errors
/// As [`super::Reference`].
pub fn dedispersion(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let (times, measures) = (problem.size("times")?, problem.size("measures")?);
    let (channels, pitch) = (problem.size("channels")?, problem.size("pitch")?);
    let step = problem.number("step")? as f32;
    let words = problem.u32("samples", (channels * pitch).div_ceil(4))?;
    let delays = problem.f32("delays", channels)?;
    let shift = |measure: usize, delay: f32| (measure as f32 * step * delay) as usize;
    let longest =
        delays[..channels].iter().map(|delay| shift(measures.saturating_sub(1), *delay)).max();
    let (needed, held) = (times.saturating_add(longest.unwrap_or(0)), pitch);
    if needed > held {
        return Err(Error::Usage(format!(
            "a channel of {held} samples: the longest delay needs {needed}"
        )));
    }
    let result = map(problem.room("result", times * measures)?, |at| {
        let (time, measure) = (at % times, at / times);
        let sample = |(channel, delay): (usize, &f32)| {
            let at = channel * pitch + time + shift(measure, *delay);
            words[at / 4].to_le_bytes()[at % 4]
        };
        let sum: u64 = delays[..channels].iter().enumerate().map(sample).map(u64::from).sum();
        sum as f32
    });
    Ok(vec![("result", Data::F32(result))])
}

#[cfg(test)]
mod tests {
    use super::super::Reference;
    use super::*;

    fn numbers(all: &[(&str, f64)]) -> Vec<(String, f64)> {
        all.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    fn run(how: Reference, of: &[(&str, f64)], buffers: Vec<(&str, Data)>) -> Vec<f32> {
        let buffers = buffers.into_iter().map(|(name, data)| (name.to_owned(), data)).collect();
        match how(&Problem::new(numbers(of), buffers)).unwrap().remove(0) {
            ("result", Data::F32(v)) => v,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn one_weight_moves_the_image_and_equal_ones_sum_it() {
        let (width, height, pitch) = (3, 2, 17);
        let image: Vec<f32> = (0..pitch * 16).map(|i| i as f32).collect();
        let convolve = |weights: Vec<f32>| {
            let buffers = vec![
                ("image", Data::F32(image.clone())),
                ("weights", Data::F32(weights)),
                ("result", Data::F32(vec![0.0; width * height])),
            ];
            run(convolution, &[("width", 3.0), ("height", 2.0)], buffers)
        };
        let mut one = vec![0.0; 225];
        one[2 * 15 + 5] = 2.0;
        // Pixel (x + 5, y + 2), twice.
        assert_eq!(convolve(one), [78.0, 80.0, 82.0, 112.0, 114.0, 116.0]);
        // The mean of a window of a slope is its middle, (x + 7, y + 7).
        let middle = |x: usize, y: usize| 225.0 * ((y + 7) * pitch + x + 7) as f32;
        let all = convolve(vec![1.0; 225]);
        assert_eq!((all[0], all[5]), (middle(0, 0), middle(2, 1)));
    }

    #[test]
    fn channels_are_delayed_by_measure() {
        // Channel 0 counts 0, 1, 2 …, channel 1 counts 100, 101, 102 …, each 8 samples long.
        let bytes: Vec<u8> = (0..8).chain(100..108).collect();
        let words =
            bytes.chunks(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]));
        let buffers = vec![
            ("samples", Data::U32(words.collect())),
            ("delays", Data::F32(vec![1.5, 0.0])),
            ("result", Data::F32(vec![0.0; 8])),
        ];
        let of =
            [("times", 2.0), ("measures", 4.0), ("channels", 2.0), ("pitch", 8.0), ("step", 1.0)];
        // Delays of channel 0: 0, 1.5, 3, 4.5 samples, rounded down.
        assert_eq!(
            run(dedispersion, &of, buffers),
            [100., 102., 101., 103., 103., 105., 104., 106.]
        );
    }

    #[test]
    fn delays_beyond_a_channel_are_a_mistake() {
        let sizes = numbers(&[
            ("times", 4.0),
            ("measures", 2.0),
            ("channels", 1.0),
            ("pitch", 8.0),
            ("step", 5.0),
        ]);
        let buffers = vec![
            ("samples".to_owned(), Data::U32(vec![0; 2])),
            ("delays".to_owned(), Data::F32(vec![1.0])),
        ];
        let why = dedispersion(&Problem::new(sizes, buffers)).unwrap_err().to_string();
        assert!(why.contains("the longest delay needs 9"), "{why}");
    }
}
