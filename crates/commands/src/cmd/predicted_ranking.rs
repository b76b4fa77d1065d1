//! What model 6 predicts of a ranking's common cases, from profiles of the ranked devices alone.

use super::known::{Profiles, may_be};
use crate::kernel_counts::{KernelCounts, Wanted};
use gpubench_analysis::ResultMatrix;
use gpubench_analysis::fit::{End, Model, Profiled};
use gpubench_analysis::rank::{DeviceTimes, Options, PredictedRanking, Ranking, predict_ranking};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::profile::Profile;
use gpubench_core::workload::{CaseKey, Kind};
use gpubench_experiments::registry::is_probe;
use gpubench_report::progress::say;
use gpubench_suite::Suite;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What is predicted with: it was made to decide which of several devices to pick (P14 §3.3.4).
const MODEL: Model = Model::COMPONENTS;
/// Inputs for the emulator where runs of several seeds are ranked: kernels whose work depends on
/// their inputs are counted on these.
const SEED: u64 = 1;

/// Which devices are ranked, and where to learn what they cost.
#[derive(Debug, Default, clap::Args)]
pub struct Sources {
    /// Rank implementations on the host's processor too
    #[arg(long)]
    include_cpu: bool,
    /// Rank simulated devices too
    #[arg(long)]
    include_simulated: bool,
    /// Rank devices that other programs measured too (`gpubench import`)
    #[arg(long)]
    include_imported: bool,
    /// Profiles of ranked devices, from which their order is predicted, to compare with the measured one: of
    /// `gpubench profile --json`, runs of the suite `characterise`, or descriptions of simulated
    /// GPUs (`.yaml`). Ranked runs that characterise their devices need none
    #[arg(long = "profile", value_name = "PROFILE", num_args = 1..)]
    profiles: Vec<PathBuf>,
    /// Suites of the runs that are not embedded: their kernels are emulated to predict their times
    #[arg(long = "suite", value_name = "FILE", num_args = 1..)]
    suites: Vec<String>,
}

impl Sources {
    /// The options of a ranking.
    pub fn options(&self) -> Options {
        let Self { include_cpu, include_simulated, include_imported, .. } = *self;
        Options { include_cpu, include_simulated, include_imported, ..Options::default() }
    }

    /// What is predicted of `ranking`; `own` reads the profiles that its runs hold of the devices
    /// without a named one, and is not called where there is no order to predict. `None` without
    /// profiles, or with too few, which is said.
    ///
    /// # Errors
    /// A profile or suite that cannot be used, or that has nothing to do with the ranking.
    pub fn predict(
        &self,
        matrix: &ResultMatrix,
        ranking: &Ranking,
        own: impl FnOnce(&[&DeviceInfo]) -> Result<Profiles>,
    ) -> Result<Option<PredictedRanking>> {
        let named = Profiles::of(&self.profiles)?;
        let overall = &ranking.families[0];
        if overall.rows.is_empty() || overall.rows.len() == 1 && named.all.is_empty() {
            return Ok(None);
        }
        check_named(&named, ranking)?;
        let ranked = overall.rows.iter().map(|row| &ranking.devices[row.device].info);
        let bare: Vec<_> = ranked.filter(|info| named.of_device(info).is_none()).collect();
        let own = own(&bare)?;
        if named.all.is_empty() && own.all.is_empty() {
            return Ok(None);
        }
        let (mut models, mut unknown) = (vec![], vec![]);
        for device in overall.rows.iter().map(|row| row.device) {
            let info = &ranking.devices[device].info;
            let profile = named.of_device(info).or_else(|| announce(own.of_device(info)?));
            let priced = profile.map(|profile| Profiled::new(MODEL, profile, End::Middle));
            match priced {
                Some(Ok(priced)) => models.push((device, priced)),
                Some(Err(error)) => unknown.push((device, error.to_string())),
                None => unknown.push((device, "no profile".into())),
            }
        }
        if models.len() < 2 {
            for (device, why) in &unknown {
                say(&format!("not predicted: {}: {why}", ranking.devices[*device].info.name));
            }
            say("the order is not predicted: that takes profiles of two ranked devices or more");
            return Ok(None);
        }
        let counted = Counts::of(&self.suites(matrix)?, &overall.common, &models);
        let times: Vec<DeviceTimes> = models
            .into_iter()
            .map(|(device, priced)| {
                let seconds = overall.common.iter().map(|key| counted.seconds(key, &priced));
                DeviceTimes { device, seconds: seconds.collect() }
            })
            .collect();
        let prediction = predict_ranking(matrix, overall, MODEL, &times, unknown);
        if prediction.is_none() {
            say("the order is not predicted: no common case is a kernel that all profiles price");
        }
        Ok(prediction)
    }

    /// The suites of the runs: those named, and those embedded as they were when they ran.
    fn suites(&self, matrix: &ResultMatrix) -> Result<Vec<Suite>> {
        let mut suites: Vec<Suite> = vec![];
        for name in &self.suites {
            let suite = gpubench_experiments::load(name)?;
            if !matrix.suites.iter().any(|(_, hash)| *hash == suite.hash) {
                let why = format!("no ranked run is of the suite `{name}` as it is now");
                return Err(Error::Usage(why));
            }
            suites.push(suite);
        }
        for (name, hash) in &matrix.suites {
            if suites.iter().any(|suite| suite.hash == *hash) {
                continue;
            }
            if !gpubench_suite::suites().contains(&name.as_str()) {
                say(&format!(
                    "nothing is predicted of the suite `{name}`: name its file (--suite)"
                ));
                continue;
            }
            let suite = gpubench_experiments::load(name)?;
            match suite.hash == *hash {
                true => suites.push(suite),
                false => say(&format!(
                    "nothing is predicted of runs of the suite `{name}` as it was: it has changed since"
                )),
            }
        }
        Ok(suites)
    }
}

/// Announces a profile that nobody named.
fn announce(profile: &Profile) -> Option<&Profile> {
    let DeviceInfo { name, backend, .. } = &profile.device;
    say(&format!("profile of {name} ({backend}): from its run of {}", profile.started));
    Some(profile)
}

/// Every profile named is of a ranked device, or is said not to be; none at all is a mistake.
fn check_named(named: &Profiles, ranking: &Ranking) -> Result<()> {
    let overall = &ranking.families[0];
    let ranked = |profile: &Profile| {
        overall.rows.iter().any(|row| may_be(&profile.device, &ranking.devices[row.device].info))
    };
    let unranked: Vec<&Profile> = named.all.iter().filter(|profile| !ranked(profile)).collect();
    let names: Vec<String> = unranked
        .iter()
        .map(|profile| format!("{} ({})", profile.device.name, profile.device.backend))
        .collect();
    if !named.all.is_empty() && unranked.len() == named.all.len() {
        return Err(Error::Usage(format!(
            "no ranked device is that of a profile: {}",
            names.join(", ")
        )));
    }
    for device in names {
        say(&format!("not ranked, though there is a profile: {device}"));
    }
    Ok(())
}

/// Common cases, counted.
struct Counts {
    kernel_counts: Vec<KernelCounts>,
    /// Of each case the suite that it was found in.
    wanted: BTreeMap<CaseKey, (usize, Wanted)>,
}

impl Counts {
    /// The kernels among `common`, by the rules of each device.
    fn of(suites: &[Suite], common: &[CaseKey], devices: &[(usize, Profiled)]) -> Self {
        let rules: Vec<_> = devices.iter().map(|(_, priced)| priced.rules()).collect();
        let mut all = Self { kernel_counts: vec![], wanted: BTreeMap::new() };
        for suite in suites {
            let mut kernel_counts = KernelCounts::new(suite, SEED);
            let mut kernels = vec![];
            for wanted in kernel_counts.kernels() {
                let is_kernel = wanted.key().measure.is_kernel() && !is_probe(wanted.key());
                let new = !all.wanted.contains_key(wanted.key());
                if is_kernel && new && common.contains(wanted.key()) {
                    kernels.push(wanted.kernel.clone());
                    all.wanted.insert(wanted.key().clone(), (all.kernel_counts.len(), wanted));
                }
            }
            kernel_counts.count(&kernels, &rules);
            all.kernel_counts.push(kernel_counts);
        }
        all
    }

    fn seconds(&self, key: &CaseKey, priced: &Profiled) -> Result<f64, String> {
        if is_probe(key) {
            return Err("its time is part of the profile".into());
        }
        if key.measure != Kind::KERNEL {
            return Err("only kernels by themselves are predicted".into());
        }
        let (suite, wanted) = self.wanted.get(key).ok_or("its suite is not known")?;
        let counted = self.kernel_counts[*suite].of(&wanted.kernel, priced.rules())?;
        let predicted =
            priced.predict(&wanted.launch(counted)).map_err(|error| error.to_string())?;
        match predicted.seconds.is_finite() && predicted.seconds > 0.0 {
            true => Ok(predicted.seconds),
            false => Err("the model predicts no time above zero".into()),
        }
    }
}
