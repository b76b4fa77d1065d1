//! An entry's own measured ceilings, and how close its kernels get to them (model 3).

use super::result_matrix::{Case, Cell, ResultMatrix};
use gpubench_model::roofline::Ceilings;
use gpubench_stats::geometric_mean;

/// The best rates over the verified cases that the suite tags `ceiling`; a bandwidth from a cache
/// is none. `None` where either is missing.
pub fn ceilings(matrix: &ResultMatrix, entry: usize) -> Option<Ceilings> {
    let (mut peak, mut bandwidth) = (0.0_f64, 0.0_f64);
    for (_, cell) in matrix.cells(entry).filter(|(_, cell)| cell.ceiling) {
        peak = peak.max(cell.flops / cell.seconds());
        if !cell.cache {
            bandwidth = bandwidth.max(cell.bytes / cell.seconds());
        }
    }
    (peak > 0.0 && bandwidth > 0.0).then_some(Ceilings { peak, bandwidth })
}

/// The geometric mean, over kernels, of the ideal time by `ceilings` over the measured one.
/// Kernels that work in a cache or have no work to count are passed over.
pub(super) fn share<'a>(
    ceilings: Ceilings,
    cells: impl Iterator<Item = (&'a Case, &'a Cell)>,
) -> Option<f64> {
    let shares: Vec<f64> = cells
        .filter(|(case, cell)| case.key.measure.is_kernel() && !cell.cache)
        .map(|(_, cell)| ceilings.ideal_seconds(cell.flops, cell.bytes) / cell.seconds())
        .filter(|share| *share > 0.0)
        .collect();
    geometric_mean(&shares)
}
