//! The kinds of experiments: the one place beside its folder that names each.

use crate::experiment::{Erased, ErasedExperiment, Experiment};
use gpubench_core::error::Result;
use gpubench_core::workload::Kind;
use gpubench_suite::{Suite, SuiteKind};

/// Every kind, in the order of reports.
pub static EXPERIMENTS: &[&dyn ErasedExperiment] = &[
    &Erased::<crate::kernel::Kernel>::NEW,
    &Erased::<crate::launch::Launch>::NEW,
    &Erased::<crate::copy::Upload>::NEW,
    &Erased::<crate::copy::Download>::NEW,
    &Erased::<crate::transfer::Transfer>::NEW,
    &Erased::<crate::overlap::Overlap>::NEW,
    &Erased::<crate::schedule::Schedule>::NEW,
    &Erased::<crate::checkpoint::Checkpoint>::NEW,
    &Erased::<crate::occupancy::Occupancy>::NEW,
    &Erased::<crate::concurrency::Concurrency>::NEW,
    &Erased::<crate::halo::Halo>::NEW,
    &Erased::<crate::layout::Layout>::NEW,
    &Erased::<crate::characterise::Characterise>::NEW,
    &Erased::<crate::transfer_states::TransferStates>::NEW,
    &Erased::<crate::split::Split>::NEW,
];

/// The kind from which a device's profile is made.
pub const PROFILING: Kind = crate::characterise::Characterise::KIND;
/// The kind whose iteration can be killed and gone on with.
pub const RESUMABLE: Kind = crate::checkpoint::Checkpoint::KIND;
/// The kind that divides a domain into parts.
pub const DOMAIN: Kind = crate::halo::Halo::KIND;

/// Whether a kind is one measurement over all devices of a run.
pub fn several_devices(kind: Kind) -> bool {
    experiment(kind).is_some_and(|experiment| experiment.several_devices())
}

/// The kind of this name; `None` where this build does not know it.
pub fn experiment(kind: Kind) -> Option<&'static dyn ErasedExperiment> {
    EXPERIMENTS.iter().copied().find(|experiment| experiment.kind() == kind)
}

/// The kinds, as suites see them.
pub fn suite_kinds() -> Vec<&'static dyn SuiteKind> {
    EXPERIMENTS.iter().map(|experiment| experiment.as_suite_kind()).collect()
}

/// Loads a suite that may ask for every reference and every experiment of this build.
///
/// # Errors
/// As [`gpubench_suite::load`].
pub fn load(path_or_name: &str) -> Result<Suite> {
    let references: Vec<_> = gpubench_reference::names().collect();
    gpubench_suite::load(path_or_name, &references, &suite_kinds())
}
