//! What each kernel of a program takes of its time.

use crate::plan::{Candidate, Case, launches};
use crate::results::detailed_cases;
use gpubench_analysis::ReportInput;
use gpubench_core::error::Result;
use gpubench_core::gpu::Timeline;
use gpubench_core::record::Data;
use gpubench_core::workload::Kind;
use gpubench_device::Device;
use gpubench_document::{Column, Section, Sentence, Table, Unit};
use serde::{Deserialize, Serialize};

/// The kernels of a program, the one that is launched first before the others, over one run of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shares {
    /// Each kernel.
    pub kernels: Vec<KernelShare>,
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

/// Runs a program once, and adds up the launches of each kernel; `None` where no clock
/// distinguishes them.
pub(super) fn measure(
    device: &mut dyn Device,
    case: &Case,
    candidate: &Candidate,
) -> Result<Option<Shares>> {
    let timeline = device.run(&launches(case, candidate, case.kernel(), 1))?;
    Ok(shares(candidate, &timeline))
}

fn shares(candidate: &Candidate, timeline: &Timeline) -> Option<Shares> {
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
    Some(Shares { kernels })
}

/// One table a program.
pub(super) fn section(input: &ReportInput) -> Section {
    let section = Section::new("programs", "Programs").text(
        "A program is timed as a whole. The share of a kernel is that of all its launches in one run of \
         the program; what lies between launches is no kernel's.",
    );
    let cases = detailed_cases::<Shares>(input);
    cases.fold(section, |section, case| section.section(case.section().table(table(&case.data))))
}

fn table(shares: &Shares) -> Table {
    let columns = [
        Column::text("kernel", "kernel"),
        Column::new("launches", "launches", Unit::Count),
        Column::new("time", "time of all", Unit::Seconds),
        Column::new("share", "share", Unit::Fraction),
    ];
    let mut table = Table::new("kernels", Sentence::from("Kernels"), columns);
    let all: f64 = shares.kernels.iter().map(|kernel| kernel.seconds).sum();
    for KernelShare { entry, launches, seconds } in &shares.kernels {
        let share = if all > 0.0 { seconds / all } else { 0.0 };
        table.row([entry.clone().into(), (*launches).into(), (*seconds).into(), share.into()]);
    }
    table
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
        let shares = Shares { kernels: vec![kernel("norm", 64, 1e-3), kernel("update", 63, 3e-3)] };
        let section = section_of::<Kernel>(&shares).unwrap();
        let text = format!("{section:?}");
        assert!(text.contains("norm") && text.contains("0.25") && text.contains("0.75"), "{text}");
    }
}
