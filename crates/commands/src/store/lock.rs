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
    /// The folder that `GPUBENCH_LOCKS` names, made where it is missing; else those in which every user may make files and
    /// nobody may remove another's, so that all users' runs meet there; else the temporary folder.
    pub fn find() -> Self {
        if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
            // Where this fails, the first lock says why.
            let _ = std::fs::create_dir_all(&path);
            return Self { paths: vec![path.into()], is_shared: true };
        }
        let shared = SHARED.iter().map(PathBuf::from).filter(|path| is_shared(path));
        let paths: Vec<PathBuf> = shared.collect();
        match paths.is_empty() {
            false => Self { paths, is_shared: true },
            true => Self { paths: vec![std::env::temp_dir()], is_shared: false },
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

    /// What the locks do not keep apart, where they lie in a folder that not all users' runs look into.
    pub fn doubt(&self) -> Option<String> {
        (!self.is_shared).then(|| {
            let folders: Vec<_> = self.paths.iter().map(|path| path.display().to_string()).collect();
            format!(
                "locks of devices are in {}, since this run may not write to a folder in which all users' runs meet: \
                 one that may, or that has another temporary folder, is not seen ({VARIABLE} names a folder for both)",
                folders.join(" and ")
            )
        })
    }
}

/// Folders that all users share, on systems that have them. A service may be kept from writing to `/run/lock`, so that it
/// meets others in `/dev/shm`.
#[cfg(unix)]
const SHARED: [&str; 2] = ["/run/lock", "/dev/shm"];
#[cfg(not(unix))]
const SHARED: [&str; 0] = [];

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

/// What a run locks, for itself or with others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LockKey {
    /// Part of the file's name.
    pub name: String,
    /// Whether others may hold it meanwhile.
    pub hold: Hold,
}

/// How a run holds a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hold {
    /// Nobody else has it.
    Exclusive,
    /// Others may have it, too, in this way.
    Shared,
}

impl LockKey {
    /// Held by one run at a time.
    pub fn exclusive(name: impl Into<String>) -> Self {
        Self { name: name.into(), hold: Hold::Exclusive }
    }

    /// All that these devices need, in one order for all runs, so that two of them cannot wait for each other; a physical
    /// GPU that two APIs show is locked once. Each with the first device that needs it.
    pub fn all(devices: &[DeviceInfo]) -> Vec<(Self, &DeviceInfo)> {
        let keys = |d| DeviceLock::keys(d).into_iter().map(move |key| (key, d));
        let mut wanted: Vec<_> = devices.iter().flat_map(keys).collect();
        // Exclusive ones first, which is what stays of both.
        wanted.sort_by(|a, b| a.0.cmp(&b.0));
        wanted.dedup_by(|a, b| a.0.name == b.0.name);
        wanted
    }
}

/// A GPU that tells no PCI address may be any of the machine's, by another API or under another number: whoever measures it
/// holds this one alone, and whoever measures a GPU with an address holds it with others. A UUID is no address: another API
/// may tell none.
const ANY_GPU: &str = "gpu";

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
    /// PCI address or UUID; one that reports no address is measured while no other GPU is. All implementations on the host's
    /// processor share one; a simulated device is nobody else's.
    pub fn keys(device: &DeviceInfo) -> Vec<LockKey> {
        if device.kind == DeviceKind::Cpu {
            return vec![LockKey::exclusive("cpu")];
        }
        if device.kind == DeviceKind::Simulated {
            return vec![LockKey::exclusive(format!("{}-{}", device.slug(), device.index))];
        }
        let addresses = [&device.pci, &device.uuid].into_iter().flatten();
        let mut keys: Vec<LockKey> = addresses
            .map(|key| LockKey::exclusive(super::safe(&key.to_ascii_lowercase())))
            .collect();
        let hold = if device.pci.is_none() { Hold::Exclusive } else { Hold::Shared };
        keys.push(LockKey { name: ANY_GPU.into(), hold });
        keys
    }

    /// Tries to lock the device under one of its [`DeviceLock::keys`] for this process, without waiting. A folder that
    /// takes no file is passed over where another one does.
    ///
    /// # Errors
    /// `Io` when the lock's file can be opened in none of the folders.
    pub fn attempt(folder: &LockFolder, key: &LockKey) -> Result<Attempt> {
        let (mut lock, mut failed) = (Self { files: vec![] }, None);
        let try_lock = |file: &File| match key.hold {
            Hold::Exclusive => file.try_lock(),
            Hold::Shared => file.try_lock_shared(),
        };
        for path in &folder.paths {
            let path = path.join(format!("gpubench-{}.lock", key.name));
            let opened = open(&path).and_then(|mut file| match try_lock(&file) {
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

    fn card() -> LockKey {
        LockKey::exclusive("card")
    }

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
        let Attempt::Taken(lock) = DeviceLock::attempt(&locks, &card()).unwrap() else { panic!() };
        let mode = lock.files[0].metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o644, "others can open it, whatever the umask");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_takes_no_file_is_reported_as_what_it_is() {
        let locks = LockFolder { paths: vec!["/proc".into()], is_shared: false };
        let error = DeviceLock::attempt(&locks, &card()).unwrap_err().to_string();
        assert!(error.contains("/proc/gpubench-card.lock"), "{error}");
    }

    #[test]
    fn the_second_learns_who_has_it() {
        let (_folder, locks) = private();
        let attempt = || DeviceLock::attempt(&locks, &card()).unwrap();
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
        let first = DeviceLock::attempt(&all, &card()).unwrap();
        assert!(matches!(DeviceLock::attempt(&theirs, &card()).unwrap(), Attempt::HeldBy(Some(_))));
        drop(first);
        let second = DeviceLock::attempt(&theirs, &card()).unwrap();
        assert!(matches!(DeviceLock::attempt(&all, &card()).unwrap(), Attempt::HeldBy(Some(_))));
        drop(second);
        assert!(matches!(DeviceLock::attempt(&all, &card()).unwrap(), Attempt::Taken(_)));
        #[cfg(target_os = "linux")]
        assert_eq!(all.identities()[1..], theirs.identities());
    }

    #[test]
    fn views_of_one_physical_gpu_are_measured_by_one_run() {
        let (_folder, locks) = private();
        let take = |device: &DeviceInfo| -> Option<Vec<DeviceLock>> {
            let keys = LockKey::all(std::slice::from_ref(device));
            keys.iter()
                .map(|(key, _)| match DeviceLock::attempt(&locks, key).unwrap() {
                    Attempt::Taken(lock) => Some(lock),
                    Attempt::HeldBy(_) => None,
                })
                .collect()
        };
        let meet = |a: &DeviceInfo, b: &DeviceInfo| {
            let _first = take(a).expect("nobody else has it");
            take(b).is_none()
        };
        let mut a = sample::device("opencl");
        let mut b = sample::device("wgpu");
        assert!(meet(&a, &b), "neither tells which GPU it is");
        a.pci = Some("0000:0a:00.0".into());
        a.uuid = Some("ab".into());
        assert!(meet(&a, &b) && meet(&b, &a), "the one without an address may be the other");
        b.pci = Some("0000:0A:00.0".into());
        assert!(meet(&a, &b));
        b.pci = Some("0000:0b:00.0".into());
        assert!(!meet(&a, &b), "two GPUs");
        (b.pci, b.uuid) = (None, a.uuid.clone());
        assert!(meet(&a, &b));
        a.uuid = None;
        assert!(meet(&a, &b) && meet(&b, &a), "one tells its address, the other its UUID");
        b.pci = Some("../../etc".into());
        assert!(DeviceLock::keys(&b).iter().all(|key| !key.name.contains('/')));
        let simulated =
            |index| DeviceInfo { kind: DeviceKind::Simulated, index, ..sample::device("sim") };
        assert!(
            !meet(&simulated(0), &simulated(1)) && !meet(&simulated(0), &sample::device("opencl"))
        );
    }

    /// One run over all of them does not wait for itself.
    #[test]
    fn of_a_lock_that_is_wanted_twice_the_stricter_is_taken() {
        let nameless = sample::device("opencl");
        let known = DeviceInfo { pci: Some("0000:0a:00.0".into()), ..sample::device("vulkan") };
        let devices = [known.clone(), nameless, known];
        let keys: Vec<LockKey> = LockKey::all(&devices).into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["0000-0a-00.0", ANY_GPU].map(LockKey::exclusive));
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
        assert!(DeviceLock::attempt(&locks, &card()).is_err());
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "precious");
    }
}
