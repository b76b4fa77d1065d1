//! Simulated GPUs, described in YAML: for tests without a driver, and for what-if questions.
//!
//! A recording's steps are priced ([`Grid`], [`Transfer`]) and played event by event
//! ([`simulate`]); kernels compute through their reference, so that results can be verified.
//! Nothing here is measured, and every record of it says so.

mod cost_model;
mod counted;
mod description;
mod device;
mod effects;
mod events;
mod grid;
mod link;
mod machine;
mod memory;
mod mix;
mod multi_device;
mod noise;
mod prices;
mod profile;
mod sources;
mod units;
mod valid;

pub use cost_model::{CostModel, Launched};
pub use description::{
    Bindings, Cache, Compute, Costs, Counted, Description, Link, Local, Memory, Noise, Price,
    Pricing, Rates, Unit,
};
pub use device::SimDevice;
pub use events::{HostLimits, Job, Work, simulate, simulate_multi_device};
pub use grid::{Grid, Needs};
pub use link::{Direction, Transfer};
pub use machine::{Machine, Switch};
pub use sources::{Source, sources};

use super::{Backend, Device, Opened, nth};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_packed::{Folder, folder};
use std::path::{Path, PathBuf};

static DEVICES: Folder = folder!("devices");
static MACHINES: Folder = folder!("machines");
/// The folder of the devices that are simulated only where they are named, so that a run on all simulated devices
/// stays what it was.
const SMALL: &str = "small/";

/// The largest description: an honest one has some kilobytes.
const MAX_BYTES: u64 = 1 << 20;

/// The backend's name.
pub const SIM: &str = "sim";

/// The simulated backend: the shipped devices and, behind them, those of a user's descriptions:
/// each of a device, or of a machine with several (a shipped machine or small device by its name).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sim {
    files: Vec<PathBuf>,
    seed: u64,
}

impl Sim {
    /// With the devices and machines described in `files`, scattering by `seed`.
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
        shipped().count()
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

    /// Whether a file that is to be simulated is a shipped description, by its name.
    pub fn is_shipped(file: &Path) -> bool {
        let shipped =
            |name| Self::machines().contains(&name) || Self::small_devices().contains(&name);
        file.to_str().is_some_and(shipped)
    }

    /// The names of the shipped machines.
    pub fn machines() -> Vec<&'static str> {
        MACHINES.paths().filter_map(name).collect()
    }

    /// The names of the shipped devices that are simulated only where they are named.
    pub fn small_devices() -> Vec<&'static str> {
        small().filter_map(name).collect()
    }

    /// Opens several devices of one host. Devices of one machine are behind its switches; all
    /// others have a way of their own to the host's memory.
    ///
    /// # Errors
    /// As [`Sim::descriptions`]; `Usage` where there is no device of a number.
    pub fn open_multi_device(&self, indices: &[usize]) -> Result<Opened> {
        let descriptions = self.descriptions()?;
        let device = |&index: &usize| {
            let (gpu, seed) = (nth(SIM, &descriptions, index)?, index as u64);
            Ok(SimDevice::new(gpu.clone(), index, self.seed.wrapping_add(seed)))
        };
        let devices = indices.iter().map(device).collect::<Result<Vec<_>>>()?;
        Ok(multi_device::open(devices, self.switches(indices)?))
    }

    /// The switches of all machines, by the positions of their devices among `indices`.
    fn switches(&self, indices: &[usize]) -> Result<Machine> {
        let mut all = Machine::default();
        let mut next = Self::shipped();
        for path in &self.files {
            let (file, text) = described(path)?;
            if !Machine::is(&text) {
                next += 1;
                continue;
            }
            let machine = Machine::parse(&file, &text)?;
            let first = next;
            next += machine.devices.len();
            let place = |at: usize| indices.iter().position(|&index| index == first + at);
            all.switches.extend(machine.switches.iter().filter_map(|switch| switch.seen(place)));
        }
        Ok(all)
    }

    /// Every device's file and text.
    fn texts(&self) -> Result<Vec<(String, String)>> {
        let text = |path| DEVICES.text(path).unwrap_or_default().to_owned();
        let mut texts: Vec<_> = shipped().map(|path| (path.to_owned(), text(path))).collect();
        for path in &self.files {
            texts.extend(devices_of(described(path)?)?);
        }
        Ok(texts)
    }

    /// How many devices the description at `path` has; 1 where it cannot be read, which is reported
    /// when it is used.
    pub fn count(path: &Path) -> usize {
        described(path).and_then(devices_of).map_or(1, |devices| devices.len())
    }
}

/// The paths of the devices that are always there.
fn shipped() -> impl Iterator<Item = &'static str> {
    DEVICES.paths().filter(|path| !path.starts_with(SMALL))
}

/// The paths, behind [`SMALL`], of those that are there by name.
fn small() -> impl Iterator<Item = &'static str> {
    DEVICES.paths().filter_map(|path| path.strip_prefix(SMALL))
}

/// What a user calls a description.
fn name(path: &'static str) -> Option<&'static str> {
    path.strip_suffix(".yaml")
}

/// File and text of a user's description, or of a shipped one that is named.
fn described(path: &Path) -> Result<(String, String)> {
    let file = path.display().to_string();
    let machine = MACHINES.text(&format!("{file}.yaml"));
    if let Some(text) = machine.or_else(|| DEVICES.text(&format!("{SMALL}{file}.yaml"))) {
        return Ok((file, text.to_owned()));
    }
    match gpubench_core::text::read(path, MAX_BYTES) {
        Ok(text) => Ok((file, text)),
        Err(why) => Err(Error::Usage(format!("{file}: {why}"))),
    }
}

/// Files and texts of the devices that a description has.
fn devices_of((file, text): (String, String)) -> Result<Vec<(String, String)>> {
    if !Machine::is(&text) {
        return Ok(vec![(file, text)]);
    }
    let Machine { devices, kernels, .. } = Machine::parse(&file, &text)?;
    let shipped = |name: String| {
        let path = format!("{name}.yaml");
        let missing = || Error::Usage(format!("{file}: no device `{name}` is shipped"));
        let mut text = DEVICES.text(&path).ok_or_else(missing)?.to_owned();
        if kernels == Pricing::Counted {
            text += "\nkernels: counted\n";
        }
        Ok((path, text))
    };
    devices.into_iter().map(shipped).collect()
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
        let gpu = nth(SIM, self.descriptions()?, index)?;
        Ok(Box::new(SimDevice::new(gpu, index, self.seed)))
    }
}

/// Whether something that takes `left` more seconds is over after `dt`, but for rounding:
/// things that end together shall end in one event.
fn is_over(left: f64, dt: f64) -> bool {
    left <= dt * (1.0 + 1e-9) + 1e-15
}
