//! Predictions of every variant of a space: by our own model, by the published ones, and by what needs none.

use super::counting::count;
use super::kernels::{GroupCounts, Workload};
use super::score::{Evaluated, Score};
use gpubench_analysis::fit::{Counted, DataSheet, Launch, Model, OwnRoof, SpacePredictor};
use gpubench_core::error::{Error, Result};
use gpubench_core::workload::{CaseKey, Kind};
use gpubench_model::variant::{Effect, Sheet, Variant};
use gpubench_tune::model::{Expected, Model as Search, Settings};
use gpubench_tune::{Outcome, Recorded, Trees, replay, residuals, summary};
use rand::SeedableRng;
use rand::seq::index;
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A space with what its variants do and take.
pub struct Spaced {
    workload: &'static Workload,
    sheet: Sheet,
    data_sheet: DataSheet,
    /// What each variant does and takes, also of those that failed.
    all: Vec<(Variant, Arc<GroupCounts>)>,
    /// Which were measured; of each of these its values in the workload's order, and its seconds.
    ran: Vec<usize>,
    raw: Vec<Vec<f64>>,
    measured: Vec<f64>,
}

/// What searches find by what is expected before anything is measured, over the best of the space.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SearchScore {
    /// Mean over the seeds.
    pub mean_ratio: f64,
    /// What nine of ten searches reach.
    pub p90_ratio: f64,
}

/// The evaluations by name.
pub type Evaluations = BTreeMap<&'static str, Evaluated>;

impl Spaced {
    /// Counts the variants of a recorded space.
    ///
    /// # Errors
    /// Where the space is not the workload's, or a variant cannot be emulated.
    pub fn new(
        workload: &'static Workload,
        recorded: &Recorded,
        data_sheet: DataSheet,
    ) -> Result<Self> {
        let space = recorded.space();
        workload.check(space)?;
        let counts = count(workload, space, data_sheet.rules())?;
        let (mut all, mut ran, mut raw, mut measured) = (vec![], vec![], vec![], vec![]);
        for (at, (outcome, counts)) in recorded.outcomes().iter().zip(counts).enumerate() {
            all.push((workload.variant(&workload.values(space, at), &counts), counts));
            let Some(seconds) = Outcome::time(outcome) else { continue };
            ran.push(at);
            raw.push(workload.row(space, at));
            measured.push(seconds);
        }
        let sheet = data_sheet.sheet();
        Ok(Self { workload, sheet, data_sheet, all, ran, raw, measured })
    }

    /// The variants that were measured.
    fn variants(&self) -> impl Iterator<Item = &Variant> {
        self.ran.iter().map(|&at| &self.all[at].0)
    }

    /// How many variants were measured.
    pub fn len(&self) -> usize {
        self.measured.len()
    }

    /// Every model, from the data sheet alone or fitted to `fit` variants drawn at random, and the baselines.
    ///
    /// # Errors
    /// `Usage` where the space has fewer variants.
    pub fn evaluate(&self, fit: usize, draws: u64) -> Result<(Evaluations, Evaluations)> {
        if fit > self.len() {
            let why =
                format!("only {} variants were measured: --fit {} at most", self.len(), self.len());
            return Err(Error::Usage(why));
        }
        let draws = if fit == 0 { 1 } else { draws };
        let trains: Vec<Vec<usize>> = (0..draws).map(|seed| self.draw(fit, seed)).collect();
        let mut models = Evaluations::new();
        for (name, predictions) in self.published(&trains) {
            models.extend(self.score(&predictions).map(|evaluated| (name, evaluated)));
        }
        let seeded = trains.par_iter().enumerate();
        let hybrid: Vec<_> = seeded.map(|(seed, train)| self.hybrid(train, seed as u64)).collect();
        models.extend(self.score(&hybrid).map(|evaluated| ("hybrid", evaluated)));
        Ok((models, self.baselines(&trains)))
    }

    /// The score of the data sheet's prediction without each effect.
    pub fn without_effects(&self) -> BTreeMap<&'static str, Score> {
        let without = |effect: Effect| {
            let seconds = |v: &Variant| Some(self.sheet.seconds_without(v, effect));
            let predicted: Vec<_> = self.variants().map(seconds).collect();
            Some((effect.label(), Score::of(&predicted, &self.measured)?))
        };
        Effect::ALL.into_iter().filter_map(without).collect()
    }

    /// The best measured and the best predicted time, seconds.
    pub fn best(&self) -> [f64; 2] {
        let min_of = |all: &mut dyn Iterator<Item = f64>| all.fold(f64::INFINITY, f64::min);
        let mut predicted = self.variants().map(|v| self.sheet.seconds(v));
        [min_of(&mut self.measured.iter().copied()), min_of(&mut predicted)]
    }

    /// Time of another device's best variant here, over the best; `None` where it was not measured here.
    pub fn carried(&self, other: &Recorded) -> Option<f64> {
        self.workload.check(other.space()).ok()?;
        let values = self.workload.row(other.space(), other.best());
        let at = self.raw.iter().position(|own| *own == values)?;
        Some(self.measured[at] / self.best()[0])
    }

    fn draw(&self, fit: usize, seed: u64) -> Vec<usize> {
        index::sample(&mut Pcg64Mcg::seed_from_u64(seed), self.len(), fit).into_vec()
    }

    fn score(&self, predictions: &[Vec<Option<f64>>]) -> Option<Evaluated> {
        let scores: Vec<Score> =
            predictions.iter().filter_map(|one| Score::of(one, &self.measured)).collect();
        Evaluated::of(&scores)
    }

    /// The data sheet's prediction, times what measured variants say of it.
    fn hybrid(&self, train: &[usize], seed: u64) -> Vec<Option<f64>> {
        let predicted: Vec<f64> = self.variants().map(|v| self.sheet.seconds(v)).collect();
        if train.is_empty() {
            return predicted.into_iter().map(Some).collect();
        }
        let off = |&at: &usize| (self.measured[at] / predicted[at]).ln();
        let values: Vec<f64> = train.iter().map(off).collect();
        let all = residuals(&self.features(), train, &values, seed);
        predicted.iter().zip(all).map(|(seconds, off)| Some(seconds * off.exp())).collect()
    }

    /// Of every variant what its residual may follow: parameters, their products, and the shares of its effects.
    fn features(&self) -> Vec<Vec<f64>> {
        let row = |(raw, variant): (&Vec<f64>, &Variant)| {
            let effects = self.sheet.effects(variant);
            let whole: f64 = effects.iter().sum();
            let mut row: Vec<f64> = raw.iter().map(|value| value.ln_1p()).collect();
            row.extend(effects.iter().map(|seconds| (seconds / whole).sqrt()));
            row.extend([
                whole.ln(),
                variant.groups.ln(),
                variant.group_warps.ln(),
                variant.outputs.ln(),
                self.sheet.occupancy(variant).ln(),
                f64::from(variant.overhangs),
                (variant.staging / variant.groups / variant.group_warps).ln_1p(),
            ]);
            // Work-items and outputs of a group.
            let items = raw[0] * raw[1];
            row.extend([items.ln(), (raw[0] * raw[2]).ln(), (raw[1] * raw[3]).ln()]);
            row
        };
        let mut rows: Vec<Vec<f64>> = self.raw.iter().zip(self.variants()).map(row).collect();
        standardise(&mut rows);
        rows
    }

    /// The published models: for each its predictions, draw by draw.
    fn published(&self, trains: &[Vec<usize>]) -> Vec<(&'static str, Vec<Vec<Option<f64>>>)> {
        let measured = self.ran.iter().zip(&self.measured);
        let launches: Vec<Launch> =
            measured.map(|(&at, &seconds)| self.launch(at, seconds)).collect();
        let device = self.data_sheet.device();
        let evaluate = |model: Model| {
            let predictor = SpacePredictor::new(model, &launches, &device);
            // A draw that a model cannot be fitted to counts for none of its scores.
            let each = trains.par_iter().filter_map(|train| predictor.seconds(train).ok());
            (model.id, each.collect())
        };
        published().map(evaluate).collect()
    }

    /// What `tune`'s search of the space, `recorded`, finds in so many variants where each model's prediction from the data
    /// sheet alone orders them, and where the parameters' names alone do.
    pub fn search(
        &self,
        recorded: &Recorded,
        variants: usize,
        seeds: u64,
    ) -> BTreeMap<&'static str, SearchScore> {
        let mut expected = vec![("names", Expected::default())];
        let own = self.all.iter().map(|(variant, _)| Some(self.sheet.seconds(variant)));
        expected.push(("hybrid", Expected(own.collect())));
        let launches: Vec<Launch> =
            (0..self.all.len()).map(|at| self.launch(at, f64::NAN)).collect();
        let device = self.data_sheet.device();
        for model in published() {
            let seconds = SpacePredictor::new(model, &launches, &device).seconds(&[]);
            expected.extend(seconds.ok().map(|seconds| (model.id, Expected(seconds))));
        }
        let of = |(name, expected): (&'static str, Expected)| {
            let space = recorded.space();
            let begin = |seed| Search::expecting(space, seed, Settings::default(), &expected);
            let one = |seed| replay(recorded, &mut begin(seed), variants);
            let found = summary((0..seeds).into_par_iter().map(one).collect())?;
            let score = SearchScore { mean_ratio: found.mean_ratio, p90_ratio: found.p90_ratio };
            Some((name, score))
        };
        expected.into_iter().filter_map(of).collect()
    }

    /// A variant as a launch that took these seconds.
    fn launch(&self, at: usize, seconds: f64) -> Launch {
        let (variant, counts) = &self.all[at];
        let (operations, bytes) = self.workload.work();
        let key = CaseKey {
            workload: self.workload.name.to_owned(),
            size: vec![],
            measure: Kind::KERNEL,
            host_memory: None,
        };
        Launch {
            key,
            kernel: self.workload.name.to_owned(),
            passes: 1.0,
            operations,
            bytes,
            buffers: bytes,
            own_roof: OwnRoof::default(),
            counted: Ok(Counted {
                group: Arc::new(counts.counts.clone()),
                groups: variant.whole_groups * f64::from(self.workload.repeats),
            }),
            seconds,
        }
    }

    /// Trees on the raw parameters, and the best of as many variants tried at random.
    fn baselines(&self, trains: &[Vec<usize>]) -> Evaluations {
        let mut all = Evaluations::new();
        let fitted: Vec<_> =
            trains.iter().zip(0..).filter(|(train, _)| !train.is_empty()).collect();
        let trees = |&(train, seed): &(&Vec<usize>, u64)| {
            let rows: Vec<&[f64]> = train.iter().map(|&at| self.raw[at].as_slice()).collect();
            let values: Vec<f64> = train.iter().map(|&at| self.measured[at].ln()).collect();
            let trees = Trees::fit(&rows, &values, seed);
            self.raw.iter().map(|row| Some(trees.predict(row).exp())).collect::<Vec<_>>()
        };
        let by_trees: Vec<_> = fitted.par_iter().map(trees).collect();
        all.extend(self.score(&by_trees).map(|evaluated| ("trees", evaluated)));
        let random = |&(train, _): &(&Vec<usize>, u64)| {
            let mut known = vec![None; self.len()];
            train.iter().for_each(|&at| known[at] = Some(self.measured[at]));
            known
        };
        let by_chance: Vec<_> = fitted.iter().map(random).collect();
        all.extend(self.score(&by_chance).map(|evaluated| ("random", evaluated)));
        all
    }
}

/// The published models: all but our own.
fn published() -> impl Iterator<Item = Model> {
    Model::ALL.into_iter().filter(|model| *model != Model::HYBRID)
}

/// To mean 0 and deviation 1, column by column; what does not vary becomes 0.
fn standardise(rows: &mut [Vec<f64>]) {
    let count = rows.len() as f64;
    for column in 0..rows.first().map_or(0, Vec::len) {
        let mean = rows.iter().map(|row| row[column]).sum::<f64>() / count;
        let squares = rows.iter().map(|row| (row[column] - mean).powi(2)).sum::<f64>();
        let deviation = (squares / count).sqrt();
        for row in rows.iter_mut() {
            let value = (row[column] - mean) / deviation;
            row[column] = if deviation > 1e-9 { value } else { 0.0 };
        }
    }
}
