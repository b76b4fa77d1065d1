//! Sensors of boards and phones, whose GPU is on no bus: devfreq's and kgsl's files, the kernel's thermal zones, and hwmon.
//!
//! Mali (panfrost, panthor, kbase), Adreno (msm by devfreq, kgsl by its own folder) and Tegra have them.

use super::files::{entries, name, number, text};
use super::{Reading, Sensors, plausible};
use std::path::{Path, PathBuf};

/// Where the one GPU of a board shows what it does.
pub(super) struct Board {
    /// Its clock in hertz.
    clock: PathBuf,
    /// Percent of the time at work.
    busy: Option<PathBuf>,
    /// Thousandths of a degree.
    temperature: Option<PathBuf>,
    /// How far it is slowed down for its heat: 0 is not at all.
    cooling: Option<PathBuf>,
    /// Thousandths of a volt and of an ampere of the GPU's supply.
    supply: Option<[PathBuf; 2]>,
}

impl Board {
    /// The only GPU below `class` (`/sys/class`); `None` where there is none that is no card, or several: which is
    /// the device is not said anywhere.
    pub(super) fn only(class: &Path) -> Option<Self> {
        let adreno = class.join("kgsl/kgsl-3d0");
        if adreno.join("gpuclk").exists() {
            let own = adreno.join("temp");
            return Some(Self {
                clock: adreno.join("gpuclk"),
                busy: Some(adreno.join("gpu_busy_percentage")).filter(|file| file.exists()),
                temperature: Some(own).filter(|own| own.exists()).or_else(|| temperature(class)),
                cooling: cooling(class, "kgsl"),
                supply: supply(class),
            });
        }
        let gpus = entries(class.join("devfreq")).into_iter().filter(|gpu| is_gpu(&name(gpu)));
        let [gpu] = &gpus.collect::<Vec<_>>()[..] else { return None };
        Some(Self {
            clock: gpu.join("cur_freq"),
            busy: None,
            temperature: temperature(class),
            cooling: cooling(class, &name(gpu)),
            supply: supply(class),
        })
    }
}

/// `fb000000.gpu`, `ffe40000.mali`, Tegra's `57000000.gpu`, and its chips by name: `17000000.gp10b`, `.gv11b`, `.ga10b`.
fn is_gpu(name: &str) -> bool {
    let kind = name.rsplit('.').next().unwrap_or(name);
    let is_chip = |kind: &[u8]| {
        matches!(kind, [b'g', b'a'..=b'z', b'0'..=b'9', b'0'..=b'9', b'a'..=b'z', ..])
    };
    ["gpu", "mali"].contains(&kind) || is_chip(kind.as_bytes())
}

/// The GPU's thermal zone or monitor, by its name (`gpu-thermal`, `GPU-therm`, `gpuss-0-thermal`, `gpu_thermal`).
fn temperature(class: &Path) -> Option<PathBuf> {
    let of = |folder: &str, begin: &str, named_in: &str, file: &str| {
        let is_gpus = |sensor: &PathBuf| {
            name(sensor).starts_with(begin)
                && text(sensor.join(named_in)).is_some_and(|t| t.to_lowercase().starts_with("gpu"))
        };
        Some(entries(class.join(folder)).into_iter().find(is_gpus)?.join(file))
    };
    of("thermal", "thermal_zone", "type", "temp")
        .or_else(|| of("hwmon", "hwmon", "name", "temp1_input"))
}

/// The monitor of the GPU's supply, as Jetsons have it: Texas Instruments' INA3221, a channel of which is labelled
/// `VDD_GPU_SOC`, `VDD_SYS_GPU` or `GPU`, if the processor does not share it. What else hangs on that supply counts.
fn supply(class: &Path) -> Option<[PathBuf; 2]> {
    entries(class.join("hwmon")).into_iter().find_map(|monitor| {
        let is_gpus = |n: &u32| {
            let label = text(monitor.join(format!("in{n}_label")));
            label.is_some_and(|label| label.contains("GPU") && !label.contains("CPU"))
        };
        let channel = (1..=3).find(is_gpus)?;
        Some(["in", "curr"].map(|what| monitor.join(format!("{what}{channel}_input"))))
    })
}

/// How far the kernel slows the device of this name down.
fn cooling(class: &Path, gpu: &str) -> Option<PathBuf> {
    let is_its = |device: &PathBuf| {
        name(device).starts_with("cooling_device")
            && text(device.join("type")).is_some_and(|kind| kind.contains(gpu))
    };
    Some(entries(class.join("thermal")).into_iter().find(is_its)?.join("cur_state"))
}

impl Sensors for Board {
    fn read(&self) -> Reading {
        let of = |file: &Option<PathBuf>| file.as_ref().and_then(number);
        let cooled = of(&self.cooling).filter(|state| *state > 0.0);
        let watts = |[volts, amperes]: &[PathBuf; 2]| Some(number(volts)? * number(amperes)? / 1e6);
        Reading {
            throttled: cooled.map(|state| format!("temperature, by {state} steps")),
            clock: number(&self.clock),
            busy: of(&self.busy).map(|percent| percent / 100.0),
            joules: None,
            watts: self.supply.as_ref().and_then(watts),
            celsius: of(&self.temperature).and_then(plausible::celsius),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::tree;
    use super::*;
    use std::fs;

    #[test]
    fn gpus_are_known_by_their_names() {
        for gpu in ["fb000000.gpu", "ffe40000.mali", "17000000.gp10b", "17000000.ga10b", "gv11b"] {
            assert!(is_gpu(gpu), "{gpu}");
        }
        for other in ["dmc", "bus-g3d", "17000000.gp", "10000000.g2d", "soc:gpio"] {
            assert!(!is_gpu(other), "{other}");
        }
    }

    #[test]
    fn a_mali_is_read_by_devfreq_and_the_thermal_zones() {
        let root = tree(&[
            ("devfreq/dmc/cur_freq", "2112000000"),
            ("devfreq/fb000000.gpu/cur_freq", "850000000"),
            ("thermal/thermal_zone0/type", "soc-thermal"),
            ("thermal/thermal_zone0/temp", "41000"),
            ("thermal/thermal_zone5/type", "gpu-thermal"),
            ("thermal/thermal_zone5/temp", "67307"),
            ("thermal/cooling_device0/type", "cpufreq-cpu0"),
            ("thermal/cooling_device0/cur_state", "3"),
            ("thermal/cooling_device3/type", "devfreq-fb000000.gpu"),
            ("thermal/cooling_device3/cur_state", "2"),
        ]);
        let read = Board::only(root.path()).unwrap().read();
        assert_eq!((read.clock, read.busy), (Some(8.5e8), None));
        assert!((read.celsius.unwrap() - 67.307).abs() < 1e-9);
        assert_eq!(read.throttled.as_deref(), Some("temperature, by 2 steps"));
        fs::write(root.path().join("thermal/cooling_device3/cur_state"), "0").unwrap();
        assert_eq!(Board::only(root.path()).unwrap().read().throttled, None);
    }

    #[test]
    fn a_gpu_without_a_thermal_zone_of_its_own_may_have_a_monitor() {
        let root = tree(&[
            ("devfreq/ffe40000.mali/cur_freq", "800000000"),
            ("hwmon/hwmon0/name", "cpu_thermal"),
            ("hwmon/hwmon0/temp1_input", "71000"),
            ("hwmon/hwmon2/name", "gpu_thermal"),
            ("hwmon/hwmon2/temp1_input", "58500"),
        ]);
        let read = Board::only(root.path()).unwrap().read();
        assert_eq!((read.clock, read.celsius, read.watts), (Some(8e8), Some(58.5), None));
    }

    #[test]
    fn an_adreno_is_read_by_kgsl() {
        let root = tree(&[
            ("kgsl/kgsl-3d0/gpuclk", "585000000"),
            ("kgsl/kgsl-3d0/gpu_busy_percentage", "42 %"),
            ("kgsl/kgsl-3d0/temp", "51200"),
        ]);
        let read = Board::only(root.path()).unwrap().read();
        assert_eq!((read.clock, read.busy, read.celsius), (Some(5.85e8), Some(0.42), Some(51.2)));
    }

    #[test]
    fn a_tegra_is_read_and_two_gpus_or_none_are_not() {
        let root = tree(&[
            ("devfreq/17000000.gp10b/cur_freq", "1300500000"),
            ("thermal/thermal_zone1/type", "GPU-therm"),
            ("thermal/thermal_zone1/temp", "46"),
            ("hwmon/hwmon1/name", "ina3221"),
            ("hwmon/hwmon1/in1_label", "VDD_CPU_CV"),
            ("hwmon/hwmon1/in2_label", "VDD_GPU_SOC"),
            ("hwmon/hwmon1/in2_input", "5000"),
            ("hwmon/hwmon1/curr2_input", "1240"),
        ]);
        let read = Board::only(root.path()).unwrap().read();
        assert_eq!((read.clock, read.celsius), (Some(1.3005e9), Some(46.0)));
        assert!((read.watts.unwrap() - 6.2).abs() < 1e-9);
        let two = tree(&[("devfreq/1.gpu/cur_freq", "1"), ("devfreq/2.gpu/cur_freq", "1")]);
        assert!(Board::only(two.path()).is_none());
        assert!(Board::only(tree(&[("devfreq/dmc/cur_freq", "1")]).path()).is_none());
    }
}
