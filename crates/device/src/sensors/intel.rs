//! Intel's sensors: the files that Linux's i915 and xe drivers show for each GPU.

use super::files::{card_at, entries, name, number};
use super::{Reading, Sensors};
use std::path::{Path, PathBuf};

/// A GPU: where its clock, what holds that back, and its monitor stand.
pub(super) struct Intel {
    /// The clock in megahertz, as it is at this moment.
    clock: PathBuf,
    /// The folder of what holds the clock back, and what its files' names begin with.
    throttle: (PathBuf, &'static str),
    hwmon: Option<PathBuf>,
}

impl Intel {
    /// The GPU at this PCI address below `root` (`/sys/class/drm`); `None` where there is none, or
    /// another driver serves it.
    pub(super) fn at(root: &Path, pci: &str) -> Option<Self> {
        let card = card_at(root, pci)?;
        let i915 = card.join("gt/gt0");
        let xe = card.join("device/tile0/gt0/freq0");
        let places = [
            (i915.join("rps_act_freq_mhz"), (i915, "throttle_reason_")),
            (card.join("gt_act_freq_mhz"), (card.clone(), "throttle_reason_")),
            (xe.join("act_freq"), (xe.join("throttle"), "reason_")),
        ];
        let (clock, throttle) = places.into_iter().find(|(clock, _)| clock.exists())?;
        let hwmon = entries(card.join("device/hwmon")).into_iter().next();
        Some(Self { clock, throttle, hwmon })
    }

    fn monitored(&self, file: &str) -> Option<f64> {
        number(self.hwmon.as_ref()?.join(file))
    }

    /// The reasons that are set at this moment; `status` only sums them up.
    fn throttled(&self) -> Option<String> {
        let (folder, start) = &self.throttle;
        let is_set = |file: &PathBuf| number(file) == Some(1.0);
        let files = entries(folder).into_iter().filter(is_set);
        let reason = |file: PathBuf| Some(name(&file).strip_prefix(start)?.replace('_', " "));
        let reasons: Vec<String> = files.filter_map(reason).filter(|r| r != "status").collect();
        (!reasons.is_empty()).then(|| reasons.join(", "))
    }
}

impl Sensors for Intel {
    fn read(&self) -> Reading {
        Reading {
            throttled: self.throttled(),
            // An idle GPU sleeps: that is no clock.
            clock: number(&self.clock).filter(|mhz| *mhz > 0.0).map(|mhz| 1e6 * mhz),
            joules: self.monitored("energy1_input").map(|micro| 1e-6 * micro),
            celsius: self
                .monitored("temp2_input")
                .or(self.monitored("temp1_input"))
                .map(|m| 1e-3 * m),
            ..Reading::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (file, text) in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        }
    }

    #[test]
    fn i915_is_read() {
        let root = tempfile::tempdir().unwrap();
        write(
            root.path(),
            &[
                ("card0/device/uevent", "DRIVER=i915\nPCI_SLOT_NAME=0000:00:02.0"),
                ("card0/gt/gt0/rps_act_freq_mhz", "1150"),
                ("card0/gt/gt0/throttle_reason_status", "1"),
                ("card0/gt/gt0/throttle_reason_pl1", "1"),
                ("card0/gt/gt0/throttle_reason_thermal", "0"),
                ("card0/device/hwmon/hwmon4/energy1_input", "2500000"),
            ],
        );
        let read = Intel::at(root.path(), "0000:00:02.0").unwrap().read();
        assert_eq!((read.clock, read.joules), (Some(1.15e9), Some(2.5)));
        assert_eq!((read.throttled.as_deref(), read.celsius), (Some("pl1"), None));
        write(root.path(), &[("card0/gt/gt0/rps_act_freq_mhz", "0")]);
        assert_eq!(Intel::at(root.path(), "0000:00:02.0").unwrap().read().clock, None);
        assert!(Intel::at(root.path(), "0000:03:00.0").is_none());
    }

    #[test]
    fn xe_and_an_older_i915_are_read() {
        let root = tempfile::tempdir().unwrap();
        write(
            root.path(),
            &[
                ("card1/device/uevent", "DRIVER=xe\nPCI_SLOT_NAME=0000:03:00.0"),
                ("card1/device/tile0/gt0/freq0/act_freq", "2400"),
                ("card1/device/tile0/gt0/freq0/throttle/reason_thermal", "1"),
                ("card1/device/tile0/gt0/freq0/throttle/reason_pl2", "1"),
                ("card1/device/tile0/gt0/freq0/throttle/status", "1"),
                ("card1/device/hwmon/hwmon2/temp2_input", "61000"),
                ("card2/device/uevent", "DRIVER=i915\nPCI_SLOT_NAME=0000:00:02.0"),
                ("card2/gt_act_freq_mhz", "350"),
            ],
        );
        let read = Intel::at(root.path(), "0000:03:00.0").unwrap().read();
        assert_eq!((read.clock, read.celsius), (Some(2.4e9), Some(61.0)));
        assert_eq!(read.throttled.as_deref(), Some("pl2, thermal"));
        let old = Intel::at(root.path(), "0000:00:02.0").unwrap().read();
        assert_eq!(old, Reading { clock: Some(3.5e8), ..Reading::default() });
    }
}
