//! Programs that a device has compiled: what it is asked for again, as for a kernel at another size or another kernel of the
//! same text, it is not made to compile again.

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

/// Most programs that a device keeps: it forgets all when there are more, since each takes memory of the host.
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
    /// The program of a source with such options, and whether it was there already.
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
        if let Some(known) = self.0.get(&key) {
            return Ok((Rc::clone(known), true));
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
