//! What failed, what was skipped and why, and what to know before believing a figure.

use crate::labels::{self, Shared, case_name, few, how_often};
use gpubench_analysis::{Aggregate, ReportInput};
use gpubench_core::record::{Grade, Outcome};
use gpubench_document::{Column, Section, Sentence, Table, Unit};
use std::collections::BTreeSet;

/// Failures, flags, skips and unreadable lines, each with the cases that it is of.
pub fn section(input: &ReportInput) -> Section {
    let section = Section::new("flags", "Failures, flags and skipped cases");
    let warnings = input.sources.iter().flat_map(|source| source.warnings.clone());
    let section = warnings
        .map(|warning| Sentence::from("unreadable: ").name(warning))
        .fold(section, Section::note);
    let section = section.table(by_device(input));
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

/// `why; 12 cases on A card · 1.0 · opencl: first, second and 10 more`.
fn grouped(section: Section, input: &ReportInput, groups: &[Shared]) -> Section {
    groups.iter().fold(section, |section, (text, rows)| {
        let names = few(rows.iter().map(|row| case_name(row.key)));
        let why = Sentence::new().name(text).text("; ");
        let cases = why.counted(rows.len() as u64, "case").text(" on ").then(on(input, rows));
        section.text(cases.text(": ").name(names))
    })
}

/// What a case may have come to: a word for programs, a heading, and whether it has.
type CaseResult = (&'static str, &'static str, fn(&Aggregate) -> bool);

const RESULTS: [CaseResult; 5] = [
    ("verified", "verified", is_verified),
    ("warning", "of these with !", |row| {
        is_verified(row) && row.time.is_some() && row.is_doubtful()
    }),
    ("wrong", "failed or hidden", |row| is_wrong(row)),
    ("unchecked", "unchecked", |row| *row.outcome == Outcome::Unchecked && !is_wrong(row)),
    ("skipped", "skipped", |row| row.is_skipped()),
];

fn is_verified(row: &Aggregate) -> bool {
    row.outcome.is_ok() && !is_wrong(row)
}

fn is_wrong(row: &Aggregate) -> bool {
    row.outcome.is_failure() || row.grade() == Some(Grade::Hidden)
}

/// How many of each device's cases came to what, as far as any did; nothing for one device, of which the counts
/// above speak.
fn by_device(input: &ReportInput) -> Table {
    let devices = &input.reported_devices;
    let shown = devices.iter().enumerate().filter(|_| devices.len() > 1);
    let found = RESULTS.iter().filter(|(.., is)| input.rows.iter().any(is));
    Table::of("by_device", "What the cases of each device came to", shown)
        .column(Column::names("device", "device"), |(_, device)| device.name.clone())
        .columns(
            found,
            |(key, title, _)| Column::new(key, *title, Unit::Count),
            |(place, _), (.., is)| {
                let its = input.rows.iter().filter(|row| row.device == *place);
                its.filter(|row| is(row)).count() as u64
            },
        )
        .table()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::text;
    use gpubench_analysis::Source;
    use gpubench_core::gpu::DeviceInfo;
    use gpubench_core::record::sample::{device, header, key, outcome, record};
    use gpubench_core::record::{Flag, Record};
    use gpubench_document::Cell;

    fn of(devices: usize, records: &[Record]) -> Section {
        let header =
            header((0..devices).map(|index| DeviceInfo { index, ..device("opencl") }).collect());
        let name = "sample.jsonl".into();
        let source = Source { name, header: &header, records, footer: None, warnings: vec![] };
        section(&ReportInput::new(vec![source]))
    }

    /// A case stands in one column, but for "of these", which are some of those before.
    #[test]
    fn an_unchecked_case_with_a_warning_is_none_of_the_verified() {
        let doubtful = |name: &str, outcome| Record {
            flags: vec![Flag::Drift("20 % longer".into())],
            outcome,
            device: 1,
            ..record(key(name, 1), 1.0)
        };
        let verified = doubtful("a", record(key("a", 1), 1.0).outcome);
        let records = [verified, doubtful("b", Outcome::Unchecked)];
        let section = of(2, &records);
        let table = section.find_table("by_device").unwrap();
        let keys: Vec<&str> = table.columns().iter().map(Column::key).collect();
        assert_eq!(keys, ["device", "verified", "warning", "unchecked"]);
        assert_eq!(table.rows()[1][1..], [1, 1, 1].map(Cell::Count));
    }

    #[test]
    fn each_device_has_a_row_and_an_outcome_of_none_no_column() {
        let on = |device, record| Record { device, ..record };
        let doubtful =
            Record { flags: vec![Flag::Drift("20 % longer".into())], ..record(key("b", 1), 1.0) };
        let records = [
            record(key("a", 1), 1.0),
            doubtful,
            on(1, record(key("a", 1), 1.0)),
            on(1, outcome(key("b", 1), Outcome::Skipped("no time".into()))),
            on(1, outcome(key("c", 1), Outcome::Failed("it broke".into()))),
        ];
        let section = of(2, &records);
        let table = section.find_table("by_device").unwrap();
        let keys: Vec<&str> = table.columns().iter().map(Column::key).collect();
        assert_eq!(keys, ["device", "verified", "warning", "wrong", "skipped"]);
        let counts = |row: usize| table.rows()[row][1..].to_vec();
        assert_eq!(counts(0), [2, 1, 0, 0].map(Cell::Count));
        assert_eq!(counts(1), [1, 0, 1, 1].map(Cell::Count));
        let text = text::section(&section, None);
        assert!(
            text.contains("no time; 1 case on Invented GPU · 1.0 · opencl #2: b n=1"),
            "{text}"
        );
        assert_eq!(of(1, &records[..2]).find_table("by_device"), None);
    }
}
