//! Runs of one device, pooled for a baseline, and what they must be.

use crate::cmd::known::same_view;
use crate::store::{Run, baseline, is_copy, is_same_start};
use gpubench_analysis::{DeviceCases, DeviceSpeed, Reading, collect, noise, past};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{DeviceInfo, DeviceKind};
use gpubench_core::record::{Header, Host, Noise, Outcome, Past, Record};
use gpubench_core::text::{listed, printable};
use gpubench_core::units::fixed;
use gpubench_report::labels::case_name;
use gpubench_stats::median_of;
use std::path::{Path, PathBuf};

/// A baseline of fewer rounds says too little of what the next run may be.
const ROUNDS: usize = 3;

/// At most this many cases are named that stand against a baseline.
const NAMED: usize = 4;

/// What is saved only where that is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Allow {
    /// Fewer than 3 rounds of a case
    FewRounds,
    /// Cases that failed or are not checked
    Unverified,
    /// Runs during or between which the device's speed changed
    Drift,
}

/// All runs of one device as one, with rounds numbered on.
pub(super) struct Pooled {
    pub header: Header,
    pub records: Vec<Record>,
    pub noise: Noise,
    cases: DeviceCases,
    per_run: Vec<DeviceCases>,
    /// Whether all were timed by the same rules.
    one_method: bool,
    /// By what factor the device's speed changed during or between the runs, in those that say so.
    drifted: Vec<(String, f64)>,
    pub wall: f64,
}

impl Pooled {
    /// Of the runs on hosts of this class; `None` where the device has no record of a case that ran.
    pub fn new(runs: &[Run], device: &DeviceInfo, host: &Host) -> Option<Self> {
        let (mut records, mut per_run, mut wall) = (vec![], vec![], 0.0);
        let (mut files, mut history, mut one_method) = (vec![], vec![], true);
        let mut header: Option<Header> = None;
        for run in runs {
            // Of equal GPUs the first is taken: another GPU is another sample.
            let is_it = |d: &DeviceInfo| same_view(d, device) && d.driver == device.driver;
            let is_host = run.header.host.class() == host.class();
            let place = run.header.devices.iter().position(is_it).filter(|_| is_host);
            let Some(place) = place else { continue };
            let mut mine: Vec<Record> =
                run.records.iter().filter(|r| r.device == place).cloned().collect();
            // What a header says of its rounds is not always true: no two rounds may get one number.
            let rounds = mine.iter().map(|record| record.round + 1).max().unwrap_or(0);
            let rounds = rounds.max(run.header.rounds);
            let devices = vec![device.clone()];
            let one = Header { devices, rounds, ..run.header.clone() };
            mine.iter_mut().for_each(|record| record.device = 0);
            // A run that was killed at once repeats nothing.
            let mut cases = collect(&one, &mine);
            cases.retain(|of| of.cases.values().any(|case| !case.medians.is_empty()));
            history.extend(cases.iter().map(|cases| past(&one.started, cases)));
            files.extend(cases.iter().map(|_| run.path.display().to_string()));
            per_run.extend(cases);
            let before = header.as_ref().map_or(0, |header| header.rounds);
            mine.iter_mut().for_each(|record| record.round = record.round.saturating_add(before));
            records.append(&mut mine);
            wall += run.footer.as_ref().map_or(0.0, |footer| footer.wall);
            match &mut header {
                Some(header) => {
                    header.rounds = header.rounds.saturating_add(rounds);
                    one_method &= header.method == one.method;
                }
                None => header = Some(one),
            }
        }
        let header = header?;
        let cases = collect(&header, &records).into_iter().next()?;
        let ran = cases.cases.values().any(|case| !case.medians.is_empty());
        let drifted = drifted(&per_run, device.kind);
        // What a changing machine does is not its noise.
        let calm = per_run.iter().zip(&drifted).filter(|(_, by)| by.is_none());
        let calm: Vec<DeviceCases> = calm.map(|(run, _)| run.clone()).collect();
        let noise = Noise { history, ..noise(&calm) };
        let drifted = files.into_iter().zip(drifted);
        let drifted = drifted.filter_map(|(file, by)| Some((file, by?))).collect();
        ran.then_some(Self { header, records, noise, cases, per_run, one_method, drifted, wall })
    }

    pub fn path(&self, folder: &Path) -> PathBuf {
        let (device, host) = (&self.header.devices[0], &self.header.host);
        baseline::path(folder, &baseline::Key { device, host })
    }

    /// Keeps what an older baseline knew besides its times: of each noise floor the larger one counts.
    ///
    /// # Errors
    /// It was timed by other rules: what they change is no noise.
    pub fn keep(&mut self, old: &Run) -> Result<()> {
        if old.header.method != self.header.method {
            return Err(Error::Usage(format!(
                "{}: timed by other rules than these runs (`gpubench baseline save --replace` begins anew)",
                old.path.display()
            )));
        }
        let Some(known) = &old.noise else { return Ok(()) };
        let noise = &mut self.noise;
        for (key, floor) in &known.floors {
            match noise.floors.iter_mut().find(|(other, _)| other == key) {
                Some((_, ours)) => *ours = ours.max(*floor),
                None => noise.floors.push((key.clone(), *floor)),
            }
        }
        let is_imported = !self.header.imported.is_empty();
        let seen = |past: &Past| noise.history.iter().any(|new| is_same(new, past, is_imported));
        // A run that it was made of teaches nothing more.
        let again = known.history.iter().filter(|past| seen(past)).count();
        let others = known.runs.saturating_sub(u32::try_from(again).unwrap_or(u32::MAX));
        noise.runs = noise.runs.saturating_add(others);
        let mut history: Vec<Past> =
            known.history.iter().filter(|past| !seen(past)).cloned().collect();
        history.append(&mut noise.history);
        history.sort_by(|a, b| a.started.cmp(&b.started));
        noise.history = history;
        Ok(())
    }

    /// Whether it may be a baseline.
    pub fn check(&self, allow: &[Allow]) -> Result<()> {
        let name = printable(&self.header.devices[0].name, 60);
        if !self.one_method {
            return Err(Error::Usage(format!(
                "{name}: these runs were timed by different rules: save them apart"
            )));
        }
        self.one_kernel(&name)?;
        let cases = || self.cases.cases.iter();
        let few: Vec<String> = cases()
            .filter(|(_, case)| case.outcome.is_ok() && case.medians.len() < ROUNDS)
            .map(|(key, case)| format!("{} ({})", case_name(key), case.medians.len()))
            .collect();
        if !few.is_empty() && !allow.contains(&Allow::FewRounds) {
            return Err(Error::Usage(format!(
                "{name}: fewer than {ROUNDS} rounds of {}: run with --rounds {ROUNDS} or more \
                 (--allow few-rounds saves it all the same)",
                listed(few, NAMED)
            )));
        }
        let bad = |outcome: &Outcome| outcome.is_failure() || *outcome == Outcome::Unchecked;
        let wrong: Vec<String> = cases()
            .filter(|(_, case)| bad(&case.outcome))
            .map(|(key, case)| format!("{} ({})", case_name(key), case.outcome.label()))
            .collect();
        if !wrong.is_empty() && !allow.contains(&Allow::Unverified) {
            return Err(Error::Usage(format!(
                "{name}: not verified: {} (--allow unverified saves the others, and these as \
                 what they are)",
                listed(wrong, NAMED)
            )));
        }
        self.one_speed(&name, allow)
    }

    /// A baseline is of a machine that kept its speed.
    fn one_speed(&self, name: &str, allow: &[Allow]) -> Result<()> {
        match self.drifted.first() {
            Some((file, by)) if !allow.contains(&Allow::Drift) => Err(Error::Usage(format!(
                "{name}: in {file} the reference kernel took {} times as long in one round as in another, \
                 or as in the other runs: run again on a quiet machine (--allow drift saves it all the same, \
                 and learns no noise floor from it)",
                fixed(*by, 2)
            ))),
            _ => Ok(()),
        }
    }

    /// Repetitions are of one kernel: else their differences are no noise.
    fn one_kernel(&self, name: &str) -> Result<()> {
        for (key, case) in &self.cases.cases {
            let other = self.per_run.iter().filter_map(|run| run.cases.get(key)).find(|other| {
                let both = other.kernel_hash.is_some() && case.kernel_hash.is_some();
                both && (&other.kernel_hash, other.bounds_checks)
                    != (&case.kernel_hash, case.bounds_checks)
            });
            if other.is_some() {
                return Err(Error::Usage(format!(
                    "{name}: the kernel of {} is not the same in all of these runs: save them apart",
                    case_name(key)
                )));
            }
        }
        Ok(())
    }
}

/// Whether a run is one that is known. What is imported begins when it is imported: its times show it.
fn is_same(new: &Past, known: &Past, is_imported: bool) -> bool {
    let cases = || new.cases.iter().filter(|case| known.cases.contains(case)).count();
    is_same_start(&new.started, &known.started)
        || is_imported && is_copy(cases(), [new.cases.len(), known.cases.len()])
}

/// Of each run, by what factor its speed changed between its rounds, or differs from the runs' median, where
/// that is more than clocks and readings scatter.
fn drifted(runs: &[DeviceCases], kind: DeviceKind) -> Vec<Option<f64>> {
    let kernels: [fn(&DeviceSpeed) -> Option<Reading>; 2] =
        [|speed| speed.compute, |speed| speed.memory];
    let seconds = |of: fn(&DeviceSpeed) -> Option<Reading>| {
        median_of(runs.iter().filter_map(|run| Some(of(&run.speed)?.seconds)))
    };
    let usual = kernels.map(seconds);
    let factor = |run: &DeviceCases| {
        let apart = kernels.iter().zip(usual);
        let apart = apart.filter_map(|(of, usual)| Some(of(&run.speed)?.factor_from(usual?)));
        apart.fold(run.speed.spread(), f64::max)
    };
    let by = runs.iter().map(factor);
    by.map(|by| (by > 1.0 + gpubench_analysis::smallest_drift(kind)).then_some(by)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample::key;

    #[test]
    fn a_table_that_is_imported_anew_teaches_nothing() {
        let run = |second: u32, cases: [f64; 3]| Past {
            started: format!("2026-01-01T00:00:{second:02}Z"),
            driver: String::new(),
            compute: None,
            memory: None,
            cases: (0..).zip(cases).map(|(n, seconds)| (key("a", n), seconds)).collect(),
        };
        let known = run(0, [1.0, 2.0, 3.0]);
        assert!(is_same(&run(1, [1.0, 2.5, 3.0]), &known, true), "one row was corrected");
        assert!(!is_same(&run(1, [1.0, 2.5, 3.5]), &known, true));
        assert!(!is_same(&run(1, [1.0, 2.0, 3.0]), &known, false), "a simulated device is as fast");
        let same = Past { started: "2026-01-01T00:00:00.000+00:00".into(), ..run(9, [4.0; 3]) };
        assert!(is_same(&same, &known, false), "as another program writes it");
    }
}
