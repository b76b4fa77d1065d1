//! What a launch does, as models take it from the counts of one work-group.

use super::device::Device;
use gpubench_core::error::Result;
use gpubench_emulator::{Class, Counts, Local, Period};
use gpubench_model::components::Projection;
use gpubench_model::hybrid::Work;
use gpubench_model::warp_timeline::Residency;
use std::sync::Arc;

/// One launch by its middle work-group: of several passes the mean one, whose groups do what those of the
/// first do.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// What the group does, by the rules of the device.
    pub group: Arc<Counts>,
    /// Groups of the launch; of several passes their mean.
    pub groups: f64,
}

/// Classes that take several times as long as an addition.
const SPECIAL: [Class; 6] = [
    Class::FloatDiv,
    Class::FloatSqrt,
    Class::FloatExp,
    Class::FloatLog,
    Class::FloatTrigonometry,
    Class::IntDiv,
];
/// Classes that are counted as accesses, not as instructions.
const ACCESSES: [Class; 6] = [
    Class::GlobalRead,
    Class::GlobalWrite,
    Class::LocalRead,
    Class::LocalWrite,
    Class::Atomic,
    Class::Barrier,
];

fn is_computing(class: Class) -> bool {
    !ACCESSES.contains(&class)
}

impl Counted {
    fn items(&self, class: Class) -> f64 {
        self.group.of(class).items as f64 * self.groups
    }

    /// Operations on `f32` and integers, a fused multiply-add being two.
    pub fn operations(&self) -> f64 {
        let each = |class: Class| if class == Class::FloatFma { 2.0 } else { 1.0 };
        Class::priced().map(|class| each(class) * self.items(class)).sum()
    }

    /// For the hybrid, of a launch that must move so many bytes of buffers of a given size. It
    /// touches whole segments of memory, but none that the buffers do not have. Instructions weigh as
    /// the device's profile prices them, alike where there is none.
    pub fn work(&self, bytes: f64, buffers: f64, device: Option<&Device>) -> Work {
        let weighed = |class: Class, as_much: Class| {
            let weight = device.map_or(1.0, |device| device.rate(as_much) / device.rate(class));
            weight * self.items(class)
        };
        let simple = |class: &Class| is_computing(*class) && !SPECIAL.contains(class);
        let counts = &self.group;
        let transactions = counts.global_reads.transactions + counts.global_writes.transactions;
        let warp = f64::from(counts.rules.warp.min(counts.group_size));
        let traffic = transactions as f64 * f64::from(counts.rules.transaction) * self.groups;
        let rounds = device.map(|device| warp * self.rounds(device));
        let local = self.items(Class::LocalRead) + self.items(Class::LocalWrite);
        Work {
            simple: Class::ALL.into_iter().filter(simple).map(|c| weighed(c, Class::IntAdd)).sum(),
            special: SPECIAL.into_iter().map(|class| weighed(class, Class::FloatDiv)).sum(),
            accesses: self.items(Class::GlobalRead)
                + self.items(Class::GlobalWrite)
                + self.items(Class::Atomic),
            local: rounds.unwrap_or(local),
            barriers: counts.barriers as f64 * f64::from(counts.group_size) * self.groups,
            traffic,
            footprint: traffic.min(buffers).max(bytes),
            groups: self.groups,
        }
    }

    /// Rounds of local memory; without those that conflicts add where the device has none.
    fn rounds(&self, device: &Device) -> f64 {
        let of = |local: Local| match device.conflicts {
            true => local.rounds,
            false => local.rounds - local.conflicts,
        };
        (of(self.group.local_reads) + of(self.group.local_writes)) as f64 * self.groups
    }

    /// For model 6: seconds of each component on `device` (P14 §3.3.4). Few work-items do not
    /// draw all of the memory's bandwidth, nor do they compute faster than their instructions'
    /// latency allows.
    ///
    /// # Errors
    /// As [`Device::resident`].
    pub fn components(&self, device: &Device) -> Result<Projection> {
        let counts = &self.group;
        let resident = device.resident(counts, self.groups)?;
        let places = f64::from(resident.groups) * f64::from(device.unit.units);
        let items = places.min(self.groups) * f64::from(counts.group_size);
        let computing = Class::ALL.into_iter().filter(|class| is_computing(*class));
        let compute = computing.map(|class| {
            let rate = device.rate(class).min(items / device.latency(class));
            self.items(class) / rate
        });
        let bytes = |transactions: u64| {
            transactions as f64 * f64::from(counts.rules.transaction) * self.groups
        };
        let reads = bytes(counts.global_reads.transactions) / device.read.at(items);
        let writes = bytes(counts.global_writes.transactions) / device.write.at(items);
        let atomics = device.atomics.map_or(0.0, |rate| self.items(Class::Atomic) / rate);
        let lanes = f64::from(counts.rules.banks.min(counts.rules.warp));
        Ok(Projection {
            compute: compute.sum(),
            global: reads + writes + atomics,
            local: 4.0 * lanes * self.rounds(device) / device.local,
        })
    }

    /// What model 4 takes of a launch (L14 ch. 4).
    ///
    /// # Errors
    /// As [`Device::resident`].
    pub fn timeline(&self, device: &Device) -> Result<Timeline> {
        let counts = &self.group;
        let resident = device.resident(counts, self.groups)?;
        let warps = f64::from(counts.group_size.div_ceil(counts.rules.warp));
        let width = f64::from(counts.rules.warp);
        let units = f64::from(device.unit.units);
        let issue = |class: Class| width * units / device.rate(class);
        let each = |class: Class| counts.of(class).warps as f64 / warps;
        let computing = Class::ALL.into_iter().filter(|class| is_computing(*class));
        let lanes = f64::from(counts.rules.banks.min(counts.rules.warp));
        let local = self.rounds(device) / self.groups / warps * 4.0 * lanes * units / device.local;
        let accesses = each(Class::GlobalRead) + each(Class::GlobalWrite) + each(Class::Atomic);
        let transactions = counts.global_reads.transactions + counts.global_writes.transactions;
        let last = counts.periods.last();
        let after = last.filter(|period| period.lanes == 0).map_or(0.0, |period| {
            period.compute.iter().map(|&(class, n)| n as f64 * issue(class)).sum()
        });
        Ok(Timeline {
            resident,
            compute: computing.map(|class| each(class) * issue(class)).sum::<f64>() + local,
            after,
            accesses,
            further: (transactions as f64 / warps - accesses).max(0.0),
            barriers: counts.barriers as f64,
        })
    }

    /// What model 5 takes of a launch (C13 ch. 3).
    ///
    /// # Errors
    /// As [`Device::resident`].
    pub fn tasks(&self, device: &Device) -> Result<Tasks> {
        let counts = &self.group;
        let resident = device.resident(counts, self.groups)?;
        let task = |period: &Period| Task {
            compute: period
                .compute
                .iter()
                .map(|&(class, n)| n as f64 * device.latency(class) * device.clock)
                .sum(),
            transactions: period.transactions as f64,
        };
        let mut steps: Vec<(Task, Task, f64)> = vec![];
        let mut add = |last: Task, now: Task, times: u64| match steps
            .iter_mut()
            .find(|step| step.0 == last && step.1 == now)
        {
            _ if times == 0 => {}
            Some(step) => step.2 += times as f64,
            None => steps.push((last, now, times as f64)),
        };
        let mut last = Task::default();
        for period in &counts.periods {
            let now = task(period);
            add(last, now, 1);
            add(now, now, period.times - 1);
            last = now;
        }
        let sum = |f: fn(&Period) -> u64| -> f64 {
            counts.periods.iter().map(|p| (f(p) * p.times) as f64).sum()
        };
        let accesses = sum(|p| p.reads + p.writes).max(1.0);
        let lanes = sum(|p| p.lanes);
        Ok(Tasks {
            resident,
            all: steps.iter().fold(Task::default(), |all, &(_, now, times)| Task {
                compute: all.compute + times * now.compute,
                transactions: all.transactions + times * now.transactions,
            }),
            steps,
            work_items: lanes / accesses,
            bytes: sum(|p| p.bytes) / lanes.max(1.0),
            transactions: sum(|p| p.transactions) / accesses,
        })
    }
}

/// A launch for model 4: times of one warp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timeline {
    /// What is resident on a unit.
    pub resident: Residency,
    /// Seconds of computing and local memory, as the profile prices them.
    pub compute: f64,
    /// Those after the last access to memory.
    pub after: f64,
    /// Accesses to memory.
    pub accesses: f64,
    /// Transactions beyond one an access.
    pub further: f64,
    /// Barriers.
    pub barriers: f64,
}

/// A run of computing, then a run of accesses, of one warp.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Task {
    /// Cycles of computing, as the profile prices them.
    pub compute: f64,
    /// Transactions of the accesses.
    pub transactions: f64,
}

/// A launch for model 5.
#[derive(Clone, Debug, PartialEq)]
pub struct Tasks {
    /// What is resident on a unit.
    pub resident: Residency,
    /// All tasks together.
    pub all: Task,
    /// A task after another, and how often.
    pub steps: Vec<(Task, Task, f64)>,
    /// Work-items that take part in an access, in the mean.
    pub work_items: f64,
    /// Bytes of one work-item's access, in the mean.
    pub bytes: f64,
    /// Transactions of an access, in the mean.
    pub transactions: f64,
}
