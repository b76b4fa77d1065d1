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
mod mix;
mod noise;
mod profile;
mod sources;
mod units;

pub use description::{
    Cache, Compute, Costs, Description, Link, Local, Memory, Noise, Price, Rates, Unit,
};
pub use device::SimDevice;
pub use events::{Job, Work, simulate};
pub use grid::{Grid, Needs};
pub use link::{Direction, Transfer};
pub use sources::{Source, sources};

use super::{Backend, Device};
use crate::error::{Error, Result};
use crate::gpu::DeviceInfo;
use include_dir::{Dir, include_dir};
use std::path::PathBuf;

static SHIPPED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/backend/sim/devices");

/// The largest description: an honest one has some kilobytes.
const MAX_BYTES: u64 = 1 << 20;

/// The backend's name.
pub const SIM: &str = "sim";

/// The simulated backend: the shipped devices and, behind them, a user's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sim {
    files: Vec<PathBuf>,
    seed: u64,
}

impl Sim {
    /// With the devices described in `files`, scattering by `seed`.
    pub fn new(files: Vec<PathBuf>, seed: u64) -> Self {
        Self { files, seed }
    }

    /// The same devices, scattering by another seed.
    pub fn scattering(&self, seed: u64) -> Self {
        Self { files: self.files.clone(), seed }
    }

    /// The user's descriptions.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// What is added to a description's own seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// How many devices are shipped; a user's are numbered from here on.
    pub fn shipped() -> usize {
        SHIPPED.files().count()
    }

    /// All descriptions, the shipped ones first, in the order of their files' names.
    ///
    /// # Errors
    /// A file that cannot be read, or a mistake in one, with its place.
    pub fn descriptions(&self) -> Result<Vec<Description>> {
        self.texts()?.iter().map(|(file, text)| Description::parse(file, text)).collect()
    }

    /// Where the values of every description come from, in the same order.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn sources(&self) -> Result<Vec<Vec<Source>>> {
        Ok(self.texts()?.iter().map(|(_, text)| sources(text)).collect())
    }

    /// Every description's file and text.
    fn texts(&self) -> Result<Vec<(String, String)>> {
        let mut shipped: Vec<_> = SHIPPED.files().collect();
        shipped.sort_by_key(|file| file.path());
        let shipped = shipped.into_iter().map(|file| {
            let text = file.contents_utf8().unwrap_or_default();
            Ok((file.path().display().to_string(), text.to_owned()))
        });
        let users = self.files.iter().map(|path| {
            let file = path.display().to_string();
            match crate::text::read(path, MAX_BYTES) {
                Ok(text) => Ok((file, text)),
                Err(why) => Err(Error::Usage(format!("{file}: {why}"))),
            }
        });
        shipped.chain(users).collect()
    }
}

impl Backend for Sim {
    fn name(&self) -> &'static str {
        SIM
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
