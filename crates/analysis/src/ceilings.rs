//! An entry's own measured ceilings, and how close its kernels get to them (model 3).

use super::result_matrix::{Case, Cell, ResultMatrix};
use super::roof::Roof;
use gpubench_model::roofline::Ceilings;
use gpubench_stats::geometric_mean;

/// What an entry was seen to do at most, over its verified cases that the suite calls ceilings.
pub(super) fn roof(matrix: &ResultMatrix, entry: usize) -> Roof {
    let cells = matrix.cells(entry);
    Roof::from_figures(cells.filter_map(|(case, cell)| cell.ceiling(&case.key.workload)))
}

/// The geometric mean, over kernels, of the ideal time by the roof over the measured one. Kernels that
/// work in a cache, that touch more than any ceiling did or that have no work to count are passed over.
pub(super) fn share<'a>(
    roof: &Roof,
    cells: impl Iterator<Item = (&'a Case, &'a Cell)>,
) -> Option<f64> {
    let share = |case: &Case, cell: &Cell| {
        let figure = cell.figure(&case.key.workload);
        let (peak, touched) = (roof.peak_to(&figure)?, figure.touched());
        let bandwidth = roof.bandwidth_to(touched)?;
        let in_memory = !roof.is_cached(touched).unwrap_or(cell.cache);
        let ideal = Ceilings { peak, bandwidth }.ideal_seconds(cell.flops, cell.bytes);
        in_memory.then(|| ideal / cell.seconds()).filter(|share| *share > 0.0)
    };
    let kernels = cells.filter(|(case, _)| case.key.measure.is_kernel());
    let shares: Vec<f64> = kernels.filter_map(|(case, cell)| share(case, cell)).collect();
    geometric_mean(&shares)
}
