//! Choosing devices as users name them.

use super::backends::known;
use super::browser::BROWSER;
use super::physical_gpus::physical_gpus;
use super::sim::Sim;
use super::{Backend, all, by_name};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{DeviceInfo, DeviceKind};
use gpubench_core::text::printable;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Which devices to use; where nothing is said, every physical GPU through every API, but for layers above one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, clap::Args)]
pub struct Selector {
    /// Use only this device: its number or a part of its name, its vendor, pci:ADDRESS,
    /// uuid:UUID, API:NUMBER as `devices` lists it, sim:NAME, browser; @MACHINE behind it is the one in that
    /// machine (repeat for more)
    #[arg(long, short, value_name = "DEVICE")]
    pub device: Vec<String>,
    /// Use only devices of this API (repeat for more)
    #[arg(long, value_name = "API")]
    pub backend: Vec<String>,
    /// Use simulated GPUs: those shipped, or only those of these names, machines or description
    /// files (`--sim k40c dual-c2075 my.yaml`; stands behind other arguments)
    #[arg(long, value_name = "NAME|FILE.yaml", num_args = 0..)]
    pub sim: Option<Vec<String>>,
}

impl Selector {
    /// The simulated backend, with the user's descriptions.
    pub fn simulation(&self) -> Sim {
        let named = self.sim.iter().flatten();
        Sim::new(named.filter(|name| is_file(name)).map(PathBuf::from).collect(), 0)
    }

    /// Whether it names devices, rather than taking all that there are.
    pub fn names_devices(&self) -> bool {
        !self.names().is_empty()
    }

    /// Whether simulated devices are requested and no real ones.
    fn only_simulated(&self) -> bool {
        let simulated = |name: &String| name.starts_with("sim:");
        self.sim.is_some() && self.backend.is_empty() && self.device.iter().all(simulated)
    }

    /// Everything that names a device: a description is the device behind the shipped ones.
    fn names(&self) -> Vec<String> {
        let mut next = Sim::shipped();
        let mut names = self.device.clone();
        for name in self.sim.iter().flatten() {
            if is_file(name) {
                let behind = next + Sim::count(Path::new(name));
                names.extend((next..behind).map(|index| format!("sim:{index}")));
                next = behind;
            } else {
                names.push(format!("sim:{name}"));
            }
        }
        names
    }
}

/// Whether simulated devices are named by their description, that of a shipped machine or small device
/// included.
fn is_file(name: &str) -> bool {
    let path = Path::new(name);
    let is_yaml = path.extension().is_some_and(|e| e == "yaml" || e == "yml");
    path.components().count() > 1 || is_yaml || Sim::is_shipped(path)
}

/// A device with the number of its physical GPU, by which users name all views of it at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbered {
    /// The number of its physical GPU among all devices listed.
    pub physical_gpu: usize,
    /// The device through one API.
    pub device: DeviceInfo,
}

/// The backends that must be queried for their devices. All that are asked by default are queried where a physical
/// GPU is named by its number: the others' devices decide which number a physical GPU has.
///
/// # Errors
/// `Usage` where there is no backend of a name.
pub fn backends(selector: &Selector) -> Result<Vec<Box<dyn Backend>>> {
    if let Some(unknown) = selector.backend.iter().find(|name| by_name(name).is_none()) {
        let names: Vec<_> = known().iter().map(|backend| backend.name()).collect();
        let (last, others) = names.split_last().unwrap_or((&"none", &[]));
        let (unknown, others) = (printable(unknown, 80), others.join(", "));
        return Err(Error::Usage(format!("there is no backend `{unknown}`: {others} or {last}")));
    }
    let simulation = || -> Box<dyn Backend> { Box::new(selector.simulation()) };
    if selector.only_simulated() {
        return Ok(vec![simulation()]);
    }
    let wanted = |name: &str| selector.backend.iter().any(|backend| backend == name);
    let mut backends = all();
    if !selector.backend.is_empty() && selector.device.iter().all(|name| gpu_number(name).is_none())
    {
        backends.retain(|backend| wanted(backend.name()));
    }
    if selector.sim.is_some() || selector.device.iter().any(|d| d.starts_with("sim:")) {
        backends.push(simulation());
    }
    // Those that are not there by default are asked only where they, or devices of theirs, are named.
    let of_devices = selector.device.iter().filter_map(|name| name.split(':').next());
    for name in selector.backend.iter().map(String::as_str).chain(of_devices) {
        if backends.iter().all(|backend| backend.name() != name) {
            backends.extend(by_name(name).filter(|backend| !is_default(backend.name())));
        }
    }
    Ok(backends)
}

fn is_default(name: &str) -> bool {
    all().iter().any(|backend| backend.name() == name)
}

/// What `selector` means among `devices`, which are all that the [`backends`] list.
///
/// # Errors
/// `NoDevice` where there is none at all; `Usage` with the choices where a selector means none
/// or several physical GPUs.
pub fn choose(devices: &[DeviceInfo], selector: &Selector) -> Result<Vec<Numbered>> {
    let numbered = physical_gpus(devices).into_iter().zip(devices.iter().cloned());
    let mut numbered: Vec<_> =
        numbered.map(|(physical_gpu, device)| Numbered { physical_gpu, device }).collect();
    if !selector.backend.is_empty() {
        let simulated = |name: &str| name == "sim" && selector.sim.is_some();
        let wanted = |name: &String| selector.backend.contains(name) || simulated(name);
        numbered.retain(|one| wanted(&one.device.backend));
    }
    if numbered.is_empty() {
        return Err(Error::NoDevice);
    }
    let names = selector.names();
    if names.is_empty() {
        return Ok(numbered);
    }
    let mut wanted = vec![false; numbered.len()];
    for name in &names {
        for i in one_card(&numbered, name)? {
            wanted[i] = true;
        }
    }
    let chosen = numbered.into_iter().zip(wanted).filter(|&(_, wanted)| wanted);
    Ok(chosen.map(|(one, _)| one).collect())
}

/// Those of `chosen` that a run measures: all but the views of a physical GPU through a layer (wgpu) where it is
/// chosen through the API below (Vulkan) too. A layer that the selector names stays.
pub fn without_layers(chosen: &[Numbered], selector: &Selector) -> Vec<Numbered> {
    let named = |backend: &str| {
        let begins = |name: &String| name.split([':', '@']).next() == Some(backend);
        selector.backend.iter().chain(&selector.device).any(begins)
    };
    let is_below = |one: &Numbered, below: &str| {
        let is = |of: &Numbered| of.physical_gpu == one.physical_gpu && of.device.backend == below;
        chosen.iter().any(is)
    };
    let stays = |one: &&Numbered| {
        let below = by_name(&one.device.backend).and_then(|backend| backend.layer_over());
        named(&one.device.backend) || below.is_none_or(|below| !is_below(one, below))
    };
    chosen.iter().filter(stays).cloned().collect()
}

/// Positions of the devices that `name` means, which are views of one physical GPU in every machine that has one of
/// that name.
fn one_card(devices: &[Numbered], name: &str) -> Result<Vec<usize>> {
    let found = matches(devices, name);
    let of_one_gpu = |&i: &usize| {
        let is_other = |&j: &usize| {
            devices[i].device.remote == devices[j].device.remote
                && devices[i].physical_gpu != devices[j].physical_gpu
        };
        !found.iter().any(is_other)
    };
    if found.is_empty() && name == BROWSER {
        // It had its turn: a page without an adapter, or none.
        return Err(Error::NoDevice);
    }
    if found.is_empty() {
        return Err(Error::Usage(format!(
            "no device matches `{}`; there are\n{}",
            printable(name, 80),
            choices(devices.iter())
        )));
    }
    if !found.iter().all(of_one_gpu) {
        return Err(Error::Usage(format!(
            "`{}` means several devices; choose one by number, address or UUID:\n{}",
            printable(name, 80),
            choices(found.iter().map(|&i| &devices[i]))
        )));
    }
    Ok(found)
}

fn matches(devices: &[Numbered], name: &str) -> Vec<usize> {
    // A name may have an @ of its own.
    if let Some((name, remote)) = name.split_once('@') {
        let is_there = |i: &usize| devices[*i].device.remote.as_deref() == Some(remote);
        let found: Vec<usize> = matches(devices, name).into_iter().filter(is_there).collect();
        if !found.is_empty() {
            return found;
        }
    }
    let by = |test: &dyn Fn(&Numbered) -> bool| -> Vec<usize> {
        (0..devices.len()).filter(|&i| test(&devices[i])).collect()
    };
    if let Some(address) = name.strip_prefix("pci:") {
        return by(&|one| one.device.pci.as_deref().is_some_and(|pci| is_at(pci, address)));
    }
    if let Some(uuid) = name.strip_prefix("uuid:") {
        return by(&|one| one.device.uuid.as_deref().is_some_and(|known| begins(known, uuid)));
    }
    if let Some((backend, rest)) = name.split_once(':')
        && by_name(backend).is_some()
    {
        let of = by(&|one| one.device.backend == backend);
        let is_index = |i: &usize| rest.parse() == Ok(devices[*i].device.index);
        let by_index: Vec<usize> = of.iter().copied().filter(is_index).collect();
        return if by_index.is_empty() { named(devices, &of, rest) } else { by_index };
    }
    if by_name(name).is_some() {
        return by(&|one| one.device.backend == name);
    }
    let by_gpu = by(&|one| gpu_number(name) == Some(one.physical_gpu));
    if by_gpu.is_empty() { named(devices, &by(&|_| true), name) } else { by_gpu }
}

/// A selector that is a number: a physical GPU's (or, where none has it, a part of a name).
fn gpu_number(name: &str) -> Option<usize> {
    name.parse().ok()
}

/// Those of `among` whose name is `name`, or else whose name or vendor contains it.
fn named(devices: &[Numbered], among: &[usize], name: &str) -> Vec<usize> {
    let name = letters(name);
    let by = |test: &dyn Fn(&DeviceInfo) -> bool| -> Vec<usize> {
        among.iter().copied().filter(|&i| test(&devices[i].device)).collect()
    };
    let exact = by(&|device| letters(&device.name) == name);
    if !exact.is_empty() || name.is_empty() {
        return exact;
    }
    by(&|device| {
        letters(&device.name).contains(&name)
            || letters(&device.vendor).contains(&name)
            || short_vendor(&device.vendor) == Some(name.as_str())
    })
}

/// The letters and digits of a name, in lower case: `rtx4090` finds `RTX 4090`.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// What people call a vendor whose drivers spell its name in full.
fn short_vendor(vendor: &str) -> Option<&'static str> {
    let vendor = letters(vendor);
    vendor.starts_with("advancedmicrodevices").then_some("amd")
}

/// Whether `pci` (`0000:65:00.0`) is `address`, whose domain and function may be left out.
fn is_at(pci: &str, address: &str) -> bool {
    let (pci, address) = (pci.to_lowercase(), address.to_lowercase());
    let long = if address.matches(':').count() == 1 { format!("0000:{address}") } else { address };
    pci == long || pci == format!("{long}.0")
}

/// Whether a UUID begins with `part` (at least 4 digits), which may have dashes and NVIDIA's `GPU-`.
fn begins(uuid: &str, part: &str) -> bool {
    let part = part.to_lowercase();
    let part: String = part.trim_start_matches("gpu-").split('-').collect();
    part.len() >= 4 && uuid.to_lowercase().starts_with(&part)
}

/// One line a device: its physical GPU, its backend and position, its name and what distinguishes it from equal devices.
fn choices<'a>(devices: impl Iterator<Item = &'a Numbered>) -> String {
    let line = |Numbered { physical_gpu, device }: &Numbered| {
        let label = device.label();
        let cpu = if device.kind == DeviceKind::Cpu { "  (CPU implementation)" } else { "" };
        let pci = device.pci.as_deref().map(|pci| format!("  pci:{pci}")).unwrap_or_default();
        let name = printable(&device.name, 60);
        format!("  {physical_gpu}  {label:<9}  {name}{cpu}{}", printable(&pci, 40))
    };
    devices.map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
pub(super) mod tests;
