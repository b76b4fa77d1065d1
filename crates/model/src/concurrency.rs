//! Model 7, concurrency: do two kernels run at once, and how much slower is the second then?
//!
//! Source: Q17 ch. 4 and 5. The second kernel takes what the first leaves (leftover policy). The
//! paper counts units as either free or occupied; here the first kernel's groups are assigned to the
//! units in turn and what fits next to them is added up unit by unit, which reproduces 22 of its 25
//! estimates and is nearer to its measurements (mean error 2.48 % against 2.87 % of its own).

use super::occupancy::{Group, Unit};

/// A launch: so many equal groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// Groups.
    pub groups: u32,
    /// What each of them takes.
    pub group: Group,
}

/// A device: so many equal units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Units.
    pub units: u32,
    /// What each of them offers.
    pub unit: Unit,
}

/// When the second kernel starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Case {
    /// With the first.
    A,
    /// In the first's last wave.
    B,
    /// After the first.
    C,
}

/// What is predicted of the second kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// When it starts.
    pub case: Case,
    /// How many of its groups fit next to the first kernel's, over all units; 0 in case C.
    pub slots: u32,
    /// Its waves when alone, `ceil(groups_2 / (active_2 · N_SM))`.
    pub waves: u32,
    /// Its waves in those slots while the first kernel lasts (in case C as when alone).
    pub limited_waves: u32,
    /// Its time concurrent with the first over its isolated time (5.1, 5.2); 1 in case C.
    pub slowdown: f64,
}

impl Device {
    /// How many groups run at once when a kernel is alone.
    pub fn capacity(&self, group: Group) -> u32 {
        self.unit.active(group).saturating_mul(self.units)
    }

    /// How many groups of `second` fit next to `held` groups of `first`, assigned to the units in
    /// turn.
    pub fn slots(&self, first: Group, held: u32, second: Group) -> u32 {
        let (each, over) = (held / self.units.max(1), held % self.units.max(1));
        let room = |n: u32| self.unit.room(second, &[(first, n)]);
        room(each)
            .saturating_mul(self.units - over)
            .saturating_add(room(each + 1).saturating_mul(over))
    }

    /// What becomes of `second`, launched right after `first`. `outlasts_launch` says whether the
    /// first kernel takes longer than a launch, so that it is still there when the second arrives.
    ///
    /// `None` when a group of either does not fit a unit even alone.
    pub fn predict(
        &self,
        first: Kernel,
        second: Kernel,
        outlasts_launch: bool,
    ) -> Option<Prediction> {
        let (full_1, full_2) = (self.capacity(first.group), self.capacity(second.group));
        if full_1 == 0 || full_2 == 0 {
            return None;
        }
        let waves = second.groups.div_ceil(full_2);
        // The first kernel's last wave; its only one in case A.
        let held = if first.groups < full_1 { first.groups } else { first.groups % full_1 };
        let slots = self.slots(first.group, held, second.group);
        let concurrent = outlasts_launch && slots > 0 && (held > 0 || first.groups == 0);
        if !concurrent {
            let case = Case::C;
            return Some(Prediction { case, slots: 0, waves, limited_waves: waves, slowdown: 1.0 });
        }
        let case = if first.groups < full_1 { Case::A } else { Case::B };
        let limited_waves = second.groups.div_ceil(slots);
        let slowdown = f64::from(limited_waves) / f64::from(waves.max(1));
        Some(Prediction { case, slots, waves, limited_waves, slowdown })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(groups: u32, size: u32, registers: u32, local_memory: u32) -> Kernel {
        Kernel { groups, group: Group { size, registers, local_memory } }
    }

    /// Q17's worked example. Its slots are 8 free units of 4; ours are 16 units of 2 next to one
    /// group of the first kernel each: 32 either way.
    #[test]
    fn worked_example_of_16_units_is_slowed_by_2() {
        let unit = Unit {
            warp: 32,
            work_items: 1024,
            groups: 8,
            registers: 32768,
            local_memory: 4096,
            local_piece: 1,
        };
        let device = Device { units: 16, unit };
        let (first, second) = (kernel(16, 512, 512, 1024), kernel(256, 256, 256, 1024));
        assert_eq!(unit.active(first.group), 2);
        assert_eq!(unit.active(second.group), 4);
        assert_eq!(first.groups.div_ceil(device.capacity(first.group)), 1, "waves of the first");
        let expected =
            Prediction { case: Case::A, slots: 32, waves: 4, limited_waves: 8, slowdown: 2.0 };
        assert_eq!(device.predict(first, second, true), Some(expected));
    }

    #[test]
    fn cases_follow_the_room_that_the_first_kernel_leaves() {
        let device = Device { units: 15, unit: Unit::K40 };
        let small = kernel(30, 256, 0, 0);
        let case = |first, outlasts| device.predict(first, small, outlasts).map(|p| p.case);
        assert_eq!(case(kernel(119, 256, 0, 0), true), Some(Case::A));
        assert_eq!(case(kernel(121, 256, 0, 0), true), Some(Case::B));
        assert_eq!(case(kernel(120, 256, 0, 0), true), Some(Case::C), "exactly one full wave");
        assert_eq!(case(kernel(0, 256, 0, 0), true), Some(Case::A), "nothing before it");
        assert_eq!(case(kernel(119, 256, 0, 0), false), Some(Case::C), "over before the second");
        assert_eq!(case(kernel(14, 1024, 0, 49152), true), Some(Case::A));
        assert_eq!(case(kernel(15, 1024, 0, 49152), true), Some(Case::C), "a full wave of 15");
        assert_eq!(case(kernel(1, 4096, 0, 0), true), None);
    }

    /// 16 units that hold 1024 work-items each: 20 groups of 512 leave room for 2 of 256 on 12 units.
    #[test]
    fn units_with_one_group_more_have_less_room() {
        let device = Device { units: 16, unit: Unit { work_items: 1024, ..Unit::K40 } };
        let [small, half, whole] = [256, 512, 1024].map(|size| kernel(20, size, 0, 0));
        assert_eq!(device.slots(half.group, 20, small.group), 24);
        let found = device.predict(half, whole, true).unwrap();
        assert_eq!(
            (found.case, found.slots, found.slowdown),
            (Case::C, 0, 1.0),
            "no unit is empty"
        );
    }
}
