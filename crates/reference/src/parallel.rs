//! References for large problems, and arithmetic on many items, use all cores of the host.

use std::sync::atomic::{AtomicUsize, Ordering};

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

/// `work` of every item, in their order, on all cores.
pub fn map_all<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let some = || {
            let mut done = vec![];
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(i) else { break done };
                done.push((i, work(item)));
            }
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(some)).collect();
        let part = |thread: std::thread::ScopedJoinHandle<'_, Vec<(usize, R)>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().flat_map(part).collect()
    });
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, done)| done).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_item_is_mapped_in_order() {
        let items: Vec<usize> = (0..100).collect();
        assert_eq!(super::map_all(&items, |i| 2 * i), (0..200).step_by(2).collect::<Vec<_>>());
        assert_eq!(super::map_all(&[] as &[u8], |i| *i), [0; 0]);
    }

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
