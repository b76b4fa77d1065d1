//! What sections of reports are made of: cases with the details that an experiment left.

use crate::engines::{Engines, engines};
use crate::registry::several_devices;
use crate::residency::{Residency, groups_at_once, residency};
use gpubench_analysis::{Aggregate, ReportInput, ReportedDevice};
use gpubench_core::record::{Data, Detail};
use gpubench_document::{Column, Quantity, Section, Sentence, Table};
use gpubench_model::concurrency::Device;
use gpubench_stats::{Basis, Overall, Rounds, Summary, overalls};

/// A case on a device, with the details of the first round that was measured.
pub struct DetailedCase<'m, 'a, D> {
    /// The case.
    pub row: &'m Aggregate<'a>,
    /// What its experiment left.
    pub data: D,
    label: &'m str,
    device: &'m str,
}

impl<'m, 'a, D> DetailedCase<'m, 'a, D> {
    /// The same case with other details.
    pub fn with<E>(self, data: E) -> DetailedCase<'m, 'a, E> {
        let Self { row, label, device, .. } = self;
        DetailedCase { row, data, label, device }
    }

    /// Its section, still empty: `matmul n=512 on Invented GPU · 1.0 · opencl`.
    pub fn section(&self) -> Section {
        let case = self.row.key.to_string();
        // By its place: a driver's version must not change what other programs call a section.
        let id = format!("{case} {}", self.label);
        Section::new(&id, Sentence::new().name(case).text(" on ").name(self.device))
    }
}

/// A device's section, still empty: `Invented GPU · 1.0 · opencl`.
pub fn device_section(input: &ReportInput, device: usize) -> Section {
    let ReportedDevice { label, name, .. } = &input.reported_devices[device];
    Section::new(label, name.clone())
}

/// What each round of a case left that left a `D`.
pub fn rounds<'m, D: Data>(row: &'m Aggregate) -> impl DoubleEndedIterator<Item = D> + 'm {
    row.records.iter().filter_map(|record| record.detail.as_ref()?.read())
}

/// Costs of each round, put together: each cost with its samples in every round.
pub fn costs_by_round(
    rounds: impl IntoIterator<Item = Vec<(&'static str, Vec<f64>)>>,
) -> Vec<(&'static str, Vec<Vec<f64>>)> {
    let mut all: Vec<(&'static str, Vec<Vec<f64>>)> = vec![];
    for round in rounds {
        for (what, seconds) in round {
            match all.iter_mut().find(|(known, _)| *known == what) {
                Some((_, rounds)) => rounds.push(seconds),
                None => all.push((what, vec![seconds])),
            }
        }
    }
    all
}

/// A quantity, with its interval where there is one.
pub fn quantity(value: f64, interval: Option<[f64; 2]>) -> Option<Quantity> {
    match interval {
        Some(interval) => Quantity::between(value, interval),
        None => Quantity::new(value),
    }
}

/// A positive value, with its 95 % interval where anything shows one.
pub type Cost = (f64, Option<[f64; 2]>);

/// The costs of one device over rounds, each given by its samples in every round. Two or three rounds hardly show how much
/// one cost scatters, so all of them have a say in each value and its interval, as the device's cases have ([`overalls`]).
pub fn over_rounds(costs: &[Vec<Vec<f64>>]) -> Vec<Option<Cost>> {
    let rounds = |samples: &Vec<Vec<f64>>| {
        let mut rounds = Rounds::default();
        samples.iter().filter_map(|of| Summary::of(of)).for_each(|of| rounds.add(&of));
        rounds
    };
    let all: Vec<Rounds> = costs.iter().map(rounds).collect();
    let one = |(overall, samples): (Option<Overall>, &Vec<Vec<f64>>)| {
        let Overall { value, interval, basis, .. } = overall?;
        let is_one_sample = basis == Basis::Round && samples.iter().flatten().count() == 1;
        Some((value, (!is_one_sample).then_some(interval)))
    };
    overalls(&all).into_iter().zip(costs).map(one).collect()
}

#[test]
fn a_cost_s_interval_is_that_between_its_rounds_and_other_costs_have_a_say_in_it() {
    let rounds = costs_by_round([1.0, 4.0].map(|of| vec![("cost", vec![of; 9])]));
    let [("cost", restless)] = &rounds[..] else { panic!("{rounds:?}") };
    let ends = |costs: &[Vec<Vec<f64>>]| {
        let (value, interval) = over_rounds(costs)[0].unwrap();
        assert!((value - 2.0).abs() < 1e-12);
        interval.unwrap()
    };
    // Samples of one round agree, but the rounds do not.
    let [low, high] = ends(std::slice::from_ref(restless));
    assert!(low < 1e-3 && high > 1e3, "{low} to {high}");
    let calm = vec![vec![1.0; 9], vec![1.1; 9]];
    let [_, moderated] = ends(&[vec![restless.clone()], vec![calm; 30]].concat());
    assert!((4.0..high).contains(&moderated), "{moderated} of {high}");
}

#[test]
fn a_cost_of_one_round_has_the_interval_of_its_samples_and_one_sample_has_none() {
    let of = |costs: &[Vec<f64>]| over_rounds(&[costs.to_vec()])[0];
    assert_eq!(of(&[vec![2.0; 9]]), Some((2.0, Some([2.0; 2]))));
    assert_eq!(of(&[vec![2.0]]), Some((2.0, None)));
    assert_eq!([of(&[vec![0.0; 3]]), of(&[])], [None, None]);
}

/// The measured cases of a device.
pub fn measured<'m, 'a>(
    input: &'m ReportInput<'a>,
    device: usize,
) -> impl Iterator<Item = &'m Aggregate<'a>> {
    input.of(device).filter(|row| is_measured(row))
}

/// Whether its figures can be shown. An experiment over several devices has no time of its own; any
/// other without one failed in a round, or cannot be believed.
fn is_measured(row: &Aggregate) -> bool {
    row.time.is_some() || row.outcome.is_ok() && several_devices(row.key.measure)
}

/// The measured cases whose details are a `D`.
pub fn detailed_cases<'m, 'a, D: Data>(
    input: &'m ReportInput<'a>,
) -> impl Iterator<Item = DetailedCase<'m, 'a, D>> {
    input.rows.iter().filter(|row| is_measured(row)).filter_map(|row| {
        let data = rounds(row).next()?;
        let ReportedDevice { label, name, .. } = &input.reported_devices[row.device];
        Some(DetailedCase { row, data, label, device: name })
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
    Table::of("skipped", "Not measured", skipped)
        .column(Column::text("what", what), |(what, _)| what.clone())
        .column(Column::text("reason", "reason"), |(_, reason)| reason.clone())
        .table()
}

/// What the units of a device hold: of each case, the first round that shows it counts.
pub fn residency_of(input: &ReportInput, device: usize) -> Option<Residency> {
    let reported = input.reported_devices.get(device)?.device.compute_units;
    let seen = measured(input, device).filter_map(|row| {
        row.records.iter().find_map(|record| groups_at_once(record.detail.as_ref()?))
    });
    residency(seen, reported)
}

/// The device as model 7 sees it, as far as its residency is known.
pub fn modelled_device(input: &ReportInput, device: usize) -> Option<Device> {
    let info = input.reported_devices.get(device)?.device;
    Some(residency_of(input, device)?.device(info))
}

/// Sections of invented cases, for tests.
#[cfg(test)]
pub mod testing {
    use crate::experiment::Experiment;
    use gpubench_analysis::{ReportInput, Source};
    use gpubench_core::record::{Detail, Record, sample};
    use gpubench_core::workload::CaseKey;
    use gpubench_document::Section;

    /// A record of `key` whose experiment left `data`.
    pub fn record_of<E: Experiment>(key: CaseKey, data: &E::Data) -> Record {
        let mut record = sample::record(CaseKey { measure: E::KIND, ..key }, 1.0);
        record.detail = Some(Detail::new(data));
        record
    }

    /// What `read` makes of these records of one device.
    pub fn with_input<T>(records: &[Record], read: impl FnOnce(&ReportInput) -> T) -> T {
        let header = sample::header(vec![sample::device("opencl")]);
        let (name, footer, warnings) = ("sample.jsonl".into(), None, vec![]);
        let source = Source { name, header: &header, records, footer, warnings };
        read(&ReportInput::new(vec![source]))
    }

    /// What reports say of `E` where these are the records of one device; `None` where that is nothing.
    pub fn section_of_records<E: Experiment>(records: &[Record]) -> Option<Section> {
        E::SECTION.map(|of| with_input(records, of)).filter(|section| !section.is_empty())
    }

    /// What reports say of `sample n=8` on a device, if its experiment left `data`.
    pub fn section_of<E: Experiment>(data: &E::Data) -> Option<Section> {
        let records = [record_of::<E>(sample::key("sample", 8), data)];
        section_of_records::<E>(&records)
    }
}
