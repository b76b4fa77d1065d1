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
use std::collections::BTreeMap;

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
        Self { compute, memory, new_driver, common: BTreeMap::new() }
    }

    /// Notes what the cases have in common that are known to run the kernel of before, by family.
    pub(crate) fn learn<'a>(&mut self, unchanged: impl Iterator<Item = (&'a str, Difference)>) {
        let Some(allowed) = self.allowed().filter(|_| !self.new_driver) else { return };
        let mut families: BTreeMap<&str, Vec<Difference>> = BTreeMap::new();
        unchanged.for_each(|(family, one)| families.entry(family).or_default().push(one));
        let differs = self.differs();
        for (family, differences) in families {
            let Some(shift) = CommonShift::of(&differences, allowed) else { continue };
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
mod tests {
    use super::*;
    use gpubench_core::record::sample::{key, record};
    use gpubench_core::workload::Kind;

    fn speed(compute: f64, memory: Option<f64>) -> DeviceSpeed {
        let reading = |seconds| Reading { seconds, error: 1e-3, rounds: 9, spread: 1.0 };
        DeviceSpeed { compute: Some(reading(compute)), memory: memory.map(reading) }
    }

    fn change(compute: f64, memory: Option<f64>, new_driver: bool) -> SpeedChange {
        let old = speed(1.0, memory.map(|_| 1.0));
        SpeedChange::between(&old, &speed(compute, memory), 0.01, new_driver)
    }

    const DIFFERENCE: Difference =
        Difference { difference: 0.0, error: 0.01, freedom: 4.0, scatter: 0.01, rounds: [3.0; 2] };

    fn range(correction: Correction) -> [f64; 2] {
        correction.explained().map(f64::exp)
    }

    #[test]
    fn a_speed_is_that_of_its_rounds() {
        let of = |round, after: f64| {
            let mut record = record(key("a", 1), 1.0);
            record.round = round;
            record.monitor.reference_kernel = Some([9.0, after]);
            record
        };
        let records = [of(0, 1.0), of(1, 2.0), of(2, 1.0)];
        let reading = DeviceSpeed::of(&records).compute.unwrap();
        assert!((reading.seconds - 2f64.powf(1.0 / 3.0)).abs() < 1e-12);
        assert!((reading.spread - 2.0).abs() < 1e-12);
        // The standard deviation of 0, ln 2 and 0 over the root of three.
        assert!((reading.error - 2f64.ln() / 3.0).abs() < 1e-12, "{}", reading.error);
        assert_eq!((DeviceSpeed::of(&records).memory, DeviceSpeed::of(&[]).spread()), (None, 1.0));
    }

    #[test]
    fn what_does_not_differ_explains_nothing() {
        let same = change(1.003, Some(0.998), false);
        assert!(
            !same.differs()
                && same.explains(&key("a", 1), "compute", &DIFFERENCE) == Correction::default()
        );
        let noisy = DeviceSpeed {
            compute: Some(Reading { seconds: 1.05, error: 0.03, rounds: 9, spread: 1.1 }),
            memory: None,
        };
        let old = speed(1.0, None);
        assert!(!SpeedChange::between(&old, &noisy, 0.01, false).differs(), "within its scatter");
    }

    #[test]
    fn a_kernel_lies_between_arithmetic_and_memory() {
        let both = change(1.94, Some(1.2), false);
        let [low, high] = range(both.explains(&key("a", 1), "memory", &DIFFERENCE));
        assert!((1.19..1.2).contains(&low) && (1.94..1.95).contains(&high), "{low} {high}");
        // Without a reading of memory only arithmetic follows.
        let one = change(1.94, None, false);
        let [low, high] = range(one.explains(&key("a", 1), "compute", &DIFFERENCE));
        assert!((1.93..1.94).contains(&low) && (1.94..1.95).contains(&high), "{low} {high}");
        let other = one.explains(&key("a", 1), "memory", &DIFFERENCE);
        assert_eq!(other.shift, 0.0);
        assert!(range(other)[1] > 1.94, "{other:?}");
    }

    #[test]
    fn a_reading_that_does_not_differ_adds_no_doubt() {
        let reading = |seconds, error| Some(Reading { seconds, error, rounds: 9, spread: 1.0 });
        let of = |compute, memory| DeviceSpeed {
            compute: reading(compute, 1e-3),
            memory: reading(memory, 0.05),
        };
        let change = SpeedChange::between(&of(1.0, 1.0), &of(1.1, 1.1), 0.01, false);
        assert_eq!(change.memory.map(|memory| memory.differs), Some(false), "1.4 errors");
        let [low, high] = range(change.explains(&key("a", 1), "memory", &DIFFERENCE));
        assert!(low > 0.99 && high < 1.11, "from nothing to that of arithmetic: {low} {high}");
    }

    #[test]
    fn nothing_is_taken_off_what_is_no_kernel_or_has_a_new_driver() {
        let copy = CaseKey { measure: Kind::new("other"), ..key("a", 1) };
        for correction in [
            change(1.5, Some(1.4), false).explains(&copy, "transfer", &DIFFERENCE),
            change(1.5, Some(1.4), true).explains(&key("a", 1), "compute", &DIFFERENCE),
        ] {
            let [low, high] = range(correction);
            assert!(correction.shift == 0.0 && high > 1.5, "{correction:?}");
            assert!((0.99..1.0).contains(&low), "a slower device makes nothing faster: {low}");
        }
    }

    #[test]
    fn two_rounds_make_a_poor_error() {
        let of = |seconds, rounds| DeviceSpeed {
            compute: Some(Reading { seconds, error: 0.01, rounds, spread: 1.0 }),
            memory: None,
        };
        // 5 % is 3.4 joint errors: enough of many rounds, not of two each, where t is 4.3.
        for (rounds, differs) in [(9, true), (2, false)] {
            let change = SpeedChange::between(&of(1.0, rounds), &of(1.05, rounds), 0.01, false);
            assert_eq!(change.differs(), differs, "{rounds}");
        }
    }

    #[test]
    fn readings_within_rounds_bound_the_error_and_rounds_the_spread() {
        let of = |round, after: f64| {
            let mut record = record(key("a", 1), 1.0);
            record.round = round;
            record.monitor.reference_kernel = Some([9.0, after.exp()]);
            record
        };
        // Two rounds whose medians agree: readings of -0.1, 0 and 0.1 have the variance 0.01, a third of it a round.
        let records: Vec<_> =
            [0, 1].iter().flat_map(|&n| [-0.1, 0.0, 0.1].map(|log| of(n, log))).collect();
        let reading = DeviceSpeed::of(&records).compute.unwrap();
        assert!((reading.error.powi(2) - 0.02 / 3.0 / 4.0).abs() < 1e-12, "{}", reading.error);
        assert_eq!(reading.rounds, 2);
        let apart = DeviceSpeed::of(&[of(0, 0.0), of(1, 0.5)]);
        assert!((apart.spread() - 0.5f64.exp()).abs() < 1e-9);
        // Of readings that scatter by 1 %, medians of three differ by 4.6 % in a thousandth of all cases.
        let thrice = |scatter: f64| {
            let round = |n, by: f64| [-scatter, 0.0, scatter].map(|log| of(n, log + by));
            DeviceSpeed::of(&[round(0, 0.0), round(1, 0.04)].concat()).spread()
        };
        assert_eq!(thrice(0.01), 1.0);
        assert!((1.035..0.04f64.exp()).contains(&thrice(0.001)), "{}", thrice(0.001));
    }
}
