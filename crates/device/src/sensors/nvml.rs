//! NVIDIA's sensors through NVML, which is loaded at run time.

use super::{Reading, Sensors};
use nvml_wrapper::Nvml;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};

/// A device that NVML knows.
pub(super) struct NvmlDevice {
    nvml: Nvml,
    pci: String,
}

impl NvmlDevice {
    /// The device at this PCI address; `None` without NVML, or where it knows no such device.
    pub(super) fn at(pci: &str) -> Option<Self> {
        let nvml = Nvml::init().ok()?;
        nvml.device_by_pci_bus_id(pci).ok()?;
        Some(Self { nvml, pci: pci.to_owned() })
    }
}

impl Sensors for NvmlDevice {
    fn read(&self) -> Reading {
        let Ok(device) = self.nvml.device_by_pci_bus_id(self.pci.as_str()) else {
            return Reading::default();
        };
        Reading {
            throttled: device.current_throttle_reasons().ok().and_then(throttle_labels),
            clock: device.clock_info(Clock::SM).ok().map(|mhz| 1e6 * f64::from(mhz)),
            busy: device.utilization_rates().ok().map(|rates| f64::from(rates.gpu) / 100.0),
            joules: device.total_energy_consumption().ok().map(|mj| 1e-3 * mj as f64),
            watts: device.power_usage().ok().map(|mw| 1e-3 * f64::from(mw)),
            celsius: device.temperature(TemperatureSensor::Gpu).ok().map(f64::from),
        }
    }
}

/// The reasons that make a figure lower than the device can do. Clocks that a person set, and those
/// of an idle device, are no throttling.
fn throttle_labels(reasons: ThrottleReasons) -> Option<String> {
    let known = [
        (ThrottleReasons::SW_POWER_CAP, "power cap"),
        (ThrottleReasons::SW_THERMAL_SLOWDOWN, "temperature (driver)"),
        (ThrottleReasons::HW_THERMAL_SLOWDOWN, "temperature (hardware)"),
        (ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN, "power brake"),
        (ThrottleReasons::HW_SLOWDOWN, "hardware slowdown"),
    ];
    let found: Vec<&str> =
        known.iter().filter(|(bit, _)| reasons.contains(*bit)).map(|(_, label)| *label).collect();
    (!found.is_empty()).then(|| found.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_and_chosen_clocks_are_no_throttling() {
        assert_eq!(throttle_labels(ThrottleReasons::NONE), None);
        assert_eq!(
            throttle_labels(
                ThrottleReasons::GPU_IDLE | ThrottleReasons::APPLICATIONS_CLOCKS_SETTING
            ),
            None
        );
        let hot = ThrottleReasons::SW_POWER_CAP | ThrottleReasons::HW_THERMAL_SLOWDOWN;
        assert_eq!(throttle_labels(hot).as_deref(), Some("power cap, temperature (hardware)"));
    }
}
