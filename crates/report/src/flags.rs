//! What failed, what was skipped and why, and what to know before believing a figure.

use crate::labels::{self, Shared, case_name, few, how_often};
use gpubench_analysis::{Aggregate, ReportInput};
use gpubench_document::{Section, Sentence};
use std::collections::BTreeSet;

/// Failures, flags, skips and unreadable lines, each with the cases that it is of.
pub fn section(input: &ReportInput) -> Section {
    let section = Section::new("flags", "Failures, flags and skipped cases");
    let warnings = input.sources.iter().flat_map(|source| source.warnings.clone());
    let section = warnings
        .map(|warning| Sentence::from("unreadable: ").name(warning))
        .fold(section, Section::note);
    let graded =
        labels::GRADES.into_iter().fold(section.section(failures(input)), |all, (grade, title)| {
            let section = Section::new(title, title);
            all.section(grouped(section, input, &labels::flagged(&input.rows, grade)))
        });
    let skipped = Section::new("skipped", "Left out");
    graded.section(grouped(skipped, input, &labels::skipped(&input.rows)))
}

fn failures(input: &ReportInput) -> Section {
    let failed = input.rows.iter().filter(|row| row.outcome.is_failure());
    failed.fold(Section::new("failed", "Failed"), |section, row| {
        let case =
            Sentence::from("✗ ").name(case_name(row.key)).text(" on ").name(label(input, row));
        let outcome = case.name(how_often(row)).text(": ").text(row.outcome.label());
        let why = row.outcome.details();
        let separator = if why.is_empty() { "" } else { ": " };
        section.text(outcome.text(separator).list("; ", why))
    })
}

fn label<'i>(input: &'i ReportInput, row: &Aggregate) -> &'i str {
    &input.reported_devices[row.device].name
}

/// Which devices, by those that it is not where these are few.
fn on(input: &ReportInput, rows: &[&Aggregate]) -> Sentence {
    let devices: BTreeSet<usize> = rows.iter().map(|row| row.device).collect();
    let all = input.reported_devices.len();
    let named = |wanted: &dyn Fn(&usize) -> bool| {
        let names = (0..all).filter(wanted).map(|at| input.reported_devices[at].name.clone());
        Sentence::new().list(", ", names)
    };
    match all - devices.len() {
        0 if all > 2 => Sentence::from("all ").counted(all as u64, "device"),
        1 | 2 if devices.len() > 2 => {
            Sentence::from("all devices but ").then(named(&|at| !devices.contains(at)))
        }
        _ => named(&|at| devices.contains(at)),
    }
}

/// `12 cases on A card · 1.0 · opencl: why: first, second and 10 more`.
fn grouped(section: Section, input: &ReportInput, groups: &[Shared]) -> Section {
    groups.iter().fold(section, |section, (text, rows)| {
        let of = |name: &dyn Fn(&Aggregate) -> String| few(rows.iter().map(|row| name(row)));
        let cases = Sentence::new().counted(rows.len() as u64, "case").text(" on ");
        let cases = cases.then(on(input, rows)).text(": ").name(text);
        section.text(cases.text(": ").name(of(&|row| case_name(row.key))))
    })
}
