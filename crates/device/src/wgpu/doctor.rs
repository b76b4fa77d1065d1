//! Vulkan's loader and its driver manifests
//! (<https://github.com/KhronosGroup/Vulkan-Loader/blob/main/docs/LoaderDriverInterface.md>).

use crate::doctor::{Api, Distribution, Finding, Machine, REINSTALL, System};
use gpubench_core::text::printable;
use serde::Deserialize;
use std::path::{Path, PathBuf};

const AREA: &str = "Vulkan";
const API: Api = Api {
    area: AREA,
    packages: "vulkan",
    macos: "gpubench uses Metal, which is part of macOS; Vulkan is not needed",
    loader: "install the Vulkan loader (libvulkan)",
    driver: "install the device's Vulkan driver (Mesa has most; lavapipe is for the processor)",
    unregistered: "no driver is registered (no manifest in vulkan/icd.d)",
};

#[derive(Deserialize)]
struct Manifest {
    #[serde(rename = "ICD")]
    icd: Icd,
}

#[derive(Deserialize)]
struct Icd {
    library_path: String,
    #[serde(default)]
    library_arch: Option<String>,
}

pub(super) fn examine(machine: &Machine<'_>) -> Vec<Finding> {
    let system = machine.system;
    let mut findings = vec![match machine.here {
        Distribution::Macos => Finding::ok(AREA, "not needed: macOS has Metal"),
        Distribution::Windows => machine.loader(&API, "vulkan-1.dll"),
        _ => machine.loader(&API, "libvulkan.so.1"),
    }];
    if machine.has_manifests() {
        let (named_by, manifests) = manifests(system);
        findings.extend(named_by.map(|variable| {
            Finding::warning(
                AREA,
                format!("{variable} is set: only the drivers that it names are used"),
                format!("unset {variable} if a device is missing"),
            )
        }));
        findings.extend(machine.drivers(&API, &manifests, |path| manifest(system, path)));
    }
    findings
}

/// The manifests that the loader reads, and the variable that replaces the usual places, if one
/// is set.
fn manifests(system: &System<'_>) -> (Option<&'static str>, Vec<PathBuf>) {
    let paths = |text: String| std::env::split_paths(&text).collect::<Vec<_>>();
    let expand = |path: PathBuf| {
        let listed = system.list(&path);
        if listed.is_empty() { vec![path] } else { only_json(listed) }
    };
    for variable in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        if let Some(named) = system.variable(variable) {
            return (Some(variable), paths(named).into_iter().flat_map(expand).collect());
        }
    }
    let added = system.variable("VK_ADD_DRIVER_FILES").map(paths).unwrap_or_default();
    let added = added.into_iter().flat_map(expand);
    let usual =
        directories(system).into_iter().flat_map(|directory| only_json(system.list(directory)));
    (None, added.chain(usual).collect())
}

fn only_json(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths
}

/// The places in the loader's order: the user's, then the system's, configuration before data.
fn directories(system: &System<'_>) -> Vec<PathBuf> {
    let home = |below: &str| system.variable("HOME").map(|home| format!("{home}/{below}"));
    let one = |name: &str, usual: Option<String>| system.variable(name).or(usual);
    let several = |name: &str, usual: &str| system.variable(name).unwrap_or_else(|| usual.into());
    let mut places = vec![];
    places.extend(one("XDG_CONFIG_HOME", home(".config")));
    places.extend(several("XDG_CONFIG_DIRS", "/etc/xdg").split(':').map(str::to_owned));
    places.push("/etc".into());
    places.extend(one("XDG_DATA_HOME", home(".local/share")));
    let data = several("XDG_DATA_DIRS", "/usr/local/share:/usr/share");
    places.extend(data.split(':').map(str::to_owned));
    let mut directories: Vec<PathBuf> =
        places.iter().map(|place| Path::new(place).join("vulkan/icd.d")).collect();
    directories.dedup();
    directories
}

/// What is to be said of a manifest; nothing of one for another word size.
fn manifest(system: &System<'_>, path: &Path) -> Option<Finding> {
    let shown = printable(&path.display().to_string(), 200);
    let Some(text) = system.read(path) else {
        let found = format!("{shown} cannot be read");
        return Some(Finding::problem(AREA, found, "correct the path, or its permissions"));
    };
    let icd = match serde_json::from_str::<Manifest>(&text) {
        Ok(manifest) => manifest.icd,
        Err(error) => {
            let found =
                format!("{shown} is no driver manifest: {}", printable(&error.to_string(), 200));
            return Some(Finding::problem(AREA, found, REINSTALL));
        }
    };
    let word = format!("{}", usize::BITS);
    if icd.library_arch.is_some_and(|arch| arch != word) {
        return None;
    }
    let name = printable(&icd.library_path, 200);
    Some(system.driver(AREA, &shown, &name, &library(path, &icd.library_path)))
}

/// A path with a slash is relative to the manifest; a bare name is searched for by the system.
fn library(manifest: &Path, named: &str) -> PathBuf {
    let directory = manifest.parent().unwrap_or(Path::new("/"));
    if named.contains('/') { directory.join(named) } else { named.into() }
}
