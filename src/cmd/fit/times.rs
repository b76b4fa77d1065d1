//! What the kernels of a run took: its rounds put together.

use crate::counting::{Kernel, Works};
use gpubench_analysis::fit::Launch;
use gpubench_core::gpu::{DeviceInfo, DeviceKind};
use gpubench_core::record::{Flag, Record};
use gpubench_core::workload::{CaseKey, Measure};
use gpubench_emulator::Rules;
use gpubench_stats::{geometric_mean, median_of, quantile, steadiest};
use std::collections::BTreeMap;

/// Whether it is a kernel's time that models are fitted to. What `measure: launch` times is an empty
/// launch from call to end: no kernel.
pub(in crate::cmd) fn is_kernel(record: &Record) -> bool {
    record.key.measure == Measure::Kernel
        && record.outcome.is_ok()
        && !record.flags.iter().any(Flag::is_implausible)
}

/// Every verified kernel of a device (its number and itself): the quantile of its samples that is
/// [`steadiest`] on the device, at its usual [pace](Pace).
pub(in crate::cmd) fn launches(
    records: &[Record],
    (number, device): (usize, &DeviceInfo),
    works: &mut Works,
    rules: Rules,
) -> Vec<Launch> {
    let kernels = kernels(records, number);
    let samples = kernels.values().flatten().filter_map(|record| record.measured.as_ref());
    let told = Told {
        quantile: steadiest(samples.map(|measured| measured.samples.as_slice())),
        pace: Pace::of(&kernels, device.kind),
    };
    let known: Vec<Kernel> =
        kernels.values().filter_map(|records| Kernel::of(records[0])).collect();
    works.count(&known, &[rules]);
    let launch =
        |(key, records): (CaseKey, Vec<&Record>)| launch(key, &records, &told, works, rules);
    kernels.into_iter().filter_map(launch).collect()
}

/// The verified records of a device's kernels.
pub(in crate::cmd) fn kernels(
    records: &[Record],
    device: usize,
) -> BTreeMap<CaseKey, Vec<&Record>> {
    let mut kernels: BTreeMap<CaseKey, Vec<&Record>> = BTreeMap::new();
    for record in records.iter().filter(|r| r.device == device && is_kernel(r)) {
        kernels.entry(record.key.clone()).or_default().push(record);
    }
    kernels
}

/// The geometric mean of the records' medians.
pub(in crate::cmd) fn seconds(records: &[&Record]) -> Option<f64> {
    Told { quantile: 0.5, pace: Pace(None) }.seconds(records)
}

/// How a device's times are told.
struct Told {
    /// Of the samples of a record.
    quantile: f64,
    pace: Pace,
}

impl Told {
    /// The geometric mean of the records' quantiles, each over how many times longer than usual everything took
    /// then.
    fn seconds(&self, records: &[&Record]) -> Option<f64> {
        let one = |record: &&Record| {
            let mut sorted = record.measured.as_ref()?.samples.clone();
            sorted.sort_by(f64::total_cmp);
            let seconds = quantile(&sorted, self.quantile);
            (!seconds.is_nan()).then(|| seconds / self.pace.slowness(record))
        };
        geometric_mean(&records.iter().filter_map(one).collect::<Vec<_>>())
    }
}

fn launch(
    key: CaseKey,
    records: &[&Record],
    told: &Told,
    works: &Works,
    rules: Rules,
) -> Option<Launch> {
    let seconds = told.seconds(records)?;
    let first = records.iter().find_map(|record| record.measured.as_ref())?;
    let kernel = Kernel::of(records[0])?;
    let counted = works.of(&kernel, rules);
    let (operations, bytes) = (first.flops, first.bytes);
    Some(match works.launch(&kernel) {
        Some(known) => Launch { key, operations, bytes, counted, seconds, ..known },
        None => {
            let kernel = key.workload.clone();
            Launch { key, kernel, passes: 1.0, operations, bytes, buffers: bytes, counted, seconds }
        }
    })
}

/// A sentinel that took more than so many times longer than usual, or shorter, was disturbed itself and tells nothing.
const MOST: f64 = 4.0;

/// How fast a device usually is in a run: seconds of the sentinel, the small kernel between cases. On the
/// host's own processor whoever else uses it slows kernels and sentinel alike, by half for minutes; times
/// are told as if it had always been at its usual pace. A GPU that lowers its clock takes longer for
/// what computes only, and nothing else runs on it: its times stay as they were measured.
struct Pace(Option<f64>);

impl Pace {
    fn of(kernels: &BTreeMap<CaseKey, Vec<&Record>>, kind: DeviceKind) -> Self {
        let beside = kernels.values().flatten().filter_map(|record| sentinel(record));
        Self(median_of(beside).filter(|_| kind == DeviceKind::Cpu))
    }

    /// How many times longer than usual everything took around a record.
    fn slowness(&self, record: &Record) -> f64 {
        let slowness = self.0.zip(sentinel(record)).map(|(usual, then)| then / usual);
        slowness.filter(|times| (1.0 / MOST..=MOST).contains(times)).unwrap_or(1.0)
    }
}

/// Seconds of the sentinel around a record: the geometric mean of before and after.
fn sentinel(record: &Record) -> Option<f64> {
    let [before, after] = record.monitor.sentinel?;
    Some((before * after).sqrt()).filter(|s| *s > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::{Monitor, sample};

    fn record(n: i64, seconds: f64, sentinel: Option<[f64; 2]>) -> Record {
        let monitor = Monitor { sentinel, ..Monitor::default() };
        Record { monitor, ..sample::record(sample::key("sepia", n), seconds) }
    }

    #[test]
    fn a_busy_processor_is_put_at_its_usual_pace() {
        let records = [
            record(1, 1.0, Some([2e-4; 2])),
            record(1, 2.0, Some([4e-4; 2])),
            record(2, 3.0, None),
        ];
        let disturbed = record(4, 5.0, Some([2e-4, 2e-1]));
        let all = |kind: DeviceKind| {
            let mut with_usual = records.to_vec();
            with_usual.push(record(3, 1.0, Some([1e-4, 4e-4])));
            with_usual.push(record(3, 1.0, Some([2e-4; 2])));
            with_usual.push(disturbed.clone());
            let kernels = kernels(&with_usual, 0);
            let told = Told { quantile: 0.5, pace: Pace::of(&kernels, kind) };
            kernels.values().map(|records| told.seconds(records).unwrap()).collect::<Vec<_>>()
        };
        let near = |told: Vec<f64>, wanted: [f64; 4]| {
            told.iter()
                .zip(wanted)
                .for_each(|(t, w)| assert!((t / w - 1.0).abs() < 1e-9, "{told:?}"));
        };
        near(all(DeviceKind::Cpu), [1.0, 3.0, 1.0, 5.0]);
        near(all(DeviceKind::Discrete), [2f64.sqrt(), 3.0, 1.0, 5.0]);
    }

    #[test]
    fn what_is_slowed_now_and_then_is_told_by_its_steady_samples() {
        let slowed = |n: i64, slow: [usize; 2], times: f64| {
            let mut record = record(n, 1.0, None);
            let samples = &mut record.measured.as_mut().unwrap().samples;
            samples[..slow[0]].fill(times);
            samples[20 - slow[1]..].fill(2.0 * times);
            record
        };
        let records = [slowed(1, [3, 7], 2.0), slowed(2, [6, 2], 3.0), slowed(3, [2, 7], 4.0)];
        let kernels = kernels(&records, 0);
        let samples = records.iter().map(|r| r.measured.as_ref().unwrap().samples.as_slice());
        let told = Told { quantile: steadiest(samples), pace: Pace(None) };
        let all: Vec<f64> = kernels.values().map(|r| told.seconds(r).unwrap()).collect();
        assert_eq!(all, [1.0; 3]);
        // What is shown beside what was foreseen is the median, as everywhere else.
        assert_eq!(seconds(&[&records[0]]), Some(1.5));
    }
}
