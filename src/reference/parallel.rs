//! References for large problems use all cores of the host.

/// Cuts `out` into pieces of whole rows (`row` scalars each) and hands every piece, with the
/// number of its first row, to `work` on a thread of its own.
pub fn for_each_chunk<T: Send>(out: &mut [T], row: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    let row = row.max(1);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let rows_each = (out.len() / row).div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        for (i, piece) in out.chunks_mut(rows_each * row).enumerate() {
            let work = &work;
            scope.spawn(move || work(i * rows_each, piece));
        }
    });
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
