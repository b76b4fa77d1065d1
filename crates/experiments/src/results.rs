//! What sections of reports are made of: cases with the details that an experiment left.

use crate::engines::{Engines, engines};
use gpubench_analysis::{Aggregate, ReportInput};
use gpubench_core::record::{Data, Detail};
use gpubench_document::{Section, Sentence};

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
