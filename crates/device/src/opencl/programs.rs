//! The programs that a device compiled. A kernel at another size, or another kernel of the same text, uses the same program.

use super::kernel::compile;
use super::object::Owned;
use gpubench_core::error::Result;
use gpubench_core::gpu::KernelSource;
use opencl3::context::Context;
use opencl3::program::Program;
use opencl3::types::cl_device_id;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Instant;

/// Most programs kept, since each takes memory: at this limit all are dropped.
const MAX: usize = 256;

/// A compiled program.
pub(super) struct Compiled {
    pub program: Owned<Program>,
    /// What the compiler said.
    pub log: String,
    /// Seconds that compiling took.
    pub seconds: f64,
}

/// The programs of one device.
#[derive(Default)]
pub(super) struct Programs(HashMap<(String, String), Rc<Compiled>>);

impl Programs {
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
        if let Some(kept) = self.0.get(&key) {
            return Ok((Rc::clone(kept), true));
        }
        let begun = Instant::now();
        let (program, log) = compile(context, device, source, options)?;
        let seconds = begun.elapsed().as_secs_f64();
        let compiled = Rc::new(Compiled { program, log, seconds });
        if self.0.len() >= MAX {
            self.0.clear();
        }
        self.0.insert(key, Rc::clone(&compiled));
        Ok((compiled, false))
    }
}
