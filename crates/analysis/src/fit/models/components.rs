//! Model 6, components (P14 §3.3.4), of counted launches.

use super::{KernelModel, SCALE, profiled, profiled_start};
use crate::fit::counted::{Counted, is_computing};
use crate::fit::device::Device;
use crate::fit::fitted::Sample;
use crate::fit::pass::{Bound, Pass};
use crate::fit::{Launch, Model};
use gpubench_core::error::Result;
use gpubench_emulator::Class;
use gpubench_model::components::Projection;
use gpubench_model::hybrid::Multiples;
use gpubench_model::least_squares::Domain;
use std::sync::Arc;

/// The model.
pub(super) const MODEL: Model = Model {
    id: "components",
    name: "components",
    parameters: &["launch", "compute scale", "global scale", "local scale"],
    needs_profile: true,
    about: Some("Model 6: instructions, global or local memory, whichever takes longest"),
    rules: &Components,
};

/// Its rules.
struct Components;

/// What it sees of a launch: seconds as the profile prices them.
#[derive(Debug)]
struct Priced(Projection);

impl KernelModel for Components {
    fn pass(&self, launch: &Launch, device: Option<&Device>) -> Result<Arc<dyn Pass>> {
        Ok(Arc::new(Priced(components(launch.counted()?, profiled(device)?)?)))
    }

    fn unfitted(&self, device: &Device) -> Result<Vec<f64>> {
        Ok(vec![device.launch, 1.0, 1.0, 1.0])
    }

    fn domains(&self, _: Option<&Device>) -> Vec<Domain> {
        vec![Domain::Positive, SCALE, SCALE, SCALE]
    }

    /// The scales at which no component takes longer than any launch: what is never the longest part
    /// would not be found by a descent from lower ones. A component that no launch has stays as the
    /// profile prices it.
    fn starts(&self, samples: &[Sample<'_>], device: Option<&Device>) -> Result<Vec<Vec<f64>>> {
        let mut start = profiled_start(self, samples, device)?;
        let Domain::Between(low, high) = SCALE else { return Ok(vec![start]) };
        let ones = [0.0, 1.0, 1.0, 1.0];
        for (component, scale) in start.iter_mut().enumerate().skip(1) {
            let ratio = |sample: &Sample| {
                let (_, seconds) = sample.view.pass.parts(&ones, Multiples::ONE)[component];
                sample.seconds() / seconds
            };
            let min_ratio = samples.iter().map(ratio).fold(f64::INFINITY, f64::min);
            if min_ratio.is_finite() {
                *scale = min_ratio.clamp(low, high);
            }
        }
        Ok(vec![start])
    }
}

/// Seconds of each component on `device`. Few work-items do not draw all of the memory's bandwidth, nor
/// do they compute faster than their instructions' latency allows.
fn components(counted: &Counted, device: &Device) -> Result<Projection> {
    let counts = &counted.group;
    let resident = device.resident(counts, counted.groups)?;
    let places = f64::from(resident.groups) * f64::from(device.unit.units);
    let items = places.min(counted.groups) * f64::from(counts.group_size);
    let computing = Class::ALL.into_iter().filter(|class| is_computing(*class));
    let compute = computing.map(|class| {
        let rate = device.rate(class).min(items / device.latency(class));
        counted.items(class) / rate
    });
    let bytes = |transactions: u64| {
        transactions as f64 * f64::from(counts.rules.transaction) * counted.scale()
    };
    let reads = bytes(counts.global_reads.transactions) / device.read.at(items);
    let writes = bytes(counts.global_writes.transactions) / device.write.at(items);
    let atomics = device.atomics.map_or(0.0, |rate| counted.items(Class::Atomic) / rate);
    let lanes = f64::from(counts.rules.banks.min(counts.rules.warp));
    Ok(Projection {
        compute: compute.sum(),
        global: reads + writes + atomics,
        local: 4.0 * lanes * counted.rounds(device) / device.local,
    })
}

impl Priced {
    fn scaled(&self, p: &[f64]) -> Projection {
        let Projection { compute, global, local } = self.0;
        Projection { compute: p[1] * compute, global: p[2] * global, local: p[3] * local }
    }
}

impl Pass for Priced {
    fn seconds_with(&self, p: &[f64], _: Multiples, _: f64) -> f64 {
        p[0] + self.scaled(p).seconds()
    }

    fn parts(&self, p: &[f64], _: Multiples) -> Vec<(Bound, f64)> {
        let Projection { compute, global, local } = self.scaled(p);
        vec![
            (Bound::Launch, p[0]),
            (Bound::Compute, compute),
            (Bound::Global, global),
            (Bound::Local, local),
        ]
    }
}
