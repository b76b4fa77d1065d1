//! One run per device: two at once would measure each other.

use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{DeviceInfo, DeviceKind};
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

/// The right to measure a device, held until dropped; the system takes it back from a process
/// that dies.
#[derive(Debug)]
pub struct DeviceLock {
    file: File,
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
    /// Tries to lock the device under one of its [`DeviceLock::keys`] for this process, without waiting.
    ///
    /// # Errors
    /// `Io` when the lock's file cannot be opened.
    pub fn attempt(key: &str) -> Result<Attempt> {
        Self::attempt_in(&std::env::temp_dir(), key)
    }

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

    fn attempt_in(folder: &Path, key: &str) -> Result<Attempt> {
        let path = folder.join(format!("gpubench-{key}.lock"));
        let mut file = open(&path).map_err(|e| Error::io(&path, e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(Attempt::HeldBy(holder(&mut file))),
            Err(TryLockError::Error(e)) => return Err(Error::io(&path, e)),
        }
        // The number is for people; where another user's file cannot be written it is left out.
        let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
        Ok(Attempt::Taken(Self { file }))
    }
}

impl Drop for DeviceLock {
    fn drop(&mut self) {
        let _ = self.file.set_len(0);
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
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let mode = Mode::from_raw_mode(0o644);
    let open = |flags| rustix::fs::open(path, flags, mode).map(File::from);
    open(flags | OFlags::CREATE | OFlags::RDWR)
        .or_else(|_| open(flags | OFlags::RDONLY))
        .map_err(io::Error::from)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample;

    #[test]
    fn the_second_learns_who_has_it() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let attempt = || DeviceLock::attempt_in(folder.path(), "card").unwrap();
        let Attempt::Taken(first) = attempt() else { panic!("nobody else has it") };
        assert!(matches!(attempt(), Attempt::HeldBy(Some(pid)) if pid == std::process::id()));
        drop(first);
        assert!(matches!(attempt(), Attempt::Taken(_)));
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
        let folder = tempfile::tempdir().expect("a temporary folder");
        let target = folder.path().join("precious");
        std::fs::write(&target, "precious").unwrap();
        let link = folder.path().join("gpubench-card.lock");
        std::os::unix::fs::symlink(&target, link).unwrap();
        assert!(DeviceLock::attempt_in(folder.path(), "card").is_err());
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "precious");
    }
}
