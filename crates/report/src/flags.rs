//! What failed, what was skipped and why, and what to know before believing a figure.

use crate::labels::{self, Shared, case_name, details, few, how_often};
use gpubench_analysis::{Aggregate, ReportInput};
use gpubench_document::{Column, Section, Sentence, Table, Unit};

/// Failures, flags, skips and unreadable lines.
pub fn section(input: &ReportInput) -> Section {
    let skips = "Cases that were not run, by reason";
    let section = Section::new("flags", "Failures, flags and skipped cases")
        .table(failures(input))
        .table(flagged(input))
        .table(grouped("skipped", skips, input, &labels::skipped(&input.rows)));
    let warnings = input.sources.iter().flat_map(|source| source.warnings.clone());
    warnings
        .map(|warning| Sentence::from("unreadable: ").name(warning))
        .fold(section, Section::note)
}

fn failures(input: &ReportInput) -> Table {
    let columns = [
        Column::text("outcome", "outcome"),
        Column::text("case", "case"),
        Column::text("device", "device"),
        Column::text("why", "why"),
    ];
    let mut table = Table::new("failed", "Failed", columns);
    for row in input.rows.iter().filter(|row| row.outcome.is_failure()) {
        table.row([
            Sentence::from("✗ ").text(row.outcome.label()).name(how_often(row)).into(),
            case_name(row.key).into(),
            label(input, row).into(),
            details(row.outcome).join("; ").into(),
        ]);
    }
    table
}

fn label(input: &ReportInput, row: &Aggregate) -> String {
    input.reported_devices[row.device].label.clone()
}

/// What to know before believing a figure, the worst first.
fn flagged(input: &ReportInput) -> Table {
    let columns = [
        Column::text("grade", "grade"),
        Column::text("what", "what"),
        Column::new("cases", "cases", Unit::Count),
        Column::text("devices", "devices"),
        Column::text("which", "which"),
    ];
    let mut table = Table::new("flags", "What to know before believing a figure", columns);
    for (grade, _) in labels::GRADES {
        for (text, rows) in labels::flagged(&input.rows, grade) {
            table.row([
                grade.label().into(),
                text.into(),
                (rows.len() as u64).into(),
                few(rows.iter().map(|row| label(input, row))).into(),
                few(rows.iter().map(|row| case_name(row.key))).into(),
            ]);
        }
    }
    table
}

fn grouped(key: &str, title: &'static str, input: &ReportInput, groups: &[Shared]) -> Table {
    let columns = [
        Column::text("what", "what"),
        Column::new("cases", "cases", Unit::Count),
        Column::text("devices", "devices"),
        Column::text("which", "which"),
    ];
    let mut table = Table::new(key, title, columns);
    for (text, rows) in groups {
        table.row([
            text.clone().into(),
            (rows.len() as u64).into(),
            few(rows.iter().map(|row| label(input, row))).into(),
            few(rows.iter().map(|row| case_name(row.key))).into(),
        ]);
    }
    table
}
