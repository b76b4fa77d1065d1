//! The host's own temperature, clock and power: a board's processor shares heat and power with its GPU, and a host
//! that slows down slows down whatever waits for it.
//!
//! hwmon of the processor, else its thermal zones; cpufreq; RAPL. What is not there, or says what cannot be, is left out.

use super::files::{entries, name, number, text};
use super::plausible;
use super::rapl::Rapl;
use gpubench_core::record::Sensed;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Monitors of processors, by what their driver calls them (ARM's: the thermal zone, with `_` for `-`).
const MONITORS: [&str; 6] =
    ["coretemp", "k10temp", "zenpower", "via_cputemp", "cpu_thermal", "soc_thermal"];
/// What the names of processors' thermal zones begin with, in lower case.
const ZONES: [&str; 6] = ["x86_pkg_temp", "cpu", "soc", "bigcore", "littlecore", "center"];
/// Files of one kind that are read: reading all of a large server's would itself be work.
const MAX_FILES: usize = 8;

/// Where the host shows what it does.
pub struct HostSensors {
    /// Temperatures of the processor.
    temperatures: Vec<PathBuf>,
    /// Its clocks in kilohertz, by cluster of cores or by core.
    clocks: Vec<PathBuf>,
    rapl: Option<Rapl>,
    begun: Instant,
}

impl HostSensors {
    /// Those below `sys` (`/sys`); `None` where there is none.
    pub fn below(sys: &Path) -> Option<Self> {
        let temperatures = temperatures(&sys.join("class"));
        let policies = entries(sys.join("devices/system/cpu/cpufreq"));
        let clocks = policies.into_iter().map(|policy| policy.join("scaling_cur_freq"));
        let clocks = spread(clocks.filter(|clock| clock.exists()).collect());
        let rapl = Rapl::below(&sys.join("class/powercap"));
        let is_any = !temperatures.is_empty() || !clocks.is_empty() || rapl.is_some();
        is_any.then(|| Self { temperatures, clocks, rapl, begun: Instant::now() })
    }

    /// The hottest sensor and the highest clock of the processor, and its power since the reading before.
    pub fn read(&mut self) -> Sensed {
        let at = self.begun.elapsed().as_secs_f64();
        let kilohertz = self.clocks.iter().filter_map(number);
        Sensed {
            hertz: kilohertz.filter_map(|khz| plausible::hertz(1e3 * khz)).reduce(f64::max),
            watts: self.rapl.as_mut().and_then(|rapl| rapl.watts(at)),
            celsius: hottest(&self.temperatures),
        }
    }

    /// What is read from now on says nothing of what was before.
    pub fn restart(&mut self) {
        self.rapl.iter_mut().for_each(Rapl::restart);
    }
}

/// Where the processor's temperature stands, below `class` (`/sys/class`).
pub(super) fn temperatures(class: &Path) -> Vec<PathBuf> {
    let is_ours = |monitor: &PathBuf| {
        text(monitor.join("name")).is_some_and(|name| MONITORS.contains(&name.as_str()))
    };
    let monitors = entries(class.join("hwmon")).into_iter().filter(is_ours);
    let found: Vec<PathBuf> = monitors.filter_map(|monitor| of_package(&monitor)).collect();
    if !found.is_empty() {
        return spread(found);
    }
    let is_ours = |zone: &PathBuf| {
        let kind = text(zone.join("type")).unwrap_or_default().to_lowercase();
        name(zone).starts_with("thermal_zone") && ZONES.iter().any(|start| kind.starts_with(start))
    };
    let zones = entries(class.join("thermal")).into_iter().filter(is_ours);
    spread(zones.map(|zone| zone.join("temp")).collect())
}

/// The hottest of these.
pub(super) fn hottest(files: &[PathBuf]) -> Option<f64> {
    files.iter().filter_map(number).filter_map(plausible::celsius).reduce(f64::max)
}

/// A monitor's sensor of the whole package, which is its first.
fn of_package(monitor: &Path) -> Option<PathBuf> {
    let first = monitor.join("temp1_input");
    let is_one = |file: &PathBuf| name(file).starts_with("temp") && name(file).ends_with("_input");
    let other = || entries(monitor).into_iter().find(is_one);
    Some(first).filter(|first| first.exists()).or_else(other)
}

/// At most [`MAX_FILES`] of them, at even distances.
fn spread(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let step = files.len().div_ceil(MAX_FILES).max(1);
    files.into_iter().step_by(step).collect()
}

#[cfg(test)]
mod tests {
    use super::super::files::tree;
    use super::*;

    fn read(root: &tempfile::TempDir) -> Sensed {
        HostSensors::below(root.path()).map(|mut host| host.read()).unwrap_or_default()
    }

    #[test]
    fn a_pc_is_read_by_its_package_and_its_fastest_core() {
        let root = tree(&[
            ("class/hwmon/hwmon0/name", "nvme"),
            ("class/hwmon/hwmon0/temp1_input", "99000"),
            ("class/hwmon/hwmon2/name", "coretemp"),
            ("class/hwmon/hwmon2/temp1_input", "61000"),
            ("class/hwmon/hwmon2/temp2_input", "64000"),
            ("class/hwmon/hwmon3/name", "coretemp"),
            ("class/hwmon/hwmon3/temp1_input", "58000"),
            ("class/thermal/thermal_zone0/type", "acpitz"),
            ("class/thermal/thermal_zone0/temp", "27800"),
            ("devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "800000"),
            ("devices/system/cpu/cpufreq/policy1/scaling_cur_freq", "4700123"),
        ]);
        let found = read(&root);
        assert_eq!((found.hertz, found.celsius, found.watts), (Some(4.700123e9), Some(61.0), None));
    }

    #[test]
    fn a_boards_zones_are_read_where_no_monitor_is() {
        let root = tree(&[
            ("class/thermal/thermal_zone0/type", "gpu-thermal"),
            ("class/thermal/thermal_zone0/temp", "90000"),
            ("class/thermal/thermal_zone1/type", "cpu-1-0-usr"),
            ("class/thermal/thermal_zone1/temp", "55500"),
            ("class/thermal/thermal_zone2/type", "CPU-therm"),
            ("class/thermal/thermal_zone2/temp", "47"),
            ("class/thermal/cooling_device0/type", "cpufreq-cpu0"),
        ]);
        assert_eq!(read(&root), Sensed { celsius: Some(55.5), ..Sensed::default() });
    }

    /// Nothing of it is taken for a figure, and nothing panics.
    #[test]
    fn empty_absurd_and_unreadable_files_are_no_readings() {
        for absurd in ["", "nan", "inf", "-274000", "0", "1e300", "hot", "200000", "\u{fffd}"] {
            let root = tree(&[
                ("class/hwmon/hwmon0/name", "k10temp"),
                ("class/hwmon/hwmon0/temp1_input", absurd),
                ("devices/system/cpu/cpufreq/policy0/scaling_cur_freq", absurd),
                ("class/powercap/intel-rapl:0/name", "package-0"),
                ("class/powercap/intel-rapl:0/energy_uj", absurd),
            ]);
            let found = read(&root);
            assert_eq!(found.celsius, None, "{absurd}");
            // As a clock 200 MHz is none too few.
            assert_eq!(found.hertz, (absurd == "200000").then_some(2e8), "{absurd}");
        }
        let root = tree(&[("class/hwmon/hwmon0/name", "k10temp")]);
        // A folder where a file should be.
        std::fs::create_dir_all(root.path().join("class/hwmon/hwmon0/temp1_input")).unwrap();
        assert_eq!(read(&root), Sensed::default());
        assert!(HostSensors::below(&root.path().join("nowhere")).is_none());
    }

    #[test]
    fn of_many_cores_a_few_are_read() {
        let files: Vec<PathBuf> = (0..128).map(|i| PathBuf::from(i.to_string())).collect();
        let few = spread(files);
        assert_eq!(
            (few.len(), few[0].as_path(), few[7].as_path()),
            (8, Path::new("0"), Path::new("112"))
        );
        assert!(spread(vec![]).is_empty());
        assert_eq!(spread(vec!["a".into(), "b".into()]).len(), 2);
    }
}
