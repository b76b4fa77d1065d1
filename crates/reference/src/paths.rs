//! The cheapest way down a grid.

use super::{Data, Problem};
use gpubench_core::error::Result;

/// What the cheapest path to each field of the last of `rows` rows costs, where `cost` is that of
/// the row before the first: each field adds what `wall` says, and is entered from one of the
/// three above it. Costs are modulo 2^32.
///
/// # Errors
/// As [`super::Reference`].
pub fn pathfinder(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let (rows, cols) = (problem.size("rows")?, problem.size("cols")?);
    let wall = problem.u32("wall", rows.saturating_mul(cols))?;
    let mut cost = problem.u32("cost", cols)?[..cols].to_vec();
    for row in wall.chunks(cols.max(1)).take(rows) {
        let above = cost.clone();
        for (x, (cost, wall)) in cost.iter_mut().zip(row).enumerate() {
            let three = &above[x.saturating_sub(1)..(x + 2).min(cols)];
            *cost = three.iter().min().map_or(0, |min_cost| min_cost.wrapping_add(*wall));
        }
    }
    Ok(vec![("out", Data::U32(cost))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hand_computed() {
        let numbers = vec![("rows".to_owned(), 2.0), ("cols".to_owned(), 4.0)];
        let wall = vec![9, 9, 1, 9, 5, 6, 7, 1];
        let problem = Problem::new(
            numbers,
            vec![
                ("wall".to_owned(), Data::U32(wall)),
                ("cost".to_owned(), Data::U32(vec![1, 2, 3, 4])),
            ],
        );
        // After the first row: 10, 10, 3, 12.
        assert_eq!(pathfinder(&problem).unwrap(), [("out", Data::U32(vec![15, 9, 10, 4]))]);
    }

    #[test]
    fn the_cheapest_of_all_paths() {
        let (rows, cols) = (4usize, 5usize);
        let wall: Vec<u32> = (0..20).map(|i| i * 7 % 11).collect();
        let problem = Problem::new(
            vec![("rows".to_owned(), rows as f64), ("cols".to_owned(), cols as f64)],
            vec![
                ("wall".to_owned(), Data::U32(wall.clone())),
                ("cost".to_owned(), Data::U32(vec![0; cols])),
            ],
        );
        // Every path there is, from its end upwards.
        fn min_cost(wall: &[u32], cols: usize, row: usize, x: usize) -> u32 {
            let here = wall[row * cols + x];
            let above = x.saturating_sub(1)..=(x + 1).min(cols - 1);
            if row == 0 {
                return here;
            }
            here + above.map(|x| min_cost(wall, cols, row - 1, x)).min().unwrap()
        }
        let all = (0..cols).map(|x| min_cost(&wall, cols, rows - 1, x)).collect();
        assert_eq!(pathfinder(&problem).unwrap(), [("out", Data::U32(all))]);
    }
}
