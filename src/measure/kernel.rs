//! Time of one launch, from its start to its end on the device.

use super::choose::{Chosen, KERNEL, choose};
use super::expected::{Expected, expected};
use super::loops::{Sample, warm_up_and_sample};
use super::memory;
use super::{Finding, Policy, Session, Stage, compare};
use crate::error::{Error, Result};
use crate::gpu::{Access, Recording};
use crate::plan::{Case, launches};
use crate::record::{ErrorNorms, Flag, Mismatch, Outcome};
use crate::reference::Data;
use crate::workload::Comparison;
use std::time::Instant;

/// Measures `case` into `finding`.
pub(super) fn measure(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    finding: &mut Finding,
) -> Result<()> {
    stage(Stage::Prepare);
    let start = Instant::now();
    let initial = memory::initial(case);
    memory::allocate(session.device.as_mut(), case)?;
    memory::write(session.device.as_mut(), case, &initial, false)?;
    finding.wall.prepare += start.elapsed().as_secs_f64();

    let chosen = choose(session, case, policy, stage, finding)?;

    stage(Stage::Verify);
    let wanted = timed_verify(finding, |_| expected(case, chosen.candidate, &initial, policy))?;
    let check = Check { case, initial: &initial, wanted: wanted.as_ref() };
    if !timed_verify(finding, |finding| {
        check.fresh_launch(session, &chosen, "first launch", finding)
    })? {
        return Ok(());
    }
    if policy.verify_only {
        return Ok(());
    }
    sample(session, case, policy, stage, &chosen, finding)?;
    stage(Stage::Verify);
    timed_verify(finding, |finding| check.timed_launches(session, &chosen, finding))?;
    flag_cache(session, case, finding);
    Ok(())
}

fn timed_verify<T>(
    finding: &mut Finding,
    work: impl FnOnce(&mut Finding) -> Result<T>,
) -> Result<T> {
    let start = Instant::now();
    let result = work(finding);
    finding.wall.verify += start.elapsed().as_secs_f64();
    result
}

/// Warm-up and samples of batches long enough for the clock.
fn sample(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    chosen: &Chosen,
    finding: &mut Finding,
) -> Result<()> {
    let batch = batch(session, chosen.launch);
    let recording = launches(case, chosen.candidate, KERNEL, batch);
    stage(Stage::Measure);
    warm_up_and_sample(policy, batch, finding, || {
        Ok(Sample::of_batch(session.device.run(&recording)?, batch))
    })?;
    if let Some(measured) = &mut finding.measured {
        measured.flops = chosen.candidate.flops;
        measured.bytes = chosen.candidate.bytes;
    }
    Ok(())
}

/// Launches in one sample: it lasts at least 100 × the clock's resolution and 20 × an empty launch.
fn batch(session: &mut Session, launch: f64) -> u32 {
    const MOST: f64 = 10_000.0;
    let resolution = session.device.info().timestamp_resolution.unwrap_or(1e-7);
    let least = (100.0 * resolution).max(20.0 * session.empty_launch());
    (least / launch.max(1e-9)).ceil().clamp(1.0, MOST) as u32
}

/// A case's results against the expected ones.
pub(super) struct Check<'a> {
    pub case: &'a Case,
    pub initial: &'a [Data],
    pub wanted: Option<&'a (Expected, Comparison)>,
}

impl Check<'_> {
    /// Poisons what the kernel writes, launches once, and compares; whether to go on.
    fn fresh_launch(
        &self,
        session: &mut Session,
        chosen: &Chosen,
        when: &str,
        finding: &mut Finding,
    ) -> Result<bool> {
        let device = session.device.as_mut();
        memory::write(device, self.case, self.initial, true)?;
        device.run(&launches(self.case, chosen.candidate, KERNEL, 1))?;
        let right = self.results(session, when, finding)?;
        // Poisoned again, so that what is compared after the timed launches was written by them.
        memory::write(session.device.as_mut(), self.case, self.initial, true)?;
        Ok(right)
    }

    /// Compares what the timed launches left behind. A kernel that works in place has by then
    /// been applied many times: it is restored and launched once more.
    fn timed_launches(
        &self,
        session: &mut Session,
        chosen: &Chosen,
        finding: &mut Finding,
    ) -> Result<bool> {
        let in_place = self.case.buffers.iter().any(|b| b.access == Access::ReadWrite);
        if in_place {
            self.fresh_launch(session, chosen, "launch after the timed ones", finding)
        } else {
            self.results(session, "timed launches", finding)
        }
    }

    /// Reads and compares every written buffer; guards are checked even where nothing else is.
    fn results(&self, session: &mut Session, when: &str, finding: &mut Finding) -> Result<bool> {
        self.all(finding, when, |id| memory::read(session.device.as_mut(), self.case, id))
    }

    /// Poisons what the kernel writes, runs a launch of its first `groups` groups, and compares
    /// what they wrote; the rest must be untouched.
    pub(super) fn part(
        &self,
        session: &mut Session,
        launch: &Recording,
        groups: u32,
        finding: &mut Finding,
    ) -> Result<bool> {
        let device = session.device.as_mut();
        memory::write(device, self.case, self.initial, true)?;
        device.run(launch)?;
        let start = Instant::now();
        let share = self.share(groups);
        let when = format!("launch of {groups} groups");
        let right = self.all(finding, &when, |id| {
            let found = memory::read(session.device.as_mut(), self.case, id)?;
            let Some((_, expected)) = self.expected(id) else { return Ok(found) };
            let before = &self.initial[id];
            let (completed, written) = found.with_untouched_from(before, expected);
            let enough = written as f64 >= 0.5 * share * before.len() as f64;
            Ok(if enough { completed } else { found })
        });
        finding.wall.verify += start.elapsed().as_secs_f64();
        right
    }

    /// The share of the grid that `groups` groups are.
    fn share(&self, groups: u32) -> f64 {
        let whole = self.case.candidates.first().map_or([1; 3], |candidate| candidate.groups);
        f64::from(groups) / whole.into_iter().map(f64::from).product::<f64>()
    }

    /// What buffer `id` must hold, where something is expected of it.
    fn expected(&self, id: usize) -> Option<&(usize, Data)> {
        self.wanted.and_then(|(expected, _)| expected.iter().find(|(i, _)| *i == id))
    }

    /// Compares every written buffer, as `read` gives it, with what is expected.
    pub(super) fn all(
        &self,
        finding: &mut Finding,
        when: &str,
        mut read: impl FnMut(usize) -> Result<Data>,
    ) -> Result<bool> {
        for (id, buffer) in self.case.buffers.iter().enumerate() {
            if buffer.access == Access::Read {
                continue;
            }
            let found = match read(id) {
                Err(Error::Mismatch(text)) => {
                    finding.mismatch(outside(&buffer.name, text, when));
                    return Ok(false);
                }
                read => read?,
            };
            let (Some((_, allowed)), Some((_, expected))) = (self.wanted, self.expected(id)) else {
                continue;
            };
            match compare(&buffer.name, expected, &found, *allowed, when) {
                Ok(norms) => finding.norms = Some(worst(finding.norms, norms)),
                Err(mismatch) => {
                    finding.mismatch(*mismatch);
                    return Ok(false);
                }
            }
        }
        if self.wanted.is_none() {
            finding.outcome = Some(Outcome::Unchecked);
        }
        Ok(true)
    }
}

/// A write outside the buffer: there is no scalar to name.
fn outside(buffer: &str, found: String, when: &str) -> Mismatch {
    Mismatch {
        buffer: buffer.to_owned(),
        index: 0,
        found,
        expected: "untouched guards".into(),
        wrong: 1,
        of: 1,
        when: when.to_owned(),
    }
}

fn worst(before: Option<ErrorNorms>, now: ErrorNorms) -> ErrorNorms {
    let before = before.unwrap_or_default();
    ErrorNorms {
        max_absolute: before.max_absolute.max(now.max_absolute),
        max_relative: before.max_relative.max(now.max_relative),
        l2: before.l2.max(now.l2),
    }
}

/// A working set below twice the largest cache may be served from it.
fn flag_cache(session: &Session, case: &Case, finding: &mut Finding) {
    let bytes: u64 = case.buffers.iter().map(|b| b.bytes().0).sum();
    if session.device.info().cache.is_some_and(|cache| bytes < 2 * cache.0) {
        finding.flag(Flag::Cache);
    }
}
