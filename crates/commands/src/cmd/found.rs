//! The devices that a command's selector means. Each backend is queried in a process of its own,
//! since a driver may crash or hang while it is loaded.

use super::serve;
use crate::worker::{self, Remotes, page};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::Outcome;
use gpubench_device::Backend;
use gpubench_device::browser::BROWSER;
use gpubench_device::device_choice::{Numbered, Selector, backends, choose, without_layers};
use gpubench_device::sim::{SIM, Sim};
use gpubench_report::progress::say;
use std::thread::ScopedJoinHandle;

/// Finds them. A backend that fails is named on stderr and does not hide the others' devices.
///
/// # Errors
/// `NoDevice` where there is none, `Usage` where the selector does not say which it means, `Suite`
/// or `Io` where a simulated device's description is wrong.
pub fn find(selector: &Selector, remotes: &Remotes) -> Result<Vec<Numbered>> {
    choose(&list(selector, remotes)?, selector)
}

/// All devices of the backends that the selector means, before it chooses among them: those of other machines
/// where there are any, else of this one.
///
/// # Errors
/// As [`find`].
pub fn list(selector: &Selector, remotes: &Remotes) -> Result<Vec<DeviceInfo>> {
    if remotes.is_empty() {
        let (devices, notes) = list_here(selector)?;
        notes.iter().for_each(|note| say(note));
        return Ok(devices);
    }
    shipped_only(selector)?;
    if backends(selector)?.iter().any(|backend| backend.name() == BROWSER) {
        let why = "a browser is a device of this machine: leave out --on, and open the page where it is to run";
        return Err(Error::Usage(why.into()));
    }
    let mut all = vec![];
    for remote in remotes.iter() {
        let failed = |outcome| Error::Device(format!("{}: {}", remote.name(), describe(outcome)));
        let (devices, notes) = remote.list(selector).map_err(failed)?;
        notes.iter().for_each(|note| say(&format!("{}: {note}", remote.name())));
        all.extend(devices);
    }
    Ok(all)
}

/// Descriptions of simulated devices do not travel.
fn shipped_only(selector: &Selector) -> Result<()> {
    match selector.simulation().files().iter().find(|file| !Sim::is_shipped(file)) {
        Some(file) => Err(Error::Usage(format!(
            "{}: a description is not sent to another machine (--on): nothing there would change what it simulates",
            file.display()
        ))),
        None => Ok(()),
    }
}

/// The devices of this machine, and notes about backends that failed.
///
/// # Errors
/// As [`find`].
pub fn list_here(selector: &Selector) -> Result<(Vec<DeviceInfo>, Vec<String>)> {
    let backends = backends(selector)?;
    if backends.iter().any(|backend| backend.name() == BROWSER) {
        let hub = page::hub(0)?;
        if hub.page() == 0 {
            serve::announce(hub);
            serve::wait(hub, 0);
        }
    }
    // Loading drivers takes a while: the backends do it at the same time.
    let listed: Vec<_> = std::thread::scope(|scope| {
        let ask = |backend: &dyn Backend| match backend.name() {
            // Nothing can crash there, and what is wrong in a description is to be shown in it.
            SIM => Asked::Answered(backend.devices().map(Ok)),
            name => {
                let ask = move || worker::devices(name);
                // Where the system has no thread left, one after the other.
                let thread = std::thread::Builder::new().spawn_scoped(scope, ask);
                thread.map_or_else(|_| Asked::Answered(Ok(ask())), Asked::Worker)
            }
        };
        let asked: Vec<_> = backends.iter().map(|backend| ask(backend.as_ref())).collect();
        asked.into_iter().map(Asked::answer).collect()
    });
    let mut devices: Vec<DeviceInfo> = vec![];
    let mut notes = vec![];
    for (backend, found) in backends.iter().zip(listed) {
        match found? {
            Ok(found) => devices.extend(found),
            Err(outcome) => {
                let (name, why) = (backend.name(), describe(outcome));
                notes.push(format!("backend {name} skipped: {why}"));
            }
        }
    }
    Ok((devices, notes))
}

/// A backend that was queried for its devices.
enum Asked<'scope> {
    Answered(Result<Result<Vec<DeviceInfo>, Outcome>>),
    Worker(ScopedJoinHandle<'scope, Result<Vec<DeviceInfo>, Outcome>>),
}

impl Asked<'_> {
    /// Its devices, or the result of the worker that was to list them.
    fn answer(self) -> Result<Result<Vec<DeviceInfo>, Outcome>> {
        match self {
            Self::Answered(devices) => devices,
            Self::Worker(worker) => {
                worker.join().map_err(|_| Error::Device("listing devices failed".to_owned()))
            }
        }
    }
}

/// Those that are measured: as [`find`], but for layers above another API that nothing asks for.
///
/// # Errors
/// As [`find`].
pub fn measured(selector: &Selector, remotes: &Remotes, layers: bool) -> Result<Vec<DeviceInfo>> {
    let found = find(selector, remotes)?;
    let measured = if layers { found } else { without_layers(&found, selector) };
    Ok(measured.into_iter().map(|found| found.device).collect())
}

/// The result of a worker that did not list its devices.
pub(super) fn describe(outcome: Outcome) -> String {
    match outcome {
        Outcome::Crash { how, stderr } if stderr.is_empty() => {
            format!("listing its devices crashed: {how}")
        }
        Outcome::Crash { how, stderr } => {
            format!("listing its devices crashed: {how}: {}", stderr.join(" | "))
        }
        Outcome::Timeout(text) | Outcome::Failed(text) | Outcome::LinkLost(text) => text,
        Outcome::Unsupported(reason) => reason.to_string(),
        other => other.label().to_owned(),
    }
}
