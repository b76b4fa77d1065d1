//! An emulator: runs work-groups of a WGSL kernel on the host, counts what they do, and sees what
//! they do wrong.
//!
//! naga reads the text; its tree becomes a program in which every scalar is a row of lanes, one a
//! work-item. All work-items go in step: a step is done for a whole row at once, control flow
//! masks lanes, so that divergence is seen as it happens. A group of any GPU would give the same
//! counts as far as the text decides them: what a compiler makes of it (unrolling, common
//! subexpressions) is not in them; an estimate for simulated GPUs is in `unrolled`.

mod alu;
mod buffer;
mod bundles;
mod coalesce;
mod counter;
mod counts;
mod dead_code;
mod deadline;
mod fault;
mod half;
mod liveness;
mod lower;
mod machine;
mod mask;
mod memory;
mod op;
mod outputs;
mod overrides;
mod program;
mod recent;
mod reuse;
mod shadow;
mod source;
mod subgroup;
mod tasks;
mod unrolled;

#[cfg(test)]
mod tests;

pub use buffer::Buffer;
pub use coalesce::Coalescing;
pub use counts::{Branches, Counts, Global, Instructions, Line, Local, Rules};
pub use fault::{Fault, FaultKind};
pub use gpubench_core::class::Class;
pub use mask::MAX_LANES;
pub use reuse::Reuse;
pub use tasks::Period;

use counter::Counter;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::KernelSource;
use machine::Machine;
use memory::Memory;
use program::{Given, Program, Space};
use std::time::Duration;

/// Longest that a run may take unless its caller says otherwise.
pub const DEFAULT_LIMIT: Duration = Duration::from_secs(60);

/// What a kernel is run on.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// Work-groups along each dimension.
    pub groups: [u32; 3],
    /// The words of every buffer, in binding order; vectors lie flat.
    pub buffers: Vec<Buffer>,
    /// The words of the parameter block.
    pub params: Vec<u32>,
}

/// The group in the middle of so many, of an even number the lower: of two along an axis the last may reach beyond what
/// is computed.
pub fn middle(groups: [u32; 3]) -> [u32; 3] {
    groups.map(|count| count.saturating_sub(1) / 2)
}

/// Which groups of a launch are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    /// Only this one.
    One([u32; 3]),
    /// All, one after the other.
    All,
}

/// What is looked at while a kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instrumentation {
    /// Count by these rules.
    pub counts: Option<Rules>,
    /// Look for races. Bounds and barriers are always looked at.
    pub races: bool,
    /// Longest that all groups together may take.
    pub limit: Duration,
    /// Work-items of a subgroup: a power of two, at most 128.
    pub subgroup: u32,
}

impl Default for Instrumentation {
    fn default() -> Self {
        Self { counts: None, races: false, limit: DEFAULT_LIMIT, subgroup: Rules::default().warp }
    }
}

/// What was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// What was counted, where counting was requested.
    pub counts: Option<Counts>,
    /// Every mistake, one for each kind and line. After a mistake the results are not what a
    /// device would give: reads outside give 0, writes outside do nothing.
    pub faults: Vec<Fault>,
}

/// A kernel made ready to be emulated.
#[derive(Clone, Debug)]
pub struct Emulator {
    program: Program,
}

impl Emulator {
    /// Of a kernel in WGSL.
    ///
    /// # Errors
    /// `Build` where naga does not take the text, `Unsupported` where it uses what the emulator
    /// does not know: the text names what and the line.
    pub fn new(kernel: &KernelSource) -> Result<Self> {
        let source = source::Source::read(kernel)?;
        Ok(Self { program: lower::lower(&source)? })
    }

    /// Runs `groups` of `launch`, whose buffers are changed.
    ///
    /// # Errors
    /// `Usage` where the launch lacks a buffer or group, or a rule makes no sense; `OverBudget`
    /// where the groups had not ended after [`Instrumentation::limit`].
    pub fn run(
        &self,
        launch: &mut Launch,
        groups: Groups,
        instrumentation: Instrumentation,
    ) -> Result<Seen> {
        let rules = instrumentation.counts.as_slice();
        let (mut counts, faults) = self.go(launch, groups, rules, instrumentation)?;
        Ok(Seen { counts: counts.pop(), faults })
    }

    /// What the group `group` of `launch` does, by each of `rules`; it is run once.
    ///
    /// # Errors
    /// As [`Self::run`], within [`DEFAULT_LIMIT`]; subgroups are the warps of the first rules.
    pub fn count(
        &self,
        launch: &mut Launch,
        group: [u32; 3],
        rules: &[Rules],
    ) -> Result<Vec<Counts>> {
        let subgroup = rules.first().copied().unwrap_or_default().warp;
        let instrumentation = Instrumentation { subgroup, ..Instrumentation::default() };
        Ok(self.go(launch, Groups::One(group), rules, instrumentation)?.0)
    }

    /// As [`Self::count`], of every group of `launch`, within `limit`.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn count_grid(
        &self,
        launch: &mut Launch,
        rules: &[Rules],
        limit: Duration,
    ) -> Result<Vec<Counts>> {
        let subgroup = rules.first().copied().unwrap_or_default().warp;
        let instrumentation = Instrumentation { subgroup, limit, ..Instrumentation::default() };
        Ok(self.go(launch, Groups::All, rules, instrumentation)?.0)
    }

    /// What a launch left undone once all its groups have run: elements of its outputs
    /// ([`Buffer::track_writes`]) that no work-item wrote.
    pub fn never_written(&self, launch: &Launch) -> Vec<Fault> {
        outputs::never_written(&self.program, launch)
    }

    /// Whether the kernel's text has any write to the buffer at `binding`.
    pub fn writes(&self, binding: usize) -> bool {
        let is_write = |access: &program::Access| {
            access.kind != program::Kind::Read
                && access.place.space == Space::Buffer(binding as u32)
        };
        self.program.accesses.iter().any(is_write)
    }

    fn go(
        &self,
        launch: &mut Launch,
        groups: Groups,
        rules: &[Rules],
        instrumentation: Instrumentation,
    ) -> Result<(Vec<Counts>, Vec<Fault>)> {
        self.check(launch)?;
        rules.iter().try_for_each(check_rules)?;
        check_subgroup(instrumentation.subgroup)?;
        let memory = Memory::new(&self.program, launch, instrumentation.races);
        let counters = rules.iter().map(|rules| Counter::new(&self.program, rules)).collect();
        let mut machine = Machine::new(&self.program, memory, counters, &instrumentation);
        let mut run = 0;
        match groups {
            Groups::One(group) => {
                if group.iter().zip(launch.groups).any(|(&wanted, count)| wanted >= count) {
                    return Err(Error::Usage(format!(
                        "there is no group {group:?}: the launch has {:?} groups",
                        launch.groups
                    )));
                }
                machine.run(launch, group)?;
                run = 1;
            }
            Groups::All => {
                let [nx, ny, nz] = launch.groups;
                for z in 0..nz {
                    for y in 0..ny {
                        for x in 0..nx {
                            machine.restart();
                            machine.run(launch, [x, y, z])?;
                            run += 1;
                        }
                    }
                }
            }
        }
        let Machine { counters, faults, .. } = machine;
        let counts = counters.into_iter().map(|counter| Counts::new(&self.program, run, counter));
        Ok((counts.collect(), faults.found))
    }

    /// Whether the launch has every buffer and parameter that the kernel uses.
    fn check(&self, launch: &Launch) -> Result<()> {
        let words = self.program.given.iter().filter_map(|(given, _)| match given {
            Given::Param(word) => Some(*word as usize + 1),
            _ => None,
        });
        let needed = words.max().unwrap_or(0);
        if needed > launch.params.len() {
            return Err(Error::Usage(format!(
                "{}: the kernel reads {needed} parameters, the launch has {}",
                self.program.file,
                launch.params.len()
            )));
        }
        for access in &self.program.accesses {
            if let Space::Buffer(i) = access.place.space
                && i as usize >= launch.buffers.len()
            {
                return Err(Error::Usage(format!(
                    "{}:{}: there is no buffer for `{}` at binding {i}",
                    self.program.file, access.line, access.place.name
                )));
            }
        }
        Ok(())
    }
}

fn check_subgroup(lanes: u32) -> Result<()> {
    if lanes.is_power_of_two() && lanes <= 128 {
        return Ok(());
    }
    let wrong = format!("a subgroup of {lanes} lanes: it must be a power of two, at most 128");
    Err(Error::Usage(wrong))
}

/// Whether there is such a device.
///
/// # Errors
/// `Usage` where a rule makes no sense.
pub fn check_rules(rules: &Rules) -> Result<()> {
    let Rules { warp, transaction, banks, .. } = *rules;
    let wrong = if !warp.is_power_of_two() || warp > 128 {
        format!("a warp of {warp} lanes: it must be a power of two, at most 128")
    } else if !transaction.is_power_of_two() || transaction < 4 {
        format!("transactions of {transaction} bytes: it must be a power of two, at least 4")
    } else if banks == 0 || banks > 1024 {
        format!("{banks} banks: it must be 1 to 1024")
    } else {
        return Ok(());
    };
    Err(Error::Usage(wrong))
}
