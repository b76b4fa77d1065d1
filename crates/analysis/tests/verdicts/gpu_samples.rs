//! The rules on raw samples of real GPUs (tests/data/gpu_samples).

use super::is_changed;
use super::simulate::{key, result};
use gpubench_analysis::{DeviceCases, DeviceSpeed, Options, compare};
use gpubench_core::record::sample;
use gpubench_stats::{Basis, Decision, Overall, Rounds, Summary, WarmUp, median_of, overalls};

const SETS: [&str; 8] = [
    "convolution_a100",
    "convolution_a4000",
    "convolution_mi250x",
    "convolution_w6600",
    "dedispersion_a100",
    "dedispersion_a4000",
    "dedispersion_mi250x",
    "dedispersion_w6600",
];
/// Samples of a series, and how many of them make an interval.
const SERIES: usize = 32;
const FIRST: usize = 15;

/// Milliseconds, one series a configuration.
fn load(set: &str) -> Vec<Vec<f64>> {
    let path = format!("{}/../../tests/data/gpu_samples/{set}.f32", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let values: Vec<f64> = bytes
        .chunks_exact(4)
        .map(|b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])))
        .collect();
    values.chunks_exact(SERIES).map(<[f64]>::to_vec).collect()
}

fn of<'a>(series: impl IntoIterator<Item = &'a [f64]>) -> Vec<Overall> {
    let rounds: Vec<Rounds> = series
        .into_iter()
        .map(|samples| {
            let mut rounds = Rounds::default();
            rounds.add(&Summary::of(samples).expect("there are samples"));
            rounds
        })
        .collect();
    overalls(&rounds).into_iter().map(|time| time.expect("all took time")).collect()
}

/// The rank interval alone: what a round says of itself.
fn alone(samples: &[f64]) -> [f64; 2] {
    Summary::of(samples).expect("there are samples").interval
}

fn percent(hits: impl Iterator<Item = bool>) -> f64 {
    let hits: Vec<bool> = hits.collect();
    100.0 * hits.iter().filter(|hit| **hit).count() as f64 / hits.len() as f64
}

fn middle(samples: &[f64]) -> f64 {
    median_of(samples.iter().copied()).expect("there are samples")
}

/// How often intervals from the first samples hold the median of the rest.
fn held(series: &[Vec<f64>], intervals: impl Iterator<Item = [f64; 2]>) -> f64 {
    percent(series.iter().zip(intervals).map(|(series, [low, high])| {
        let rest = middle(&series[FIRST..]);
        // The samples are rounded to six digits.
        (low * (1.0 - 1e-6)..=high * (1.0 + 1e-6)).contains(&rest)
    }))
}

/// Whether two results with these medians and intervals would be read as different.
fn are_apart(values: [f64; 2], [one, other]: [[f64; 2]; 2]) -> bool {
    let is_disjoint = one[1] < other[0] || other[1] < one[0];
    is_disjoint && (values[0] / values[1]).ln().abs() > 0.01f64.ln_1p()
}

/// Two halves of each series, each in two blocks that count as rounds, by `compare`: how many cases
/// are called changed.
fn by_compare(series: &[Vec<f64>]) -> f64 {
    let run = |half: usize| {
        let case = |(i, samples): (usize, &Vec<f64>)| {
            let blocks = samples[half * SERIES / 2..][..SERIES / 2].chunks(SERIES / 4);
            (key(i), result(blocks.map(middle).collect()))
        };
        let cases = series.iter().enumerate().map(case).collect();
        DeviceCases { device: sample::device("opencl"), cases, speed: DeviceSpeed::default() }
    };
    let rows = compare(&run(0), &run(1), &Options::default()).rows;
    percent(rows.iter().map(|row| is_changed(row.verdict)))
}

/// How many samples the warm-up takes, if the series is long enough for it to end.
fn warm_up(samples: &[f64]) -> Option<usize> {
    let mut warm = WarmUp::new(5.0);
    let decisions = samples.iter().map(|ms| warm.feed(*ms, ms / 1000.0));
    let ended = decisions.into_iter().position(|decision| decision == Decision::Reached);
    ended.map(|last| last + 1)
}

/// Of series whose first sample is 5 % or more above the median: how often the warm-up takes all such
/// first samples. One that does not end within the series takes them all.
fn warm_up_sees(series: &[Vec<f64>]) -> (f64, f64) {
    let slow = |series: &&Vec<f64>| series[0] > 1.05 * middle(series);
    let seen = series.iter().filter(slow).map(|series| {
        let limit = 1.05 * middle(series);
        let first_ones = series.iter().take_while(|sample| **sample > limit).count();
        warm_up(series).is_none_or(|taken| taken >= first_ones)
    });
    (percent(series.iter().map(|series| slow(&series))), percent(seen))
}

/// Of series in which five samples or more follow the warm-up: how often the next five are more than
/// 1 % from the last five of the series.
fn steps_after_it(series: &[Vec<f64>]) -> f64 {
    let left = series.iter().filter_map(|series| series.get(warm_up(series)?..));
    percent(left.filter(|left| left.len() >= WarmUp::BLOCK).map(|left| {
        let (next, last) =
            (middle(&left[..WarmUp::BLOCK]), middle(&left[left.len() - WarmUp::BLOCK..]));
        (last / next).ln().abs() > 0.01f64.ln_1p()
    }))
}

fn half_width(time: &Overall) -> f64 {
    50.0 * (time.interval[1] - time.interval[0]) / time.value
}

/// Whether what the first samples after the warm-up say holds to the end of the series, of those series
/// in which enough are left.
fn after_warm_up(series: &[Vec<f64>]) -> Option<(usize, f64)> {
    let left: Vec<&[f64]> = series
        .iter()
        .filter_map(|series| Some(&series[warm_up(series)?..]))
        .filter(|left| left.len() > FIRST)
        .collect();
    let times = of(left.iter().map(|left| &left[..FIRST]));
    let held = left.iter().zip(times).map(|(left, time)| {
        let [low, high] = time.interval;
        (low * (1.0 - 1e-6)..=high * (1.0 + 1e-6)).contains(&middle(&left[FIRST..]))
    });
    (!left.is_empty()).then(|| (left.len(), percent(held)))
}

#[test]
fn intervals_of_real_gpus_hold_what_comes_next() {
    println!(
        "Raw samples\nseries | by itself: held | halves apart | with drift: held | ± | halves apart \
         | compare | first/median, largest | above 5 % | warm-up takes all of it | steps later | 15 after it: series, held"
    );
    for set in SETS {
        let series = load(set);
        let times = of(series.iter().map(|series| &series[..FIRST]));
        assert!(times.iter().all(|time| time.basis == Basis::Drift));
        let own = held(&series, series.iter().map(|series| alone(&series[..FIRST])));
        let with_drift = held(&series, times.iter().map(|time| time.interval));
        let width = median_of(times.iter().map(half_width)).unwrap_or_default();
        let halves = [0, 1].map(|half| {
            let half = move |series: &Vec<f64>| series[half * SERIES / 2..][..SERIES / 2].to_vec();
            series.iter().map(half).collect::<Vec<_>>()
        });
        let both = halves[0].iter().zip(&halves[1]);
        let own_apart =
            percent(both.map(|(a, b)| are_apart([middle(a), middle(b)], [alone(a), alone(b)])));
        let times = halves.each_ref().map(|half| of(half.iter().map(Vec::as_slice)));
        let both = times[0].iter().zip(&times[1]);
        let apart =
            percent(both.map(|(a, b)| are_apart([a.value, b.value], [a.interval, b.interval])));
        let compared = by_compare(&series);
        let firsts: Vec<f64> = series.iter().map(|series| series[0] / middle(series)).collect();
        let (above, seen) = warm_up_sees(&series);
        let (left, after) = after_warm_up(&series).unwrap_or((0, f64::NAN));
        println!(
            "{set} | {own:.1} | {own_apart:.1} | {with_drift:.1} | {width:.2} | {apart:.1} | {compared:.1} \
             | {:.2}, {:.2} | {above:.1} | {seen:.1} | {:.1} | {left}, {after:.1}",
            median_of(firsts.iter().copied()).unwrap_or_default(),
            firsts.iter().copied().fold(0.0, f64::max),
            steps_after_it(&series),
        );
        assert!(with_drift >= 93.0, "{set}: {with_drift}");
        assert!(apart <= 1.0, "{set}: {apart}");
        // A series that begins with a slow clock for more than ten samples is taken for steady.
        assert!(above == 0.0 || seen >= 90.0, "{set}: {seen}");
    }
}
