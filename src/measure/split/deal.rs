//! Rows dealt to several devices.

/// Rows of each device in proportion to its part: as many as the parts say, or all that are `left`
/// where `all` is wanted; half of them where less than half a block would be left behind.
pub(super) fn deal(parts: &[f64], left: u64, all: bool) -> Vec<u64> {
    let sum: f64 = parts.iter().sum();
    let block = match left as f64 {
        rows if all || sum >= rows => left,
        rows if sum * 1.5 >= rows => left.div_ceil(2),
        _ => sum.max(1.0) as u64,
    };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_dealt_once() {
        assert_eq!(deal(&[30.0, 10.0], 1000, false), [30, 10]);
        assert_eq!(deal(&[30.0, 10.0], 50, false), [19, 6], "no small block is left behind");
        assert_eq!(deal(&[30.0, 10.0], 40, false), [30, 10]);
        assert_eq!(deal(&[3.0, 1.0], 1000, true), [750, 250]);
        assert_eq!(deal(&[1.0, 1.0, 1.0], 10, true), [3, 4, 3]);
        assert_eq!(deal(&[1.0, 1e-9], 7, true), [7, 0]);
        assert_eq!(deal(&[0.2, 0.1], 9, false).iter().sum::<u64>(), 1, "at least one row");
        for left in 1..50 {
            let dealt = deal(&[2.3, 0.7, 5.1], left, left % 2 == 0);
            assert!(dealt.iter().sum::<u64>() <= left, "{dealt:?} of {left}");
        }
    }
}
