//! What people call devices: by name, driver and API, as short as they stay distinct.

use super::{DeviceInfo, DeviceKind};
use crate::text::printable;
use std::collections::{HashMap, HashSet};

/// What people call each of `devices`: `AMD EPYC · PoCL 3.1 · opencl (CPU)`, marked where it is no GPU. Two
/// that would be called alike are called by what they report in full, and by a number where that is the
/// same too.
pub fn names(devices: &[&DeviceInfo]) -> Vec<String> {
    let short: Vec<String> = devices.iter().map(|device| short(device)).collect();
    let whole: Vec<String> = devices.iter().map(|device| full(device)).collect();
    let mut meant: HashMap<&str, HashSet<&str>> = HashMap::new();
    for (short, whole) in short.iter().zip(&whole) {
        meant.entry(short).or_default().insert(whole);
    }
    let (mut taken, mut numbers) = (HashSet::new(), HashMap::new());
    let name = |(short, whole): (&String, &String)| {
        let name = if meant[short.as_str()].len() > 1 { whole } else { short };
        loop {
            let number = numbers.entry(name.clone()).or_insert(0);
            *number += 1;
            let numbered = if *number == 1 { name.clone() } else { format!("{name} #{number}") };
            if taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    };
    short.iter().zip(&whole).map(name).collect()
}

/// Name, driver and version, API; what a driver was built with or packaged as is left out.
fn short(device: &DeviceInfo) -> String {
    let name = in_front(processor(&device.name));
    let driver = match device.kind {
        // The driver of a simulation is the hash of its description.
        DeviceKind::Simulated => String::new(),
        _ => printable(&driver(&device.driver, name), 30),
    };
    joined(device, &[&printable(name, 40), &driver, &device.backend])
}

/// As reported.
fn full(device: &DeviceInfo) -> String {
    joined(device, &[&device.name, &device.driver, &device.backend])
}

/// What there is of `parts`, and what kind of device it is where it is no GPU.
fn joined(device: &DeviceInfo, parts: &[&str]) -> String {
    let remote = device.remote.as_deref().map(|remote| format!("in {}", printable(remote, 30)));
    let parts = parts.iter().map(|part| printable(part, 50)).chain(remote);
    let kind = match device.kind {
        DeviceKind::Cpu => " (CPU)",
        DeviceKind::Simulated => " (simulated)",
        DeviceKind::Imported => " (imported)",
        _ => "",
    };
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ") + kind
}

/// What stands before a parenthesis: behind it stands what something was built with.
fn in_front(text: &str) -> &str {
    match text.split(" (").next().unwrap_or_default().trim() {
        "" => text,
        front => front,
    }
}

/// `PoCL 3.1`, `Mesa 22.3.6`: a driver and its version without the device's name and the package's number.
fn driver(driver: &str, name: &str) -> String {
    let driver = driver.replace("Portable Computing Language", "PoCL");
    let own = in_front(&driver);
    let first = name.split(' ').next().unwrap_or_default();
    let own = match own.strip_prefix(first).and_then(|rest| rest.strip_prefix(' ')) {
        // `SwiftShader driver` says nothing that the name does not.
        Some(rest) if !rest.contains(|c: char| c.is_ascii_digit()) => return String::new(),
        Some(rest) => rest,
        None => own,
    };
    let Some((version, _)) = own.split_once('+') else { return own.to_owned() };
    let is_revision = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    match version.rsplit_once('-') {
        Some((upstream, revision)) if is_revision(revision) => upstream.to_owned(),
        _ => version.to_owned(),
    }
}

/// The processor's own name where PoCL puts its driver and the instruction set before it:
/// `pthread-skylake-avx512-AMD EPYC`.
fn processor(name: &str) -> &str {
    let drivers = ["pthread-", "cpu-", "basic-", "tbb-"];
    if !drivers.iter().any(|driver| name.starts_with(driver)) {
        return name;
    }
    let is_capitalised = |part: &&str| part.starts_with(|c: char| c.is_ascii_uppercase());
    match name.split('-').find(is_capitalised) {
        Some(own) => name.find(&format!("-{own}")).map_or(name, |at| &name[at + 1..]),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::sample::device;

    fn of(name: &str, driver: &str, backend: &str) -> DeviceInfo {
        DeviceInfo { name: name.into(), driver: driver.into(), ..device(backend) }
    }

    fn alone(name: &str, driver: &str) -> String {
        names(&[&of(name, driver, "opencl")]).remove(0)
    }

    #[test]
    fn a_device_is_processor_driver_and_api() {
        let pocl = "Portable Computing Language 3.1+debian";
        for name in ["pthread-skylake-avx512-AMD EPYC", "cpu-skylake-avx512-AMD EPYC", "AMD EPYC"] {
            assert_eq!(alone(name, pocl), "AMD EPYC · PoCL 3.1 · opencl");
        }
        for (name, driver, expected) in [
            (
                "llvmpipe (LLVM 15.0.6, 256 bits)",
                "llvmpipe Mesa 22.3.6 (LLVM 15.0.6)",
                "llvmpipe · Mesa 22.3.6 · opencl",
            ),
            ("llvmpipe", "rusticl 25.0.7-2+deb13u1", "llvmpipe · rusticl 25.0.7 · opencl"),
            ("SwiftShader Device (Subzero)", "SwiftShader driver", "SwiftShader Device · opencl"),
            ("A card", "535.104-beta", "A card · 535.104-beta · opencl"),
            ("A card", "535-beta+1", "A card · 535-beta · opencl"),
            ("A card", "535-+1", "A card · 535- · opencl"),
            ("A card", "", "A card · opencl"),
            ("(odd)", "1", "(odd) · 1 · opencl"),
            ("cpu-nothing-else", "1", "cpu-nothing-else · 1 · opencl"),
        ] {
            assert_eq!(alone(name, driver), expected);
        }
    }

    #[test]
    fn what_is_no_gpu_is_marked() {
        let of = |kind| DeviceInfo { kind, ..of("A card", "1.0", "opencl") };
        use DeviceKind::{Cpu, Discrete, Imported, Simulated};
        let devices = [Discrete, Cpu, Simulated, Imported].map(of);
        let names = names(&devices.iter().collect::<Vec<_>>());
        let [card, simulated] = ["A card · 1.0 · opencl", "A card · opencl (simulated)"];
        let marked = |mark: &str| format!("{card} ({mark})");
        assert_eq!(
            names,
            [card.to_owned(), marked("CPU"), simulated.to_owned(), marked("imported")]
        );
    }

    #[test]
    fn no_two_are_called_alike() {
        let pocl = |package: &str| format!("Portable Computing Language 3.1+{package}");
        let devices = [
            of("AMD EPYC", &pocl("debian"), "opencl"),
            of("AMD EPYC", &pocl("fedora"), "opencl"),
            of("A card", "1.0", "opencl"),
            of("A card", "1.0", "opencl"),
            of("A card", "1.0", "wgpu"),
        ];
        let names = names(&devices.iter().collect::<Vec<_>>());
        assert_eq!(
            names,
            [
                "AMD EPYC · Portable Computing Language 3.1+debian · opencl",
                "AMD EPYC · Portable Computing Language 3.1+fedora · opencl",
                "A card · 1.0 · opencl",
                "A card · 1.0 · opencl #2",
                "A card · 1.0 · wgpu",
            ]
        );
    }

    #[test]
    fn a_hostile_name_stays_short_and_harmless() {
        let name = alone(&"\u{1b}[31m\u{202e}x".repeat(999), &"\u{7}(".repeat(999));
        assert!(name.chars().count() < 100 && !name.contains(['\u{1b}', '\u{7}', '\u{202e}']));
    }
}
