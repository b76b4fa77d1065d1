//! What things cost on a described GPU, and what holds where its description says nothing.

use super::description::{Cache, Compute, Description, Price, Rates};
use gpubench_core::class::Class;
use gpubench_core::gpu::MemoryKind;

impl Description {
    /// What an instruction of `class` costs.
    pub fn price(&self, class: Class) -> Price {
        self.compute.instructions.get(&class).copied().unwrap_or_else(|| self.usual_price())
    }

    /// What an instruction costs that is not described.
    pub fn usual_price(&self) -> Price {
        let Compute { flops_per_cycle, flops_per_instruction, latency, .. } = self.compute;
        Price { latency, per_cycle: flops_per_cycle / flops_per_instruction }
    }

    /// How many operations in single precision take as long as one in double precision; none where it has no `f64`.
    pub fn double_cost(&self) -> Option<f64> {
        Some(self.compute.flops_per_cycle / self.compute.f64_flops_per_cycle?)
    }

    /// Optional features, by the names that suites use.
    pub fn features(&self) -> Vec<String> {
        let double = self.double_cost().map(|_| "f64".to_owned());
        double.into_iter().chain(self.features.iter().cloned()).collect()
    }

    /// Seconds from a load of local memory to its value.
    pub fn local_latency(&self) -> f64 {
        self.local.latency.unwrap_or(self.compute.latency) / self.clock
    }

    /// Seconds of a barrier.
    pub fn barrier(&self) -> f64 {
        self.local.barrier.unwrap_or(self.compute.latency) / self.clock
    }

    /// Seconds of a load within `bytes` bytes that may be anywhere in them: in each cache with the part of them that it holds.
    pub fn load_latency(&self, bytes: u64) -> f64 {
        let caches = &self.memory.caches;
        let latencies = caches.iter().map(|cache| cache.latency).chain([self.memory.latency]);
        let latencies: Vec<f64> = latencies.collect();
        let missed = |cache: &Cache| (1.0 - cache.size as f64 / bytes as f64).max(0.0);
        let later = latencies.windows(2).map(|pair| pair[1] - pair[0]);
        latencies[0]
            + caches.iter().zip(later).map(|(cache, later)| missed(cache) * later).sum::<f64>()
    }

    /// Atomic additions a second to one place, and to many.
    pub fn atomics(&self) -> [f64; 2] {
        let usual = [self.clock, self.memory.bandwidth / f64::from(self.memory.transaction)];
        self.memory.atomics.unwrap_or(usual)
    }

    /// The rates for host memory of this kind, if it is described. Zero-copy buffers lie in pinned memory, or in what
    /// is mapped.
    pub fn rates(&self, kind: MemoryKind) -> Option<&Rates> {
        let described = |kind| self.link.host.get(&kind);
        match kind {
            MemoryKind::ZeroCopy => {
                described(MemoryKind::Pinned).or_else(|| described(MemoryKind::Mapped))
            }
            kind => described(kind),
        }
    }

    /// How many times longer the bytes of a kernel take that reads and writes zero-copy buffers: the slower of the link
    /// and the memory counts.
    pub fn zero_copy_slowdown(&self) -> f64 {
        let rates = self.rates(MemoryKind::ZeroCopy).filter(|_| !self.memory.unified);
        let link = rates.map_or(f64::INFINITY, |rates| rates.upload.min(rates.download));
        (self.memory.bandwidth / link).max(1.0)
    }
}

#[test]
fn a_cache_has_its_part_of_a_working_set() {
    let mut gpu = super::Sim::default().descriptions().expect("are shipped").remove(0);
    gpu.memory.latency = 100.0;
    assert_eq!([0, 1 << 30].map(|bytes| gpu.load_latency(bytes)), [100.0; 2]);
    gpu.memory.caches =
        vec![Cache { size: 1000, latency: 2.0 }, Cache { size: 8000, latency: 10.0 }];
    assert_eq!([0, 10, 1000].map(|bytes| gpu.load_latency(bytes)), [2.0; 3]);
    // Half of the loads miss the first, or three quarters; 15 of 16 the first and half the second.
    assert_eq!([2000, 4000].map(|bytes| gpu.load_latency(bytes)), [6.0, 8.0]);
    assert_eq!(gpu.load_latency(16_000), 2.0 + 8.0 * 0.9375 + 90.0 * 0.5);
}
