//! An entry's own measured ceilings, and how close its kernels get to them (model 3).

use super::result_matrix::{Case, Cell, ResultMatrix};
use super::roof::Roof;
use gpubench_model::roofline::Ceilings;
use gpubench_stats::geometric_mean;

/// What an entry was seen to do at most, over its verified cases that the suite calls ceilings.
pub(super) fn roof(matrix: &ResultMatrix, entry: usize) -> Roof {
    let cells = matrix.cells(entry);
    Roof::from_figures(
        cells.filter_map(|(case, cell)| Some((cell.ceiling?, cell.figure(&case.key.workload)))),
    )
}

/// The geometric mean, over kernels, of the ideal time by the roof over the measured one. Kernels that
/// work in a cache or have no work to count are passed over.
pub(super) fn share<'a>(
    roof: &Roof,
    cells: impl Iterator<Item = (&'a Case, &'a Cell)>,
) -> Option<f64> {
    let ceilings = Ceilings { peak: roof.flops()?, bandwidth: roof.bandwidth()? };
    let in_memory = |case: &Case, cell: &Cell| {
        let touched = cell.figure(&case.key.workload).touched();
        !roof.is_cached(touched).unwrap_or(cell.cache)
    };
    let shares: Vec<f64> = cells
        .filter(|(case, cell)| case.key.measure.is_kernel() && in_memory(case, cell))
        .map(|(_, cell)| ceilings.ideal_seconds(cell.flops, cell.bytes) / cell.seconds())
        .filter(|share| *share > 0.0)
        .collect();
    geometric_mean(&shares)
}
