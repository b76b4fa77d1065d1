//! Cases of one kind with all their details.

use crate::input::ReportInput;
use gpubench_analysis::Aggregate;
use gpubench_core::record::Detail;

/// One case on one device, of the first round that was measured.
pub(super) struct DetailedCase<'m, 'a, R, S> {
    pub row: &'m Aggregate<'a>,
    pub raw: &'a R,
    pub summary: S,
}

/// The cases with a time whose detail is of the kind that `of` takes, each put together by `summarise`.
pub(super) fn detailed_cases<'m, 'a, R, S>(
    input: &'m ReportInput<'a>,
    of: impl Fn(&'a Detail) -> Option<&'a R>,
    summarise: impl Fn(&R) -> Option<S>,
) -> Vec<DetailedCase<'m, 'a, R, S>> {
    let timed = input.rows.iter().filter(|row| row.time.is_some());
    let case = |row: &'m Aggregate<'a>| {
        let raw = row.records.iter().find_map(|record| record.detail.as_ref().and_then(&of))?;
        Some(DetailedCase { row, raw, summary: summarise(raw)? })
    };
    timed.filter_map(case).collect()
}
