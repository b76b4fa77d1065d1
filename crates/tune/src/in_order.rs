//! Every variant once, in an order that no outcome changes.

use crate::outcome::Outcome;
use crate::space::Space;
use crate::strategy::Strategy;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

/// Tries every variant once.
#[derive(Debug)]
pub struct InOrder {
    /// What is left, back to front.
    order: Vec<usize>,
    tried: Vec<bool>,
}

impl InOrder {
    /// In the order of this space.
    pub fn exhaustive(space: &Space) -> Self {
        Self { order: (0..space.len()).rev().collect(), tried: vec![false; space.len()] }
    }

    /// In an order drawn from the seed: what any other strategy must beat.
    pub fn random(space: &Space, seed: u64) -> Self {
        let mut order: Vec<usize> = (0..space.len()).collect();
        order.shuffle(&mut Pcg64Mcg::seed_from_u64(seed));
        Self { order, tried: vec![false; space.len()] }
    }
}

impl Strategy for InOrder {
    fn ask(&mut self) -> Option<usize> {
        while let Some(variant) = self.order.pop() {
            if !std::mem::replace(&mut self.tried[variant], true) {
                return Some(variant);
            }
        }
        None
    }

    fn report(&mut self, variant: usize, _: &Outcome) {
        self.tried[variant] = true;
    }
}
