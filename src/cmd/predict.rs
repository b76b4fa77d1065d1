//! `gpubench predict`: a suite's times on devices that are not at hand, from what runs or profiles
//! tell of them.

use super::fit::{Kernel, Wanted, Works, by, kernels, launches, seconds};
use super::known::{Profiles, of_run, suite};
use super::results;
use super::show::{print, warnings, width};
use crate::analyse::fit::{Counted, Device, End, Fitted, Judged, Launch, Model, View, judge};
use crate::emulate::Rules;
use crate::error::{Error, Result};
use crate::gpu::DeviceInfo;
use crate::record::profile::Profile;
use crate::report::predict::{Foreseen, Prediction, json, text};
use crate::report::progress::say;
use crate::store::Run;
use crate::workload::CaseKey;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `gpubench predict`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A suite file, or the name of an embedded suite: what to foresee
    #[arg(value_name = "SUITE")]
    suite: String,
    /// Runs of kernels on the devices to foresee it on: the hybrid is fitted to them
    #[arg(long = "from", value_name = "RUN", num_args = 1.., required_unless_present = "profiles")]
    runs: Vec<PathBuf>,
    /// Profiles of the devices to foresee it on: of `gpubench profile --json`, runs or baselines
    /// of the suite `characterise`, or descriptions of simulated GPUs (`.yaml`)
    #[arg(long = "profile", value_name = "PROFILE", num_args = 1..)]
    profiles: Vec<PathBuf>,
    /// Runs of the suite on those devices, whose times are set beside
    #[arg(long, value_name = "RUN", num_args = 1..)]
    measured: Vec<PathBuf>,
    /// What foresees from profiles
    #[arg(long, value_enum, value_name = "MODEL", default_value_t = Theory::Components)]
    model: Theory,
    /// The suite of the runs, where it is not an embedded one
    #[arg(long, value_name = "FILE")]
    runs_suite: Option<String>,
    /// Print JSON: {cases: [{case, devices: [{device, seconds, interval, measured}], penalty,
    /// relative_error}], summary}, fastest first
    #[arg(long)]
    json: bool,
}

/// The models that a profile is enough for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Theory {
    /// Model 3: arithmetic or memory, at their best
    Roofline,
    /// Model 4: warps that hide each other's latency
    WarpTimeline,
    /// Model 5: how many warps compute and load at once
    ParallelDegrees,
    /// Model 6: instructions, global or local memory, whichever takes longest
    Components,
}

impl Theory {
    fn model(self) -> Model {
        match self {
            Self::Roofline => Model::Roofline,
            Self::WarpTimeline => Model::WarpTimeline,
            Self::ParallelDegrees => Model::ParallelDegrees,
            Self::Components => Model::Components,
        }
    }
}

/// A device, and what foresees times on it.
struct Known {
    name: String,
    rules: Rules,
    foreteller: Foreteller,
    /// What was measured there.
    measured: BTreeMap<CaseKey, f64>,
}

enum Foreteller {
    /// The hybrid, fitted to runs.
    Hybrid(Box<Judged>, Option<Box<Device>>),
    /// A model without fit, at the fast end of a profile's intervals, the middle and the slow end.
    Profile(Box<[(Fitted, Device); 3]>),
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    let references: Vec<_> = crate::reference::names().collect();
    let suite = crate::suite::load(&args.suite, &references)?;
    let mut works = Works::new(&suite, 1);
    let profiles = Profiles::of(&args.profiles)?;
    let mut times = Times::default();
    profiles.runs.iter().for_each(|run| times.add(run));
    for path in results::files(&args.measured)? {
        times.add(&whole(&path)?);
    }
    let mut devices = fitted(&args, &profiles, &mut times)?;
    devices.extend(profiled(&args, &profiles, &times)?);
    let wanted = works.kernels();
    let kernels: Vec<Kernel> = wanted.iter().map(|wanted| wanted.kernel.clone()).collect();
    works.count(&kernels, &devices.iter().map(|device| device.rules).collect::<Vec<_>>());
    let predictions = predictions(&devices, &wanted, &works);
    if predictions.is_empty() {
        let why = format!("no kernel of the suite `{}` can be foreseen", args.suite);
        return Err(Error::Usage(why));
    }
    print(&if args.json { json(&predictions) } else { text(&predictions, width()) })?;
    Ok(ExitCode::SUCCESS)
}

fn whole(path: &Path) -> Result<Run> {
    let run = crate::store::read(path)?;
    warnings(&run.warnings.iter().map(ToString::to_string).collect::<Vec<_>>());
    Ok(run)
}

/// Every kernel on every device that it can be foreseen on; the others are said.
fn predictions(devices: &[Known], wanted: &[Wanted], works: &Works) -> Vec<Prediction> {
    let mut left_out: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut predictions = vec![];
    for one in wanted {
        let mut foreseen = vec![];
        for known in devices {
            let told = works.of(&one.kernel, known.rules);
            match told.and_then(|counted| known.foresee(one, counted)) {
                Ok(time) => foreseen.push(time),
                Err(why) => *left_out.entry((one.key.workload.clone(), why)).or_default() += 1,
            }
        }
        foreseen.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        if !foreseen.is_empty() {
            predictions.push(Prediction { key: one.key.clone(), foreseen });
        }
    }
    for ((workload, why), times) in left_out {
        say(&format!("{workload}: left out ({times} ×): {why}"));
    }
    predictions
}

/// Every device of the runs, with the hybrid fitted to it.
fn fitted(args: &Args, profiles: &Profiles, times: &mut Times) -> Result<Vec<Known>> {
    let mut devices = vec![];
    for path in &args.runs {
        let run = whole(path)?;
        times.add(&run);
        let suite = suite(&run.header, args.runs_suite.as_deref(), "--runs-suite")?;
        let mut works = Works::new(&suite, run.header.seed);
        let own = of_run(&run.header, &run.records);
        for (number, device) in run.header.devices.iter().enumerate() {
            let is_it = |profile: &&Profile| {
                profile.device.index == device.index && profile.device.backend == device.backend
            };
            let profile = own.iter().find(is_it).or_else(|| profiles.find(device));
            let priced = profile.and_then(|profile| Device::new(profile, End::Middle).ok());
            let rules = by(profile);
            let launches = launches(&run.records, number, &mut works, rules);
            let name = format!("{} ({})", device.name, device.backend);
            let judged = judge(Model::Hybrid, &launches, priced.as_ref(), run.header.seed)
                .map_err(|error| Error::Usage(format!("{}: {name}: {error}", path.display())))?;
            let foreteller = Foreteller::Hybrid(Box::new(judged), priced.map(Box::new));
            let measured = times.of(device);
            devices.push(Known { name, rules, foreteller, measured });
        }
    }
    Ok(devices)
}

/// Every device of the profiles.
fn profiled(args: &Args, profiles: &Profiles, times: &Times) -> Result<Vec<Known>> {
    let known = |profile: &Profile| {
        let at = |end: End| {
            let device = Device::new(profile, end)?;
            Ok((args.model.model().unfitted(&device)?, device))
        };
        let ends = [at(End::Fast)?, at(End::Middle)?, at(End::Slow)?];
        let device = &profile.device;
        Ok(Known {
            name: format!("{} ({})", device.name, device.backend),
            rules: by(Some(profile)),
            foreteller: Foreteller::Profile(Box::new(ends)),
            measured: times.of(device),
        })
    };
    profiles.all.iter().map(known).collect()
}

/// What runs measured, by device and case.
#[derive(Default)]
struct Times(BTreeMap<[String; 3], BTreeMap<CaseKey, f64>>);

impl Times {
    fn device(device: &DeviceInfo) -> [String; 3] {
        [&device.backend, &device.vendor, &device.name].map(String::clone)
    }

    fn add(&mut self, run: &Run) {
        for (number, device) in run.header.devices.iter().enumerate() {
            let times = self.0.entry(Self::device(device)).or_default();
            let all = kernels(&run.records, number).into_iter();
            times.extend(all.filter_map(|(key, records)| Some((key, seconds(&records)?))));
        }
    }

    fn of(&self, device: &DeviceInfo) -> BTreeMap<CaseKey, f64> {
        self.0.get(&Self::device(device)).cloned().unwrap_or_default()
    }
}

impl Known {
    /// Seconds of a kernel and an interval.
    fn foresee(&self, wanted: &Wanted, counted: Counted) -> std::result::Result<Foreseen, String> {
        let launch = Launch {
            key: wanted.key.clone(),
            operations: wanted.operations,
            bytes: wanted.bytes,
            counted: Some(counted),
            seconds: f64::NAN,
        };
        let (seconds, interval, with) = match &self.foreteller {
            Foreteller::Hybrid(judged, device) => {
                self.by_runs(&launch, judged, device.as_deref())?
            }
            Foreteller::Profile(ends) => {
                let mut times = [0.0; 3];
                for (time, (fitted, device)) in times.iter_mut().zip(ends.iter()) {
                    let view = View::new(fitted.model, &launch, Some(device));
                    let view = view.map_err(|error| error.to_string())?;
                    *time = fitted.seconds(&launch.key.workload, &view);
                }
                (times[1], [times[0], times[2]], ends[1].0.model)
            }
        };
        let measured = self.measured.get(&launch.key).copied();
        Ok(Foreseen { device: self.name.clone(), model: with, seconds, interval, measured })
    }

    /// The hybrid's time, and how far its predictions of this kind were off: of another size where
    /// the workload was measured, else of a workload never seen.
    fn by_runs(
        &self,
        launch: &Launch,
        judged: &Judged,
        device: Option<&Device>,
    ) -> std::result::Result<(f64, [f64; 2], Model), String> {
        let seen = self.measured.keys().any(|key| key.workload == launch.key.workload);
        let score = if seen { &judged.size_out } else { &judged.workload_out };
        let within = score.as_ref().map_or(f64::INFINITY, |score| score.within);
        let view = View::new(judged.model, launch, device).map_err(|error| error.to_string())?;
        let seconds = judged.fitted.seconds(&launch.key.workload, &view);
        Ok((seconds, [seconds / within, seconds * within], judged.model))
    }
}
