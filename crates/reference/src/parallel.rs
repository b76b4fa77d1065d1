//! Work on large arrays uses all cores of the host; where it gives no threads, the one that there is.

use gpubench_stats::threads;
use rayon::prelude::*;

/// Cuts `out` into pieces of whole rows (`row` scalars each), one for each core, and hands every
/// piece, with the number of its first row, to `work`. No other core is woken for one row.
pub fn for_each_chunk<T: Send>(out: &mut [T], row: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    let row = row.max(1);
    if out.len() <= row || !threads::are_there() {
        return work(0, out);
    }
    let rows_each = (out.len() / row).div_ceil(rayon::current_num_threads()).max(1);
    let pieces = out.par_chunks_mut(rows_each * row).enumerate();
    pieces.for_each(|(i, piece)| work(i * rows_each, piece));
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_row_is_visited_with_its_number() {
        let mut out = vec![0usize; 7 * 3];
        super::for_each_chunk(&mut out, 3, |first, piece| {
            for (i, row) in piece.chunks_mut(3).enumerate() {
                row.fill(first + i);
            }
        });
        assert_eq!(out, (0..21).map(|i| i / 3).collect::<Vec<_>>());
    }
}
