//! One run per device: two at once would measure each other.

use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{DeviceInfo, DeviceKind};
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Names another folder for the locks, for instance one that containers share.
const VARIABLE: &str = "GPUBENCH_LOCKS";

/// Where the locks lie.
#[derive(Clone, Debug)]
pub struct LockFolder {
    /// One or more: a lock is taken in all of them, since another run may have only some of them to write to.
    paths: Vec<PathBuf>,
    is_shared: bool,
}

impl LockFolder {
    /// The folder that `GPUBENCH_LOCKS` names; else those in which every user may make files and nobody
    /// may remove another's, so that all users' runs meet there; else the temporary folder.
    pub fn find() -> Self {
        if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
            return Self { paths: vec![path.into()], is_shared: true };
        }
        let shared = |folders: &&[&str]| -> Vec<PathBuf> {
            folders.iter().map(PathBuf::from).filter(|path| is_shared(path)).collect()
        };
        match SHARED.iter().map(shared).find(|paths| !paths.is_empty()) {
            Some(paths) => Self { paths, is_shared: true },
            None => Self { paths: vec![std::env::temp_dir()], is_shared: false },
        }
    }

    /// Of runs that meet at these locks, and of no others, one is the same: of each folder the machine since it started, and
    /// the folder, which containers may each have of their own. None where the system does not say.
    #[cfg(unix)]
    pub fn identities(&self) -> Vec<String> {
        use std::os::unix::fs::MetadataExt;
        let Ok(boot) = std::fs::read_to_string("/proc/sys/kernel/random/boot_id") else {
            return vec![];
        };
        let folders = self.paths.iter().filter_map(|path| std::fs::metadata(path).ok());
        folders.map(|folder| format!("{} {}:{}", boot.trim(), folder.dev(), folder.ino())).collect()
    }

    #[cfg(not(unix))]
    pub fn identities(&self) -> Vec<String> {
        vec![]
    }

    /// What the locks do not keep apart, where they lie in a folder that not all users share.
    pub fn doubt(&self) -> Option<String> {
        (!self.is_shared).then(|| {
            format!(
                "locks of devices are in {}, since no folder here is shared by all users: a run with another \
                 temporary folder is not seen ({VARIABLE} names a folder for both)",
                std::env::temp_dir().display()
            )
        })
    }
}

/// Folders that all users share, on systems that have them: those of the first kind that is there. A service may be kept
/// from writing to `/run/lock`, so that it meets others in `/dev/shm`.
#[cfg(unix)]
const SHARED: [&[&str]; 2] = [&["/run/lock", "/dev/shm"], &["/tmp"]];
#[cfg(not(unix))]
const SHARED: [&[&str]; 0] = [];

/// Whether every user may make files there and remove only their own.
#[cfg(unix)]
fn is_shared(path: &Path) -> bool {
    use rustix::fs::{Access, access};
    use std::os::unix::fs::PermissionsExt;
    const STICKY_FOR_ALL: u32 = 0o1777;
    let Ok(data) = std::fs::symlink_metadata(path) else { return false };
    let mode = data.permissions().mode();
    data.is_dir()
        && mode & STICKY_FOR_ALL == STICKY_FOR_ALL
        && access(path, Access::WRITE_OK).is_ok()
}

#[cfg(not(unix))]
fn is_shared(_: &Path) -> bool {
    false
}

/// The right to measure a device, held until dropped; the system takes it back from a process
/// that dies.
#[derive(Debug)]
pub struct DeviceLock {
    /// One a folder.
    files: Vec<File>,
}

/// The result of asking for a lock.
#[derive(Debug)]
pub enum Attempt {
    /// It is ours.
    Taken(DeviceLock),
    /// Another run has it: its process, where it reports one.
    HeldBy(Option<u32>),
}

impl DeviceLock {
    /// What is locked for a device. Two APIs' views of one physical GPU share a key where both report its
    /// PCI address or UUID; all implementations on the host's processor share one.
    pub fn keys(device: &DeviceInfo) -> Vec<String> {
        if device.kind == DeviceKind::Cpu {
            return vec!["cpu".into()];
        }
        let addresses = [&device.pci, &device.uuid].into_iter().flatten();
        let keys: Vec<String> =
            addresses.map(|key| super::safe(&key.to_ascii_lowercase())).collect();
        if keys.is_empty() { vec![format!("{}-{}", device.slug(), device.index)] } else { keys }
    }

    /// Tries to lock the device under one of its [`DeviceLock::keys`] for this process, without waiting. A folder that
    /// takes no file is passed over where another one does.
    ///
    /// # Errors
    /// `Io` when the lock's file can be opened in none of the folders.
    pub fn attempt(folder: &LockFolder, key: &str) -> Result<Attempt> {
        let (mut lock, mut failed) = (Self { files: vec![] }, None);
        for path in &folder.paths {
            let path = path.join(format!("gpubench-{key}.lock"));
            let opened = open(&path).and_then(|mut file| match file.try_lock() {
                Ok(()) => Ok(Ok(file)),
                Err(TryLockError::WouldBlock) => Ok(Err(holder(&mut file))),
                Err(TryLockError::Error(error)) => Err(error),
            });
            let mut file = match opened {
                Ok(Ok(file)) => file,
                Ok(Err(holder)) => return Ok(Attempt::HeldBy(holder)),
                Err(error) => {
                    failed = Some(Error::io(&path, error));
                    continue;
                }
            };
            // The number is for people; where another user's file cannot be written it is left out.
            let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
            lock.files.push(file);
        }
        match failed.filter(|_| lock.files.is_empty()) {
            Some(error) => Err(error),
            None => Ok(Attempt::Taken(lock)),
        }
    }
}

impl Drop for DeviceLock {
    fn drop(&mut self) {
        for file in &self.files {
            let _ = file.set_len(0);
        }
    }
}

fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().and_then(|()| file.take(20).read_to_string(&mut text)).ok()?;
    text.trim().parse().ok()
}

/// Opens the lock's file without following a link that somebody else put into the shared folder;
/// a file of another user's can still be locked, though not written.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, fchmod};
    use rustix::io::Errno;
    let for_all = Mode::from_raw_mode(0o644);
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let open = |flags| rustix::fs::open(path, flags, for_all);
    let file = match open(flags | OFlags::CREATE | OFlags::EXCL | OFlags::RDWR) {
        Ok(made) => {
            // Whatever files are made with here: others must be able to lock it.
            fchmod(&made, for_all)?;
            made
        }
        Err(Errno::EXIST) => {
            open(flags | OFlags::RDWR).or_else(|_| open(flags | OFlags::RDONLY))?
        }
        Err(error) => return Err(error.into()),
    };
    Ok(File::from(file))
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample;

    fn private() -> (tempfile::TempDir, LockFolder) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().to_owned();
        (folder, LockFolder { paths: vec![path], is_shared: false })
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn all_users_runs_meet_in_one_folder() {
        use std::os::unix::fs::PermissionsExt;
        // The variable of whoever runs the tests may name another.
        if std::env::var_os(VARIABLE).is_none() {
            let folder = LockFolder::find();
            assert!(folder.is_shared && folder.doubt().is_none(), "{folder:?}");
        }
        let (folder, locks) = private();
        assert!(!is_shared(folder.path()) && locks.doubt().unwrap().contains(VARIABLE));
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o1777)).unwrap();
        assert!(is_shared(folder.path()));
        let Attempt::Taken(lock) = DeviceLock::attempt(&locks, "card").unwrap() else { panic!() };
        let mode = lock.files[0].metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o644, "others can open it, whatever the umask");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_takes_no_file_is_reported_as_what_it_is() {
        let locks = LockFolder { paths: vec!["/proc".into()], is_shared: false };
        let error = DeviceLock::attempt(&locks, "card").unwrap_err().to_string();
        assert!(error.contains("/proc/gpubench-card.lock"), "{error}");
    }

    #[test]
    fn the_second_learns_who_has_it() {
        let (_folder, locks) = private();
        let attempt = || DeviceLock::attempt(&locks, "card").unwrap();
        let Attempt::Taken(first) = attempt() else { panic!("nobody else has it") };
        assert!(matches!(attempt(), Attempt::HeldBy(Some(pid)) if pid == std::process::id()));
        drop(first);
        assert!(matches!(attempt(), Attempt::Taken(_)));
    }

    /// A service that may not write to `/run/lock` and a user who may.
    #[test]
    fn runs_meet_in_any_folder_that_both_have() {
        let (_one, ours) = private();
        let (_other, theirs) = private();
        let all = LockFolder { paths: [ours.paths.clone(), theirs.paths.clone()].concat(), ..ours };
        let first = DeviceLock::attempt(&all, "card").unwrap();
        assert!(matches!(DeviceLock::attempt(&theirs, "card").unwrap(), Attempt::HeldBy(Some(_))));
        drop(first);
        let second = DeviceLock::attempt(&theirs, "card").unwrap();
        assert!(matches!(DeviceLock::attempt(&all, "card").unwrap(), Attempt::HeldBy(Some(_))));
        drop(second);
        assert!(matches!(DeviceLock::attempt(&all, "card").unwrap(), Attempt::Taken(_)));
        #[cfg(target_os = "linux")]
        assert_eq!(all.identities()[1..], theirs.identities());
    }

    #[test]
    fn views_of_one_physical_gpu_share_a_lock() {
        let mut a = sample::device("opencl");
        let mut b = sample::device("wgpu");
        let shared = |a: &DeviceInfo, b: &DeviceInfo| {
            let theirs = DeviceLock::keys(b);
            DeviceLock::keys(a).iter().any(|key| theirs.contains(key))
        };
        assert!(!shared(&a, &b));
        a.pci = Some("0000:0a:00.0".into());
        a.uuid = Some("ab".into());
        b.pci = Some("0000:0A:00.0".into());
        assert!(shared(&a, &b));
        (b.pci, b.uuid) = (None, a.uuid.clone());
        assert!(shared(&a, &b));
        b.pci = Some("../../etc".into());
        assert!(DeviceLock::keys(&b).iter().all(|key| !key.contains('/')));
    }

    #[test]
    fn all_views_of_the_processor_share_a_lock() {
        let cpu = |backend| DeviceInfo { kind: DeviceKind::Cpu, ..sample::device(backend) };
        assert_eq!(DeviceLock::keys(&cpu("opencl")), DeviceLock::keys(&cpu("wgpu")));
    }

    #[cfg(unix)]
    #[test]
    fn a_planted_link_is_not_followed() {
        let (folder, locks) = private();
        let target = folder.path().join("precious");
        std::fs::write(&target, "precious").unwrap();
        let link = folder.path().join("gpubench-card.lock");
        std::os::unix::fs::symlink(&target, link).unwrap();
        assert!(DeviceLock::attempt(&locks, "card").is_err());
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "precious");
    }
}
