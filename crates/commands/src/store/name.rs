//! File names made from names that others chose.

use gpubench_core::gpu::DeviceInfo;

/// A stem for a result file: UTC time, host, the device where the run has only one, and suite.
/// `started` is RFC 3339.
pub fn result_name(started: &str, host: &str, devices: &[DeviceInfo], suite: &str) -> String {
    let time: String = started
        .split('.')
        .next()
        .unwrap_or_default()
        .chars()
        .filter(|c| c.is_ascii_alphanumeric())
        .collect();
    let time = time.trim_end_matches('Z');
    let device = match devices {
        [one] => safe(&format!("{}-{}-{}", one.backend, one.index, one.name)) + "-",
        _ => String::new(),
    };
    format!("{}Z-{}-{device}{}", safe(time), safe(host), safe(suite))
}

/// `name` as part of a file name on any system: ASCII letters, digits, dots, dashes and
/// underscores, at most 48 of them, never empty, hidden, or a device's name.
pub fn safe(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c {
            c if c.is_ascii_alphanumeric() || c == '_' || c == '.' => out.push(c),
            _ if out.ends_with('-') => {}
            _ => out.push('-'),
        }
        if out.len() >= 48 {
            break;
        }
    }
    let out = out.trim_matches(['-', '.']);
    let stem = out.split('.').next().unwrap_or_default().to_ascii_uppercase();
    let reserved = matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL")
        || (stem.len() == 4 && (stem.starts_with("COM") || stem.starts_with("LPT")));
    match out {
        "" => "unnamed".to_owned(),
        out if reserved => format!("_{out}"),
        out => out.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_safe() {
        assert_eq!(safe("../../etc/passwd"), "etc-passwd");
        assert_eq!(safe("nul"), "_nul");
        assert_eq!(safe("com1.txt"), "_com1.txt");
        assert_eq!(safe("Größe µ"), "Gr-e");
        assert_eq!(safe(""), "unnamed");
        assert_eq!(safe("\u{1b}[31m"), "31m");
        assert!(safe(&"a".repeat(5000)).len() <= 48);
    }

    #[test]
    fn a_result_is_named_by_time_host_device_and_suite() {
        let name = |started: &str, host: &str, devices: &[DeviceInfo], suite: &str| {
            result_name(started, host, devices, suite)
        };
        let sample = gpubench_core::record::sample::device("opencl");
        let one = DeviceInfo { index: 1, name: "RTX 4090 / Ω".into(), ..sample.clone() };
        assert_eq!(
            name("2025-01-31T12:30:05.123Z", "lab 7", &[], "quick"),
            "20250131T123005Z-lab-7-quick"
        );
        assert_eq!(
            name("2025-01-31T12:30:05Z", "h", std::slice::from_ref(&one), "s"),
            "20250131T123005Z-h-opencl-1-RTX-4090-s"
        );
        assert_eq!(name("2025-01-31T12:30:05Z", "h", &[one, sample], "s"), "20250131T123005Z-h-s");
    }
}
