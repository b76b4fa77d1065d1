//! What a kernel asks of a simulated GPU.

use super::Description;

/// A kernel's launch: equal groups, each with what it needs and how long it takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// Number of groups.
    pub groups: u64,
    /// What one group takes of a unit while it runs.
    pub needs: Needs,
    /// Seconds of one group where nothing else runs.
    pub seconds: f64,
    /// Operations of one group.
    pub flops: f64,
    /// Bytes that one group moves.
    pub bytes: f64,
}

/// What a resident group takes of its unit, in the pieces in which the unit hands it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Work-items, in whole warps.
    pub threads: u64,
    /// Registers.
    pub registers: u64,
    /// Bytes of local memory.
    pub local: u64,
}

impl Needs {
    /// Of a group of `size` work-items with so many registers each and `local` bytes of local memory.
    pub fn new(gpu: &Description, size: u64, registers_each: u64, local: u64) -> Self {
        let threads = size.max(1).next_multiple_of(u64::from(gpu.warp));
        let local = local.next_multiple_of(u64::from(gpu.unit.local_piece));
        Self { threads, registers: threads * registers_each, local }
    }
}

impl Grid {
    /// `groups` groups, of which each does `flops` operations and moves `bytes` bytes.
    ///
    /// A group alone is bound by latency: each work-item issues one instruction after the other,
    /// and waits for each of its loads. Bytes are rounded up to whole transactions.
    pub fn priced(gpu: &Description, groups: u64, needs: Needs, flops: f64, bytes: f64) -> Self {
        let transaction = f64::from(gpu.memory.transaction);
        let bytes = (bytes / transaction).ceil() * transaction;
        let instructions = flops / needs.threads as f64 / gpu.compute.flops_per_instruction;
        let cycle = 1.0 / gpu.clock;
        let compute = instructions.max(1.0) * gpu.compute.latency * cycle;
        let loads = (bytes / needs.threads as f64 / gpu.memory.in_flight).ceil();
        let seconds = compute + loads * gpu.memory.latency;
        Self { groups, needs, seconds, flops, bytes }
    }
}
