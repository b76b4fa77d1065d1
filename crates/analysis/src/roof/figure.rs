//! What one kernel did, which a roof is made of or bounds.

use crate::aggregate::shown;
use gpubench_core::gpu::Scalar;
use gpubench_core::record::{Built, Record};
use gpubench_stats::Summary;

/// What a kernel did in one launch, and in which time.
#[derive(Clone, Copy, Debug)]
pub struct Figure<'a> {
    /// The workload.
    pub workload: &'a str,
    /// Operations.
    pub flops: f64,
    /// How many of them are of which type; the others are of `f32`.
    pub types: &'a [(Scalar, f64)],
    /// Bytes.
    pub bytes: f64,
    /// Bytes of all buffers, where known.
    pub working_set: Option<u64>,
    /// Work-items, where known.
    pub items: u64,
    /// Shortest and longest time that it may have taken.
    pub seconds: [f64; 2],
    /// Seconds of an empty launch, 0 where not known.
    pub empty_launch: f64,
}

impl<'a> Figure<'a> {
    /// Of a kernel that was measured.
    pub fn of(record: &'a Record) -> Option<Self> {
        let measured = shown(record).filter(|_| record.key.measure.is_kernel())?;
        let [fastest, slowest] = Summary::of(&measured.samples)?.interval;
        (fastest > 0.0).then_some(Self {
            workload: &record.key.workload,
            flops: measured.flops,
            types: &measured.types,
            bytes: measured.bytes,
            working_set: record.working_set,
            items: record.kernel.as_ref().map_or(0, items),
            seconds: [fastest, slowest],
            empty_launch: record.monitor.empty_launch.unwrap_or(0.0),
        })
    }

    /// Operations by type, as far as there are any.
    pub(crate) fn operations(&self) -> impl Iterator<Item = (Scalar, f64)> {
        let typed: f64 = self.types.iter().map(|(_, count)| count).sum();
        // What is left of a sum of equal parts is rounding.
        let rest = Some(self.flops - typed).filter(|rest| *rest > 1e-9 * self.flops);
        let rest = rest.map(|rest| (Scalar::F32, rest));
        self.types.iter().copied().chain(rest).filter(|(_, count)| *count > 0.0)
    }

    /// Bytes that a launch can have touched: of large buffers only what it counts, and of what it counts
    /// again and again no more than the buffers.
    pub fn touched(&self) -> f64 {
        self.working_set.map_or(self.bytes, |all| self.bytes.min(all as f64))
    }
}

/// Work-items of a launch.
pub(crate) fn items(built: &Built) -> u64 {
    let product = |[x, y, z]: [u32; 3]| u64::from(x) * u64::from(y) * u64::from(z);
    product(built.group).saturating_mul(product(built.groups))
}
