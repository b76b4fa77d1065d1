//! Waiting until the devices are free.

use super::interrupt;
use crate::cmd::found;
use crate::store::{Attempt, DeviceLock, LockFolder, LockKey};
use crate::worker::{Remote, Remotes};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::Outcome;
use gpubench_report::progress::say;
use std::time::Duration;

/// What to do about devices that another run measures.
#[derive(Clone, Copy, PartialEq)]
pub enum IfTaken {
    /// Wait until it ends.
    Wait,
    /// Leave with an error.
    Leave,
    /// Measure all the same: nothing is locked.
    Measure,
}

impl IfTaken {
    /// What `--no-lock` and `--no-wait` say.
    pub fn of(no_lock: bool, no_wait: bool) -> Self {
        match (no_lock, no_wait) {
            (true, _) => Self::Measure,
            (false, true) => Self::Leave,
            (false, false) => Self::Wait,
        }
    }
}

/// Locks all `devices`, which are all in this machine or all in others. `None` when interrupted meanwhile.
pub fn take(
    devices: &[DeviceInfo],
    remotes: &Remotes,
    if_taken: IfTaken,
) -> Result<Option<Vec<DeviceLock>>> {
    match if_taken {
        IfTaken::Measure => Ok(Some(vec![])),
        _ if remotes.is_empty() => here(devices, if_taken),
        _ => Ok(there(devices, remotes, if_taken)?.then(Vec::new)),
    }
}

fn here(devices: &[DeviceInfo], if_taken: IfTaken) -> Result<Option<Vec<DeviceLock>>> {
    let folder = LockFolder::find();
    if let Some(doubt) = folder.doubt() {
        say(&doubt);
    }
    let mut locks = Vec::new();
    for (key, device) in LockKey::all(devices) {
        match wait(&folder, &key, device, if_taken)? {
            Some(lock) => locks.push(lock),
            None => return Ok(None),
        }
    }
    Ok(Some(locks))
}

/// Has the other machines lock the devices that are in them; whether they did before an interruption. Nothing tells two
/// desks the same order of machines: a board has many names. So nothing is held while something else is waited for.
fn there(devices: &[DeviceInfo], remotes: &Remotes, if_taken: IfTaken) -> Result<bool> {
    let mut turn = Turn { if_taken, is_announced: false };
    while !interrupt::asked() {
        match attempt(devices, remotes)? {
            None => {
                interrupt::waiting(false);
                return Ok(true);
            }
            Some((device, holder)) => {
                for remote in remotes.iter() {
                    remote.unlock().map_err(|outcome| failed(remote, outcome))?;
                }
                turn.passes(&device, holder)?;
            }
        }
    }
    Ok(false)
}

/// Has each machine lock what is in it. Where another run has one of the devices: it, and that run's process.
fn attempt(devices: &[DeviceInfo], remotes: &Remotes) -> Result<Option<(String, Option<u32>)>> {
    for remote in remotes.iter() {
        let is_there = |d: &&DeviceInfo| d.remote.as_deref() == Some(remote.name());
        let theirs: Vec<DeviceInfo> = devices.iter().filter(is_there).cloned().collect();
        if theirs.is_empty() {
            continue;
        }
        if let Some((pid, device)) = remote.lock(&theirs).map_err(|why| failed(remote, why))? {
            return Ok(Some((format!("{device} in {}", remote.name()), pid)));
        }
    }
    Ok(None)
}

fn failed(remote: &Remote, outcome: Outcome) -> Error {
    Error::Device(format!("{}: {}", remote.name(), found::describe(outcome)))
}

fn wait(
    folder: &LockFolder,
    key: &LockKey,
    device: &DeviceInfo,
    if_taken: IfTaken,
) -> Result<Option<DeviceLock>> {
    let mut turn = Turn { if_taken, is_announced: false };
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
    if_taken: IfTaken,
    is_announced: bool,
}

impl Turn {
    /// Waits a moment, saying for whom.
    fn passes(&mut self, device: &str, holder: Option<u32>) -> Result<()> {
        // Of a length of its own, so that two runs do not come back at the same moment again and again.
        let pause = Duration::from_millis(150 + u64::from(std::process::id() % 100));
        let who = holder.map_or("another run".to_owned(), |pid| format!("the run with pid {pid}"));
        if self.if_taken == IfTaken::Leave {
            return Err(Error::Usage(format!(
                "{device} is being measured by {who} (--no-lock insists, at the cost of both results)"
            )));
        }
        if !std::mem::replace(&mut self.is_announced, true) {
            interrupt::waiting(true);
            say(&format!("waiting for {device}: {who} measures it"));
        }
        std::thread::sleep(pause);
        Ok(())
    }
}
