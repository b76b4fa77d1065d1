//! The profile that characterising a simulated GPU would find, from its description.

use super::Description;
use super::device::info;
use gpubench_core::class::Class;
use gpubench_core::record::profile::{
    Atomics, Bandwidth, Barrier, Footprint, Instruction, Launch, Local, Profile, Residency, Stream,
    Strides, Traffic, VERSION, Value,
};

/// Work-items of a group of the workloads that measure latencies, and of those that measure bandwidths.
const CHAIN: u32 = 64;
const STREAM: u32 = 256;
/// Bytes of a work-item's access.
const WIDTH: u32 = 16;

/// A number that is described, not measured.
fn exact(value: f64) -> Value {
    Value { value, interval: [value; 2] }
}

impl Description {
    /// What `gpubench profile` would report of it, as device number `index`.
    pub fn profile(&self, index: usize) -> Profile {
        let (units, clock) = (f64::from(self.units), self.clock);
        // Between two launches lies one, and the work-items' one instruction and write.
        let write = (4.0 / self.memory.in_flight).ceil() * self.memory.latency;
        let empty = self.compute.latency / clock + write;
        let [contended, apart] = self.atomics().map(exact);
        let lanes = f64::from(self.unit.banks.min(self.warp));
        Profile {
            version: VERSION,
            device: info(self, index),
            gpubench: env!("CARGO_PKG_VERSION").into(),
            // Nothing was run.
            started: "1970-01-01T00:00:00Z".into(),
            launch: Some(Launch {
                latency: Some(exact(self.costs.submit + self.costs.launch)),
                each: Some(exact(self.costs.submit.max(self.costs.launch + empty))),
            }),
            instructions: Class::priced().map(|class| self.instruction(class)).collect(),
            streams: [Traffic::Read, Traffic::Write, Traffic::Copy].map(|t| self.stream(t)).into(),
            chase: self.chase(),
            strides: Some(Strides {
                strides: vec![],
                offsets: vec![],
                transaction: Some(self.memory.transaction),
            }),
            local: Some(Local {
                latency: Some(exact(self.local_latency())),
                bandwidth: Some(exact(units * lanes * 4.0 * clock)),
                strides: vec![],
                banks: Some(self.unit.banks),
            }),
            barriers: vec![Barrier { group_size: CHAIN, exchange: exact(self.exchange()) }],
            atomics: Some(Atomics { contended: Some(contended), apart: Some(apart) }),
            residency: Some(Residency {
                units: self.units,
                groups: self.unit.groups,
                work_items: self.unit.threads,
                local_memory: self.unit.local.into(),
            }),
        }
    }

    fn instruction(&self, class: Class) -> Instruction {
        let price = self.price(class);
        let rate = f64::from(self.units) * price.per_cycle * self.clock;
        let (latency, throughput) = (Some(exact(self.reported_latency(class))), Some(exact(rate)));
        Instruction { class, latency, throughput }
    }

    /// A group may be more than a unit runs within an instruction's latency.
    fn reported_latency(&self, class: Class) -> f64 {
        let price = self.price(class);
        price.latency.max(f64::from(CHAIN) / price.per_cycle) / self.clock
    }

    fn exchange(&self) -> f64 {
        self.barrier() + 2.0 * self.local_latency() + self.reported_latency(Class::IntAdd)
    }

    /// Work-items have enough bytes under way that few of them do not fill the memory.
    fn stream(&self, traffic: Traffic) -> Stream {
        let group = f64::from(STREAM) * self.memory.in_flight / self.memory.latency;
        let resident = (self.unit.threads / STREAM).clamp(1, self.unit.groups) * self.units;
        let steps = (0..).map(|i| 1u32 << i).take_while(|groups| *groups < resident);
        let point = |groups: u32| Bandwidth {
            groups,
            bandwidth: exact((group * f64::from(groups)).min(self.memory.bandwidth)),
        };
        let points = steps.chain([resident]).map(point).collect();
        Stream { traffic, width: WIDTH, group_size: STREAM, points }
    }

    fn chase(&self) -> Vec<Footprint> {
        let cached = self.memory.caches.iter().map(|cache| cache.size);
        let beyond = self.memory.caches.last().map_or(0, |cache| 4 * cache.size).max(128 << 20);
        let footprint = |bytes| Footprint { bytes, latency: exact(self.load_latency(bytes)) };
        let memory = Footprint { bytes: beyond, latency: exact(self.memory.latency) };
        cached.map(footprint).chain([memory]).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::sim::Sim;
    use gpubench_core::record::profile::{Profile, Traffic};
    use std::path::PathBuf;

    #[test]
    fn every_shipped_description_makes_a_profile_that_survives_its_file() {
        let small = Sim::small_devices().into_iter().map(PathBuf::from).collect();
        for (i, gpu) in Sim::new(small, 0).descriptions().unwrap().iter().enumerate() {
            let profile = gpu.profile(i);
            let text = serde_json::to_string_pretty(&profile).unwrap();
            assert_eq!(Profile::parse("p.json", &text).unwrap(), profile, "{}", gpu.name);
            let barrier = profile.barrier(&profile.barriers[0]).unwrap().value;
            assert!((barrier / gpu.barrier() - 1.0).abs() < 1e-9, "{}", gpu.name);
            let full = profile.bandwidth(Traffic::Read).unwrap().value;
            assert!(full <= gpu.memory.bandwidth, "{}", gpu.name);
        }
    }
}
