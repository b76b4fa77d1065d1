//! WebGPU in a browser: a page that `gpubench serve` hands out is the device.
//!
//! The [`Hub`] lives as long as the program. It answers on the loopback address: to a browser with the page,
//! to the page with its one WebSocket, to a worker with a line to the page. Workers come and go, as for
//! every device; each one begins a new session, for which the page opens a fresh device.
//!
//! | file | idea |
//! |---|---|
//! | `hub`, `http`, `relay` | who may connect, what is handed out, and who speaks with the page |
//! | `message` | requests of a worker and answers of the page |
//! | `link` | a worker's line to the page |
//! | `info` | what the page reports of its adapter |
//! | `memory` | what was allocated, so that mistakes are found here |
//! | `device` | the seam: [`crate::Device`] |
//! | `page.html`, `page.js`, `session.js`, `images.js` | the page |

mod device;
mod http;
mod hub;
mod info;
mod link;
mod memory;
mod message;
mod relay;
#[cfg(test)]
mod tests;

pub use hub::Hub;

use super::{Backend, Device};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;

/// The name of this backend.
pub const BROWSER: &str = "browser";

/// Environment variable with the hub's address, for workers.
pub const HUB: &str = "GPUBENCH_BROWSER_HUB";

/// The browser that is connected to a hub, if there is one.
#[derive(Default)]
pub struct Browser {
    /// Where workers find the hub.
    hub: Option<String>,
}

impl Browser {
    /// Behind the hub that this process was told of.
    pub fn from_env() -> Self {
        Self { hub: std::env::var(HUB).ok() }
    }

    /// Behind the hub at `address`, as [`Hub::worker_address`] has it.
    pub fn at(address: String) -> Self {
        Self { hub: Some(address) }
    }
}

impl Backend for Browser {
    fn name(&self) -> &'static str {
        BROWSER
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>> {
        match self.hub {
            Some(_) => Ok(vec![self.open(0)?.info().clone()]),
            None => Ok(vec![]),
        }
    }

    fn open(&self, index: usize) -> Result<Box<dyn Device>> {
        match (&self.hub, index) {
            (Some(hub), 0) => Ok(Box::new(device::BrowserDevice::open(hub)?)),
            _ => Err(Error::Usage(format!("there is no browser device {index}"))),
        }
    }
}
