//! What reports say of copies one way: bandwidth against size.

use super::{Download, Upload};
use crate::bandwidth_section::{Bandwidths, EXPLANATION, all_devices};
use crate::buffer_pairs::Direction;
use crate::experiment::Experiment;
use crate::results::{device_section, measured};
use gpubench_analysis::ReportInput;
use gpubench_document::Section;

/// One section a device, of both ways.
pub(super) fn section(input: &ReportInput) -> Section {
    let section = Section::new("copies", "Copies").text(EXPLANATION);
    let devices = 0..input.reported_devices.len();
    // What stands at one size alone is no curve: the results have it.
    let curves: Vec<(usize, Bandwidths)> = devices
        .map(|device| (device, of(input, device)))
        .filter(|(_, bandwidths)| bandwidths.sizes() > 1)
        .collect();
    if let [(device, bandwidths)] = curves.as_slice() {
        return section.section(bandwidths.in_section(device_section(input, *device)));
    }
    let named = curves
        .iter()
        .map(|(device, bandwidths)| (*device, &input.reported_devices[*device].name, bandwidths));
    let named: Vec<_> = named.collect();
    let section = all_devices(&named).fold(section, Section::plot);
    curves.iter().fold(section, |section, (device, bandwidths)| {
        section.section(bandwidths.in_section(device_section(input, *device).folded()))
    })
}

fn of(input: &ReportInput, device: usize) -> Bandwidths {
    let mut bandwidths = Bandwidths::default();
    for row in measured(input, device) {
        let way = match row.key.measure {
            Upload::KIND => Direction::Upload,
            Download::KIND => Direction::Download,
            _ => continue,
        };
        if let (Some(time), Some(round)) = (row.time, row.rounds().next()) {
            bandwidths.add(row.key.host_memory, way, round.bytes as u64, time.value, time.interval);
        }
    }
    bandwidths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::testing::{record_of, section_of_records};
    use gpubench_core::gpu::MemoryKind;
    use gpubench_core::record::{Record, sample};
    use gpubench_document::{Drawing, Part};

    fn copy<E: Experiment<Data = crate::Nothing>>(
        bytes: i64,
        memory: MemoryKind,
        rate: f64,
    ) -> Record {
        let mut record = record_of::<E>(sample::key("copies", bytes), &crate::Nothing {});
        record.detail = None;
        record.key.host_memory = Some(memory);
        let measured = record.measured.as_mut().unwrap();
        measured.bytes = bytes as f64;
        let wobble = |i: i32| 1.0 + 0.001 * f64::from(i);
        measured.samples = (0..9).map(|i| 1e-5 + bytes as f64 / rate * wobble(i)).collect();
        record
    }

    #[test]
    fn both_ways_share_a_section() {
        let mut records = vec![];
        for bytes in [1 << 16, 1 << 20, 1 << 24] {
            records.push(copy::<Upload>(bytes, MemoryKind::Pinned, 12e9));
            records.push(copy::<Download>(bytes, MemoryKind::Pinned, 10e9));
            records.push(copy::<Upload>(bytes, MemoryKind::Pageable, 6e9));
        }
        let section = section_of_records::<Upload>(&records).unwrap();
        assert_eq!(section_of_records::<Download>(&records), None);
        assert_eq!(section.find_table("sizes").unwrap().rows().len(), 6);
        insta::assert_snapshot!(gpubench_report::render::text::section(&section, Some(80)));
    }

    #[test]
    fn all_devices_share_a_plot_and_one_size_is_none() {
        let header = sample::header(vec![sample::device("opencl"), sample::device("wgpu")]);
        let on =
            |device, bytes, memory, rate| Record { device, ..copy::<Upload>(bytes, memory, rate) };
        let (pinned, pageable) = (MemoryKind::Pinned, MemoryKind::Pageable);
        let records = [
            on(0, 1 << 16, pinned, 12e9),
            on(0, 1 << 24, pinned, 12e9),
            on(0, 1 << 24, pageable, 3e9),
            on(1, 1 << 16, pageable, 6e9),
            on(1, 1 << 24, pageable, 6e9),
        ];
        let shown = |records: &[Record]| {
            let (name, footer, warnings) = ("sample.jsonl".into(), None, vec![]);
            let source =
                gpubench_analysis::Source { name, header: &header, records, footer, warnings };
            section(&ReportInput::new(vec![source]))
        };
        let section = shown(&records);
        let Some(Part::Drawing(Drawing::Plot(plot))) = section.parts().get(1) else {
            panic!("no plot: {section:?}")
        };
        let last = |series: &gpubench_document::Series| series.all().last().unwrap().y().value();
        let rates: Vec<f64> = plot.all().iter().map(last).collect();
        assert!((rates[0] / 12e9 - 1.0).abs() < 0.1, "the fastest host memory: {rates:?}");
        assert_eq!((rates.len(), plot.all()[0].all().len()), (2, 2));
        let one_size: Vec<Record> =
            records.iter().filter(|r| r.measured.as_ref().unwrap().bytes > 1e6).cloned().collect();
        assert!(shown(&one_size).is_empty());
    }
}
