//! Devices and APIs in order of their speed over the cases that all of them got right.
//!
//! Speed is the time of the reference over the device's own, case by case; a row's is the
//! geometric mean over the common set, in which families weigh what the options say (alike, if they say
//! nothing). What is not in the common set is reported with its reason.

use super::energy::{Energy, energy};
use super::result_matrix::{Cell, Entry, ResultMatrix, by_family};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{DeviceInfo, DeviceKind, names};
use gpubench_core::text::printable;
use gpubench_core::workload::CaseKey;
use gpubench_stats::{Level, threads};
use serde::Serialize;
use std::collections::BTreeMap;
use table::{Table, cells};

mod columns;
mod predicted_ranking;
mod table;
mod workloads;

pub use predicted_ranking::{DeviceTimes, PredictedRank, PredictedRanking, predict_ranking};
pub use workloads::{Winner, WorkloadSpeed};

/// The options of a ranking.
#[derive(Clone, Debug)]
pub struct Options {
    /// Part of the name of the device whose speed is 1; the fastest where `None`.
    pub reference: Option<String>,
    /// Rank implementations on the host's processor too.
    pub include_cpu: bool,
    /// Rank simulated devices too.
    pub include_simulated: bool,
    /// Whether to rank what other programs measured.
    pub include_imported: bool,
    /// What families weigh in the overall ranking, where that is not 1.
    pub weights: BTreeMap<String, f64>,
    /// Seed of the bootstrap.
    pub seed: u64,
    /// Replicates of the bootstrap.
    pub replicates: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            reference: None,
            include_cpu: false,
            include_simulated: false,
            include_imported: false,
            weights: BTreeMap::new(),
            seed: 1,
            replicates: 2000,
        }
    }
}

/// Devices in order of speed, over all cases and by family.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Ranking {
    /// Every device of the runs; all else names them by position.
    pub devices: Vec<Device>,
    /// The device whose overall speed is 1; `None` where nothing could be ranked.
    pub reference: Option<usize>,
    /// The overall ranking first, then one for each family that any ranked device ran.
    pub families: Vec<Family>,
    /// The ranked devices by what they draw; `None` where no run reports energy.
    pub energy: Option<Energy>,
    /// The order that a model predicts; `None` where none was requested, or it knows too little.
    pub prediction: Option<PredictedRanking>,
    /// Devices that take no part, with the reason.
    pub excluded: Vec<(usize, String)>,
}

/// A device seen through one API by one driver.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Device {
    /// The device, as its first run saw it.
    pub info: DeviceInfo,
    /// What people call it: no two of a ranking are called alike.
    pub name: String,
    /// How many runs it took part in.
    pub runs: usize,
}

/// The ranking over one family, or over all.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Family {
    /// `overall`, `compute`, `memory`, `transfer`, `latency`, `overlap`, `concurrency`.
    pub name: String,
    /// The device whose speed is 1 here: the ranking's, where it has these cases.
    pub reference: Option<usize>,
    /// The rows, fastest first.
    pub rows: Vec<Row>,
    /// Devices that have not one verified case here: listed, not ranked, and not required for the
    /// common set.
    pub absent: Vec<usize>,
    /// The common set.
    pub common: Vec<CaseKey>,
    /// All cases of the ranked devices.
    pub cases: usize,
    /// Cases outside the common set, each with the reason.
    pub skipped: Vec<(CaseKey, String)>,
    /// The devices on every workload in the common set, and which is the fastest.
    pub winners: Vec<Winner>,
    /// What the intervals hold for.
    pub level: Level,
    /// The families of the common set, each with its share in the speed and its cases; copies of one size count
    /// as one.
    pub shares: Vec<Share>,
    /// Where there are several: the order without each of them.
    pub without: Vec<Without>,
}

/// What a family weighs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The family.
    pub family: String,
    /// Its share, 1 for all.
    pub share: f64,
    /// Its cases in the common set, copies of one size counted once.
    pub cases: usize,
}

/// The ranking without a family.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Without {
    /// The family that is left out.
    pub family: String,
    /// The devices, fastest first.
    pub order: Vec<usize>,
}

/// A row of a ranking.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The device.
    pub device: usize,
    /// Geometric mean of the reference's times over its own: larger is faster.
    pub speed: f64,
    /// 95 % interval of the speed.
    pub interval: [f64; 2],
    /// Best and worst rank, from 1, that the data allow.
    pub ranks: [usize; 2],
    /// How many of the family's cases it got right.
    pub verified: usize,
    /// Fewest and most rounds of a case of the common set.
    pub rounds: [u32; 2],
    /// Share of its own roofline that its kernels of the common set reach, where the runs measured
    /// its ceilings.
    pub roofline: Option<f64>,
}

/// Ranks the entries of `matrix`.
///
/// # Errors
/// `Usage` where the reference names none of them, or several.
pub fn rank(matrix: &ResultMatrix, options: &Options) -> Result<Ranking> {
    let devices = devices(matrix);
    let mut excluded = vec![];
    let mut chosen = vec![];
    for (i, device) in devices.iter().enumerate() {
        match exclusion(&device.info, options) {
            Some(reason) => excluded.push((i, reason.to_owned())),
            None => chosen.push(i),
        }
    }
    let asked =
        options.reference.as_deref().map(|name| find(name, &devices, &chosen)).transpose()?;
    let of = |cases: (&str, Vec<usize>), reference: Option<usize>| {
        family((matrix, &devices), &chosen, cases, reference, options)
    };
    let overall = of(("overall", (0..matrix.cases.len()).collect()), asked);
    let reference = overall.reference;
    let mut more = by_family(&matrix.cases, 0..matrix.cases.len());
    let ran = |case: &usize| chosen.iter().any(|&device| matrix.cell(device, *case).is_ok());
    more.retain(|(_, cases)| cases.iter().any(ran));
    // A single family is the overall ranking once more.
    if more.len() < 2 {
        more.clear();
    }
    let more = threads::map(more.len(), |at| of(more[at].clone(), reference));
    let families = std::iter::once(overall.clone()).chain(more).collect();
    let energy = reference.and_then(|reference| drawn(matrix, &overall, reference));
    Ok(Ranking { devices, reference, families, energy, prediction: None, excluded })
}

/// What the ranked devices drew over the overall common set.
fn drawn(matrix: &ResultMatrix, overall: &Family, reference: usize) -> Option<Energy> {
    let devices: Vec<usize> = overall.rows.iter().map(|row| row.device).collect();
    let common: Vec<usize> = overall.common.iter().filter_map(|key| matrix.find(key)).collect();
    energy(matrix, &devices, &common, reference)
}

fn devices(matrix: &ResultMatrix) -> Vec<Device> {
    let infos: Vec<&DeviceInfo> = matrix.entries.iter().map(|entry| &entry.device).collect();
    let device = |(entry, name): (&Entry, String)| Device {
        info: entry.device.clone(),
        name,
        runs: entry.runs,
    };
    matrix.entries.iter().zip(names(&infos)).map(device).collect()
}

fn exclusion(device: &DeviceInfo, options: &Options) -> Option<&'static str> {
    match device.kind {
        DeviceKind::Cpu if !options.include_cpu => {
            Some("runs on the host's processor (--include-cpu ranks it)")
        }
        DeviceKind::Imported if !options.include_imported => {
            Some("imported: another program measured it (--include-imported ranks it)")
        }
        DeviceKind::Simulated if !options.include_simulated => {
            Some("simulated: nothing was measured (--include-simulated ranks it)")
        }
        _ => None,
    }
}

/// The one ranked device whose slug is `name`, or whose API, vendor, name and driver (or slug) contain it,
/// in any case.
fn find(name: &str, devices: &[Device], chosen: &[usize]) -> Result<usize> {
    let wanted = name.to_lowercase();
    let full = |d: &DeviceInfo| {
        format!("{}:{} {} {}", d.backend, d.name, d.vendor, d.driver).to_lowercase()
    };
    let of = |is: &dyn Fn(&DeviceInfo) -> bool| -> Vec<usize> {
        chosen.iter().copied().filter(|&i| is(&devices[i].info)).collect()
    };
    let exact = of(&|device| device.slug() == wanted);
    let part = |d: &DeviceInfo| full(d).contains(&wanted) || d.slug().contains(&wanted);
    let found = if exact.is_empty() { of(&part) } else { exact };
    let list = |places: &[usize]| {
        let name = |d: &DeviceInfo| format!("{} ({})", d.slug(), printable(&d.driver, 60));
        let names: Vec<_> = places.iter().map(|&i| name(&devices[i].info)).collect();
        names.join(", ")
    };
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(Error::Usage(format!(
            "no ranked device is called `{name}`; there are: {}",
            list(chosen)
        ))),
        several => Err(Error::Usage(format!("`{name}` may be {}: say more", list(several)))),
    }
}

/// The ranking over the cases of one family, or over all.
fn family(
    (matrix, ranked): (&ResultMatrix, &[Device]),
    chosen: &[usize],
    (name, all): (&str, Vec<usize>),
    reference: Option<usize>,
    options: &Options,
) -> Family {
    let verified = |device: usize| all.iter().filter(|&&c| matrix.cell(device, c).is_ok()).count();
    let coverage: BTreeMap<usize, usize> = chosen.iter().map(|&d| (d, verified(d))).collect();
    let (present, absent): (Vec<usize>, Vec<usize>) =
        chosen.iter().partition(|device| coverage[*device] > 0);
    // Cases that only excluded devices ran are not missing here.
    let seen =
        |case: &usize| present.iter().any(|&d| !matches!(matrix.cell(d, *case), Err("not run")));
    let all: Vec<usize> = all.into_iter().filter(seen).collect();

    let mut common = vec![];
    let mut skipped = vec![];
    for &case in &all {
        match shared((matrix, ranked), &present, case) {
            Ok(()) => common.push(case),
            Err(reason) => skipped.push((matrix.cases[case].key.clone(), reason)),
        }
    }
    common.sort_by(|&a, &b| matrix.cases[a].key.cmp(&matrix.cases[b].key));
    skipped.sort();
    let mut family = Family {
        name: name.to_owned(),
        reference: None,
        rows: vec![],
        absent,
        common: common.iter().map(|&case| matrix.cases[case].key.clone()).collect(),
        cases: all.len(),
        skipped,
        winners: vec![],
        level: Level::Rounds,
        shares: vec![],
        without: vec![],
    };
    if !common.is_empty() {
        let table = Table::new(matrix, &present, &common, &options.weights);
        table.fill(&mut family, reference, &coverage, options);
    }
    family
}

/// Whether every device has verified the case with the same work and the same kernel.
fn shared(
    (matrix, ranked): (&ResultMatrix, &[Device]),
    devices: &[usize],
    case: usize,
) -> Result<(), String> {
    let mut exclusions: BTreeMap<&'static str, Vec<usize>> = BTreeMap::new();
    let mut first: Option<&Cell> = None;
    let mut by_language: Vec<(gpubench_core::gpu::Language, &Cell)> = vec![];
    for &device in devices {
        match matrix.cell(device, case) {
            Err(reason) => exclusions.entry(reason).or_default().push(device),
            Ok(cell) => {
                let language = matrix.entries[device].device.language;
                let same = by_language.iter().find(|(l, _)| *l == language).map(|(_, cell)| *cell);
                if same.is_none() {
                    by_language.push((language, cell));
                }
                // Across languages the text of a kernel differs; its work and checks do not.
                let matches = match (same, first) {
                    (Some(same), _) => cell.matches(same),
                    (None, Some(first)) => cell.matches_but_for_text(first),
                    (None, None) => Ok(()),
                };
                first = first.or(Some(cell));
                if let Err(reason) = matches {
                    exclusions.entry(reason).or_default().push(device);
                }
            }
        }
    }
    if exclusions.is_empty() {
        return Ok(());
    }
    let reasons = exclusions
        .iter()
        .map(|(reason, places)| describe_exclusion(reason, places, devices.len(), ranked));
    Err(reasons.collect::<Vec<_>>().join("; "))
}

fn describe_exclusion(reason: &str, places: &[usize], of: usize, ranked: &[Device]) -> String {
    match places {
        [one] => format!("{reason} on {}", ranked[*one].name),
        many => format!("{reason} on {} of {of}", many.len()),
    }
}

#[cfg(test)]
mod tests;
