//! What reports say of kernels in zero-copy memory: maps apart, the kernel there, and the whole against copies.

use super::analysis::{InPlaceSummary, in_place};
use super::data::{InPlace, ZeroCopy};
use crate::results::{DetailedCase, detailed_cases, skipped};
use gpubench_analysis::ReportInput;
use gpubench_document::{Cell, Column, Quantity, Section, Sentence, Table, Unit};
use gpubench_stats::Summary;

type Row<'a> = (&'a InPlace, InPlaceSummary);

/// One section a case.
pub(super) fn section(input: &ReportInput) -> Section {
    let section = Section::new("zero-copy", "Zero-copy").text(
        "A kernel in memory that the host maps, in turn with the same kernel in the device's memory between \
         copies. All times are from the call until the host may go on. Ratios are medians over the turns: below 1, \
         zero-copy is faster. What the host does with the data is in neither.",
    );
    detailed_cases(input).map(|case| one(&case)).fold(section, Section::section)
}

fn one(case: &DetailedCase<ZeroCopy>) -> Section {
    let raw = &case.data;
    let rows: Vec<Row> = raw.kinds.iter().map(|kind| (kind, in_place(kind))).collect();
    let [written, read] = raw.bytes.map(|bytes| bytes as f64);
    let bytes = Sentence::new().value(written, Unit::Bytes).text(" written by the host, ");
    let bytes = bytes.value(read, Unit::Bytes).text(" read");
    case.section()
        .fact("bytes", "mapped or copied", bytes)
        .fact("memory", "copied from and to", raw.host_memory.label())
        .table(maps(&rows))
        .table(kernels(&rows))
        .table(wholes(&rows))
        .table(skipped("memory", &raw.skipped))
}

fn maps(rows: &[Row]) -> Table {
    Table::of("maps", "Maps and unmaps of all buffers", rows)
        .column(Column::text("memory", "memory"), |(raw, _)| raw.memory.label())
        .column(Column::text("allocation", "allocated as"), |(raw, _)| raw.allocation.clone())
        .column(seconds("map_to_write", "map to write"), |(_, of)| cell(of.to_write[0]))
        .column(seconds("unmap_written", "unmap"), |(_, of)| cell(of.to_write[1]))
        .column(seconds("map_to_read", "map to read"), |(_, of)| cell(of.to_read[0]))
        .column(seconds("unmap_read", "unmap"), |(_, of)| cell(of.to_read[1]))
        .table()
}

fn kernels(rows: &[Row]) -> Table {
    Table::of("kernels", "One launch", rows)
        .column(Column::text("memory", "memory"), |(raw, _)| raw.memory.label())
        .column(seconds("kernel", "there"), |(_, of)| cell(of.kernel[0]))
        .column(seconds("device_kernel", "in the device's memory"), |(_, of)| cell(of.kernel[1]))
        .column(Column::new("kernel_ratio", "ratio", Unit::Ratio), |(_, of)| cell(of.kernel_ratio))
        .table()
}

fn wholes(rows: &[Row]) -> Table {
    Table::of("whole", "The whole", rows)
        .column(Column::text("memory", "memory"), |(raw, _)| raw.memory.label())
        .column(seconds("whole", "map, kernel, unmap"), |(_, of)| cell(of.whole[0]))
        .column(seconds("copied", "copy, kernel, copy"), |(_, of)| cell(of.whole[1]))
        .column(Column::new("whole_ratio", "ratio", Unit::Ratio), |(_, of)| cell(of.whole_ratio))
        .table()
}

fn seconds(key: &str, title: &'static str) -> Column {
    Column::new(key, title, Unit::Seconds)
}

fn cell(summary: Option<Summary>) -> Cell {
    summary.and_then(|of| Quantity::between(of.median, of.interval)).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::testing::section_of;
    use crate::zero_copy::data::sample;
    use gpubench_core::gpu::{Clock, MemoryKind};

    #[test]
    fn maps_stand_apart_from_the_kernel_and_the_whole() {
        let host_pointer = InPlace {
            memory: MemoryKind::HostPointer,
            allocation: "CL_MEM_USE_HOST_PTR at a multiple of 64.0 KiB".into(),
            ..sample()
        };
        let raw = ZeroCopy {
            clock: Clock::Host,
            host_memory: MemoryKind::Pinned,
            bytes: [8 << 20, 4 << 20],
            kinds: vec![sample(), host_pointer],
            skipped: vec![("another".into(), "no memory".into())],
        };
        let section = section_of::<crate::zero_copy::ZeroCopy>(&raw).unwrap();
        insta::assert_snapshot!(gpubench_report::render::text::section(&section, Some(120)));
    }
}
