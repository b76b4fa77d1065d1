//! Records as flat rows, for those who go on in DuckDB, Polars or Spark.

use super::csv::number;
use super::labels::case_name;
use gpubench_core::record::{Flag, Grade, Header, Record};
use gpubench_core::text::harmless;
use gpubench_stats::Summary;
use serde_json::Value;

/// A column of the export: its name and what it holds.
pub const COLUMNS: [(&str, Kind); 38] = [
    ("run", Kind::Text),
    ("started", Kind::Text),
    ("suite", Kind::Text),
    ("suite_hash", Kind::Text),
    ("host", Kind::Text),
    ("device", Kind::Text),
    ("vendor", Kind::Text),
    ("api", Kind::Text),
    ("kind", Kind::Text),
    ("driver", Kind::Text),
    ("slug", Kind::Text),
    ("case", Kind::Text),
    ("workload", Kind::Text),
    ("size", Kind::Text),
    ("measure", Kind::Text),
    ("host_memory", Kind::Text),
    ("family", Kind::Text),
    ("round", Kind::Whole),
    ("outcome", Kind::Text),
    ("samples", Kind::Whole),
    ("median", Kind::Number),
    ("median_low", Kind::Number),
    ("median_high", Kind::Number),
    ("min", Kind::Number),
    ("max", Kind::Number),
    ("clock", Kind::Text),
    ("resolution", Kind::Number),
    ("flops", Kind::Number),
    ("bytes", Kind::Number),
    ("joules", Kind::Number),
    ("device_hertz", Kind::Number),
    ("device_celsius", Kind::Number),
    ("host_hertz", Kind::Number),
    ("host_celsius", Kind::Number),
    ("kernel", Kind::Text),
    ("bounds_checks", Kind::Text),
    ("flags", Kind::Text),
    ("grade", Kind::Text),
];

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text, never missing.
    Text,
    /// A whole number, never missing.
    Whole,
    /// A number; missing where nothing was measured.
    Number,
}

/// A cell of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Of a [`Kind::Text`] column.
    Text(String),
    /// Of a [`Kind::Whole`] column.
    Whole(i64),
    /// Of a [`Kind::Number`] column.
    Number(Option<f64>),
}

impl Cell {
    /// As text for a spreadsheet.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Whole(x) => x.to_string(),
            Self::Number(x) => number(*x),
        }
    }
}

/// The row of a record of `run` (the file's name without its ending); `None` where the header has
/// no such device. Seconds, operations, bytes and joules; one cell a column of [`COLUMNS`].
pub fn row(run: &str, header: &Header, record: &Record) -> Option<Vec<Cell>> {
    let device = header.devices.get(record.device)?;
    let size: Vec<String> = record.key.size.iter().map(|(name, n)| format!("{name}={n}")).collect();
    let flags: Vec<String> = record.flags.iter().map(serde_name).collect();
    let grade = record.flags.iter().map(Flag::grade).max();
    let kind = format!("{:?}", device.kind).to_lowercase();
    let memory = record.key.host_memory.map(|kind| kind.label().to_owned());
    let measured = record.measured.as_ref();
    let summary = measured.and_then(|measured| Summary::of(&measured.samples));
    let built = record.kernel.as_ref();
    let text = |text: &str| Cell::Text(harmless(text).into_owned());
    let figure = |pick: fn(&Summary) -> f64| Cell::Number(summary.as_ref().map(pick));
    Some(vec![
        text(run),
        text(&header.started),
        text(&header.suite),
        text(&header.suite_hash),
        text(&header.host.name),
        text(&device.name),
        text(&device.vendor),
        text(&device.backend),
        Cell::Text(kind),
        text(&device.driver),
        text(&device.slug()),
        text(&case_name(&record.key)),
        text(&record.key.workload),
        text(&size.join(" ")),
        Cell::Text(serde_name(&record.key.measure)),
        Cell::Text(memory.unwrap_or_default()),
        text(&record.family),
        Cell::Whole(i64::from(record.round)),
        text(record.outcome.label()),
        Cell::Whole(summary.map_or(0, |s| s.count as i64)),
        figure(|s| s.median),
        figure(|s| s.interval[0]),
        figure(|s| s.interval[1]),
        figure(|s| s.min),
        figure(|s| s.max),
        Cell::Text(measured.map(|m| serde_name(&m.clock)).unwrap_or_default()),
        Cell::Number(measured.map(|m| m.resolution)),
        Cell::Number(measured.map(|m| m.flops)),
        Cell::Number(measured.map(|m| m.bytes)),
        Cell::Number(record.monitor.joules),
        Cell::Number(record.monitor.sensors.hertz),
        Cell::Number(record.monitor.sensors.celsius),
        Cell::Number(record.monitor.host.hertz),
        Cell::Number(record.monitor.host.celsius),
        text(built.map_or("", |b| &b.hash)),
        Cell::Text(built.map_or_else(String::new, |b| serde_name(&b.bounds_checks))),
        Cell::Text(flags.join(" ")),
        text(grade.map_or("", Grade::label)),
    ])
}

/// The name by which JSON knows a value; of one with a text, the name alone.
pub(crate) fn serde_name(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(serde_name)) => serde_name,
        Ok(Value::Object(object)) => object.keys().next().cloned().unwrap_or_default(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::Outcome;
    use gpubench_core::record::sample::{device, header, key, outcome, record};

    #[test]
    fn a_row_has_a_cell_of_the_right_kind_for_every_column() {
        let header = header(vec![device("opencl")]);
        let mut flagged = record(key("a", 1), 1e-3);
        flagged.flags = vec![Flag::NotConverged, Flag::Flake("once".into())];
        for record in [flagged.clone(), outcome(key("a", 1), Outcome::Skipped("why".into()))] {
            let row = row("x", &header, &record).unwrap();
            assert_eq!(row.len(), COLUMNS.len());
            for (cell, (name, kind)) in row.iter().zip(COLUMNS) {
                let found = match cell {
                    Cell::Text(_) => Kind::Text,
                    Cell::Whole(_) => Kind::Whole,
                    Cell::Number(_) => Kind::Number,
                };
                assert_eq!(found, kind, "{name}");
            }
        }
        let texts: Vec<String> =
            row("x", &header, &flagged).unwrap().iter().map(Cell::text).collect();
        assert_eq!((texts[25].as_str(), texts[26].as_str()), ("device", "1e-9"));
        assert_eq!((texts[36].as_str(), texts[37].as_str()), ("not_converged flake", "note"));
        assert_eq!(
            (texts[13].as_str(), texts[14].as_str(), texts[20].as_str()),
            ("n=1", "kernel", "0.001")
        );
    }
}
