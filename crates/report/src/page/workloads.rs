//! Each workload: how its time grows with size, every sample, and what came of each case.

use super::{samples, sweep};
use crate::labels::{capitalised, counts, flag_names, how_often, mark, size, time, workload_name};
use crate::render::html::table;
use crate::render::markup::shown;
use crate::results::{Cases, all_families};
use gpubench_analysis::{Aggregate, ReportInput};
use gpubench_core::text::counted;
use gpubench_core::workload::Kind;
use gpubench_document::{Column, Sentence, Table, Unit};
use maud::{Markup, html};
use std::collections::BTreeSet;

/// The section's anchor.
pub(super) const ID: &str = "workloads";

pub(super) fn body(input: &ReportInput) -> Markup {
    html! {
        p {
            "Open a workload for its plots. In the plots of samples every dot is one sample, and every line of dots one round (a fresh process); "
            "dots stand where they differ from the row's median in per cent, so that rows of different sizes can be compared. "
            "The grey box is the 95 % interval of the median; triangles at the edge are samples further out. "
            "The table of a workload has every device, and why it skipped what it skipped."
        }
        @for (family, cases) in all_families(input) {
            h3 { (capitalised(family)) }
            @for rows in by_workload(&cases).chunk_by(|a, b| workload(a) == workload(b)) { (details(input, rows)) }
        }
    }
}

/// What was to be run, by workload and what is measured of it.
fn by_workload<'r, 'a>(cases: &Cases<'r, 'a>) -> Vec<&'r Aggregate<'a>> {
    let mut rows: Vec<_> = cases.values().flat_map(|rows| rows.values().copied()).collect();
    rows.sort_by_key(|row| workload(row));
    rows
}

fn workload<'a>(row: &Aggregate<'a>) -> (&'a str, Kind) {
    (&row.key.workload, row.key.measure)
}

fn details(input: &ReportInput, rows: &[&Aggregate]) -> Markup {
    let name = workload_name(rows[0].key, 120);
    let sizes: BTreeSet<_> = rows.iter().map(|row| row.key).collect();
    let devices: BTreeSet<_> = rows.iter().map(|row| row.device).collect();
    html! {
        details {
            summary {
                h4 { (shown(&name.clone().into())) }
                span { (counted(sizes.len(), "size")) ", " (counted(devices.len(), "device")) ": " (shown(&counts(rows.iter().copied()))) }
            }
            div.plots {
                (sweep::figures(input, rows))
                @for device in devices { (samples::figure(input, rows, device)) }
            }
            (table(&figures(input, rows, name)))
        }
    }
}

fn figures(input: &ReportInput, rows: &[&Aggregate], name: String) -> Table {
    let device = |row: &&Aggregate| input.reported_devices[row.device].name.clone();
    let samples = |row: &&Aggregate| -> usize { row.rounds().map(|of| of.samples.len()).sum() };
    Table::of("figures", name, rows.iter().copied())
        .column(Column::text("size", "size"), |row| size(row.key))
        .column(Column::text("device", "device"), device)
        .column(Column::new("time", "median ± 95 %", Unit::Seconds), |row| {
            time(row).map(|time| time.quantity)
        })
        .column(Column::new("rounds", "rounds", Unit::Count), |row| row.rounds().count() as u64)
        .column(Column::new("samples", "samples", Unit::Count), |row| samples(row) as u64)
        .column(Column::text("mark", Sentence::new()), |row| mark(row))
        .column(Column::text("result", "result"), |row| result(row))
        .column(Column::text("against", "verified against"), |row| against(row))
        .column(Column::text("flags", "flags"), |row| flag_names(row))
        .table()
        .without_missing()
}

/// The outcome, how often where not in every round, and why it is none.
fn result(row: &Aggregate) -> Sentence {
    let result = Sentence::from(row.outcome.label()).name(how_often(row));
    match row.outcome.details() {
        why if why.is_empty() => result,
        why => result.text(": ").list("; ", why),
    }
}

/// What the results of all rounds were compared with.
fn against(row: &Aggregate) -> Sentence {
    let against = row.records.iter().find_map(|record| record.against.as_deref());
    against.map_or_else(Sentence::new, |against| Sentence::new().name(against))
}
