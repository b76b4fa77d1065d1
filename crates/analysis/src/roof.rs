//! Figures above what the device can do, by its own measured ceilings (the roofline, model 3):
//! either the suite counts more work than the kernel does, or the clock cannot be trusted.

use gpubench_core::record::{Flag, Record};
use gpubench_core::units;
use gpubench_stats::Summary;
use std::collections::BTreeMap;

/// A rate may exceed the ceiling by this factor before it is doubted: clocks rise and fall, and a
/// search for the ceiling may miss the best variant.
const DOUBT: f64 = 1.2;

/// The most that a device was seen to do; 0 where not measured.
#[derive(Clone, Copy, Default)]
pub struct Roof {
    /// Operations a second.
    pub flops: f64,
    /// Bytes a second.
    pub bandwidth: f64,
}

/// Flags every record of a kernel that is faster than the ceilings of the same device in `records`
/// allow. Bandwidths from a cache have no roof here; nothing has one without the ceilings.
pub fn flag_implausible(records: &mut [Record]) {
    let mut devices: BTreeMap<usize, Vec<&Record>> = BTreeMap::new();
    for record in records.iter() {
        devices.entry(record.device).or_default().push(record);
    }
    let roofs: BTreeMap<usize, Roof> =
        devices.into_iter().map(|(device, records)| (device, Roof::of(records))).collect();
    for record in records {
        let roof = roofs.get(&record.device).copied().unwrap_or_default();
        if let Some(why) = above(record, roof) {
            record.flags.push(Flag::Implausible(why));
        }
    }
}

impl Roof {
    /// What one device was seen to do at most.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut roof = Self::default();
        let is_ceiling = |record: &&Record| record.tags.iter().any(|tag| tag == "ceiling");
        for record in records.into_iter().filter(is_ceiling) {
            let Some((flops, bandwidth)) = rates(record) else { continue };
            roof.flops = roof.flops.max(flops);
            if !record.flags.contains(&Flag::Cache) {
                roof.bandwidth = roof.bandwidth.max(bandwidth);
            }
        }
        roof
    }
}

/// Operations and bytes a second of a verified kernel.
fn rates(record: &Record) -> Option<(f64, f64)> {
    let verified = record.outcome.is_ok() && record.key.measure.is_kernel();
    let measured = record.measured.as_ref().filter(|_| verified)?;
    let seconds = Summary::of(&measured.samples)?.median;
    (seconds > 0.0).then_some((measured.flops / seconds, measured.bytes / seconds))
}

fn above(record: &Record, roof: Roof) -> Option<String> {
    let (flops, bandwidth) = rates(record)?;
    if roof.flops > 0.0 && flops > DOUBT * roof.flops {
        return Some(format!(
            "{} of arithmetic, the device's measured ceiling is {}",
            units::flops(flops),
            units::flops(roof.flops)
        ));
    }
    let cached = record.flags.contains(&Flag::Cache);
    (!cached && roof.bandwidth > 0.0 && bandwidth > DOUBT * roof.bandwidth).then(|| {
        format!(
            "{} of memory traffic, the device's measured ceiling is {}",
            units::bandwidth(bandwidth),
            units::bandwidth(roof.bandwidth)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample::{key, record};

    fn ceiling(seconds: f64) -> Record {
        Record { tags: vec!["ceiling".into()], ..record(key("fma", 1), seconds) }
    }

    fn implausible(records: &mut [Record]) -> Vec<bool> {
        flag_implausible(records);
        let doubted = |r: &Record| r.flags.iter().any(|f| matches!(f, Flag::Implausible(_)));
        records.iter().map(doubted).collect()
    }

    #[test]
    fn faster_than_the_ceiling_is_doubted() {
        // Equal work each: the rate is the inverse of the time.
        let mut records = [ceiling(1.0), record(key("a", 1), 0.9), record(key("b", 1), 0.5)];
        assert_eq!(implausible(&mut records), [false, false, true]);
    }

    #[test]
    fn a_cache_is_no_memory_and_another_device_no_reference() {
        let mut records = [ceiling(1.0), record(key("a", 1), 0.5), record(key("b", 1), 0.5)];
        records[0].measured.as_mut().expect("measured").flops = 0.0;
        records[1].flags.push(Flag::Cache);
        records[2].device = 1;
        assert_eq!(implausible(&mut records), [false, false, false]);
    }
}
