//! Simulated GPUs, described in YAML: for tests without a driver, and for what-if questions.
//!
//! A recording's steps are priced ([`Grid`], [`Transfer`]) and played event by event
//! ([`simulate`]); kernels compute through their reference, so that results can be verified.
//! Nothing here is measured, and every record of it says so.

mod description;
mod device;
mod effects;
mod events;
mod grid;
mod link;
mod memory;
mod noise;
mod units;

pub use description::{Compute, Costs, Description, Link, Memory, Noise, Rates, Unit};
pub use device::SimDevice;
pub use events::{Job, Work, simulate};
pub use grid::{Grid, Needs};
pub use link::{Direction, Transfer};

use super::{Backend, Device};
use crate::error::{Error, Result};
use crate::gpu::DeviceInfo;
use include_dir::{Dir, include_dir};
use std::ffi::OsString;
use std::path::PathBuf;

static SHIPPED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/backend/sim/devices");

/// Environment variable with the paths of more descriptions, separated as in `PATH`.
pub const FILES: &str = "GPUBENCH_SIM";
/// Environment variable with a number that makes one process scatter unlike another.
pub const SEED: &str = "GPUBENCH_SIM_SEED";

/// The simulated backend: the shipped devices and, behind them, a user's.
#[derive(Clone, Debug, Default)]
pub struct Sim {
    files: Vec<PathBuf>,
    seed: u64,
}

impl Sim {
    /// With the devices described in `files`, scattering by `seed`.
    pub fn from_files(files: Vec<PathBuf>, seed: u64) -> Self {
        Self { files, seed }
    }

    /// As the environment says ([`FILES`], [`SEED`]).
    pub fn from_env() -> Self {
        let files = std::env::var_os(FILES).map(|paths| std::env::split_paths(&paths).collect());
        let seed = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok());
        Self { files: files.unwrap_or_default(), seed: seed.unwrap_or_default() }
    }

    /// The environment from which another process makes an equal backend.
    ///
    /// # Errors
    /// When a path contains the separator.
    pub fn to_env(&self) -> Result<[(&'static str, OsString); 2]> {
        let files = std::env::join_paths(&self.files)
            .map_err(|error| Error::Usage(format!("a simulated device's path: {error}")))?;
        Ok([(FILES, files), (SEED, self.seed.to_string().into())])
    }

    /// All descriptions, the shipped ones first, in the order of their files' names.
    ///
    /// # Errors
    /// A file that cannot be read, or a mistake in one, with its place.
    pub fn descriptions(&self) -> Result<Vec<Description>> {
        let mut shipped: Vec<_> = SHIPPED.files().collect();
        shipped.sort_by_key(|file| file.path());
        let shipped = shipped.into_iter().map(|file| {
            let text = file.contents_utf8().unwrap_or_default();
            Description::parse(&file.path().display().to_string(), text)
        });
        let users = self.files.iter().map(|path| {
            let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, e))?;
            Description::parse(&path.display().to_string(), &text)
        });
        shipped.chain(users).collect()
    }
}

impl Backend for Sim {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>> {
        let descriptions = self.descriptions()?;
        Ok(descriptions.iter().enumerate().map(|(i, gpu)| device::info(gpu, i)).collect())
    }

    fn open(&self, index: usize) -> Result<Box<dyn Device>> {
        let gpu = self
            .descriptions()?
            .into_iter()
            .nth(index)
            .ok_or_else(|| Error::Usage(format!("there is no sim device {index}")))?;
        Ok(Box::new(SimDevice::new(gpu, index, self.seed)))
    }
}

/// Whether something that takes `left` more seconds is over after `dt`, but for rounding:
/// things that end together shall end in one event.
fn is_over(left: f64, dt: f64) -> bool {
    left <= dt * (1.0 + 1e-9) + 1e-15
}
