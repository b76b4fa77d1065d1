//! Power of the processor's packages, by the counters of energy that Linux's powercap shows (RAPL, of Intel's and
//! AMD's processors).
//!
//! Since 2020 the kernel lets only root read them; then there is no power.

use super::files::{entries, name, number, text};
use super::plausible;
use std::path::{Path, PathBuf};

/// Seconds between two readings that make a power: shorter, the counter's own period shows; longer, it may have
/// wrapped around more than once.
const SHORTEST: f64 = 0.1;
const LONGEST: f64 = 30.0;

/// The counters of all packages.
pub(super) struct Rapl {
    zones: Vec<Zone>,
    /// The last reading that a power was computed at: its moment in seconds, and the counters.
    last: Option<(f64, Vec<f64>)>,
    watts: Option<f64>,
}

/// A package.
struct Zone {
    /// Its counter, in microjoules.
    energy: PathBuf,
    /// Where the counter begins again at 0.
    range: Option<f64>,
}

impl Rapl {
    /// The packages below `powercap` (`/sys/class/powercap`); `None` where none can be read.
    pub fn below(powercap: &Path) -> Option<Self> {
        // `intel-rapl:0:0` and deeper ones are parts of a package; `psys` counts the packages a second time.
        let is_package = |zone: &PathBuf| {
            name(zone).strip_prefix("intel-rapl:").is_some_and(|number| !number.contains(':'))
                && text(zone.join("name")).is_some_and(|name| name.starts_with("package"))
        };
        let zone = |zone: PathBuf| Zone {
            energy: zone.join("energy_uj"),
            range: number(zone.join("max_energy_range_uj")).filter(|range| *range > 0.0),
        };
        let zones: Vec<Zone> = entries(powercap).into_iter().filter(is_package).map(zone).collect();
        let rapl = Self { zones, last: None, watts: None };
        rapl.counters().map(|_| rapl)
    }

    /// Watts of all packages, `at` seconds after some beginning, since the reading before.
    pub fn watts(&mut self, at: f64) -> Option<f64> {
        let Some(now) = self.counters() else {
            self.restart();
            return None;
        };
        let Some((then, before)) = &self.last else {
            self.last = Some((at, now));
            return None;
        };
        let seconds = at - then;
        if seconds >= SHORTEST {
            let used = self.zones.iter().zip(before.iter().zip(&now));
            let used = used.map(|(zone, (before, now))| zone.used(*before, *now));
            let joules = used.sum::<Option<f64>>().filter(|_| seconds <= LONGEST);
            self.watts = joules.and_then(|joules| plausible::watts(joules / seconds));
            self.last = Some((at, now));
        }
        self.watts
    }

    /// The next reading is the first.
    pub fn restart(&mut self) {
        (self.last, self.watts) = (None, None);
    }

    /// All counters; `None` where there is none, or one cannot be read.
    fn counters(&self) -> Option<Vec<f64>> {
        let counter = |zone: &Zone| number(&zone.energy).filter(|microjoules| *microjoules >= 0.0);
        let all: Option<Vec<f64>> = self.zones.iter().map(counter).collect();
        all.filter(|all| !all.is_empty())
    }
}

impl Zone {
    /// Joules from one reading of the counter to the next, between which it began again at most once.
    fn used(&self, before: f64, now: f64) -> Option<f64> {
        let wrapped = if now >= before { 0.0 } else { self.range? };
        Some(1e-6 * (now + wrapped - before)).filter(|joules| *joules >= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::tree;
    use super::*;

    const RANGE: &str = "262143328850";

    fn packages() -> tempfile::TempDir {
        tree(&[
            ("intel-rapl:0/name", "package-0"),
            ("intel-rapl:0/energy_uj", "1000000"),
            ("intel-rapl:0/max_energy_range_uj", RANGE),
            ("intel-rapl:0:0/name", "core"),
            ("intel-rapl:0:0/energy_uj", "7"),
            ("intel-rapl:1/name", "package-1"),
            ("intel-rapl:1/energy_uj", "262143000000"),
            ("intel-rapl:1/max_energy_range_uj", RANGE),
            ("intel-rapl:2/name", "psys"),
            ("intel-rapl:2/energy_uj", "9"),
            ("intel-rapl-mmio:0/name", "package-0"),
            ("intel-rapl-mmio:0/energy_uj", "1000000"),
        ])
    }

    fn write(root: &tempfile::TempDir, package: u32, microjoules: &str) {
        let file = root.path().join(format!("intel-rapl:{package}/energy_uj"));
        std::fs::write(file, format!("{microjoules}\n")).unwrap();
    }

    #[test]
    fn power_is_the_difference_of_two_readings_of_all_packages() {
        let root = packages();
        let mut rapl = Rapl::below(root.path()).unwrap();
        assert_eq!(rapl.watts(10.0), None, "the first");
        write(&root, 0, "21000000");
        assert_eq!(rapl.watts(10.01), None, "too soon");
        assert!((rapl.watts(10.5).unwrap() - 40.0).abs() < 1e-9);
        write(&root, 0, "26000000");
        assert!((rapl.watts(10.55).unwrap() - 40.0).abs() < 1e-9, "too soon for a new one");
        assert!((rapl.watts(11.0).unwrap() - 10.0).abs() < 1e-9);
        rapl.restart();
        assert_eq!(rapl.watts(12.0), None);
    }

    #[test]
    fn a_counter_that_begins_again_is_followed() {
        let root = packages();
        let mut rapl = Rapl::below(root.path()).unwrap();
        rapl.watts(0.0);
        // 0.328850 J up to the end of the range, and 4 J after it.
        write(&root, 1, "4000000");
        assert!((rapl.watts(1.0).unwrap() - 4.328850).abs() < 1e-9);
        std::fs::remove_file(root.path().join("intel-rapl:1/max_energy_range_uj")).unwrap();
        let mut endless = Rapl::below(root.path()).unwrap();
        endless.watts(0.0);
        write(&root, 1, "3");
        assert_eq!(endless.watts(1.0), None, "nobody knows where it begins again");
    }

    #[test]
    fn what_cannot_be_is_no_power() {
        let root = packages();
        let mut rapl = Rapl::below(root.path()).unwrap();
        rapl.watts(0.0);
        write(&root, 0, "99000000000");
        assert_eq!(rapl.watts(1.0), None, "99 kW");
        for absurd in ["", "nan", "-5", "much"] {
            write(&root, 0, absurd);
            assert_eq!(rapl.watts(2.0), None, "{absurd}");
            assert!(Rapl::below(root.path()).is_none(), "{absurd}");
        }
        write(&root, 0, "1000000");
        assert_eq!(rapl.watts(3.0), None, "the first again");
        write(&root, 0, "2000000");
        assert_eq!(rapl.watts(100.0), None, "it may have begun again more than once");
        assert_eq!(rapl.watts(101.0), None, "no power at all");
        assert!(Rapl::below(&root.path().join("nowhere")).is_none());
    }
}
