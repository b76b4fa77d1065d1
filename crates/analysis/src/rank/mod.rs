//! Devices and APIs in order of their speed over the cases that all of them got right.
//!
//! Speed is the time of the reference over the device's own, case by case; a row's is the
//! geometric mean over the common set. What is not in the common set is reported with its reason.

use super::ceilings::{roof, share};
use super::energy::{Energy, energy};
use super::result_matrix::{Cell, Entry, ResultMatrix, families};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{DeviceInfo, DeviceKind};
use gpubench_core::text::printable;
use gpubench_core::workload::CaseKey;
use gpubench_stats::{Level, Noise, Replicates, Rounds};
use serde::Serialize;
use std::collections::BTreeMap;

mod predicted_ranking;

pub use predicted_ranking::{DeviceTimes, PredictedRank, PredictedRanking, predict_ranking};

/// The options of a ranking.
#[derive(Clone, Debug)]
pub struct Options {
    /// Part of the name of the device whose speed is 1; the fastest where `None`.
    pub reference: Option<String>,
    /// Rank implementations on the host's processor too.
    pub include_cpu: bool,
    /// Rank simulated devices too.
    pub include_simulated: bool,
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
            seed: 1,
            replicates: 2000,
        }
    }
}

/// Devices in order of speed, over all cases and by family.
#[derive(Clone, Debug, PartialEq, Serialize)]
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

/// A device seen through one API.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Device {
    /// The device, as its first run saw it.
    pub info: DeviceInfo,
    /// Its drivers, over all runs.
    pub drivers: Vec<String>,
    /// How many runs it took part in.
    pub runs: usize,
}

/// The ranking over one family, or over all.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Family {
    /// `overall`, `compute`, `memory`, `transfer`, `overlap`, `concurrency`.
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
    /// The fastest device of every workload in the common set.
    pub winners: Vec<Winner>,
    /// What the intervals hold for.
    pub level: Level,
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
    /// Share of its own roofline that its kernels of the common set reach, where the runs measured
    /// its ceilings.
    pub roofline: Option<f64>,
}

/// The fastest device on a workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Winner {
    /// The workload.
    pub workload: String,
    /// Its cases in the common set.
    pub cases: usize,
    /// The device.
    pub device: usize,
    /// Its speed over the second's.
    pub lead: f64,
}

/// Ranks the entries of `matrix`.
///
/// # Errors
/// `Usage` where the reference names none of them, or several.
pub fn rank(matrix: &ResultMatrix, options: &Options) -> Result<Ranking> {
    let devices: Vec<Device> = matrix.entries.iter().map(device).collect();
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
    let overall = family(matrix, &chosen, None, asked, options);
    let reference = overall.reference;
    let mut names = families(&matrix.cases);
    names.retain(|name| chosen.iter().any(|&d| matrix.cells(d).any(|(c, _)| c.family == *name)));
    // A single family is the overall ranking once more.
    let more = if names.len() > 1 { names } else { vec![] };
    let more = more.iter().map(|name| family(matrix, &chosen, Some(name), reference, options));
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

fn device(entry: &Entry) -> Device {
    Device {
        info: entry.device.clone(),
        drivers: entry.drivers.iter().cloned().collect(),
        runs: entry.runs,
    }
}

fn exclusion(device: &DeviceInfo, options: &Options) -> Option<&'static str> {
    match device.kind {
        DeviceKind::Cpu if !options.include_cpu => {
            Some("runs on the host's processor (--include-cpu ranks it)")
        }
        DeviceKind::Simulated if !options.include_simulated => {
            Some("simulated: nothing was measured (--include-simulated ranks it)")
        }
        _ => None,
    }
}

/// The one ranked device whose slug is `name`, or whose API, vendor and name (or slug) contain it,
/// in any case.
fn find(name: &str, devices: &[Device], chosen: &[usize]) -> Result<usize> {
    let wanted = name.to_lowercase();
    let full = |d: &DeviceInfo| format!("{}:{} {}", d.backend, d.name, d.vendor).to_lowercase();
    let of = |is: &dyn Fn(&DeviceInfo) -> bool| -> Vec<usize> {
        chosen.iter().copied().filter(|&i| is(&devices[i].info)).collect()
    };
    let exact = of(&|device| device.slug() == wanted);
    let part = |d: &DeviceInfo| full(d).contains(&wanted) || d.slug().contains(&wanted);
    let found = if exact.is_empty() { of(&part) } else { exact };
    let list = |places: &[usize]| {
        let names: Vec<_> = places.iter().map(|&i| devices[i].info.slug()).collect();
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

/// The ranking over the cases of one family (`None`: all).
fn family(
    matrix: &ResultMatrix,
    chosen: &[usize],
    name: Option<&str>,
    reference: Option<usize>,
    options: &Options,
) -> Family {
    let in_family = |case: &usize| name.is_none_or(|name| matrix.cases[*case].family == name);
    let all: Vec<usize> = (0..matrix.cases.len()).filter(in_family).collect();
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
        match shared(matrix, &present, case) {
            Ok(()) => common.push(case),
            Err(reason) => skipped.push((matrix.cases[case].key.clone(), reason)),
        }
    }
    common.sort_by(|&a, &b| matrix.cases[a].key.cmp(&matrix.cases[b].key));
    skipped.sort();
    let mut family = Family {
        name: name.unwrap_or("overall").to_owned(),
        reference: None,
        rows: vec![],
        absent,
        common: common.iter().map(|&case| matrix.cases[case].key.clone()).collect(),
        cases: all.len(),
        skipped,
        winners: vec![],
        level: Level::Rounds,
    };
    if !common.is_empty() {
        let table = Table::new(matrix, &present, &common);
        table.fill(&mut family, reference, &coverage, options);
    }
    family
}

/// Whether every device has verified the case with the same work and the same kernel.
fn shared(matrix: &ResultMatrix, devices: &[usize], case: usize) -> Result<(), String> {
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
        .map(|(reason, places)| describe_exclusion(reason, places, devices.len(), matrix));
    Err(reasons.collect::<Vec<_>>().join("; "))
}

fn describe_exclusion(reason: &str, places: &[usize], of: usize, matrix: &ResultMatrix) -> String {
    match places {
        [one] => {
            let device = &matrix.entries[*one].device;
            format!("{reason} on {} ({})", printable(&device.name, 40), device.backend)
        }
        many => format!("{reason} on {} of {of}", many.len()),
    }
}

/// The common cases' figures by device.
struct Table<'a> {
    matrix: &'a ResultMatrix,
    devices: &'a [usize],
    common: &'a [usize],
    /// Logarithms of speeds (1 over seconds), by device, then case.
    speeds: Vec<Vec<f64>>,
}

impl<'a> Table<'a> {
    fn new(matrix: &'a ResultMatrix, devices: &'a [usize], common: &'a [usize]) -> Self {
        let of = |&device: &usize| {
            cells(matrix, device, common).map(|cell| -cell.log_seconds()).collect()
        };
        Self { matrix, devices, common, speeds: devices.iter().map(of).collect() }
    }

    fn fill(
        &self,
        family: &mut Family,
        reference: Option<usize>,
        coverage: &BTreeMap<usize, usize>,
        options: &Options,
    ) {
        let means: Vec<f64> =
            self.speeds.iter().map(|s| s.iter().sum::<f64>() / s.len() as f64).collect();
        let mut order: Vec<usize> = (0..means.len()).collect();
        order.sort_by(|&a, &b| means[b].total_cmp(&means[a]).then(a.cmp(&b)));
        let asked = reference.and_then(|r| self.devices.iter().position(|&d| d == r));
        let reference = asked.unwrap_or(order[0]);
        let noise: Vec<Noise> = self.devices.iter().map(|&d| self.noise(d)).collect();
        let replicates =
            Replicates::draw(&self.speeds, &noise, options.replicates.max(1), options.seed);
        let ranks = replicates.ranks();
        let row = |(rank, &place): (usize, &usize)| Row {
            device: self.devices[place],
            speed: (means[place] - means[reference]).exp(),
            interval: replicates.interval(place, reference).map(f64::exp),
            ranks: [ranks[place][0].min(rank + 1), ranks[place][1].max(rank + 1)],
            verified: coverage[&self.devices[place]],
            roofline: self.roofline(self.devices[place]),
        };
        family.rows = order.iter().enumerate().map(row).collect();
        family.reference = Some(self.devices[reference]);
        family.level = replicates.level;
        family.winners = self.winners();
    }

    /// The noise of the mean of a device: between rounds, pooled over the cases that have several;
    /// with single rounds, within them.
    fn noise(&self, device: usize) -> Noise {
        let n = self.common.len() as f64;
        let cells = || cells(self.matrix, device, self.common);
        let rounds = || cells().map(Cell::rounds);
        let freedom: f64 = rounds().map(|rounds| f64::from(rounds.count) - 1.0).sum();
        if freedom == 0.0 {
            let variance = rounds().map(Rounds::within).sum::<f64>() / (n * n);
            return Noise { variance, freedom: f64::INFINITY };
        }
        let pooled = rounds().map(|rounds| rounds.squares).sum::<f64>() / freedom;
        let each = |rounds: &Rounds| pooled / f64::from(rounds.count);
        let variance = rounds().map(each).sum::<f64>() / (n * n);
        Noise { variance, freedom }
    }

    fn roofline(&self, device: usize) -> Option<f64> {
        let cells = self.common.iter().filter_map(|&case| {
            Some((&self.matrix.cases[case], self.matrix.cell(device, case).ok()?))
        });
        share(&roof(self.matrix, device), cells)
    }

    fn winners(&self) -> Vec<Winner> {
        if self.devices.len() < 2 {
            return vec![];
        }
        let mut workloads: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (column, &case) in self.common.iter().enumerate() {
            workloads.entry(&self.matrix.cases[case].key.workload).or_default().push(column);
        }
        let winner = |(workload, columns): (&str, Vec<usize>)| {
            let mean = |place: usize| {
                columns.iter().map(|&c| self.speeds[place][c]).sum::<f64>() / columns.len() as f64
            };
            let mut order: Vec<(f64, usize)> =
                (0..self.devices.len()).map(|place| (mean(place), place)).collect();
            order.sort_by(|a, b| b.0.total_cmp(&a.0));
            Winner {
                workload: workload.to_owned(),
                cases: columns.len(),
                device: self.devices[order[0].1],
                lead: (order[0].0 - order[1].0).exp(),
            }
        };
        workloads.into_iter().map(winner).collect()
    }
}

/// The cells of the common cases, which a device has all.
fn cells<'a>(
    matrix: &'a ResultMatrix,
    device: usize,
    common: &'a [usize],
) -> impl Iterator<Item = &'a Cell> {
    common.iter().filter_map(move |&case| matrix.cell(device, case).ok())
}

#[cfg(test)]
mod tests;
