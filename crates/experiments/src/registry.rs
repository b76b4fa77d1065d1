//! The kinds of experiments: the one place beside its folder that names each.

pub use crate::characterise::profile::{is_probe, profile};
pub use crate::checkpoint::analysis::SaveSummary;
use crate::experiment::{ErasedExperiment, Experiment};
use crate::plan::Case;
use gpubench_analysis::ReportInput;
use gpubench_core::error::{Error, Result};
use gpubench_core::record::{Detail, Record, Recorded};
use gpubench_core::workload::Kind;
use gpubench_document::Section;
use gpubench_model::streams::Stages;
use gpubench_suite::{ExperimentKind, Suite};

/// Every kind, in the order of reports.
pub static EXPERIMENTS: &[ErasedExperiment] = &[
    ErasedExperiment::of::<crate::kernel::Kernel>(),
    ErasedExperiment::of::<crate::cold::Cold>(),
    ErasedExperiment::of::<crate::launch::Launch>(),
    ErasedExperiment::of::<crate::copy::Upload>(),
    ErasedExperiment::of::<crate::copy::Download>(),
    ErasedExperiment::of::<crate::transfer::Transfer>(),
    ErasedExperiment::of::<crate::zero_copy::ZeroCopy>(),
    ErasedExperiment::of::<crate::overlap::Overlap>(),
    ErasedExperiment::of::<crate::schedule::Schedule>(),
    ErasedExperiment::of::<crate::checkpoint::Checkpoint>(),
    ErasedExperiment::of::<crate::occupancy::Occupancy>(),
    ErasedExperiment::of::<crate::concurrency::Concurrency>(),
    ErasedExperiment::of::<crate::halo::Halo>(),
    ErasedExperiment::of::<crate::layout::Layout>(),
    ErasedExperiment::of::<crate::characterise::Characterise>(),
    ErasedExperiment::of::<crate::transfer_states::TransferStates>(),
    ErasedExperiment::of::<crate::split::Split>(),
    ErasedExperiment::of::<crate::sustain::Sustain>(),
];

/// The kind that times a launch whose caches were flushed.
pub const COLD: Kind = crate::cold::Cold::KIND;
/// The kind that times a launch on an idle device.
pub const LATENCY: Kind = crate::launch::Launch::KIND;
/// The kind from which a device's profile is made.
pub const PROFILING: Kind = crate::characterise::Characterise::KIND;
/// The kind whose iteration can be killed and gone on with.
pub const RESUMABLE: Kind = crate::checkpoint::Checkpoint::KIND;
/// The kind that divides a domain into parts.
pub const DOMAIN: Kind = crate::halo::Halo::KIND;

/// Whether a kind is one measurement over all devices of a run.
pub fn several_devices(kind: Kind) -> bool {
    experiment(kind).is_some_and(|experiment| experiment.several_devices)
}

/// Seconds that a case measures, where its options say so and not the run.
pub fn seconds(case: &Case) -> Option<f64> {
    (experiment(case.key.measure)?.seconds)(case)
}

/// The kind of this name; `None` where this build does not know it.
pub fn experiment(kind: Kind) -> Option<&'static ErasedExperiment> {
    EXPERIMENTS.iter().find(|experiment| experiment.kind.kind() == kind)
}

/// As [`experiment`].
///
/// # Errors
/// `Unsupported` where this build does not know it.
pub(crate) fn known(kind: Kind) -> Result<&'static ErasedExperiment> {
    experiment(kind).ok_or_else(|| Error::Unsupported("no experiment of this build".into()))
}

/// Seconds of a divisible problem's stages in isolation, where its experiment measured them.
pub fn stages(detail: &Detail) -> Option<Stages> {
    (experiment(detail.kind())?.stages)(detail)
}

/// What reports say of every experiment, in this order, and of what several show together.
pub fn sections(input: &ReportInput) -> Vec<Section> {
    let kinds = EXPERIMENTS.iter().filter_map(|experiment| Some(experiment.section?(input)));
    let shared = [
        crate::api_cost::section(input),
        crate::ladder::section(input),
        crate::prediction_scores::section(input),
    ];
    kinds.chain(shared).filter(|section| !section.is_empty()).collect()
}

/// The recordings of which `record` keeps the steps, with what each is. Empty where it keeps
/// none: its measure has no recording of several steps, or no clock distinguished them.
pub fn recorded(record: &Record) -> Vec<Recorded> {
    let timelines = |detail: &Detail| (experiment(detail.kind())?.timelines)(detail);
    let Some((clock, timed)) = record.detail.as_ref().and_then(timelines) else { return vec![] };
    let kept = timed.into_iter().filter(|(_, timed)| !timed.steps.is_empty());
    kept.map(|(name, timed)| Recorded { name, clock, steps: timed.steps }).collect()
}

/// The save that costs an iteration least, of those that `detail` holds; `None` where it holds none.
pub fn cheapest_save(detail: &Detail) -> Option<SaveSummary> {
    let summary = crate::checkpoint::analysis::checkpoint(&detail.read()?)?;
    summary.cheapest().copied()
}

/// The kinds, as suites see them.
pub fn experiment_kinds() -> Vec<&'static dyn ExperimentKind> {
    EXPERIMENTS.iter().map(|experiment| experiment.kind).collect()
}

/// Loads a suite that may ask for every reference and every experiment of this build.
///
/// # Errors
/// As [`gpubench_suite::load`].
pub fn load(path_or_name: &str) -> Result<Suite> {
    let references: Vec<_> = gpubench_reference::names().collect();
    gpubench_suite::load(path_or_name, &references, &experiment_kinds())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::Clock;
    use gpubench_core::record::{NamedStep, Timed, sample};

    #[test]
    fn without_cases_there_are_no_sections() {
        assert_eq!(sections(&ReportInput::new(vec![])), []);
    }

    #[test]
    fn a_record_yields_the_recordings_whose_steps_it_keeps() {
        let upload = NamedStep { name: "upload 0".into(), queue: 0, started: 0.0, ended: 1.0 };
        let timed = |steps: &[NamedStep]| Timed { walls: vec![1.0], steps: steps.to_vec() };
        let runs = vec![("equal 10", timed(&[upload])), ("search", timed(&[]))];
        let schedule = crate::schedule::sample::schedule(Clock::Device, runs);
        let mut record = sample::record(sample::key("pair", 1), 1.0);
        assert_eq!(recorded(&record), []);
        record.detail = Some(Detail::new(&schedule));
        let found = recorded(&record);
        let listed: Vec<_> = found.iter().map(|r| (r.name.as_str(), r.clock)).collect();
        assert_eq!(listed, [("equal 10", Clock::Device)]);
    }
}
