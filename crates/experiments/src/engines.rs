//! How many copy engines a device has, from what its copies hid: both directions at once, and
//! concurrently with kernels. A comparison of wall times, not a fit: it holds whatever else commands cost.

use crate::registry::experiment;
use gpubench_core::record::Detail;
use gpubench_stats::Summary;

/// What a device's copies overlap with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Engines {
    /// Whether the two directions run at once; `None` where the runs do not show it.
    pub both_ways: Option<bool>,
    /// Whether a copy runs concurrently with a kernel; `None` where the runs do not show it.
    pub overlaps_kernels: Option<bool>,
}

impl Engines {
    /// The number of copy engines, where the runs identify it.
    pub fn count(&self) -> Option<u32> {
        match (self.both_ways, self.overlaps_kernels) {
            (_, Some(false)) => Some(0),
            (Some(true), _) => Some(2),
            (Some(false), Some(true)) => Some(1),
            _ => None,
        }
    }
}

/// How many standard errors a saving must stand above zero to be one.
const SURE: f64 = 3.0;

/// Infers from all details of one device. One case that shows an overlap outweighs any number
/// that were too small to show one.
pub fn engines(details: &[&Detail]) -> Engines {
    let mut found = Engines::default();
    for detail in details {
        if let Some(experiment) = experiment(detail.kind()) {
            (experiment.learn)(detail, &mut found);
        }
    }
    found
}

/// Seen once is seen; not seen needs somebody who looked.
pub fn either(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(x), Some(y)) => Some(x || y),
        _ => a.or(b),
    }
}

/// A median and its standard error.
#[derive(Clone, Copy)]
pub(crate) struct Middle {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

/// Of `samples`; `None` of none.
pub(crate) fn middle(samples: &[f64]) -> Option<Middle> {
    let summary = Summary::of(samples)?;
    let [low, high] = summary.interval;
    // The 95 % interval is about four standard errors wide.
    Some(Middle { value: summary.median, error: (high - low) / 4.0 })
}

/// Whether `hidden_seconds` were hidden of what could be (seconds, with a standard error): nothing where
/// it is both within the error of nothing and far below what an overlap would have hidden.
pub(crate) fn verdict(hidden_seconds: f64, hideable: f64, error: f64) -> Option<bool> {
    /// An overlap that saves less than this share of what it could is none in effect.
    const MIN_HIDDEN_SHARE: f64 = 0.1;
    let noise = SURE * error;
    if hidden_seconds > noise && hidden_seconds > 0.01 * hideable {
        Some(true)
    } else if hidden_seconds + noise < MIN_HIDDEN_SHARE * hideable {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_follows_from_what_was_seen() {
        let count = |both_ways, overlaps_kernels| Engines { both_ways, overlaps_kernels }.count();
        assert_eq!(count(Some(true), Some(true)), Some(2));
        assert_eq!(count(Some(false), Some(true)), Some(1));
        assert_eq!(count(Some(false), Some(false)), Some(0));
        assert_eq!(count(None, Some(true)), None);
        assert_eq!(count(Some(false), None), None);
    }
}
