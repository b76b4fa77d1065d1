//! What a launch does, as models take it from the counts of one work-group.

use super::device::Device;
use gpubench_emulator::{Class, Counts, Local};
use std::sync::Arc;

/// One launch by its middle work-group, or by all: of several passes the mean one, whose groups do what those of
/// the first do. By all groups, model 6 alone sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// What the groups that were emulated do, by the rules of the device.
    pub group: Arc<Counts>,
    /// Groups of the launch; of several passes their mean.
    pub groups: f64,
}

/// Classes that take several times as long as an addition.
pub(super) const SPECIAL: [Class; 3] = [Class::FloatDiv, Class::FloatSqrt, Class::IntDiv];
/// Classes that some devices have units for, and others many instructions.
pub(super) const TRANSCENDENTAL: [Class; 3] =
    [Class::FloatExp, Class::FloatLog, Class::FloatTrigonometry];
/// Classes that are counted as accesses, not as instructions.
const ACCESSES: [Class; 6] = [
    Class::GlobalRead,
    Class::GlobalWrite,
    Class::LocalRead,
    Class::LocalWrite,
    Class::Atomic,
    Class::Barrier,
];

/// Whether it is counted as an instruction.
pub(super) fn is_computing(class: Class) -> bool {
    !ACCESSES.contains(&class)
}

impl Counted {
    /// How many groups of the launch each one that was emulated stands for.
    pub(super) fn scale(&self) -> f64 {
        self.groups / self.group.groups.max(1) as f64
    }

    /// Instructions of single work-items, of all groups.
    pub(super) fn items(&self, class: Class) -> f64 {
        self.group.of(class).items as f64 * self.scale()
    }

    /// Instructions of single work-items that a compiler leaves, of all groups: as many lanes of a warp take part as
    /// before.
    pub(super) fn compiled(&self, class: Class) -> f64 {
        let before = self.group.of(class);
        let lanes = match before.warps {
            0 => f64::from(self.group.rules.warp.min(self.group.group_size)),
            warps => before.items as f64 / warps as f64,
        };
        self.group.compiled.get(&class).map_or(0.0, |&warps| warps as f64 * lanes * self.scale())
    }

    /// Instructions of one warp, accesses and barriers among them: the mean of the warps that were emulated. The
    /// longest may have more.
    pub(super) fn steps(&self) -> f64 {
        let warps = u64::from(self.group.warps()) * self.group.groups;
        let instructions = self.group.instructions.values().map(|each| each.warps as f64);
        instructions.sum::<f64>() / warps.max(1) as f64
    }

    /// Operations on `f32` and integers, a fused multiply-add being two.
    pub fn operations(&self) -> f64 {
        let each = |class: Class| if class == Class::FloatFma { 2.0 } else { 1.0 };
        Class::priced().map(|class| each(class) * self.items(class)).sum()
    }

    /// Rounds of local memory; without those that conflicts add where the device has none.
    pub(super) fn rounds(&self, device: &Device) -> f64 {
        let of = |local: Local| match device.conflicts {
            true => local.rounds,
            false => local.rounds - local.conflicts,
        };
        (of(self.group.local_reads) + of(self.group.local_writes)) as f64 * self.scale()
    }
}

#[cfg(test)]
mod tests {
    use super::super::hand_computed::{changed, launch};
    use gpubench_emulator::{Class, Instructions};

    #[test]
    fn operations_are_those_of_all_groups() {
        let counted = launch().counted.unwrap();
        // A group: 640 additions, and 320 products; eight groups.
        assert_eq!(counted.operations(), 8.0 * (640.0 + 320.0));
        // A multiply-add is two; accesses to memory are none.
        let fused = changed(4.0, |group| {
            group.instructions.insert(Class::FloatFma, Instructions { items: 100, warps: 4 });
        });
        assert_eq!(fused.counted.unwrap().operations(), 4.0 * (640.0 + 320.0 + 200.0));
    }

    #[test]
    fn steps_are_the_mean_of_all_warps() {
        // 20 additions, 10 products, 4 reads and 2 writes by two warps.
        assert_eq!(launch().counted.unwrap().steps(), 18.0);
        let steps = |size, groups| {
            let counted = changed(8.0, |group| (group.group_size, group.groups) = (size, groups));
            counted.counted.unwrap().steps()
        };
        assert_eq!([steps(65, 1), steps(33, 3), steps(16, 1)], [12.0, 6.0, 36.0]);
    }
}
