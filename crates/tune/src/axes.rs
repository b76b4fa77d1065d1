//! One parameter after another: what a search begins with that has few tries.

use crate::outcome::Outcome;
use crate::space::Space;
use crate::strategy::Strategy;
use std::collections::BTreeSet;

/// Tries a first variant, then, of one parameter after another, its other values in place of those of the best so far, those of
/// the fewest values first: a switch that is wrong spoils all that is tried before it is turned;
/// behind them what another strategy asks for. A few variants that are spread over the whole space say less: where a good
/// value of one parameter comes with a bad one of another each time, both look bad.
pub struct Axes<'s> {
    variants: Vec<Vec<f64>>,
    /// Parameters that are left, back to front.
    columns: Vec<usize>,
    /// What is left of the current one, back to front.
    pending: Vec<usize>,
    asked: Vec<bool>,
    best: Option<(usize, f64)>,
    first: usize,
    next: Box<dyn Strategy + 's>,
}

impl<'s> Axes<'s> {
    /// From `first` on; `next` is asked behind it. The values of an only parameter are the whole space, and its.
    pub fn new(space: &Space, first: usize, next: Box<dyn Strategy + 's>) -> Self {
        Self {
            variants: space.variants().to_vec(),
            columns: columns(space).into_iter().map(|(_, column)| column).collect(),
            pending: vec![first],
            asked: vec![false; space.len()],
            best: None,
            first,
            next,
        }
    }

    /// How many variants of a space it tries at most before it asks the other strategy.
    pub fn tries(space: &Space) -> usize {
        1 + columns(space).into_iter().map(|(values, _)| values - 1).sum::<usize>()
    }

    /// The variants that differ from `of` in this parameter alone.
    fn along(&self, column: usize, of: usize) -> Vec<usize> {
        let differs = |other: &[f64]| {
            let pairs = self.variants[of].iter().zip(other).enumerate();
            pairs.filter(|(_, (a, b))| a != b).map(|(at, _)| at).eq([column])
        };
        let all = self.variants.iter().enumerate();
        all.filter(|(_, values)| differs(values)).map(|(variant, _)| variant).rev().collect()
    }
}

/// The parameters, each behind the number of its values, those of the most values first; none where there is but one.
fn columns(space: &Space) -> Vec<(usize, usize)> {
    let values = |column: usize| {
        let all = space.variants().iter().map(|values| values[column].to_bits());
        all.collect::<BTreeSet<u64>>().len()
    };
    let count = space.names().len();
    let mut all: Vec<_> = (0..count).map(|column| (values(column), column)).collect();
    all.sort_by_key(|(values, _)| std::cmp::Reverse(*values));
    if count > 1 { all } else { vec![] }
}

impl Strategy for Axes<'_> {
    fn ask(&mut self) -> Option<usize> {
        loop {
            if let Some(variant) = self.pending.pop() {
                if !std::mem::replace(&mut self.asked[variant], true) {
                    return Some(variant);
                }
            } else if let Some(column) = self.columns.pop() {
                let best = self.best.map_or(self.first, |(variant, _)| variant);
                self.pending = self.along(column, best);
            } else {
                return self.next.ask();
            }
        }
    }

    fn report(&mut self, variant: usize, outcome: &Outcome) {
        self.asked[variant] = true;
        let time = outcome.time().filter(|time| self.best.is_none_or(|(_, best)| *time < best));
        self.best = time.map(|time| (variant, time)).or(self.best);
        self.next.report(variant, outcome);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, Settings};
    use crate::outcome::Interval;

    fn space() -> Space {
        let values = |i: usize| [i % 5, i / 5 % 2, i / 10].map(|value| value as f64).to_vec();
        Space::new(["a", "b", "c"].map(String::from).to_vec(), (0..30).map(values).collect())
            .unwrap()
    }

    fn measured(time: f64) -> Outcome {
        Outcome::Measured(Interval { low: time, time, high: time })
    }

    #[test]
    fn parameters_follow_each_other_from_the_best_on_and_then_the_other_strategy() {
        let space = space();
        let settings = Settings { start: 0, ..Settings::default() };
        let mut axes = Axes::new(&space, 7, Box::new(Model::with(&space, 1, settings)));
        let mut tried = vec![];
        // Best at a = 3, b = 0, c = 2.
        let time = |variant: usize| {
            let values = &space.variants()[variant];
            1.0 + (values[0] - 3.0).abs() + values[1] + (2.0 - values[2])
        };
        while let Some(variant) = axes.ask() {
            axes.report(variant, &measured(time(variant)));
            tried.push(variant);
        }
        assert_eq!(tried[..8], [7, 2, 12, 22, 20, 21, 23, 24], "b, c of b = 0, a of c = 2");
        assert_eq!(Axes::tries(&space), 8);
        assert_eq!(tried.iter().collect::<BTreeSet<_>>().len(), 30, "each once");
    }

    #[test]
    fn an_only_parameter_is_the_other_strategys() {
        let values = (0..9).map(|i| vec![f64::from(i)]).collect();
        let space = Space::new(vec!["a".into()], values).unwrap();
        let mut axes = Axes::new(&space, 4, Box::new(crate::InOrder::exhaustive(&space)));
        assert_eq!(Axes::tries(&space), 1);
        let asked = std::iter::from_fn(|| {
            let variant = axes.ask()?;
            axes.report(variant, &measured(1.0));
            Some(variant)
        });
        assert_eq!(asked.take(3).collect::<Vec<_>>(), [4, 0, 1]);
    }

    #[test]
    fn where_nothing_runs_all_are_tried_around_the_first() {
        let space = space();
        let mut axes = Axes::new(&space, 0, Box::new(crate::InOrder::exhaustive(&space)));
        let mut tried = BTreeSet::new();
        while let Some(variant) = axes.ask() {
            axes.report(variant, &Outcome::Failed);
            assert!(tried.insert(variant));
        }
        assert_eq!(tried.len(), 30);
    }
}
