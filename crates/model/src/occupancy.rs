//! Model 7, occupancy: how many groups of a kernel does a unit hold, alone or next to another's?
//!
//! Source: Q17 ch. 2.

/// What one unit (streaming multiprocessor, compute unit) offers to groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Work-items in a warp (wavefront); a group takes whole warps.
    pub warp: u32,
    /// Most resident work-items.
    pub work_items: u32,
    /// Most resident groups.
    pub groups: u32,
    /// Registers.
    pub registers: u32,
    /// Bytes of local memory.
    pub local_memory: u32,
    /// Local memory is allocated in units of this many bytes.
    pub local_piece: u32,
}

impl Unit {
    /// A unit of the Tesla K40 (compute capability 3.5), on which Q17 measured.
    pub const K40: Self = Self {
        warp: 32,
        work_items: 2048,
        groups: 16,
        registers: 65536,
        local_memory: 49152,
        local_piece: 256,
    };
}

/// What one group takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Work-items.
    pub size: u32,
    /// Registers of all its work-items; 0 when they do not limit.
    pub registers: u32,
    /// Bytes of local memory; 0 when it uses none.
    pub local_memory: u32,
}

impl Unit {
    /// Warps of a group, `ceil(S_B / S_W)`.
    pub fn warps(&self, group: Group) -> u32 {
        group.size.div_ceil(self.warp.max(1))
    }

    /// How many groups of `group` fit next to a given number of groups of others.
    pub fn room(&self, group: Group, held: &[(Group, u32)]) -> u32 {
        let left = |has: u32, needs: &dyn Fn(Group) -> u32| {
            let taken: u64 = held.iter().map(|&(g, n)| u64::from(needs(g)) * u64::from(n)).sum();
            let free = u64::from(has).saturating_sub(taken);
            match needs(group) {
                0 => u32::MAX,
                each => u32::try_from(free / u64::from(each)).unwrap_or(u32::MAX),
            }
        };
        let piece = self.local_piece.max(1);
        left(self.groups, &|_| 1)
            .min(left(self.work_items / self.warp.max(1), &|g| self.warps(g)))
            .min(left(self.registers, &|g| g.registers))
            .min(left(self.local_memory, &|g| g.local_memory.div_ceil(piece).saturating_mul(piece)))
    }

    /// Groups resident when the kernel is alone.
    pub fn active(&self, group: Group) -> u32 {
        self.room(group, &[])
    }

    /// Resident warps over the most there can be, 0 to 1, when the kernel is alone.
    pub fn occupancy(&self, group: Group) -> f64 {
        let max_warps = (self.work_items / self.warp.max(1)).max(1);
        f64::from(self.active(group)) * f64::from(self.warps(group)) / f64::from(max_warps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_resource_limits_in_turn() {
        let group = |size, registers, local_memory| Group { size, registers, local_memory };
        assert_eq!(Unit::K40.active(group(64, 0, 0)), 16, "group slots");
        assert_eq!(Unit::K40.active(group(512, 0, 0)), 4, "work-items");
        assert_eq!(Unit::K40.active(group(500, 0, 0)), 4, "whole warps");
        assert_eq!(Unit::K40.active(group(64, 0, 9984)), 4, "local memory");
        assert_eq!(Unit::K40.active(group(64, 0, 3073)), 14, "in pieces of 256 bytes: 3328");
        assert_eq!(Unit::K40.active(group(128, 128 * 63, 0)), 8, "registers");
        assert_eq!(Unit::K40.active(group(4096, 0, 0)), 0, "too large for the unit");
    }

    #[test]
    fn occupancy_is_the_share_of_warps() {
        let group = |size| Group { size, ..Group::default() };
        assert_eq!(Unit::K40.occupancy(group(256)), 1.0);
        assert_eq!(Unit::K40.occupancy(group(64)), 0.5);
        assert_eq!(Unit::K40.occupancy(group(768)), 0.75);
    }

    #[test]
    fn room_next_to_another_kernel_is_what_it_leaves() {
        let first = Group { size: 256, registers: 0, local_memory: 6400 };
        let second = Group { size: 256, registers: 0, local_memory: 9984 };
        let room = |n| Unit::K40.room(second, &[(first, n)]);
        assert_eq!([0, 1, 2, 4, 7, 99].map(room), [4, 4, 3, 2, 0, 0]);
    }
}
