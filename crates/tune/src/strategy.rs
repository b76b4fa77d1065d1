//! What every strategy is: asked for a variant, reported the outcome.

use crate::in_order::InOrder;
use crate::model::{Expected, Model, Settings};
use crate::outcome::Outcome;
use crate::space::Space;
use serde::Serialize;

/// Chooses the next variant from the outcomes of those before. Whoever measures drives it: `ask`, measure,
/// `report`, until `ask` has no more or the budget is spent. A search is resumed by reporting to a new strategy
/// what was tried before it is asked.
pub trait Strategy {
    /// The next variant's index, never one that was asked or reported before; `None` when all are tried.
    fn ask(&mut self) -> Option<usize>;
    /// The outcome of a variant.
    fn report(&mut self, variant: usize, outcome: &Outcome);
}

/// The strategies by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Every variant, in the order of the space.
    Exhaustive,
    /// Variants at random.
    Random,
    /// Generic knowledge orders the first, a fitted surrogate chooses the others.
    Model,
}

/// A fresh strategy of this kind; equal seeds give equal searches. What is expected of the variants orders those of the
/// model.
pub fn strategy<'s>(
    kind: Kind,
    space: &'s Space,
    seed: u64,
    expected: &Expected,
) -> Box<dyn Strategy + 's> {
    match kind {
        Kind::Exhaustive => Box::new(InOrder::exhaustive(space)),
        Kind::Random => Box::new(InOrder::random(space, seed)),
        Kind::Model => Box::new(Model::expecting(space, seed, Settings::default(), expected)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Interval;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Whatever the space and the outcomes: each variant once, none outside, none that was reported before.
        #[test]
        fn no_strategy_repeats_itself_or_leaves_the_space(
            rows in proptest::collection::btree_set((1..40i32, 0..5i32, 0..2i32), 1..60),
            times in proptest::collection::vec(proptest::option::of(1e-6..1e3f64), 60),
            reported in 0..10usize,
            seed in any::<u64>(),
        ) {
            let values = |(x, y, z): &(i32, i32, i32)| [x, y, z].map(|n| f64::from(*n)).to_vec();
            let names = ["block_size_x", "tile_size_x", "flag"].map(String::from).to_vec();
            let space = Space::new(names, rows.iter().map(values).collect()).unwrap();
            let outcome = |variant: usize| times[variant].map_or(Outcome::Failed, |time| {
                Outcome::Measured(Interval { low: 0.9 * time, time, high: 1.1 * time })
            });
            for kind in [Kind::Exhaustive, Kind::Random, Kind::Model] {
                let mut strategy = strategy(kind, &space, seed, &Expected::default());
                let mut seen = BTreeSet::new();
                for variant in 0..reported.min(space.len()) {
                    strategy.report(variant, &outcome(variant));
                    seen.insert(variant);
                }
                while let Some(variant) = strategy.ask() {
                    prop_assert!(variant < space.len());
                    prop_assert!(seen.insert(variant), "{kind:?} asked {variant} again");
                    strategy.report(variant, &outcome(variant));
                }
                prop_assert_eq!(seen.len(), space.len());
            }
        }
    }
}
