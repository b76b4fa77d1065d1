//! How a domain is cut into parts that exchange what lies at their borders.

use serde::{Deserialize, Serialize};

/// Most parts of a domain.
pub const MAX_PARTS: u64 = 64;

/// Which fields cells read of their neighbours, once a pass has written them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Faces {
    /// Of the neighbour behind along x, y and z: fields by number, at equal distances.
    pub behind: [Vec<u32>; 3],
    /// Of the neighbour ahead.
    pub ahead: [Vec<u32>; 3],
}

impl Faces {
    /// First and last of all fields.
    pub fn reach(&self) -> Option<(u32, u32)> {
        let all = || self.behind.iter().chain(&self.ahead).flatten();
        Some((*all().min()?, *all().max()?))
    }
}

/// Cells along x, y and z of each part of a domain of `cells` that is cut into so many equal parts
/// along each, two or more in all.
///
/// # Errors
/// As [`share`]; where there is but one part or too many of them.
pub fn cut(cells: [u64; 3], cuts: [u64; 3]) -> Result<[u64; 3], String> {
    let part = share(cells, cuts)?;
    match cuts.into_iter().fold(1, u64::saturating_mul) {
        1 => Err("one part has no neighbour to exchange anything with".into()),
        parts if parts > MAX_PARTS => Err(format!("{parts} parts are more than {MAX_PARTS}")),
        _ => Ok(part),
    }
}

/// As [`cut`], into any number of parts.
///
/// # Errors
/// In words, where they are not equal.
pub fn share(cells: [u64; 3], cuts: [u64; 3]) -> Result<[u64; 3], String> {
    for ((cells, cuts), axis) in cells.into_iter().zip(cuts).zip(["x", "y", "z"]) {
        if cuts > 0 && cells.is_multiple_of(cuts) && cells > 0 {
            continue;
        }
        let below = divisors(cells).filter(|n| *n < cuts).max();
        let above = divisors(cells).filter(|n| *n > cuts).min();
        let near: Vec<String> = below.into_iter().chain(above).map(|n| n.to_string()).collect();
        let take = if near.is_empty() { "" } else { ": take " };
        let near = near.join(" or ");
        return Err(format!(
            "{cells} cells along {axis} cannot be cut into {cuts} equal parts{take}{near}"
        ));
    }
    Ok(std::array::from_fn(|axis| cells[axis] / cuts[axis]))
}

/// Divisors of `n` in no order, each with the one that makes `n` with it: those of either at most 2^20.
fn divisors(n: u64) -> impl Iterator<Item = u64> {
    let small = (1..=n.isqrt().min(1 << 20)).filter(move |d| n.is_multiple_of(*d));
    small.flat_map(move |d| [d, n / d])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_reach_from_the_first_to_the_last_of_any_face() {
        let behind = [vec![3], vec![], vec![5, 2]];
        let faces = Faces { behind, ahead: [vec![], vec![9], vec![4]] };
        assert_eq!(faces.reach(), Some((2, 9)));
        assert_eq!(Faces::default().reach(), None);
        assert_eq!(cut([64; 3], [8, 8, 1]), Ok([8, 8, 64]), "64 parts, the most");
    }

    #[test]
    fn what_cannot_be_cut_says_what_could_be() {
        assert_eq!(cut([64, 32, 16], [2, 1, 4]), Ok([32, 32, 4]));
        let message = |cells, cuts| cut(cells, cuts).unwrap_err();
        assert_eq!(
            message([64; 3], [1, 3, 1]),
            "64 cells along y cannot be cut into 3 equal parts: take 2 or 4"
        );
        assert!(message([4; 3], [1, 1, 8]).ends_with("8 equal parts: take 4"));
        assert!(message([4; 3], [0, 1, 1]).ends_with("0 equal parts: take 1"));
        assert!(message([0; 3], [1, 2, 1]).contains("0 cells along x"));
        // A prime: nothing between one part and a part a cell.
        let prime = message([4_294_967_291; 3], [2; 3]);
        assert!(prime.ends_with("take 1 or 4294967291"), "{prime}");
        assert!(message([u64::MAX; 3], [2; 3]).ends_with("take 1 or 3"));
        assert!(message([64; 3], [1; 3]).contains("no neighbour"));
        assert!(message([64; 3], [8, 8, 2]).contains("128 parts are more than 64"));
    }
}
