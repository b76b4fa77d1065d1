//! What the drivers report.

use super::{PortraitDevice, by_device, row};
use crate::labels::kind_label;
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::text::printable;
use gpubench_document::{Cell, Sentence, Table, Unit};

/// A row a property.
pub(super) fn table(devices: &[PortraitDevice]) -> Table {
    let mut table = by_device("reported", "What the driver reports", "property", devices);
    let mut add = |what: &'static str, of: &dyn Fn(&DeviceInfo) -> Cell| {
        let cells = devices.iter().map(|device| of(device.reported.device)).collect();
        row(&mut table, what, cells);
    };
    let text = |text: &str| Cell::from(printable(text, 60));
    add("name", &|device| text(&device.name));
    add("kind", &|device| kind_label(device).into());
    add("API", &|device| text(&device.api));
    add("driver", &|device| text(&device.driver));
    add("memory", &|device| quantity(device.memory.map(|bytes| bytes.0 as f64), Unit::Bytes));
    add("largest cache", &|device| quantity(device.cache.map(|bytes| bytes.0 as f64), Unit::Bytes));
    add("local memory", &|device| quantity(Some(device.local_memory.0 as f64), Unit::Bytes));
    add("units", &|device| quantity(device.compute_units.map(f64::from), Unit::Count));
    add("clock", &|device| quantity(device.clock_hz, Unit::Hertz));
    add("work-items of a group", &|device| {
        quantity(Some(f64::from(device.max_group_size)), Unit::Count)
    });
    add("features", &|device| match device.features.is_empty() {
        true => Cell::Missing,
        false => text(&device.features.join(", ")),
    });
    table
}

/// A number with its unit; a driver that reports nothing sometimes reports zero.
fn quantity(value: Option<f64>, unit: Unit) -> Cell {
    let known = value.filter(|value| *value > 0.0);
    known.map_or(Cell::Missing, |value| Sentence::new().value(value, unit).into())
}
