//! Records as flat rows, for those who go on in DuckDB, Polars or Spark.

use super::csv::number;
use super::labels::case_name;
use gpubench_analysis::ranking_family;
use gpubench_core::gpu::{DeviceInfo, MemoryKind};
use gpubench_core::record::{Built, Flag, Grade, Header, Measured, Record};
use gpubench_core::text::harmless;
use gpubench_core::workload::CaseKey;
use gpubench_stats::Summary;
use serde_json::Value;
use std::borrow::Cow;

/// The columns of the export: their names, and what each shows of a record.
pub const COLUMNS: [(&str, Kind); 38] = [
    ("run", Kind::Text(|of| of.run.into())),
    ("started", Kind::Text(|of| (&of.header.started).into())),
    ("suite", Kind::Text(|of| (&of.header.suite).into())),
    ("suite_hash", Kind::Text(|of| (&of.header.suite_hash).into())),
    ("host", Kind::Text(|of| (&of.header.host.name).into())),
    ("device", Kind::Text(|of| (&of.device.name).into())),
    ("vendor", Kind::Text(|of| (&of.device.vendor).into())),
    ("api", Kind::Text(|of| (&of.device.backend).into())),
    ("kind", Kind::Text(|of| format!("{:?}", of.device.kind).to_lowercase().into())),
    ("driver", Kind::Text(|of| (&of.device.driver).into())),
    ("slug", Kind::Text(|of| of.device.slug().into())),
    ("case", Kind::Text(|of| case_name(&of.record.key).into())),
    ("workload", Kind::Text(|of| (&of.record.key.workload).into())),
    ("size", Kind::Text(|of| size(&of.record.key).into())),
    ("measure", Kind::Text(|of| of.record.key.measure.name().into())),
    (
        "host_memory",
        Kind::Text(|of| of.record.key.host_memory.map_or("", MemoryKind::label).into()),
    ),
    ("family", Kind::Text(|of| ranking_family(of.record).into())),
    ("round", Kind::Whole(|of| of.record.round.into())),
    ("outcome", Kind::Text(|of| of.record.outcome.label().into())),
    ("samples", Kind::Whole(|of| of.summary.map_or(0, |s| s.count as i64))),
    ("median", Kind::Number(|of| Some(of.summary?.median))),
    ("median_low", Kind::Number(|of| Some(of.summary?.interval[0]))),
    ("median_high", Kind::Number(|of| Some(of.summary?.interval[1]))),
    ("min", Kind::Number(|of| Some(of.summary?.min))),
    ("max", Kind::Number(|of| Some(of.summary?.max))),
    (
        "clock",
        Kind::Text(|of| of.measured.map_or_else(String::new, |m| serde_name(&m.clock)).into()),
    ),
    ("resolution", Kind::Number(|of| Some(of.measured?.resolution))),
    ("flops", Kind::Number(|of| Some(of.measured?.flops))),
    ("bytes", Kind::Number(|of| Some(of.measured?.bytes))),
    ("joules", Kind::Number(|of| of.record.monitor.joules)),
    ("device_hertz", Kind::Number(|of| of.record.monitor.sensors.hertz)),
    ("device_celsius", Kind::Number(|of| of.record.monitor.sensors.celsius)),
    ("host_hertz", Kind::Number(|of| of.record.monitor.host.hertz)),
    ("host_celsius", Kind::Number(|of| of.record.monitor.host.celsius)),
    ("kernel", Kind::Text(|of| of.built.map_or("", |b| &b.hash).into())),
    (
        "bounds_checks",
        Kind::Text(|of| of.built.map_or_else(String::new, |b| serde_name(&b.bounds_checks)).into()),
    ),
    ("flags", Kind::Text(|of| flags(of.record).into())),
    ("grade", Kind::Text(|of| grade(of.record).into())),
];

/// What a column holds, and what that is of a record.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Text, never missing.
    Text(for<'a> fn(&Exported<'a>) -> Cow<'a, str>),
    /// A whole number, never missing.
    Whole(fn(&Exported) -> i64),
    /// A number; missing where nothing was measured.
    Number(fn(&Exported) -> Option<f64>),
}

/// A record, and what columns show besides it.
#[derive(Debug)]
pub struct Exported<'a> {
    run: &'a str,
    header: &'a Header,
    device: &'a DeviceInfo,
    record: &'a Record,
    measured: Option<&'a Measured>,
    summary: Option<Summary>,
    built: Option<&'a Built>,
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
    let measured = record.measured.as_ref();
    let summary = measured.and_then(|measured| Summary::of(&measured.samples));
    let built = record.kernel.as_ref();
    let of = Exported { run, header, device, record, measured, summary, built };
    let cell = |(_, kind)| match kind {
        Kind::Text(text) => Cell::Text(harmless(&text(&of)).into_owned()),
        Kind::Whole(number) => Cell::Whole(number(&of)),
        Kind::Number(number) => Cell::Number(number(&of)),
    };
    Some(COLUMNS.map(cell).into())
}

fn size(key: &CaseKey) -> String {
    let size: Vec<String> = key.size.iter().map(|(name, n)| format!("{name}={n}")).collect();
    size.join(" ")
}

fn flags(record: &Record) -> String {
    record.flags.iter().map(serde_name).collect::<Vec<_>>().join(" ")
}

fn grade(record: &Record) -> &'static str {
    record.flags.iter().map(Flag::grade).max().map_or("", Grade::label)
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
    use gpubench_core::record::sample::{device, header, key, record};

    #[test]
    fn a_row_shows_what_was_measured_and_what_to_know_of_it() {
        let header = header(vec![device("opencl")]);
        let mut flagged = record(key("a", 1), 1e-3);
        flagged.flags = vec![Flag::NotConverged, Flag::Flake("once".into())];
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
