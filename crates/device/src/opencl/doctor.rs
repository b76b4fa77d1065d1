//! OpenCL's loader and its driver manifests.

use super::libraries::{self, LIBRARY, NAMED_DRIVERS};
use crate::doctor::{Api, Distribution, Finding, Machine, REINSTALL, State, System};
use gpubench_core::text::printable;
use std::path::{Path, PathBuf};

const AREA: &str = "OpenCL";
const API: Api = Api {
    area: AREA,
    packages: "opencl",
    macos: "OpenCL is part of macOS; update the system",
    loader: "install an OpenCL loader (ocl-icd)",
    driver: "install the OpenCL driver of the device's vendor, or PoCL for the processor",
    unregistered: "no driver is registered (no .icd file)",
};

pub(super) fn examine(machine: &Machine<'_>) -> Vec<Finding> {
    let system = machine.system;
    let mut findings = other_loaders(system);
    let named = named_drivers(system);
    let manifests =
        libraries::manifests(&|name| system.variable(name), |folder| system.list(folder));
    // As a worker's library is chosen.
    let looks_further = system.variable(LIBRARY).is_none() && machine.has_manifests();
    let is_registered = !named.is_empty() || !manifests.is_empty();
    let own = || libraries::of_vendors().find(|path| system.loads(path).is_ok());
    if let Some(own) = own().filter(|_| looks_further && !is_registered) {
        let found = format!("{} loads: no loader is needed for it", own.display());
        findings.push(Finding::ok(AREA, found));
        return findings;
    }
    findings.push(machine.loader(&API, loader(machine.here)));
    if machine.has_manifests() && (named.is_empty() || !manifests.is_empty()) {
        let one = |path: &Path| Some(manifest(system, path));
        findings.extend(machine.drivers(&API, &manifests, one));
    }
    findings.extend(named);
    findings
}

fn named_drivers(system: &System<'_>) -> Vec<Finding> {
    let libraries = system.variable(NAMED_DRIVERS).unwrap_or_default();
    let libraries = std::env::split_paths(&libraries).filter(|path| !path.as_os_str().is_empty());
    let finding = |path: PathBuf| {
        let name = printable(&path.display().to_string(), 200);
        system.driver(AREA, NAMED_DRIVERS, &name, &path)
    };
    libraries.map(finding).collect()
}

/// Loaders that the environment names: the first that loads is used, and a wrong name is
/// silently passed over.
fn other_loaders(system: &System<'_>) -> Vec<Finding> {
    let paths = system.variable(LIBRARY).unwrap_or_default();
    let paths = paths.split(';').filter(|path| !path.is_empty());
    let finding = |path: &str| match system.loads(Path::new(path)) {
        Ok(()) => Finding::ok(AREA, format!("{LIBRARY}: {} loads", printable(path, 200))),
        Err(error) => Finding::warning(
            AREA,
            format!("{LIBRARY}: {}: {}", printable(path, 200), printable(&error, 300)),
            format!("correct {LIBRARY} or unset it; the system's loader is used instead"),
        ),
    };
    paths.map(finding).collect()
}

fn loader(here: Distribution) -> &'static str {
    match here {
        Distribution::Macos => "/System/Library/Frameworks/OpenCL.framework/OpenCL",
        Distribution::Windows => "OpenCL.dll",
        _ => "libOpenCL.so.1",
    }
}

/// A manifest's first line is its driver's library.
fn manifest(system: &System<'_>, path: &Path) -> Finding {
    let shown = printable(&path.display().to_string(), 200);
    let Some(text) = system.read(path) else {
        return Finding::problem(AREA, format!("{shown} cannot be read"), "check its permissions");
    };
    let library = text.lines().next().unwrap_or_default().trim();
    if library.is_empty() || library.contains('\0') {
        return Finding::problem(AREA, format!("{shown} does not name a library"), REINSTALL);
    }
    let name = printable(library, 200);
    let driver = system.driver(AREA, &shown, &name, Path::new(library));
    let is_rusticl = name.contains("RusticlOpenCL");
    if driver.state == State::Ok && is_rusticl && system.variable("RUSTICL_ENABLE").is_none() {
        return Finding::warning(
            AREA,
            format!("{shown}: {name} loads, but offers no device unless it is told to"),
            "set RUSTICL_ENABLE to the device's driver: iris, radeonsi, nouveau, panfrost, …",
        );
    }
    driver
}
