//! What a device left behind, against what is expected.

use super::expected::Expected;
use super::{Bench, Measurement, compare, memory};
use crate::plan::Case;
use gpubench_core::error::Result;
use gpubench_core::gpu::{Access, Recording};
use gpubench_core::record::{ErrorNorms, Mismatch, Outcome};
use gpubench_core::workload::{Comparison, Verify};
use gpubench_device::Device;
use gpubench_reference::Data;
use std::borrow::Cow;

/// A case's results against the expected ones.
pub(super) struct Check<'a> {
    pub case: &'a Case,
    pub initial: &'a [Data],
    pub wanted: Option<&'a (Expected, Comparison)>,
}

impl Check<'_> {
    /// Poisons what the kernel writes, runs one launch of the whole grid, and compares.
    pub(super) fn whole(&self, bench: &mut Bench, launch: &Recording, when: &str) -> Result<bool> {
        memory::write(bench.device(), self.case, &self.before(), true)?;
        bench.device().run(launch)?;
        self.results(bench, when)
    }

    /// What every buffer holds before a launch that is compared. No output begins as what is
    /// expected of it: what a kernel leaves unwritten is never taken for right. Only a reference
    /// may expect an element to stay as it was: it sees what the outputs hold before.
    pub(super) fn before(&self) -> Cow<'_, [Data]> {
        if matches!(self.case.verify, Verify::Reference(..)) {
            return Cow::Borrowed(self.initial);
        }
        let mut before = Cow::Borrowed(self.initial);
        for (id, expected) in self.wanted.iter().flat_map(|(expected, _)| expected) {
            if self.case.buffers[*id].access == Access::Write
                && let Some(unlike) = memory::unlike(expected)
            {
                before.to_mut()[*id] = unlike;
            }
        }
        before
    }

    /// Whether a launch changes what the next one reads.
    pub(super) fn in_place(&self) -> bool {
        self.case.buffers.iter().any(|b| b.access == Access::ReadWrite)
    }

    /// Reads and compares every written buffer; guards are checked even where nothing else is.
    pub(super) fn results(&self, bench: &mut Bench, when: &str) -> Result<bool> {
        self.results_by(bench, when, |device, id| memory::read(device, self.case, id))
    }

    /// The same with buffers as `read` gives them.
    pub(super) fn results_by(
        &self,
        bench: &mut Bench,
        when: &str,
        mut read: impl FnMut(&mut dyn Device, usize) -> Result<Data>,
    ) -> Result<bool> {
        if !self.guards(bench, when)? {
            return Ok(false);
        }
        let Bench { session, measurement, .. } = bench;
        self.all(measurement, when, |id| read(session.device.as_mut(), id))
    }

    /// Whether the guards of every buffer are as they were.
    pub(super) fn guards(&self, bench: &mut Bench, when: &str) -> Result<bool> {
        let Some(breach) = memory::breach(bench.device(), self.case)? else { return Ok(true) };
        bench.measurement.mismatch(Mismatch {
            buffer: self.case.buffers[breach.buffer].name.clone(),
            index: 0,
            found: breach.text(self.case),
            expected: Mismatch::GUARDS.into(),
            wrong: 1,
            of: 1,
            when: when.to_owned(),
        });
        Ok(false)
    }

    /// Poisons what the kernel writes, runs a launch of its first `groups` groups, and compares
    /// what they wrote; the rest must be untouched.
    pub(super) fn part(&self, bench: &mut Bench, launch: &Recording, groups: u32) -> Result<bool> {
        let before = self.before();
        memory::write(bench.device(), self.case, &before, true)?;
        bench.device().run(launch)?;
        let share = self.share(groups);
        self.results_by(bench, &format!("launch of {groups} groups"), |device, id| {
            let found = memory::read(device, self.case, id)?;
            let Some((_, expected)) = self.expected(id) else { return Ok(found) };
            let before = &before[id];
            let (completed, written) = found.with_untouched_from(before, expected);
            // What the whole grid leaves as it is cannot be missed.
            let due = expected.differing(before) as f64;
            let enough = written as f64 >= 0.5 * share * due;
            Ok(if enough { completed } else { found })
        })
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
        measurement: &mut Measurement,
        when: &str,
        mut read: impl FnMut(usize) -> Result<Data>,
    ) -> Result<bool> {
        let Some((expected, allowed)) = self.wanted else {
            measurement.outcome = Some(Outcome::Unchecked);
            return Ok(true);
        };
        for (id, expected) in expected {
            let name = &self.case.buffers[*id].name;
            let (norms, mismatch) = compare(name, expected, &read(*id)?, *allowed, when);
            measurement.norms = Some(worst(measurement.norms, norms));
            if let Some(mismatch) = mismatch {
                measurement.mismatch(mismatch);
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Either's worse figure, one by one.
pub(super) fn worst(before: Option<ErrorNorms>, now: ErrorNorms) -> ErrorNorms {
    let before = before.unwrap_or_default();
    ErrorNorms {
        max_absolute: before.max_absolute.max(now.max_absolute),
        max_relative: before.max_relative.max(now.max_relative),
        l2: before.l2.max(now.l2),
    }
}
