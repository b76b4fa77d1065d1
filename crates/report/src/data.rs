//! A report for programs: one document for JSON, one table for CSV.

use super::comparison::Compared;
use super::csv::{csv, number};
use super::export_rows::serde_name;
use super::labels;
use gpubench_analysis::rank::Ranking;
use gpubench_analysis::{Aggregate, ReportInput, ReportedDevice, Source, ranking_family};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::{Outcome, measured_rounds};
use gpubench_core::text::printable;
use gpubench_core::workload::Kind;
use gpubench_document::Section;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the document. A field may be added without a new version, never change or go.
pub const VERSION: u32 = 2;

/// What runs measured.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Document {
    /// Version of this format: 2.
    pub version: u32,
    /// gpubench's version that wrote the document.
    pub gpubench: String,
    /// The runs.
    pub runs: Vec<Run>,
    /// The devices; cases name them by position.
    pub devices: Vec<Device>,
    /// Every case on every device.
    pub cases: Vec<Case>,
    /// What the page shows besides its cases, ranking and comparison.
    pub sections: Vec<Section>,
    /// The ranking, in the format of `gpubench rank --format json`.
    pub ranking: serde_json::Value,
    /// Devices against a baseline, in the format of `gpubench compare --format json`.
    pub comparison: serde_json::Value,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Run {
    /// The result file's name.
    pub file: String,
    /// The suite.
    pub suite: String,
    /// The suite's hash.
    pub suite_hash: String,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// Seconds of wall time; null where it was cut short.
    pub wall: Option<f64>,
    /// Rounds planned.
    pub rounds: u32,
    /// Rounds in which a case was measured, the fewest and the most.
    pub measured_rounds: [u32; 2],
    /// Seed of inputs and order.
    pub seed: u64,
    /// The machine's name.
    pub host: String,
    /// The machine's processor.
    pub cpu: String,
    /// The operating system.
    pub os: String,
    /// The version that measured.
    pub gpubench: String,
}

/// A device seen through one API.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Device {
    /// What `--device` takes, and the columns of `sections` begin with: distinct.
    pub label: String,
    /// What people read in its place: name, driver and API, distinct.
    pub short_name: String,
    /// Its name.
    pub name: String,
    /// Its vendor.
    pub vendor: String,
    /// `discrete`, `integrated`, `virtual`, `cpu`, `simulated` or `other`.
    pub kind: String,
    /// The backend.
    pub backend: String,
    /// The API's version.
    pub api: String,
    /// The driver.
    pub driver: String,
    /// The machine.
    pub host: String,
}

/// One case on one device, over all rounds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Case {
    /// Position in `devices`.
    pub device: usize,
    /// The workload.
    pub workload: String,
    /// Its sizes.
    pub size: BTreeMap<String, i64>,
    /// What is measured.
    pub measure: Kind,
    /// The kind of host memory, for transfers.
    pub host_memory: Option<String>,
    /// Which ranking family it counts in.
    pub family: String,
    /// `ok`, or in a word or two another result.
    pub outcome: String,
    /// Why it failed or was left out.
    pub reason: Option<String>,
    /// Seconds of one operation, over all rounds.
    pub seconds: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// What the interval was made of: the samples of the only `round`, these and the `drift` that other
    /// cases show, the case's own `rounds`, or those of all cases of the `device`.
    pub interval_basis: Option<String>,
    /// Rounds measured.
    pub rounds: usize,
    /// Samples in all rounds.
    pub samples: usize,
    /// Work per second.
    pub rate: Option<f64>,
    /// `FLOP/s`, `OP/s` (of whole numbers) or `B/s`.
    pub rate_unit: Option<String>,
    /// What to know before believing the figure.
    pub flags: Vec<String>,
    /// The worst of the flags: `note`, `warning` (the figure misleads without it) or `hidden` (the figure is
    /// wrong or impossible, and not here); null where there is none.
    pub grade: Option<String>,
    /// SHA-256 of the kernel as built.
    pub kernel: Option<String>,
}

/// The JSON schema of [`Document`].
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Document)
}

/// The document of `input` and all its sections.
pub fn document(
    input: &ReportInput,
    sections: &[Section],
    ranking: &Ranking,
    compared: &[Compared],
) -> Document {
    Document {
        version: VERSION,
        gpubench: env!("CARGO_PKG_VERSION").to_owned(),
        runs: input.sources.iter().map(run).collect(),
        devices: input.reported_devices.iter().map(device).collect(),
        cases: input.rows.iter().map(case).collect(),
        sections: sections.to_vec(),
        // Structures of text and numbers with text for keys: they always serialise.
        ranking: serde_json::to_value(ranking).unwrap_or_default(),
        comparison: serde_json::to_value(compared).unwrap_or_default(),
    }
}

fn run(source: &Source) -> Run {
    let header = source.header;
    Run {
        file: source.name.clone(),
        suite: header.suite.clone(),
        suite_hash: header.suite_hash.clone(),
        started: header.started.clone(),
        wall: source.footer.map(|footer| footer.wall),
        rounds: header.rounds,
        measured_rounds: measured_rounds(source.records),
        seed: header.seed,
        host: header.host.name.clone(),
        cpu: header.host.cpu.clone(),
        os: header.host.os.clone(),
        gpubench: header.gpubench.clone(),
    }
}

fn device(reported_device: &ReportedDevice) -> Device {
    let info: &DeviceInfo = reported_device.device;
    Device {
        label: reported_device.label.clone(),
        short_name: reported_device.name.clone(),
        name: info.name.clone(),
        vendor: info.vendor.clone(),
        kind: serde_name(&info.kind),
        backend: info.backend.clone(),
        api: info.api.clone(),
        driver: info.driver.clone(),
        host: reported_device.header.host.name.clone(),
    }
}

fn case(row: &Aggregate) -> Case {
    let rate = labels::rate(row);
    Case {
        device: row.device,
        workload: row.key.workload.clone(),
        size: row.key.size.iter().cloned().collect(),
        measure: row.key.measure,
        host_memory: row.key.host_memory.map(|kind| kind.label().to_owned()),
        family: ranking_family(row.described_by()).to_owned(),
        outcome: row.outcome.label().to_owned(),
        reason: reason(row.outcome),
        seconds: row.time.map(|time| time.value),
        interval: row.time.map(|time| time.interval),
        interval_basis: row.time.map(|time| labels::basis(&time).to_owned()),
        rounds: row.rounds().count(),
        samples: row.rounds().map(|measured| measured.samples.len()).sum(),
        rate: rate.map(|rate| rate.quantity.value()),
        rate_unit: rate.map(|rate| rate.unit.symbol().to_owned()),
        flags: row.flags.iter().map(|flag| labels::flag_word(flag).to_owned()).collect(),
        grade: row.grade().map(|grade| grade.label().to_owned()),
        kernel: row.records.iter().find_map(|r| r.kernel.as_ref()).map(|k| k.hash.clone()),
    }
}

fn reason(outcome: &Outcome) -> Option<String> {
    let lines = outcome.details();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

const COLUMNS: &str = "machine,device,name,vendor,kind,api,api_version,driver,family,workload,size,measure,\
                       host_memory,outcome,reason,seconds,low,high,rounds,samples,rate,rate_unit,\
                       flags,kernel,grade,basis";

/// One line a case and device.
pub fn spreadsheet(input: &ReportInput) -> String {
    let text = |text: &str| printable(text, usize::MAX);
    let head = COLUMNS.split(',').map(str::to_owned).collect();
    let lines = input.rows.iter().map(|row| {
        let (case, device) = (case(row), device(&input.reported_devices[row.device]));
        let size = row.key.size.iter().map(|(name, value)| format!("{}={value}", text(name)));
        vec![
            text(&device.host),
            text(&device.label),
            text(&device.name),
            text(&device.vendor),
            device.kind,
            text(&device.backend),
            text(&device.api),
            text(&device.driver),
            text(&case.family),
            text(&case.workload),
            size.collect::<Vec<_>>().join(" "),
            case.measure.label(),
            case.host_memory.unwrap_or_default(),
            case.outcome,
            text(&case.reason.unwrap_or_default()),
            number(case.seconds),
            number(case.interval.map(|[low, _]| low)),
            number(case.interval.map(|[_, high]| high)),
            case.rounds.to_string(),
            case.samples.to_string(),
            number(case.rate),
            case.rate_unit.unwrap_or_default(),
            case.flags.join(" "),
            text(&case.kernel.unwrap_or_default()),
            case.grade.unwrap_or_default(),
            case.interval_basis.unwrap_or_default(),
        ]
    });
    csv(std::iter::once(head).chain(lines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::json::json;
    use crate::testing::{Sample, hostile};

    #[test]
    fn json_holds_names_whole_and_escapes_what_speaks() {
        let sample = Sample::named(&hostile());
        let document = document(&sample.input(), &[], &sample.ranking(), &sample.compared());
        let text = json(&document);
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']));
        let back: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["version"], VERSION);
        assert_eq!(back["devices"][0]["name"], hostile());
        assert_eq!(back["cases"].as_array().unwrap().len(), sample.input().rows.len());
    }

    #[test]
    fn a_spreadsheet_runs_nothing() {
        let sample = Sample::named(&format!("=cmd|{}", hostile()));
        let text = spreadsheet(&sample.input());
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']));
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        assert_eq!(reader.headers().unwrap().len(), 26);
        let records: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert_eq!(records.len(), sample.input().rows.len());
        for cell in records.iter().flatten() {
            assert!(!cell.starts_with(['=', '@']), "{cell}");
        }
        assert!(records[0][2].starts_with("'=cmd|"));
    }

    #[test]
    fn the_schema_names_every_field() {
        let schema = serde_json::to_string(&schema()).unwrap();
        for name in ["interval", "rate_unit", "suite_hash", "host_memory", "ranking", "timeline"] {
            assert!(schema.contains(name), "{name}");
        }
    }
}
