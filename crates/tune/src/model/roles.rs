//! What a parameter's name says about it: the group's shape, or the outputs of a work-item.

use crate::space::Space;

const GROUP: [&str; 7] =
    ["group", "block_size", "block_dim", "group_size", "local_size", "workgroup", "wg"];
const TILE: [&str; 5] = ["tile_size", "tile", "work_per_item", "work_per_thread", "items"];
const AXES: usize = 3;

/// Columns of a space by role, each by axis where the name ends in one (`_x`; no axis is x).
#[derive(Debug, Default)]
pub struct Roles {
    /// Work-items of a group along each axis.
    pub group: [Option<usize>; AXES],
    /// Outputs of a work-item along each axis.
    pub tile: [Option<usize>; AXES],
}

impl Roles {
    /// Of a space's parameters; those with other names, or values below 1, have no role.
    pub fn of(space: &Space) -> Self {
        let mut roles = Self::default();
        for (column, name) in space.names().iter().enumerate() {
            let (stem, axis) = split(name);
            let whole = |value: &f64| *value >= 1.0 && value.fract() == 0.0;
            if !space.values(column).iter().all(whole) {
                continue;
            }
            let role = match stem.as_str() {
                stem if GROUP.contains(&stem) => &mut roles.group,
                stem if TILE.contains(&stem) => &mut roles.tile,
                _ => continue,
            };
            role[axis].get_or_insert(column);
        }
        roles
    }

    /// Work-items of a group, by axis.
    pub fn group(&self, values: &[f64]) -> [f64; AXES] {
        self.group.map(|column| column.map_or(1.0, |column| values[column]))
    }

    /// Outputs of a work-item, by axis.
    pub fn tile(&self, values: &[f64]) -> [f64; AXES] {
        self.tile.map(|column| column.map_or(1.0, |column| values[column]))
    }

    /// Outputs of a group along each axis that a parameter shapes.
    pub fn spans(&self, values: &[f64]) -> Vec<f64> {
        let (group, tile) = (self.group(values), self.tile(values));
        let shaped = |axis: &usize| self.group[*axis].or(self.tile[*axis]).is_some();
        (0..AXES).filter(shaped).map(|axis| group[axis] * tile[axis]).collect()
    }

    /// Whether any parameter shapes the group.
    pub fn shapes_group(&self) -> bool {
        self.group.iter().any(Option::is_some)
    }

    /// Whether any parameter gives work-items several outputs.
    pub fn shapes_tile(&self) -> bool {
        self.tile.iter().any(Option::is_some)
    }
}

/// A name in lower case without its axis, and the axis.
fn split(name: &str) -> (String, usize) {
    let name = name.to_ascii_lowercase();
    let axis = ["_x", "_y", "_z"].iter().position(|end| name.ends_with(end));
    let stem = if axis.is_some() { &name[..name.len() - 2] } else { &name };
    (stem.to_owned(), axis.unwrap_or(0))
}

/// The part of a whole number that no power of two divides: 1 for powers of two.
pub fn odd_part(number: f64) -> f64 {
    let mut rest = number;
    while rest >= 2.0 && (rest / 2.0).fract() == 0.0 {
        rest /= 2.0;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_distinguish_groups_from_tiles_and_axes() {
        let names = ["Block_Size_y", "block_size_x", "tile_size_x", "unroll", "wg"];
        let variants = vec![vec![4.0, 32.0, 3.0, 0.0, 7.0], vec![2.0, 64.0, 1.0, 1.0, 0.0]];
        let space = Space::new(names.map(String::from).into(), variants).unwrap();
        let roles = Roles::of(&space);
        assert_eq!(roles.group, [Some(1), Some(0), None], "0 is no group: `wg` has no role");
        assert_eq!(roles.tile, [Some(2), None, None]);
        assert_eq!(roles.spans(&space.variants()[0]), [96.0, 4.0]);
        assert_eq!([1.0, 2.0, 96.0, 7.0, 64.0].map(odd_part), [1.0, 1.0, 3.0, 7.0, 1.0]);
    }
}
