//! Old against new, case by case, with a verdict that can be believed.
//!
//! The value of a round is the logarithm of its median; a case's difference is that of the mean
//! of its rounds. A round that lies far off counts there as much as the others, unlike in the values of tables: with
//! those more unchanged cases are called changed, since the noise is that of a mean. FASTER or SLOWER: the difference is larger than the tolerance, and noise hardly
//! brings it about (`significance.rs` says what hardly means). SAME: its interval lies within the
//! tolerance. Anything else is UNSURE. Where the device's speed differs between the runs (`device_speed.rs`), what
//! that explains is taken off first, and what it leaves in doubt widens the interval.

use super::device_speed::{Correction, SpeedChange};
use super::level_shifts::LevelShifts;
use super::significance::{Significance, significances};
use super::{CaseResult, DeviceCases};
use gpubench_core::record::{Flag, Grade};
use gpubench_core::workload::CaseKey;
use gpubench_stats::{Difference, ends};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The options of a comparison.
#[derive(Clone, Debug)]
pub struct Options {
    /// Relative difference that matters, unless a case's own history says more: 0.01 is 1 %.
    pub tolerance: f64,
    /// Noise floors learnt from repeated runs, by case: the tolerance of that case where larger.
    pub noise: BTreeMap<CaseKey, f64>,
    /// Planned comparisons: cases that were chosen before their times were seen. They are not corrected
    /// for the number of the others.
    pub planned: BTreeSet<CaseKey>,
    /// Compare although bounds checks differ.
    pub allow_mismatch: bool,
    /// Whether the runs were measured in turn: then each round of one is compared with the same round of the other,
    /// and the machine's speed is common to both.
    pub in_turn: bool,
    /// Whether the runs' times were taken by other rules: then nothing is known of the machine's speed.
    pub other_method: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tolerance: 0.01,
            noise: BTreeMap::new(),
            planned: BTreeSet::new(),
            allow_mismatch: false,
            in_turn: false,
            other_method: false,
        }
    }
}

/// What became of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Takes less time than before.
    Faster,
    /// Takes more time than before.
    Slower,
    /// The difference, if any, is within the tolerance.
    Same,
    /// Nothing can be said; `rounds` would settle it (`None`: no number of rounds was found).
    Unsure {
        /// Rounds on either side that would settle it.
        rounds: Option<u32>,
    },
}

/// One case of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The case.
    pub key: CaseKey,
    /// Seconds before: geometric mean of the rounds' medians.
    pub old: f64,
    /// Seconds now.
    pub new: f64,
    /// New over old, less what the device's speed explains.
    pub ratio: f64,
    /// 95 % interval of the ratio.
    pub interval: [f64; 2],
    /// The smallest and the largest ratio that the device's speed explains; `None` where it is the same.
    pub speed: Option<[f64; 2]>,
    /// The smallest ratio that the speed leaves: by how much the case became slower, whatever the speed explains.
    pub unexplained_ratio: f64,
    /// Whether it is unsure for what the speed leaves in doubt alone.
    pub unsure_by_speed: bool,
    /// The tolerance that was used.
    pub tolerance: f64,
    /// Whether it was chosen before its times were seen.
    pub planned: bool,
    /// What became of it.
    pub verdict: Verdict,
    /// The warnings of either side: the device drifted or was throttled meanwhile.
    pub doubts: Vec<Flag>,
    /// Whether its kernel is another one by now: its author changed it, or another group runs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub kernel_changed: bool,
}

/// Why a case has no verdict, as far as that matters to whom relies on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Exclusion {
    /// It was verified before, and now it is wrong, failed, unchecked or impossible.
    Unverified,
    /// It was verified before, and now it is not there, was skipped or cannot be compared.
    Missing,
    /// It was not there before.
    New,
    /// It was not verified before.
    Before,
}

/// A case without a verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Skipped {
    /// The case.
    pub key: CaseKey,
    /// What is lost with it.
    pub exclusion: Exclusion,
    /// The reason.
    pub reason: String,
}

/// A comparison of two runs on one device.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// Whether both runs were measured in turn, so that their rounds are compared one by one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub in_turn: bool,
    /// The device's speed in both runs.
    pub speed: SpeedChange,
    /// The common cases, in the order of their keys.
    pub rows: Vec<Row>,
    /// Cases that were left out, with the reason.
    pub skipped: Vec<Skipped>,
    /// Geometric mean of the ratios over the common cases.
    pub mean_ratio: Option<f64>,
    /// Its 95 % interval, of these very cases.
    pub mean_interval: Option<[f64; 2]>,
}

impl Comparison {
    /// How many rows have such a verdict.
    pub fn count(&self, wanted: fn(&Verdict) -> bool) -> usize {
        self.rows.iter().filter(|row| wanted(&row.verdict)).count()
    }
}

/// Compares the cases of `old` and `new`.
pub fn compare(old: &DeviceCases, new: &DeviceCases, options: &Options) -> Comparison {
    let new_driver = old.device.driver != new.device.driver;
    let mut speed = match options.in_turn || options.other_method {
        true => SpeedChange::default(),
        false => SpeedChange::between(&old.speed, &new.speed, options.tolerance, new_driver),
    };
    let mut comparison = Comparison { in_turn: options.in_turn, ..Comparison::default() };
    let (mut pairs, mut differences) = (vec![], vec![]);
    for (key, now) in &new.cases {
        let before = old.cases.get(key);
        match before.ok_or("not in the old run".to_owned()).and_then(|before| {
            comparable(before, now, options)?;
            Ok((before, difference(before, now, options.in_turn)?))
        }) {
            Ok((before, difference)) => {
                pairs.push(Pair { key, before, now, correction: Correction::default() });
                differences.push(difference);
            }
            Err(reason) => {
                let exclusion = exclusion(before, Some(now));
                comparison.skipped.push(Skipped { key: key.clone(), exclusion, reason });
            }
        }
    }
    for (key, before) in old.cases.iter().filter(|(key, _)| !new.cases.contains_key(*key)) {
        let (exclusion, reason) = (exclusion(Some(before), None), "not in the new run".into());
        comparison.skipped.push(Skipped { key: key.clone(), exclusion, reason });
    }
    let both = pairs.iter().zip(&differences);
    let unchanged = both.filter(|(pair, _)| pair.is_unchanged(options));
    speed.learn(unchanged.map(|(pair, difference)| (pair.now.family.as_str(), *difference)));
    for (pair, difference) in pairs.iter_mut().zip(&mut differences) {
        pair.correction = speed.explains(pair.key, &pair.now.family, difference);
        difference.difference -= pair.correction.shift;
    }
    comparison.speed = speed;
    let mean = Difference::mean(&differences);
    // All cases share what the speed leaves to doubt: it does not average out.
    let doubt = [0, 1].map(|end| {
        pairs.iter().map(|pair| pair.correction.doubt[end]).sum::<f64>() / pairs.len() as f64
    });
    let mean = mean.map(|(mean, interval)| (mean.exp(), ends(mean, widened(interval, doubt))));
    (comparison.mean_ratio, comparison.mean_interval) = mean.unzip();
    let planned: Vec<bool> = pairs.iter().map(|pair| options.planned.contains(pair.key)).collect();
    let both = |pair: &Pair| [logs(pair.before), logs(pair.now)];
    let shifts = match options.in_turn {
        // A clock that steps does so in both.
        true => LevelShifts::default(),
        false => LevelShifts::of(&pairs.iter().map(both).collect::<Vec<_>>()),
    };
    let significances = significances(&differences, &planned, &shifts);
    let rows = pairs.iter().zip(&significances);
    comparison.rows.extend(rows.map(|(pair, significance)| row(pair, significance, options)));
    comparison
}

/// A case of both runs that can be compared.
struct Pair<'a> {
    key: &'a CaseKey,
    before: &'a CaseResult,
    now: &'a CaseResult,
    correction: Correction,
}

impl Pair<'_> {
    /// Whether it runs the very kernel that it ran before, and nobody expects another time.
    fn is_unchanged(&self, options: &Options) -> bool {
        let hash = &self.before.kernel_hash;
        let work = |case: &CaseResult| (case.flops, case.bytes);
        let is_same = hash.is_some() && *hash == self.now.kernel_hash;
        is_same
            && work(self.before) == work(self.now)
            && self.key.measure.is_kernel()
            && !options.planned.contains(self.key)
    }
}

/// What is lost with a case that has no verdict.
fn exclusion(before: Option<&CaseResult>, now: Option<&CaseResult>) -> Exclusion {
    let is_right = |case: &CaseResult| case.outcome.is_ok() && case.grade != Some(Grade::Hidden);
    match (before, now) {
        (None, _) => Exclusion::New,
        (Some(before), _) if !is_right(before) => Exclusion::Before,
        (_, Some(now)) if !is_right(now) && !now.outcome.is_skipped() => Exclusion::Unverified,
        _ => Exclusion::Missing,
    }
}

fn comparable(old: &CaseResult, new: &CaseResult, options: &Options) -> Result<(), String> {
    for (side, case) in [("old", old), ("new", new)] {
        if !case.outcome.is_ok() {
            return Err(format!("{} in the {side} run", case.outcome.label()));
        }
        if case.grade == Some(Grade::Hidden) {
            return Err(format!("an implausible figure in the {side} run"));
        }
    }
    if options.allow_mismatch {
        return Ok(());
    }
    if old.bounds_checks != new.bounds_checks {
        return Err("bounds checks differ (--allow-mismatch compares them all the same)".into());
    }
    Ok(())
}

/// The logarithms of the rounds' medians.
fn logs(case: &CaseResult) -> Vec<f64> {
    case.medians.iter().map(|median| median.ln()).collect()
}

/// By the means of both runs' rounds, or by each round that both have.
fn difference(old: &CaseResult, new: &CaseResult, in_turn: bool) -> Result<Difference, String> {
    if old.medians.iter().chain(&new.medians).any(|median| *median <= 0.0) {
        return Err("took no time that its clock could resolve".into());
    }
    let (pairs, counts) = (pairs(old, new), [old.medians.len(), new.medians.len()]);
    let found = match in_turn {
        true => Difference::paired(&pairs),
        false => Difference::between(&logs(old), &logs(new)),
    };
    match (found, counts) {
        (Some(found), _) if found.difference.is_finite() => Ok(found),
        _ if in_turn => Err(format!("needs two rounds that both have, has {}", pairs.len())),
        (_, [old, new]) => {
            Err(format!("needs two rounds on either side (`run --rounds 2`), has {old} and {new}"))
        }
    }
}

/// The logarithms of the medians of each round that both have.
fn pairs(old: &CaseResult, new: &CaseResult) -> Vec<[f64; 2]> {
    let of = |case: &CaseResult| -> BTreeMap<u32, f64> {
        case.rounds.iter().copied().zip(logs(case)).collect()
    };
    let new = of(new);
    of(old).into_iter().filter_map(|(round, old)| Some([old, *new.get(&round)?])).collect()
}

fn row(pair: &Pair, significance: &Significance, options: &Options) -> Row {
    let Pair { key, before, now, correction } = pair;
    let seconds = |case: &CaseResult| case.seconds().unwrap_or(f64::NAN);
    let tolerance = options.noise.get(*key).map_or(options.tolerance, |n| n.max(options.tolerance));
    let found = verdict(significance, tolerance, correction.doubt);
    let ratio = significance.difference().difference.exp();
    let is_corrected = *correction != Correction::default();
    Row {
        key: (*key).clone(),
        old: seconds(before),
        new: seconds(now),
        ratio,
        interval: ends(ratio.ln(), widened(significance.interval(), correction.doubt)),
        speed: is_corrected.then(|| correction.explained().map(f64::exp)),
        unexplained_ratio: ratio / correction.doubt[1].exp(),
        unsure_by_speed: is_by_speed(found, verdict(significance, tolerance, [0.0; 2])),
        tolerance,
        planned: options.planned.contains(*key),
        verdict: found,
        doubts: doubts(before, now),
        kernel_changed: before.kernel_hash != now.kernel_hash,
    }
}

/// Each once: the warnings of both sides.
fn doubts(old: &CaseResult, new: &CaseResult) -> Vec<Flag> {
    let mut doubts: Vec<Flag> = vec![];
    let doubtful = [old, new].into_iter().filter(|case| case.grade == Some(Grade::Warning));
    for flag in doubtful.flat_map(|case| &case.flags).filter(|f| f.grade() == Grade::Warning) {
        if !doubts.contains(flag) {
            doubts.push(flag.clone());
        }
    }
    doubts
}

/// The interval of a difference of which something else may explain from `less` to `more`.
fn widened([low, high]: [f64; 2], [less, more]: [f64; 2]) -> [f64; 2] {
    [low - more, high - less]
}

/// By a difference of which the device's speed may explain `doubt` besides its noise.
fn verdict(significance: &Significance, tolerance: f64, doubt: [f64; 2]) -> Verdict {
    let delta = tolerance.ln_1p();
    let [low, high] = widened(significance.interval(), doubt);
    if significance.is_changed(delta, doubt) {
        let is_slower = significance.difference().difference > 0.0;
        return if is_slower { Verdict::Slower } else { Verdict::Faster };
    }
    if low >= -delta && high <= delta {
        return Verdict::Same;
    }
    Verdict::Unsure { rounds: significance.rounds_to_settle(delta, doubt) }
}

/// Whether no number of rounds settles what, but for the doubt in the speed, is settled or would be.
fn is_by_speed(found: Verdict, without: Verdict) -> bool {
    const NEVER: Verdict = Verdict::Unsure { rounds: None };
    found == NEVER && without != NEVER
}

#[cfg(test)]
mod tests;
