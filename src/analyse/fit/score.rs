//! How well models foresee launches that no fit saw, and how sure their parameters are.

use super::device::Device;
use super::fitted::{Fitted, For, Sample};
use super::{Launch, Model};
use crate::model::accuracy;
use crate::reference::map_all;
use crate::stats::{geometric_mean, quantile};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Accuracy on launches that no fit saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    /// Mean of smaller over larger.
    pub accuracy: f64,
    /// Launches foreseen.
    pub launches: usize,
    /// Nineteen of twenty predictions were within this factor of what was measured.
    pub within: f64,
    /// Each workload by itself.
    pub workloads: BTreeMap<String, Residual>,
}

/// How far a workload's predictions were off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Residual {
    /// Mean of smaller over larger.
    pub accuracy: f64,
    /// Foreseen over measured, geometric mean: below 1 it took longer than foreseen.
    pub bias: f64,
}

impl Score {
    /// `None` where nothing could be foreseen.
    pub(super) fn of(foreseen: &[(&Launch, f64)]) -> Option<Self> {
        let mut by: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
        for (launch, seconds) in foreseen {
            let one = (accuracy(*seconds, launch.seconds), seconds / launch.seconds);
            by.entry(&launch.key.workload).or_default().push(one);
        }
        let ratios = || by.values().flatten().map(|(_, ratio)| *ratio);
        let mut off: Vec<f64> = ratios().map(|ratio| ratio.ln().abs()).collect();
        off.sort_by(f64::total_cmp);
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
            within: quantile(&off, 0.95).exp(),
            workloads: by.iter().map(|(name, all)| ((*name).to_owned(), residual(all))).collect(),
        })
    }
}

/// A parameter with its 95 % bootstrap interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its value: seconds, cycles, or per second; scales, degrees and the sharpness have no unit.
    pub value: f64,
    /// Between what bounds it lies if other workloads had been measured.
    pub interval: [f64; 2],
    /// How many times its variance is what it would be if the others were known.
    pub inflation: f64,
}

/// Beyond this a parameter is told from the others to a hundredth of a per cent only.
const ILL_CONDITIONED: f64 = 1e4;

impl Parameter {
    /// Whether it is a number to trust: its interval spans ten times at most, and it can be told
    /// apart from the other parameters.
    pub fn is_identifiable(&self) -> bool {
        let [low, high] = self.interval;
        low > 0.0 && high / low <= 10.0 && self.inflation <= ILL_CONDITIONED
    }
}

/// Fits that leave workloads out.
const FOLDS: usize = 64;

/// Draws for the parameters' intervals.
const DRAWS: usize = 40;

/// A fit to all samples, to be held against fits to some of them.
pub(super) struct Judge<'a> {
    pub(super) model: Model,
    pub(super) samples: &'a [Sample<'a>],
    pub(super) device: Option<&'a Device>,
    pub(super) all: &'a Fitted,
}

impl<'a> Judge<'a> {
    fn fit(&self, samples: &[Sample<'_>], what: For) -> Option<Fitted> {
        self.model.fit(samples, self.device, Some(self.all), what).ok()
    }

    /// Each size foreseen from the others, of workloads measured at two or more. Sizes of several
    /// workloads are left out at a time, never two of one, nor those of the same rank.
    pub(super) fn size_out(&self) -> Option<Score> {
        let folds = self.folds();
        let count = folds.iter().flatten().max().map_or(0, |most| most + 1);
        let numbers: Vec<usize> = (0..count).collect();
        let foreseen =
            map_all(&numbers, |&fold| self.without(|i| folds[i] == Some(fold), For::Seen));
        Score::of(&foreseen.into_iter().flatten().collect::<Vec<_>>())
    }

    /// In which fold each sample is left out; `None` where its workload has no other size.
    fn folds(&self) -> Vec<Option<usize>> {
        let mut sizes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (i, sample) in self.samples.iter().enumerate() {
            sizes.entry(&sample.launch.key.workload).or_default().push(i);
        }
        let most = sizes.values().map(Vec::len).max().unwrap_or(0);
        let mut folds = vec![None; self.samples.len()];
        for (number, (_, samples)) in sizes.into_iter().enumerate() {
            for (rank, &sample) in samples.iter().enumerate().filter(|_| samples.len() > 1) {
                folds[sample] = Some((number + rank) % most);
            }
        }
        folds
    }

    /// Each workload foreseen from the others; of more than [`FOLDS`], several are left out at a
    /// time.
    pub(super) fn workload_out(&self) -> Option<Score> {
        let names: Vec<&str> = workloads(self.samples).into_iter().collect();
        let folds: Vec<Vec<&str>> = (0..names.len().min(FOLDS))
            .map(|fold| names.iter().copied().skip(fold).step_by(FOLDS).collect())
            .collect();
        let of = |i: usize| self.samples[i].launch.key.workload.as_str();
        let foreseen =
            map_all(&folds, |names| self.without(|i| names.contains(&of(i)), For::Unseen));
        Score::of(&foreseen.into_iter().flatten().collect::<Vec<_>>())
    }

    /// The samples for which `left_out` holds, as a fit to the others foresees them.
    fn without(&self, left_out: impl Fn(usize) -> bool, what: For) -> Vec<(&'a Launch, f64)> {
        let (mut out, mut others) = (vec![], vec![]);
        for (i, sample) in self.samples.iter().enumerate() {
            if left_out(i) { out.push(sample) } else { others.push(sample.clone()) }
        }
        let Some(fitted) = self.fit(&others, what) else { return vec![] };
        let seconds = |s: &&Sample<'a>| fitted.seconds(&s.launch.key.workload, &s.view);
        out.iter().map(|sample| (sample.launch, seconds(sample))).collect()
    }

    /// Intervals from fits to workloads drawn with replacement: those of a workload err alike.
    pub(super) fn parameters(&self, seed: u64) -> Vec<Parameter> {
        let names: Vec<&str> = workloads(self.samples).into_iter().collect();
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let drawn: Vec<Vec<&str>> = (0..DRAWS)
            .map(|_| (0..names.len()).map(|_| names[rng.random_range(0..names.len())]).collect())
            .collect();
        let draws = map_all(&drawn, |drawn| {
            let of = |name: &&str| {
                let name = (*name).to_owned();
                self.samples.iter().filter(move |s| s.launch.key.workload == name).cloned()
            };
            self.fit(&drawn.iter().flat_map(of).collect::<Vec<_>>(), For::Seen)
        });
        let draws: Vec<Fitted> = draws.into_iter().flatten().collect();
        let named = self.model.parameters().iter().zip(&self.all.parameters).enumerate();
        named
            .map(|(i, (&name, &value))| {
                let mut values: Vec<f64> = draws.iter().map(|draw| draw.parameters[i]).collect();
                values.sort_by(f64::total_cmp);
                let interval = match values.is_empty() {
                    true => [0.0, f64::INFINITY],
                    false => [0.025, 0.975].map(|q| quantile(&values, q)),
                };
                Parameter { name, value, interval, inflation: self.all.inflation[i] }
            })
            .collect()
    }
}

fn workloads<'a>(samples: &'a [Sample<'_>]) -> BTreeSet<&'a str> {
    samples.iter().map(|sample| sample.launch.key.workload.as_str()).collect()
}
