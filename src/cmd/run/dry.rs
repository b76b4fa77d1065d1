//! What a run would do, without doing it.

use super::cases::Cases;
use super::pace::Share;
use super::together::Joint;
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::Outcome;
use gpubench_core::text::{counted, printable};
use gpubench_core::units::{self, Bytes};
use gpubench_core::workload::CaseKey;
use gpubench_plan::{Case, Limits, estimate, keys};
use gpubench_report::terminal::{case_name, label};
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

/// Cases, memory, estimated time and refusals of each device, for `--dry-run`.
pub fn describe(
    devices: &[DeviceInfo],
    (cases, joints): (&[Cases], &[Joint]),
    limits: &Limits,
    rounds: u32,
    share: Share,
    total: Option<f64>,
) -> String {
    let mut out = String::new();
    let (mut least, mut most) = (0.0, 0.0);
    // What is expected of a case is computed by the first device that runs it, for all.
    let mut references: BTreeMap<&CaseKey, f64> = BTreeMap::new();
    for (device, cases) in devices.iter().zip(cases) {
        let _ = writeln!(out, "{}  {}", label(device), printable(&device.name, 60));
        for case in &cases.run {
            let estimate = estimate(case, device, limits.cores);
            least += estimate.each();
            most += estimate.each() + share.warmup + share.seconds;
            references.insert(&case.key, estimate.reference);
            let forms = match case.candidates.len() {
                0 | 1 => String::new(),
                n => format!(", {n} forms"),
            };
            let name = case_name(&case.key);
            let _ = writeln!(out, "  {name}  ({} on the device{forms})", memory(case));
        }
        let mut refused: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for record in &cases.refused {
            if let Outcome::Unsupported(reason) = &record.outcome {
                refused.entry(reason).or_default().push(case_name(&record.key));
            }
        }
        for (reason, names) in refused {
            let _ = writeln!(out, "  refused: {}", printable(reason, 200));
            for name in names {
                let _ = writeln!(out, "    {name}");
            }
        }
        out.push('\n');
    }
    for joint in joints {
        let members: Vec<String> = joint.members.iter().map(|&at| label(&devices[at])).collect();
        let _ = writeln!(out, "{} together\n  {}", members.join(" "), case_name(joint.key()));
        most += share.warmup + share.seconds;
    }
    if !joints.is_empty() {
        out.push('\n');
    }
    let runs = cases.iter().map(|c| c.run.len()).sum::<usize>() + joints.len();
    let refused: usize = cases.iter().map(|c| c.refused.len()).sum();
    let once = references.values().sum::<f64>();
    let most = total.map_or(f64::INFINITY, f64::from).min(once + most * f64::from(rounds));
    let least = (once + least * f64::from(rounds)).min(most);
    let _ = writeln!(
        out,
        "{} in {}, {refused} refused; estimated time: {} to {}",
        counted(runs, "case"),
        counted(rounds as usize, "round"),
        units::seconds(least),
        units::seconds(most)
    );
    out
}

fn memory(case: &Case) -> Bytes {
    Bytes(case.buffers.iter().map(|buffer| buffer.bytes().0).sum())
}
