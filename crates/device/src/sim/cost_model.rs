//! A cost model that a simulated GPU's kernels obey in place of its own waves of groups.
//!
//! The simulator knows no tasks of warps, and banks and coalescing only where kernels are counted. Whoever
//! wants times that such a model predicts, to see whether measuring and fitting give the model back, brings
//! the model along: a backend does not know the models of what it runs.

use gpubench_core::gpu::KernelSource;
use std::sync::Arc;

/// Seconds of a launch from its start to its end; `None` where the simulator is to price it itself.
pub type CostModel = Arc<dyn Fn(&Launched<'_>) -> Option<f64> + Send + Sync>;

/// A launch as it reaches the device.
#[derive(Clone, Copy, Debug)]
pub struct Launched<'a> {
    /// The kernel.
    pub kernel: &'a KernelSource,
    /// Work-groups along each dimension.
    pub groups: [u32; 3],
    /// The parameter block.
    pub params: &'a [u8],
}
