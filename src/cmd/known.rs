//! What files tell of devices and suites, for commands that fit and foresee.

use super::results;
use super::show::warnings;
use crate::analyse::profile;
use crate::backend::sim::Description;
use crate::error::{Error, Result};
use crate::gpu::DeviceInfo;
use crate::record::profile::Profile;
use crate::record::{Header, Record};
use crate::store::{Run, read};
use crate::suite::Suite;
use std::path::{Path, PathBuf};

/// The largest profile or description: an honest one has some dozens of kilobytes.
const MAX_BYTES: u64 = 1 << 22;

/// Profiles of devices, and the runs that some of them came from.
#[derive(Default)]
pub struct Profiles {
    /// The profiles, in the order in which they were named.
    pub all: Vec<Profile>,
    /// The runs.
    pub runs: Vec<Run>,
}

impl Profiles {
    /// Of files: profiles in JSON (`.json`), descriptions of simulated GPUs (`.yaml`), runs and
    /// baselines (`.jsonl`), or folders of those.
    ///
    /// # Errors
    /// A file that cannot be read; a mistake in one, with its place; a run that characterises
    /// nothing.
    pub fn of(paths: &[PathBuf]) -> Result<Self> {
        let mut profiles = Self::default();
        for path in results::files(paths)? {
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("json") => profiles.all.push(Profile::parse(&name(&path), &text(&path)?)?),
                Some("yaml" | "yml") => {
                    let described = Description::parse(&name(&path), &text(&path)?)?;
                    profiles.all.push(described.profile(profiles.all.len()));
                }
                _ => profiles.run(&path)?,
            }
        }
        Ok(profiles)
    }

    fn run(&mut self, path: &Path) -> Result<()> {
        let run = read(path)?;
        warnings(&run.warnings.iter().map(ToString::to_string).collect::<Vec<_>>());
        if self.add(&run.header, &run.records) == 0 {
            return Err(Error::Usage(format!(
                "{}: nothing in it characterises a device: `gpubench run characterise` does",
                path.display()
            )));
        }
        self.runs.push(run);
        Ok(())
    }

    /// Adds those of a run; how many there were.
    pub fn add(&mut self, header: &Header, records: &[Record]) -> usize {
        let found = of_run(header, records);
        let count = found.len();
        self.all.extend(found);
        count
    }

    /// The profile of a run's `device`: among those of the run itself, else the first of one of its
    /// name and vendor through the same API.
    pub fn find<'a>(&'a self, own: &'a [Profile], device: &DeviceInfo) -> Option<&'a Profile> {
        let same = |profile: &&Profile| {
            profile.device.index == device.index && profile.device.backend == device.backend
        };
        own.iter().find(same).or_else(|| self.of_device(device))
    }

    /// The first profile of a device of this name and vendor, seen through the same API.
    pub fn of_device(&self, device: &DeviceInfo) -> Option<&Profile> {
        self.all.iter().find(|profile| is_of(profile, device))
    }
}

/// Whether it is the profile of a device of this name and vendor, seen through the same API.
pub fn is_of(profile: &Profile, device: &DeviceInfo) -> bool {
    let other = &profile.device;
    (&other.backend, &other.name, &other.vendor) == (&device.backend, &device.name, &device.vendor)
}

/// The devices of a run of which anything is known.
pub fn of_run(header: &Header, records: &[Record]) -> Vec<Profile> {
    let devices = 0..header.devices.len();
    let all = devices.filter_map(|device| profile(header, records, device));
    all.filter(|profile| !profile.is_bare()).collect()
}

fn name(path: &Path) -> String {
    path.display().to_string()
}

fn text(path: &Path) -> Result<String> {
    crate::text::read(path, MAX_BYTES)
        .map_err(|why| Error::Usage(format!("{}: {why}", path.display())))
}

/// The suite that the run was made of, whose kernels are counted; `flag` names its file.
///
/// # Errors
/// `Usage` where it is not known or has changed since.
pub fn suite(header: &Header, named: Option<&str>, flag: &str) -> Result<Suite> {
    let references: Vec<_> = crate::reference::names().collect();
    let name = named.unwrap_or(&header.suite);
    if named.is_none() && !crate::suite::suites().contains(&name) {
        return Err(Error::Usage(format!(
            "the run is of the suite `{name}`, which is not embedded: name its file with {flag}"
        )));
    }
    let suite = crate::suite::load(name, &references)?;
    if suite.hash != header.suite_hash {
        return Err(Error::Usage(format!(
            "the suite `{name}` has changed since the run: counts of other kernels would be fitted"
        )));
    }
    Ok(suite)
}
