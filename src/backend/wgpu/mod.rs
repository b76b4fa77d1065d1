//! wgpu devices.

use super::{Backend, Device};
use crate::error::{Error, Result};
use crate::gpu::DeviceInfo;

/// The wgpu backend.
pub struct Wgpu;

impl Backend for Wgpu {
    fn name(&self) -> &'static str {
        "wgpu"
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>> {
        Ok(vec![])
    }

    fn open(&self, index: usize) -> Result<Box<dyn Device>> {
        Err(Error::Usage(format!("there is no wgpu device {index}")))
    }
}
