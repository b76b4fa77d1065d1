//! What reports say of copies one way: bandwidth against size.

use super::{Download, Upload};
use crate::bandwidth_section::{Bandwidths, EXPLANATION, Way};
use crate::experiment::Experiment;
use crate::results::{device_section, measured};
use gpubench_analysis::ReportInput;
use gpubench_document::Section;

/// One section a device, of both ways.
pub(super) fn section(input: &ReportInput) -> Section {
    let section = Section::new("copies", "Copies").text(EXPLANATION);
    let devices = 0..input.reported_devices.len();
    devices.fold(section, |section, device| section.section(of(input, device)))
}

fn of(input: &ReportInput, device: usize) -> Section {
    let mut bandwidths = Bandwidths::default();
    for row in measured(input, device) {
        let way = match row.key.measure {
            Upload::KIND => Way::Upload,
            Download::KIND => Way::Download,
            _ => continue,
        };
        if let (Some(time), Some(round)) = (row.time, row.rounds().next()) {
            bandwidths.add(row.key.host_memory, way, round.bytes as u64, time.value, time.interval);
        }
    }
    bandwidths.in_section(device_section(input, device))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::testing::{record_of, section_of_records};
    use gpubench_core::gpu::MemoryKind;
    use gpubench_core::record::{Record, sample};

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
}
