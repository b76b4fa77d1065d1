//! How many units a device has and what each of them holds, from how many groups ran at once.
//!
//! Every number of groups at once is a multiple of the number of units; those of groups of different
//! sizes have few other factors in common.

use crate::registry::experiment;
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::Detail;
use gpubench_model::concurrency::Device;
use gpubench_model::occupancy::Unit;

/// How many equal groups were seen to run at once on the whole device, when no more could.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupsAtOnce {
    /// Groups.
    pub at_once: u32,
    /// Work-items of each.
    pub group_size: u32,
    /// Bytes of local memory of each.
    pub local_bytes: u64,
}

/// What launches on one device show together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residency {
    /// Units: the largest number that divides all numbers of groups at once, or what the driver reports.
    pub units: u32,
    /// Whether the driver was believed: nothing that was seen says how many there are.
    pub of_driver: bool,
    /// Most groups that a unit was seen to hold.
    pub groups: u32,
    /// Most work-items that a unit was seen to hold.
    pub work_items: u32,
    /// Most bytes of local memory that a unit was seen to hand out.
    pub local_memory: u64,
    /// How many cases it was inferred from.
    pub cases: usize,
}

/// What `detail` shows of the device that it was measured on.
pub fn groups_at_once(detail: &Detail) -> Option<GroupsAtOnce> {
    (experiment(detail.kind())?.groups_at_once)(detail)
}

/// Infers from what was seen on one device, whose driver reports so many units; `None` where nothing was seen.
///
/// Where the same number of groups ran at once in every case, nothing says how many of them shared a unit: then the
/// driver is believed, if its number divides that.
pub fn residency(
    seen: impl IntoIterator<Item = GroupsAtOnce>,
    reported: Option<u32>,
) -> Option<Residency> {
    let seen: Vec<GroupsAtOnce> = seen.into_iter().collect();
    let units = seen.iter().map(|one| one.at_once).reduce(common)?;
    let is_same = seen.iter().all(|one| one.at_once == units);
    let reported = reported.filter(|n| is_same && *n > 0 && units.is_multiple_of(*n));
    let of_driver = reported.is_some_and(|reported| reported != units);
    let units = reported.unwrap_or(units);
    let maximum = |of: &dyn Fn(&GroupsAtOnce, u64) -> u64| {
        seen.iter().map(|one| of(one, u64::from(one.at_once / units))).max().unwrap_or(0)
    };
    let narrow = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    Some(Residency {
        units,
        of_driver,
        groups: narrow(maximum(&|_, groups| groups)),
        work_items: narrow(maximum(&|one, groups| groups * u64::from(one.group_size))),
        local_memory: maximum(&|one, groups| groups.saturating_mul(one.local_bytes)),
        cases: seen.len(),
    })
}

/// Greatest common divisor.
fn common(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common(b, a % b) }
}

impl Residency {
    /// The device as model 7 sees it; 0 registers where they are not known. Where more units were inferred than there
    /// are, since all sizes that were seen fill halves alike, each has its part of the registers.
    pub fn device(&self, info: &DeviceInfo) -> Device {
        let reported = info.compute_units.unwrap_or(self.units);
        let registers = info.registers.unwrap_or(0).saturating_mul(reported) / self.units.max(1);
        let unit = Unit {
            warp: info.warp().unwrap_or(1),
            work_items: self.work_items,
            groups: self.groups,
            registers,
            local_memory: u32::try_from(self.local_memory).unwrap_or(u32::MAX),
            local_piece: 1,
        };
        Device { units: self.units, unit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_several_sizes_give_the_units() {
        let seen =
            |group_size, local_bytes, at_once| GroupsAtOnce { at_once, group_size, local_bytes };
        let all = [seen(64, 4, 16 * 15), seen(640, 4, 3 * 15), seen(64, 16384, 2 * 15)];
        let found = residency(all, Some(5)).unwrap();
        let expected = Residency {
            units: 15,
            of_driver: false,
            groups: 16,
            work_items: 1920,
            local_memory: 32768,
            cases: 3,
        };
        assert_eq!(found, expected);
        assert_eq!(residency([], Some(15)), None);
        let same = |reported| {
            let found = residency([seen(640, 4, 396), seen(64, 15360, 396)], reported).unwrap();
            (found.units, found.of_driver, found.groups, found.work_items)
        };
        assert_eq!(same(Some(132)), (132, true, 3, 1920));
        assert_eq!([same(None), same(Some(100)), same(Some(0))], [(396, false, 1, 640); 3]);
        let info = |compute_units, registers| DeviceInfo {
            compute_units,
            registers,
            ..gpubench_core::record::sample::device("sim")
        };
        let registers = |units, each| found.device(&info(units, each)).unit.registers;
        assert_eq!([registers(Some(15), Some(65_536)), registers(None, Some(65_536))], [65_536; 2]);
        assert_eq!(registers(Some(15), None), 0);
        let halves = Residency { units: 30, ..found };
        assert_eq!(halves.device(&info(Some(15), Some(65_536))).unit.registers, 32_768);
    }
}
