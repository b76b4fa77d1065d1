//! The GPUs that the kernel sees, its drivers for them, and who may use their device nodes.

use super::advice::{Api, Need};
use super::{Distribution, Finding, Machine, System};
use std::path::Path;

const AREA: &str = "hardware";

/// Who made a GPU, as far as the choice of drivers depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vendor {
    Nvidia,
    Amd,
    Intel,
    Other,
}

/// A GPU that the kernel sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gpu {
    /// Its PCI address, or its name in the device tree.
    pub(super) place: String,
    pub(super) vendor: Vendor,
    /// The kernel's driver for it.
    pub(super) driver: Option<String>,
}

impl Vendor {
    fn from_pci(id: &str) -> Self {
        match id {
            "0x10de" => Self::Nvidia,
            "0x1002" => Self::Amd,
            "0x8086" => Self::Intel,
            _ => Self::Other,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nvidia => "NVIDIA",
            Self::Amd => "AMD",
            Self::Intel => "Intel",
            Self::Other => "other GPUs",
        }
    }
}

/// Display controllers and accelerators on the PCI bus, then GPUs of boards without one.
pub(super) fn gpus(system: &System<'_>) -> Vec<Gpu> {
    let mut gpus: Vec<_> = system
        .list("/sys/bus/pci/devices")
        .iter()
        .filter_map(|path| pci_gpu(system, path))
        .collect();
    gpus.extend(system.list("/sys/class/drm").iter().filter_map(|path| board_gpu(system, path)));
    gpus
}

fn pci_gpu(system: &System<'_>, path: &Path) -> Option<Gpu> {
    let value = |name| system.read(path.join(name)).map(|text| text.trim().to_owned());
    let class = value("class")?;
    // Base class 03 is a display controller, 12 a processing accelerator.
    if !class.starts_with("0x03") && !class.starts_with("0x12") {
        return None;
    }
    let vendor = value("vendor")?;
    let known = Vendor::from_pci(&vendor);
    // Servers' and virtual machines' plain screens have no GPU behind them, and accelerators of
    // other vendors have neither OpenCL nor Vulkan.
    let is_screen = ["0x1a03", "0x102b", "0x1234", "0x1b36", "0x15ad", "0x80ee", "0x1013"];
    let is_other = is_screen.contains(&vendor.as_str()) || class.starts_with("0x12");
    if known == Vendor::Other && is_other {
        return None;
    }
    let place = path.file_name()?.to_string_lossy().into_owned();
    Some(Gpu { place, vendor: known, driver: driver(system, path) })
}

/// A render node whose device has no PCI address belongs to a GPU on the processor's chip.
fn board_gpu(system: &System<'_>, path: &Path) -> Option<Gpu> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let device = path.join("device");
    if !name.starts_with("renderD") || system.exists(device.join("vendor")) {
        return None;
    }
    let driver = driver(system, &device)?;
    Some(Gpu { place: name, vendor: Vendor::Other, driver: Some(driver) })
}

fn driver(system: &System<'_>, device: &Path) -> Option<String> {
    let link = std::fs::read_link(system.place(device.join("driver"))).ok()?;
    Some(link.file_name()?.to_string_lossy().into_owned())
}

pub(super) fn examine(machine: &Machine<'_>) -> Vec<Finding> {
    let Machine { system, here, gpus } = machine;
    if !machine.has_manifests() {
        return vec![];
    }
    if gpus.is_empty() {
        let found = "the kernel sees no GPU: only CPU implementations can be used here";
        let todo = "in a virtual machine or container, hand a GPU through to it";
        return vec![Finding::warning(AREA, found, todo)];
    }
    let mut findings: Vec<_> = gpus.iter().map(|gpu| kernel_driver(*here, gpu)).collect();
    findings.extend(nodes(system, gpus));
    findings
}

/// NVIDIA's kernel driver comes with its Vulkan driver.
const KERNEL: Api = Api {
    area: AREA,
    packages: "vulkan",
    macos: "",
    loader: "",
    driver: "install NVIDIA's driver",
    unregistered: "",
};

fn kernel_driver(here: Distribution, gpu: &Gpu) -> Finding {
    let (place, vendor) = (&gpu.place, gpu.vendor.name());
    match (gpu.vendor, gpu.driver.as_deref()) {
        (Vendor::Nvidia, None) => Finding::problem(
            AREA,
            format!("{place} ({vendor}) has no kernel driver"),
            format!("{}, then restart", here.advice(&KERNEL, Need::Driver(Some(Vendor::Nvidia)))),
        ),
        (_, None) => Finding::problem(
            AREA,
            format!("{place} ({vendor}) has no kernel driver"),
            "install and load the kernel's module for it, then see `dmesg` if it stays so",
        ),
        (_, Some("vfio-pci")) => Finding::problem(
            AREA,
            format!("{place} ({vendor}) is set aside for a virtual machine (vfio-pci)"),
            "run gpubench in that virtual machine, or bind the device to its own driver",
        ),
        (Vendor::Nvidia, Some("nouveau")) => Finding::warning(
            AREA,
            format!("{place} ({vendor}) is driven by nouveau"),
            "install NVIDIA's own driver for OpenCL and for its full speed",
        ),
        (_, Some(driver)) => Finding::ok(AREA, format!("{place} ({vendor}) is driven by {driver}")),
    }
}

/// The nodes through which user programs reach the GPUs.
fn nodes(system: &System<'_>, gpus: &[Gpu]) -> Vec<Finding> {
    // NVIDIA's driver and Windows' (seen from its Linux subsystem) have nodes of their own.
    let by = |name| gpus.iter().any(|gpu| gpu.driver.as_deref() == Some(name));
    let others = ["nvidia", "dxgkrnl", "vfio-pci"];
    let mut drivers = gpus.iter().filter_map(|gpu| gpu.driver.as_deref());
    let wants_render = drivers.any(|driver| !others.contains(&driver));
    let mut findings = vec![];
    let render = system.list("/dev/dri").into_iter().filter(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("renderD"))
    });
    let render: Vec<_> = render.collect();
    if render.is_empty() && wants_render {
        findings.push(Finding::problem(
            AREA,
            "there is no /dev/dri/renderD* node",
            "in a container, hand it in (docker run --device /dev/dri)",
        ));
    }
    findings.extend(render.iter().map(|path| node(system, path)));
    if by("dxgkrnl") {
        findings.push(node(system, Path::new("/dev/dxg")));
    }
    if by("nvidia") {
        let wanted = ["/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-uvm"];
        findings.extend(wanted.map(|path| node(system, Path::new(path))));
    }
    if system.exists("/dev/kfd") {
        findings.push(node(system, Path::new("/dev/kfd")));
    }
    findings
}

fn node(system: &System<'_>, path: &Path) -> Finding {
    let shown = path.display();
    let place = system.place(path);
    if !place.exists() {
        let todo = if shown.to_string().contains("nvidia") {
            "load the driver's modules (sudo nvidia-modprobe -u -c 0); in a container, start it with --gpus all"
        } else {
            "load the driver's module; in a container, hand the node in (--device)"
        };
        return Finding::problem(AREA, format!("there is no {shown}"), todo);
    }
    if (system.access)(&place) {
        return Finding::ok(AREA, format!("{shown} may be read and written"));
    }
    let todo = match group(system, &place) {
        Some(group) if group != "root" => {
            format!("sudo usermod -aG {group} \"$USER\", then log in again")
        }
        _ => "ask the administrator for access to it".into(),
    };
    Finding::problem(AREA, format!("{shown} may not be read and written by this user"), todo)
}

/// The name of the group that a file belongs to.
#[cfg(unix)]
fn group(system: &System<'_>, place: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let id = std::fs::metadata(place).ok()?.gid().to_string();
    let groups = system.read("/etc/group")?;
    let entry = groups.lines().find(|line| line.split(':').nth(2) == Some(&id))?;
    entry.split(':').next().map(str::to_owned)
}

#[cfg(not(unix))]
fn group(_system: &System<'_>, _place: &Path) -> Option<String> {
    None
}
