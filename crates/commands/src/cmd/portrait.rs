//! `gpubench portrait`: what devices can do, in one look.

use super::known::of_run;
use super::report::{chosen_format, formats, source, write};
use super::results;
use super::show::width;
use crate::store::Run;
use gpubench_analysis::rank::Ranking;
use gpubench_analysis::{ReportInput, ReportedDevice, is_same};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::profile::Profile;
use gpubench_core::record::{Header, Record};
use gpubench_report::formats::{Format, Report};
use gpubench_report::portrait::section;
use std::path::PathBuf;

/// Arguments of `gpubench portrait`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Runs of the suites `ceilings` and `characterise`: files, or folders of them
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Only this device, as `opencl:0`; several are shown side by side
    #[arg(long, value_name = "DEVICE")]
    device: Vec<String>,
    /// Where to write (default: standard output)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// In which format (default: what the output's name ends in, else text)
    // Those that show sections as people read them.
    #[arg(long, value_parser = formats(|format| format.ranks))]
    format: Option<&'static Format>,
}

/// Runs the command.
pub fn run(args: Args) -> Result<()> {
    let format = chosen_format(args.format, args.output.as_deref())?;
    let runs = results::open_all(&args.runs)?;
    let input = ReportInput::new(runs.iter().map(source).collect());
    if !args.device.is_empty() {
        let known: Vec<String> =
            input.reported_devices.iter().map(|device| device.label.clone()).collect();
        if let Some(missing) = args.device.iter().find(|wanted| !known.contains(wanted)) {
            let known = known.join(", ");
            return Err(Error::Usage(format!("there is no `{missing}` here, but {known}")));
        }
    }
    let shows =
        |device: &ReportedDevice| args.device.is_empty() || args.device.contains(&device.label);
    let devices = input.reported_devices.iter();
    let profiles: Vec<_> = devices.filter_map(|reported| known(&runs, reported.device)).collect();
    let sections = vec![section(&input, &profiles, shows)];
    let (ranking, compared) = (&Ranking::default(), &[]);
    let report = Report { input: &input, sections, ranking, compared, width: width() };
    write(format, &format.text(&report), args.output.as_deref())
}

/// What all runs show of a device, whichever of them measured it and in whatever order they are named.
fn known(runs: &[Run], device: &DeviceInfo) -> Option<Profile> {
    let mut records: Vec<Record> = vec![];
    for run in runs {
        for (number, _) in run.header.devices.iter().enumerate().filter(|(_, d)| is_same(d, device))
        {
            let own = run.records.iter().filter(|record| record.device == number);
            records.extend(own.map(|record| Record { device: 0, ..record.clone() }));
        }
    }
    let latest = runs.iter().max_by(|a, b| a.header.started.cmp(&b.header.started))?;
    let header = Header { devices: vec![device.clone()], ..latest.header.clone() };
    of_run(&header, &records).pop()
}
