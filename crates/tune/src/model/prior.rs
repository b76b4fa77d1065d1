//! What is known of GPUs before anything is measured: how much longer a variant is likely to take.
//!
//! No term knows a card or a kernel. The weights are round numbers; the dated page in `docs/results` says on what
//! they were chosen and how far to trust them.

use super::roles::{Roles, odd_part};
use crate::space::Space;

/// The widest subgroup in use; 32 divides it.
const SUBGROUP: f64 = 64.0;
/// Neighbours along x in one transaction of memory.
const COALESCED: f64 = 32.0;
/// Work-items a group that suit most kernels.
const GROUP: [f64; 2] = [64.0, 256.0];
/// Outputs a work-item that reuse operands and leave registers.
const TILE: [f64; 2] = [2.0, 8.0];

/// Weights of the terms, each the natural log of a slow-down.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// A factor of two that the group lies outside its range.
    pub group: f64,
    /// Lanes of the last subgroup idle, per lane that works.
    pub idle: f64,
    /// A factor of two that the group's x is below what one transaction serves.
    pub coalesced: f64,
    /// A factor of two that the outputs a work-item lie outside their range.
    pub tile: f64,
    /// An axis along which a group's outputs are no power of two: guards, and partial groups at the rim.
    pub uneven: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self { group: 0.375, idle: 0.75, coalesced: 0.225, tile: 0.15, uneven: 0.225 }
    }
}

/// The expected log of each variant's slow-down over an ideal one.
pub fn log_slowdowns(space: &Space, roles: &Roles, weights: Weights) -> Vec<f64> {
    space.variants().iter().map(|values| log_slowdown(values, roles, weights)).collect()
}

fn log_slowdown(values: &[f64], roles: &Roles, weights: Weights) -> f64 {
    let mut sum = 0.0;
    if roles.shapes_group() {
        let group: f64 = roles.group(values).iter().product();
        sum += weights.group * octaves_outside(group, GROUP);
        sum += weights.idle * ((group / SUBGROUP).ceil() * SUBGROUP / group - 1.0);
    }
    if roles.group[0].is_some() {
        sum += weights.coalesced * (COALESCED / roles.group(values)[0]).log2().max(0.0);
    }
    if roles.shapes_tile() {
        let tile = roles.tile(values).iter().product();
        sum += weights.tile * octaves_outside(tile, TILE);
    }
    let uneven = roles.spans(values).iter().filter(|span| odd_part(**span) != 1.0).count();
    sum + weights.uneven * uneven as f64
}

/// How many factors of two `number` lies below or above a range.
fn octaves_outside(number: f64, [low, high]: [f64; 2]) -> f64 {
    (low / number).log2().max((number / high).log2()).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_term_adds_its_weight() {
        let names = ["block_size_x", "block_size_y", "tile_size_x"].map(String::from);
        let variants = vec![
            vec![64.0, 2.0, 4.0],
            vec![64.0, 8.0, 4.0],
            vec![16.0, 8.0, 4.0],
            vec![96.0, 1.0, 2.0],
            vec![64.0, 1.0, 1.0],
        ];
        let space = Space::new(names.into(), variants).unwrap();
        let weights =
            Weights { group: 1.0, idle: 10.0, coalesced: 100.0, tile: 1000.0, uneven: 1e4 };
        let all = log_slowdowns(&space, &Roles::of(&space), weights);
        assert_eq!(all[0], 0.0);
        assert_eq!(all[1], 1.0);
        assert_eq!(all[2], 100.0);
        assert!((all[3] - 1e4 - 10.0 / 3.0).abs() < 1e-9, "{}", all[3]);
        assert_eq!(all[4], 1000.0);
    }
}
