//! The caches that a device's loads show, as a table.

use gpubench_core::record::profile::Footprint;
use gpubench_document::{Cell, Column, Quantity, Table, Unit};
use gpubench_model::memory_levels::{Cache, Point, find};

/// What the times of dependent loads say about caches; `None` where they show none.
pub fn table(chase: &[Footprint]) -> Option<Table> {
    let point = |f: &Footprint| Point { bytes: f.bytes as f64, seconds: f.latency.value };
    let levels = find(&chase.iter().map(point).collect::<Vec<_>>())?;
    let columns = [
        Column::text("level", "level"),
        Column::new("capacity", "capacity", Unit::Bytes),
        Column::new("latency", "a dependent load", Unit::Seconds),
    ];
    let mut table = Table::new("caches", "Caches, by where loads get slower", columns);
    for (number, Cache { capacity, seconds }) in (1..).zip(&levels.caches) {
        // By its standard error, an interval may reach below nothing.
        let [low, high] = capacity.interval().map(|bytes| bytes.max(0.0));
        let capacity = Quantity::between(capacity.value, [low, high]);
        table.row([format!("cache {number}").into(), capacity.into(), (*seconds).into()]);
    }
    table.row([Cell::from("memory"), "–".into(), levels.memory.into()]);
    Some(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::profile::Value;

    #[test]
    fn a_cache_and_the_memory_behind_it_are_rows() {
        let footprint = |i: u32| {
            let bytes = 4096u64 << i;
            let misses = (1.0 - 262_144.0 / bytes as f64).max(0.0);
            let value = 2e-9 + 60e-9 * misses;
            Footprint { bytes, latency: Value { value, interval: [value; 2] } }
        };
        let chase: Vec<Footprint> = (0..14).map(footprint).collect();
        let text = crate::render::text::table(&table(&chase).unwrap(), None);
        assert!(text.contains("cache 1") && !text.contains("cache 2"), "{text}");
        assert!(text.contains("memory") && text.contains("62"), "{text}");
        assert_eq!(table(&chase[..5]).map(|_| ()), None);
    }
}
