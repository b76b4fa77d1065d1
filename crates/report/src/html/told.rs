//! Cases of one kind with what they tell in full.

use crate::rows::Row;
use crate::subject::Material;
use gpubench_core::record::Detail;

/// One case on one device, of the first round that was measured.
pub(super) struct Told<'m, 'a, R, S> {
    pub row: &'m Row<'a>,
    pub raw: &'a R,
    pub summary: S,
}

/// The cases with a time whose detail is of the kind that `of` takes, each put together by `summarise`.
pub(super) fn told<'m, 'a, R, S>(
    material: &'m Material<'a>,
    of: impl Fn(&'a Detail) -> Option<&'a R>,
    summarise: impl Fn(&R) -> Option<S>,
) -> Vec<Told<'m, 'a, R, S>> {
    let timed = material.rows.iter().filter(|row| row.time.is_some());
    let case = |row: &'m Row<'a>| {
        let raw = row.records.iter().find_map(|record| record.detail.as_ref().and_then(&of))?;
        Some(Told { row, raw, summary: summarise(raw)? })
    };
    timed.filter_map(case).collect()
}
