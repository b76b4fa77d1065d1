//! Machines of devices, and the names that users give them.

use super::*;
use crate::sim::Sim;

/// A device that differs from others only in what is said here.
pub(crate) fn device(backend: &str, index: usize, name: &str) -> DeviceInfo {
    let some = Sim::new(vec![], 0).devices().unwrap().remove(0);
    let vendor = "Acme Devices, Inc.".to_owned();
    let (backend, name) = (backend.to_owned(), name.to_owned());
    DeviceInfo { backend, index, name, vendor, pci: None, uuid: None, ..some }
}

/// Two equal devices, each seen through both APIs, and a CPU implementation.
fn machine() -> Vec<DeviceInfo> {
    let at = |backend, index, name, bus| DeviceInfo {
        pci: Some(format!("0000:{bus}:00.0")),
        uuid: Some(format!("{bus}aa{bus}{}", "bb".repeat(13))),
        ..device(backend, index, name)
    };
    let mut devices = vec![
        at("opencl", 0, "Blaster RX 580", "0a"),
        at("opencl", 1, "Blaster RX 580", "65"),
        device("opencl", 2, "Some CPU"),
        at("wgpu", 0, "Blaster RX 580 (driver)", "65"),
        at("wgpu", 1, "Blaster RX 580 (driver)", "0a"),
    ];
    devices[2].vendor = "Advanced Micro Devices, Inc.".into();
    devices
}

fn labels(name: &str, backend: &[&str]) -> Result<Vec<String>> {
    let selector = Selector {
        device: if name.is_empty() { vec![] } else { vec![name.into()] },
        backend: backend.iter().map(|&b| b.into()).collect(),
        sim: None,
    };
    let chosen = choose(&machine(), &selector)?;
    Ok(chosen.iter().map(|c| format!("{}:{}", c.device.backend, c.device.index)).collect())
}

#[test]
fn each_way_of_naming_a_physical_gpu_finds_all_its_views() {
    for name in ["1", "pci:65:00", "pci:0000:65:00.0", "uuid:65aa65bb", "uuid:GPU-65AA-65bb"] {
        assert_eq!(labels(name, &[]).unwrap(), ["opencl:1", "wgpu:0"], "{name}");
    }
    for name in ["some cpu", "CPU", "amd", "advanced micro", "2", "opencl:2", "opencl:cpu"] {
        assert_eq!(labels(name, &[]).unwrap(), ["opencl:2"], "{name}");
    }
    assert_eq!(labels("wgpu:0", &[]).unwrap(), ["wgpu:0"]);
    assert_eq!(labels("1", &["wgpu"]).unwrap(), ["wgpu:0"]);
    assert_eq!(labels("", &["opencl"]).unwrap(), ["opencl:0", "opencl:1", "opencl:2"]);
    assert_eq!(labels("", &[]).unwrap().len(), 5);
}

#[test]
fn a_name_means_a_device_in_every_machine_and_one_with_the_machine_behind_it() {
    let there =
        |remote: &str, device: DeviceInfo| DeviceInfo { remote: Some(remote.into()), ..device };
    let mut devices: Vec<_> = machine().into_iter().map(|d| there("a", d)).collect();
    devices.extend(machine().into_iter().map(|d| there("b c@d", d)));
    let labels = |name: &str| -> Result<Vec<String>> {
        let selector = Selector { device: vec![name.into()], ..Selector::default() };
        Ok(choose(&devices, &selector)?.iter().map(|one| one.device.label()).collect())
    };
    assert_eq!(labels("opencl:2").unwrap(), ["opencl:2@a", "opencl:2@b c@d"]);
    assert_eq!(labels("opencl:2@b c@d").unwrap(), ["opencl:2@b c@d"]);
    assert_eq!(labels("cpu@a").unwrap(), ["opencl:2@a"]);
    assert_eq!(labels("1").unwrap(), ["opencl:1@a", "wgpu:0@a"]);
    for name in ["opencl:2@c", "blaster@a", "blaster"] {
        assert!(matches!(labels(name), Err(Error::Usage(_))), "{name}");
    }
}

#[test]
fn a_layer_is_measured_where_the_api_below_is_not_and_where_it_is_named() {
    let mut devices = machine();
    let vulkan = DeviceInfo { backend: "vulkan".into(), ..devices[3].clone() };
    devices.insert(3, vulkan);
    let measured = |device: &[&str], backend: &[&str]| -> Vec<String> {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let selector = Selector { device: owned(device), backend: owned(backend), sim: None };
        let chosen = choose(&devices, &selector).unwrap();
        let measured = without_layers(&chosen, &selector);
        measured.iter().map(|one| one.device.label()).collect()
    };
    // Vulkan sees one of the two equal GPUs, wgpu both.
    let usual = ["opencl:0", "opencl:1", "opencl:2", "vulkan:0", "wgpu:1"];
    assert_eq!(measured(&[], &[]), usual);
    assert_eq!(measured(&["1"], &[]), ["opencl:1", "vulkan:0"]);
    assert_eq!(measured(&["0"], &[]), ["opencl:0", "wgpu:1"]);
    assert_eq!(measured(&["wgpu:0"], &[]), ["wgpu:0"]);
    assert_eq!(measured(&["wgpu:0", "vulkan:0"], &[]), ["vulkan:0", "wgpu:0"]);
    assert_eq!(measured(&["1"], &["wgpu", "vulkan"]), ["vulkan:0", "wgpu:0"]);
    assert_eq!(measured(&[], &["wgpu"]), ["wgpu:0", "wgpu:1"]);
}

#[test]
fn a_name_of_several_physical_gpus_lists_them() {
    for name in ["rx580", "acme", "blaster rx 580", "580", "e"] {
        let Err(Error::Usage(text)) = labels(name, &[]) else { panic!("{name} is ambiguous") };
        assert!(text.contains("several") && text.contains("pci:0000:0a:00.0"), "{text}");
    }
}

#[test]
fn no_match_lists_all() {
    for name in ["geforce", "3", "opencl:3", "pci:66:00", "uuid:65", "uuid:", "wgpu:cpu", ""] {
        let selector = Selector { device: vec![name.into()], ..Selector::default() };
        let found = choose(&machine(), &selector);
        let Err(Error::Usage(text)) = found else { panic!("`{name}` is nothing: {found:?}") };
        assert!(text.contains("no device") && text.contains("opencl:2"), "{text}");
    }
}

#[test]
fn nothing_to_choose_from_is_no_device() {
    let selector = Selector::default();
    assert!(matches!(choose(&[], &selector), Err(Error::NoDevice)));
    assert!(matches!(labels("", &["sim"]), Err(Error::NoDevice)));
}

#[test]
fn simulated_devices_come_on_request() {
    let asked = |selector: Selector| -> Vec<&str> {
        backends(&selector).unwrap().iter().map(|backend| backend.name()).collect()
    };
    let named = |name: &str| Selector { device: vec![name.into()], ..Selector::default() };
    assert_eq!(asked(Selector::default()), ["opencl", "vulkan", "wgpu"]);
    let sim = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect());
    assert_eq!(asked(Selector { sim: sim(&[]), ..Selector::default() }), ["sim"]);
    let sim_and_named = Selector { sim: sim(&["k40c"]), ..named("opencl:0") };
    assert_eq!(asked(sim_and_named), ["opencl", "vulkan", "wgpu", "sim"]);
    assert_eq!(asked(Selector { backend: vec!["sim".into()], ..named("x") }), ["sim"]);
    assert_eq!(asked(Selector { backend: vec!["wgpu".into()], ..named("x") }), ["wgpu"]);
    assert_eq!(asked(Selector { backend: vec!["wgpu".into()], ..named("1") }).len(), 3);
    assert_eq!(asked(named("sim:k40")), ["opencl", "vulkan", "wgpu", "sim"]);
    let unknown = Selector { backend: vec!["cuda".into()], ..Selector::default() };
    assert!(matches!(backends(&unknown).err(), Some(Error::Usage(_))));
}

#[test]
fn simulated_devices_are_chosen_by_name_and_by_description() {
    let shipped = Sim::default().devices().unwrap();
    let mut devices = shipped.clone();
    devices.push(device("sim", shipped.len(), "Mine"));
    devices.insert(0, device("opencl", 0, "Real"));
    let chosen = |names: &[&str], selector: Selector| -> Result<Vec<String>> {
        let sim = Some(names.iter().map(|&name| name.to_owned()).collect());
        let chosen = choose(&devices, &Selector { sim, ..selector })?;
        Ok(chosen.into_iter().map(|one| one.device.name).collect())
    };
    let usual = Selector::default;
    assert_eq!(chosen(&["k40c", "hd 7970"], usual()).unwrap(), ["Radeon HD 7970", "Tesla K40c"]);
    assert_eq!(chosen(&["my.yaml"], usual()).unwrap(), ["Mine"]);
    let real = Selector { device: vec!["opencl:0".into()], ..usual() };
    assert_eq!(chosen(&["./my"], real).unwrap(), ["Real", "Mine"]);
    let opencl = Selector { backend: vec!["opencl".into()], ..usual() };
    assert_eq!(chosen(&[], opencl).unwrap().len(), devices.len());
    let Err(Error::Usage(text)) = chosen(&["quick"], usual()) else { panic!("`quick`") };
    assert!(text.contains("Tesla K40c"), "{text}");
}
