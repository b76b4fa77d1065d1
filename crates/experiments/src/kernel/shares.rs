//! Launches one by one: for a timeline, and for what each kernel of a program takes of its time.

use crate::experiment::Timelines;
use crate::plan::{Candidate, Case, launches};
use crate::results::detailed_cases;
use gpubench_analysis::ReportInput;
use gpubench_core::error::Result;
use gpubench_core::gpu::{Clock, StepTimes, Timeline};
use gpubench_core::record::{Data, NamedStep, Timed};
use gpubench_core::workload::Kind;
use gpubench_device::Device;
use gpubench_document::{Column, Section, Table, Unit};
use serde::{Deserialize, Serialize};

/// What launches show one by one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shares {
    /// The kernels of a program, the one that is launched first before the others, over one run of it;
    /// none where it is no program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<KernelShare>,
    /// The clock of `steps`.
    #[serde(default = "host")]
    pub clock: Clock,
    /// The first launches of the last sample; none where no clock distinguishes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<NamedStep>,
}

/// Earlier records have no steps, and no clock of them.
fn host() -> Clock {
    Clock::Host
}

/// Launches of a program that a record keeps, and of a kernel, whose launches are alike.
const MAX_STEPS: [usize; 2] = [64, 8];

/// Launches of a sample, as far as a record keeps them.
pub(super) struct Launches {
    clock: Clock,
    steps: Vec<StepTimes>,
}

impl Launches {
    /// Those of a sample's timeline.
    pub(super) fn of(candidate: &Candidate, timeline: &Timeline) -> Self {
        let max = MAX_STEPS[usize::from(!candidate.is_program())];
        Self { clock: timeline.clock, steps: timeline.steps.iter().take(max).cloned().collect() }
    }

    fn named(&self, candidate: &Candidate) -> Vec<NamedStep> {
        let entries: Vec<&str> = candidate.kernels().map(|k| k.entry.as_str()).collect();
        let passes = candidate.passes();
        let launches = self.steps.iter().zip(passes.iter().cycle()).enumerate();
        let named = launches.map(|(i, (times, pass))| NamedStep {
            name: format!("{} {i}", entries.get(pass.kernel as usize).copied().unwrap_or_default()),
            queue: 0,
            started: times.started,
            ended: times.ended,
        });
        named.collect()
    }
}

/// What a record keeps of the launches of `last`, the last sample; a program is run once more, by
/// itself. `None` where no clock distinguishes launches.
pub(super) fn of(
    device: &mut dyn Device,
    case: &Case,
    candidate: &Candidate,
    last: Option<&Launches>,
) -> Result<Option<Shares>> {
    let kernels = match candidate.is_program() {
        true => {
            let timeline = device.run(&launches(case, candidate, case.kernel(), 1))?;
            shares(candidate, &timeline).unwrap_or_default()
        }
        false => vec![],
    };
    let steps = last.map(|last| last.named(candidate)).unwrap_or_default();
    let clock = last.map_or(Clock::Host, |last| last.clock);
    let some = !(kernels.is_empty() && steps.is_empty());
    Ok(some.then_some(Shares { kernels, clock, steps }))
}

/// The launches, by what they are.
pub(super) fn timelines(shares: &Shares) -> Option<Timelines> {
    let timed = Timed { walls: vec![], steps: shares.steps.clone() };
    Some((shares.clock, vec![("launches of a sample".into(), timed)]))
}

/// A kernel of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelShare {
    /// Its entry point.
    pub entry: String,
    /// How often it was launched.
    pub launches: u64,
    /// Seconds of all its launches.
    pub seconds: f64,
}

impl Data for Shares {
    const KIND: Kind = Kind::KERNEL;
}

/// The launches of each kernel, added up; `None` where no clock distinguishes them.
fn shares(candidate: &Candidate, timeline: &Timeline) -> Option<Vec<KernelShare>> {
    let named = |kernel: &gpubench_core::gpu::KernelSource| KernelShare {
        entry: kernel.entry.clone(),
        launches: 0,
        seconds: 0.0,
    };
    let mut kernels: Vec<_> = candidate.kernels().map(named).collect();
    let passes = candidate.passes();
    if timeline.steps.len() != passes.len() {
        return None;
    }
    for (pass, times) in passes.iter().zip(&timeline.steps) {
        let kernel = kernels.get_mut(pass.kernel as usize)?;
        kernel.launches += 1;
        kernel.seconds += times.duration();
    }
    Some(kernels)
}

/// One table a program.
pub(super) fn section(input: &ReportInput) -> Section {
    let section = Section::new("programs", "Programs").text(
        "A program is timed as a whole. The share of a kernel is that of all its launches in one run of \
         the program; what lies between launches is no kernel's.",
    );
    let cases = detailed_cases::<Shares>(input).filter(|case| !case.data.kernels.is_empty());
    cases.fold(section, |section, case| section.section(case.section().table(table(&case.data))))
}

fn table(shares: &Shares) -> Table {
    let all: f64 = shares.kernels.iter().map(|kernel| kernel.seconds).sum();
    Table::of("kernels", "Kernels", &shares.kernels)
        .column(Column::text("kernel", "kernel"), |of| of.entry.clone())
        .column(Column::new("launches", "launches", Unit::Count), |of| of.launches)
        .column(Column::new("time", "time of all", Unit::Seconds), |of| of.seconds)
        .column(Column::new("share", "share", Unit::Fraction), |of| match all > 0.0 {
            true => of.seconds / all,
            false => 0.0,
        })
        .table()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::results::testing::section_of;

    #[test]
    fn a_program_shows_the_share_of_each_kernel() {
        let kernel =
            |entry: &str, launches, seconds| KernelShare { entry: entry.into(), launches, seconds };
        let kernels = vec![kernel("norm", 64, 1e-3), kernel("update", 63, 3e-3)];
        let shares = Shares { kernels, clock: Clock::Device, steps: vec![] };
        let section = section_of::<Kernel>(&shares).unwrap();
        let text = format!("{section:?}");
        assert!(text.contains("norm") && text.contains("0.25") && text.contains("0.75"), "{text}");
    }
}
