//! Baselines: one result file a device, API, driver and class of hosts, with what repeated runs taught of its
//! noise.

use super::read::{Run, read};
use super::safe;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::{Host, Line};
use gpubench_core::text::slug;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The folder that commands look in unless one is given.
pub const FOLDER: &str = "baselines";

/// Where `compare` and `serve` look unless a folder is given: here or, where there is no such folder, where packages have it.
pub fn readable_folder() -> PathBuf {
    let here = PathBuf::from(FOLDER);
    if here.is_dir() {
        return here;
    }
    let program = std::env::current_exe().ok();
    program.and_then(|program| packaged_folder(&program)).unwrap_or(here)
}

/// In an archive it lies next to the program, where a package is installed in `share`.
fn packaged_folder(program: &Path) -> Option<PathBuf> {
    let folder = program.parent()?;
    let shared = folder.parent()?.join("share/gpubench").join(FOLDER);
    [folder.join(FOLDER), shared].into_iter().find(|folder| folder.is_dir())
}

/// What a baseline is for: another driver or another class of hosts has one of its own.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    /// The device, with its API and driver.
    pub device: &'a DeviceInfo,
    /// The machine.
    pub host: &'a Host,
}

impl Key<'_> {
    /// Its file's name: `<vendor-device-api>--<driver>--<processor>.jsonl`.
    fn file_name(&self) -> String {
        let device = self.device.slug();
        // `safe` is for the names that Windows reserves; a slug is longer than it keeps.
        let device = if device.len() > 8 { device } else { safe(&device) };
        let (driver, host) = (slug(&[&self.device.driver], 40), slug(&[&self.host.class()], 60));
        format!("{device}--{driver}--{host}.jsonl")
    }

    /// How many of device, driver and class of hosts a baseline's key shares; 0 where it is of another device.
    fn shares(&self, other: &Key) -> usize {
        let (one, two) = (self.device, other.device);
        if (&one.vendor, &one.name, &one.backend) != (&two.vendor, &two.name, &two.backend) {
            return 0;
        }
        1 + usize::from(one.driver == two.driver)
            + usize::from(self.host.class() == other.host.class())
    }
}

/// Where a baseline for `key` lies or would lie: a file that is there under another name counts.
pub fn path(folder: &Path, key: &Key) -> PathBuf {
    let usual = folder.join(key.file_name());
    let is_exact = |(shared, _): &(usize, PathBuf)| *shared == EXACT;
    match nearest(folder, key) {
        Some(found) if !usual.exists() && is_exact(&found) => found.1,
        _ => usual,
    }
}

/// Parts of a key.
const EXACT: usize = 3;

/// The baseline of this device that shares most of `key`, of equally near ones the latest.
pub fn find(folder: &Path, key: &Key) -> Option<PathBuf> {
    let usual = folder.join(key.file_name());
    if usual.exists() { Some(usual) } else { nearest(folder, key).map(|(_, path)| path) }
}

fn nearest(folder: &Path, key: &Key) -> Option<(usize, PathBuf)> {
    let files = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let near = files.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    let near = near.filter_map(|path| {
        let (header, _) = super::read::open(&path).ok()?;
        let shared = key.shares(&Key { device: header.devices.first()?, host: &header.host });
        (shared > 0).then_some((shared, header.started, path))
    });
    near.max().map(|(shared, _, path)| (shared, path))
}

/// Whether a baseline may be written to `path`; its folder is made.
///
/// # Errors
/// `Usage` when there is one and it is not to be replaced, or a folder; `Io` when its folder
/// cannot be made.
pub fn ready(path: &Path, replace: bool) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|source| Error::io(folder, source))?;
    if path.is_dir() {
        return Err(Error::Usage(format!("{}: {}", path.display(), gpubench_core::text::FOLDER)));
    }
    if path.exists() && !replace {
        let message = format!("{} is there already (--replace writes over it)", path.display());
        return Err(Error::Usage(message));
    }
    Ok(())
}

/// Writes a baseline in one piece: a reader sees the old one or the new one.
///
/// # Errors
/// As [`ready`]; `Io` when it cannot be written.
pub fn save(run: &Run, replace: bool) -> Result<()> {
    let path = run.path.as_path();
    ready(path, replace)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let io = |source| Error::io(path, source);
    let mut lines = vec![Line::Header(Box::new(run.header.clone()))];
    lines.extend(run.noise.clone().map(Line::Noise));
    lines.extend(run.records.iter().map(|record| Line::Record(Box::new(record.clone()))));
    lines.extend(run.footer.clone().map(Line::Footer));
    let mut file = tempfile::Builder::new()
        .prefix(".baseline-")
        .tempfile_in(folder)
        .map_err(|source| Error::io(folder, source))?;
    for line in &lines {
        let mut bytes = serde_json::to_vec(line).map_err(|e| io(std::io::Error::other(e)))?;
        bytes.push(b'\n');
        file.write_all(&bytes).map_err(io)?;
    }
    file.as_file().sync_data().map_err(io)?;
    readable(file.path()).map_err(io)?;
    file.persist(path).map_err(|e| io(e.error))?;
    Ok(())
}

/// A temporary file is its owner's alone; a baseline is shared like any other file.
fn readable(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644))?;
    }
    let _ = path;
    Ok(())
}

/// All baselines of a folder, by file name; a file that is none is reported, not returned.
///
/// # Errors
/// `Io` when the folder cannot be read.
pub fn list(folder: &Path) -> Result<(Vec<Run>, Vec<Error>)> {
    if !folder.exists() {
        return Ok((vec![], vec![]));
    }
    let found = match super::find::find(&[folder.to_owned()]) {
        Err(Error::Usage(_)) => super::find::Found::default(),
        found => found?,
    };
    let (mut runs, mut errors) = (vec![], found.foreign);
    errors.extend(found.copies.into_iter().map(|copied| {
        let (copy, first) = (copied.file.display(), copied.kept.display());
        Error::Usage(format!("{copy} holds the same as {first}"))
    }));
    for file in found.files {
        match read(&file) {
            Ok(run) => runs.push(run),
            Err(error) => errors.push(error),
        }
    }
    Ok((runs, errors))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample::{device, header, key, record};
    use gpubench_core::record::{Footer, Header, Noise};

    #[test]
    fn packages_have_baselines_next_to_the_program_or_in_share() {
        let root = tempfile::tempdir().unwrap();
        let program = root.path().join("bin/gpubench");
        assert_eq!(packaged_folder(&program), None);
        for folder in ["share/gpubench/baselines", "bin/baselines"].map(|f| root.path().join(f)) {
            std::fs::create_dir_all(&folder).unwrap();
            assert_eq!(packaged_folder(&program), Some(folder));
        }
    }

    #[test]
    fn what_is_saved_is_found_by_its_device() {
        let folder = tempfile::tempdir().unwrap();
        let device = device("opencl");
        let host = Host { cpu: "EPYC".into(), cores: 2, ..Host::default() };
        let key_of = |device| Key { device, host: &host };
        let path = path(folder.path(), &key_of(&device));
        let name = "nobody-invented-gpu-opencl--1-0--epyc-2-cores.jsonl";
        assert!(path.ends_with(name), "{}", path.display());
        let noise = Noise { runs: 2, floors: vec![(key("a", 1), 0.03)], history: vec![] };
        let footer =
            Footer { ended: "2025-01-31T12:31:05Z".into(), wall: 1.0, estimated: None, records: 1 };
        let header = Header { host: host.clone(), ..header(vec![device.clone()]) };
        let (records, footer) = (vec![record(key("a", 1), 1.0)], Some(footer));
        let noise = Some(noise);
        let run = Run { path: path.clone(), header, records, noise, footer, ..Run::default() };
        save(&run, false).unwrap();
        assert!(save(&run, false).unwrap_err().to_string().contains("--replace"));
        save(&run, true).unwrap();
        assert!(ready(folder.path(), true).unwrap_err().to_string().contains("folder"));
        let (runs, errors) = list(folder.path()).unwrap();
        assert!(errors.is_empty() && runs.len() == 1);
        assert_eq!((&runs[0].noise, &runs[0].records), (&run.noise, &run.records));
        assert!(runs[0].warnings.is_empty());
        // Of another driver it is found, and not written over; by another name it is still the one.
        let newer = DeviceInfo { driver: "2.0".into(), ..device.clone() };
        assert_eq!(find(folder.path(), &key_of(&newer)), Some(path.clone()));
        assert_ne!(super::path(folder.path(), &key_of(&newer)), path);
        let other = DeviceInfo { name: "Another".into(), ..device.clone() };
        assert_eq!(find(folder.path(), &key_of(&other)), None);
        let moved = folder.path().join("ours.jsonl");
        std::fs::rename(&path, &moved).unwrap();
        assert_eq!(super::path(folder.path(), &key_of(&device)), moved);
    }

    #[test]
    fn names_from_drivers_stay_in_the_folder() {
        let mut device = device("wgpu");
        device.name = "../../\u{1b}[31mx".repeat(700);
        device.vendor = "\u{202e}/".into();
        let host = Host { cpu: "/\u{1b}x".repeat(99), ..Host::default() };
        let path = path(Path::new("baselines"), &Key { device: &device, host: &host });
        assert_eq!(path.parent(), Some(Path::new("baselines")));
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(name.len() < 220 && name.is_ascii() && !name.contains(['/', '\u{1b}']), "{name}");
    }
}
