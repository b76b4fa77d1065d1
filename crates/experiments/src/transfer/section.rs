//! What reports say of transfers: bandwidth against size, and latency and bandwidth fitted to it.

use super::analysis::{Meanwhile, TransferSummary, transfer};
use super::data::{Direction, Transfer};
use crate::bandwidth_section::{Bandwidths, EXPLANATION};
use crate::results::{DetailedCase, detailed_cases, device_section};
use gpubench_analysis::ReportInput;
use gpubench_document::{Cell, Column, Quantity, Section, Sentence, Table, Unit};
use gpubench_model::least_squares::Estimate;
use gpubench_stats::Summary;

type Case<'m, 'a> = DetailedCase<'m, 'a, Transfer>;

/// What was fitted, then one section a device.
pub(super) fn section(input: &ReportInput) -> Section {
    let cases: Vec<Case> = detailed_cases(input).collect();
    let section = Section::new("transfers", "Transfers").text(EXPLANATION).text(
        "Latency and bandwidth are fitted over the sizes of the first round, with 95 % intervals.",
    );
    let section = fitted(section, input, &cases);
    let devices = 0..input.reported_devices.len();
    devices.fold(section, |section, device| {
        let of_device = cases.iter().filter(|case| case.row.device == device);
        section.section(bandwidths(of_device).in_section(device_section(input, device)))
    })
}

fn bandwidths<'c>(cases: impl Iterator<Item = &'c Case<'c, 'c>>) -> Bandwidths {
    let mut bandwidths = Bandwidths::default();
    for Case { data, .. } in cases {
        for point in &data.points {
            if let Some(time) = Summary::of(&point.samples) {
                let (seconds, interval) = (time.median, time.interval);
                bandwidths.add(
                    Some(data.host_memory),
                    point.direction,
                    point.bytes,
                    seconds,
                    interval,
                );
            }
        }
    }
    bandwidths
}

/// `section` with what was fitted to each case, or why nothing was.
fn fitted(mut section: Section, input: &ReportInput, cases: &[Case]) -> Section {
    let (mut isolated, mut both) = (isolated_table(), both_table());
    for case in cases {
        let (row, memory) = (case.row, case.data.host_memory.label());
        let device = &input.reported_devices[row.device].name;
        match transfer(&case.data) {
            Ok(fit) => {
                let first = || [device.clone(), row.key.workload.clone()].map(Cell::from);
                let first = || first().into_iter().chain([memory.into()]);
                for (way, line) in
                    [(Direction::Upload, &fit.upload), (Direction::Download, &fit.download)]
                {
                    let figures =
                        [way.label().into(), estimate(line.latency), estimate(line.bandwidth)];
                    isolated.row(first().chain(figures));
                }
                both.row(first().chain(both_ways(&case.data, &fit)));
            }
            Err(error) => {
                let what = Sentence::new().name(row.key.workload.as_str()).text(", ").text(memory);
                let what = what.text(" memory, on ").name(device).text(": ");
                section = section.note(what.name(error.to_string()));
            }
        }
    }
    section.table(isolated).table(both)
}

fn first_columns() -> [Column; 3] {
    ["device", "workload", "memory"].map(|name| Column::text(name, name))
}

fn isolated_table() -> Table {
    let columns = [
        Column::text("direction", "direction"),
        Column::new("latency", "latency", Unit::Seconds),
        Column::new("bandwidth", "bandwidth", Unit::BytesPerSecond),
    ];
    let title = "One direction at a time, fitted";
    Table::new("fitted", title, first_columns().into_iter().chain(columns))
}

fn both_table() -> Table {
    let columns = [
        Column::new("queues", "queues", Unit::Count),
        Column::new("combined", "combined", Unit::BytesPerSecond),
        Column::new("speedup", "over serial", Unit::Ratio),
        Column::text("meanwhile", "while both ran"),
    ];
    let title = "Both directions at once, at the largest size";
    Table::new("both", title, first_columns().into_iter().chain(columns))
}

/// The cells of both directions at once.
fn both_ways(raw: &Transfer, fit: &TransferSummary) -> [Cell; 4] {
    let rate = |way: &'static str, rate| Sentence::from(way).value(rate, Unit::BytesPerSecond);
    let meanwhile = fit.meanwhile.map(|meanwhile| match meanwhile {
        Meanwhile::Rates([up, down]) => {
            rate("upload ", up).text(", ").then(rate("download ", down))
        }
        Meanwhile::Turns => "never: they take turns".into(),
    });
    [u64::from(raw.queues).into(), fit.both.into(), fit.speedup.into(), meanwhile.into()]
}

/// A fitted value with its 95 % interval, or that the sizes do not determine it.
fn estimate(estimate: Estimate) -> Cell {
    if !estimate.margin.is_finite() || estimate.margin > estimate.value.abs() {
        return "not identifiable".into();
    }
    Quantity::new(estimate.value).map(|value| value.plus_minus(estimate.margin)).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::testing::{record_of, section_of_records};
    use crate::transfer::data::TransferPoint;
    use gpubench_core::gpu::MemoryKind;
    use gpubench_core::record::{Record, sample};

    /// A link of 12 and 10 GB/s, and 7 GB/s each way at once.
    fn link(sizes: &[u64], spans: Option<[[f64; 2]; 2]>) -> Record {
        let point = |direction, bytes: u64, rate: f64| TransferPoint {
            direction,
            bytes,
            samples: (0..5)
                .map(|i| 1e-5 + bytes as f64 / rate * (1.0 + 0.001 * f64::from(i)))
                .collect(),
            spans: if direction == Direction::Both { spans } else { None },
        };
        let points = sizes.iter().flat_map(|&bytes| {
            [
                point(Direction::Upload, bytes, 12e9),
                point(Direction::Download, bytes, 10e9),
                point(Direction::Both, bytes, 7e9),
            ]
        });
        let points = points.collect();
        let raw = Transfer { host_memory: MemoryKind::Pinned, queues: 2, points };
        record_of::<super::super::Transfer>(sample::key("link", 1), &raw)
    }

    fn section_of(record: Record) -> Section {
        section_of_records::<super::super::Transfer>(&[record]).unwrap()
    }

    #[test]
    fn a_link_reads_well() {
        let section = section_of(link(&[1 << 14, 1 << 17, 1 << 20, 1 << 23], None));
        insta::assert_snapshot!(gpubench_report::render::text::section(&section, Some(80)));
    }

    #[test]
    fn what_ran_meanwhile_is_said_and_so_is_a_fit_that_failed() {
        let sizes = [1 << 14, 1 << 17, 1 << 20, 1 << 23];
        let turns = section_of(link(&sizes, Some([[0.0, 1e-3], [1e-3, 2e-3]])));
        let row = |section: &Section| section.find_table("both").unwrap().rows()[0].clone();
        assert_eq!(row(&turns)[6], "never: they take turns".into());
        let at_once = section_of(link(&sizes, Some([[0.0, 1e-3], [0.0, 1e-3]])));
        assert!(matches!(&row(&at_once)[6], Cell::Text(rates) if rates.figures().count() == 2));
        let too_few = section_of(link(&[1 << 14], None));
        assert_eq!(too_few.find_table("fitted"), None);
        assert!(
            too_few.parts().iter().any(|part| matches!(part, gpubench_document::Part::Note(_)))
        );
    }
}
