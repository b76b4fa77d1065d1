//! A run's cases as a comparison and a baseline ask for them: by device and key, without the samples.

use super::aggregate::{Aggregate, group};
use super::device_speed::DeviceSpeed;
use gpubench_core::gpu::{BoundsChecks, DeviceInfo};
use gpubench_core::record::{Flag, Grade, Header, Measured, Outcome, Record};
use gpubench_core::workload::CaseKey;
use gpubench_stats::{Summary, geometric_mean};
use std::collections::BTreeMap;

/// Everything a run says of one device.
#[derive(Clone, Debug)]
pub struct DeviceCases {
    /// The device.
    pub device: DeviceInfo,
    /// Its cases by key.
    pub cases: BTreeMap<CaseKey, CaseResult>,
    /// How fast it was.
    pub speed: DeviceSpeed,
}

/// One case on one device over all rounds: what its [`Aggregate`] says.
#[derive(Clone, Debug)]
pub struct CaseResult {
    /// The worst outcome of all rounds.
    pub outcome: Outcome,
    /// Median of each round that was measured.
    pub medians: Vec<f64>,
    /// The numbers of these rounds.
    pub rounds: Vec<u32>,
    /// Which ranking family it counts in.
    pub family: String,
    /// Operations of one launch.
    pub flops: f64,
    /// Bytes of one launch or copy.
    pub bytes: f64,
    /// Hash of the kernel as built; `None` where its variant was searched for, and for transfers.
    pub kernel_hash: Option<String>,
    /// Whether the API checked accesses.
    pub bounds_checks: Option<BoundsChecks>,
    /// The flags of all rounds, each once.
    pub flags: Vec<Flag>,
    /// The worst of them.
    pub grade: Option<Grade>,
}

impl CaseResult {
    /// Seconds over all rounds: the geometric mean of their medians; `None` where a round is not right.
    pub fn seconds(&self) -> Option<f64> {
        let is_right = self.outcome.is_ok() && self.grade != Some(Grade::Hidden);
        geometric_mean(&self.medians).filter(|_| is_right)
    }
}

/// A run's records by device and case.
pub fn collect<'a>(
    header: &Header,
    records: impl IntoIterator<Item = &'a Record>,
) -> Vec<DeviceCases> {
    let records: Vec<&Record> = records.into_iter().collect();
    let without = |(place, device): (usize, &DeviceInfo)| DeviceCases {
        device: device.clone(),
        cases: [].into(),
        speed: DeviceSpeed::of(records.iter().copied().filter(|record| record.device == place)),
    };
    let mut devices: Vec<DeviceCases> = header.devices.iter().enumerate().map(without).collect();
    let numbered = records.iter().map(|record| (record.device, *record));
    for case in group(numbered) {
        if let Some(device) = devices.get_mut(case.device) {
            device.cases.insert(case.key.clone(), CaseResult::from(&case));
        }
    }
    devices
}

impl From<&Aggregate<'_>> for CaseResult {
    fn from(case: &Aggregate) -> Self {
        let measured = || case.records.iter().filter_map(|record| record.measured.as_ref());
        let work = |of: fn(&Measured) -> f64| measured().next().map_or(0.0, of);
        let median = |record: &&Record| {
            let summary = Summary::of(&record.measured.as_ref()?.samples)?;
            Some((record.round, summary.median))
        };
        let (rounds, medians) = case.records.iter().filter_map(median).unzip();
        let kernel = case.kernel();
        Self {
            outcome: case.outcome.clone(),
            medians,
            rounds,
            family: case.family.to_owned(),
            flops: work(|measured| measured.flops),
            bytes: work(|measured| measured.bytes),
            kernel_hash: kernel.and_then(|built| built.fixed_hash()).map(str::to_owned),
            bounds_checks: kernel.map(|built| built.bounds_checks),
            flags: case.flags.iter().map(|flag| (*flag).clone()).collect(),
            grade: case.grade(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample::{device, header, key, outcome, record};

    #[test]
    fn a_case_is_its_rounds_on_its_device() {
        let header = header(vec![device("opencl"), device("wgpu")]);
        let of = |round, seconds| Record { round, ..record(key("a", 1), seconds) };
        let mut flagged = of(1, 3e-3);
        flagged.flags = vec![Flag::FewSamples, Flag::NotConverged];
        let mut first = of(0, 1e-3);
        first.flags = vec![Flag::NotConverged];
        let other = Record { device: 1, ..of(0, 7e-3) };
        let failed = outcome(key("b", 2), Outcome::Failed("why".into()));
        let stray = Record { device: 2, ..of(0, 9e-3) };
        let all = collect(&header, &[first, flagged, other, failed, stray]);
        assert_eq!(all.len(), 2, "a record of no device of the header counts nowhere");
        assert_eq!(
            (all[0].device.backend.as_str(), all[1].device.backend.as_str()),
            ("opencl", "wgpu")
        );
        let case = &all[0].cases[&key("a", 1)];
        assert_eq!((&case.outcome, &case.medians[..]), (&Outcome::Ok, &[1e-3, 3e-3][..]));
        assert_eq!((case.flops, case.bytes), (1e6, 4e6));
        assert_eq!(case.flags, [Flag::NotConverged, Flag::FewSamples], "each once");
        assert_eq!(
            case.grade,
            [Flag::NotConverged, Flag::FewSamples].iter().map(Flag::grade).max()
        );
        assert_eq!((case.kernel_hash.as_deref(), case.bounds_checks), (None, None));
        assert_eq!(all[1].cases[&key("a", 1)].medians, [7e-3]);
        let failed = &all[0].cases[&key("b", 2)];
        assert!(failed.outcome.is_failure() && failed.medians.is_empty());
        assert_eq!((failed.flops, failed.bytes), (0.0, 0.0));
    }

    #[test]
    fn a_device_has_the_speed_of_its_own_records() {
        let header = header(vec![device("opencl"), device("wgpu")]);
        let of = |device, seconds| {
            let mut record = Record { device, ..record(key("a", 1), 1.0) };
            record.monitor.reference_kernel = Some([9.0, seconds]);
            record
        };
        let all = collect(&header, &[of(0, 2.0), of(1, 3.0)]);
        let seconds = |cases: &DeviceCases| cases.speed.compute.unwrap().seconds;
        assert!((seconds(&all[0]) - 2.0).abs() < 1e-12 && (seconds(&all[1]) - 3.0).abs() < 1e-12);
    }
}
