//! How well models predict launches that no fit saw, and how sure their parameters are.

use super::device::Device;
use super::fitted::{Fitted, For, Sample};
use super::{Launch, Model, folds};
use gpubench_model::accuracy;
use gpubench_stats::{exceeded_once_in_twenty, geometric_mean, quantile};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;

/// Accuracy on launches that no fit saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    /// Mean of smaller over larger.
    pub accuracy: f64,
    /// Launches predicted.
    pub launches: usize,
    /// Nineteen of twenty predictions are within this factor of what is measured; `None` where fewer show it.
    pub within: Option<f64>,
    /// Each workload by itself.
    pub workloads: BTreeMap<String, Residual>,
    /// Each launch.
    pub predictions: Vec<Prediction>,
}

/// A launch, and what a fit that had not seen it makes of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// The case.
    pub case: String,
    /// Seconds that the fit lets expect.
    pub predicted: f64,
    /// Seconds that it took.
    pub measured: f64,
}

/// How far a workload's predictions were off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Residual {
    /// Mean of smaller over larger.
    pub accuracy: f64,
    /// Predicted over measured, geometric mean: below 1 it took longer than predicted.
    pub bias: f64,
}

impl Score {
    /// `None` where nothing could be predicted.
    pub(super) fn of(predicted: &[(&Launch, f64)]) -> Option<Self> {
        let mut by: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
        for (launch, seconds) in predicted {
            let one = (accuracy(*seconds, launch.seconds), seconds / launch.seconds);
            by.entry(&launch.key.workload).or_default().push(one);
        }
        let ratios = || by.values().flatten().map(|(_, ratio)| *ratio);
        let off = ratios().map(|ratio| ratio.ln().abs());
        let mean =
            |all: &[(f64, f64)]| all.iter().map(|(score, _)| score).sum::<f64>() / all.len() as f64;
        let all: Vec<(f64, f64)> = by.values().flatten().copied().collect();
        let residual = |all: &[(f64, f64)]| {
            let ratios: Vec<f64> = all.iter().map(|(_, ratio)| *ratio).collect();
            let bias = geometric_mean(&ratios).unwrap_or(f64::NAN);
            Residual { accuracy: mean(all), bias }
        };
        (!all.is_empty()).then(|| Self {
            accuracy: mean(&all),
            launches: all.len(),
            within: exceeded_once_in_twenty(off).map(f64::exp),
            workloads: by.iter().map(|(name, all)| ((*name).to_owned(), residual(all))).collect(),
            predictions: predicted.iter().map(prediction).collect(),
        })
    }
}

fn prediction((launch, predicted): &(&Launch, f64)) -> Prediction {
    let (case, measured) = (launch.key.to_string(), launch.seconds);
    Prediction { case, predicted: *predicted, measured }
}

/// A parameter with its 95 % bootstrap interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its value: seconds, cycles, or per second; scales, degrees and the sharpness have no unit.
    pub value: f64,
    /// Between what bounds it lies if other workloads had been measured; from 0 to infinity where
    /// these do not determine it.
    pub interval: [f64; 2],
    /// How many times its variance is what it would be if the others were known.
    pub inflation: f64,
}

/// Beyond this a parameter cannot be separated from the others: its standard error is ten times what it
/// would be if they were known.
const ILL_CONDITIONED: f64 = 100.0;

impl Parameter {
    /// Whether it is a number to trust: its interval spans ten times at most, and it can be distinguished
    /// from the other parameters.
    pub fn is_identifiable(&self) -> bool {
        let [low, high] = self.interval;
        low > 0.0 && high / low <= 10.0 && self.inflation <= ILL_CONDITIONED
    }
}

/// Folds are put together in this many blocks, of which a first fit leaves all out.
const BLOCKS: usize = 8;

/// Draws for the parameters' intervals.
const DRAWS: usize = 40;
/// Workloads below which draws of them hardly differ.
const FEW: usize = 4;

/// A fit to all samples, to be held against fits to some of them.
pub(super) struct Evaluator<'a> {
    pub(super) model: Model,
    pub(super) samples: &'a [Sample<'a>],
    pub(super) device: Option<&'a Device>,
    pub(super) all: &'a Fitted,
}

impl<'a> Evaluator<'a> {
    /// Each size predicted from the others, of workloads measured at two or more.
    pub(super) fn leave_one_size_out(&self) -> Option<Score> {
        self.cross_validate(&folds::of_sizes(&self.launches()), For::Seen)
    }

    /// Each workload, all its variants together, predicted from the others.
    pub(super) fn leave_one_workload_out(&self) -> Option<Score> {
        self.cross_validate(&folds::of_workloads(&self.launches()), For::Unseen)
    }

    fn launches(&self) -> Vec<&'a Launch> {
        self.samples.iter().map(|sample| sample.launch).collect()
    }

    /// Each fold's samples as a fit to all others predicts them. Of a block of folds, these fits begin
    /// at one that saw none of the block: what only the samples left out determine, none of them knows.
    fn cross_validate(&self, folds: &[Vec<usize>], what: For) -> Option<Score> {
        let blocks: Vec<Vec<&[usize]>> = (0..folds.len().min(BLOCKS))
            .map(|block| folds.iter().skip(block).step_by(BLOCKS).map(Vec::as_slice).collect())
            .collect();
        let predicted = blocks.par_iter().flat_map_iter(|block| {
            let common = self.without(&block.concat(), what, None);
            let fold = |fold: &&[usize]| match block.len() {
                1 => self.predictions_of(common.as_ref(), fold),
                _ => self.predictions_of(self.without(fold, what, common.as_ref()).as_ref(), fold),
            };
            block.iter().flat_map(fold).collect::<Vec<_>>()
        });
        Score::of(&predicted.collect::<Vec<_>>())
    }

    /// A fit to all samples but these and their equal launches, of other kernels alone where theirs are never to be seen;
    /// it begins at `near`. `None` where there are too few.
    fn without(&self, out: &[usize], what: For, near: Option<&Fitted>) -> Option<Fitted> {
        let without = match what {
            For::Unseen => folds::without_kernels,
            For::All | For::Seen | For::Draw => folds::without,
        };
        let seen = without(&self.launches(), out).into_iter();
        let others: Vec<Sample<'_>> = seen.map(|i| self.samples[i].clone()).collect();
        self.model.fit(&others, self.device, what, near).ok()
    }

    fn predictions_of(&self, fitted: Option<&Fitted>, samples: &[usize]) -> Vec<(&'a Launch, f64)> {
        let Some(fitted) = fitted else { return vec![] };
        let samples = samples.iter().map(|&i| &self.samples[i]);
        let seconds = |s: &Sample<'a>| fitted.seconds(&s.launch.kernel, &s.view);
        samples.map(|sample| (sample.launch, seconds(sample))).collect()
    }

    /// Intervals from fits to workloads drawn with replacement: launches of a workload err alike.
    pub(super) fn parameters(&self, seed: u64) -> Vec<Parameter> {
        let mut by_workload: BTreeMap<&str, Vec<&Sample>> = BTreeMap::new();
        for sample in self.samples {
            by_workload.entry(workload(sample)).or_default().push(sample);
        }
        let workloads: Vec<_> = by_workload.into_values().collect();
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let count = workloads.len();
        let drawn: Vec<Vec<usize>> =
            (0..DRAWS).map(|_| (0..count).map(|_| rng.random_range(0..count)).collect()).collect();
        let draws = drawn.par_iter().map(|drawn| {
            let samples = drawn.iter().flat_map(|one| &workloads[*one]).copied().cloned();
            let samples: Vec<Sample<'_>> = samples.collect();
            self.model.fit(&samples, self.device, For::Draw, Some(self.all)).ok()
        });
        let draws: Vec<_> = draws.collect();
        let named = self.model.parameters.iter().zip(&self.all.parameters).enumerate();
        named
            .map(|(i, (&name, &value))| {
                // A draw that could not be fitted, or does not determine it, leaves it anywhere.
                let values = draws.iter().map(|draw| {
                    let identified = draw.as_ref().filter(|draw| draw.inflation[i].is_finite());
                    identified.map(|draw| draw.parameters[i])
                });
                let interval = match count < FEW {
                    true => [0.0, f64::INFINITY],
                    false => interval(&values.collect::<Vec<_>>()),
                };
                Parameter { name, value, interval, inflation: self.all.inflation[i] }
            })
            .collect()
    }
}

/// Nineteen of twenty lie between these; `None` may be any number above zero.
fn interval(values: &[Option<f64>]) -> [f64; 2] {
    let end = |none: f64, q: f64| {
        let mut all: Vec<f64> = values.iter().map(|value| value.unwrap_or(none)).collect();
        all.sort_by(f64::total_cmp);
        quantile(&all, q)
    };
    let high = end(f64::INFINITY, 0.975);
    [end(0.0, 0.025), if high.is_finite() { high } else { f64::INFINITY }]
}

fn workload<'a>(sample: &Sample<'a>) -> &'a str {
    folds::workload(sample.launch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_that_do_not_determine_a_parameter_widen_its_interval() {
        let draws: Vec<_> = (1..=40).map(|i| Some(f64::from(i))).collect();
        let [low, high] = interval(&draws);
        assert!(low > 1.0 && high < 40.0, "{low} {high}");
        let some: Vec<_> = draws.iter().copied().chain([None; 4]).collect();
        assert_eq!(interval(&some), [0.0, f64::INFINITY]);
    }

    /// Half and twice as long as measured, and as measured.
    #[test]
    fn a_score_is_of_all_launches_and_of_each_workload() {
        let launch = |workload: &str, seconds| {
            let key = gpubench_core::record::sample::key(workload, 1);
            Launch { key, seconds, ..crate::fit::hand_computed::launch() }
        };
        let launches = [launch("off", 1.0), launch("off", 4.0), launch("right", 3.0)];
        let predicted: Vec<_> = launches.iter().zip([0.5, 8.0, 3.0]).collect();
        let score = Score::of(&predicted).unwrap();
        assert!((score.accuracy - 2.0 / 3.0).abs() < 1e-12 && score.launches == 3, "{score:?}");
        assert_eq!(score.within, None, "of three nothing is known");
        // Nineteen logarithms: 0, and ln 2 eighteen times.
        let many: Vec<_> =
            (0..19).map(|i| (&launches[0], if i == 0 { 1.0 } else { 0.5 })).collect();
        let within = Score::of(&many).unwrap().within.unwrap();
        assert!((within - 2.0).abs() < 1e-9, "{within}");
        assert_eq!(score.workloads.keys().collect::<Vec<_>>(), ["off", "right"]);
        let Residual { accuracy, bias } = score.workloads["off"];
        assert!((accuracy - 0.5).abs() < 1e-12 && (bias - 1.0).abs() < 1e-12, "{score:?}");
        assert_eq!(score.workloads["right"], Residual { accuracy: 1.0, bias: 1.0 });
        let longer = Score::of(&[(&launches[1], 2.0)]).unwrap().workloads["off"].bias;
        assert!((longer - 0.5).abs() < 1e-12, "it took twice as long as predicted: {longer}");
        assert_eq!(Score::of(&[]), None);
    }

    #[test]
    fn a_parameter_is_trusted_within_ten_times_and_apart_from_the_others() {
        let of = |interval, inflation| {
            Parameter { name: "launch", value: 1.0, interval, inflation }.is_identifiable()
        };
        assert!(of([1.0, 10.0], 1.0) && of([0.5, 2.0], 100.0));
        assert!(!of([1.0, 10.1], 1.0) && !of([0.5, 2.0], 100.1));
        assert!(!of([0.0, 0.0], 1.0) && !of([0.0, f64::INFINITY], 1.0) && !of([-1.0, 2.0], 1.0));
    }
}
