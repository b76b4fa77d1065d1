//! What sensors say of a device, beside the API that computes: its clock, why that is held back, its power and
//! temperature; and of the host that it is in. NVIDIA's are read through NVML; AMD's, Intel's and those of boards, as the
//! host's, through the files of Linux.

mod amdgpu;
mod board;
mod files;
mod host;
mod intel;
mod nvml;
mod plausible;
mod rapl;
mod v3d;

pub use host::HostSensors;

use crate::browser::BROWSER;
use gpubench_core::gpu::{DeviceInfo, DeviceKind};
use plausible::Plausible;
use std::path::Path;

/// One look at a device. Whatever it does not report is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// What holds the clock back at this moment, in words.
    pub throttled: Option<String>,
    /// The core clock, in hertz.
    pub clock: Option<f64>,
    /// Share of the last moment in which the device was at work.
    pub busy: Option<f64>,
    /// Joules used since some moment before the program began.
    pub joules: Option<f64>,
    /// Power drawn, in watts, averaged by the device over up to a second.
    pub watts: Option<f64>,
    /// The core's temperature, in degrees Celsius.
    pub celsius: Option<f64>,
}

/// A device's sensors.
pub trait Sensors: Send {
    /// Reads them all, within a few milliseconds.
    fn read(&self) -> Reading;
}

/// Where Linux shows them.
const SYS: &str = "/sys";

/// The sensors of `device`; `None` for what is no GPU, and where nothing on this machine reads them.
pub fn of(device: &DeviceInfo) -> Option<Box<dyn Sensors>> {
    if !device.is_gpu() || is_elsewhere(device) {
        return None;
    }
    below(Path::new(SYS), device)
}

/// The sensors of the machine that `device` is in; `None` where they say nothing of it, and where there are none.
pub fn of_host(device: &DeviceInfo) -> Option<HostSensors> {
    let is_here = !matches!(device.kind, DeviceKind::Simulated | DeviceKind::Imported);
    (is_here && !is_elsewhere(device)).then(|| HostSensors::below(Path::new(SYS)))?
}

/// Whether it is behind a page, which may be in any machine.
fn is_elsewhere(device: &DeviceInfo) -> bool {
    device.backend == BROWSER
}

fn below(sys: &Path, device: &DeviceInfo) -> Option<Box<dyn Sensors>> {
    let drm = sys.join("class/drm");
    let vendor = device.vendor.to_lowercase();
    Some(match device.pci.as_deref() {
        // A GPU on no bus is the board's own.
        None => match board::Board::only(&sys.join("class")) {
            Some(board) => boxed(board),
            None => boxed(v3d::V3d::below(sys)?),
        },
        Some(pci) if vendor.contains("nvidia") => boxed(nvml::NvmlDevice::at(pci)?),
        Some(pci) if vendor.contains("intel") => boxed(intel::Intel::at(&drm, pci)?),
        Some(pci) => boxed(amdgpu::Amdgpu::at(&drm, pci)?),
    })
}

fn boxed(sensors: impl Sensors + 'static) -> Box<dyn Sensors> {
    Box::new(Plausible(sensors))
}

#[cfg(test)]
mod tests {
    use super::files::tree;
    use super::*;
    use gpubench_core::record::sample::device;

    #[test]
    fn a_gpu_on_no_bus_is_the_boards() {
        let mali = tree(&[("class/devfreq/fb000000.gpu/cur_freq", "850000000")]);
        let read = below(mali.path(), &device("opencl")).unwrap().read();
        assert_eq!(read, Reading { clock: Some(8.5e8), ..Reading::default() });
        fs_write(&mali, "1000000");
        let read = below(mali.path(), &device("opencl")).unwrap().read();
        assert_eq!(read, Reading::default(), "1 MHz is no clock");
        let pi = tree(&[("class/drm/card0/device/uevent", "DRIVER=v3d")]);
        assert_eq!(below(pi.path(), &device("vulkan")).unwrap().read(), Reading::default());
    }

    fn fs_write(mali: &tempfile::TempDir, text: &str) {
        std::fs::write(mali.path().join("class/devfreq/fb000000.gpu/cur_freq"), text).unwrap();
    }

    #[test]
    fn a_device_that_is_simulated_or_behind_a_page_has_no_host_here() {
        let simulated = DeviceInfo { kind: DeviceKind::Simulated, ..device("sim") };
        assert!(of_host(&simulated).is_none());
        assert!(of_host(&device(BROWSER)).is_none() && of(&device(BROWSER)).is_none());
    }

    #[test]
    fn devices_that_are_not_there_have_no_sensors() {
        assert!(of(&device("opencl")).is_none(), "no PCI address");
        for vendor in ["NVIDIA Corporation", "Advanced Micro Devices, Inc.", "Intel(R) Corporation"]
        {
            let pci = Some("ffff:ff:1f.7".into());
            let nowhere = DeviceInfo { vendor: vendor.into(), pci, ..device("opencl") };
            assert!(of(&nowhere).is_none(), "{vendor}");
        }
    }
}
