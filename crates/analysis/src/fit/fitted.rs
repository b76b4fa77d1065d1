//! Parameters of a model on a device: those that the profile gives, and those that fit best.

use super::unseen::Unseen;
use super::view::View;
use super::{Launch, Model};
use gpubench_model::hybrid::{Factor, Multiples};
use std::collections::BTreeMap;

/// A launch as a model sees it, and what it took.
#[derive(Clone, Debug)]
pub struct Sample<'a> {
    pub(super) launch: &'a Launch,
    pub(super) view: View,
}

impl Sample<'_> {
    /// Seconds of its mean pass.
    pub(super) fn seconds(&self) -> f64 {
        self.launch.seconds / self.view.passes
    }
}

/// A model with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// Which.
    pub model: Model,
    /// The parameters, named by the model's file.
    pub parameters: Vec<f64>,
    /// How many times each one's variance is what it would be if the others were known; infinite
    /// where the launches do not determine it, 1 where it was not fitted or not asked.
    pub inflation: Vec<f64>,
    /// What each kernel takes beyond what the model sees, where that is fitted, too.
    pub factors: BTreeMap<String, Factor>,
    /// What holds for kernels that have no factor, where that is another fit.
    pub unseen: Option<Unseen>,
}

/// What a fit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// Any launch.
    All,
    /// Launches of the kernels that it is fitted to.
    Seen,
    /// Launches of others.
    Unseen,
    /// How far the parameters lie from those of a fit to all.
    Draw,
}

impl For {
    /// Whether it matters how well the parameters are identified.
    pub(super) fn shows_its_parameters(self) -> bool {
        matches!(self, Self::All | Self::Draw)
    }
}

impl Fitted {
    pub(super) fn new(model: Model, parameters: Vec<f64>) -> Self {
        let inflation = vec![1.0; parameters.len()];
        Self { model, parameters, inflation, factors: BTreeMap::new(), unseen: None }
    }

    /// Seconds of a launch of `kernel` that the model sees as `view`.
    pub fn seconds(&self, kernel: &str, view: &View) -> f64 {
        let (parameters, multiples) = self.of(kernel, view);
        view.seconds(parameters, multiples)
    }

    /// The parameters for a launch, and what it takes beyond what the model sees.
    pub(super) fn of(&self, kernel: &str, view: &View) -> (&[f64], Multiples) {
        match (self.factors.get(kernel), &self.unseen) {
            (Some(factor), _) => (&self.parameters, view.pass.multiples(factor)),
            (None, Some(unseen)) => {
                let expected = unseen.multiple(&view.pass.features());
                (&unseen.parameters, Multiples::ONE.scaled(expected))
            }
            (None, None) => (&self.parameters, Multiples::ONE),
        }
    }
}
