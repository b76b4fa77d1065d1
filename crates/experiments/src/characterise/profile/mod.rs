//! A device's profile from the records of the suite `characterise`: costs are differences between
//! variants of a kernel that differ in one thing repeated. `docs/reference/PROFILE.md` says which.

pub(super) mod probe;

use crate::characterise::data::{Characterised, VariantTimes};
use crate::registry::LATENCY;
use crate::residency::{groups_at_once, residency};
use gpubench_core::class::Class;
use gpubench_core::record::profile::{
    Apart, Atomics, Barrier, Footprint, Instruction, Launch, Local, Profile, Residency, Stream,
    Strides, Traffic, VERSION, Value,
};
use gpubench_core::record::{Header, Record};
use gpubench_core::workload::{CaseKey, Kind};
use gpubench_stats::overall;
use probe::{Probe, best, valid, without};
use std::collections::BTreeSet;

/// The workload that measures what an empty launch among others costs.
const LAUNCHES: &str = "launches";

/// The profile of the run's device number `device`; what no record shows is missing in it. `None`
/// where there is no such device.
pub fn profile(header: &Header, records: &[Record], device: usize) -> Option<Profile> {
    let probes = Probes { records, device };
    Some(Profile {
        version: VERSION,
        device: header.devices.get(device)?.clone(),
        gpubench: header.gpubench.clone(),
        started: header.started.clone(),
        launch: probes.launch(),
        instructions: Class::priced().filter_map(|c| probes.instruction(c)).collect(),
        streams: probes.streams(),
        chase: probes.chase(),
        strides: probes.strides(),
        local: probes.local(),
        barriers: probes.barriers(),
        atomics: probes.atomics(),
        residency: probes.residency(header.devices.get(device)?.compute_units),
    })
}

/// Whether profiles take what launches cost from this case's own time: a model that predicts it from a
/// profile has seen it.
pub fn is_probe(key: &CaseKey) -> bool {
    key.measure == LATENCY || key.workload == LAUNCHES
}

/// The workload that characterises a class.
fn workload(class: Class) -> String {
    match class.name() {
        "convert" => "convert".to_owned(),
        name => match name.split_once('_') {
            Some((kind @ ("float" | "int"), rest)) => format!("{kind}/{rest}"),
            _ => format!("int/{name}"),
        },
    }
}

/// The records of one device.
struct Probes<'a> {
    records: &'a [Record],
    device: usize,
}

impl<'a> Probes<'a> {
    fn of(&self, workload: &str) -> impl Iterator<Item = &'a Record> {
        let (workload, device) = (workload.to_owned(), self.device);
        let wanted = move |r: &&Record| r.device == device && r.key.workload == workload;
        self.records.iter().filter(|r| r.outcome.is_ok()).filter(wanted)
    }

    /// All rounds of a workload that has one size.
    fn probe(&self, workload: &str) -> Option<Probe> {
        let rounds: Vec<_> = self.of(workload).filter_map(characterised).collect();
        (!rounds.is_empty()).then_some(Probe { rounds })
    }

    fn launch(&self) -> Option<Launch> {
        let timed = |workload: &str, measure: Kind| {
            let records = self.of(workload).filter(|record| record.key.measure == measure);
            let samples: Vec<&[f64]> =
                records.filter_map(|r| Some(r.measured.as_ref()?.samples.as_slice())).collect();
            let summary = overall(samples)?;
            valid(Value { value: summary.value, interval: summary.interval })
        };
        let latency = timed("launch", LATENCY);
        let each = timed(LAUNCHES, Kind::KERNEL);
        (latency.is_some() || each.is_some()).then_some(Launch { latency, each })
    }

    /// What a class costs; of conversions, without the exclusive or before every other one.
    fn instruction(&self, class: Class) -> Option<Instruction> {
        let chain = self.chain(class)?;
        if class != Class::Convert {
            return Some(chain);
        }
        let logic = self.chain(Class::Logic)?;
        let latency = chain.latency.zip(logic.latency);
        let latency = latency.and_then(|(both, logic)| without(both, logic.times(0.5)));
        let each = |rate: Value| rate.rate(1.0);
        let throughput = chain.throughput.zip(logic.throughput);
        let throughput = throughput
            .and_then(|(both, logic)| without(each(both), each(logic).times(0.5)))
            .map(|seconds| seconds.rate(1.0));
        let known = latency.is_some() || throughput.is_some();
        known.then_some(Instruction { class, latency, throughput })
    }

    fn chain(&self, class: Class) -> Option<Instruction> {
        let probe = self.probe(&workload(class))?;
        let steps = probe.number("passes")? * probe.repeated()?;
        let chains = |width: f64| move |variant: &VariantTimes| variant.number("V") == Some(width);
        let latency = probe.cost(chains(1.0), 1).map(|cost| cost.times(1.0 / steps));
        let rates = probe.values("V").into_iter().flat_map(|width| {
            let rate = |groups: u32| {
                let cost = probe.cost(chains(width), groups)?;
                Some(cost.rate(steps * width * f64::from(groups) * probe.group_size()?))
            };
            probe.fullest(chains(width)).into_iter().filter_map(rate).collect::<Vec<_>>()
        });
        let throughput = best(rates);
        let is_known = latency.is_some() || throughput.is_some();
        is_known.then_some(Instruction { class, latency, throughput })
    }

    fn streams(&self) -> Vec<Stream> {
        let kinds = [("read", Traffic::Read), ("write", Traffic::Write), ("copy", Traffic::Copy)];
        let probes = kinds
            .into_iter()
            .filter_map(|(name, traffic)| Some((traffic, self.probe(&format!("stream/{name}"))?)));
        probes.flat_map(|(traffic, probe)| probe.streams(traffic)).collect()
    }

    fn chase(&self) -> Vec<Footprint> {
        let sizes: BTreeSet<i64> =
            self.of("chase").filter_map(|r| r.key.size.first().map(|(_, words)| *words)).collect();
        let footprint = |words: i64| {
            let of_size = |r: &&Record| r.key.size.first().is_some_and(|size| size.1 == words);
            let rounds: Vec<_> =
                self.of("chase").filter(of_size).filter_map(characterised).collect();
            let probe = Probe { rounds };
            let steps = 16.0 * probe.number("passes")? * probe.repeated()?;
            let latency = probe.cost(|_| true, 1)?.times(1.0 / steps);
            Some(Footprint { bytes: 4 * u64::try_from(words).ok()?, latency })
        };
        sizes.into_iter().filter_map(footprint).collect()
    }

    fn strides(&self) -> Option<Strides> {
        let apart = |workload: &str, name: &str| {
            self.probe(workload).map_or_else(Vec::new, |probe| probe.apart(name, 1.0))
        };
        let strides = apart("stride/apart", "STRIDE");
        let transaction = transaction(&strides);
        let offsets = apart("stride/offset", "OFFSET");
        let is_known = !strides.is_empty() || !offsets.is_empty();
        is_known.then_some(Strides { strides, offsets, transaction })
    }

    fn local(&self) -> Option<Local> {
        let latency = self.probe("local/alone").and_then(|probe| {
            let loads = 16.0 * probe.number("passes")? * probe.repeated()?;
            Some(probe.cost(|_| true, 1)?.times(1.0 / loads))
        });
        let apart = self.probe("local/apart");
        let loads = apart.as_ref().and_then(|probe| Some(16.0 * probe.number("passes")?));
        let strides = apart.as_ref().zip(loads);
        let strides = strides.map_or_else(Vec::new, |(probe, loads)| probe.apart("STRIDE", loads));
        let adjacent = |variant: &VariantTimes| variant.number("STRIDE") == Some(1.0);
        let bandwidth = apart.as_ref().zip(loads).and_then(|(probe, loads)| {
            let each = 4.0 * loads * probe.repeated()? * probe.group_size()?;
            let rate =
                |groups: u32| Some(probe.cost(adjacent, groups)?.rate(each * f64::from(groups)));
            best(probe.fullest(adjacent).into_iter().filter_map(rate))
        });
        let banks = banks(&strides);
        let is_known = latency.is_some() || !strides.is_empty();
        is_known.then_some(Local { latency, bandwidth, strides, banks })
    }

    fn barriers(&self) -> Vec<Barrier> {
        let names: BTreeSet<&str> = self
            .records
            .iter()
            .map(|record| record.key.workload.as_str())
            .filter(|name| name.starts_with("barrier/"))
            .collect();
        let barrier = |name: &str| {
            let probe = self.probe(name)?;
            let steps = probe.number("passes")? * probe.repeated()?;
            let exchange = probe.cost(|_| true, 1)?.times(1.0 / steps);
            let group_size = probe.group_size()? as u32;
            Some(Barrier { group_size, exchange })
        };
        let mut all: Vec<Barrier> = names.into_iter().filter_map(barrier).collect();
        all.sort_by_key(|barrier| barrier.group_size);
        all
    }

    fn atomics(&self) -> Option<Atomics> {
        let probe = self.probe("atomics")?;
        let rate = |spread: f64| {
            let wanted = move |variant: &VariantTimes| variant.number("SPREAD") == Some(spread);
            let rates = probe.fullest(wanted).into_iter().filter_map(|groups| {
                let additions =
                    16.0 * probe.repeated()? * f64::from(groups) * probe.group_size()?;
                Some(probe.cost(wanted, groups)?.rate(additions))
            });
            best(rates)
        };
        let (contended, apart) = (rate(0.0), rate(1.0));
        (contended.is_some() || apart.is_some()).then_some(Atomics { contended, apart })
    }

    fn residency(&self, reported: Option<u32>) -> Option<Residency> {
        let of_device = self.records.iter().filter(|r| r.device == self.device);
        let right = of_device.filter(|r| r.outcome.is_ok());
        let held = residency(right.filter_map(|r| groups_at_once(r.detail.as_ref()?)), reported)?;
        Some(Residency {
            units: held.units,
            groups: held.groups,
            work_items: held.work_items,
            local_memory: held.local_memory,
        })
    }
}

fn characterised(record: &Record) -> Option<Characterised> {
    record.detail.as_ref()?.read()
}

/// How many times the smallest stride's time the longest takes, as a power of two; `None` where
/// some stride was not measured.
fn growth(strides: &[Apart]) -> Option<(u32, f64)> {
    let (first, rest) = strides.split_first()?;
    let doubling = strides.windows(2).all(|pair| pair[1].bytes == 2 * pair[0].bytes);
    if !doubling || first.bytes != 4 {
        return None;
    }
    let times = rest.iter().map(|apart| apart.each.value / first.each.value);
    let max_slowdown = times.fold(1.0, f64::max);
    Some((first.bytes, max_slowdown.log2().round().exp2()))
}

/// Bytes of a transaction: neighbours that lie so far apart share none, and cost as much more
/// than neighbours side by side as they use less of it.
fn transaction(strides: &[Apart]) -> Option<u32> {
    let (bytes, times) = growth(strides)?;
    let last = strides.last()?.bytes;
    let size = (f64::from(bytes) * times) as u32;
    // Where the widest stride still costs more than the one before, the size lies beyond.
    (strides.len() > 2 && size < last).then_some(size)
}

/// Banks of local memory: with neighbours so many words apart all of them meet in one.
fn banks(strides: &[Apart]) -> Option<u32> {
    (strides.len() > 2).then(|| growth(strides))?.map(|(_, times)| times as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_workload() {
        assert_eq!(workload(Class::FloatMinMax), "float/min_max");
        assert_eq!(workload(Class::IntAdd), "int/add");
        assert_eq!(workload(Class::Shift), "int/shift");
        assert_eq!(workload(Class::Convert), "convert");
    }

    #[test]
    fn transactions_and_banks_are_where_times_level() {
        let apart = |times: &[f64]| -> Vec<Apart> {
            let each = |(i, &value): (usize, &f64)| Apart {
                bytes: 4 << i,
                each: Value { value, interval: [value, value] },
            };
            times.iter().enumerate().map(each).collect()
        };
        assert_eq!(transaction(&apart(&[1.0, 2.0, 4.1, 7.8, 8.0, 8.0, 8.0])), Some(32));
        assert_eq!(transaction(&apart(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0])), None, "beyond");
        assert_eq!(banks(&apart(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0])), Some(32));
        assert_eq!(banks(&apart(&[1.0, 1.1, 1.0, 0.9, 1.0, 1.0])), Some(1));
        assert_eq!(banks(&[]), None);
    }
}
