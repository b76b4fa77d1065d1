//! Waiting until the devices are free.

use super::interrupt;
use crate::store::{Attempt, DeviceLock, LockFolder};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_report::progress::say;
use std::time::Duration;

/// Locks all `devices`, waiting for other runs to end unless `leave` says not to. `None` when
/// interrupted meanwhile.
pub fn take(devices: &[DeviceInfo], leave: bool) -> Result<Option<Vec<DeviceLock>>> {
    // In one order for all runs, so that two of them cannot wait for each other; a physical GPU that two
    // APIs show is locked once.
    let keys = |d| DeviceLock::keys(d).into_iter().map(move |key| (key, d));
    let mut wanted: Vec<_> = devices.iter().flat_map(keys).collect();
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

fn wait(
    folder: &LockFolder,
    key: &str,
    device: &DeviceInfo,
    leave: bool,
) -> Result<Option<DeviceLock>> {
    const PAUSE: Duration = Duration::from_millis(200);
    let mut announced = false;
    while !interrupt::asked() {
        let holder = match DeviceLock::attempt(folder, key)? {
            Attempt::Taken(lock) => {
                interrupt::waiting(false);
                return Ok(Some(lock));
            }
            Attempt::HeldBy(holder) => holder,
        };
        let who = holder.map_or("another run".to_owned(), |pid| format!("the run with pid {pid}"));
        if leave {
            return Err(Error::Usage(format!(
                "{} is being measured by {who} (--no-lock insists, at the cost of both results)",
                device.name
            )));
        }
        if !std::mem::replace(&mut announced, true) {
            interrupt::waiting(true);
            say(&format!("waiting for {}: {who} measures it", device.name));
        }
        std::thread::sleep(PAUSE);
    }
    Ok(None)
}
