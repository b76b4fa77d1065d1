//! Bandwidth by size: the levels of a memory, as the sizes at which the measured curve bends show them.

use super::roof::DOUBT;
use std::cmp::Ordering::Equal;

/// A measured size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    /// Bytes touched.
    pub bytes: f64,
    /// Bytes a second.
    pub rate: f64,
}

/// A level of memory, as far as sizes were measured in it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Level {
    /// Bytes of the smallest and of the largest size in it.
    sizes: [f64; 2],
    /// Bytes a second.
    rate: f64,
}

/// The levels of one workload's curve. What fits a level of the memory fits the slower ones below it too,
/// so that a size is at least as fast as any larger one: sizes below the fastest are short of work, not
/// of bandwidth, and say nothing.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    /// From the fastest to the slowest.
    levels: Vec<Level>,
    /// Bytes of the largest size that was measured.
    largest: f64,
}

impl Curve {
    /// Through points in any order; `None` where there is none.
    pub(super) fn through(mut points: Vec<Point>) -> Option<Self> {
        points.retain(|point| point.rate > 0.0 && point.rate.is_finite());
        points.sort_by(|a, b| (a.bytes, a.rate).partial_cmp(&(b.bytes, b.rate)).unwrap_or(Equal));
        let largest = points.last()?.bytes;
        let mut falling: Vec<Point> = vec![];
        for point in points.into_iter().rev() {
            if falling.last().is_none_or(|larger| point.rate >= larger.rate) {
                falling.push(point);
            }
        }
        let mut levels: Vec<Level> = vec![];
        for Point { bytes, rate } in falling.into_iter().rev() {
            match levels.last_mut() {
                Some(level) if level.rate <= DOUBT * rate => level.sizes[1] = bytes,
                _ => levels.push(Level { sizes: [bytes; 2], rate }),
            }
        }
        Some(Self { levels, largest })
    }

    /// The largest rate that is possible where so many bytes are touched: that of their level; `None`
    /// below the sizes that were measured. Between the last size of one level and the first of the next it is
    /// the faster one's. Beyond the largest size the last level still bounds, since a curve only falls, but
    /// what the memory reaches there is not known (see [`Curve::largest`]).
    pub(super) fn at(&self, bytes: f64) -> Option<f64> {
        self.levels.iter().rev().find(|level| level.sizes[0] <= bytes).map(|level| level.rate)
    }

    /// The rate of the level that so many bytes are known to be in: as [`Curve::at`], but between the last
    /// size of one level and the first of the next it is the slower one's.
    pub(super) fn reached_at(&self, bytes: f64) -> Option<f64> {
        let fastest = self.levels.first().filter(|level| level.sizes[0] <= bytes);
        let level = self.levels.iter().find(|level| bytes <= level.sizes[1]);
        fastest.and(level.or(self.levels.last())).map(|level| level.rate)
    }

    /// Its levels, from the fastest to the slowest: the smallest size of each, and its rate.
    pub(super) fn levels(&self) -> impl Iterator<Item = Point> {
        self.levels.iter().map(|level| Point { bytes: level.sizes[0], rate: level.rate })
    }

    /// The rate of the slowest level that was measured.
    pub(super) fn last(&self) -> f64 {
        self.levels.last().map_or(0.0, |level| level.rate)
    }

    /// Whether it falls: then its last level is not the fastest.
    pub(super) fn has_fallen(&self) -> bool {
        self.levels.len() > 1
    }

    /// Whether it falls by more than two rates may be off, each by what makes a level.
    pub(super) fn has_surely_fallen(&self) -> bool {
        self.levels.first().is_some_and(|first| first.rate > DOUBT * DOUBT * self.last())
    }

    /// The rate of its last level where so many bytes are surely in that: from where it begins, and of a curve that hardly
    /// falls from the largest size on: the smaller ones may be in a cache that the kernel is too slow to show.
    pub(super) fn in_last_at(&self, bytes: f64) -> Option<f64> {
        let last = self.levels.last()?;
        let first = if self.has_surely_fallen() { last.sizes[0] } else { self.largest };
        (bytes >= first).then_some(last.rate)
    }

    /// Bytes of the largest size that was measured: what the curve says nothing beyond.
    pub(super) fn largest(&self) -> f64 {
        self.largest
    }

    /// Whether a level ends beyond so many bytes; `None` where its sizes do not reach down to them.
    pub(super) fn falls_beyond(&self, bytes: f64) -> Option<bool> {
        Some(self.at(bytes)? > DOUBT * self.last())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(f64, f64)]) -> Curve {
        let point = |&(bytes, rate): &(f64, f64)| Point { bytes, rate };
        Curve::through(points.iter().map(point).collect()).unwrap()
    }

    #[test]
    fn a_curve_that_bends_twice_has_three_levels() {
        let measured = [(1e6, 190.0), (4e6, 200.0), (8e6, 195.0), (32e6, 60.0), (64e6, 58.0)];
        let curve = curve(&[&measured[..], &[(256e6, 20.0), (1e9, 19.0)]].concat());
        let at = |bytes: f64| curve.at(bytes);
        assert_eq!([at(1e6), at(4e6), at(8e6)], [None, Some(200.0), Some(200.0)]);
        assert_eq!(at(31e6), Some(200.0), "what is in between may still be in the faster level");
        let reached = |bytes: f64| curve.reached_at(bytes);
        assert_eq!([reached(1e6), reached(8e6)], [None, Some(200.0)]);
        assert_eq!([reached(9e6), reached(64e6)], [Some(60.0); 2]);
        assert_eq!([reached(65e6), reached(9e9)], [Some(20.0); 2]);
        assert_eq!([at(32e6), at(255e6)], [Some(60.0); 2]);
        assert_eq!([at(256e6), at(9e9), Some(curve.last())], [Some(20.0); 3]);
        let last = |bytes: f64| curve.in_last_at(bytes);
        assert_eq!(
            [last(255e6), last(256e6), last(1e9), last(2e9)],
            [None, Some(20.0), Some(20.0), Some(20.0)]
        );
    }

    #[test]
    fn a_single_size_is_known_from_there_on() {
        let curve = curve(&[(64e6, 20.0)]);
        assert_eq!([curve.at(63e6), curve.at(64e6), curve.at(1e9)], [None, Some(20.0), Some(20.0)]);
        let flat = self::curve(&[(4e6, 21.0), (64e6, 20.0)]);
        assert_eq!([flat.in_last_at(12e6), flat.in_last_at(64e6)], [None, Some(21.0)]);
        assert!(!flat.has_fallen());
        let restless = self::curve(&[(0.25e6, 35.0), (4e6, 28.4), (64e6, 26.0)]);
        assert_eq!(restless.levels().count(), 2);
        assert!(restless.has_fallen() && restless.in_last_at(12e6).is_none());
    }

    #[test]
    fn sizes_that_are_short_of_work_say_nothing_and_rounds_agree_on_the_best() {
        let rising = curve(&[(1e6, 5.0), (16e6, 18.0), (64e6, 20.0), (256e6, 19.0)]);
        assert_eq!([rising.at(16e6), rising.at(64e6)], [None, Some(20.0)]);
        let rounds = curve(&[(64e6, 20.0), (64e6, 11.0), (64e6, 15.0)]);
        assert_eq!(rounds, curve(&[(64e6, 20.0)]));
        assert!(Curve::through(vec![]).is_none());
    }

    #[test]
    fn what_is_no_rate_says_nothing() {
        let odd = curve(&[(1e6, f64::INFINITY), (2e6, f64::NAN), (64e6, 20.0), (128e6, 0.0)]);
        assert_eq!(odd, curve(&[(64e6, 20.0)]));
    }

    #[test]
    fn a_level_ends_where_a_slower_one_follows() {
        let curve = curve(&[(1e6, 2.0), (64e6, 1.0)]);
        let falls = |bytes| curve.falls_beyond(bytes);
        assert_eq!([falls(5e5), falls(1e6), falls(64e6)], [None, Some(true), Some(false)]);
    }
}
