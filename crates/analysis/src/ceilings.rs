//! An entry's own measured ceilings, and how close its kernels get to them (model 3).

use super::result_matrix::{Case, Cell, ResultMatrix};
use super::roof::Roof;
use gpubench_model::roofline::{Ceilings, Share};

/// What an entry was seen to do at most, over its verified cases that the suite calls ceilings.
pub(super) fn roof(matrix: &ResultMatrix, entry: usize) -> Roof {
    let cells = matrix.cells(entry);
    let ceilings = cells.filter_map(|(case, cell)| cell.ceiling(&case.key.workload));
    Roof::from_figures(ceilings.map(|(ceiling, figure)| (Some(ceiling), figure)))
}

/// The geometric mean, over kernels, of the ideal time by the roof over the measured one: all of it where a
/// kernel is above the roof. Kernels that work in a cache, that touch more than any ceiling did or that have no work to count are passed over.
pub(super) fn share<'a>(
    roof: &Roof,
    cells: impl Iterator<Item = (&'a Case, &'a Cell)>,
) -> Option<Share> {
    let share = |case: &Case, cell: &Cell| {
        let figure = cell.figure(&case.key.workload);
        let (peak, touched) = (roof.peak_to(&figure)?, figure.touched());
        let bandwidth = roof.bandwidth_to(touched)?;
        let in_memory = !roof.is_cached(touched).unwrap_or(cell.cache);
        let ceilings = Ceilings { peak, bandwidth };
        let reached = ceilings.reached(cell.flops, cell.bytes, cell.seconds())?;
        in_memory.then(|| reached.share()).filter(|share| share.value() > 0.0)
    };
    // A ceiling reaches itself: that says nothing of the device's kernels.
    let kernels = cells.filter(|(case, cell)| case.key.measure.is_kernel() && !cell.is_ceiling());
    let shares: Vec<Share> = kernels.filter_map(|(case, cell)| share(case, cell)).collect();
    Share::mean(&shares)
}
