//! What a ranking keeps of a run's records.

use super::{Case, Cell, LATENCY};
use crate::aggregate::Tally;
use crate::derived_flags::Flagged;
use crate::roof::{Figure, items};
use gpubench_core::gpu::DeviceKind;
use gpubench_core::record::{Flag, Header, Outcome, Record, Severity};
use gpubench_core::workload::{CaseKey, Ceiling};
use gpubench_stats::Summary;
use std::collections::HashMap;
use std::sync::Arc;

/// What a ranking keeps of a run: its records without their samples, and each case once.
#[derive(Clone, Debug, Default)]
pub struct RunRounds {
    /// One a record, in their order.
    pub rounds: Vec<Round>,
    /// The cases, as they are numbered in the run.
    pub(super) cases: Vec<Arc<Case>>,
}

impl RunRounds {
    /// Of records in memory.
    pub fn of(header: &Header, records: &[Record]) -> Self {
        let mut numbers: HashMap<&CaseKey, usize> = HashMap::new();
        let mut run = Self::default();
        for record in records {
            let next = numbers.len();
            let number = *numbers.entry(&record.key).or_insert(next);
            run.add(header, record.clone(), number);
        }
        run
    }

    /// Takes in a record of the run with this header. `number` is that of its case: cases are numbered from 0 in the
    /// order in which they are met.
    pub fn add(&mut self, header: &Header, record: Record, number: usize) {
        let family = ranking_family(&record);
        match self.cases.get_mut(number) {
            Some(case) if case.is_unlike(family) => Arc::make_mut(case).family = family.to_owned(),
            Some(_) => {}
            None => {
                let family = family.to_owned();
                self.cases.push(Arc::new(Case { key: record.key.clone(), family }));
            }
        }
        self.rounds.push(Round::of(header, record, number, self.cases[number].clone()));
    }
}

/// What a record says of its case, its samples summarised. Its flags may still change ([`derive_flags`]): the cell
/// has no tally yet.
///
/// [`derive_flags`]: crate::derive_flags
#[derive(Clone, Debug)]
pub struct Round {
    /// Position of the device in the run's header.
    pub(super) device: usize,
    /// Number of the case in the run.
    pub(super) number: usize,
    case: Arc<Case>,
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
    fn of(header: &Header, record: Record, number: usize, case: Arc<Case>) -> Self {
        let kind = header.devices.get(record.device).map(|device| device.kind);
        // Nobody can check them any more: who includes imported devices ranks them as they are.
        let as_it_is = record.outcome == Outcome::Unchecked && kind == Some(DeviceKind::Imported);
        Self {
            device: record.device,
            number,
            case,
            cell: Cell::of(&record),
            severity: if as_it_is { Severity::Ok } else { record.outcome.severity() },
            is_right: record.outcome.is_ok(),
            summary: record.summary(),
            items: record.kernel.as_ref().map_or(0, items),
            began: record.began(),
            around: record.around(),
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

impl Case {
    /// Whether another record of it shows another family: one that was skipped has no kernel, and does not show that it
    /// is a launch.
    pub(super) fn is_unlike(&self, family: &str) -> bool {
        family == LATENCY && self.family != LATENCY
    }
}

/// The family that a record counts in. A launch is no transfer, whatever its suite calls it: what it costs
/// has nothing to do with what a byte costs.
pub fn ranking_family(record: &Record) -> &str {
    let is_launch = record.family == "transfer" && record.kernel.is_some();
    if is_launch { LATENCY } else { &record.family }
}
