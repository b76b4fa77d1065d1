//! What sections of reports are made of: cases with the details that an experiment left.

use crate::engines::{Engines, engines};
use gpubench_analysis::{Aggregate, ReportInput};
use gpubench_core::record::{Data, Detail};
use gpubench_document::{Column, Section, Sentence, Table};

/// A case on a device, with the details of the first round that was measured.
pub struct DetailedCase<'m, 'a, D> {
    /// The case.
    pub row: &'m Aggregate<'a>,
    /// What its experiment left.
    pub data: D,
    device: &'m str,
}

impl<D> DetailedCase<'_, '_, D> {
    /// Its section, still empty: `matmul n=512 on opencl:0`.
    pub fn section(&self) -> Section {
        let case = self.row.key.to_string();
        let id = format!("{case} {}", self.device);
        Section::new(&id, Sentence::new().name(case).text(" on ").name(self.device))
    }
}

/// The measured cases whose details are a `D`.
pub fn detailed_cases<'m, 'a, D: Data>(
    input: &'m ReportInput<'a>,
) -> impl Iterator<Item = DetailedCase<'m, 'a, D>> {
    // An experiment over several devices has no time of its own.
    let measured = input.rows.iter().filter(|row| row.time.is_some() || row.outcome.is_ok());
    measured.filter_map(|row| {
        let data = row.records.iter().find_map(|record| record.detail.as_ref()?.read())?;
        Some(DetailedCase { row, data, device: &input.reported_devices[row.device].label })
    })
}

/// All details of a device, over all rounds.
pub fn details<'m, 'a>(
    input: &'m ReportInput<'a>,
    device: usize,
) -> impl Iterator<Item = &'a Detail> + 'm {
    let records = input.of(device).flat_map(|row| row.records.iter().copied());
    records.filter_map(|record| record.detail.as_ref())
}

/// How a device copies, from all its details.
pub fn engines_of(input: &ReportInput, device: usize) -> Engines {
    engines(&details(input, device).collect::<Vec<_>>())
}

/// What was not measured, each with its reason; an empty table where everything was.
pub fn skipped(what: &'static str, skipped: &[(String, String)]) -> Table {
    let columns = [Column::text("what", what), Column::text("reason", "reason")];
    let mut table = Table::new("skipped", "Not measured", columns);
    for (what, reason) in skipped {
        table.row([what.clone().into(), reason.clone().into()]);
    }
    table
}

/// Sections of invented cases, for tests.
#[cfg(test)]
pub mod testing {
    use crate::experiment::Experiment;
    use gpubench_analysis::{ReportInput, Source};
    use gpubench_core::record::{Detail, sample};
    use gpubench_core::workload::CaseKey;
    use gpubench_document::Section;

    /// What reports say of `sample n=8` on a device, if its experiment left `data`.
    pub fn section_of<E: Experiment>(data: &E::Data) -> Option<Section> {
        let header = sample::header(vec![sample::device("opencl")]);
        let key = CaseKey { measure: E::KIND, ..sample::key("sample", 8) };
        let mut record = sample::record(key, 1.0);
        record.detail = Some(Detail::new(data));
        let records = [record];
        let (name, footer, warnings) = ("sample.jsonl".into(), None, vec![]);
        let source = Source { name, header: &header, records: &records, footer, warnings };
        E::section(&ReportInput::new(vec![source])).filter(|section| !section.is_empty())
    }
}
