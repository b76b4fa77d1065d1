//! The roof that a launch stands under: arithmetic of its own mix of types, bandwidth of the level of memory that
//! its working set is in. A model has one peak and one bandwidth of a device; how those of a launch compare with
//! them, ceilings say that other workloads measured.

use super::folds::base_of;
use crate::aggregate::Aggregate;
use crate::roof::{Figure, Roof, Value};
use gpubench_core::gpu::Scalar;
use gpubench_core::record::Record;
use std::collections::{BTreeMap, BTreeSet};

/// How many times the device's roof is the one that a launch stands under.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnRoof {
    /// Operations a second of its mix of types, over those of `f32`.
    pub peak: f64,
    /// Bytes a second from the level of memory that its working set is in, over those from the last level.
    pub bandwidth: f64,
}

impl Default for OwnRoof {
    /// The device's, also where no ceiling says otherwise.
    fn default() -> Self {
        Self { peak: 1.0, bandwidth: 1.0 }
    }
}

impl OwnRoof {
    /// The roof of a record's kernel.
    fn of(roof: &Roof, record: &Record) -> Self {
        let Some(figure) = Figure::of(record) else { return Self::default() };
        let single = roof.types().find(|(r#type, _)| *r#type == Scalar::F32).map(|(_, rate)| rate);
        let over =
            |own: Option<f64>, all: Option<f64>| own.zip(all).map_or(1.0, |(own, all)| own / all);
        Self {
            peak: over(roof.plain_peak_to(&figure), single),
            bandwidth: over(roof.level(figure.touched()), roof.bandwidth()),
        }
    }
}

/// The ceilings of a device, for the kernels of every workload those that others measured, without equal launches of
/// theirs: what a launch reached is no part of what it is predicted from.
pub struct OwnRoofs<'a>(BTreeMap<&'a str, Roof>);

/// What equal launches have in common: the kernel as it was built, operations, bytes and buffers.
type Launched<'a> = (&'a str, [u64; 2], Option<u64>);

impl<'a> OwnRoofs<'a> {
    /// Of all kernels of one device.
    pub fn of(cases: &[Aggregate<'a>]) -> Self {
        let values: Vec<Option<Value>> = cases.iter().map(Value::of).collect();
        let mut workloads: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut launches: BTreeMap<Launched, Vec<usize>> = BTreeMap::new();
        for (position, case) in cases.iter().enumerate() {
            workloads.entry(base_of(&case.key.workload)).or_default().push(position);
            launched(case).for_each(|one| launches.entry(one).or_default().push(position));
        }
        let roof = |own: &[usize]| {
            let equal: BTreeSet<_> = own.iter().flat_map(|one| launched(&cases[*one])).collect();
            let equal = equal.iter().flat_map(|one| &launches[one]);
            let mut is_other = vec![true; cases.len()];
            own.iter().chain(equal).for_each(|position| is_other[*position] = false);
            let others = values.iter().zip(&is_other).filter(|(_, is_other)| **is_other);
            Roof::from_values(others.filter_map(|(value, _)| value.as_ref()))
        };
        Self(workloads.iter().map(|(own, positions)| (*own, roof(positions))).collect())
    }

    /// The roof of a case's kernel.
    pub fn under(&self, case: &Aggregate) -> OwnRoof {
        let roof = self.0.get(base_of(&case.key.workload));
        let record = case.shown().next().map(|(record, _)| record);
        roof.zip(record).map_or_else(OwnRoof::default, |(roof, record)| OwnRoof::of(roof, record))
    }
}

fn launched<'a>(case: &Aggregate<'a>) -> impl Iterator<Item = Launched<'a>> {
    case.shown().filter_map(|(record, measured)| {
        let work = [measured.flops, measured.bytes].map(f64::to_bits);
        Some((record.kernel.as_ref()?.hash.as_str(), work, record.working_set))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::aggregate;
    use gpubench_core::record::{Built, sample};
    use gpubench_core::workload::Ceiling;

    /// A kernel that touches all of its bytes once.
    fn kernel(workload: &str, n: i64, seconds: f64) -> Record {
        let mut record = sample::record(sample::key(workload, n), seconds);
        let measured = record.measured.as_mut().unwrap();
        (measured.flops, measured.bytes) = (1e9, 1e6 * n as f64);
        record.working_set = Some(1_000_000 * n as u64);
        record
    }

    fn of_type(mut record: Record, r#type: Scalar) -> Record {
        record.measured.as_mut().unwrap().types = vec![(r#type, 1e9)];
        record
    }

    fn ceiling(of: Ceiling, record: Record) -> Record {
        Record { ceiling: Some(of), ..record }
    }

    /// 1 TFLOP/s of f32 and half of f64; 10 GB/s from memory and 40 from a cache.
    fn records() -> Vec<Record> {
        vec![
            ceiling(Ceiling::Flops, of_type(kernel("chains/f32", 1, 1e-3), Scalar::F32)),
            ceiling(Ceiling::Flops, of_type(kernel("chains/f64", 1, 2e-3), Scalar::F64)),
            ceiling(Ceiling::Bandwidth, kernel("copy", 1, 1e6 / 40e9)),
            ceiling(Ceiling::Bandwidth, kernel("copy", 1000, 1e9 / 10e9)),
            of_type(kernel("double", 500, 1.0), Scalar::F64),
            kernel("single", 1, 1.0),
            kernel("large", 5000, 1.0),
        ]
    }

    #[test]
    fn a_kernel_stands_under_its_types_and_its_level() {
        let records = records();
        let cases = aggregate(&records);
        let roofs = OwnRoofs::of(&cases);
        let of = |name: &str| {
            let case = cases.iter().find(|case| case.key.workload == name).unwrap();
            let OwnRoof { peak, bandwidth } = roofs.under(case);
            [peak, bandwidth].map(|times| (times * 1e6).round() / 1e6)
        };
        assert_eq!(of("double"), [0.5, 1.0]);
        assert_eq!(of("single"), [1.0, 4.0]);
        assert_eq!(of("large"), [1.0, 1.0], "no ceiling touched as much");
        assert_eq!(of("chains/f64"), [1.0, 4.0], "its own figure is no part of its roof");
        assert_eq!(of("copy")[1], 1.0);
    }

    /// The kernel of the ceiling `chains/f64` in another suite's words, and another kernel that works as much.
    #[test]
    fn an_equal_launch_is_no_part_of_the_roof_under_any_name() {
        let mut records = records();
        let built = |hash: &str| Some(Built { group: [1; 3], ..sample::built(hash) });
        records[1].kernel = built("chains of f64");
        records.push(Record { kernel: built("chains of f64"), ..records[1].clone() });
        records.push(Record { kernel: built("others of f64"), ..records[1].clone() });
        for (record, name) in records.iter_mut().rev().zip(["other", "same"]) {
            (record.ceiling, record.key.workload) = (None, name.into());
        }
        let cases = aggregate(&records);
        let roofs = OwnRoofs::of(&cases);
        let peak = |name: &str| {
            roofs.under(cases.iter().find(|case| case.key.workload == name).unwrap()).peak
        };
        assert_eq!([peak("double"), peak("other"), peak("same")], [0.5, 0.5, 1.0]);
    }
}
