//! Old against new, case by case, with a verdict that can be believed.
//!
//! The value of a round is the logarithm of its median; a case's difference is that of the mean
//! of its rounds, with Welch's interval. FASTER or SLOWER: the difference is larger than the
//! tolerance, its interval excludes zero, and it survives Benjamini and Hochberg over all cases.
//! SAME: the interval lies within the tolerance. Anything else is UNSURE.

use super::{CaseResult, DeviceCases};
use crate::stats::{Difference, benjamini_hochberg, t_quantile};
use crate::workload::CaseKey;
use std::collections::BTreeMap;

/// What is asked of a comparison.
#[derive(Clone, Debug)]
pub struct Options {
    /// Relative difference that matters, unless a case's own history says more: 0.01 is 1 %.
    pub tolerance: f64,
    /// Noise floors learnt from repeated runs, by case: the tolerance of that case where larger.
    pub noise: BTreeMap<CaseKey, f64>,
    /// Compare although kernels or shader checks differ.
    pub allow_mismatch: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { tolerance: 0.01, noise: BTreeMap::new(), allow_mismatch: false }
    }
}

/// What became of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The case.
    pub key: CaseKey,
    /// Seconds before: geometric mean of the rounds' medians.
    pub old: f64,
    /// Seconds now.
    pub new: f64,
    /// New over old.
    pub ratio: f64,
    /// 95 % interval of the ratio.
    pub interval: [f64; 2],
    /// The tolerance that was used.
    pub tolerance: f64,
    /// What became of it.
    pub verdict: Verdict,
}

/// A comparison of two runs on one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// The common cases, in the order of their keys.
    pub rows: Vec<Row>,
    /// Cases that were left out, with the reason.
    pub left_out: Vec<(CaseKey, String)>,
    /// Geometric mean of the ratios over the common cases.
    pub mean_ratio: Option<f64>,
}

/// Compares the cases of `old` and `new`.
pub fn compare(old: &DeviceCases, new: &DeviceCases, options: &Options) -> Comparison {
    let mut comparison = Comparison::default();
    let mut found: Vec<(Row, Difference)> = Vec::new();
    for (key, now) in &new.cases {
        match old.cases.get(key).ok_or("not in the baseline".to_owned()).and_then(|before| {
            comparable(before, now, options)?;
            Ok((before, difference(before, now)?))
        }) {
            Ok((before, difference)) => {
                found.push((row(key, before, now, &difference, options), difference));
            }
            Err(reason) => comparison.left_out.push((key.clone(), reason)),
        }
    }
    for key in old.cases.keys().filter(|key| !new.cases.contains_key(key)) {
        comparison.left_out.push((key.clone(), "not in the new run".into()));
    }
    let p_values: Vec<f64> = found.iter().map(|(_, d)| d.p_value()).collect();
    let significant = benjamini_hochberg(&p_values, 0.05);
    for ((mut row, difference), significant) in found.into_iter().zip(significant) {
        row.verdict = verdict(&difference, row.tolerance, significant);
        comparison.rows.push(row);
    }
    let ratios: Vec<f64> = comparison.rows.iter().map(|row| row.ratio).collect();
    comparison.mean_ratio = crate::stats::geometric_mean(&ratios);
    comparison
}

fn comparable(old: &CaseResult, new: &CaseResult, options: &Options) -> Result<(), String> {
    for (side, case) in [("old", old), ("new", new)] {
        if !case.outcome.is_ok() {
            return Err(format!("{} in the {side} run", case.outcome.word()));
        }
    }
    if options.allow_mismatch {
        return Ok(());
    }
    if old.kernel_hash != new.kernel_hash {
        return Err("the kernels differ (--allow-mismatch compares them all the same)".into());
    }
    if old.checks != new.checks {
        return Err("shader checks differ (--allow-mismatch compares them all the same)".into());
    }
    Ok(())
}

fn difference(old: &CaseResult, new: &CaseResult) -> Result<Difference, String> {
    let logs = |case: &CaseResult| case.medians.iter().map(|m| m.ln()).collect::<Vec<_>>();
    match Difference::between(&logs(old), &logs(new)) {
        Some(difference) if difference.difference.is_finite() => Ok(difference),
        _ => Err(format!(
            "needs two rounds on either side, has {} and {}",
            old.medians.len(),
            new.medians.len()
        )),
    }
}

fn row(
    key: &CaseKey,
    old: &CaseResult,
    new: &CaseResult,
    difference: &Difference,
    options: &Options,
) -> Row {
    let seconds = |case: &CaseResult| case.overall.map_or(f64::NAN, |overall| overall.value);
    let tolerance = options.noise.get(key).map_or(options.tolerance, |n| n.max(options.tolerance));
    Row {
        key: key.clone(),
        old: seconds(old),
        new: seconds(new),
        ratio: difference.difference.exp(),
        interval: difference.interval(0.95).map(f64::exp),
        tolerance,
        verdict: Verdict::Unsure { rounds: None },
    }
}

fn verdict(difference: &Difference, tolerance: f64, significant: bool) -> Verdict {
    let delta = tolerance.ln_1p();
    let [low, high] = difference.interval(0.95);
    let excludes_zero = low > 0.0 || high < 0.0;
    if significant && excludes_zero && difference.difference.abs() > delta {
        return if difference.difference > 0.0 { Verdict::Slower } else { Verdict::Faster };
    }
    if low >= -delta && high <= delta {
        return Verdict::Same;
    }
    Verdict::Unsure { rounds: rounds_to_settle(difference, delta) }
}

/// Rounds on either side after which the interval, if rounds scatter as they do now, would
/// either exclude zero (where the difference is above the tolerance) or fit within it.
fn rounds_to_settle(difference: &Difference, delta: f64) -> Option<u32> {
    let distance = difference.difference.abs();
    let room = if distance > delta { distance } else { delta - distance };
    // The error of the difference falls with the square root of the rounds.
    let rounds_now = difference.freedom / 2.0 + 1.0;
    let scatter = difference.error * rounds_now.sqrt();
    let settles = |rounds: u32| {
        let rounds = f64::from(rounds);
        scatter / rounds.sqrt() * t_quantile(2.0 * rounds - 2.0, 0.975) < room
    };
    // More rounds only narrow the interval, so the fewest that settle it are found by halving.
    let (mut too_few, mut enough) = (1, 1000);
    if !settles(enough) {
        return None;
    }
    while enough - too_few > 1 {
        let middle = (too_few + enough) / 2;
        if settles(middle) { enough = middle } else { too_few = middle }
    }
    Some(enough)
}
