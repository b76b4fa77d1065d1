//! `gpubench predict`: a suite's times on devices that are not at hand, from what runs or profiles
//! describe them.

use super::choice::{Choice, one_of};
use super::emulate::limit;
use super::fit::{by, has_kernels, kernels, launches};
use super::known::{Profiles, is_same, likely, of_run, suite};
use super::require_threads;
use super::results;
use super::show::{print, text};
use crate::kernel_counts::{Kernel, KernelCounts, Wanted};
use clap::ArgGroup;
use gpubench_analysis::fit::{
    Bound, Counted, Device, End, Evaluation, Launch, Model, PredictedTime, Profiled, View, evaluate,
};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::profile::Profile;
use gpubench_core::record::{Header, Record};
use gpubench_core::workload::CaseKey;
use gpubench_emulator::Rules;
use gpubench_experiments::registry::is_probe;
use gpubench_report::predict::{DevicePrediction, Prediction, json, section};
use gpubench_report::progress::say;
use gpubench_report::selection;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `gpubench predict`.
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("devices").args(["runs", "profiles"]).required(true).multiple(true))]
pub struct Args {
    /// A suite file, or the name of an embedded suite: what to predict
    #[arg(value_name = "SUITE")]
    suite: String,
    /// Runs of kernels on the devices to predict it on, or folders of them: the hybrid is fitted to them
    #[arg(long = "from", value_name = "RUN", num_args = 1..)]
    runs: Vec<PathBuf>,
    /// Profiles of the devices to predict it on: of `gpubench profile --json`, runs or baselines
    /// of the suite `characterise`, or descriptions of simulated GPUs (`.yaml`)
    #[arg(long = "profile", value_name = "PROFILE", num_args = 1..)]
    profiles: Vec<PathBuf>,
    /// Runs of the suite on those devices, or folders of them, whose times are shown, too
    #[arg(long, value_name = "RUN", num_args = 1..)]
    measured: Vec<PathBuf>,
    /// What predicts from profiles
    #[arg(long, value_parser = one_of(profile_models()), value_name = "MODEL", default_value = Model::COMPONENTS.id)]
    model: Model,
    /// The suite of the runs, where it is not an embedded one
    #[arg(long, value_name = "FILE")]
    runs_suite: Option<String>,
    /// Show times relative to the fastest device's, what bounds each kernel, the device picked at
    /// each, and what picking it costs
    #[arg(long)]
    relative: bool,
    /// Emulate every group of each kernel, too, and show what that predicts: how far one group is off
    #[arg(long, conflicts_with_all = ["runs", "relative"])]
    grid: bool,
    /// Longest that one kernel may take with --grid; what takes longer has no such time
    #[arg(long, value_name = "SECONDS", value_parser = limit, default_value = "60", requires = "grid")]
    limit: Duration,
    /// Print JSON: {cases: [{case, devices: [{device, model, seconds, interval, bound, measured,
    /// fitted, grid_seconds}], picked, best, penalty, relative_error}], summary}, fastest first
    #[arg(long, conflicts_with = "relative")]
    json: bool,
}

/// The models that a profile is enough for.
fn profile_models() -> impl Iterator<Item = Choice<Model>> {
    Model::ALL.into_iter().filter_map(|model| Some((model.id, model.about?, model)))
}

/// A device, and what predicts times on it.
struct Known {
    name: String,
    rules: Rules,
    predictor: Predictor,
    /// The cases that it was fitted to: no measure of how well it predicts.
    fitted_to: BTreeMap<CaseKey, Result<Counted, String>>,
    /// Seconds that were measured there, and the number of the measured device: several may be predicted in its place.
    measured: Option<(usize, BTreeMap<CaseKey, f64>)>,
}

enum Predictor {
    /// The hybrid, fitted to runs.
    Hybrid(Box<Evaluation>, Option<Box<Device>>),
    /// A model without fit, at the fast end of a profile's intervals, the middle and the slow end.
    Profile(Box<[Profiled; 3]>),
}

/// Runs the command.
pub fn run(args: Args) -> Result<()> {
    require_threads()?;
    if args.grid && args.model != Model::COMPONENTS {
        let why = "--grid: one group and all of them are compared by the model `components` alone";
        return Err(Error::Usage(why.into()));
    }
    let suite = gpubench_experiments::load(&args.suite)?;
    let mut kernel_counts = KernelCounts::new(&suite, 1);
    let profiles = Profiles::of(&args.profiles)?;
    let mut times = Times::default();
    profiles.runs.iter().for_each(|run| times.add(&run.header, &run.records));
    for run in results::open_all(&args.measured)? {
        times.add(&run.header, &run.records);
    }
    let mut devices = fitted(&args, &profiles, &mut times)?;
    devices.extend(profiled(&args, &profiles, &times)?);
    number_equal_names(&mut devices);
    let wanted = kernel_counts.kernels();
    let kernels: Vec<Kernel> = wanted.iter().map(|wanted| wanted.kernel.clone()).collect();
    let rules: Vec<Rules> = devices.iter().map(|device| device.rules).collect();
    kernel_counts.count(&kernels, &rules);
    let mut predictions = predictions(&devices, &wanted, &kernel_counts);
    if args.grid {
        let mut whole_grids = kernel_counts.of_whole_grids(args.limit);
        whole_grids.count(&kernels, &rules);
        add_whole_grids(&mut predictions, &devices, &wanted, &whole_grids);
    }
    if predictions.is_empty() {
        let why = format!("no kernel of the suite `{}` can be predicted", args.suite);
        return Err(Error::Usage(why));
    }
    print(&match (args.json, args.relative) {
        (true, _) => json(&predictions),
        (_, true) => text(&selection::section(&predictions)),
        _ => text(&section(&predictions)),
    })
}

/// Every kernel on every device that it can be predicted on; the others are reported.
fn predictions(
    devices: &[Known],
    wanted: &[Wanted],
    kernel_counts: &KernelCounts,
) -> Vec<Prediction> {
    let mut skipped: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut predictions = vec![];
    for one in wanted {
        let mut per_device = vec![];
        for known in devices {
            let counted = kernel_counts.of(&one.kernel, known.rules);
            match counted.and_then(|counted| known.predict(one, counted)) {
                Ok(time) => per_device.push(time),
                Err(why) => *skipped.entry((one.key().workload.clone(), why)).or_default() += 1,
            }
        }
        per_device.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        if !per_device.is_empty() {
            predictions.push(Prediction { key: one.key().clone(), per_device });
        }
    }
    for ((workload, why), times) in skipped {
        say(&format!("{workload}: skipped ({times} ×): {why}"));
    }
    predictions
}

/// Adds what counts of all groups predict; what could not be emulated whole is reported.
fn add_whole_grids(
    predictions: &mut [Prediction],
    devices: &[Known],
    wanted: &[Wanted],
    whole_grids: &KernelCounts,
) {
    for prediction in predictions {
        let Some(one) = wanted.iter().find(|one| *one.key() == prediction.key) else { continue };
        let mut skipped = None;
        for known in devices {
            let name = &known.name;
            let per_device = prediction.per_device.iter_mut().find(|one| one.device == *name);
            let Some(predicted) = per_device else { continue };
            let counted = whole_grids.of(&one.kernel, known.rules);
            match counted.and_then(|counted| known.predict(one, counted)) {
                Ok(time) => predicted.grid_seconds = Some(time.seconds),
                Err(why) => skipped = Some(why),
            }
        }
        if let Some(why) = skipped {
            say(&format!("{}: not emulated whole: {why}", prediction.key));
        }
    }
}

/// Every device of the runs, with the hybrid fitted to it.
fn fitted(args: &Args, profiles: &Profiles, times: &mut Times) -> Result<Vec<Known>> {
    let mut devices = vec![];
    let runs = results::open_all(&args.runs)?;
    let mut usable = vec![];
    // A run that only characterises is there for its profile.
    for run in runs.iter().filter(|run| has_kernels(&run.records)) {
        let found = suite(run, args.runs_suite.as_deref(), "--runs-suite")?;
        usable.extend(found.map(|(suite, records)| (run, suite, records)));
    }
    usable.iter().for_each(|(run, _, records)| times.add(&run.header, records));
    for (run, suite, records) in usable {
        let mut kernel_counts = KernelCounts::new(&suite, run.header.seed);
        let own = of_run(&run.header, &run.records);
        for (number, device) in run.header.devices.iter().enumerate() {
            let profile = profiles.find(&own, device);
            let priced = profile.and_then(|profile| Device::new(profile, End::Middle).ok());
            let rules = by(profile, device);
            let launches = launches(&records, (number, device), &mut kernel_counts, rules);
            let name = format!("{} ({})", device.name, device.backend);
            if launches.is_empty() {
                say(&format!("skipped: {name}: {} has no kernel to fit to", run.path.display()));
                continue;
            }
            let evaluation = evaluate(Model::HYBRID, &launches, priced.as_ref(), run.header.seed)
                .map_err(|error| {
                Error::Usage(format!("{}: {name}: {error}", run.path.display()))
            })?;
            let predictor = Predictor::Hybrid(Box::new(evaluation), priced.map(Box::new));
            let fitted_to =
                launches.into_iter().map(|launch| (launch.key, launch.counted)).collect();
            let measured = times.of(device);
            devices.push(Known { name, rules, predictor, fitted_to, measured });
        }
    }
    Ok(devices)
}

/// Every device of the profiles.
fn profiled(args: &Args, profiles: &Profiles, times: &Times) -> Result<Vec<Known>> {
    let known = |profile: &Profile| {
        let at = |end: End| Profiled::new(args.model, profile, end);
        let ends = [at(End::Fast)?, at(End::Middle)?, at(End::Slow)?];
        let device = &profile.device;
        Ok(Known {
            name: format!("{} ({})", device.name, device.backend),
            rules: by(Some(profile), device),
            predictor: Predictor::Profile(Box::new(ends)),
            fitted_to: BTreeMap::new(),
            measured: times.of(device),
        })
    };
    profiles.all.iter().map(known).collect()
}

/// What runs measured, by device and case.
#[derive(Default)]
struct Times(Vec<(DeviceInfo, BTreeMap<CaseKey, f64>)>);

impl Times {
    fn add(&mut self, header: &Header, records: &[Record]) {
        for (number, device) in header.devices.iter().enumerate() {
            let all = kernels(records, number).into_iter();
            let times = all.filter_map(|case| Some((case.key.clone(), case.time?.value)));
            let known = self.0.iter_mut().find(|(known, _)| is_same(known, device));
            match known {
                Some((_, known)) => known.extend(times),
                None => self.0.push((device.clone(), times.collect())),
            }
        }
    }

    /// Those of a device, with their number.
    fn of(&self, device: &DeviceInfo) -> Option<(usize, BTreeMap<CaseKey, f64>)> {
        let all = self.0.iter().zip(0..).map(|((device, times), n)| (device, (n, times)));
        likely(all, device).map(|(number, times)| (number, times.clone()))
    }
}

/// Numbers those devices that bear one name.
fn number_equal_names(devices: &mut [Known]) {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for device in devices.iter() {
        *count.entry(device.name.clone()).or_default() += 1;
    }
    count.retain(|_, count| *count > 1);
    for device in devices.iter_mut().rev() {
        if let Some(number) = count.get_mut(&device.name) {
            device.name += &format!(" #{number}");
            *number -= 1;
        }
    }
}

/// Seconds, an interval where one is known, what bounds them, and what predicted them.
type Estimate = (f64, Option<[f64; 2]>, Option<Bound>, Model);

impl Known {
    /// Seconds of a kernel, an interval, and what bounds it.
    fn predict(&self, wanted: &Wanted, counted: Counted) -> Result<DevicePrediction, String> {
        let launch = wanted.launch(counted);
        if matches!(self.predictor, Predictor::Profile(_)) && is_probe(&launch.key) {
            return Err("its time is part of the profile".into());
        }
        let (seconds, interval, bound, model) = match &self.predictor {
            Predictor::Hybrid(evaluation, device) => {
                self.by_runs(&launch, evaluation, device.as_deref())?
            }
            Predictor::Profile(ends) => {
                let mut times = vec![];
                for end in ends.iter() {
                    times.push(end.predict(&launch).map_err(|error| error.to_string())?);
                }
                // A model need not be slower where every cost is: slow memory occupies fewer warps.
                let low = times.iter().map(|one| one.seconds).fold(f64::INFINITY, f64::min);
                let high = times.iter().map(|one| one.seconds).fold(0.0, f64::max);
                let PredictedTime { seconds, bound } = times[1];
                (seconds, Some([low, high]), Some(bound), ends[1].model())
            }
        };
        let (source, measured) =
            self.measured.as_ref().map(|(number, times)| (*number, times)).unzip();
        Ok(DevicePrediction {
            device: self.name.clone(),
            model,
            seconds,
            interval,
            bound,
            measured: measured.and_then(|times| times.get(&launch.key)).copied(),
            source,
            fitted: self.fitted_to.get(&launch.key) == Some(&launch.counted),
            grid_seconds: None,
        })
    }

    /// The hybrid's time, and how far its predictions of this kind were off: of another size where
    /// its kernel was measured, else of a workload never seen.
    fn by_runs(
        &self,
        launch: &Launch,
        evaluation: &Evaluation,
        device: Option<&Device>,
    ) -> Result<Estimate, String> {
        let seen = evaluation.fitted.factors.contains_key(&launch.kernel);
        let score =
            if seen { &evaluation.leave_one_size_out } else { &evaluation.leave_one_workload_out };
        let view =
            View::new(evaluation.model, launch, device).map_err(|error| error.to_string())?;
        let seconds = evaluation.fitted.seconds(&launch.kernel, &view);
        let bound = evaluation.bound(launch, device).map(|(bound, _)| bound);
        let within =
            score.as_ref().and_then(|score| score.within).filter(|within| within.is_finite());
        let interval = within.map(|within| [seconds / within, seconds * within]);
        Ok((seconds, interval, bound, evaluation.model))
    }
}
