//! What a report is about: the devices of one or several runs, and what was measured on them.

use crate::{Aggregate, aggregate_numbered};
use gpubench_core::gpu::{DeviceInfo, names};
use gpubench_core::record::{Built, Footer, Header, Record};
use gpubench_core::text::printable;
use gpubench_core::units::Bytes;
use gpubench_core::workload::CaseKey;
use std::collections::{BTreeSet, HashMap};

/// One run, as it was read.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// The file.
    pub name: String,
    /// Its first line.
    pub header: &'a Header,
    /// Its records.
    pub records: &'a [Record],
    /// Its last line; `None` where the run was cut short.
    pub footer: Option<&'a Footer>,
    /// What could not be read.
    pub warnings: Vec<String>,
}

/// A device seen through one API, in one run or several.
#[derive(Clone, Debug)]
pub struct ReportedDevice<'a> {
    /// `opencl:0`, with the machine behind it where there are several: what programs read, and what
    /// `--device` takes.
    pub label: String,
    /// What people call it, `AMD EPYC · PoCL 3.1 · opencl (CPU)`: short enough for a legend, and no two alike.
    pub name: String,
    /// The device.
    pub device: &'a DeviceInfo,
    /// The first run that it is of.
    pub header: &'a Header,
}

/// All that a report shows.
#[derive(Clone, Debug)]
pub struct ReportInput<'a> {
    /// The runs.
    pub sources: Vec<Source<'a>>,
    /// The devices, in the order in which the runs name them.
    pub reported_devices: Vec<ReportedDevice<'a>>,
    /// One row for every case and device; [`Aggregate::device`] is a position in `reported_devices`.
    pub rows: Vec<Aggregate<'a>>,
}

impl<'a> ReportInput<'a> {
    /// Puts runs together. A run of the same device, driver and gpubench whose kernels are the
    /// same adds its rounds to those of the run before; any other makes a device of its own.
    pub fn new(sources: Vec<Source<'a>>) -> Self {
        let mut pool = Pool::default();
        let mut records: Vec<(usize, &Record)> = vec![];
        for source in &sources {
            let numbers: Vec<usize> =
                (0..source.header.devices.len()).map(|i| pool.number(source, i)).collect();
            let known = |record: &'a Record| Some((*numbers.get(record.device)?, record));
            records.extend(source.records.iter().filter_map(known));
        }
        let reported_devices = reported_devices(&pool.members);
        Self { reported_devices, rows: aggregate_numbered(records), sources }
    }

    /// Rows that were run, of one device.
    pub fn of(&self, reported_device: usize) -> impl Iterator<Item = &Aggregate<'a>> {
        self.rows.iter().filter(move |row| row.device == reported_device && !row.is_skipped())
    }

    /// The labels of the devices.
    pub fn labels(&self) -> Vec<String> {
        self.reported_devices.iter().map(|reported_device| reported_device.label.clone()).collect()
    }
}

/// Devices met so far, with the kernels of their cases.
#[derive(Default)]
struct Pool<'a> {
    members: Vec<(&'a Header, &'a DeviceInfo)>,
    kernels: Vec<HashMap<&'a CaseKey, &'a str>>,
}

impl<'a> Pool<'a> {
    fn number(&mut self, source: &Source<'a>, index: usize) -> usize {
        let (header, device) = (source.header, &source.header.devices[index]);
        let mut kernels: HashMap<&CaseKey, &str> = HashMap::new();
        for record in source.records.iter().filter(|record| record.device == index) {
            if let Some(hash) = record.kernel.as_ref().and_then(Built::fixed_hash) {
                kernels.insert(&record.key, hash);
            }
        }
        let same = |&i: &usize| {
            let (old, other) = self.members[i];
            let differ = |(key, hash): (&&CaseKey, &&str)| {
                self.kernels[i].get(*key).is_some_and(|known| known != hash)
            };
            old.host.name == header.host.name
                && old.gpubench == header.gpubench
                && old.method == header.method
                && is_same(other, device)
                && !kernels.iter().any(differ)
        };
        // A header that lists one device twice still means two.
        let before = (0..self.members.len()).filter(|&i| !std::ptr::eq(self.members[i].0, header));
        if let Some(found) = before.into_iter().find(same) {
            self.kernels[found].extend(kernels);
            return found;
        }
        self.members.push((header, device));
        self.kernels.push(kernels);
        self.members.len() - 1
    }
}

/// Whether two runs saw the same device: how much memory is left may differ from run to run.
pub fn is_same(one: &DeviceInfo, other: &DeviceInfo) -> bool {
    let at_rest = |device: &DeviceInfo| DeviceInfo {
        memory: None,
        max_buffer: Bytes(0),
        max_binding: Bytes(0),
        ..device.clone()
    };
    at_rest(one) == at_rest(other)
}

fn reported_devices<'a>(members: &[(&'a Header, &'a DeviceInfo)]) -> Vec<ReportedDevice<'a>> {
    let hosts = members.iter().any(|(header, _)| header.host.name != members[0].0.host.name);
    let mut labels: Vec<String> = vec![];
    for (header, device) in members {
        let mut label = device.label();
        if hosts {
            label += &format!(" {}", printable(&header.host.name, 20));
        }
        let equal_devices = labels
            .iter()
            .filter(|known| **known == label || known.starts_with(&format!("{label} #")))
            .count();
        if equal_devices > 0 {
            label += &format!(" #{}", equal_devices + 1);
        }
        labels.push(label);
    }
    let named = labels.into_iter().zip(distinct_names(members));
    members
        .iter()
        .zip(named)
        .map(|((header, device), (label, name))| ReportedDevice { label, name, device, header })
        .collect()
}

/// What people call the devices, with the machine behind it where there are several.
fn distinct_names(members: &[(&Header, &DeviceInfo)]) -> Vec<String> {
    let host = |(header, _): &(&Header, &DeviceInfo)| printable(&header.host.name, 20);
    let mut found = vec![String::new(); members.len()];
    let hosts: BTreeSet<String> = members.iter().map(host).collect();
    for here in &hosts {
        let places: Vec<usize> =
            (0..members.len()).filter(|&i| host(&members[i]) == *here).collect();
        let devices: Vec<&DeviceInfo> = places.iter().map(|&i| members[i].1).collect();
        for (i, name) in places.into_iter().zip(names(&devices)) {
            found[i] = if hosts.len() > 1 { format!("{name} · {here}") } else { name };
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample::{built, device, header, key, record};

    fn source<'a>(header: &'a Header, records: &'a [Record]) -> Source<'a> {
        Source { name: "a".into(), header, records, footer: None, warnings: vec![] }
    }

    #[test]
    fn two_runs_of_one_device_are_rounds_of_one_reported_device() {
        let first = header(vec![device("opencl")]);
        let again = first.clone();
        let records = [record(key("a", 1), 1.0)];
        let input = ReportInput::new(vec![source(&first, &records), source(&again, &records)]);
        assert_eq!(input.labels(), ["opencl:0"]);
        assert_eq!(input.rows.len(), 1);
        assert_eq!(input.rows[0].time.unwrap().rounds, 2);
    }

    #[test]
    fn runs_that_were_timed_by_different_rules_are_two_devices() {
        let first = header(vec![device("opencl")]);
        let older = Header { method: first.method - 1, ..first.clone() };
        let records = [record(key("a", 1), 1.0)];
        let input = ReportInput::new(vec![source(&first, &records), source(&older, &records)]);
        assert_eq!(input.labels(), ["opencl:0", "opencl:0 #2"]);
    }

    #[test]
    fn less_free_memory_or_another_variant_found_is_the_same_device() {
        let run = |memory: u64, hash: &str| {
            let mut record = record(key("a", 1), 1.0);
            record.kernel = Some(Built { variant: "eight wide".into(), ..built(hash) });
            let (max_buffer, max_binding) = (Bytes(memory / 4), Bytes(memory / 8));
            let memory = Some(Bytes(memory));
            let less = DeviceInfo { memory, max_buffer, max_binding, ..device("opencl") };
            (header(vec![less]), [record])
        };
        let ((first, one), (again, other)) = (run(1 << 30, "a"), run(1 << 29, "b"));
        let input = ReportInput::new(vec![source(&first, &one), source(&again, &other)]);
        assert_eq!(input.labels(), ["opencl:0"]);
        let mut fixed = other.clone();
        let mut fixed_before = one.clone();
        for record in [&mut fixed[0], &mut fixed_before[0]] {
            record.kernel.as_mut().unwrap().variant.clear();
        }
        let input = ReportInput::new(vec![source(&first, &fixed_before), source(&again, &fixed)]);
        assert_eq!(input.labels(), ["opencl:0", "opencl:0 #2"]);
    }

    #[test]
    fn another_driver_or_machine_is_another_device() {
        let first = header(vec![device("opencl")]);
        let newer = header(vec![DeviceInfo { driver: "2.0".into(), ..device("opencl") }]);
        let records = [record(key("a", 1), 1.0)];
        let input = ReportInput::new(vec![source(&first, &records), source(&newer, &records)]);
        assert_eq!(input.labels(), ["opencl:0", "opencl:0 #2"]);
        let names = |input: &ReportInput| -> Vec<String> {
            input.reported_devices.iter().map(|reported| reported.name.clone()).collect()
        };
        assert_eq!(names(&input), ["Invented GPU · 1.0 · opencl", "Invented GPU · 2.0 · opencl"]);
        assert_eq!(input.rows.len(), 2);
        let mut elsewhere = first.clone();
        elsewhere.host.name = "far".into();
        let input = ReportInput::new(vec![source(&first, &records), source(&elsewhere, &records)]);
        assert_eq!(input.labels()[1], "opencl:0 far");
        assert!(names(&input)[1].ends_with(" · far"), "{:?}", names(&input));
    }

    #[test]
    fn a_device_has_the_rows_that_were_run_on_it() {
        let both = header(vec![device("opencl"), device("wgpu")]);
        let on = |device, name| Record { device, ..record(key(name, 1), 1.0) };
        let skipped = gpubench_core::record::Outcome::Skipped("budget".into());
        let skipped = gpubench_core::record::sample::outcome(key("c", 1), skipped);
        let records = [on(0, "a"), on(1, "a"), on(1, "b"), skipped];
        let input = ReportInput::new(vec![source(&both, &records)]);
        assert_eq!([0, 1].map(|device| input.of(device).count()), [1, 2]);
    }
}
