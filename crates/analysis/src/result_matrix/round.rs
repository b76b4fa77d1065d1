//! What a ranking keeps of a record.

use super::{Case, Cell, LATENCY};
use crate::aggregate::Tally;
use crate::derived_flags::Flagged;
use crate::roof::{Figure, items};
use gpubench_core::gpu::DeviceKind;
use gpubench_core::record::{Flag, Header, Outcome, Record, Severity};
use gpubench_core::workload::Ceiling;
use gpubench_stats::Summary;

/// What a record says of its case, its samples summarised. Its flags may still change ([`derive_flags`]): the cell
/// has no tally yet.
///
/// [`derive_flags`]: crate::derive_flags
#[derive(Clone, Debug)]
pub struct Round {
    /// Position of the device in the run's header.
    pub(super) device: usize,
    pub(super) case: Case,
    pub(super) cell: Cell,
    /// How it counts.
    severity: Severity,
    /// Whether it was verified.
    is_right: bool,
    summary: Option<Summary>,
    flags: Vec<Flag>,
    /// Work-items, where known.
    items: u64,
    /// Seconds of the reference kernel when the run began, and around the case.
    began: Option<f64>,
    around: Option<[f64; 2]>,
}

impl Round {
    /// Of a record of the run with this header.
    pub fn of(header: &Header, record: Record) -> Self {
        let kind = header.devices.get(record.device).map(|device| device.kind);
        // Nobody can check them any more: who includes imported devices ranks them as they are.
        let as_it_is = record.outcome == Outcome::Unchecked && kind == Some(DeviceKind::Imported);
        let (family, kernel) = (ranking_family(&record).to_owned(), record.kernel.as_ref());
        Self {
            device: record.device,
            cell: Cell::of(&record),
            severity: if as_it_is { Severity::Ok } else { record.outcome.severity() },
            is_right: record.outcome.is_ok(),
            summary: record.summary(),
            items: kernel.map_or(0, items),
            began: record.began(),
            around: record.around(),
            case: Case { key: record.key, family },
            flags: record.flags,
        }
    }

    /// What it counts for with the flags that it has now.
    pub(super) fn tally(&self) -> Tally {
        Tally::of_round(self.severity, &self.flags, self.shown())
    }

    /// Its samples, where nothing of them went wrong.
    fn shown(&self) -> Option<&Summary> {
        let wrong = self.severity.is_skipped() || self.severity.is_failure();
        self.summary.as_ref().filter(|_| !wrong)
    }
}

impl Flagged for Round {
    fn device(&self) -> usize {
        self.device
    }

    fn began(&self) -> Option<f64> {
        self.began
    }

    fn around(&self) -> Option<[f64; 2]> {
        self.around
    }

    fn summary(&self) -> Option<Summary> {
        self.summary
    }

    fn figure(&self) -> Option<Figure<'_>> {
        let shown = self.shown().filter(|_| self.case.key.measure.is_kernel());
        let seconds =
            shown.map(|summary| summary.interval).filter(|[fastest, _]| *fastest > 0.0)?;
        let items = self.items;
        Some(Figure { seconds, items, ..self.cell.figure(&self.case.key.workload) })
    }

    fn ceiling(&self) -> Option<Ceiling> {
        self.cell.ceiling.filter(|_| self.is_right)
    }

    fn flags(&self) -> &[Flag] {
        &self.flags
    }

    fn flags_mut(&mut self) -> &mut Vec<Flag> {
        &mut self.flags
    }
}

/// The family that a record counts in. A launch is no transfer, whatever its suite calls it: what it costs
/// has nothing to do with what a byte costs.
pub fn ranking_family(record: &Record) -> &str {
    let is_launch = record.family == "transfer" && record.kernel.is_some();
    if is_launch { LATENCY } else { &record.family }
}
