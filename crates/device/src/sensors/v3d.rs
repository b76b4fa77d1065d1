//! The V3D of a Raspberry Pi: how long its queues were at work, by its driver; why the firmware holds it back; the
//! temperature of the chip, which is the processor's as well.
//!
//! Its clock is in no file that everybody may read, but for kernels that give it a devfreq.

use super::files::{entries, name, number, text};
use super::host::{hottest, temperatures};
use super::{Reading, Sensors};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Where the chip shows what it does.
pub(super) struct V3d {
    clock: Option<PathBuf>,
    /// What its queues have done.
    stats: PathBuf,
    /// What the firmware holds back.
    firmware: Option<PathBuf>,
    temperatures: Vec<PathBuf>,
    before: Mutex<Option<Stats>>,
}

/// Nanoseconds: the moment, and how long each queue has been at work.
type Stats = (f64, Vec<f64>);

impl V3d {
    /// The chip's, below `sys` (`/sys`); `None` where there is none.
    pub fn below(sys: &Path) -> Option<Self> {
        let is_ours = |card: &PathBuf| {
            let event = text(card.join("device/uevent")).unwrap_or_default();
            event.lines().any(|line| line == "DRIVER=v3d")
        };
        let card = entries(sys.join("class/drm")).into_iter().find(is_ours)?;
        let devfreq = entries(sys.join("class/devfreq"));
        let clock = devfreq.into_iter().find(|device| name(device).ends_with("v3d"));
        Some(Self {
            clock: clock.map(|device| device.join("cur_freq")),
            stats: card.join("device/gpu_stats"),
            firmware: firmware(&sys.join("devices/platform")),
            temperatures: temperatures(&sys.join("class")),
            before: Mutex::default(),
        })
    }

    /// The share of the time since the reading before in which the busiest queue was at work.
    fn busy(&self) -> Option<f64> {
        let now = text(&self.stats).and_then(|table| stats(&table));
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let (then, ran) = std::mem::replace(&mut *before, now.clone())?;
        let (at, runs) = now?;
        let passed = at - then;
        let shares = runs.iter().zip(&ran).map(|(now, before)| (now - before) / passed);
        // A job that ends is booked as a whole.
        shares.reduce(f64::max).filter(|_| passed > 0.0).map(|share| share.min(1.0))
    }
}

impl Sensors for V3d {
    fn read(&self) -> Reading {
        Reading {
            throttled: self.firmware.as_ref().and_then(text).and_then(|bits| throttled(&bits)),
            clock: self.clock.as_ref().and_then(number),
            busy: self.busy(),
            celsius: hottest(&self.temperatures),
            ..Reading::default()
        }
    }
}

/// The driver's table: a line a queue, of its name, nanoseconds now, jobs, and nanoseconds at work. The queue of jobs
/// for the processor is none of the chip's.
fn stats(table: &str) -> Option<Stats> {
    let queues = table.lines().skip(1).filter(|line| !line.starts_with("cpu"));
    let fields = |line: &str| {
        let mut fields = line.split_whitespace().skip(1).map(str::parse::<u64>);
        let (at, _, ran) = (fields.next()?.ok()?, fields.next()?, fields.next()?.ok()?);
        Some((at as f64, ran as f64))
    };
    let all: Vec<(f64, f64)> = queues.map(fields).collect::<Option<_>>()?;
    Some((all.first()?.0, all.iter().map(|(_, ran)| *ran).collect()))
}

/// `soc/soc:firmware/get_throttled` of a Raspberry Pi's kernel; a later board's folders have longer names.
fn firmware(platform: &Path) -> Option<PathBuf> {
    let chips = entries(platform).into_iter().filter(|folder| name(folder).starts_with("soc"));
    let inner = chips.flat_map(entries).filter(|folder| name(folder).ends_with(":firmware"));
    inner.map(|folder| folder.join("get_throttled")).find(|file| file.exists())
}

/// What holds the chip back now, by the firmware's bits, in hexadecimal. A processor that is held back by itself (bit
/// 1), and what was at some time since the start (16 and above), are other things.
fn throttled(bits: &str) -> Option<String> {
    let bits = u32::from_str_radix(bits.trim_start_matches("0x"), 16).ok()?;
    let kinds = [(1, "under-voltage"), (4, "the firmware"), (8, "soft temperature limit")];
    let found: Vec<&str> =
        kinds.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, label)| *label).collect();
    (!found.is_empty()).then(|| found.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::files::tree;
    use super::*;

    const STATS: &str = "queue\ttimestamp\tjobs\truntime\nbin\t1000000000\t22620\t100000000\n\
                         csd\t1000000000\t3168\t200000000\ncpu\t1000000000\t1\t5";

    fn pi(throttled: &str) -> tempfile::TempDir {
        tree(&[
            ("class/drm/card0/device/uevent", "DRIVER=v3d\nOF_NAME=v3d"),
            ("class/drm/card0/device/gpu_stats", STATS),
            ("class/drm/card1/device/uevent", "DRIVER=vc4-drm"),
            ("class/hwmon/hwmon0/name", "cpu_thermal"),
            ("class/hwmon/hwmon0/temp1_input", "62319"),
            ("devices/platform/soc/soc:firmware/get_throttled", throttled),
        ])
    }

    #[test]
    fn a_raspberry_pi_is_read() {
        let root = pi("50005");
        let v3d = V3d::below(root.path()).unwrap();
        let first = v3d.read();
        assert_eq!((first.clock, first.busy), (None, None));
        assert!((first.celsius.unwrap() - 62.319).abs() < 1e-9);
        assert_eq!(first.throttled.as_deref(), Some("under-voltage, the firmware"));
        let later = STATS.replace("1000000000", "1020000000").replace("200000000", "215000000");
        let file = root.path().join("class/drm/card0/device/gpu_stats");
        std::fs::write(&file, later).unwrap();
        assert!((v3d.read().busy.unwrap() - 0.75).abs() < 1e-9);
        assert_eq!(v3d.read().busy, None, "no time has passed");
        std::fs::write(file, "queue\ttimestamp\nbin\tmuch").unwrap();
        assert_eq!((v3d.read().busy, v3d.read().busy), (None, None));
    }

    #[test]
    fn only_what_holds_it_back_now_is_reported() {
        for (bits, found) in [
            ("0", None),
            ("50000", None),
            ("2", None),
            ("0x8", Some("soft temperature limit")),
            ("", None),
            ("much", None),
        ] {
            assert_eq!(throttled(bits).as_deref(), found, "{bits}");
        }
    }

    #[test]
    fn a_devfreq_has_its_clock_and_another_driver_is_none_of_it() {
        let root = pi("0");
        let freq = root.path().join("class/devfreq/1002000000.v3d");
        std::fs::create_dir_all(&freq).unwrap();
        std::fs::write(freq.join("cur_freq"), "910000000\n").unwrap();
        assert_eq!(V3d::below(root.path()).unwrap().read().clock, Some(9.1e8));
        std::fs::write(root.path().join("class/drm/card0/device/uevent"), "DRIVER=vc4\n").unwrap();
        assert!(V3d::below(root.path()).is_none());
    }
}
