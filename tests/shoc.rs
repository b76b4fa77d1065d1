//! The simulator against SHOC's published results: the same kind of kernel on six GPUs, by the ratios between them. It is
//! deterministic, so that the page must hold what the test prints.
#![expect(clippy::unwrap_used, reason = "a helper of tests panics as tests do")]

mod common;

use common::{Place, text};
use gpubench::stats::Summary;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Of our cases, SHOC's columns.
const COLUMNS: [(&str, &str); 4] = [
    ("read_words/coalesced", "gmem_readbw"),
    ("read_words/strided", "gmem_readbw_strided"),
    ("matmul_tiled/16x16", "sgemm_n"),
    ("reduction_64", "reduction"),
];
/// A ratio is right within this.
const WITHIN: f64 = 1.25;

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Rates by column and device.
type Rates = BTreeMap<String, BTreeMap<String, f64>>;

fn published() -> Rates {
    let text = std::fs::read_to_string(repository("tests/data/shoc/results.csv")).unwrap();
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = rows.next().unwrap();
    let mut rates = Rates::new();
    for row in rows {
        for (_, column) in COLUMNS {
            let at = header.iter().position(|name| *name == column).unwrap();
            rates.entry(column.into()).or_default().insert(row[0].into(), row[at].parse().unwrap());
        }
    }
    rates
}

/// Cases a second of each simulated device.
fn simulated() -> Rates {
    let place = Place::new();
    let run = ["run", "shoc", "--rounds", "1", "--seed", "1", "--budget", "6000"];
    let output = place.output(&[&run[..], &["--sim", "shoc"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let run = place.run();
    let mut rates = Rates::new();
    for record in &run.records {
        let column = COLUMNS.iter().find(|(workload, _)| *workload == record.key.workload);
        let samples = record.measured.as_ref().and_then(|measured| Summary::of(&measured.samples));
        if let (Some((_, column)), Some(summary)) = (column, samples) {
            let name = run.header.devices[record.device].name.trim_end_matches(" (simulated)");
            rates.entry((*column).into()).or_default().insert(name.into(), 1.0 / summary.median);
        }
    }
    rates
}

/// Of all pairs of devices: how many there are, in how many the ratio is right, and in how many the order.
fn pairs(published: &BTreeMap<String, f64>, simulated: &BTreeMap<String, f64>) -> [usize; 3] {
    let mut counts = [0; 3];
    let devices: Vec<&String> = published.keys().collect();
    for (i, first) in devices.iter().enumerate() {
        for second in &devices[i + 1..] {
            let ratio = |rates: &BTreeMap<String, f64>| rates[*first] / rates[*second];
            let (wanted, found) = (ratio(published), ratio(simulated));
            let off = (found / wanted).max(wanted / found);
            counts[0] += 1;
            counts[1] += usize::from(off <= WITHIN);
            counts[2] += usize::from((wanted > 1.0) == (found > 1.0));
        }
    }
    counts
}

fn tables(published: &Rates, simulated: &Rates) -> String {
    let mut text = String::new();
    let devices: Vec<&String> = published["sgemm_n"].keys().collect();
    let names: Vec<&str> = devices.iter().map(|name| name.as_str()).collect();
    writeln!(text, "\n| rate over the HD 7970's | {} |", names.join(" | ")).unwrap();
    writeln!(text, "|---|{}", "--:|".repeat(devices.len())).unwrap();
    for (workload, column) in COLUMNS {
        for (rates, label) in [
            (published, format!("`{column}`, SHOC")),
            (simulated, format!("`{workload}`, simulated")),
        ] {
            let of = |device: &&String| rates[column][*device] / rates[column]["Radeon HD 7970"];
            let cells: Vec<String> =
                devices.iter().map(|device| format!("{:.3}", of(device))).collect();
            writeln!(text, "| {label} | {} |", cells.join(" | ")).unwrap();
        }
    }
    for (rates, label) in [(published, "SHOC"), (simulated, "simulated")] {
        let [words, runs] = [&rates[COLUMNS[0].1], &rates[COLUMNS[1].1]];
        let of = |device: &&String| format!("{:.1}", words[*device] / runs[*device]);
        let cells: Vec<String> = devices.iter().map(of).collect();
        writeln!(text, "| *neighbouring words over strided, {label}* | {} |", cells.join(" | "))
            .unwrap();
    }
    writeln!(text, "\n| pairs of devices | ratio within 25 % | order right |\n|---|--:|--:|")
        .unwrap();
    let mut all = [0; 3];
    for (_, column) in COLUMNS {
        let counts = pairs(&published[column], &simulated[column]);
        all.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        writeln!(text, "| {column} | {1} of {0} | {2} of {0} |", counts[0], counts[1], counts[2])
            .unwrap();
    }
    writeln!(text, "| all | {1} of {0} | {2} of {0} |\n", all[0], all[1], all[2]).unwrap();
    text
}

#[test]
fn the_simulator_stands_to_shoc_as_the_page_says() {
    let text = tables(&published(), &simulated());
    println!("{text}");
    let page = std::fs::read_to_string(repository("docs/results/2026-11-28-shoc.md")).unwrap();
    assert!(page.contains(&text), "the page says something else: {text}");
}
