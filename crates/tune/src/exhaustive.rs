//! Every variant, in the order of the space.

use crate::outcome::Outcome;
use crate::space::Space;
use crate::strategy::Strategy;

/// Tries every variant once.
#[derive(Debug)]
pub struct Exhaustive {
    tried: Vec<bool>,
    next: usize,
}

impl Exhaustive {
    /// Over this space.
    pub fn new(space: &Space) -> Self {
        Self { tried: vec![false; space.len()], next: 0 }
    }
}

impl Strategy for Exhaustive {
    fn ask(&mut self) -> Option<usize> {
        let found = (self.next..self.tried.len()).find(|variant| !self.tried[*variant])?;
        self.next = found + 1;
        self.tried[found] = true;
        Some(found)
    }

    fn report(&mut self, variant: usize, _: &Outcome) {
        self.tried[variant] = true;
    }
}
