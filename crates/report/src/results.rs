//! What was measured: one row a case, the devices side by side.

use super::labels::{capitalised, case_name, counts, mark, rate, time};
use gpubench_analysis::{Aggregate, ReportInput, family_place, ranking_family};
use gpubench_core::workload::CaseKey;
use gpubench_document::{Cell, Column, Section, Sentence, Table, Unit};
use gpubench_stats::{Basis, clear_best};
use std::collections::{BTreeMap, BTreeSet};

/// The cases of a family that ran on some device, each with its rows by device.
pub(crate) type Cases<'r, 'a> = BTreeMap<&'a CaseKey, BTreeMap<usize, &'r Aggregate<'a>>>;

/// One table a family, and how many cases came out how.
pub fn section(input: &ReportInput) -> Section {
    let section = Section::new("results", "Results").text(
        "The median time of one operation over all rounds, ± the farther end of its 95 % interval, and its work \
         per second. Marked as a case's best is a time whose interval lies below all others' and is narrower than its \
         lead; that is no ranking. A figure with ! misleads; a word in place of a figure says why there is \
         none: the reasons are under Failures, flags and skipped cases.",
    );
    let tables = families(input).into_iter().map(|(family, cases)| table(input, family, &cases));
    let section = tables.fold(section, Section::table);
    if section.is_empty() {
        return section;
    }
    let section = section.text(counts(&input.rows));
    of_single_rounds(input).into_iter().fold(section, Section::text)
}

/// What the intervals do not say, where they are of single rounds. Devices differ in it: only one with
/// enough cases shows its drift.
fn of_single_rounds(input: &ReportInput) -> Option<Sentence> {
    let with = |basis| -> Vec<String> {
        let times = input.rows.iter().filter_map(|row| Some((row.device, row.time?.basis)));
        let devices: BTreeSet<usize> =
            times.filter(|(_, of)| *of == basis).map(|(device, _)| device).collect();
        devices.into_iter().map(|device| input.reported_devices[device].name.clone()).collect()
    };
    let room = "with room for the drift that the device's other cases showed meanwhile";
    let one = Sentence::from("One round: ± is of its samples");
    let one = match (with(Basis::Drift).as_slice(), with(Basis::Round).is_empty()) {
        ([], true) => return None,
        ([], false) => one.text(" alone"),
        (_, true) => one.text(", ").text(room),
        (drifting, false) => {
            let on = match drifting {
                [_] | [_, _] => Sentence::from(drifting.join(", ")),
                many => Sentence::new().counted(many.len() as u64, "device"),
            };
            one.text("; on ").then(on).text(", ").text(room).text("; else alone")
        }
    };
    Some(one.text(". How far another round would be, only more rounds tell."))
}

/// What ran on some device, by family.
fn families<'r, 'a>(input: &'r ReportInput<'a>) -> Vec<(&'a str, Cases<'r, 'a>)> {
    let mut families = all_families(input);
    for (_, cases) in &mut families {
        cases.retain(|_, rows| rows.values().any(|row| !row.is_skipped()));
    }
    families
}

/// What was to be run, by family.
pub(crate) fn all_families<'r, 'a>(input: &'r ReportInput<'a>) -> Vec<(&'a str, Cases<'r, 'a>)> {
    let mut families: BTreeMap<(usize, &str), Cases> = BTreeMap::new();
    for row in &input.rows {
        // The ranking's, in which a launch is no transfer.
        let family = ranking_family(row.described_by());
        let cases = families.entry((family_place(family), family)).or_default();
        cases.entry(row.key).or_default().insert(row.device, row);
    }
    families.into_iter().map(|((_, family), cases)| (family, cases)).collect()
}

fn table(input: &ReportInput, family: &str, cases: &Cases) -> Table {
    let unit = usual_unit(cases);
    let columns = input.reported_devices.iter().flat_map(|device| {
        let (label, heading) = (&device.label, Sentence::from(device.name.clone()));
        [
            Column::new(&format!("{label} time"), "median ± 95 %", Unit::Seconds),
            Column::bare(&format!("{label} rate"), unit),
            Column::text(&format!("{label} mark"), Sentence::new()),
        ]
        .map(|column| column.under(heading.clone()))
    });
    let columns = [Column::names("case", "case")].into_iter().chain(columns);
    let mut table = Table::new(family, capitalised(family), columns);
    for (key, rows) in cases {
        let device =
            |device| rows.get(&device).map_or_else(Default::default, |row| cells(row, unit));
        let cells: Vec<[Cell; 3]> = (0..input.reported_devices.len()).map(device).collect();
        table.row([case_name(key).into()].into_iter().chain(cells.into_iter().flatten()));
        if let Some(best) = best(rows) {
            let time = table.columns()[1 + 3 * best].key().to_owned();
            table.best(&time);
        }
    }
    table
}

/// The unit of most rates; of equally many the first's.
fn usual_unit(cases: &Cases) -> Unit {
    let rates = cases.values().flat_map(BTreeMap::values).filter_map(|row| rate(row));
    let units: Vec<Unit> = rates.map(|rate| rate.unit).collect();
    let count = |unit: Unit| units.iter().filter(|other| **other == unit).count();
    units.iter().copied().rev().max_by_key(|unit| count(*unit)).unwrap_or(Unit::None)
}

/// The time, or in a word why there is none; the rate; the mark.
fn cells(row: &Aggregate, unit: Unit) -> [Cell; 3] {
    let rate = rate(row).map(|rate| match rate.unit == unit {
        true => rate.quantity.into(),
        false => Sentence::new().quantity(Some(rate.quantity), rate.unit).into(),
    });
    let time = time(row).map_or_else(|| row.exclusion.into(), |time| time.quantity.into());
    [time, rate.unwrap_or(Cell::Missing), mark(row).into()]
}

/// The device that is faster than each other by more than the intervals leave open.
fn best(rows: &BTreeMap<usize, &Aggregate>) -> Option<usize> {
    let right = rows.iter().filter(|(_, row)| row.exclusion.is_none());
    let times = right.filter_map(|(device, row)| Some((*device, row.time?)));
    let (devices, times): (Vec<usize>, Vec<_>) =
        times.map(|(device, time)| (device, (time.value, time.interval))).unzip();
    // A figure with a warning may be wrong: nothing is the best by it.
    clear_best(&times).map(|place| devices[place]).filter(|device| !rows[device].is_doubtful())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{markdown, text};
    use crate::testing::{Sample, hostile};
    use gpubench_analysis::Source;
    use gpubench_core::record::Record;
    use gpubench_core::record::sample::{built, device, header, key, record};

    #[test]
    fn results_read_well() {
        let sample = Sample::new();
        let section = section(&sample.input());
        insta::assert_snapshot!("results_at_80_columns", text::section(&section, Some(80)));
        insta::assert_snapshot!("results_piped", text::section(&section, None));
        insta::assert_snapshot!("results_as_markdown", markdown::section(&section, 3));
    }

    #[test]
    fn every_case_that_ran_is_one_line_of_a_pipe() {
        let sample = Sample::new();
        let input = sample.input();
        let text = text::section(&section(&input), None);
        for row in input.rows.iter().filter(|row| !row.is_skipped()) {
            let name = format!("{} ", case_name(row.key));
            let lines: Vec<&str> = text.lines().filter(|line| line.contains(&name)).collect();
            assert_eq!(lines.len(), 1, "{name}");
            let shown = time(row).map_or(row.exclusion.unwrap_or("?").into(), |time| time.text());
            assert!(lines[0].contains(&shown), "{shown}: {}", lines[0]);
        }
    }

    /// Twenty cases of fifteen samples in one round show drift, three do not.
    #[test]
    fn room_for_drift_is_claimed_for_the_devices_that_have_it() {
        let of = |cases: [i64; 2]| {
            let records = cases.into_iter().enumerate().flat_map(|(device, cases)| {
                (0..cases).map(move |n| {
                    let mut record = Record { device, ..record(key("a", n), 1.0) };
                    let samples = (0..15).map(|i| 1.0 + 1e-3 * f64::from(i));
                    record.measured.as_mut().unwrap().samples = samples.collect();
                    record
                })
            });
            let (header, records) = (header(vec![device("opencl"), device("wgpu")]), records);
            let records: Vec<Record> = records.collect();
            let name = "sample.jsonl".into();
            let source =
                Source { name, header: &header, records: &records, footer: None, warnings: vec![] };
            text::section(&section(&ReportInput::new(vec![source])), None)
        };
        let drift = "with room for the drift";
        let both = of([20, 3]);
        assert!(both.contains(&format!("; on Invented GPU · 1.0 · opencl, {drift}")), "{both}");
        assert!(both.contains("; else alone. How far"), "{both}");
        let (all, none) = (of([20, 20]), of([3, 3]));
        assert!(all.contains(&format!("of its samples, {drift}")) && !all.contains("alone"));
        assert!(none.contains("of its samples alone. How far") && !none.contains(drift), "{none}");
    }

    #[test]
    fn a_launch_is_no_transfer() {
        let mut copy = record(key("copy", 1), 1.0);
        (copy.family, copy.kernel) = ("transfer".into(), None);
        let launch = Record { key: key("launch", 1), kernel: Some(built("a")), ..copy.clone() };
        let header = header(vec![device("opencl")]);
        let (name, records) = ("sample.jsonl".into(), [copy, launch]);
        let source =
            Source { name, header: &header, records: &records, footer: None, warnings: vec![] };
        let section = section(&ReportInput::new(vec![source]));
        let names = ["transfer", "latency"].map(|family| -> Vec<Cell> {
            section.find_table(family).unwrap().rows().iter().map(|row| row[0].clone()).collect()
        });
        assert_eq!(
            names,
            [vec![Cell::from("copy n=1".to_owned())], vec!["launch n=1".to_owned().into()]]
        );
    }

    #[test]
    fn the_best_is_below_every_interval() {
        let sample = Sample::new();
        let section = section(&sample.input());
        let compute = section.find_table("compute").unwrap();
        assert!(compute.bests().iter().all(|(_, column)| *column == 1));
        assert!(!compute.bests().is_empty());
    }

    #[test]
    fn a_hostile_name_stays_text() {
        let sample = Sample::named(&hostile());
        let text = text::section(&section(&sample.input()), Some(80));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']));
    }
}
