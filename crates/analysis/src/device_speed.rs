//! How fast a device was in a run, by the reference kernels between its cases, and how much of a case's
//! difference between two runs that explains.
//!
//! A case is known to follow the reference kernels where it is one kernel: its time lies between that of
//! arithmetic in registers and that of memory, so its speed lies between theirs. What else a case does
//! (calls, copies, several queues) follows them in part or not at all. Where enough cases of a family run the kernel
//! of before, they say themselves what the machine did to them (`common_shift.rs`).

use super::common_shift::CommonShift;
use gpubench_core::record::Record;
use gpubench_core::workload::CaseKey;
use gpubench_stats::{Difference, median_of, t_quantile};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Standard errors, at least, by which the speeds of two runs differ where that is more than the readings' scatter.
const SIGNIFICANT: f64 = 3.0;
/// Standard errors of the speed that the interval of a corrected ratio is widened by.
const LEFT: f64 = 2.0;

/// Half of all normal values lie within so many deviations.
pub(crate) const NORMAL_MEDIAN: f64 = 0.6745;
/// The variance of a median of normal values over that of their mean.
pub(crate) const MEDIAN_VARIANCE: f64 = std::f64::consts::FRAC_PI_2;

/// How fast a device was in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DeviceSpeed {
    /// By the kernel that computes in registers.
    pub compute: Option<Reading>,
    /// By the kernel that streams through memory.
    pub memory: Option<Reading>,
}

/// What a reference kernel took in a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reading {
    /// Seconds: geometric mean of the rounds' medians.
    pub seconds: f64,
    /// Standard error of its logarithm.
    pub error: f64,
    /// Over how many rounds.
    pub rounds: u32,
    /// The slowest round's over the fastest one's, less what the readings' scatter within rounds explains.
    pub spread: f64,
}

impl Reading {
    /// The factor by which it is longer or shorter than so many seconds, less what its own error explains.
    pub fn factor_from(&self, seconds: f64) -> f64 {
        let apart = (self.seconds / seconds).ln().abs();
        (apart - SIGNIFICANT * self.error).max(0.0).exp()
    }
}

impl DeviceSpeed {
    /// Of one device's records of a run.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let (mut compute, mut memory) = (Rounds::default(), Rounds::default());
        for record in records {
            let monitor = &record.monitor;
            compute.add(record.round, monitor.reference_kernel.map(|[_, after]| after));
            memory.add(record.round, monitor.memory_kernel);
        }
        Self { compute: compute.reading(), memory: memory.reading() }
    }

    /// The largest factor between two rounds of either kernel; 1 where nothing was read.
    pub fn spread(&self) -> f64 {
        [self.compute, self.memory].iter().flatten().map(|r| r.spread).fold(1.0, f64::max)
    }
}

/// Logarithms of the readings by round.
#[derive(Default)]
struct Rounds(BTreeMap<u32, Vec<f64>>);

impl Rounds {
    fn add(&mut self, round: u32, seconds: Option<f64>) {
        if let Some(log) = seconds.map(f64::ln).filter(|log| log.is_finite()) {
            self.0.entry(round).or_default().push(log);
        }
    }

    fn reading(&self) -> Option<Reading> {
        let medians: Vec<f64> =
            self.0.values().filter_map(|logs| median_of(logs.iter().copied())).collect();
        let count = medians.len() as f64;
        let mean = medians.iter().sum::<f64>() / count;
        let between = variance(&medians).map(|variance| variance / count);
        // Of rounds that agree by luck, and of a single one, the readings' own scatter is left.
        let within = self.0.values().filter_map(|logs| Some(variance(logs)? / logs.len() as f64));
        let within = within.sum::<f64>() / (count * count);
        (count > 0.0).then(|| Reading {
            seconds: mean.exp(),
            error: between.unwrap_or(0.0).max(within).sqrt(),
            rounds: u32::try_from(medians.len()).unwrap_or(u32::MAX),
            spread: (self.range(&medians) - self.explained()).max(0.0).exp(),
        })
    }

    fn range(&self, medians: &[f64]) -> f64 {
        let largest = medians.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        largest - medians.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// By how much the medians of two rounds may differ for the scatter of the readings within rounds. It is 0 where
    /// no round has two readings: nobody knows then.
    fn explained(&self) -> f64 {
        let apart = |logs: &Vec<f64>| {
            let median = median_of(logs.iter().copied()).unwrap_or_default();
            let is_several = logs.len() > 1;
            logs.iter().map(move |log| (log - median).abs()).filter(|_| is_several).collect()
        };
        let scatter = median_of(self.0.values().flat_map(|logs| -> Vec<f64> { apart(logs) }));
        let fewest = self.0.values().map(Vec::len).min().unwrap_or(1) as f64;
        let error = scatter.unwrap_or_default() / NORMAL_MEDIAN * (MEDIAN_VARIANCE / fewest).sqrt();
        SIGNIFICANT * error * f64::sqrt(2.0)
    }
}

fn variance(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (n > 1.0).then(|| values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0))
}

/// The speeds of two runs, side by side.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SpeedChange {
    /// Of the kernel that computes in registers.
    pub compute: Option<Change>,
    /// Of the kernel that streams through memory.
    pub memory: Option<Change>,
    /// Whether the driver changed too: then nobody knows whether the machine or the driver changed the speed.
    pub new_driver: bool,
    /// What the cases of a family whose kernel is the same have in common, where that is more than noise.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub common: BTreeMap<String, CommonShift>,
    /// Families whose unchanged kernels contradict the readings: nothing is taken off them, and all is in doubt.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub contradicted: BTreeSet<String>,
}

/// What a reference kernel took in two runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Seconds before.
    pub old: f64,
    /// Seconds now.
    pub new: f64,
    /// New over old: above 1 the device is slower.
    pub ratio: f64,
    /// Standard error of the ratio's logarithm.
    pub error: f64,
    /// Logarithm of the ratio that the readings' scatter alone may bring about.
    pub scatter: f64,
    /// Whether it is more than the tolerance and than the readings' scatter.
    pub differs: bool,
}

/// How much of a case's difference the speed may explain, as a logarithm.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Correction {
    /// The middle of what it explains: taken off.
    pub shift: f64,
    /// What it may explain beyond that: from at most 0 to at least 0.
    pub doubt: [f64; 2],
}

impl Correction {
    /// All that the speed may explain.
    pub fn explained(&self) -> [f64; 2] {
        self.doubt.map(|doubt| self.shift + doubt)
    }
}

impl SpeedChange {
    /// From one run to another; speeds differ where by more than `tolerance`.
    pub fn between(old: &DeviceSpeed, new: &DeviceSpeed, tolerance: f64, new_driver: bool) -> Self {
        let change = |old: Option<Reading>, new: Option<Reading>| {
            let (old, new) = (old?, new?);
            let log = (new.seconds / old.seconds).ln();
            let error = old.error.hypot(new.error);
            // An error of few rounds is a poor estimate; single rounds have the scatter of many readings.
            let freedom = f64::from(old.rounds + new.rounds) - 2.0;
            let errors = if freedom > 0.0 { t_quantile(freedom, 0.975) } else { 0.0 };
            let scatter = SIGNIFICANT.max(errors) * error;
            let differs = log.abs() > tolerance.ln_1p().max(scatter);
            let [old, new] = [old.seconds, new.seconds];
            Some(Change { old, new, ratio: log.exp(), error, scatter, differs })
        };
        let compute = change(old.compute, new.compute);
        let memory = change(old.memory, new.memory);
        Self { compute, memory, new_driver, ..Self::default() }
    }

    /// Notes what the cases have in common that are known to run the kernel of before, by family.
    pub(crate) fn learn<'a>(&mut self, unchanged: impl Iterator<Item = (&'a str, Difference)>) {
        let Some(allowed) = self.allowed().filter(|_| !self.new_driver) else { return };
        let mut families: BTreeMap<&str, Vec<Difference>> = BTreeMap::new();
        unchanged.for_each(|(family, one)| families.entry(family).or_default().push(one));
        let differs = self.differs();
        for (family, differences) in families {
            let Some(shift) = CommonShift::of(&differences, allowed) else {
                if differs && differences.len() >= CommonShift::FEWEST {
                    self.contradicted.insert(family.to_owned());
                }
                continue;
            };
            let is_shifted = differs || shift.is_significant();
            let shift = if is_shifted { shift } else { shift.without_shift() };
            if is_shifted || shift.excess > 1.0 {
                self.common.insert(family.to_owned(), shift);
            }
        }
    }

    /// What the machine may have done to a kernel, as logarithms; `None` where nothing was read in both runs.
    fn allowed(&self) -> Option<[f64; 2]> {
        let low = self.each().map(|change| change.ratio.ln() - change.scatter).reduce(f64::min)?;
        let high = self.each().map(|change| change.ratio.ln() + change.scatter).reduce(f64::max)?;
        // Of memory, or of arithmetic, nothing is known where the other alone was read.
        let is_alone = self.compute.is_none() || self.memory.is_none();
        Some(if is_alone { [low.min(0.0), high.max(0.0)] } else { [low, high] })
    }

    /// Whether either kernel takes another time than before.
    pub fn differs(&self) -> bool {
        self.each().any(|change| change.differs)
    }

    fn each(&self) -> impl Iterator<Item = &Change> {
        self.compute.iter().chain(&self.memory)
    }

    /// What it may explain of a case; nothing where the speed is the same.
    pub(crate) fn explains(
        &self,
        key: &CaseKey,
        family: &str,
        difference: &Difference,
    ) -> Correction {
        if let Some(common) = self.common.get(family).filter(|_| key.measure.is_kernel()) {
            let doubt = common.doubt(difference);
            return Correction { shift: common.ratio.ln(), doubt: [-doubt, doubt] };
        }
        if !self.differs() {
            return Correction::default();
        }
        let of = |change: &Change| if change.differs { change.ratio.ln() } else { 0.0 };
        let ends: Vec<f64> = self.each().map(of).collect();
        let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // A reading that does not differ is taken as unchanged, here as where none does.
        let changed = self.each().filter(|change| change.differs);
        let error = LEFT * changed.map(|change| change.error).fold(0.0, f64::max);
        // A kernel lies between the two readings; where one alone was taken, one of its own kind follows it.
        let follows = match (self.compute, self.memory) {
            (Some(_), None) => family == "compute",
            (None, Some(_)) => family == "memory",
            _ => true,
        };
        let follows = follows && !self.contradicted.contains(family);
        match key.measure.is_kernel() && follows && !self.new_driver {
            true => {
                let half = (high - low) / 2.0 + error;
                Correction { shift: (low + high) / 2.0, doubt: [-half, half] }
            }
            // Nothing is taken off what may not follow at all.
            false => {
                Correction { shift: 0.0, doubt: [low.min(0.0) - error, high.max(0.0) + error] }
            }
        }
    }
}

#[cfg(test)]
mod tests;
