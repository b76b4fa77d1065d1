//! How a device's cases went over many runs: steady, in steps, or sliding.

use crate::DeviceCases;
use gpubench_core::record::Past;
use gpubench_core::workload::CaseKey;
use gpubench_stats::{Trend, change_points, step_scatter};
use serde::Serialize;
use std::collections::BTreeMap;

/// Fewer runs show neither a step nor a slide.
pub const MIN_RUNS: usize = 6;
/// Logarithms of times scatter by no less, whatever a few runs show.
const MIN_SCATTER: f64 = 1e-4;
/// A change by less is none.
const TOLERANCE: f64 = 0.01;
/// The rate of false alarms for slides, over all cases.
const FALSE_SLIDES: f64 = 0.05;
const DAYS_A_WEEK: f64 = 7.0;

/// A run as its history keeps it.
pub fn past(started: &str, cases: &DeviceCases) -> Past {
    let mean = |medians: &[f64]| {
        (medians.iter().map(|m| m.ln()).sum::<f64>() / medians.len() as f64).exp()
    };
    let right = cases.cases.iter().filter(|(_, case)| case.seconds().is_some());
    let seconds = right.map(|(key, case)| (key.clone(), mean(&case.medians)));
    Past {
        started: started.to_owned(),
        driver: cases.device.driver.clone(),
        compute: cases.speed.compute.map(|reading| reading.seconds),
        memory: cases.speed.memory.map(|reading| reading.seconds),
        cases: seconds.filter(|(_, seconds)| seconds.is_finite() && *seconds > 0.0).collect(),
    }
}

/// What a history is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum HistoryOf {
    /// The reference kernel that computes: the device's own speed.
    Compute,
    /// The reference kernel that streams through memory.
    Memory,
    /// A case.
    Case(CaseKey),
}

/// How something went over the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct History {
    /// Of what.
    pub of_what: HistoryOf,
    /// Runs that have it.
    pub runs: usize,
    /// Seconds in the first and in the last of them.
    pub seconds: [f64; 2],
    /// How it went.
    pub trajectory: Trajectory,
}

/// How a time went.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Trajectory {
    /// There are too few runs to say.
    Unknown,
    /// It stayed.
    Steady,
    /// It changed at once, that often.
    Steps(Vec<Step>),
    /// It changed little by little: so much a week, 0.01 is 1 % slower.
    Slide(f64),
}

/// A change at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Step {
    /// The first run behind it: a position among all runs.
    pub run: usize,
    /// The time behind it over the time before.
    pub ratio: f64,
}

/// Of runs in the order of time, each with the day of its beginning.
pub fn histories(runs: &[(f64, &Past)]) -> Vec<History> {
    let mut series: BTreeMap<HistoryOf, Vec<(usize, f64)>> = BTreeMap::new();
    for (place, (_, past)) in runs.iter().enumerate() {
        let mut add = |of_what, seconds: f64| {
            series.entry(of_what).or_default().push((place, seconds));
        };
        past.compute.into_iter().for_each(|seconds| add(HistoryOf::Compute, seconds));
        past.memory.into_iter().for_each(|seconds| add(HistoryOf::Memory, seconds));
        past.cases.iter().for_each(|(key, seconds)| add(HistoryOf::Case(key.clone()), *seconds));
    }
    let days: Vec<f64> = runs.iter().map(|(day, _)| *day).collect();
    let count = series.len() as f64;
    let one = |(of_what, values): (HistoryOf, Vec<(usize, f64)>)| History {
        of_what,
        runs: values.len(),
        seconds: [values[0].1, values[values.len() - 1].1],
        trajectory: trajectory(&values, &days, count),
    };
    series.into_iter().map(one).collect()
}

/// Of one among `count` series.
fn trajectory(values: &[(usize, f64)], days: &[f64], count: f64) -> Trajectory {
    if values.len() < MIN_RUNS {
        return Trajectory::Unknown;
    }
    let logs: Vec<f64> = values.iter().map(|(_, seconds)| seconds.ln()).collect();
    let scatter = step_scatter(&logs).unwrap_or(0.0).max(MIN_SCATTER);
    let penalty = (5.0 * (logs.len() as f64).ln() + 2.0 * count.ln()) * scatter * scatter;
    let starts = change_points(&logs, penalty);
    let times: Vec<(f64, f64)> =
        values.iter().zip(&logs).map(|((run, _), log)| (days[*run] / DAYS_A_WEEK, *log)).collect();
    if let Some(slope) = slide(&times, count) {
        let in_steps = about_means(&logs, &starts) + penalty * starts.len() as f64;
        if about_line(&times, &slope) + penalty <= in_steps {
            return Trajectory::Slide(slope.slope.exp_m1());
        }
    }
    let means = means(&logs, &starts);
    let steps = starts.iter().zip(means.windows(2));
    let steps =
        steps.map(|(&start, pair)| Step { run: values[start].0, ratio: (pair[1] - pair[0]).exp() });
    let steps: Vec<Step> = steps.filter(|step| step.ratio.ln().abs() > TOLERANCE.ln_1p()).collect();
    if steps.is_empty() { Trajectory::Steady } else { Trajectory::Steps(steps) }
}

/// A line that noise hardly brings about, and that matters over the whole time.
fn slide(times: &[(f64, f64)], count: f64) -> Option<Trend> {
    let trend = Trend::through(times)?;
    let weeks = times.last()?.0 - times.first()?.0;
    let matters = (trend.slope * weeks).abs() > TOLERANCE.ln_1p();
    (matters && trend.p_value * count <= FALSE_SLIDES).then_some(trend)
}

fn segments<'a>(logs: &'a [f64], starts: &[usize]) -> impl Iterator<Item = &'a [f64]> {
    let begins: Vec<usize> = std::iter::once(0).chain(starts.iter().copied()).collect();
    let ends: Vec<usize> = starts.iter().copied().chain([logs.len()]).collect();
    begins.into_iter().zip(ends).map(|(begin, end)| &logs[begin..end])
}

fn means(logs: &[f64], starts: &[usize]) -> Vec<f64> {
    segments(logs, starts).map(|part| part.iter().sum::<f64>() / part.len() as f64).collect()
}

/// The sum of squares about the segments' means.
fn about_means(logs: &[f64], starts: &[usize]) -> f64 {
    let squares =
        |(part, mean): (&[f64], f64)| part.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
    segments(logs, starts).zip(means(logs, starts)).map(squares).sum()
}

/// The sum of squares about a line.
fn about_line(times: &[(f64, f64)], line: &Trend) -> f64 {
    let square = |(time, log): &(f64, f64)| (log - line.intercept - line.slope * time).powi(2);
    times.iter().map(square).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect;
    use gpubench_core::record::sample::{device, header, key, outcome, record};
    use gpubench_core::record::{Grade, Outcome, Record};

    /// Weekly runs of cases that scatter by a percent, each with its own factor at a week.
    fn weekly(
        weeks: usize,
        cases: i64,
        factor: impl Fn(i64, usize) -> f64,
        seed: u64,
    ) -> Vec<Past> {
        let mut state = seed;
        let mut noise = || {
            let mut next = || {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as f64 / (1_u64 << 31) as f64
            };
            (0..12).map(|_| next()).sum::<f64>() - 6.0
        };
        let run = |week: usize| Past {
            started: String::new(),
            driver: "1.0".into(),
            compute: None,
            memory: None,
            cases: (0..cases)
                .map(|n| (key("a", n), 1e-3 * factor(n, week) * (0.01 * noise()).exp()))
                .collect(),
        };
        (0..weeks).map(run).collect()
    }

    fn trajectories(runs: &[Past]) -> Vec<Trajectory> {
        let dated: Vec<(f64, &Past)> =
            runs.iter().enumerate().map(|(week, past)| (7.0 * week as f64, past)).collect();
        histories(&dated).into_iter().map(|history| history.trajectory).collect()
    }

    #[test]
    fn a_slow_slide_of_a_percent_a_week_is_found() {
        let slides = |n: i64, week: usize| if n == 3 { 1.01f64.powi(week as i32) } else { 1.0 };
        let found = (0..20).filter(|&seed| {
            let trajectories = trajectories(&weekly(16, 40, slides, seed));
            matches!(trajectories[3], Trajectory::Slide(by) if (by - 0.01).abs() < 0.004)
        });
        let found = found.count();
        assert!(found >= 18, "{found} of 20");
    }

    #[test]
    fn a_step_is_found_at_its_run() {
        let steps = |n: i64, week: usize| if n == 3 && week >= 9 { 1.08 } else { 1.0 };
        let found = (0..20).filter(|&seed| match &trajectories(&weekly(16, 40, steps, seed))[3] {
            Trajectory::Steps(steps) => {
                steps.len() == 1 && steps[0].run == 9 && (steps[0].ratio - 1.08).abs() < 0.02
            }
            _ => false,
        });
        let found = found.count();
        assert!(found >= 18, "{found} of 20");
    }

    #[test]
    fn what_stays_is_steady_in_nineteen_histories_of_twenty() {
        let all = (0..40).map(|seed| trajectories(&weekly(20, 40, |_, _| 1.0, seed)));
        let alarms = all
            .filter(|all| all.iter().any(|trajectory| *trajectory != Trajectory::Steady))
            .count();
        assert!(alarms <= 4, "{alarms} of 40 histories of 40 cases");
        assert_eq!(trajectories(&weekly(5, 1, |_, _| 1.0, 1)), [Trajectory::Unknown]);
    }

    #[test]
    fn a_slide_must_matter_and_be_no_luck() {
        let line = |slope: f64, noise: f64| {
            let at = |week: usize| {
                let sign = if week.is_multiple_of(2) { 1.0 } else { -1.0 };
                (week as f64, slope * week as f64 + noise * sign)
            };
            slide(&(0..12).map(at).collect::<Vec<_>>(), 1.0).is_some()
        };
        assert!(line(0.01, 0.001));
        assert!(!line(1e-6, 0.0), "clear and of no matter");
        assert!(!line(0.002, 0.1), "noise");
    }

    #[test]
    fn a_run_is_remembered_by_the_means_of_its_verified_cases() {
        let of = |round, seconds, around: f64| {
            let mut record = Record { round, ..record(key("a", 1), seconds) };
            record.monitor.reference_kernel = Some([9.0, around]);
            record.monitor.memory_kernel = Some(4.0 * around);
            record
        };
        let failed = outcome(key("b", 1), Outcome::Failed("why".into()));
        let (zero, hidden) = (record(key("c", 1), 0.0), record(key("d", 1), 1.0));
        let header = header(vec![device("opencl")]);
        let records = [of(0, 1e-3, 2.0), of(1, 4e-3, 2.0), failed, zero, hidden];
        let mut cases = collect(&header, &records).remove(0);
        cases.cases.get_mut(&key("d", 1)).unwrap().grade = Some(Grade::Hidden);
        let past = past("then", &cases);
        let [(name, seconds)] = &past.cases[..] else { panic!("{past:?}") };
        assert!(*name == key("a", 1) && (seconds - 2e-3).abs() < 1e-12, "{past:?}");
        assert_eq!((past.started.as_str(), past.driver.as_str()), ("then", "1.0"));
        let [compute, memory] = [past.compute, past.memory].map(Option::unwrap);
        assert!((compute - 2.0).abs() < 1e-12 && (memory - 8.0).abs() < 1e-12, "{past:?}");
    }

    #[test]
    fn segments_have_means_and_squares_about_them() {
        let logs = [0.0, 1.0, 10.0, 12.0];
        assert_eq!(means(&logs, &[2]), [0.5, 11.0]);
        assert_eq!((about_means(&logs, &[2]), about_means(&logs[..2], &[])), (2.5, 0.5));
    }

    #[test]
    fn six_runs_are_enough_to_say() {
        assert_eq!(trajectories(&weekly(6, 1, |_, _| 1.0, 1)), [Trajectory::Steady]);
    }

    #[test]
    fn a_slide_is_evaluated_by_its_own_time_and_among_all() {
        let rising = |runs: u32, first: f64, slope: f64, count: f64| {
            let at = |run: u32| (first + f64::from(run), slope * f64::from(run));
            slide(&(0..runs).map(at).collect::<Vec<_>>(), count).is_some()
        };
        // Half a percent over eleven weeks, however late they are.
        assert!(!rising(12, 100.0, 5e-4, 1.0) && rising(12, 100.0, 1e-2, 1.0));
        // Six rising runs have a p-value of 0.009: little for one, and not for ten.
        assert!(rising(6, 0.0, 0.01, 1.0) && !rising(6, 0.0, 0.01, 10.0));
    }
}
