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
    let (half, quarter) = (until_share(windows, 0.5), until_share(windows, 0.75));
    let (first, last) = (of(&windows[..count])?, of(&windows[half..])?);
    // Where a launch took a whole quarter, nothing shows that it settled.
    let quarters = of(&windows[half..quarter]).zip(of(&windows[quarter..]));
    let [low, high] = [first.interval[0] / last.interval[1], first.interval[1] / last.interval[0]];
    Some(SustainSummary {
        kept: first.median / last.median,
        kept_interval: (first.count >= MIN_WINDOWS).then_some([low, high]),
        steady: quarters
            .is_some_and(|(third, fourth)| (fourth.median / third.median - 1.0).abs() < STEADY),
        first,
        last,
    })
}

/// How many windows ended in this share of the time; the first of them are shorter than the others.
pub(super) fn until_share(windows: &[Window], share: f64) -> usize {
    let end = windows.last().map_or(0.0, |window| share * window.at);
    windows.partition_point(|window| window.at <= end)
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
    fn half_of_the_run_is_half_of_its_time() {
        let short = (1..=40).map(|i| 0.25 * f64::from(i));
        let ends = short.chain((1..=60).map(|i| 10.0 + 1.5 * f64::from(i)));
        let windows: Vec<_> = ends.map(|at| Window { at, ..Window::default() }).collect();
        // The last ends at 100 s: 40 windows in 10 s, and 26 in 39 s.
        assert_eq!([0.5, 1.0].map(|share| until_share(&windows, share)), [66, 100]);
    }

    #[test]
    fn a_launch_of_a_whole_quarter_leaves_a_rate() {
        let mut stalled = run(|_| 1e-3);
        stalled.windows.retain(|window| window.at <= 50.0 || window.at > 80.0);
        let summary = sustain(&stalled).unwrap();
        assert_eq!((summary.last.median, summary.steady), (1e-3, false));
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
