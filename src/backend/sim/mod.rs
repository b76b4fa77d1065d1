//! simulated devices.

use super::{Backend, Device};
use crate::error::{Error, Result};
use crate::gpu::DeviceInfo;

/// The simulated backend.
pub struct Sim;

impl Backend for Sim {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>> {
        Ok(vec![])
    }

    fn open(&self, index: usize) -> Result<Box<dyn Device>> {
        Err(Error::Usage(format!("there is no sim device {index}")))
    }
}
