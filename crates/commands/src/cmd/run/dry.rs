//! What a run would do, without doing it.

use super::cases::Cases;
use super::multi_device::MultiDeviceCase;
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::Outcome;
use gpubench_core::text::printable;
use gpubench_experiments::keys;
use gpubench_report::labels::case_name;
use gpubench_suite::Suite;
use std::collections::BTreeMap;
use std::fmt::Write;

/// One case a line, for `--list`: name, family, tags.
pub fn list(suite: &Suite, filters: &super::cases::Filters) -> String {
    let mut out = String::new();
    for (workload, key) in keys(suite) {
        if filters.pass(&key, &workload.tags, &workload.family) {
            let tags = printable(&workload.tags.join(" "), 200);
            let _ = writeln!(out, "{}\t{}\t{tags}", case_name(&key), workload.family);
        }
    }
    out
}

/// Cases, memory, estimated time and skipped cases of each device, for `--dry-run`.
pub fn describe(
    devices: &[DeviceInfo],
    (cases, multi_device_cases): (&[Cases], &[MultiDeviceCase]),
    outlook: &str,
) -> String {
    let mut out = String::new();
    for (device, cases) in devices.iter().zip(cases) {
        let _ = writeln!(out, "{}  {}", device.label(), printable(&device.name, 60));
        for case in &cases.run {
            let variants = match case.candidates.len() {
                0 | 1 => String::new(),
                n => format!(", {n} variants"),
            };
            let name = case_name(&case.key);
            let _ = writeln!(out, "  {name}  ({} on the device{variants})", case.working_set());
        }
        let mut skipped: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for record in &cases.skipped {
            if let Outcome::Unsupported(reason) = &record.outcome {
                skipped.entry(reason.to_string()).or_default().push(case_name(&record.key));
            }
        }
        for (reason, names) in skipped {
            let _ = writeln!(out, "  skipped: {}", printable(&reason, 200));
            for name in names {
                let _ = writeln!(out, "    {name}");
            }
        }
        out.push('\n');
    }
    for multi_device_case in multi_device_cases {
        let members: Vec<String> =
            multi_device_case.members.iter().map(|&at| devices[at].label()).collect();
        let _ = writeln!(
            out,
            "{} (multi-device)\n  {}",
            members.join(" "),
            case_name(multi_device_case.key())
        );
    }
    if !multi_device_cases.is_empty() {
        out.push('\n');
    }
    let _ = writeln!(out, "{outlook}");
    out
}
