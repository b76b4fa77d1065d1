//! `gpubench fit`: models fitted to what runs measured, and evaluated on launches that no fit saw.

mod times;

use super::known::{Profiles, of_run, suite};
use super::results;
use super::show::{print, text};
use crate::cmd::require_threads;
use crate::kernel_counts::KernelCounts;
use gpubench_analysis::fit::{Device, End, Launch, Model, evaluate, rules};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::profile::Profile;
use gpubench_core::record::{Header, Record};
use gpubench_emulator::Rules;
use gpubench_report::fit::{Report, json, section, short};
use gpubench_suite::Suite;
use std::path::PathBuf;
pub(super) use times::{has_kernels, kernels, launches};

/// Arguments of `gpubench fit`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Result files, or folders of them
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
    /// failed, picks}
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: Args) -> Result<()> {
    require_threads()?;
    let runs = results::open_all(&args.runs)?;
    let mut profiles = Profiles::of(&args.profiles)?;
    for run in &runs {
        profiles.add(&run.header, &run.records);
    }
    let mut reports = vec![];
    for run in &runs {
        // A run that only characterises is there for its profile.
        if !has_kernels(&run.records) {
            continue;
        }
        let Some((suite, records)) = suite(run, args.suite.as_deref(), "--suite")? else {
            continue;
        };
        let own = of_run(&run.header, &run.records);
        reports.extend(reported(&suite, &run.header, &records, (&own, &profiles)));
    }
    if reports.is_empty() {
        return Err(Error::Usage(
            "nothing to fit: no kernel is verified in the runs that are used".into(),
        ));
    }
    print(&if args.json { json(&reports) } else { text(&section(&reports)) })
}

/// What a run's own profile and kernels show, in a few lines; nothing where it has not both, or
/// too few sizes.
pub(super) fn short_summary(suite: &Suite, header: &Header, records: &[Record]) -> String {
    let mut profiles = Profiles::default();
    match profiles.add(header, records) {
        0 => String::new(),
        _ => short(&reported(suite, header, records, (&of_run(header, records), &profiles))),
    }
}

/// What models make of every device of a run on which kernels were measured, with its profile of the run's own or of
/// others.
pub(super) fn reported(
    suite: &Suite,
    header: &Header,
    records: &[Record],
    (own, others): (&[Profile], &Profiles),
) -> Vec<Report> {
    let mut kernel_counts = KernelCounts::new(suite, header.seed);
    let devices = header.devices.iter().enumerate();
    let reports = devices.map(|(number, device)| {
        let profile = others.find(own, device);
        let launches = launches(records, (number, device), &mut kernel_counts, by(profile, device));
        report(device, profile, launches, header.seed)
    });
    reports.filter(|report| !report.launches.is_empty()).collect()
}

/// By what the kernels of the device are counted: what its profile found, else what its driver says of warps.
pub(super) fn by(profile: Option<&Profile>, device: &DeviceInfo) -> Rules {
    let usual = Rules::default();
    let reported = || Rules { warp: device.warp().unwrap_or(usual.warp), ..usual };
    profile.map_or_else(reported, rules)
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
    let (mut evaluations, mut failed) = (vec![], vec![]);
    for model in Model::ALL {
        match evaluate(model, &launches, profiled.as_ref(), seed) {
            Ok(one) => evaluations.push(one),
            Err(error) => {
                let missing = why.clone().filter(|_| model.needs_profile);
                failed.push((model, missing.unwrap_or_else(|| error.to_string())));
            }
        }
    }
    Report { device: device.clone(), profiled, launches, evaluations, failed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample;

    #[test]
    fn without_a_profile_kernels_are_counted_by_the_drivers_warps() {
        let warp = |subgroup| by(None, &DeviceInfo { subgroup, ..sample::device("vulkan") }).warp;
        assert_eq!([warp(Some([8, 8])), warp(Some([32, 64])), warp(None)], [8, 64, 32]);
    }
}
