//! Transforms.

use super::{Data, Problem, for_each_chunk};
use gpubench_core::error::Result;

/// One pass of the fast Walsh transform of `n` numbers: two of them `apart` places from each other
/// become their sum and their difference; what has no partner stays as it is. The first pass
/// (`apart` is 1) takes them from `before`.
///
/// # Errors
/// As [`super::Reference`].
pub fn walsh(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let (n, apart) = (problem.size("n")?, problem.size("apart")?.max(1));
    let data = problem.f32("data", n)?;
    let from = if apart == 1 { &problem.f32("before", n)?[..n] } else { &data[..n] };
    let mut out = vec![0.0; data.len()];
    out[n..].copy_from_slice(&data[n..]);
    for_each_chunk(&mut out[..n], apart, |first, piece| {
        for (out, row) in piece.chunks_mut(apart).zip(first..) {
            let here = &from[row * apart..][..out.len()];
            if row % 2 == 1 {
                let partners = here.iter().zip(&from[(row - 1) * apart..]);
                out.iter_mut().zip(partners).for_each(|(out, (high, low))| *out = low - high);
                continue;
            }
            let partners = &from[n.min((row + 1).saturating_mul(apart))..];
            let (paired, alone) = out.split_at_mut(partners.len().min(out.len()));
            alone.copy_from_slice(&here[paired.len()..]);
            let partners = here.iter().zip(partners);
            paired.iter_mut().zip(partners).for_each(|(out, (low, high))| *out = low + high);
        }
    });
    Ok(vec![("data", Data::F32(out))])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transformed(mut data: Vec<f32>) -> Vec<f32> {
        let n = data.len();
        let before = std::mem::replace(&mut data, vec![f32::NAN; n]);
        for pass in 0..n.ilog2() {
            let number = |name: &str, x: usize| (name.to_owned(), x as f64);
            let numbers = vec![number("n", n), number("apart", 1 << pass)];
            let buffers = vec![
                ("before".to_owned(), Data::F32(before.clone())),
                ("data".to_owned(), Data::F32(data)),
            ];
            data = match walsh(&Problem::new(numbers, buffers)).unwrap().remove(0) {
                ("data", Data::F32(v)) => v,
                other => panic!("{other:?}"),
            };
        }
        data
    }

    /// The transform is the product with Hadamard's matrix, whose entry (i, j) is −1 to the number of
    /// ones that i and j share.
    #[test]
    fn all_passes_are_the_product_with_hadamards_matrix() {
        let data: Vec<f32> = (0..64).map(|i| (i * i % 17) as f32 - 8.0).collect();
        let sum = |i: usize| -> f32 {
            let sign = |j: usize| if (i & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
            data.iter().enumerate().map(|(j, x)| sign(j) * x).sum()
        };
        assert_eq!(transformed(data.clone()), (0..64).map(sum).collect::<Vec<_>>());
        let twice = transformed(transformed(data.clone()));
        assert_eq!(twice, data.iter().map(|x| 64.0 * x).collect::<Vec<_>>());
    }

    #[test]
    fn of_any_length_each_pair_becomes_its_sum_and_difference() {
        for (n, apart) in (1..10).flat_map(|n| (1..12).map(move |apart| (n, apart))) {
            let contents = |seed: usize| (0..n + 2).map(|i| (i * i + seed) as f32).collect();
            let [before, data]: [Vec<f32>; 2] = [contents(3), contents(8)];
            let mut wanted = data.clone();
            wanted[..n].copy_from_slice(&if apart == 1 { &before } else { &data }[..n]);
            for low in (0..n).filter(|i| i / apart % 2 == 0 && i + apart < n) {
                let (a, b) = (wanted[low], wanted[low + apart]);
                (wanted[low], wanted[low + apart]) = (a + b, a - b);
            }
            let numbers = vec![("n".to_owned(), n as f64), ("apart".to_owned(), apart as f64)];
            let buffers = [("before", before), ("data", data)];
            let buffers = buffers.map(|(name, v)| (name.to_owned(), Data::F32(v))).to_vec();
            let found = walsh(&Problem::new(numbers, buffers)).unwrap();
            assert_eq!(found, [("data", Data::F32(wanted))], "{n} {apart}");
        }
    }

    #[test]
    fn what_has_no_partner_stays() {
        let numbers = vec![("n".to_owned(), 7.0), ("apart".to_owned(), 4.0)];
        let data: Vec<f32> = (1..8).map(|i| i as f32).collect();
        let problem = Problem::new(numbers, vec![("data".to_owned(), Data::F32(data))]);
        let after = Data::F32(vec![6.0, 8.0, 10.0, 4.0, -4.0, -4.0, -4.0]);
        assert_eq!(walsh(&problem).unwrap(), [("data", after)]);
    }
}
