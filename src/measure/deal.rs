//! Rows dealt to several devices, and what blocks of them tell.

use crate::record::Block;

/// Rows of each device in proportion to its part: as many as the parts say, or all that are
/// `left` where `all` is wanted or less than half a block more would be.
pub(super) fn deal(parts: &[f64], left: u64, all: bool) -> Vec<u64> {
    let sum: f64 = parts.iter().sum();
    let block = if all || sum * 1.5 >= left as f64 { left } else { sum.max(1.0) as u64 };
    // Where each part ends, rounded: no row is lost or dealt twice.
    let mut ends = parts.iter().scan(0.0, |end, part| {
        *end += part / sum;
        Some((*end * block as f64).round().min(block as f64) as u64)
    });
    let mut from = 0;
    let mut rows: Vec<u64> = parts
        .iter()
        .map(|_| {
            let end = ends.next().unwrap_or(block);
            let rows = end.saturating_sub(from);
            from = end;
            rows
        })
        .collect();
    if let Some(last) = rows.last_mut() {
        *last += block - from;
    }
    rows
}

/// Rows a second of the blocks together.
pub(super) fn speed(blocks: &[Block]) -> f64 {
    let work: u64 = blocks.iter().map(Block::work).sum();
    work as f64 / blocks.iter().map(Block::wall).sum::<f64>().max(1e-12)
}

/// Rows a second that the devices of this block would reach together if all ended at once.
pub(super) fn in_balance(block: &Block) -> f64 {
    let busy = block.rows.iter().zip(&block.seconds).filter(|(_, seconds)| **seconds > 0.0);
    busy.map(|(&rows, seconds)| (rows * block.repeats) as f64 / seconds).sum()
}

/// Seconds that the blocks took more than one device of this `alone` speed would have.
pub(super) fn lost(blocks: &[Block], alone: f64) -> f64 {
    let saved = |block: &Block| block.work() as f64 / alone - block.wall();
    -blocks.iter().map(saved).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_dealt_once() {
        assert_eq!(deal(&[30.0, 10.0], 1000, false), [30, 10]);
        assert_eq!(deal(&[30.0, 10.0], 50, false), [38, 12], "no small block is left behind");
        assert_eq!(deal(&[3.0, 1.0], 1000, true), [750, 250]);
        assert_eq!(deal(&[1.0, 1.0, 1.0], 10, true), [3, 4, 3]);
        assert_eq!(deal(&[1.0, 1e-9], 7, true), [7, 0]);
        assert_eq!(deal(&[0.2, 0.1], 9, false).iter().sum::<u64>(), 1, "at least one row");
        for left in 1..50 {
            let dealt = deal(&[2.3, 0.7, 5.1], left, left % 2 == 0);
            assert!(dealt.iter().sum::<u64>() <= left, "{dealt:?} of {left}");
        }
    }

    #[test]
    fn blocks_tell_their_speed_and_balance() {
        let block = Block { rows: vec![30, 10], repeats: 2, seconds: vec![2.0, 1.9] };
        assert!((block.imbalance().unwrap() - 0.05).abs() < 1e-12);
        assert_eq!(speed(&[block.clone(), block.clone()]), 40.0);
        assert_eq!(in_balance(&block), 30.0 + 20.0 / 1.9, "60 rows in 2 s, 20 in 1.9 s");
        assert!((lost(&[block.clone(), block.clone()], 50.0) - 0.8).abs() < 1e-12, "3.2 s in 4 s");
        assert_eq!(lost(&[block], 20.0), -2.0, "4 s of work in 2 s");
    }
}
