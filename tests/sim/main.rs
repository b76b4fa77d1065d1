//! The simulated GPU obeys the laws that it is described by.
#![expect(clippy::unwrap_used, reason = "a helper of tests panics as tests do")]

mod descriptions;
mod recordings;
mod schedule;

use gpubench::backend::sim::{Compute, Costs, Description, Link, Memory, Noise, Rates, Unit};
use gpubench::gpu::MemoryKind;

/// 16 units as in model 7's worked example; every command is free, so that times are those of
/// the work alone.
fn gpu() -> Description {
    let rates = Rates {
        latency: 0.0,
        upload: 8.0,
        download: 6.0,
        upload_bidirectional: 4.0,
        download_bidirectional: 3.0,
    };
    Description {
        name: "test".into(),
        vendor: "none".into(),
        bindings: None,
        kernels: Default::default(),
        counted: None,
        units: 16,
        warp: 32,
        clock: 1e9,
        queues: 4,
        concurrent_kernels: 16,
        unit: Unit {
            groups: 8,
            threads: 1024,
            registers: 32768,
            local: 4096,
            group_local: 4096,
            local_piece: 1,
            banks: 32,
            group_threads: 1024,
            max_groups: [65535; 3],
        },
        compute: Compute {
            flops_per_cycle: 64.0,
            f64_flops_per_cycle: None,
            flops_per_instruction: 2.0,
            latency: 32.0,
            instructions: Default::default(),
        },
        memory: Memory {
            size: 1 << 30,
            largest_buffer: 1 << 28,
            bandwidth: 1e11,
            latency: 5e-7,
            transaction: 128,
            in_flight: 4.0,
            caches: vec![],
            atomics: None,
            unified: false,
        },
        local: Default::default(),
        link: Link { engines: 2, host: [(MemoryKind::Pinned, rates)].into() },
        costs: Costs { submit: 0.0, launch: 0.0, sync: 0.0 },
        noise: Noise::default(),
        resolution: 1e-9,
        features: vec![],
    }
}

#[track_caller]
fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-8 * expected.abs().max(1e-6), "{found}, not {expected}");
}
