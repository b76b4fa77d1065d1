//! Model 4, warp timeline (L14 ch. 4), of counted launches.

use super::{KernelModel, SCALE, profiled, profiled_start};
use crate::fit::counted::{Counted, is_computing};
use crate::fit::device::Device;
use crate::fit::fitted::Sample;
use crate::fit::pass::{Bound, Pass};
use crate::fit::{Launch, Model};
use gpubench_core::error::Result;
use gpubench_emulator::Class;
use gpubench_model::hybrid::Multiples;
use gpubench_model::least_squares::Domain;
use gpubench_model::warp_timeline::{Barriers, Residency, Warp};
use std::sync::Arc;

/// The model.
pub(super) const MODEL: Model = Model {
    id: "warp-timeline",
    name: "warp timeline",
    parameters: &["launch", "compute scale", "memory latency", "further transaction", "barrier"],
    needs_profile: true,
    about: Some("Model 4: warps that hide each other's latency"),
    rules: &WarpTimeline,
};

/// Its rules.
struct WarpTimeline;

/// What it sees of a launch: times of one warp.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Timeline {
    /// What is resident on a unit.
    resident: Residency,
    /// Seconds of computing and local memory, as the profile prices them.
    compute: f64,
    /// Those after the last access to memory.
    after: f64,
    /// Accesses to memory.
    accesses: f64,
    /// Transactions beyond one an access.
    further: f64,
    /// Barriers.
    barriers: f64,
}

impl KernelModel for WarpTimeline {
    fn pass(&self, launch: &Launch, device: Option<&Device>) -> Result<Arc<dyn Pass>> {
        Ok(Arc::new(timeline(launch.counted()?, profiled(device)?)?))
    }

    fn unfitted(&self, device: &Device) -> Result<Vec<f64>> {
        let units = f64::from(device.unit.units);
        let bandwidth = device.read.at(f64::INFINITY);
        let further = f64::from(device.rules.transaction) * units / bandwidth;
        Ok(vec![device.launch, 1.0, device.memory_latency()?, further, device.barrier])
    }

    fn domains(&self, _: Option<&Device>) -> Vec<Domain> {
        let positive = Domain::Positive;
        vec![positive, SCALE, positive, positive, positive]
    }

    /// The profile's parameters, and some that compute longer and wait less.
    fn starts(&self, samples: &[Sample<'_>], device: Option<&Device>) -> Result<Vec<Vec<f64>>> {
        let start = profiled_start(self, samples, device)?;
        let mut other = start.clone();
        other[1] *= 3.0;
        other[2] /= 3.0;
        Ok(vec![start, other])
    }
}

fn timeline(counted: &Counted, device: &Device) -> Result<Timeline> {
    let counts = &counted.group;
    let resident = device.resident(counts, counted.groups)?;
    let warps = f64::from(counts.warps());
    let width = f64::from(counts.rules.warp);
    let units = f64::from(device.unit.units);
    let issue = |class: Class| width * units / device.rate(class);
    let each = |class: Class| counts.of(class).warps as f64 / warps;
    let computing = Class::ALL.into_iter().filter(|class| is_computing(*class));
    let lanes = f64::from(counts.rules.banks.min(counts.rules.warp));
    let rounds = counted.rounds(device) / counted.groups;
    let local = rounds / warps * 4.0 * lanes * units / device.local;
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

impl Timeline {
    /// Parameters: launch, computing beyond the profile's, latency of an access, of a transaction
    /// beyond the first, of a barrier.
    fn warp(&self, p: &[f64]) -> Warp {
        let each = self.further / self.accesses.max(1.0);
        let last_memory = if self.accesses > 0.0 { p[2] + each * p[3] } else { 0.0 };
        Warp {
            memory: self.accesses * p[2] + self.further * p[3],
            compute: p[1] * self.compute,
            last_memory,
            last_compute: p[1] * self.after,
        }
    }

    /// Seconds of all warps.
    fn running(&self, p: &[f64]) -> f64 {
        let warp = self.warp(p);
        let count = self.barriers.max(1.0);
        let barriers = Barriers {
            count: self.barriers as u32,
            seconds: p[4],
            memory: warp.memory / count,
            compute: warp.compute / count,
        };
        warp.seconds(self.resident, barriers)
    }
}

impl Pass for Timeline {
    fn seconds_with(&self, p: &[f64], _: Multiples, _: f64) -> f64 {
        p[0] + self.running(p)
    }

    fn parts(&self, p: &[f64], _: Multiples) -> Vec<(Bound, f64)> {
        let warps = f64::from(self.resident.warps) * f64::from(self.resident.rounds);
        let compute = self.warp(p).compute * warps;
        let waiting = (self.running(p) - compute).max(0.0);
        vec![(Bound::Launch, p[0]), (Bound::Compute, compute), (Bound::Latency, waiting)]
    }
}
