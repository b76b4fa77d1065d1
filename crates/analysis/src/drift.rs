//! Cases during which the device was not as fast as it is undisturbed, by the reference kernel around
//! them: what only a whole run tells.
//!
//! Clocks that fall and programs that share a processor make a device slower, nothing makes it faster
//! for long. Undisturbed it is therefore as in the fastest tenth of the run's readings, further up by
//! what the readings' own scatter brings the fastest tenth down.

use super::derived_flags::Flagged;
use super::device_speed::NORMAL_MEDIAN;
use gpubench_core::gpu::DeviceKind;
use gpubench_core::record::Flag;
use gpubench_core::units::fixed;
use gpubench_stats::{median_of, quantile};

/// Smaller changes are none: a clock moves in steps of about one percent. On the host's own processor
/// whatever else runs there moves every figure by more.
pub fn smallest_drift(kind: DeviceKind) -> f64 {
    if kind == DeviceKind::Cpu { 0.1 } else { 0.02 }
}

/// Standard errors beyond which a change is not the readings' own scatter: one case in 400 exceeds it.
const SIGNIFICANT: f64 = 3.0;
/// Of normal values a tenth lie further down than so many deviations.
const TENTH: f64 = 1.2816;

/// Flags those of one device's records whose reference kernel differs from the undisturbed one by more
/// than its own scatter explains, than matters, and than the figure's own interval says already.
pub(super) fn flag<T: Flagged>(records: &mut [&mut T], kind: DeviceKind) {
    let Some(undisturbed) = Undisturbed::of(records, kind) else { return };
    for record in records {
        let Some(around) = around(*record) else { continue };
        record.flags_mut().retain(|flag| !matches!(flag, Flag::Drift(_)));
        let Some(summary) = record.summary() else { continue };
        let change = (around[0] + around[1]) / 2.0 - undisturbed.seconds;
        let explained = SIGNIFICANT * undisturbed.scatter / f64::sqrt(2.0);
        let allowed = smallest_drift(kind).max(explained).max(summary.relative_half_width());
        if change.abs() > allowed.ln_1p() {
            record.flags_mut().push(Flag::Drift(describe(change)));
        }
    }
}

/// The reference kernel on a device that nothing disturbs, in logarithms of seconds.
struct Undisturbed {
    seconds: f64,
    /// Deviation of one reading.
    scatter: f64,
}

impl Undisturbed {
    fn of<T: Flagged>(records: &[&mut T], kind: DeviceKind) -> Option<Self> {
        let ends = || records.iter().filter_map(|record| around(*record));
        // What changes from one end of a case to the other is mostly scatter; what stays is not.
        let steps = ends().map(|[before, after]| (after - before).abs());
        let scatter = median_of(steps)? / NORMAL_MEDIAN / f64::sqrt(2.0);
        let mut began: Vec<f64> = records.iter().filter_map(|record| record.began()).collect();
        began.sort_by(f64::total_cmp);
        began.dedup();
        let began = began.into_iter().map(f64::ln).filter(|began| began.is_finite());
        let first = began.clone().reduce(f64::min);
        let mut readings: Vec<f64> = ends().flatten().chain(began).collect();
        readings.retain(|reading| reading.is_finite());
        readings.sort_by(f64::total_cmp);
        let usual = quantile(&readings, 0.1) + TENTH * scatter;
        // A device that nothing else uses, and that is far slower ever since, was held back all the time.
        let held_back = |first: &f64| kind != DeviceKind::Cpu && usual - first > HELD_BACK.ln_1p();
        Some(Self { seconds: first.filter(held_back).unwrap_or(usual), scatter })
    }
}

/// No device that merely warms up is slower by so much.
const HELD_BACK: f64 = 0.1;

/// Logarithms of the reference kernel's seconds before and after a case.
fn around(record: &impl Flagged) -> Option<[f64; 2]> {
    let logs = record.around()?.map(f64::ln);
    logs.iter().all(|log| log.is_finite()).then_some(logs)
}

fn describe(change: f64) -> String {
    let percent = 100.0 * change.abs().exp_m1();
    match change > 0.0 {
        true => {
            format!("the reference kernel took {} % longer than undisturbed", fixed(percent, 0))
        }
        false => {
            let by = fixed((-change).exp(), 2);
            format!("the reference kernel took 1/{by} of its time undisturbed")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::Record;
    use gpubench_core::record::sample::{key, record};

    #[test]
    fn no_change_runs_over_many_digits() {
        assert_eq!(
            describe(0.5_f64.ln_1p()),
            "the reference kernel took 50 % longer than undisturbed"
        );
        assert_eq!(describe(60.0), "the reference kernel took 1e28 % longer than undisturbed");
        let faster = describe(-60.0);
        assert_eq!(faster, "the reference kernel took 1/1.14e26 of its time undisturbed");
    }

    /// Cases of which each has these readings around it, in units of the undisturbed time.
    fn run(kind: DeviceKind, readings: &[[f64; 2]]) -> Vec<Option<String>> {
        let case = |(n, around): (usize, &[f64; 2])| {
            let mut case = record(key("a", n as i64), 1e-3);
            case.monitor.reference_kernel = Some(around.map(|reading| 3e-4 * reading));
            case.monitor.began = Some(3e-4 * readings[0][0]);
            case
        };
        let mut records: Vec<Record> = readings.iter().enumerate().map(case).collect();
        for _ in 0..2 {
            flag(&mut records.iter_mut().collect::<Vec<_>>(), kind);
        }
        let how = |record: &Record| match record.flags.as_slice() {
            [] => None,
            [Flag::Drift(how)] => Some(how.clone()),
            other => panic!("{other:?}"),
        };
        records.iter().map(how).collect()
    }

    fn count(flags: &[Option<String>]) -> usize {
        flags.iter().flatten().count()
    }

    #[test]
    fn a_device_that_falls_behind_is_flagged_however_slow_the_run_began() {
        let steady = [1.0, 1.002];
        let mut readings = vec![steady; 20];
        readings[7] = [1.002, 1.1];
        readings[8] = [1.1, 1.1];
        readings[9] = [1.1, 1.0];
        let flags = run(DeviceKind::Discrete, &readings);
        assert_eq!(count(&flags), 3);
        let how = flags[8].as_deref().unwrap();
        assert!(how.contains("10 % longer"), "{how}");
        // The moment at which the run began was a bad one: the others are not to blame.
        let mut readings = vec![steady; 20];
        readings[0] = [2.0, 2.0];
        let flags = run(DeviceKind::Discrete, &readings);
        assert!(flags[0].is_some() && count(&flags) == 1, "{flags:?}");
    }

    #[test]
    fn half_a_run_with_another_program_is_flagged() {
        let half = |i| if i < 10 { [1.0, 1.01] } else { [1.9, 1.92] };
        let flags = run(DeviceKind::Cpu, &(0..20).map(half).collect::<Vec<_>>());
        assert!(flags[..10].iter().all(Option::is_none) && count(&flags[10..]) == 10, "{flags:?}");
    }

    /// Microseconds on lavapipe in a quiet hour, as the shipped baseline has them.
    #[test]
    fn what_the_readings_own_scatter_explains_is_no_drift() {
        let quiet = [
            323, 328, 299, 309, 307, 294, 278, 303, 311, 300, 296, 315, 328, 286, 282, 291, 275,
            276, 320, 286, 333, 293, 300, 269, 278, 308, 301, 311, 312, 330, 293, 316, 316, 328,
            305, 292,
        ];
        let readings: Vec<[f64; 2]> =
            quiet.windows(2).map(|pair| [f64::from(pair[0]), f64::from(pair[1])]).collect();
        let flags = run(DeviceKind::Cpu, &readings);
        assert!(
            flags[1..].iter().all(Option::is_none),
            "all but the first, 10 % slower: {flags:?}"
        );
        let mut disturbed = readings;
        disturbed[9] = [460.0, 470.0];
        assert!(run(DeviceKind::Cpu, &disturbed)[9].is_some());
    }

    #[test]
    fn an_interval_that_says_as_much_needs_no_warning() {
        let drifted = |samples: Vec<f64>| {
            let mut records = vec![record(key("a", 1), 1e-3); 20];
            for record in &mut records {
                record.monitor.reference_kernel = Some([3e-4; 2]);
            }
            records[3].monitor.reference_kernel = Some([3.3e-4; 2]);
            records[3].measured.as_mut().unwrap().samples = samples;
            flag(&mut records.iter_mut().collect::<Vec<_>>(), DeviceKind::Discrete);
            records.iter().filter(|record| !record.flags.is_empty()).count()
        };
        assert_eq!(drifted(vec![1e-3; 15]), 1);
        assert_eq!(drifted((10..25).map(|i| 1e-4 * f64::from(i)).collect()), 0);
    }

    /// Readings that do not scatter: what matters is how much a processor, or a GPU, may change.
    #[test]
    fn a_change_that_does_not_matter_is_no_drift() {
        for (kind, little, much) in
            [(DeviceKind::Discrete, 1.015, 1.03), (DeviceKind::Cpu, 1.08, 1.12)]
        {
            for (by, flagged) in [(little, 0), (much, 1)] {
                let mut readings = vec![[1.0; 2]; 20];
                readings[7] = [by; 2];
                assert_eq!(count(&run(kind, &readings)), flagged, "{kind:?} {by}");
            }
        }
    }

    /// Readings rise by 2 % from one end of a case to the other: a deviation of 0.0210, by which a tenth of them lies
    /// 0.0269 below the usual one, and three of which over √2 are 0.0445.
    #[test]
    fn a_change_that_the_readings_scatter_explains_is_no_drift() {
        let rising = |by: f64| [by, by + 0.02].map(f64::exp);
        let flagged = |by| {
            let mut readings = vec![rising(0.0); 20];
            readings[7] = rising(by);
            run(DeviceKind::Discrete, &readings)[7].is_some()
        };
        // Less the usual one these are 0.0331 and 0.0511.
        assert!(!flagged(0.05) && flagged(0.068));
    }

    /// The run began at full speed, and was slower by 30 % from the first case on.
    #[test]
    fn a_device_that_is_held_back_all_the_time_is_as_fast_as_it_began() {
        let mut readings = vec![[1.3; 2]; 20];
        readings[0] = [1.0, 1.3];
        let flags = run(DeviceKind::Discrete, &readings);
        assert_eq!(count(&flags), 20);
        assert!(flags[5].as_deref().unwrap().contains("30 % longer"), "{flags:?}");
        let flags = run(DeviceKind::Cpu, &readings);
        assert!(
            flags[1..].iter().all(Option::is_none),
            "a processor may have been idle then: {flags:?}"
        );
    }
}
