//! The programs that a device compiled. A kernel at another size, or another kernel of the same text, uses the same program.

use super::kernel::compile;
use super::object::Owned;
use gpubench_core::error::Result;
use gpubench_core::gpu::KernelSource;
use gpubench_core::units::Bytes;
use opencl3::context::Context;
use opencl3::program::Program;
use opencl3::types::cl_device_id;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Instant;

/// Most programs kept: at this limit all are dropped.
const MAX: u64 = 256;
/// Of a device's memory there must be so much for each program: by PoCL one takes 0.3 MB of the host's, which on a board
/// is the same.
const MEMORY: u64 = 64 << 20;

/// A compiled program.
pub(super) struct Compiled {
    pub program: Owned<Program>,
    /// What the compiler said.
    pub log: String,
    /// Seconds that compiling took.
    pub seconds: f64,
}

/// The programs of one device.
pub(super) struct Programs {
    compiled: HashMap<(String, String), Rc<Compiled>>,
    max: u64,
}

impl Programs {
    /// None yet, of a device with so much memory.
    pub fn new(memory: Option<Bytes>) -> Self {
        let max = memory.map_or(0, |memory| memory.0 / MEMORY).min(MAX);
        Self { compiled: HashMap::new(), max }
    }

    /// The program of a source with such options, and whether it was kept.
    ///
    /// # Errors
    /// As [`compile`].
    pub fn compiled(
        &mut self,
        (context, device): (&Context, cl_device_id),
        source: &KernelSource,
        options: &str,
    ) -> Result<(Rc<Compiled>, bool)> {
        // The log names the file.
        let key = (format!("{} {options}", source.origin.file()), source.opencl().to_owned());
        if let Some(kept) = self.compiled.get(&key) {
            return Ok((Rc::clone(kept), true));
        }
        let begun = Instant::now();
        let (program, log) = compile(context, device, source, options)?;
        let seconds = begun.elapsed().as_secs_f64();
        let compiled = Rc::new(Compiled { program, log, seconds });
        if self.compiled.len() as u64 >= self.max {
            self.compiled.clear();
        }
        if self.max > 0 {
            self.compiled.insert(key, Rc::clone(&compiled));
        }
        Ok((compiled, false))
    }
}
