//! The levels of memory: where bandwidth falls, and where dependent loads get slower.

use super::{PortraitDevice, by_device, row};
use crate::caches;
use gpubench_document::{Cell, Sentence, Table, Unit};
use gpubench_model::memory_levels::Levels;

/// A row a level, a column a device.
pub(super) fn table(devices: &[PortraitDevice]) -> Table {
    let mut table = by_device("levels", "Levels of memory", "level", devices);
    let all: Vec<Vec<(f64, f64)>> = devices.iter().map(|device| device.roof.levels()).collect();
    for level in 0..all.iter().map(Vec::len).max().unwrap_or(0) {
        let cell = |levels: &Vec<(f64, f64)>| match levels.get(level) {
            Some((bytes, rate)) => {
                let rate = Sentence::new().value(*rate, Unit::BytesPerSecond);
                rate.text(", found from ").value(*bytes, Unit::Bytes).text(" on").into()
            }
            None => Cell::Missing,
        };
        let what = format!("bandwidth {}", level + 1);
        row(&mut table, what, all.iter().map(cell).collect());
    }
    let found: Vec<Option<Levels>> = devices.iter().map(caches_of).collect();
    let counts = found.iter().flatten().map(|levels| levels.caches.len());
    for cache in 0..counts.max().unwrap_or(0) {
        let cell = |levels: &Option<Levels>| {
            let Some(cache) = levels.as_ref().and_then(|levels| levels.caches.get(cache)) else {
                return Cell::Missing;
            };
            let capacity = Sentence::new().quantity(caches::capacity(cache), Unit::Bytes);
            capacity.text(", a load in ").value(cache.seconds, Unit::Seconds).into()
        };
        let what = format!("cache {}", cache + 1);
        row(&mut table, what, found.iter().map(cell).collect());
    }
    let memory = |levels: &Option<Levels>| match levels {
        Some(levels) => Sentence::from("a load in ").value(levels.memory, Unit::Seconds).into(),
        None => Cell::Missing,
    };
    row(&mut table, "memory", found.iter().map(memory).collect());
    table
}

/// What dependent loads show of a device.
fn caches_of(device: &PortraitDevice) -> Option<Levels> {
    caches::levels(&device.profile?.chase)
}
