//! What the kernels of a run took: the rounds of each that every one of them got right.

use crate::kernel_counts::{Kernel, KernelCounts};
use gpubench_analysis::fit::{Launch, OwnRoofs};
use gpubench_analysis::{Aggregate, aggregate, aggregate_numbered};
use gpubench_core::gpu::{DeviceInfo, DeviceKind};
use gpubench_core::record::Record;
use gpubench_emulator::Rules;
use gpubench_stats::{geometric_mean, median_of, most_stable_quantile, quantile};

/// Whether models can be fitted to the run: it measured kernels.
pub(in crate::cmd) fn has_kernels(records: &[Record]) -> bool {
    aggregate(records).iter().any(is_kernel)
}

/// The kernels of a device that models are fitted to.
pub(in crate::cmd) fn kernels(records: &[Record], device: usize) -> Vec<Aggregate<'_>> {
    let own = records.iter().filter(|record| record.device == device);
    let mut cases = aggregate_numbered(own.map(|record| (device, record)));
    cases.retain(is_kernel);
    cases
}

/// Whether it is a kernel's time that models are fitted to. What `measure: launch` times is an empty
/// launch from call to end: no kernel.
fn is_kernel(case: &Aggregate) -> bool {
    case.key.measure.is_kernel() && case.exclusion.is_none()
}

/// Every verified kernel of a device (its number and itself): the quantile of its samples that is
/// [`most_stable_quantile`] on the device, at its [`usual_seconds`].
pub(in crate::cmd) fn launches(
    records: &[Record],
    (number, device): (usize, &DeviceInfo),
    kernel_counts: &mut KernelCounts,
    rules: Rules,
) -> Vec<Launch> {
    let kernels = kernels(records, number);
    let samples = kernels.iter().flat_map(Aggregate::rounds);
    let quantile = most_stable_quantile(samples.map(|measured| measured.samples.as_slice()));
    let estimator = TimeEstimator { quantile, usual: usual_seconds(&kernels, device.kind) };
    let known: Vec<Kernel> =
        kernels.iter().filter_map(|case| Kernel::of(case.described_by())).collect();
    kernel_counts.count(&known, &[rules]);
    let roofs = OwnRoofs::of(&kernels);
    let timed = kernels.iter().filter_map(|case| {
        let seconds = estimator.seconds(case)?;
        let first = case.rounds().next()?;
        let kernel = Kernel::of(case.described_by())?;
        let (counted, own_roof) = (kernel_counts.of(&kernel, rules), roofs.under(case));
        let (key, operations, bytes) = (case.key.clone(), first.flops, first.bytes);
        let known = kernel_counts.launch(&kernel);
        let (kernel, passes, buffers) = known.map_or_else(
            || (key.workload.clone(), 1.0, bytes),
            |known| (known.kernel, known.passes, known.buffers),
        );
        Some(Launch { key, kernel, passes, operations, bytes, buffers, own_roof, counted, seconds })
    });
    timed.collect()
}

/// A reference kernel that took more than this many times longer than usual, or shorter, was disturbed itself and is ignored.
const MAX_SLOWDOWN: f64 = 4.0;

/// How a device's times are estimated.
struct TimeEstimator {
    /// Of the samples of a round.
    quantile: f64,
    /// What [`usual_seconds`] says.
    usual: Option<f64>,
}

impl TimeEstimator {
    /// The geometric mean of the rounds' quantiles, each over how many times longer than usual everything
    /// took then.
    fn seconds(&self, case: &Aggregate) -> Option<f64> {
        let rounds = case.shown().filter_map(|(record, measured)| {
            let mut sorted = measured.samples.clone();
            sorted.sort_by(f64::total_cmp);
            let seconds = quantile(&sorted, self.quantile);
            (!seconds.is_nan()).then(|| seconds / self.slowness(record))
        });
        geometric_mean(&rounds.collect::<Vec<_>>())
    }

    /// How many times longer than usual everything took around a record.
    fn slowness(&self, record: &Record) -> f64 {
        let slowness = self.usual.zip(reference_kernel(record)).map(|(usual, then)| then / usual);
        slowness.filter(|times| (1.0 / MAX_SLOWDOWN..=MAX_SLOWDOWN).contains(times)).unwrap_or(1.0)
    }
}

/// How fast a device usually is in a run: seconds of the reference kernel, the small kernel between cases. On the
/// host's own processor whoever else uses it slows kernels and reference kernel alike, by half for minutes; times
/// are scaled as if it had always been at its usual speed. A GPU that lowers its clock takes longer for
/// what computes only, and nothing else runs on it: its times stay as they were measured.
fn usual_seconds(kernels: &[Aggregate], kind: DeviceKind) -> Option<f64> {
    let records = kernels.iter().flat_map(Aggregate::shown).map(|(record, _)| record);
    median_of(records.filter_map(reference_kernel)).filter(|_| kind == DeviceKind::Cpu)
}

/// Seconds of the reference kernel around a record: the geometric mean of before and after.
fn reference_kernel(record: &Record) -> Option<f64> {
    let [before, after] = record.monitor.reference_kernel?;
    Some((before * after).sqrt()).filter(|s| *s > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::{Monitor, Outcome, sample};

    fn record(n: i64, seconds: f64, reference_kernel: Option<[f64; 2]>) -> Record {
        let monitor = Monitor { reference_kernel, ..Monitor::default() };
        Record { monitor, ..sample::record(sample::key("sepia", n), seconds) }
    }

    #[test]
    fn a_busy_processor_is_corrected_to_its_usual_speed() {
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
            let estimator = TimeEstimator { quantile: 0.5, usual: usual_seconds(&kernels, kind) };
            kernels.iter().map(|case| estimator.seconds(case).unwrap()).collect::<Vec<_>>()
        };
        let near = |estimates: Vec<f64>, wanted: [f64; 4]| {
            estimates
                .iter()
                .zip(wanted)
                .for_each(|(t, w)| assert!((t / w - 1.0).abs() < 1e-9, "{estimates:?}"));
        };
        near(all(DeviceKind::Cpu), [1.0, 3.0, 1.0, 5.0]);
        near(all(DeviceKind::Discrete), [2f64.sqrt(), 3.0, 1.0, 5.0]);
    }

    #[test]
    fn what_is_slowed_now_and_then_is_summarised_by_its_stable_samples() {
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
        let estimator = TimeEstimator { quantile: most_stable_quantile(samples), usual: None };
        let all: Vec<f64> = kernels.iter().map(|case| estimator.seconds(case).unwrap()).collect();
        assert_eq!(all, [1.0; 3]);
        // What is shown beside what was predicted is the median, as everywhere else.
        assert_eq!(kernels[0].time.map(|time| time.value), Some(1.5));
    }

    #[test]
    fn a_case_that_failed_in_any_round_is_not_fitted_to() {
        let timeout = || Outcome::Timeout("launch".into());
        let crash = || Outcome::Crash { how: "killed by SIGSEGV".into(), stderr: vec![] };
        let mut records = vec![record(1, 1.0, None), record(2, 1.0, None)];
        for failed in [[timeout(), crash()], [crash(), timeout()]] {
            records.truncate(2);
            records.extend(failed.map(|outcome| sample::outcome(sample::key("sepia", 1), outcome)));
            let left = kernels(&records, 0);
            assert_eq!(left.iter().map(|case| case.key).collect::<Vec<_>>(), [&records[1].key]);
            assert!(has_kernels(&records) && !has_kernels(&records[2..]));
        }
    }
}
