//! The caches that a device's loads show, as a table.

use gpubench_core::record::profile::Footprint;
use gpubench_document::{Cell, Column, Quantity, Table, Unit};
use gpubench_model::least_squares::Estimate;
use gpubench_model::memory_levels::{Cache, Levels, Point, find};

/// What the times of dependent loads say about caches; `None` where they show none.
pub fn table(chase: &[Footprint]) -> Option<Table> {
    let levels = levels(chase)?;
    let columns = [
        Column::text("level", "level"),
        Column::new("capacity", "capacity", Unit::Bytes),
        Column::new("latency", "a dependent load", Unit::Seconds),
    ];
    let mut table = Table::new("caches", "Caches, by where loads get slower", columns);
    for (number, cache) in (1..).zip(&levels.caches) {
        let name = format!("cache {number}");
        table.row([name.into(), capacity(cache).into(), quantity(&cache.seconds).into()]);
    }
    table.row([Cell::from("memory"), "–".into(), quantity(&levels.memory).into()]);
    Some(table)
}

/// The caches and the memory behind them that dependent loads show.
pub(crate) fn levels(chase: &[Footprint]) -> Option<Levels> {
    let point = |f: &Footprint| Point { bytes: f.bytes as f64, seconds: f.latency.value };
    find(&chase.iter().map(point).collect::<Vec<_>>())
}

/// What a cache holds.
pub(crate) fn capacity(cache: &Cache) -> Option<Quantity> {
    quantity(&cache.capacity)
}

/// An estimate; by its standard error, an interval may reach below nothing. One without end is shown as a very wide one, since
/// a bare value would look exact.
pub(crate) fn quantity(estimate: &Estimate) -> Option<Quantity> {
    Quantity::between(estimate.value, estimate.interval().map(|end| end.clamp(0.0, f64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::profile::Value;

    #[test]
    fn an_interval_without_end_is_shown() {
        let estimate = |margin: f64| Estimate { value: 2.0, error: margin, margin };
        let ends = |margin: f64| quantity(&estimate(margin)).and_then(|shown| shown.interval());
        assert_eq!([ends(3.0), ends(f64::INFINITY)], [Some([0.0, 5.0]), Some([0.0, f64::MAX])]);
    }

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
