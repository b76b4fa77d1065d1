//! Why a device holds its clock back, where a library on the machine tells: NVIDIA's NVML, loaded
//! at run time.

use crate::gpu::DeviceInfo;
use nvml_wrapper::Nvml;
use nvml_wrapper::bitmasks::device::ThrottleReasons;

/// A device that can be asked; the library is loaded once.
pub struct Throttle {
    nvml: Option<Nvml>,
    pci: Option<String>,
}

impl Throttle {
    /// For `device`. Without a PCI address, without NVML, or on another vendor's device every
    /// question is answered by "nothing known".
    pub fn of(device: &DeviceInfo) -> Self {
        let nvidia = device.vendor.to_lowercase().contains("nvidia");
        let pci = device.pci.clone().filter(|_| nvidia);
        let nvml = pci.as_ref().and_then(|_| Nvml::init().ok());
        Self { nvml, pci }
    }

    /// What holds the clock back at this moment, in words; nothing where nothing does or nobody
    /// knows.
    pub fn reasons(&self) -> Option<String> {
        let (nvml, pci) = (self.nvml.as_ref()?, self.pci.as_ref()?);
        let device = nvml.device_by_pci_bus_id(pci.as_str()).ok()?;
        words(device.current_throttle_reasons().ok()?)
    }
}

/// The reasons that make a figure lower than the device can do. Clocks that a person set, and those
/// of an idle device, are no throttling.
fn words(reasons: ThrottleReasons) -> Option<String> {
    let known = [
        (ThrottleReasons::SW_POWER_CAP, "power cap"),
        (ThrottleReasons::SW_THERMAL_SLOWDOWN, "temperature (driver)"),
        (ThrottleReasons::HW_THERMAL_SLOWDOWN, "temperature (hardware)"),
        (ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN, "power brake"),
        (ThrottleReasons::HW_SLOWDOWN, "hardware slowdown"),
    ];
    let found: Vec<&str> =
        known.iter().filter(|(bit, _)| reasons.contains(*bit)).map(|(_, word)| *word).collect();
    (!found.is_empty()).then(|| found.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::sample::device;

    #[test]
    fn idle_and_chosen_clocks_are_no_throttling() {
        assert_eq!(words(ThrottleReasons::NONE), None);
        assert_eq!(
            words(ThrottleReasons::GPU_IDLE | ThrottleReasons::APPLICATIONS_CLOCKS_SETTING),
            None
        );
        let hot = ThrottleReasons::SW_POWER_CAP | ThrottleReasons::HW_THERMAL_SLOWDOWN;
        assert_eq!(words(hot).as_deref(), Some("power cap, temperature (hardware)"));
    }

    #[test]
    fn other_devices_know_nothing() {
        assert_eq!(Throttle::of(&device("opencl")).reasons(), None);
        let nowhere = DeviceInfo {
            vendor: "NVIDIA".into(),
            pci: Some("ffff:ff:1f.7".into()),
            ..device("opencl")
        };
        assert_eq!(Throttle::of(&nowhere).reasons(), None);
    }
}
