//! A device as models of kernels see it: its profile, with what is missing filled in.

use gpubench_core::error::{Error, Result};
use gpubench_core::record::profile::{Profile, Stream, Traffic, Value};
use gpubench_emulator::{Class, Counts, Rules};
use gpubench_model::components::Curve;
use gpubench_model::warp_timeline::{Residency, Unit};

/// Which end of a profile's intervals is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Costs at their lowest, rates at their highest.
    Fast,
    /// What was measured.
    Middle,
    /// Costs at their highest, rates at their lowest.
    Slow,
}

impl End {
    fn cost(self, cost: Value) -> f64 {
        match self {
            Self::Fast => cost.interval[0],
            Self::Middle => cost.value,
            Self::Slow => cost.interval[1],
        }
    }

    fn rate(self, rate: Value) -> f64 {
        match self {
            Self::Fast => rate.interval[1],
            Self::Middle => rate.value,
            Self::Slow => rate.interval[0],
        }
    }
}

/// Work-items of a group of the workloads that measure latencies.
const CHAIN: f64 = 64.0;

/// Latency and rate of each class of instructions.
pub(super) type Prices = [(f64, f64); Class::ALL.len()];

/// What a device costs. Seconds, bytes per second, instructions of single work-items per second.
#[derive(Clone, Debug)]
pub struct Device {
    /// By what its kernels are counted.
    pub rules: Rules,
    /// What its units hold.
    pub unit: Unit,
    /// Cycles a second; 1e9 where the driver does not report it.
    pub clock: f64,
    /// Seconds of an empty launch among others; 0 where the profile lacks it.
    pub launch: f64,
    pub(super) memory_latency: Option<f64>,
    /// Bandwidth of reading against work-items at work.
    pub read: Curve,
    /// Bandwidth of writing against work-items at work.
    pub write: Curve,
    /// Bandwidth of local memory without conflicts; where the profile lacks it, that of
    /// reading memory.
    pub local: f64,
    /// Whether lanes of a warp that meet in a bank of local memory wait for each other.
    pub conflicts: bool,
    /// Seconds of a barrier; 0 where the profile lacks it.
    pub barrier: f64,
    /// Atomic additions per second, each work-item to its own place.
    pub atomics: Option<f64>,
    /// Latency and rate of each class of instructions.
    pub(super) prices: Prices,
    pub(super) name: String,
    /// Work-items and bytes of local memory that a group has at most.
    pub(super) group: (u32, u64),
}

impl Device {
    /// The device of `profile`.
    ///
    /// # Errors
    /// `Unsupported` where the profile lacks what no model can do without.
    pub fn new(profile: &Profile, end: End) -> Result<Self> {
        let missing = |what: &str| {
            let name = &profile.device.name;
            let help = "`gpubench run characterise` measures it";
            Error::Unsupported(format!("the profile of {name} does not say {what}: {help}"))
        };
        // Where the units are unknown, the device counts as one.
        let units = profile.units().unwrap_or(1);
        let bandwidth = |traffic| curve(profile, traffic, end);
        let either = |one, other| {
            bandwidth(one).or_else(|| bandwidth(Traffic::Copy)).or_else(|| bandwidth(other))
        };
        let (read, write) = (Traffic::Read, Traffic::Write);
        let (read, write) = either(read, write)
            .zip(either(write, read))
            .ok_or_else(|| missing("a bandwidth of global memory"))?;
        let prices = prices(profile, units, end);
        let chase = profile.chase.iter().max_by_key(|footprint| footprint.bytes);
        let launch = profile.launch.and_then(|launch| launch.each.or(launch.latency));
        let local = profile.local.as_ref();
        let max_barrier = profile.barriers.last().and_then(|barrier| profile.barrier(barrier));
        Ok(Self {
            rules: rules(profile),
            unit: unit(profile, units),
            clock: profile.device.clock_hz.unwrap_or(1e9),
            launch: launch.map_or(0.0, |cost| end.cost(cost)),
            memory_latency: chase.map(|footprint| end.cost(footprint.latency)),
            local: local
                .and_then(|local| local.bandwidth)
                .map_or_else(|| read.at(f64::INFINITY), |rate| end.rate(rate)),
            conflicts: local.and_then(|local| local.banks) != Some(1),
            barrier: max_barrier.map_or(0.0, |cost| end.cost(cost)),
            atomics: profile.atomics.and_then(|atomics| atomics.apart).map(|rate| end.rate(rate)),
            read,
            write,
            prices: prices.ok_or_else(|| missing("what any instruction costs"))?,
            name: profile.device.name.clone(),
            group: (profile.device.max_group_size, profile.device.local_memory.0),
        })
    }

    /// Seconds of a load within the largest working set of the profile.
    ///
    /// # Errors
    /// `Unsupported` where the profile holds none.
    pub fn memory_latency(&self) -> Result<f64> {
        let why = "the device's profile lacks the latency of memory";
        self.memory_latency.ok_or_else(|| Error::Unsupported(why.into()))
    }

    /// Seconds from an instruction to the next that needs its result.
    pub fn latency(&self, class: Class) -> f64 {
        self.prices[class as usize].0
    }

    /// Instructions of single work-items per second, of the whole device.
    pub fn rate(&self, class: Class) -> f64 {
        self.prices[class as usize].1
    }

    /// What is resident on a unit of a launch of so many groups.
    ///
    /// # Errors
    /// `Unsupported` where not even one group fits, with what it needs and what there is.
    pub fn resident(&self, group: &Counts, groups: f64) -> Result<Residency> {
        let (items, local) = self.group;
        let name = &self.name;
        if group.group_size > items {
            return Err(Error::Unsupported(format!(
                "its group of {} work-items does not fit {name}, which takes {items}",
                group.group_size
            )));
        }
        if u64::from(group.local_bytes) > local {
            return Err(Error::Unsupported(format!(
                "its group's {} B of local memory do not fit {name}, which has {local} B",
                group.local_bytes
            )));
        }
        let launch = gpubench_model::warp_timeline::Launch {
            groups: groups.min(f64::from(u32::MAX)) as u32,
            group_size: group.group_size,
            local_memory: group.local_bytes,
            registers: 0,
        };
        let resident = self.unit.residency(launch);
        resident.ok_or_else(|| Error::Unsupported(format!("its group does not fit {name}")))
    }
}

/// By what the kernels of a device are counted.
pub fn rules(profile: &Profile) -> Rules {
    let usual = Rules::default();
    let banks = profile.local.as_ref().and_then(|local| local.banks);
    let transaction = profile.strides.as_ref().and_then(|strides| strides.transaction);
    Rules {
        warp: profile.device.warp().unwrap_or(usual.warp),
        transaction: transaction.unwrap_or(usual.transaction),
        banks: banks.filter(|banks| *banks > 1).unwrap_or(usual.banks),
        ..usual
    }
}

/// What a unit holds: what occupancy sweeps saw, and at least a group as the driver allows it.
fn unit(profile: &Profile, units: u32) -> Unit {
    let device = &profile.device;
    let warp = rules(profile).warp;
    let held = profile.residency;
    let items = held.map_or(0, |held| held.work_items).max(device.max_group_size);
    let local = held.map_or(0, |held| held.local_memory).max(device.local_memory.0);
    Unit {
        units,
        warp,
        groups: held.map_or(items.div_ceil(warp), |held| held.groups).max(1),
        warps: items.div_ceil(warp),
        local_memory: u32::try_from(local).unwrap_or(u32::MAX),
        registers: 0,
    }
}

/// Bandwidth against work-items at work, of the width of access that is fastest in a full device.
fn curve(profile: &Profile, traffic: Traffic, end: End) -> Option<Curve> {
    let full = |stream: &Stream| stream.points.last().map_or(0.0, |p| p.bandwidth.value);
    let streams = profile.streams.iter().filter(|s| s.traffic == traffic && !s.points.is_empty());
    let best = streams.max_by(|a, b| full(a).total_cmp(&full(b)))?;
    let point = |p: &gpubench_core::record::profile::Bandwidth| {
        (f64::from(p.groups) * f64::from(best.group_size), end.rate(p.bandwidth))
    };
    Some(Curve::new(best.points.iter().map(point).collect()))
}

/// Latency and rate of every class; `None` where the profile holds none.
fn prices(profile: &Profile, units: u32, end: End) -> Option<Prices> {
    let measured_prices = |class: Class| {
        let instruction = profile.instruction(class)?;
        Some((
            instruction.latency.map(|c| end.cost(c)),
            instruction.throughput.map(|r| end.rate(r)),
        ))
    };
    // What is issued no slower than instructions that take as long or longer.
    let bound = |latency: f64| {
        let both = Class::priced().filter_map(measured_prices).filter_map(|(c, r)| c.zip(r));
        both.filter(|(c, _)| *c >= latency).map(|(_, rate)| rate).fold(0.0, f64::max)
    };
    let known = |class: Class| {
        // Each bounds the other: one group a unit, one instruction after the other.
        let alone = f64::from(units) * CHAIN;
        match measured_prices(class)? {
            (Some(latency), Some(rate)) => Some((latency, rate)),
            (Some(latency), None) => Some((latency, bound(latency).max(alone / latency))),
            (None, Some(rate)) => Some((alone / rate, rate)),
            (None, None) => None,
        }
    };
    let cheapest = Class::priced().filter_map(known).min_by(|a, b| b.1.total_cmp(&a.1))?;
    let price = |class: Class| {
        known(class)
            .or_else(|| known(like(class)))
            .or_else(|| known(basic(class)))
            .unwrap_or(cheapest)
    };
    Some(Class::ALL.map(price))
}

/// What a class costs as much as that no profile prices.
fn like(class: Class) -> Class {
    match class {
        Class::Branch => Class::Compare,
        Class::FloatMinMax | Class::FloatFma => Class::FloatMul,
        Class::FloatSqrt | Class::FloatExp | Class::FloatLog | Class::FloatTrigonometry => {
            Class::FloatDiv
        }
        Class::Shift | Class::Compare | Class::Convert => Class::Logic,
        _ => basic(class),
    }
}

/// The commonest class of its kind; accesses to memory are issued like an integer addition.
fn basic(class: Class) -> Class {
    if class <= Class::FloatMinMax { Class::FloatAdd } else { Class::IntAdd }
}

#[cfg(test)]
mod tests;
