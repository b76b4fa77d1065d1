//! Flags that no single case can know: they take the run's other cases.

use super::{drift, roof};
use gpubench_core::gpu::DeviceKind;
use gpubench_core::record::{Header, Record};
use std::collections::BTreeMap;

/// Flags what the records of a run say of each other: figures above the device's own ceilings, and
/// cases during which the device was disturbed. Doing it again changes nothing.
pub fn derive_flags(header: &Header, records: &mut [Record]) {
    let mut devices: BTreeMap<usize, Vec<&mut Record>> = BTreeMap::new();
    for record in records {
        devices.entry(record.device).or_default().push(record);
    }
    for (device, mut records) in devices {
        let kind = header.devices.get(device).map_or(DeviceKind::Other, |device| device.kind);
        drift::flag(&mut records, kind);
        roof::flag(&mut records, kind);
    }
}
