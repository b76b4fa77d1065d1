//! Model 11, layout transform: is it worth making strided accesses contiguous first?
//!
//! Source: L14 ch. 6. An array that is accessed in strides is viewed as a matrix (single stride)
//! or as three dimensions (double stride), and permuted so that what is accessed together lies
//! together. Dimensions are numbered from the fastest, as the paper's orders are; its sizes for
//! `d_i > d_j` are those of a matrix of `m` rows of `n`, so that `n` is the fastest there.

/// A view of an array, and the order of dimensions that makes accesses contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Lengths of the dimensions, the fastest first; their product is at least the array's length.
    pub lengths: [usize; 3],
    /// Which dimension (from 0) becomes the fastest, the second and the slowest.
    pub order: [usize; 3],
}

/// What can be wrong with strides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadStride {
    /// A stride of zero visits one element for ever.
    #[error("a stride must be at least 1")]
    Zero,
    /// Nothing but the first element would be visited.
    #[error("a stride must be less than the length of the array")]
    TooLarge,
    /// The larger stride is not a multiple of the smaller one: the view has no whole rows.
    #[error("of two different strides the larger must be a multiple of the smaller")]
    Uneven,
}

impl View {
    /// Accesses `[d·i + f]` to an array of `length` elements: a matrix of width `d`, transposed.
    ///
    /// # Errors
    /// [`BadStride`] when `stride` is zero or not less than `length`.
    pub fn single(length: usize, stride: usize) -> Result<Self, BadStride> {
        check(length, stride)?;
        Ok(Self { lengths: [stride, length.div_ceil(stride), 1], order: [1, 0, 2] })
    }

    /// Accesses `[d_i·i + d_j·j + f]` to an array of `length` elements.
    ///
    /// For `d_i < d_j`: `m = d_i, n = d_j/d_i, p = ceil(length/d_j)`, permuted to [2, 3, 1], so that
    /// all of `i` and `j` lie together. For `d_i > d_j`: `m = d_i/d_j, n = d_j, p = ceil(length/d_i)`,
    /// permuted to [2, 1, 3], so that runs along `j` do.
    ///
    /// # Errors
    /// [`BadStride`] when a stride is zero or not less than `length`, or the two do not divide or
    /// are equal.
    pub fn double(length: usize, d_i: usize, d_j: usize) -> Result<Self, BadStride> {
        check(length, d_i)?;
        check(length, d_j)?;
        let (low, high) = (d_i.min(d_j), d_i.max(d_j));
        if low == high || high % low != 0 {
            return Err(BadStride::Uneven);
        }
        let lengths = [low, high / low, length.div_ceil(high)];
        let order = if d_i < d_j { [1, 2, 0] } else { [1, 0, 2] };
        Ok(Self { lengths, order })
    }

    /// Where the element at `index` goes.
    pub fn moved(&self, index: usize) -> usize {
        let [x, y, _] = self.lengths;
        let place = [index % x, index / x % y, index / (x * y)];
        self.order.iter().rev().fold(0, |at, &dim| at * self.lengths[dim] + place[dim])
    }
}

fn check(length: usize, stride: usize) -> Result<(), BadStride> {
    match stride {
        0 => Err(BadStride::Zero),
        _ if stride >= length => Err(BadStride::TooLarge),
        _ => Ok(()),
    }
}

/// After how many uses the transform pays: `ceil(T_transform / (T_strided − T_contiguous))`, in any
/// one unit of time. `None` when contiguous accesses are not faster.
pub fn break_even_uses(transform: f64, strided: f64, contiguous: f64) -> Option<u64> {
    let uses = break_even(transform, strided - contiguous);
    (uses.is_finite() && transform >= 0.0).then(|| uses.ceil() as u64)
}

/// The same before it is rounded up; infinite where a use saves nothing.
pub fn break_even(transform: f64, saved_per_use: f64) -> f64 {
    if saved_per_use > 0.0 { transform / saved_per_use } else { f64::INFINITY }
}

/// From which number of uses on the transform pays, by what sequences of several numbers of uses took: each with the
/// seconds that the transformed one took beyond the strided one. These fall along a line (least squares), which
/// need not be that of the three times by themselves; where it crosses zero is returned, not rounded. Infinite where they do
/// not fall.
pub fn crossing(excess: &[(f64, f64)]) -> f64 {
    let count = excess.len() as f64;
    let uses = excess.iter().map(|(uses, _)| uses).sum::<f64>() / count;
    let seconds = excess.iter().map(|(_, seconds)| seconds).sum::<f64>() / count;
    let rise: f64 = excess.iter().map(|(u, s)| (u - uses) * (s - seconds)).sum();
    let run: f64 = excess.iter().map(|(u, _)| (u - uses).powi(2)).sum();
    uses + break_even(seconds, -rise / run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_three_cases_pay_after_4_4_and_3_uses() {
        assert_eq!(break_even_uses(0.091, 0.03, 0.0), Some(4));
        assert_eq!(break_even_uses(0.340, 0.09, 0.0), Some(4));
        assert_eq!(break_even_uses(0.028, 0.01, 0.0), Some(3));
        assert_eq!(break_even_uses(0.1, 0.05, 0.05), None);
        assert_eq!(break_even_uses(0.0, 0.1, 0.05), Some(0));
    }

    #[test]
    fn sequences_cross_where_their_line_does() {
        // 7 − 2u is zero at 3.5, whatever the numbers of uses.
        assert_eq!(crossing(&[(2.0, 3.0), (4.0, -1.0), (6.0, -5.0)]), 3.5);
        assert_eq!(crossing(&[(1.0, 5.0), (2.0, 3.0)]), 3.5, "beyond those that ran");
        // By hand: means 2 and 0, slope −3/2.
        assert_eq!(crossing(&[(1.0, 2.0), (2.0, -1.0), (3.0, -1.0)]), 2.0);
        assert_eq!(crossing(&[(1.0, 1.0), (2.0, 1.0)]), f64::INFINITY, "nothing is saved");
        assert_eq!(crossing(&[(1.0, 1.0), (2.0, 3.0)]), f64::INFINITY);
    }

    #[test]
    fn a_single_stride_becomes_contiguous_for_every_offset() {
        let view = View::single(1000, 7).unwrap();
        for offset in 0..7 {
            let moved: Vec<usize> = (0..142).map(|i| view.moved(7 * i + offset)).collect();
            assert!(moved.windows(2).all(|w| w[1] == w[0] + 1), "{offset}");
        }
    }

    #[test]
    fn a_double_stride_with_the_smaller_first_becomes_contiguous_as_a_whole() {
        let (d_i, d_j, length) = (4, 12, 12 * 5);
        let view = View::double(length, d_i, d_j).unwrap();
        assert_eq!(view, View { lengths: [4, 3, 5], order: [1, 2, 0] });
        let moved: Vec<usize> = (0..5)
            .flat_map(|j| (0..3).map(move |i| (i, j)))
            .map(|(i, j)| view.moved(d_i * i + d_j * j + 1))
            .collect();
        assert!(moved.windows(2).all(|w| w[1] == w[0] + 1), "{moved:?}");
    }

    #[test]
    fn a_double_stride_with_the_larger_first_becomes_contiguous_along_the_smaller() {
        let (d_i, d_j, length) = (12, 4, 12 * 5);
        let view = View::double(length, d_i, d_j).unwrap();
        assert_eq!(view, View { lengths: [4, 3, 5], order: [1, 0, 2] });
        for i in 0..5 {
            let moved: Vec<usize> = (0..3).map(|j| view.moved(d_i * i + d_j * j + 2)).collect();
            assert!(moved.windows(2).all(|w| w[1] == w[0] + 1), "{moved:?}");
        }
    }

    #[test]
    fn no_two_elements_go_to_one_place() {
        for view in [View::single(60, 7), View::double(60, 4, 12), View::double(60, 12, 4)] {
            let view = view.unwrap();
            let mut moved: Vec<usize> = (0..60).map(|i| view.moved(i)).collect();
            moved.sort_unstable();
            moved.dedup();
            assert_eq!(moved.len(), 60);
            assert!(moved[59] < view.lengths.iter().product());
        }
    }

    #[test]
    fn strides_that_make_no_view_say_why() {
        assert_eq!(View::single(10, 0), Err(BadStride::Zero));
        assert_eq!(View::single(10, 10), Err(BadStride::TooLarge));
        assert_eq!(View::double(100, 4, 6), Err(BadStride::Uneven));
        assert_eq!(View::double(100, 5, 5), Err(BadStride::Uneven));
    }
}
