//! `gpubench fit`: models fitted to what runs measured, and judged by launches that no fit saw.

mod counts;

use super::show::{print, warnings, width};
use crate::analyse::fit::{Judged, Launch, Model, judge};
use crate::error::{Error, Result};
use crate::gpu::DeviceInfo;
use crate::record::{Header, Record};
use crate::report::fit::{Report, json, text};
use crate::stats::{Summary, geometric_mean};
use crate::suite::Suite;
use crate::workload::{CaseKey, Measure};
pub(super) use counts::{Kernel, Works};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `gpubench fit`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Result files
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// The suite of the runs, where it is not an embedded one: its kernels are emulated for counts
    #[arg(long, value_name = "FILE")]
    suite: Option<String>,
    /// Print JSON: an array of {device, launches, models, failed}
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    let mut reports = vec![];
    for path in &args.runs {
        let run = crate::store::read(path)?;
        warnings(&run.warnings.iter().map(ToString::to_string).collect::<Vec<_>>());
        let suite = suite(&run.header, args.suite.as_deref(), "--suite")?;
        let mut works = Works::new(&suite);
        for (number, device) in run.header.devices.iter().enumerate() {
            let launches = launches(&run.records, number, &mut works);
            if !launches.is_empty() {
                reports.push(report(device, launches, run.header.seed));
            }
        }
    }
    if reports.is_empty() {
        return Err(Error::Usage("nothing to fit: no kernel is verified in these runs".into()));
    }
    print(&if args.json { json(&reports) } else { text(&reports, width()) })?;
    Ok(ExitCode::SUCCESS)
}

/// The suite that the run was made of, whose kernels are counted; `flag` names its file.
pub(super) fn suite(header: &Header, named: Option<&str>, flag: &str) -> Result<Suite> {
    let references: Vec<_> = crate::reference::names().collect();
    let name = named.unwrap_or(&header.suite);
    if named.is_none() && !crate::suite::suites().contains(&name) {
        return Err(Error::Usage(format!(
            "the run is of the suite `{name}`, which is not embedded: name its file with {flag}"
        )));
    }
    let suite = crate::suite::load(name, &references)?;
    if suite.hash != header.suite_hash {
        return Err(Error::Usage(format!(
            "the suite `{name}` has changed since the run: counts of other kernels would be fitted"
        )));
    }
    Ok(suite)
}

/// Every verified kernel of a device, with the geometric mean of its rounds' medians.
pub(super) fn launches(records: &[Record], device: usize, works: &mut Works) -> Vec<Launch> {
    let mut kernels: BTreeMap<CaseKey, Vec<&Record>> = BTreeMap::new();
    let fits = |r: &&Record| {
        r.device == device
            && matches!(r.key.measure, Measure::Kernel | Measure::Launch)
            && r.outcome.is_ok()
            && !r.flags.iter().any(crate::record::Flag::is_implausible)
    };
    for record in records.iter().filter(fits) {
        kernels.entry(record.key.clone()).or_default().push(record);
    }
    let known: Vec<Kernel> =
        kernels.values().filter_map(|records| Kernel::of(records[0])).collect();
    works.count(&known);
    kernels.into_iter().filter_map(|(key, records)| launch(key, &records, works)).collect()
}

fn launch(key: CaseKey, records: &[&Record], works: &Works) -> Option<Launch> {
    let measured = || records.iter().filter_map(|record| record.measured.as_ref());
    let medians = measured().filter_map(|m| Summary::of(&m.samples)).map(|s| s.median);
    let seconds = geometric_mean(&medians.collect::<Vec<_>>()).filter(|s| *s > 0.0)?;
    let first = measured().next()?;
    let work = works.of(&Kernel::of(records[0])?, first.bytes);
    Some(Launch { key, operations: first.flops, bytes: first.bytes, work, seconds })
}

fn report(device: &DeviceInfo, launches: Vec<Launch>, seed: u64) -> Report {
    let (mut judged, mut failed): (Vec<Judged>, Vec<_>) = (vec![], vec![]);
    for model in Model::ALL {
        match judge(model, &launches, seed) {
            Ok(one) => judged.push(one),
            Err(error) => failed.push((model, error.to_string())),
        }
    }
    Report { device: device.clone(), launches, judged, failed }
}
