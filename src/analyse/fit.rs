//! Models fitted to what a device was measured at, and judged by launches that the fit never saw:
//! each size of a workload in turn, then each workload in turn.

use crate::error::{Error, Result};
use crate::model::accuracy;
use crate::model::hybrid::{self, Bound, Hybrid, PARAMETERS, Work};
use crate::model::roofline::Ceilings;
use crate::model::smooth_roofline::{self, SmoothRoofline};
use crate::stats::quantile;
use crate::workload::CaseKey;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// One kernel at one size.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The case.
    pub key: CaseKey,
    /// Operations, as the suite says.
    pub operations: f64,
    /// Bytes, as the suite says.
    pub bytes: f64,
    /// What it does, as counted; `None` where it could not be.
    pub work: Option<Work>,
    /// Seconds measured.
    pub seconds: f64,
}

/// A model that is fitted per device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Model 3 with the best rates seen.
    Roofline,
    /// Model 3 with a launch cost and a rounded corner.
    SmoothRoofline,
    /// Our own, from counted instructions.
    Hybrid,
}

impl Model {
    /// All, simplest first.
    pub const ALL: [Self; 3] = [Self::Roofline, Self::SmoothRoofline, Self::Hybrid];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Roofline => "roofline",
            Self::SmoothRoofline => "smooth roofline",
            Self::Hybrid => "hybrid",
        }
    }

    /// Fits it; `near` is a fit of nearly the same launches.
    fn fit(self, launches: &[&Launch], near: Option<&Fitted>) -> Result<Fitted> {
        match self {
            Self::Roofline => Ok(Fitted::Roofline(ceilings(launches)?)),
            Self::SmoothRoofline => {
                let samples: Vec<_> = launches.iter().map(|launch| smooth(launch)).collect();
                Ok(Fitted::Smooth(smooth_roofline::fit(&samples)?.values()))
            }
            Self::Hybrid => {
                let samples: Vec<_> =
                    launches.iter().filter_map(|launch| counted(launch)).collect();
                let near = near.and_then(|near| match near {
                    Fitted::Hybrid(hybrid) => Some(hybrid),
                    _ => None,
                });
                Ok(Fitted::Hybrid(hybrid::fit(&samples, near)?))
            }
        }
    }

    /// Whether it has what it needs of a launch.
    fn knows(self, launch: &Launch) -> bool {
        self != Self::Hybrid || launch.work.is_some()
    }
}

fn ceilings(launches: &[&Launch]) -> Result<Ceilings> {
    let best = |rate: fn(&Launch) -> f64| launches.iter().map(|l| rate(l)).fold(0.0, f64::max);
    let peak = best(|l| l.operations / l.seconds);
    let bandwidth = best(|l| l.bytes / l.seconds);
    match peak > 0.0 && bandwidth > 0.0 {
        true => Ok(Ceilings { peak, bandwidth }),
        false => Err(Error::Unsupported(
            "a roofline needs a kernel with operations and one with bytes".into(),
        )),
    }
}

fn smooth(launch: &Launch) -> smooth_roofline::Sample {
    let Launch { operations, bytes, seconds, .. } = *launch;
    smooth_roofline::Sample { operations, bytes, seconds }
}

fn counted(launch: &Launch) -> Option<hybrid::Sample> {
    let workload = launch.key.workload.clone();
    Some(hybrid::Sample { workload, work: launch.work?, seconds: launch.seconds })
}

/// A fitted model.
#[derive(Clone, Debug)]
pub enum Fitted {
    /// Model 3.
    Roofline(Ceilings),
    /// Model 3, rounded.
    Smooth(SmoothRoofline),
    /// Our own.
    Hybrid(Hybrid),
}

impl Fitted {
    /// Seconds that it foresees; NaN where it does not know what the launch does.
    pub fn seconds(&self, launch: &Launch) -> f64 {
        match self {
            Self::Roofline(device) => device.ideal_seconds(launch.operations, launch.bytes),
            Self::Smooth(device) => device.seconds(launch.operations, launch.bytes),
            Self::Hybrid(device) => {
                launch.work.map_or(f64::NAN, |work| device.seconds(&launch.key.workload, &work))
            }
        }
    }

    /// Parameters by name.
    fn parameters(&self) -> Vec<(&'static str, f64)> {
        match self {
            Self::Roofline(c) => vec![("peak", c.peak), ("bandwidth", c.bandwidth)],
            Self::Smooth(s) => vec![
                ("launch", s.launch),
                ("peak", s.peak),
                ("bandwidth", s.bandwidth),
                ("sharpness", s.sharpness),
            ],
            Self::Hybrid(h) => PARAMETERS.into_iter().zip(h.parameters()).collect(),
        }
    }
}

/// A parameter with its 95 % bootstrap interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its value: seconds, or per second; the sharpness has no unit.
    pub value: f64,
    /// Between what bounds it lies if other workloads had been measured.
    pub interval: [f64; 2],
}

impl Parameter {
    /// An interval that spans more than ten times tells no number to trust.
    pub fn is_identifiable(&self) -> bool {
        let [low, high] = self.interval;
        low > 0.0 && high / low <= 10.0
    }
}

/// Accuracy on launches that no fit saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    /// Mean of smaller over larger.
    pub accuracy: f64,
    /// Launches foreseen.
    pub launches: usize,
    /// Nineteen of twenty predictions were within this factor of what was measured.
    pub within: f64,
    /// The mean of each workload.
    pub workloads: BTreeMap<String, f64>,
}

impl Score {
    /// `None` where nothing could be foreseen.
    fn of(foreseen: &[(&Launch, f64)]) -> Option<Self> {
        let mut by: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for (launch, seconds) in foreseen {
            let score = accuracy(*seconds, launch.seconds);
            by.entry(launch.key.workload.clone()).or_default().push(score);
        }
        let ratio = |(launch, seconds): &(&Launch, f64)| (seconds / launch.seconds).ln().abs();
        let mut ratios: Vec<f64> = foreseen.iter().map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len() as f64;
        let all: Vec<f64> = by.values().flatten().copied().collect();
        (!all.is_empty()).then(|| Self {
            accuracy: mean(&all),
            launches: all.len(),
            within: quantile(&ratios, 0.95).exp(),
            workloads: by.into_iter().map(|(name, scores)| (name, mean(&scores))).collect(),
        })
    }
}

/// A model on a device.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Which.
    pub model: Model,
    /// Fitted to all launches.
    pub fitted: Fitted,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Each size foreseen from all else; of workloads measured at two sizes or more.
    pub size_out: Option<Score>,
    /// Each workload foreseen from the others.
    pub workload_out: Option<Score>,
}

/// Draws for the parameters' intervals.
const DRAWS: usize = 40;

/// Fits and judges a model.
///
/// # Errors
/// `Unsupported` where the launches are too few, with how many are needed.
pub fn judge(model: Model, launches: &[Launch], seed: u64) -> Result<Judged> {
    let known: Vec<&Launch> = launches.iter().filter(|launch| model.knows(launch)).collect();
    let fitted = model.fit(&known, None)?;
    let parameters = parameters(model, &known, &fitted, seed);
    let size_out = size_out(model, &known, &fitted);
    let workload_out = workload_out(model, &known, &fitted);
    Ok(Judged { model, fitted, parameters, size_out, workload_out })
}

fn size_out(model: Model, launches: &[&Launch], near: &Fitted) -> Option<Score> {
    let siblings = |launch: &Launch| {
        launches.iter().filter(|other| other.key.workload == launch.key.workload).count()
    };
    let foreseen = launches.iter().filter(|launch| siblings(launch) > 1).filter_map(|launch| {
        let others: Vec<_> = launches.iter().filter(|l| l.key != launch.key).copied().collect();
        Some((*launch, model.fit(&others, Some(near)).ok()?.seconds(launch)))
    });
    Score::of(&foreseen.collect::<Vec<_>>())
}

fn workload_out(model: Model, launches: &[&Launch], near: &Fitted) -> Option<Score> {
    let mut foreseen = vec![];
    for name in workloads(launches) {
        let is_it = |launch: &&&Launch| launch.key.workload == name;
        let others: Vec<_> = launches.iter().filter(|l| !is_it(l)).copied().collect();
        let Ok(fitted) = model.fit(&others, Some(near)) else { continue };
        let its = launches.iter().filter(is_it);
        foreseen.extend(its.map(|launch| (*launch, fitted.seconds(launch))));
    }
    Score::of(&foreseen)
}

fn workloads<'a>(launches: &[&'a Launch]) -> BTreeSet<&'a str> {
    launches.iter().map(|launch| launch.key.workload.as_str()).collect()
}

/// Intervals from fits to workloads drawn with replacement: those of a workload err alike.
fn parameters(model: Model, launches: &[&Launch], all: &Fitted, seed: u64) -> Vec<Parameter> {
    let names: Vec<&str> = workloads(launches).into_iter().collect();
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut draws: Vec<Vec<f64>> = vec![];
    for _ in 0..DRAWS {
        let drawn: Vec<&Launch> = (0..names.len())
            .map(|_| names[rng.random_range(0..names.len())])
            .flat_map(|name| launches.iter().filter(move |l| l.key.workload == name).copied())
            .collect();
        let fitted = model.fit(&drawn, Some(all));
        draws.extend(fitted.map(|f| f.parameters().into_iter().map(|(_, value)| value).collect()));
    }
    let named = all.parameters().into_iter().enumerate();
    named
        .map(|(i, (name, value))| {
            let mut values: Vec<f64> = draws.iter().map(|draw| draw[i]).collect();
            values.sort_by(f64::total_cmp);
            let interval = match values.is_empty() {
                true => [0.0, f64::INFINITY],
                false => [0.025, 0.975].map(|q| quantile(&values, q)),
            };
            Parameter { name, value, interval }
        })
        .collect()
}

/// What bounds a launch by the hybrid, and by how much.
pub fn bound(judged: &Judged, launch: &Launch) -> Option<(Bound, f64)> {
    match &judged.fitted {
        Fitted::Hybrid(hybrid) => Some(hybrid.bound(&launch.work?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Measure;

    /// Two workloads at four sizes on a device without launch cost.
    fn launches() -> Vec<Launch> {
        let launch = |workload: &str, n: i64, operations: f64, bytes: f64| {
            let size = vec![("n".to_owned(), n)];
            let (workload, measure) = (workload.to_owned(), Measure::Kernel);
            let key = CaseKey { workload, size, measure, host_memory: None };
            let seconds = (operations / 1e12_f64).max(bytes / 1e11);
            Launch { key, operations, bytes, work: None, seconds }
        };
        (1..=4)
            .flat_map(|i| {
                let x = 1e7 * 4f64.powi(i);
                [launch("many", i.into(), 100.0 * x, x), launch("few", i.into(), x, x)]
            })
            .collect()
    }

    #[test]
    fn a_roofline_that_holds_is_right_about_what_it_never_saw() {
        let judged = judge(Model::Roofline, &launches(), 1).unwrap();
        let score = judged.size_out.unwrap();
        assert_eq!((score.launches, score.workloads.len()), (8, 2));
        assert!(score.accuracy > 0.999, "{score:?}");
        // Without the other workload one of the ceilings is not known.
        assert!(judged.workload_out.unwrap().accuracy < 0.9);
        assert!((judged.parameters[0].value / 1e12 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn without_counts_the_hybrid_says_how_many_it_needs() {
        let error = judge(Model::Hybrid, &launches(), 1).unwrap_err();
        assert!(error.to_string().contains("0 were measured"), "{error}");
    }
}
