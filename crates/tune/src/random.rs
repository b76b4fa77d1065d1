//! Variants at random: what any other strategy must beat.

use crate::outcome::Outcome;
use crate::space::Space;
use crate::strategy::Strategy;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

/// Tries every variant once, in an order drawn from the seed.
#[derive(Debug)]
pub struct Random {
    /// The order, back to front.
    order: Vec<usize>,
    tried: Vec<bool>,
}

impl Random {
    /// Over this space.
    pub fn new(space: &Space, seed: u64) -> Self {
        let mut order: Vec<usize> = (0..space.len()).collect();
        order.shuffle(&mut Pcg64Mcg::seed_from_u64(seed));
        Self { order, tried: vec![false; space.len()] }
    }
}

impl Strategy for Random {
    fn ask(&mut self) -> Option<usize> {
        while let Some(variant) = self.order.pop() {
            if !self.tried[variant] {
                self.tried[variant] = true;
                return Some(variant);
            }
        }
        None
    }

    fn report(&mut self, variant: usize, _: &Outcome) {
        self.tried[variant] = true;
    }
}
