//! What a device's own sensors say, beside the API that computes: its clock, why that is held
//! back, its power and temperature. NVIDIA's are read through NVML; AMD's, Intel's and those of boards through the files
//! of their Linux drivers.

mod amdgpu;
mod board;
mod files;
mod intel;
mod nvml;

use crate::browser::BROWSER;
use gpubench_core::gpu::DeviceInfo;
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

/// The sensors of `device`; `None` for what is no GPU, and where nothing on this machine reads them.
pub fn of(device: &DeviceInfo) -> Option<Box<dyn Sensors>> {
    // A page may be in another machine than its hub.
    if !device.is_gpu() || device.backend == BROWSER {
        return None;
    }
    let Some(pci) = device.pci.as_deref() else {
        // A GPU on no bus is the board's own.
        return Some(Box::new(board::Board::only(Path::new("/sys/class"))?));
    };
    let drm = Path::new("/sys/class/drm");
    let vendor = device.vendor.to_lowercase();
    if vendor.contains("nvidia") {
        return Some(Box::new(nvml::NvmlDevice::at(pci)?));
    }
    if vendor.contains("intel") {
        return Some(Box::new(intel::Intel::at(drm, pci)?));
    }
    Some(Box::new(amdgpu::Amdgpu::at(drm, pci)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample::device;

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
