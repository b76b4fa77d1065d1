//! How well the times of loads determine a cache's capacity.

use super::{BLUNTEST, Bend, EXACT, Point, SHARPEST, latencies};
use crate::least_squares::Estimate;
use gpubench_stats::t_quantile;

/// The sharpness that is tried with each other capacity.
const SHARPNESS_TRIED: [f64; 8] = [BLUNTEST, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, SHARPEST];
/// How many other capacities are tried between one and its double.
const STEPS: f64 = 64.0;
/// How many times as wide as the interval of the bend the fit's own may be.
const WIDER: f64 = 3.0;

/// A capacity with the wider of two intervals: the `linear` one of the fit, which says nothing right at a bend and
/// counts for so much at most, and that of the bend. Its error is no standard error where the bend's is the wider.
pub(super) fn capacity(
    points: &[Point],
    bends: &[Bend],
    number: usize,
    linear: Estimate,
) -> Estimate {
    let freedom = (points.len() - (1 + 3 * bends.len())) as f64;
    let t = t_quantile(freedom, 0.975);
    let limit = 1.0 + t * t / freedom;
    let margin = match bend_margin(points, bends, number, limit) {
        Some(bend) => bend.max(linear.margin.min(WIDER * bend)),
        None => linear.margin,
    };
    Estimate { value: linear.value, error: margin / t, margin }
}

/// How far from a capacity those end that leave no more than `limit` times the squares, while only this cache's
/// sharpness changes with it. `None` where they have no end within four octaves.
fn bend_margin(points: &[Point], bends: &[Bend], number: usize, limit: f64) -> Option<f64> {
    let value = bends[number].capacity;
    let squares = |bends: &[Bend]| Some(latencies(points, bends)?.1);
    let limit = limit * squares(bends)?.max(points.len() as f64 * EXACT * EXACT);
    let fits = |capacity: &f64| {
        let with = |sharpness: f64| {
            let mut bends = bends.to_vec();
            bends[number] = Bend { capacity: *capacity, sharpness };
            bends.is_sorted_by(|a, b| a.capacity <= b.capacity)
                && squares(&bends).is_some_and(|squares| squares <= limit)
        };
        SHARPNESS_TRIED.into_iter().chain([bends[number].sharpness]).any(with)
    };
    let end = |direction: f64| {
        let at = |step: i32| value * (direction * f64::from(step) / STEPS).exp2();
        let first = (1..=4 * STEPS as i32).map(at).find(|capacity| !fits(capacity))?;
        Some((first - value).abs())
    };
    Some(end(1.0)?.max(end(-1.0)?))
}
