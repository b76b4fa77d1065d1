//! What launches, local memory, barriers and atomics cost.

use super::{PortraitDevice, by_device, row};
use gpubench_core::record::profile::{Profile, Value};
use gpubench_document::{Cell, Quantity, Sentence, Table, Unit};

/// A row a cost.
pub(super) fn table(devices: &[PortraitDevice]) -> Table {
    let mut table = by_device("costs", "Launches, local memory, synchronisation", "cost", devices);
    let mut add = |what: String, unit: Unit, of: &dyn Fn(&Profile) -> Option<Value>| {
        let cell = |device: &PortraitDevice| {
            let value = device.profile.and_then(of);
            let value = value.and_then(|value| Quantity::between(value.value, value.interval));
            value.map_or(Cell::Missing, |v| Sentence::new().quantity(Some(v), unit).into())
        };
        row(&mut table, what, devices.iter().map(cell).collect());
    };
    let launch = |profile: &Profile| profile.launch;
    add("launch latency".into(), Unit::Seconds, &|profile| launch(profile)?.latency);
    add("each of many launches".into(), Unit::Seconds, &|profile| launch(profile)?.each);
    let local = |profile: &Profile| profile.local.clone();
    add("local memory, latency".into(), Unit::Seconds, &|profile| local(profile)?.latency);
    add("local memory, bandwidth".into(), Unit::BytesPerSecond, &|p| local(p)?.bandwidth);
    for size in [64, 256] {
        let what = format!("write, barrier, read in a group of {size}");
        add(what, Unit::Seconds, &|profile| {
            let barrier = profile.barriers.iter().find(|barrier| barrier.group_size == size);
            barrier.map(|barrier| barrier.exchange)
        });
    }
    let atomics = |profile: &Profile| profile.atomics;
    add("atomic additions to one word".into(), Unit::PerSecond, &|p| atomics(p)?.contended);
    add("atomic additions, each to its own".into(), Unit::PerSecond, &|p| atomics(p)?.apart);
    table
}
