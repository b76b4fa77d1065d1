//! The compute units: which groups are resident where, and how fast they proceed.
//!
//! Units that hold the same are one [`Class`], and groups that began together one
//! [`Resident`], so that an event costs what differs, not what there is.

use super::{Description, Grid, Needs};

/// A launch as the units see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Kernel {
    /// Its step.
    pub step: usize,
    /// Its groups.
    pub grid: Grid,
    /// How many times longer than described its groups take.
    pub noise: f64,
}

/// Groups of one kernel that began together on each unit of a class.
#[derive(Clone, Debug, PartialEq)]
struct Resident {
    /// The kernel.
    kernel: Kernel,
    /// Groups on each unit.
    groups: u64,
    /// Group lengths still to do: 1 at the start of one wave, more for several in a row.
    left: f64,
    /// Group lengths a second.
    rate: f64,
}

impl Resident {
    /// No faster than what `level` gives each of its work-items of something of which a group
    /// needs `amount`.
    fn limit(&mut self, level: f64, amount: f64) {
        let share = level * self.kernel.grid.needs.threads as f64;
        if amount * self.rate > share {
            self.rate = share / amount;
        }
    }
}

/// What a unit can still take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Free {
    groups: u64,
    threads: u64,
    registers: u64,
    local: u64,
}

impl Free {
    fn of(gpu: &Description) -> Self {
        Self {
            groups: gpu.unit.groups.into(),
            threads: gpu.unit.threads.into(),
            registers: gpu.unit.registers.into(),
            local: gpu.unit.local.into(),
        }
    }

    /// How many groups of these needs fit.
    fn fits(&self, needs: Needs) -> u64 {
        let by = |free: u64, need: u64| free.checked_div(need).unwrap_or(u64::MAX);
        self.groups
            .min(by(self.threads, needs.threads))
            .min(by(self.registers, needs.registers))
            .min(by(self.local, needs.local))
    }

    fn take(&mut self, needs: Needs, groups: u64) {
        self.groups -= groups;
        self.threads -= groups * needs.threads;
        self.registers -= groups * needs.registers;
        self.local -= groups * needs.local;
    }

    fn give(&mut self, needs: Needs, groups: u64) {
        self.groups += groups;
        self.threads += groups * needs.threads;
        self.registers += groups * needs.registers;
        self.local += groups * needs.local;
    }
}

/// Units that hold the same.
#[derive(Clone, Debug, PartialEq)]
struct Class {
    units: u64,
    free: Free,
    residents: Vec<Resident>,
}

impl Class {
    fn add(&mut self, kernel: &Kernel, groups: u64) {
        self.free.take(kernel.grid.needs, groups);
        let fresh = |r: &&mut Resident| r.kernel.step == kernel.step && r.left == 1.0;
        match self.residents.iter_mut().find(fresh) {
            Some(resident) => resident.groups += groups,
            None => self.residents.push(Resident { kernel: *kernel, groups, left: 1.0, rate: 0.0 }),
        }
    }
}

/// All units of a device.
pub(super) struct Units {
    classes: Vec<Class>,
    whole: Free,
    /// Operations a second of one unit.
    flops: f64,
    /// Bytes a second of the memory that all units share.
    bandwidth: f64,
}

impl Units {
    pub fn new(gpu: &Description) -> Self {
        let whole = Free::of(gpu);
        Self {
            classes: vec![Class { units: gpu.units.into(), free: whole, residents: vec![] }],
            whole,
            flops: gpu.compute.flops_per_cycle * gpu.clock,
            bandwidth: gpu.memory.bandwidth,
        }
    }

    /// How many groups of these needs an empty unit holds.
    pub fn active(gpu: &Description, needs: Needs) -> u64 {
        Free::of(gpu).fits(needs)
    }

    /// Begins up to `unplaced` groups of `kernel`, assigned to the units in turn, those with the fewest groups first,
    /// and returns how many were taken.
    ///
    /// On an empty device all full waves but the last begin as one resident of several lengths:
    /// nothing else may begin before they have ended, so that nothing is lost.
    pub fn place(&mut self, kernel: &Kernel, unplaced: u64) -> u64 {
        if let Some(placed) = self.place_waves(kernel, unplaced) {
            return placed;
        }
        let mut left = unplaced;
        while left > 0 {
            let room = |class: &Class| class.free.fits(kernel.grid.needs) > 0;
            let candidates = self.classes.iter().enumerate().filter(|(_, class)| room(class));
            let Some((at, _)) = candidates.max_by_key(|(i, class)| {
                (class.free.groups, class.free.threads, std::cmp::Reverse(*i))
            }) else {
                break;
            };
            left -= self.assign(at, kernel, left);
        }
        self.merge();
        unplaced - left
    }

    fn place_waves(&mut self, kernel: &Kernel, unplaced: u64) -> Option<u64> {
        let [class] = self.classes.as_mut_slice() else { return None };
        if !class.residents.is_empty() {
            return None;
        }
        let each = self.whole.fits(kernel.grid.needs);
        let waves = (unplaced - 1).checked_div(each * class.units)?;
        if waves == 0 {
            return None;
        }
        class.free.take(kernel.grid.needs, each);
        let left = waves as f64;
        class.residents.push(Resident { kernel: *kernel, groups: each, left, rate: 0.0 });
        Some(waves * each * class.units)
    }

    /// Gives each unit of class `at` one group (more, where all units are alike), splitting the
    /// class where there are fewer groups than units.
    fn assign(&mut self, at: usize, kernel: &Kernel, left: u64) -> u64 {
        let alone = self.classes.len() == 1;
        let class = &mut self.classes[at];
        if left < class.units {
            let mut rest = class.clone();
            rest.units -= left;
            class.units = left;
            class.add(kernel, 1);
            self.classes.insert(at + 1, rest);
            return left;
        }
        let each =
            if alone { class.free.fits(kernel.grid.needs).min(left / class.units) } else { 1 };
        class.add(kernel, each);
        each * class.units
    }

    fn merge(&mut self) {
        let mut merged: Vec<Class> = Vec::with_capacity(self.classes.len());
        for class in self.classes.drain(..) {
            match merged.iter_mut().find(|m| m.residents == class.residents) {
                Some(same) => same.units += class.units,
                None => merged.push(class),
            }
        }
        self.classes = merged;
    }

    /// Sets how fast every resident proceeds: no faster than alone, nor than its share of its
    /// unit's operations and of the memory's bandwidth, both shared evenly among work-items.
    pub fn set_rates(&mut self) {
        let mut wants = Vec::new();
        for class in &mut self.classes {
            wants.clear();
            for resident in &mut class.residents {
                let grid = &resident.kernel.grid;
                resident.rate = 1.0 / grid.seconds;
                let want = grid.flops * resident.rate;
                wants.push((resident.groups as f64, want, grid.needs.threads as f64));
            }
            let level = level(self.flops, &mut wants);
            class.residents.iter_mut().for_each(|r| r.limit(level, r.kernel.grid.flops));
        }
        wants.clear();
        for class in &self.classes {
            for resident in &class.residents {
                let (grid, number) = (&resident.kernel.grid, class.units * resident.groups);
                let want = grid.bytes * resident.rate;
                wants.push((number as f64, want, grid.needs.threads as f64));
            }
        }
        let level = level(self.bandwidth, &mut wants);
        for resident in self.classes.iter_mut().flat_map(|class| &mut class.residents) {
            resident.limit(level, resident.kernel.grid.bytes);
            resident.rate /= resident.kernel.noise;
        }
    }

    /// Seconds until the first resident ends, if there is one.
    pub fn next(&self) -> Option<f64> {
        let residents = self.classes.iter().flat_map(|class| &class.residents);
        residents.map(|r| r.left / r.rate).min_by(f64::total_cmp)
    }

    /// Whether groups of `step` are resident.
    pub fn hold(&self, step: usize) -> bool {
        self.classes.iter().flat_map(|class| &class.residents).any(|r| r.kernel.step == step)
    }

    /// Lets `dt` seconds pass, and says whether a resident ended.
    pub fn advance(&mut self, dt: f64) -> bool {
        let mut any = false;
        for class in &mut self.classes {
            let free = &mut class.free;
            class.residents.retain_mut(|resident| {
                let done = super::is_over(resident.left / resident.rate, dt);
                if done {
                    free.give(resident.kernel.grid.needs, resident.groups);
                }
                resident.left -= dt * resident.rate;
                any |= done;
                !done
            });
        }
        if any {
            self.merge();
        }
        any
    }
}

/// Shares `capacity` among consumers of (number, want each, weight each): each gets what it
/// wants or, where that is less, the returned level times its weight. Infinite where all get
/// what they want.
fn level(capacity: f64, wants: &mut Vec<(f64, f64, f64)>) -> f64 {
    let sum = |of: fn(&(f64, f64, f64)) -> f64| wants.iter().map(of).sum::<f64>();
    let mut left = capacity;
    if sum(|(n, want, _)| n * want) <= capacity {
        return f64::INFINITY;
    }
    let mut weights = sum(|(n, _, weight)| n * weight);
    while !wants.is_empty() {
        let (level, before) = (left / weights, wants.len());
        wants.retain(|&(n, want, weight)| {
            let modest = want < level * weight;
            if modest {
                left -= n * want;
                weights -= n * weight;
            }
            !modest
        });
        if wants.len() == before {
            return level;
        }
    }
    f64::INFINITY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_modest_get_what_they_want() {
        assert_eq!(level(10.0, &mut vec![(2.0, 1.0, 1.0), (1.0, 4.0, 1.0)]), f64::INFINITY);
        // Two want 1 each, one wants 20: it gets the 8 that remain.
        assert_eq!(level(10.0, &mut vec![(1.0, 20.0, 1.0), (2.0, 1.0, 1.0)]), 8.0);
        // Equal wants, weights 1 and 3: 2.5 and 7.5.
        assert_eq!(level(10.0, &mut vec![(1.0, 9.0, 1.0), (1.0, 9.0, 3.0)]), 2.5);
    }
}
