//! Rows partitioned over several devices.

use std::collections::VecDeque;

/// What a number of work-groups may lack of a whole one by its rounding.
const ROUNDING: f64 = 1e-6;

/// Rows of each device in proportion to its part: as many as the parts say, or all that are `left`
/// where `all` is wanted; half of them where less than half a block would be left behind.
///
/// Devices get whole work-groups, of `grain` rows each, since a part of one takes the time of a whole one. A
/// device with few work-groups in its part cannot be given a little more or less, so that it is assigned rows
/// first, and a block that may be shorter is as long as it takes that device to compute whole ones; one
/// without a whole work-group in its part gets none. What is left over falls to the one with the most.
pub(super) fn partition(parts: &[f64], grain: &[u64], left: u64, all: bool) -> Vec<u64> {
    let sum: f64 = parts.iter().sum();
    let rest = all || sum >= left as f64;
    let block = match left as f64 {
        rows if rest => rows,
        rows if sum * 1.5 >= rows => (rows / 2.0).ceil(),
        _ => sum * whole_groups(parts, grain),
    };
    let mut order: VecDeque<usize> = (0..parts.len()).collect();
    let groups = |device: usize| parts[device] / grain[device] as f64;
    order.make_contiguous().sort_by(|&a, &b| groups(a).total_cmp(&groups(b)));
    let (mut unassigned, mut parts_left) = (block.max(1.0), sum);
    let mut rows = vec![0; parts.len()];
    while let Some(device) = order.pop_front() {
        let (fair, grain) = (unassigned * parts[device] / parts_left, grain[device]);
        let max_rows = (unassigned + ROUNDING) as u64;
        rows[device] = match order.is_empty() {
            false => rows_of(fair, grain).min(max_rows),
            true if rest => max_rows,
            true => (max_rows - max_rows % grain).max(grain).min(max_rows),
        };
        unassigned -= rows[device] as f64;
        parts_left -= parts[device];
    }
    rows
}

/// Whole work-groups nearest to so many rows; none where they are less than one.
fn rows_of(rows: f64, grain: u64) -> u64 {
    let groups = rows / grain as f64;
    let groups = if groups < 1.0 - ROUNDING { 0.0 } else { groups.round() };
    (groups as u64).saturating_mul(grain)
}

/// By how much a block is shortened for the device with the fewest work-groups in its part to compute whole ones; 1
/// where that one has not a single one.
fn whole_groups(parts: &[f64], grain: &[u64]) -> f64 {
    let groups = parts.iter().zip(grain).map(|(part, grain)| part / *grain as f64);
    let fewest = groups.fold(f64::INFINITY, f64::min);
    if fewest >= 1.0 { (fewest + ROUNDING).floor() / fewest } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_assigned_once() {
        let partition =
            |parts: &[f64], left, all| partition(parts, &vec![1; parts.len()], left, all);
        assert_eq!(partition(&[30.0, 10.0], 1000, false), [30, 10]);
        assert_eq!(partition(&[30.0, 10.0], 50, false), [19, 6], "no small block is left behind");
        assert_eq!(partition(&[30.0, 10.0], 40, false), [30, 10]);
        assert_eq!(partition(&[3.0, 1.0], 1000, true), [750, 250]);
        assert_eq!(partition(&[1.0, 1.0, 1.0], 10, true).iter().sum::<u64>(), 10);
        assert_eq!(partition(&[1.0, 1e-9], 7, true), [7, 0]);
        assert_eq!(partition(&[0.2, 0.1], 9, false).iter().sum::<u64>(), 1, "at least one row");
        for left in 1..50 {
            let all = left % 2 == 0;
            let assigned: u64 = partition(&[2.3, 0.7, 5.1], left, all).iter().sum();
            assert!(
                (1..=left).contains(&assigned) && (!all || assigned == left),
                "{assigned} of {left}"
            );
        }
    }

    #[test]
    fn whole_work_groups_are_assigned() {
        // Vulkan's matrix product: 16 rows take as long as one.
        assert_eq!(
            partition(&[265.0, 40.0], &[16, 16], 9999, false),
            [208, 32],
            "2 and 13, not 2.5 and 16.6"
        );
        assert_eq!(partition(&[265.0, 40.0], &[16, 16], 512, true), [448, 64], "4 groups, not 4.2");
        assert_eq!(partition(&[40.0, 265.0], &[16, 1], 9999, false), [32, 212]);
        assert_eq!(
            partition(&[265.0, 15.0], &[16, 16], 9999, false),
            [272, 0],
            "less than a group"
        );
        assert_eq!(
            partition(&[3.0, 2.0], &[16, 16], 9999, false),
            [5, 0],
            "and less than one in all"
        );
        assert_eq!(partition(&[32.0, 16.0 - 1e-9], &[16, 16], 9999, false), [32, 16]);
        // A first block of 3 % of a job: 21.6 rows, of which 16 are assigned, and as many fewer to the other.
        assert_eq!(partition(&[208.4, 21.6], &[16, 16], 512, false), [144, 16]);
        for left in 1..600 {
            let assigned = partition(&[60.0, 300.0, 20.0], &[16, 64, 8], left, left % 2 == 0);
            let sum: u64 = assigned.iter().sum();
            assert!(
                (1..=left).contains(&sum) && (left % 2 == 1 || sum == left),
                "{assigned:?} {left}"
            );
            assert!(
                assigned[0].is_multiple_of(16) && assigned[2].is_multiple_of(8),
                "{assigned:?} of {left}"
            );
        }
    }
}
