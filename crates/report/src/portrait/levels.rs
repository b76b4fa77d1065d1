//! The levels of memory: what each cache holds, and how fast loads from it are, one behind the other and all at once.

use super::{PortraitDevice, by_device, curves, row};
use crate::caches;
use gpubench_document::{Cell, Quantity, Sentence, Table, Unit};
use gpubench_model::memory_levels::Levels;

/// A row a level, a column a device. Where nothing chased loads, what bandwidth alone shows.
pub(super) fn table(devices: &[PortraitDevice]) -> Table {
    let mut table = by_device("levels", "Levels of memory", "level", devices);
    let found: Vec<Option<DeviceLevels>> = devices.iter().map(DeviceLevels::of).collect();
    let counts = found.iter().flatten().map(|found| found.levels.caches.len());
    for cache in 0..counts.max().unwrap_or(0) {
        let cell =
            |found: &Option<DeviceLevels>| found.as_ref().and_then(|f| f.cache(cache)).into();
        row(&mut table, format!("cache {}", cache + 1), found.iter().map(cell).collect());
    }
    let memory = |found: &Option<DeviceLevels>| found.as_ref().map(DeviceLevels::memory).into();
    row(&mut table, "memory", found.iter().map(memory).collect());
    let falls = devices.iter().zip(&found).map(|(device, found)| match found {
        Some(_) => vec![],
        None => device.roof.levels(),
    });
    let falls: Vec<Vec<(f64, f64)>> = falls.collect();
    for level in 0..falls.iter().map(Vec::len).max().unwrap_or(0) {
        let cell = |levels: &Vec<(f64, f64)>| match levels.get(level) {
            Some((bytes, rate)) => {
                let rate = Sentence::new().value(*rate, Unit::BytesPerSecond);
                rate.text(", found from ").value(*bytes, Unit::Bytes).text(" on").into()
            }
            None => Cell::Missing,
        };
        row(&mut table, format!("bandwidth {}", level + 1), falls.iter().map(cell).collect());
    }
    table
}

/// What loads show of a device's memory.
struct DeviceLevels {
    levels: Levels,
    /// Bandwidth by the bytes of the working set, ascending.
    bandwidths: Vec<(f64, Quantity)>,
}

impl DeviceLevels {
    /// `None` where no load is slower than others.
    fn of(device: &PortraitDevice) -> Option<Self> {
        let levels = caches::levels(&device.profile?.chase)?;
        Some(Self { levels, bandwidths: curves::bandwidth(&device.cases) })
    }

    /// What a cache holds, and the most that kernels reach of what it holds and the one before it does not.
    fn cache(&self, number: usize) -> Option<Sentence> {
        let cache = self.levels.caches.get(number)?;
        let holds = |number: usize| self.levels.caches.get(number).map(|c| c.capacity.value);
        let before = number.checked_sub(1).and_then(holds).unwrap_or(0.0);
        let is_within = |bytes: f64| before < bytes && bytes <= cache.capacity.value;
        let within = self.bandwidths.iter().filter(|(bytes, _)| is_within(*bytes));
        let fastest =
            within.map(|(_, rate)| *rate).reduce(|a, b| if b.value() > a.value() { b } else { a });
        let capacity = Sentence::new().quantity(caches::capacity(cache), Unit::Bytes);
        let load =
            capacity.text(", a load in ").quantity(caches::quantity(&cache.seconds), Unit::Seconds);
        Some(with_bandwidth(load, fastest))
    }

    /// What is behind the last cache, at the largest working set, where that is larger.
    fn memory(&self) -> Sentence {
        let seconds = caches::quantity(&self.levels.memory);
        let load = Sentence::from("a load in ").quantity(seconds, Unit::Seconds);
        let last = self.levels.caches.last().map_or(0.0, |cache| cache.capacity.value);
        let largest = self.bandwidths.last().filter(|(bytes, _)| *bytes > last);
        with_bandwidth(load, largest.map(|(_, rate)| *rate))
    }
}

/// With the bandwidth, where sizes show it.
fn with_bandwidth(load: Sentence, rate: Option<Quantity>) -> Sentence {
    match rate {
        Some(_) => load.text(", ").quantity(rate, Unit::BytesPerSecond),
        None => load,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_document::Column;
    use gpubench_model::least_squares::Estimate;
    use gpubench_model::memory_levels::Cache;

    #[test]
    fn a_cache_is_read_as_fast_as_sizes_that_it_holds_and_the_one_before_it_does_not() {
        let is = |value| Estimate::new(value, 0.0, 9);
        let cache = |bytes, seconds| Cache { capacity: is(bytes), seconds: is(seconds) };
        let caches = vec![cache(65_536.0, 1e-9), cache(1_048_576.0, 4e-9)];
        let rates =
            [(16_384.0, 4e11), (32_768.0, 3e11), (262_144.0, 1e11), (524_288.0, 2e11), (1e9, 5e10)];
        let bandwidths = rates.map(|(bytes, rate)| (bytes, Quantity::new(rate).unwrap()));
        let found = DeviceLevels {
            levels: Levels { caches, memory: is(9e-8) },
            bandwidths: bandwidths.to_vec(),
        };
        let mut table = Table::new("levels", "levels", [Column::text("level", "level")]);
        for cell in [found.cache(0), found.cache(1), Some(found.memory())] {
            table.row([Cell::from(cell)]);
        }
        let text = crate::render::text::table(&table, None);
        for line in [
            "64.0 KiB ±0.0 %, a load in 1.00 ns ±0.0 %, 400 GB/s",
            "1.00 MiB ±0.0 %, a load in 4.00 ns ±0.0 %, 200 GB/s",
            "a load in 90.0 ns ±0.0 %, 50.0 GB/s",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert_eq!(found.cache(2), None);
    }
}
