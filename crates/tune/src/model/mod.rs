//! The model-based strategy: generic knowledge orders the first variants, then a Gaussian process on the log
//! of the times chooses the one with the largest expected improvement (Jones, Schonlau and Welch 1998).

mod design;
mod expected;
mod features;
mod gaussian;
mod prior;
mod roles;

use crate::outcome::Outcome;
use crate::space::Space;
use crate::strategy::Strategy;
pub use expected::Expected;
use features::Features;
pub(crate) use gaussian::Lengths;
pub use gaussian::Settings as Process;
pub use prior::Weights;
use rand::SeedableRng;
use rand::seq::index;
use rand_pcg::Pcg64Mcg;
use roles::Roles;
use statrs::function::erf::erfc;
use std::collections::HashMap;

/// What a search may be tuned by. The defaults are judged in `docs/results`.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Variants tried before the surrogate is fitted.
    pub start: usize,
    /// Tries between two fits of the surrogate's lengths.
    pub fit_every: usize,
    /// An improvement of the log time below this is none: what is as good as the best teaches nothing.
    pub margin: f64,
    /// Each so many tries, one is of code that was never tried; 0 for never.
    pub new_code_every: usize,
    /// How many variants a choice looks at: of larger spaces, as many drawn anew each time.
    pub candidates: usize,
    /// How much a log slow-down counts in the start's draw: at this one, a variant is e times less likely.
    pub temperature: f64,
    /// Of the process.
    pub process: Process,
    /// Of the prior.
    pub weights: Weights,
    /// What the log of an expected time counts in the prior.
    pub expected: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            start: 4,
            fit_every: 5,
            margin: 0.1,
            new_code_every: 4,
            candidates: 5000,
            temperature: 0.3,
            process: Process::default(),
            weights: Weights::default(),
            expected: 0.5,
        }
    }
}

/// The state of a model-based search.
#[derive(Debug)]
pub struct Model {
    features: Features,
    /// The prior mean of each variant's log time, but for a constant.
    prior: Vec<f64>,
    /// Of each variant, which code it is: what differs in the group's shape alone is the same.
    code: Vec<usize>,
    /// How often each code was tried.
    code_tries: Vec<usize>,
    /// What is left of the start, back to front.
    start: Vec<usize>,
    asked: Vec<bool>,
    untried: usize,
    /// What was tried, with the log time of what did not fail.
    reported: Vec<(usize, Option<f64>)>,
    lengths: Lengths,
    fitted_at: Option<usize>,
    random: Pcg64Mcg,
    settings: Settings,
}

impl Model {
    /// Over this space; equal seeds give equal searches.
    pub fn new(space: &Space, seed: u64) -> Self {
        Self::with(space, seed, Settings::default())
    }

    /// As [`Self::new`], with these settings.
    pub fn with(space: &Space, seed: u64, settings: Settings) -> Self {
        Self::expecting(space, seed, settings, &Expected::default())
    }

    /// As [`Self::with`], with what is expected of each variant of the space.
    pub fn expecting(space: &Space, seed: u64, settings: Settings, expected: &Expected) -> Self {
        let roles = Roles::of(space);
        let expected = expected.log_slowdowns();
        let features = Features::of(space, &roles, &expected);
        let mut prior = prior::log_slowdowns(space, &roles, settings.weights);
        for (prior, expected) in prior.iter_mut().zip(&expected) {
            *prior += settings.expected * expected;
        }
        let code = codes(space, &roles);
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut start =
            design::start(&features, &prior, (settings.start, settings.temperature), &mut random);
        start.reverse();
        Self {
            lengths: Lengths::new(features.width(), settings.process),
            code_tries: vec![0; space.len()],
            code,
            features,
            prior,
            start,
            asked: vec![false; space.len()],
            untried: space.len(),
            reported: vec![],
            fitted_at: None,
            random,
            settings,
        }
    }

    fn mark(&mut self, variant: usize) {
        if !std::mem::replace(&mut self.asked[variant], true) {
            self.untried -= 1;
            self.code_tries[self.code[variant]] += 1;
        }
    }

    /// What was observed above the prior: a failure counts as slow as the slowest.
    fn residuals(&self) -> Vec<f64> {
        let slowest = self.reported.iter().filter_map(|(_, log)| *log).max_by(f64::total_cmp);
        let slowest = slowest.unwrap_or(0.0);
        self.reported
            .iter()
            .map(|(variant, log)| log.unwrap_or(slowest) - self.prior[*variant])
            .collect()
    }

    fn candidates(&mut self) -> Vec<usize> {
        let mut all: Vec<usize> =
            (0..self.asked.len()).filter(|variant| !self.asked[*variant]).collect();
        let every = self.settings.new_code_every;
        if every > 0 && self.reported.len().is_multiple_of(every) {
            let is_new = |variant: &usize| self.code_tries[self.code[*variant]] == 0;
            let new: Vec<usize> = all.iter().copied().filter(is_new).collect();
            if !new.is_empty() {
                all = new;
            }
        }
        if all.len() <= self.settings.candidates {
            return all;
        }
        index::sample(&mut self.random, all.len(), self.settings.candidates)
            .iter()
            .map(|at| all[at])
            .collect()
    }

    /// The untried variant with the largest expected improvement; `None` where nothing was learnt yet, or
    /// variants differ in no feature.
    fn promising(&mut self) -> Option<usize> {
        if self.features.width() == 0 {
            return None;
        }
        let best = self.reported.iter().filter_map(|(_, log)| *log).min_by(f64::total_cmp)?;
        let residuals = self.residuals();
        let count = residuals.len() as f64;
        let mean = residuals.iter().sum::<f64>() / count;
        let variance = residuals.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        let deviation = variance.sqrt().max(1e-9);
        let values: Vec<f64> = residuals.iter().map(|value| (value - mean) / deviation).collect();
        let candidates = self.candidates();
        let points: Vec<&[f64]> =
            self.reported.iter().map(|(one, _)| self.features.row(*one)).collect();
        if self.fitted_at.is_none_or(|at| points.len() >= at + self.settings.fit_every) {
            self.lengths.fit(&points, &values);
            self.fitted_at = Some(points.len());
        }
        let mut process = self.lengths.condition(&points, &values)?;
        let margin = self.settings.margin;
        let improvement = |variant: usize| {
            let (predicted, doubt) = process.predict(self.features.row(variant));
            let predicted = mean + deviation * predicted + self.prior[variant];
            expected_improvement(best - margin - predicted, deviation * doubt)
        };
        largest(candidates, improvement)
    }
}

impl Strategy for Model {
    fn ask(&mut self) -> Option<usize> {
        if self.untried == 0 {
            return None;
        }
        while let Some(variant) = self.start.pop() {
            if !self.asked[variant] {
                self.mark(variant);
                return Some(variant);
            }
        }
        // Where all failed so far, the prior alone decides.
        let chosen = self.promising().or_else(|| {
            let candidates = self.candidates();
            largest(candidates, |variant| -self.prior[variant])
        })?;
        self.mark(chosen);
        Some(chosen)
    }

    fn report(&mut self, variant: usize, outcome: &Outcome) {
        self.mark(variant);
        self.reported.push((variant, outcome.estimate().map(f64::ln)));
    }
}

/// Numbers the combinations of all parameters but those of the group's shape: a compiler makes different code
/// of each, and how good it is at one of them is hard to tell from the others.
fn codes(space: &Space, roles: &Roles) -> Vec<usize> {
    let mut known: HashMap<Vec<u64>, usize> = HashMap::new();
    let number = |values: &Vec<f64>| {
        let columns = values.iter().enumerate();
        let others = columns.filter(|(column, _)| !roles.group.contains(&Some(*column)));
        let next = known.len();
        *known.entry(others.map(|(_, value)| value.to_bits()).collect()).or_insert(next)
    };
    space.variants().iter().map(number).collect()
}

/// The first of the candidates with the largest score.
fn largest(candidates: Vec<usize>, mut score: impl FnMut(usize) -> f64) -> Option<usize> {
    let scored = candidates.into_iter().map(|variant| (score(variant), variant));
    scored.reduce(|a, b| if b.0 > a.0 { b } else { a }).map(|(_, variant)| variant)
}

/// Of a normal variable around `gain`, the mean of what is above 0.
fn expected_improvement(gain: f64, deviation: f64) -> f64 {
    let u = gain / deviation;
    let density = (-0.5 * u * u).exp() / std::f64::consts::TAU.sqrt();
    let below = 0.5 * erfc(-u / std::f64::consts::SQRT_2);
    gain * below + deviation * density
}

#[cfg(test)]
mod tests;
