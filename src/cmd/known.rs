//! What files tell of devices and suites, for commands that fit and foresee.

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
    /// nothing; a folder without any profile.
    pub fn of(paths: &[PathBuf]) -> Result<Self> {
        let mut profiles = Self::default();
        for path in paths {
            if path.is_dir() { profiles.folder(path)? } else { profiles.file(path)? }
        }
        Ok(profiles)
    }

    fn file(&mut self, path: &Path) -> Result<()> {
        match extension(path) {
            Some("json") => self.all.push(Profile::parse(&name(path), &text(path)?)?),
            Some("yaml" | "yml") => {
                let described = Description::parse(&name(path), &text(path)?)?;
                self.all.push(described.profile(self.all.len()));
            }
            _ => self.run(path)?,
        }
        Ok(())
    }

    /// Everything in it that tells of a device; what else lies there under such a name is told on
    /// stderr and left out.
    fn folder(&mut self, folder: &Path) -> Result<()> {
        let before = self.all.len();
        let io = |source| Error::io(folder, source);
        let mut files = vec![];
        for entry in std::fs::read_dir(folder).map_err(io)? {
            let path = entry.map_err(io)?.path();
            if path.is_file() && matches!(extension(&path), Some("json" | "yaml" | "yml" | "jsonl"))
            {
                files.push(path);
            }
        }
        files.sort();
        for file in files {
            match self.file(&file) {
                Err(error @ Error::Io { .. }) => return Err(error),
                Err(error) => warnings(&[format!("left out: {error}")]),
                Ok(()) => {}
            }
        }
        if self.all.len() > before {
            return Ok(());
        }
        let what =
            "no profile (.json), description (.yaml) or run that characterises (.jsonl) in it";
        Err(Error::Usage(format!("{}: {what}", folder.display())))
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

    /// The profile of a run's `device`: among those of the run itself, else the one that is most
    /// likely of it.
    pub fn find<'a>(&'a self, own: &'a [Profile], device: &DeviceInfo) -> Option<&'a Profile> {
        let same = |profile: &&Profile| {
            profile.device.index == device.index && profile.device.backend == device.backend
        };
        own.iter().find(same).or_else(|| self.of_device(device))
    }

    /// The profile that is most likely the device's.
    pub fn of_device(&self, device: &DeviceInfo) -> Option<&Profile> {
        likely(self.all.iter().map(|profile| (&profile.device, profile)), device)
    }
}

/// Whether it is the profile of a device of this name and vendor, seen through the same API.
pub fn is_of(profile: &Profile, device: &DeviceInfo) -> bool {
    let other = &profile.device;
    (&other.backend, &other.name, &other.vendor) == (&device.backend, &device.name, &device.vendor)
}

/// What belongs to `device`: of those of its API, vendor and name, that of its UUID, else that of its
/// position among the API's devices, else the first.
pub fn likely<'a, T>(
    all: impl Iterator<Item = (&'a DeviceInfo, T)>,
    device: &DeviceInfo,
) -> Option<T> {
    let named = |d: &DeviceInfo| [&d.backend, &d.vendor, &d.name].map(String::clone);
    let wanted = named(device);
    let alike = all.filter(|(other, _)| named(other) == wanted);
    let far = |other: &DeviceInfo| match (&other.uuid, &device.uuid) {
        (Some(one), Some(other)) if one == other => 0,
        _ if other.index == device.index => 1,
        _ => 2,
    };
    alike.min_by_key(|(other, _)| far(other)).map(|(_, found)| found)
}

fn extension(path: &Path) -> Option<&str> {
    path.extension().and_then(|extension| extension.to_str())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::sample;

    #[test]
    fn of_equal_devices_the_uuid_tells_then_the_position() {
        let device = |index: usize, uuid: Option<&str>| DeviceInfo {
            index,
            uuid: uuid.map(str::to_owned),
            ..sample::device("wgpu")
        };
        let all = [device(0, Some("a")), device(1, Some("b")), device(1, None)];
        let found = |wanted: &DeviceInfo| likely(all.iter().zip(0..), wanted);
        assert_eq!(found(&device(0, Some("b"))), Some(1));
        assert_eq!(found(&device(1, Some("c"))), Some(1));
        assert_eq!(found(&device(7, None)), Some(0));
        assert_eq!(found(&sample::device("opencl")), None);
    }
}
