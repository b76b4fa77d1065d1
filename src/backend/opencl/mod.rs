//! OpenCL devices.

use super::{Backend, Device};
use crate::error::{Error, Result};
use crate::gpu::DeviceInfo;

/// The OpenCL backend.
pub struct Opencl;

impl Backend for Opencl {
    fn name(&self) -> &'static str {
        "opencl"
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>> {
        Ok(vec![])
    }

    fn open(&self, index: usize) -> Result<Box<dyn Device>> {
        Err(Error::Usage(format!("there is no opencl device {index}")))
    }
}
