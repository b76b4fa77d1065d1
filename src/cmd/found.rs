//! The devices that a command's selector means. Each backend is asked in a process of its own,
//! since a driver may crash or hang while it is loaded.

use crate::backend::select::{Numbered, Selector, backends, choose};
use crate::error::{Error, Result};
use crate::gpu::DeviceInfo;
use crate::record::Outcome;
use crate::report::progress::say;
use crate::worker;
use std::time::Duration;

/// The longest that a backend may take to list its devices.
pub(super) const LISTING: Duration = Duration::from_secs(60);

/// Finds them. A backend that fails is named on stderr and does not hide the others' devices.
///
/// # Errors
/// `NoDevice` where there is none, `Usage` where the selector does not say which it means.
pub fn find(selector: &Selector) -> Result<Vec<Numbered>> {
    let backends = backends(selector)?;
    let names: Vec<_> = backends.iter().map(|backend| backend.name()).collect();
    // Loading drivers takes a while: the backends do it at the same time.
    let listed: Vec<_> = std::thread::scope(|scope| {
        let ask = |&name| scope.spawn(move || worker::devices(name, LISTING));
        let asked: Vec<_> = names.iter().map(ask).collect();
        asked.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
    });
    let mut devices: Vec<DeviceInfo> = vec![];
    for (name, found) in names.into_iter().zip(listed) {
        match found {
            Ok(Ok(found)) => devices.extend(found),
            Ok(Err(outcome)) => say(&format!("backend {name} left out: {}", describe(outcome))),
            Err(_) => return Err(Error::Device(format!("listing {name}'s devices failed"))),
        }
    }
    choose(&devices, selector)
}

/// As [`find`], without the cards' numbers.
///
/// # Errors
/// As [`find`].
pub fn devices(selector: &Selector) -> Result<Vec<DeviceInfo>> {
    Ok(find(selector)?.into_iter().map(|found| found.device).collect())
}

/// What came of a worker that did not list its devices.
pub(super) fn describe(outcome: Outcome) -> String {
    match outcome {
        Outcome::Crash { how, stderr } if stderr.is_empty() => {
            format!("listing its devices crashed: {how}")
        }
        Outcome::Crash { how, stderr } => {
            format!("listing its devices crashed: {how}: {}", stderr.join(" | "))
        }
        Outcome::Timeout(text) | Outcome::Failed(text) | Outcome::Unsupported(text) => text,
        other => other.word().to_owned(),
    }
}
