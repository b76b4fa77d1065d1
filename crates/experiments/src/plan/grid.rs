//! How many work-groups cover a grid.

use gpubench_suite::{Expr, Scope};

/// Work-groups of `group` work-items along each dimension of `grid`, rounded up; a long
/// one-dimensional grid is folded into the second dimension.
///
/// # Errors
/// A grid without work-items, or one with more than `max_groups` groups along a dimension.
pub fn work_groups(
    grid: &[Expr; 3],
    group: [u32; 3],
    scope: &Scope,
    max_groups: [u32; 3],
) -> Result<[u32; 3], String> {
    let mut groups = [0u64; 3];
    for ((out, expr), size) in groups.iter_mut().zip(grid).zip(group) {
        let items = expr.count(scope).map_err(|e| format!("grid: {e}"))?;
        *out = items.div_ceil(u64::from(size.max(1)));
    }
    let max_groups = max_groups.map(u64::from);
    if groups[1] == 1 && groups[2] == 1 && groups[0] > max_groups[0] {
        // None too many where that is possible: some kernels look at no bounds.
        let min_rows = groups[0].div_ceil(max_groups[0]);
        let mut rows = min_rows..=max_groups[1].min(min_rows.saturating_mul(2));
        let rows = rows.find(|rows| groups[0].is_multiple_of(*rows));
        let rows = rows.unwrap_or(min_rows);
        groups = [groups[0].div_ceil(rows), rows, 1];
    }
    if groups.contains(&0) {
        return Err("the grid has no work-items at this size".into());
    }
    for ((wanted, max_groups), axis) in groups.into_iter().zip(max_groups).zip(["x", "y", "z"]) {
        if wanted > max_groups {
            return Err(format!(
                "{wanted} work-groups along {axis}, the device takes {max_groups}"
            ));
        }
    }
    Ok(groups.map(|n| n as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(items: [f64; 3]) -> [Expr; 3] {
        items.map(Expr::number)
    }

    #[test]
    fn groups_are_rounded_up() {
        assert_eq!(work_groups(&grid([17.0, 4.0, 1.0]), [16, 4, 1], &[], [99; 3]), Ok([2, 1, 1]));
    }

    #[test]
    fn a_long_line_is_folded_and_covers_all() {
        let [x, y, z] = work_groups(&grid([1000.0, 1.0, 1.0]), [1, 1, 1], &[], [64; 3]).unwrap();
        assert!(x <= 64 && x * y >= 1000 && z == 1);
        let folded = |items| work_groups(&grid([items, 1.0, 1.0]), [64; 3], &[], [65_535; 3]);
        assert_eq!(folded(16_777_216.0), Ok([32_768, 8, 1]), "5 lines would hold a group too many");
        assert_eq!(folded(64.0 * 65_537.0), Ok([32_769, 2, 1]), "a prime");
        assert!(folded(1e18).is_err());
    }

    #[test]
    fn what_does_not_fit_is_rejected() {
        assert!(work_groups(&grid([65.0, 2.0, 1.0]), [1, 1, 1], &[], [64; 3]).is_err());
        assert!(work_groups(&grid([0.0, 1.0, 1.0]), [1, 1, 1], &[], [64; 3]).is_err());
    }
}
