//! `gpubench fit`: models fitted to what runs measured, and judged by launches that no fit saw.

mod counts;

use super::known::{Profiles, of_run, suite};
use super::show::{print, warnings, width};
use crate::analyse::fit::{Device, End, Launch, Model, judge, rules};
use crate::emulate::Rules;
use crate::error::{Error, Result};
use crate::gpu::DeviceInfo;
use crate::record::profile::Profile;
use crate::record::{Header, Record};
use crate::report::fit::{Report, json, short, text};
use crate::stats::{Summary, geometric_mean};
use crate::suite::Suite;
use crate::workload::{CaseKey, Measure};
pub(super) use counts::{Kernel, Wanted, Works};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `gpubench fit`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Result files
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Profiles of the devices, where the runs have none: of `gpubench profile --json`, or runs
    /// of the suite `characterise`
    #[arg(long = "profile", value_name = "PROFILE", num_args = 1..)]
    profiles: Vec<PathBuf>,
    /// The suite of the runs, where it is not an embedded one: its kernels are emulated for counts
    #[arg(long, value_name = "FILE")]
    suite: Option<String>,
    /// Print JSON: an array of {device, backend, launches, uncounted, profile, best, models, bounds,
    /// failed}
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    let mut runs = vec![];
    for path in &args.runs {
        let run = crate::store::read(path)?;
        warnings(&run.warnings.iter().map(ToString::to_string).collect::<Vec<_>>());
        runs.push(run);
    }
    let mut profiles = Profiles::of(&args.profiles)?;
    for run in &runs {
        profiles.add(&run.header, &run.records);
    }
    let mut reports = vec![];
    for run in &runs {
        // A run that only characterises is there for its profile.
        if !run.records.iter().any(is_kernel) {
            continue;
        }
        let suite = suite(&run.header, args.suite.as_deref(), "--suite")?;
        reports.extend(reported(&suite, &run.header, &run.records, &profiles));
    }
    if reports.is_empty() {
        return Err(Error::Usage("nothing to fit: no kernel is verified in these runs".into()));
    }
    print(&if args.json { json(&reports) } else { text(&reports, width()) })?;
    Ok(ExitCode::SUCCESS)
}

/// What a run's own profile and kernels tell, in a few lines; nothing where it has not both, or
/// too few sizes.
pub(super) fn short_form(suite: &Suite, header: &Header, records: &[Record]) -> String {
    let mut profiles = Profiles::default();
    match profiles.add(header, records) {
        0 => String::new(),
        _ => short(&reported(suite, header, records, &profiles)),
    }
}

/// What models make of every device of a run on which kernels were measured.
pub(super) fn reported(
    suite: &Suite,
    header: &Header,
    records: &[Record],
    profiles: &Profiles,
) -> Vec<Report> {
    let mut works = Works::new(suite, header.seed);
    let own = of_run(header, records);
    let devices = header.devices.iter().enumerate();
    let reports = devices.map(|(number, device)| {
        let profile = profiles.find(&own, device);
        let launches = launches(records, number, &mut works, by(profile));
        report(device, profile, launches, header.seed)
    });
    reports.filter(|report| !report.launches.is_empty()).collect()
}

/// By what the kernels of the device are counted.
pub(super) fn by(profile: Option<&Profile>) -> Rules {
    profile.map(rules).unwrap_or_default()
}

/// Whether it is a kernel's time that models are fitted to. What `measure: launch` times is an empty
/// launch from call to end: no kernel.
fn is_kernel(record: &Record) -> bool {
    record.key.measure == Measure::Kernel
        && record.outcome.is_ok()
        && !record.flags.iter().any(crate::record::Flag::is_implausible)
}

/// Every verified kernel of a device, with the geometric mean of its rounds' medians.
pub(super) fn launches(
    records: &[Record],
    device: usize,
    works: &mut Works,
    rules: Rules,
) -> Vec<Launch> {
    let kernels = kernels(records, device);
    let known: Vec<Kernel> =
        kernels.values().filter_map(|records| Kernel::of(records[0])).collect();
    works.count(&known, &[rules]);
    kernels.into_iter().filter_map(|(key, records)| launch(key, &records, works, rules)).collect()
}

/// The verified records of a device's kernels.
pub(super) fn kernels(records: &[Record], device: usize) -> BTreeMap<CaseKey, Vec<&Record>> {
    let mut kernels: BTreeMap<CaseKey, Vec<&Record>> = BTreeMap::new();
    for record in records.iter().filter(|r| r.device == device && is_kernel(r)) {
        kernels.entry(record.key.clone()).or_default().push(record);
    }
    kernels
}

/// The geometric mean of the records' medians.
pub(super) fn seconds(records: &[&Record]) -> Option<f64> {
    let measured = records.iter().filter_map(|record| record.measured.as_ref());
    let medians = measured.filter_map(|m| Summary::of(&m.samples)).map(|s| s.median);
    geometric_mean(&medians.collect::<Vec<_>>()).filter(|s| *s > 0.0)
}

fn launch(key: CaseKey, records: &[&Record], works: &Works, rules: Rules) -> Option<Launch> {
    let seconds = seconds(records)?;
    let first = records.iter().find_map(|record| record.measured.as_ref())?;
    let kernel = Kernel::of(records[0])?;
    let (counted, passes) = (works.of(&kernel, rules), works.passes(&kernel));
    Some(Launch { key, passes, operations: first.flops, bytes: first.bytes, counted, seconds })
}

fn report(
    device: &DeviceInfo,
    profile: Option<&Profile>,
    launches: Vec<Launch>,
    seed: u64,
) -> Report {
    let (profiled, why) = match profile.map(|profile| Device::new(profile, End::Middle)) {
        Some(Ok(device)) => (Some(device), None),
        Some(Err(error)) => (None, Some(error.to_string())),
        None => (None, None),
    };
    let (mut judged, mut failed) = (vec![], vec![]);
    for model in Model::ALL {
        match judge(model, &launches, profiled.as_ref(), seed) {
            Ok(one) => judged.push(one),
            Err(error) => {
                let lacks = why.clone().filter(|_| model.needs_profile());
                failed.push((model, lacks.unwrap_or_else(|| error.to_string())));
            }
        }
    }
    Report { device: device.clone(), profiled, launches, judged, failed }
}
