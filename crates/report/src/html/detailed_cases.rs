//! Cases of one kind with all their details.

use crate::input::ReportInput;
use gpubench_analysis::Aggregate;
use gpubench_core::record::Data;

/// One case on one device, of the first round that was measured.
pub(super) struct DetailedCase<'m, 'a, R, S> {
    pub row: &'m Aggregate<'a>,
    pub raw: R,
    pub summary: S,
}

/// The cases with a time whose details are an `R`, each put together by `summarise`.
pub(super) fn detailed_cases<'m, 'a, R: Data, S>(
    input: &'m ReportInput<'a>,
    summarise: impl Fn(&R) -> Option<S>,
) -> Vec<DetailedCase<'m, 'a, R, S>> {
    let timed = input.rows.iter().filter(|row| row.time.is_some());
    let case = |row: &'m Aggregate<'a>| {
        let raw = row.records.iter().find_map(|record| record.detail.as_ref()?.read::<R>())?;
        Some(DetailedCase { row, summary: summarise(&raw)?, raw })
    };
    timed.filter_map(case).collect()
}
