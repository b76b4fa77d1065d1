//! AMD's sensors: the files that Linux's amdgpu driver shows for each card.

use super::files::{card_at, entries, number, text};
use super::{Reading, Sensors};
use std::fs;
use std::path::{Path, PathBuf};

/// A card's folder.
pub(super) struct Amdgpu {
    device: PathBuf,
    hwmon: Option<PathBuf>,
}

impl Amdgpu {
    /// The card at this PCI address below `root` (`/sys/class/drm`); `None` where there is none, or
    /// another driver serves it.
    pub(super) fn at(root: &Path, pci: &str) -> Option<Self> {
        let device = card_at(root, pci)?.join("device");
        let hwmon = entries(device.join("hwmon")).into_iter().next();
        device.join("pp_dpm_sclk").exists().then_some(Self { device, hwmon })
    }

    fn watts(&self) -> Option<f64> {
        let micro = self.monitored("power1_average").or_else(|| self.monitored("power1_input"));
        micro.map(|micro| 1e-6 * micro)
    }

    /// A file of the driver's hardware monitor.
    fn monitored(&self, name: &str) -> Option<f64> {
        number(self.hwmon.as_ref()?.join(name))
    }
}

impl Sensors for Amdgpu {
    fn read(&self) -> Reading {
        Reading {
            throttled: fs::read(self.device.join("gpu_metrics")).ok().and_then(|m| throttled(&m)),
            clock: text(self.device.join("pp_dpm_sclk")).and_then(|levels| clock(&levels)),
            busy: number(self.device.join("gpu_busy_percent")).map(|percent| percent / 100.0),
            joules: None,
            watts: self.watts(),
            celsius: self.monitored("temp1_input").map(|milli| 1e-3 * milli),
        }
    }
}

/// The clock that a list of levels (`1: 1800Mhz *`) marks as the present one, in hertz.
fn clock(levels: &str) -> Option<f64> {
    let present = levels.lines().find(|line| line.trim_end().ends_with('*'))?;
    let (_, value) = present.split_once(':')?;
    let value = value.trim().trim_end_matches('*').trim().to_lowercase();
    Some(1e6 * value.strip_suffix("mhz")?.parse::<f64>().ok()?)
}

/// Where `struct gpu_metrics_v1_0` to `v1_3` of the kernel's `kgd_pp_interface.h` keep the status:
/// the card's own bits, and (1.3) those that mean the same on every card.
const STATUS: usize = 68;
const INDEPENDENT_STATUS: usize = 112;

/// What holds the clock back, by the driver's table of metrics. Tables of integrated devices (2.x)
/// and later ones are laid out otherwise, and not read.
fn throttled(metrics: &[u8]) -> Option<String> {
    let (&[_, _, format, content], _) = metrics.split_first_chunk::<4>()?;
    if format != 1 || content > 3 {
        return None;
    }
    if content == 3 {
        let bytes = metrics.get(INDEPENDENT_STATUS..INDEPENDENT_STATUS + 8)?;
        return throttle_labels(u64::from_le_bytes(bytes.try_into().ok()?));
    }
    let bytes = metrics.get(STATUS..STATUS + 4)?;
    let status = u32::from_le_bytes(bytes.try_into().ok()?);
    // All bits set: the driver does not know.
    (status != 0 && status != u32::MAX).then(|| format!("the driver's status {status:#x}"))
}

/// The independent bits, by the kinds that the kernel's `amdgpu_smu.h` groups them in.
fn throttle_labels(status: u64) -> Option<String> {
    if status == u64::MAX {
        return None;
    }
    let kinds =
        [(0xffff, "power cap"), (0xffff << 16, "current"), (0xff_ffff << 32, "temperature")];
    let known = kinds.iter().filter(|(bits, _)| status & bits != 0).map(|(_, label)| *label);
    let other = (status >> 56 != 0).then_some("reliability");
    let found: Vec<&str> = known.chain(other).collect();
    (!found.is_empty()).then(|| found.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A card's folder as the driver shows it.
    fn card(root: &Path, number: u32, pci: &str, metrics: &[u8]) {
        let device = root.join(format!("card{number}")).join("device");
        fs::create_dir_all(device.join("hwmon/hwmon3")).unwrap();
        fs::write(device.join("uevent"), format!("DRIVER=amdgpu\nPCI_SLOT_NAME={pci}\n")).unwrap();
        fs::write(device.join("pp_dpm_sclk"), "0: 500Mhz\n1: 1815Mhz *\n2: 2575Mhz\n").unwrap();
        fs::write(device.join("gpu_busy_percent"), "97\n").unwrap();
        fs::write(device.join("hwmon/hwmon3/power1_average"), "187000000\n").unwrap();
        fs::write(device.join("hwmon/hwmon3/temp1_input"), "71000\n").unwrap();
        fs::write(device.join("gpu_metrics"), metrics).unwrap();
    }

    fn metrics(content: u8, at: usize, status: &[u8]) -> Vec<u8> {
        let mut metrics = vec![0; 120];
        (metrics[2], metrics[3]) = (1, content);
        metrics[at..at + status.len()].copy_from_slice(status);
        metrics
    }

    #[test]
    fn a_gpu_is_found_by_its_address_and_read() {
        let root = tempfile::tempdir().unwrap();
        card(root.path(), 0, "0000:03:00.0", &[]);
        card(root.path(), 1, "0000:0a:00.0", &metrics(3, INDEPENDENT_STATUS, &[1, 0, 1, 0, 16]));
        let read = |pci| Amdgpu::at(root.path(), pci).map(|card| card.read());
        let hot = read("0000:0A:00.0").unwrap();
        assert_eq!(hot.throttled.as_deref(), Some("power cap, current, temperature"));
        assert_eq!((hot.clock, hot.busy, hot.watts), (Some(1.815e9), Some(0.97), Some(187.0)));
        assert_eq!(hot.celsius, Some(71.0));
        assert_eq!(read("0000:03:00.0").unwrap().throttled, None, "no metrics");
        assert!(read("0000:04:00.0").is_none());
        fs::remove_file(root.path().join("card0/device/pp_dpm_sclk")).unwrap();
        assert!(read("0000:03:00.0").is_none(), "another driver's");
    }

    #[test]
    fn only_known_tables_are_read() {
        assert_eq!(throttled(&metrics(1, STATUS, &[0; 4])), None);
        assert_eq!(throttled(&metrics(1, STATUS, &[0xff; 4])), None);
        let found = throttled(&metrics(1, STATUS, &[4, 0, 0, 0]));
        assert_eq!(found.as_deref(), Some("the driver's status 0x4"));
        assert_eq!(throttled(&metrics(4, STATUS, &[4, 0, 0, 0])), None, "laid out otherwise");
        assert_eq!(throttled(&metrics(3, INDEPENDENT_STATUS, &[0xff; 8])), None, "not known");
        assert_eq!(throttled(&metrics(3, 0, &[])[..80]), None, "cut short");
        assert_eq!(throttled(&[1, 2]), None);
    }

    #[test]
    fn a_list_without_a_present_level_has_no_clock() {
        assert_eq!(clock("0: 500Mhz\n1: 1800Mhz\n"), None);
        assert_eq!(clock("S: 19Mhz *\n0: 500Mhz\n"), Some(19e6));
        assert_eq!(clock(""), None);
    }
}
