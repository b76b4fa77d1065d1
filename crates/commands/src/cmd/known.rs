//! What files say of devices and suites, for commands that fit and predict.

use super::results;
use super::show::warnings;
use super::unchanged::{Unchanged, unchanged};
use crate::store::Run;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::profile::Profile;
use gpubench_core::record::{Header, Record};
use gpubench_core::text::parsed;
use gpubench_device::sim::Description;
use gpubench_experiments::registry::profile;
use gpubench_report::progress::say;
use gpubench_suite::Suite;
use std::borrow::Cow;
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
        profiles.merge();
        Ok(profiles)
    }

    /// Of several profiles of one device keeps the latest, and says so.
    fn merge(&mut self) {
        let mut kept: Vec<Profile> = vec![];
        for profile in std::mem::take(&mut self.all) {
            let Some(known) = kept.iter_mut().find(|one| is_same(&one.device, &profile.device))
            else {
                kept.push(profile);
                continue;
            };
            if profile.started > known.started {
                *known = profile;
            }
            say(&format!(
                "several profiles of {} ({}): the latest is used, of {}",
                known.device.name, known.device.backend, known.started
            ));
        }
        self.all = kept;
    }

    fn file(&mut self, path: &Path) -> Result<()> {
        match extension(path) {
            Some("json") => self.all.push(parsed(path, MAX_BYTES, Profile::parse)?),
            Some("yaml" | "yml") => {
                let described = parsed(path, MAX_BYTES, Description::parse)?;
                self.all.push(described.profile(self.all.len()));
            }
            _ => self.run(path)?,
        }
        Ok(())
    }

    /// Everything in it that describes a device; what else lies there under such a name is reported on
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
                Err(error) => warnings(&[format!("skipped: {error}")]),
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
        let run = results::open(path)?;
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

    /// The profile that is most likely the device's, of equally likely ones the latest.
    pub fn of_device(&self, device: &DeviceInfo) -> Option<&Profile> {
        let mut all: Vec<&Profile> = self.all.iter().collect();
        all.sort_by(|a, b| b.started.cmp(&a.started));
        likely(all.into_iter().map(|profile| (&profile.device, profile)), device)
    }
}

/// Whether API, vendor and name are the same.
pub fn same_view(one: &DeviceInfo, other: &DeviceInfo) -> bool {
    (&one.vendor, &one.name, &one.backend) == (&other.vendor, &other.name, &other.backend)
}

/// Whether two descriptions may be of one device: API, vendor and name are the same, and no two
/// UUIDs distinguish them.
pub fn may_be(one: &DeviceInfo, other: &DeviceInfo) -> bool {
    let apart = matches!((&one.uuid, &other.uuid), (Some(one), Some(other)) if one != other);
    same_view(one, other) && !apart
}

/// Whether two runs name the same device: of equal ones, that of the same UUID, or where that is not
/// known, of the same position.
pub fn is_same(one: &DeviceInfo, other: &DeviceInfo) -> bool {
    let place = (one.uuid.is_some() && other.uuid.is_some()) || one.index == other.index;
    may_be(one, other) && place
}

/// What belongs to `device`: of those that may be it, that of its UUID, else that of its position
/// among the API's devices, else the first.
pub fn likely<'a, T>(
    all: impl Iterator<Item = (&'a DeviceInfo, T)>,
    device: &DeviceInfo,
) -> Option<T> {
    let alike = all.filter(|(other, _)| may_be(other, device));
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

/// The suite that the run was made of, whose kernels are counted, and the run's records without those of kernels that
/// have changed in it since; `flag` names its file. A run of a suite that is neither named nor embedded, or that has none
/// of its kernels left, is reported on stderr and left out.
///
/// # Errors
/// `Usage` where the suite that is named has none of the run's kernels.
pub fn suite<'r>(
    run: &'r Run,
    named: Option<&str>,
    flag: &str,
) -> Result<Option<(Suite, Cow<'r, [Record]>)>> {
    let (header, path) = (&run.header, run.path.display());
    let name = named.unwrap_or(&header.suite);
    if named.is_none() && !gpubench_suite::suites().contains(&name) {
        warnings(&[format!(
            "skipped: {path}: it is of the suite `{name}`, which is not embedded: name its file with {flag}"
        )]);
        return Ok(None);
    }
    let suite = gpubench_experiments::load(name)?;
    if suite.hash == header.suite_hash {
        return Ok(Some((suite, Cow::Borrowed(&run.records))));
    }
    let Unchanged { records, all, left } = unchanged(&suite, run);
    let none = format!("{path}: the suite `{name}` has none of its kernels as they were run");
    match (left, named) {
        (0, Some(_)) => return Err(Error::Usage(none)),
        (0, None) => {
            warnings(&[format!("skipped: {none}")]);
            return Ok(None);
        }
        _ if left < all => warnings(&[format!(
            "{path}: the suite `{name}` has changed since the run; {left} of its {all} kernel results are used, whose kernels have not"
        )]),
        _ => {}
    }
    Ok(Some((suite, Cow::Owned(records))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample;

    #[test]
    fn of_equal_devices_the_uuid_decides_then_the_position() {
        let device = |index: usize, uuid: Option<&str>| DeviceInfo {
            index,
            uuid: uuid.map(str::to_owned),
            ..sample::device("wgpu")
        };
        let all = [device(0, Some("a")), device(1, Some("b")), device(1, None)];
        let found = |wanted: &DeviceInfo| likely(all.iter().zip(0..), wanted);
        assert_eq!(found(&device(0, Some("b"))), Some(1));
        // Neither of the two that are known to be others.
        assert_eq!(found(&device(1, Some("c"))), Some(2));
        assert_eq!(likely(all[..2].iter().zip(0..), &device(1, Some("c"))), None);
        assert_eq!(found(&device(7, None)), Some(0));
        assert_eq!(found(&sample::device("opencl")), None);
    }

    #[test]
    fn one_devices_profiles_are_one_and_the_latest() {
        let gpu = Description::parse(
            "k40c.yaml",
            include_str!("../../../device/src/sim/devices/tesla-k40c.yaml"),
        );
        let profile = |index: usize, uuid: Option<&str>, started: &str| {
            let mut profile = gpu.as_ref().unwrap().profile(index);
            profile.device.uuid = uuid.map(str::to_owned);
            Profile { started: started.into(), ..profile }
        };
        let mut profiles = Profiles {
            all: vec![
                profile(0, None, "2026-03-01T00:00:00Z"),
                profile(0, None, "2026-02-01T00:00:00Z"),
                profile(1, Some("a"), "2026-01-01T00:00:00Z"),
                profile(2, Some("a"), "2026-04-01T00:00:00Z"),
                profile(1, Some("b"), "2026-01-01T00:00:00Z"),
            ],
            runs: vec![],
        };
        let likeliest = profiles.of_device(&profile(0, None, "").device).unwrap();
        assert_eq!(likeliest.started, "2026-03-01T00:00:00Z");
        profiles.merge();
        let months: Vec<&str> = profiles.all.iter().map(|one| &one.started[5..7]).collect();
        assert_eq!(months, ["03", "04", "01"]);
    }
}
