//! What a kernel's time settles at, beside its first seconds.

use super::data::{Sustain, Window};
use gpubench_stats::Summary;

/// Seconds that count as the first, at most a tenth of the run.
pub(super) const FIRST: f64 = 10.0;
/// The last two quarters of a steady run differ by less than this.
const STEADY: f64 = 0.02;

/// Windows below which the order statistics of a median's 95 % interval do not exist.
pub(super) const MIN_WINDOWS: usize = 6;

/// What a run shows.
#[derive(Clone, Debug, PartialEq)]
pub struct SustainSummary {
    /// Seconds of a launch in the first seconds of the run.
    pub first: Summary,
    /// Seconds of a launch in the last half of the run.
    pub last: Summary,
    /// The rate of the last half over that of the first seconds.
    pub kept: f64,
    /// What the two medians' 95 % intervals make of it; `None` where the first windows are too few
    /// for one. Of this run's windows: heating makes neighbours alike, so the true one is wider.
    pub kept_interval: Option<[f64; 2]>,
    /// Whether the last two quarters agree.
    pub steady: bool,
}

/// Puts a run together; `None` where it has too few windows to be cut in quarters.
pub fn sustain(raw: &Sustain) -> Option<SustainSummary> {
    const QUARTERS: usize = 4;
    let windows = &raw.windows;
    let end = windows.last()?.at;
    if windows.len() < 2 * QUARTERS {
        return None;
    }
    let until = FIRST.min(end / 10.0);
    let of = |windows: &[Window]| {
        Summary::of(&windows.iter().map(|window| window.seconds).collect::<Vec<_>>())
    };
    let count = windows.iter().take_while(|window| window.at <= until).count().max(1);
    let (half, quarter) = (windows.len() / 2, windows.len() * 3 / 4);
    let (first, last) = (of(&windows[..count])?, of(&windows[half..])?);
    let [third, fourth] = [of(&windows[half..quarter])?, of(&windows[quarter..])?];
    let [low, high] = [first.interval[0] / last.interval[1], first.interval[1] / last.interval[0]];
    Some(SustainSummary {
        kept: first.median / last.median,
        kept_interval: (first.count >= MIN_WINDOWS).then_some([low, high]),
        steady: (fourth.median / third.median - 1.0).abs() < STEADY,
        first,
        last,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::Clock;

    /// A second a window.
    fn run(seconds: impl Fn(usize) -> f64) -> Sustain {
        let window = |i: usize| Window { at: i as f64, seconds: seconds(i), ..Window::default() };
        Sustain { clock: Clock::Device, asked: 100.0, windows: (1..=100).map(window).collect() }
    }

    #[test]
    fn a_device_that_slows_down_and_settles() {
        let summary = sustain(&run(|i| if i <= 30 { 1e-3 } else { 1.25e-3 })).unwrap();
        assert_eq!((summary.first.median, summary.last.median), (1e-3, 1.25e-3));
        assert!((summary.kept - 0.8).abs() < 1e-12 && summary.steady);
        assert_eq!(summary.kept_interval.map(|[low, high]| low <= high), Some(true));
    }

    #[test]
    fn one_that_still_slows_down_is_not_steady() {
        let summary = sustain(&run(|i| 1e-3 * (1.0 + 0.01 * i as f64))).unwrap();
        assert!(!summary.steady && summary.kept < 0.7, "{summary:?}");
    }

    #[test]
    fn a_short_run_says_nothing_and_few_first_windows_no_interval() {
        let mut raw = run(|_| 1e-3);
        raw.windows.truncate(40);
        assert_eq!(sustain(&raw).unwrap().kept_interval, None, "four windows in the first tenth");
        raw.windows.truncate(7);
        assert_eq!(sustain(&raw), None);
        raw.windows.clear();
        assert_eq!(sustain(&raw), None);
    }
}
