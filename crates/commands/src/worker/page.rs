//! The page that is a device while a browser is: this process's hub for it, if it has one.

use gpubench_core::error::Result;
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::Record;
use gpubench_core::units::seconds;
use gpubench_core::workload::CaseKey;
use gpubench_device::browser::{BROWSER, HUB, Hub};
use gpubench_report::labels::case_name;
use gpubench_stats::Summary;
use std::sync::OnceLock;

static THIS: OnceLock<Hub> = OnceLock::new();

/// The hub of this process, started at `port` (0: any that is free) where there is none yet.
///
/// # Errors
/// `Usage` where the port is taken.
pub fn hub(port: u16) -> Result<&'static Hub> {
    match THIS.get() {
        Some(hub) => Ok(hub),
        None => {
            let hub = Hub::start(port)?;
            Ok(THIS.get_or_init(|| hub))
        }
    }
}

/// The environment by which a worker finds it.
pub(super) fn environment() -> Option<(&'static str, String)> {
    THIS.get().map(|hub| (HUB, hub.worker_address()))
}

/// The hub where `device` is its page.
fn of(device: &DeviceInfo) -> Option<&'static Hub> {
    THIS.get().filter(|_| device.backend == BROWSER)
}

/// Shows there that a case begins.
pub(super) fn begin(device: &DeviceInfo, key: &CaseKey) {
    if let Some(hub) = of(device) {
        hub.doing(&case_name(key));
    }
}

/// Shows there the outcome of a case.
pub(super) fn end(device: &DeviceInfo, key: &CaseKey, record: &Record) {
    let Some(hub) = of(device) else { return };
    let samples = record.measured.as_ref().map(|measured| measured.samples.as_slice());
    let median = samples.and_then(Summary::of).map(|summary| seconds(summary.median));
    let time = median.filter(|_| record.outcome.ran()).map(|time| format!(", {time}"));
    let (name, outcome) = (case_name(key), record.outcome.label());
    hub.done(&format!("{name}: {outcome}{}", time.unwrap_or_default()));
}
