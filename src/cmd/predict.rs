//! `gpubench predict`: a suite's times on devices that are not at hand, from what runs tell of them.

use super::fit::{Works, launches, suite};
use super::show::{print, warnings, width};
use crate::analyse::fit::{Judged, Launch, Model, judge};
use crate::error::{Error, Result};
use crate::report::predict::{Foreseen, Prediction, json, text};
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `gpubench predict`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A suite file, or the name of an embedded suite: what to foresee
    #[arg(value_name = "SUITE")]
    suite: String,
    /// Result files of the devices to foresee it on
    #[arg(long = "from", value_name = "RUN", required = true, num_args = 1..)]
    runs: Vec<PathBuf>,
    /// The suite of the runs, where it is not an embedded one
    #[arg(long, value_name = "FILE")]
    runs_suite: Option<String>,
    /// Print JSON: an array of {case, devices: [{device, seconds, within, measured}]}, fastest first
    #[arg(long)]
    json: bool,
}

/// A device that runs tell of.
struct Known {
    name: String,
    judged: Judged,
    launches: Vec<Launch>,
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    let references: Vec<_> = crate::reference::names().collect();
    let mut works = Works::new(&crate::suite::load(&args.suite, &references)?);
    let devices = devices(&args)?;
    let wanted = works.kernels();
    works.count(&wanted.iter().map(|(_, kernel, _)| kernel.clone()).collect::<Vec<_>>());
    let mut predictions = vec![];
    for (key, kernel, bytes) in wanted {
        let Some(work) = works.of(&kernel, bytes) else { continue };
        let launch = Launch { key, operations: 0.0, bytes, work: Some(work), seconds: f64::NAN };
        let mut foreseen: Vec<_> = devices.iter().map(|known| known.foresee(&launch)).collect();
        foreseen.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        predictions.push(Prediction { key: launch.key, foreseen });
    }
    if predictions.is_empty() {
        return Err(Error::Usage(format!(
            "no kernel of the suite `{}` can be counted",
            args.suite
        )));
    }
    print(&if args.json { json(&predictions) } else { text(&predictions, width()) })?;
    Ok(ExitCode::SUCCESS)
}

/// Every device of the runs, with the hybrid fitted to it.
fn devices(args: &Args) -> Result<Vec<Known>> {
    let mut devices = vec![];
    for path in &args.runs {
        let run = crate::store::read(path)?;
        warnings(&run.warnings.iter().map(ToString::to_string).collect::<Vec<_>>());
        let mut works =
            Works::new(&suite(&run.header, args.runs_suite.as_deref(), "--runs-suite")?);
        for (number, device) in run.header.devices.iter().enumerate() {
            let launches = launches(&run.records, number, &mut works);
            let name = format!("{} ({})", device.name, device.backend);
            let judged = judge(Model::Hybrid, &launches, run.header.seed)
                .map_err(|error| Error::Usage(format!("{}: {name}: {error}", path.display())))?;
            devices.push(Known { name, judged, launches });
        }
    }
    Ok(devices)
}

impl Known {
    /// Seconds of a launch, and how far predictions of its kind were off: of another size where the
    /// workload was measured, else of a workload never seen.
    fn foresee(&self, launch: &Launch) -> Foreseen {
        let seen = self.launches.iter().any(|l| l.key.workload == launch.key.workload);
        let score = match seen {
            true => self.judged.size_out.as_ref(),
            false => self.judged.workload_out.as_ref(),
        };
        Foreseen {
            device: self.name.clone(),
            seconds: self.judged.fitted.seconds(launch),
            within: score.map_or(f64::INFINITY, |score| score.within),
            measured: self.launches.iter().find(|l| l.key == launch.key).map(|l| l.seconds),
        }
    }
}
