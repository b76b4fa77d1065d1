//! Waiting until the devices are free.

use super::interrupt;
use crate::cmd::found;
use crate::store::{Attempt, DeviceLock, LockFolder};
use crate::worker::{Remote, Remotes};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_report::progress::say;
use std::time::Duration;

/// Locks all `devices`, waiting for other runs to end unless `leave` says not to. `None` when
/// interrupted meanwhile.
pub fn take(
    devices: &[DeviceInfo],
    remotes: &Remotes,
    leave: bool,
) -> Result<Option<Vec<DeviceLock>>> {
    // Whatever order the command names them in: two runs must not each hold what the other waits for.
    let mut machines: Vec<&Remote> = remotes.iter().collect();
    machines.sort_by_key(|remote| &remote.host().name);
    for remote in machines {
        if !there(remote, devices, leave)? {
            return Ok(None);
        }
    }
    if devices.iter().all(|device| device.remote.is_some()) {
        return Ok(Some(vec![]));
    }
    // In one order for all runs, so that two of them cannot wait for each other; a physical GPU that two
    // APIs show is locked once.
    let keys = |d| DeviceLock::keys(d).into_iter().map(move |key| (key, d));
    let here = devices.iter().filter(|device| device.remote.is_none());
    let mut wanted: Vec<_> = here.flat_map(keys).collect();
    wanted.sort_by(|a, b| a.0.cmp(&b.0));
    wanted.dedup_by(|a, b| a.0 == b.0);
    let folder = LockFolder::find();
    if let Some(doubt) = folder.doubt() {
        say(&doubt);
    }
    let mut locks = Vec::new();
    for (key, device) in wanted {
        match wait(&folder, &key, device, leave)? {
            Some(lock) => locks.push(lock),
            None => return Ok(None),
        }
    }
    Ok(Some(locks))
}

/// Has another machine lock those of the devices that are in it; whether it did before an interruption.
fn there(remote: &Remote, devices: &[DeviceInfo], leave: bool) -> Result<bool> {
    let is_there = |d: &&DeviceInfo| d.remote.as_deref() == Some(remote.name());
    let theirs: Vec<DeviceInfo> = devices.iter().filter(is_there).cloned().collect();
    let failed =
        |outcome| Error::Device(format!("{}: {}", remote.name(), found::describe(outcome)));
    let mut turn = Turn { leave, is_announced: false };
    while !theirs.is_empty() && !interrupt::asked() {
        match remote.lock(&theirs).map_err(failed)? {
            None => {
                interrupt::waiting(false);
                return Ok(true);
            }
            Some((pid, device)) => {
                turn.passes(&format!("{device} in {}", remote.name()), pid)?;
            }
        }
    }
    Ok(theirs.is_empty())
}

fn wait(
    folder: &LockFolder,
    key: &str,
    device: &DeviceInfo,
    leave: bool,
) -> Result<Option<DeviceLock>> {
    let mut turn = Turn { leave, is_announced: false };
    while !interrupt::asked() {
        match DeviceLock::attempt(folder, key)? {
            Attempt::Taken(lock) => {
                interrupt::waiting(false);
                return Ok(Some(lock));
            }
            Attempt::HeldBy(holder) => turn.passes(&device.name, holder)?,
        }
    }
    Ok(None)
}

/// One's turn, which another run has.
struct Turn {
    /// Whether to leave rather than wait.
    leave: bool,
    is_announced: bool,
}

impl Turn {
    /// Waits a moment, saying for whom.
    fn passes(&mut self, device: &str, holder: Option<u32>) -> Result<()> {
        const PAUSE: Duration = Duration::from_millis(200);
        let who = holder.map_or("another run".to_owned(), |pid| format!("the run with pid {pid}"));
        if self.leave {
            return Err(Error::Usage(format!(
                "{device} is being measured by {who} (--no-lock insists, at the cost of both results)"
            )));
        }
        if !std::mem::replace(&mut self.is_announced, true) {
            interrupt::waiting(true);
            say(&format!("waiting for {device}: {who} measures it"));
        }
        std::thread::sleep(PAUSE);
        Ok(())
    }
}
