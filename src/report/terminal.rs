//! A run as text for a terminal: the table, what was left out and why, where the time went.

use super::grid::Grid;
use super::rows::{Rate, Row, rows};
use crate::gpu::{Clock, DeviceInfo};
use crate::record::{Flag, Header, Outcome, Record, Wall};
use crate::text::printable;
use crate::units;
use crate::workload::{CaseKey, Measure};
use std::fmt::Write;

/// How to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal.
    pub width: u16,
    /// Whether to colour marks.
    pub color: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self { width: 80, color: false }
    }
}

/// What was done since the run began or was resumed.
#[derive(Clone, Copy, Debug)]
pub struct Sitting<'a> {
    /// Seconds of wall time.
    pub seconds: f64,
    /// The records made in it.
    pub records: &'a [Record],
}

/// The whole report of a run.
pub fn report(header: &Header, records: &[Record], sitting: Sitting, style: Style) -> String {
    let rows = rows(records);
    let labels: Vec<String> = header.devices.iter().map(label).collect();
    let mut out = String::new();
    devices(&mut out, &header.devices, &labels);
    out.push_str(&table(&rows, &labels, style));
    legend(&mut out, &rows);
    out.push_str(&super::detail::sections(header, records));
    failures(&mut out, &rows, &labels);
    left_out(&mut out, &rows, &labels);
    notes(&mut out, &rows, &labels);
    time(&mut out, sitting);
    if style.color { paint(&out) } else { out }
}

/// `opencl:0`: how the table names a device, and how `--device` takes it.
pub fn label(device: &DeviceInfo) -> String {
    format!("{}:{}", printable(&device.backend, 12), device.index)
}

/// `matmul n=512`, and what of it where it is not the kernel's time.
pub fn case_name(key: &CaseKey) -> String {
    let name = printable(&key.to_string(), 200);
    match key.measure {
        Measure::Kernel => name,
        measure => format!("{name} ({})", measure_word(measure)),
    }
}

fn measure_word(measure: Measure) -> &'static str {
    match measure {
        Measure::Kernel => "kernel",
        Measure::Launch => "launch latency",
        Measure::Send => "send",
        Measure::Receive => "receive",
        Measure::Transfer => "transfer",
        Measure::Overlap => "overlap",
        Measure::Schedule => "schedule",
        Measure::Concurrency => "concurrency",
        Measure::Staircase => "staircase",
    }
}

fn devices(out: &mut String, devices: &[DeviceInfo], labels: &[String]) {
    for (device, label) in devices.iter().zip(labels) {
        let name = printable(&device.name, 60);
        let (api, driver) = (printable(&device.api, 40), printable(&device.driver, 60));
        let _ = writeln!(out, "{label}  {name} ({}; {api}; {driver})", kind_word(device));
    }
    out.push('\n');
}

fn kind_word(device: &DeviceInfo) -> &'static str {
    use crate::gpu::DeviceKind as Kind;
    match device.kind {
        Kind::Discrete => "GPU",
        Kind::Integrated => "integrated GPU",
        Kind::Virtual => "virtual GPU",
        Kind::Cpu => "CPU implementation",
        Kind::Simulated => "simulated: nothing was measured",
        Kind::Other => "accelerator",
    }
}

const HEADINGS: [&str; 7] = ["workload", "size", "device", ">median", ">95 %", ">rate", ""];

fn table(rows: &[Row], labels: &[String], style: Style) -> String {
    let mut grid = Grid::new(&HEADINGS);
    for row in rows.iter().filter(|row| !is_left_out(row)) {
        grid.row(cells(row, labels));
    }
    grid.text(style.width)
}

fn cells(row: &Row, labels: &[String]) -> [String; 7] {
    let (median, interval) = match row.time {
        Some(time) => (units::seconds(time.value), interval(time.value, time.interval)),
        None => ("–".to_owned(), String::new()),
    };
    let rate = match row.rate {
        Some(Rate::Flops(rate)) => units::flops(rate),
        Some(Rate::Bandwidth(rate)) => units::bandwidth(rate),
        None if row.outcome.is_failure() => row.outcome.word().to_owned(),
        None => String::new(),
    };
    let workload = printable(&row.key.workload, 60);
    let workload = match row.key.measure {
        Measure::Kernel => workload,
        measure => format!("{workload} ({})", measure_word(measure)),
    };
    [workload, size(row.key), device(row, labels), median, interval, rate, mark(row)]
}

fn device(row: &Row, labels: &[String]) -> String {
    labels.get(row.device).cloned().unwrap_or_default()
}

fn size(key: &CaseKey) -> String {
    let mut parts: Vec<String> =
        key.size.iter().map(|(name, value)| format!("{}={value}", printable(name, 20))).collect();
    parts.extend(key.host_memory.map(|kind| format!("{kind:?}").to_lowercase()));
    parts.join(" ")
}

/// The end further from the median, relative to it: `±0.5 %`.
fn interval(value: f64, [low, high]: [f64; 2]) -> String {
    let percent = 100.0 * (high / value - 1.0).max(1.0 - low / value);
    if percent < 9.95 { format!("±{percent:.1} %") } else { format!("±{percent:.0} %") }
}

fn mark(row: &Row) -> String {
    let mark = match row.outcome {
        Outcome::Ok => "✓",
        Outcome::Unchecked => "○",
        _ => "✗",
    };
    let flag = if row.flags.is_empty() { "" } else { "!" };
    format!("{mark}{flag}")
}

fn is_left_out(row: &Row) -> bool {
    row.outcome.is_left_out()
}

fn legend(out: &mut String, rows: &[Row]) {
    let count = |wanted: fn(&Row) -> bool| rows.iter().filter(|row| wanted(row)).count();
    let ok = count(|row| row.outcome.is_ok());
    let unchecked = count(|row| *row.outcome == Outcome::Unchecked);
    let failed = count(|row| row.outcome.is_failure());
    let left_out = count(is_left_out);
    let flagged = count(|row| !is_left_out(row) && !row.flags.is_empty());
    let mut parts = vec![format!("✓ {ok} verified")];
    for (n, what) in [
        (failed, "✗ {} failed"),
        (unchecked, "○ {} unchecked"),
        (flagged, "! {} flagged"),
        (left_out, "{} left out"),
    ] {
        if n > 0 {
            parts.push(what.replace("{}", &n.to_string()));
        }
    }
    let _ = writeln!(out, "\n{}", parts.join("  "));
}

fn failures(out: &mut String, rows: &[Row], labels: &[String]) {
    let failed: Vec<_> = rows.iter().filter(|row| row.outcome.is_failure()).collect();
    if failed.is_empty() {
        return;
    }
    out.push_str("\nFailed\n");
    for row in failed {
        let often = match row.failed {
            (n, of) if n < of => format!(" in {n} of {of} rounds"),
            _ => String::new(),
        };
        let (name, device) = (case_name(row.key), device(row, labels));
        let _ = writeln!(out, "  ✗ {name} on {device}{often}: {}", row.outcome.word());
        for line in details(row.outcome) {
            let _ = writeln!(out, "      {}", printable(&line, 160));
        }
    }
}

/// What is known of a failure, in a few lines.
fn details(outcome: &Outcome) -> Vec<String> {
    const LINES: usize = 8;
    let first_lines = |text: &str| -> Vec<String> {
        let mut lines: Vec<_> = text.lines().take(LINES).map(str::to_owned).collect();
        if text.lines().count() > LINES {
            lines.push("…".into());
        }
        lines
    };
    match outcome {
        Outcome::Unverified(wrong) => vec![format!(
            "{}: buffer `{}` at {}: found {}, expected {} ({} of {} wrong)",
            wrong.when,
            wrong.buffer,
            wrong.index,
            wrong.found,
            wrong.expected,
            wrong.wrong,
            wrong.of
        )],
        Outcome::Crash { how, stderr } => {
            let mut lines = vec![how.clone()];
            lines.extend(stderr.iter().rev().take(4).rev().map(|line| format!("| {line}")));
            lines
        }
        Outcome::BuildError(text)
        | Outcome::Timeout(text)
        | Outcome::OutOfMemory(text)
        | Outcome::DeviceLost(text)
        | Outcome::Failed(text)
        | Outcome::Unsupported(text)
        | Outcome::Skipped(text) => first_lines(text),
        Outcome::Ok | Outcome::Unchecked => vec![],
    }
}

fn left_out(out: &mut String, rows: &[Row], labels: &[String]) {
    let reasons = rows.iter().filter_map(|row| match row.outcome {
        Outcome::Unsupported(reason) | Outcome::Skipped(reason) => Some((reason.clone(), row)),
        _ => None,
    });
    grouped(out, "Left out", reasons, labels);
}

fn notes(out: &mut String, rows: &[Row], labels: &[String]) {
    let unchecked = rows
        .iter()
        .filter(|row| *row.outcome == Outcome::Unchecked)
        .map(|row| ("unchecked: the suite asks for no verification".to_owned(), row));
    let flagged = rows
        .iter()
        .filter(|row| !is_left_out(row))
        .flat_map(|row| row.flags.iter().map(move |flag| (explain(flag), row)));
    grouped(out, "Notes", unchecked.chain(flagged), labels);
}

fn explain(flag: &Flag) -> String {
    match flag {
        Flag::Unsteady => "unsteady: warm-up ended before two blocks of samples agreed".into(),
        Flag::Wide => "wide: the median's interval is not as narrow as asked".into(),
        Flag::Cache => "cache: the working set fits the device's cache".into(),
        Flag::Implausible(why) => format!("implausible: {why}"),
        Flag::Timestamps(why) => format!("timestamps: {why}"),
        Flag::FewSamples => "few samples: one launch takes longer than a sample should".into(),
        Flag::Flake(how) => format!("flake: the first try ended ({how}), the second did not"),
    }
}

/// Rows under the text that they share, most frequent first.
fn grouped<'a>(
    out: &mut String,
    title: &str,
    rows: impl Iterator<Item = (String, &'a Row<'a>)>,
    labels: &[String],
) {
    let mut groups: Vec<(String, Vec<&Row>)> = Vec::new();
    for (text, row) in rows {
        match groups.iter_mut().find(|(known, _)| *known == text) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((text, vec![row])),
        }
    }
    if groups.is_empty() {
        return;
    }
    groups.sort_by_key(|(_, rows)| std::cmp::Reverse(rows.len()));
    let _ = writeln!(out, "\n{title}");
    for (text, rows) in groups {
        let names = few(rows.iter().map(|row| case_name(row.key)));
        let devices = few(rows.iter().map(|row| device(row, labels)));
        let _ = writeln!(out, "  {}", printable(&text, 300));
        let _ = writeln!(out, "      {} × on {devices}: {names}", rows.len());
    }
}

/// The first few of `names`, each once, and how many there are beside them.
fn few(names: impl Iterator<Item = String>) -> String {
    const FEW: usize = 4;
    let mut different: Vec<String> = Vec::new();
    for name in names {
        if !different.contains(&name) {
            different.push(name);
        }
    }
    let more = different.len().saturating_sub(FEW);
    different.truncate(FEW);
    match more {
        0 => different.join(", "),
        more => format!("{} and {more} more", different.join(", ")),
    }
}

/// Where the time went.
fn time(out: &mut String, Sitting { seconds, records }: Sitting) {
    let sum = |part: fn(&Wall) -> f64| records.iter().map(|r| part(&r.wall)).sum::<f64>();
    let parts = [
        ("build", sum(|w| w.build)),
        ("prepare", sum(|w| w.prepare)),
        ("verify", sum(|w| w.verify)),
        ("measure", sum(|w| w.measure)),
    ];
    let other = seconds - parts.iter().map(|(_, seconds)| seconds).sum::<f64>();
    let _ = write!(out, "\nTime: {}", units::seconds(seconds));
    let mut join = "=";
    for (name, seconds) in parts {
        let _ = write!(out, " {join} {name} {}", units::seconds(seconds));
        join = "+";
    }
    if other > 0.0 {
        let _ = write!(out, " + other {}", units::seconds(other));
    }
    if let Some(share) = busy_share(records) {
        let _ = write!(out, "; while measuring, the device was busy {:.0} %", 100.0 * share);
    }
    out.push('\n');
}

/// The share of measuring in which the device was at work. A simulated device's work takes no
/// time here and says nothing.
fn busy_share(records: &[Record]) -> Option<f64> {
    let real = records
        .iter()
        .filter(|r| r.measured.as_ref().is_some_and(|measured| measured.clock != Clock::Simulated));
    let (busy, measure) = real.fold((0.0, 0.0), |(b, m), r| (b + r.wall.busy, m + r.wall.measure));
    (measure > 0.0).then(|| busy / measure)
}

/// Colours the marks; nothing else is coloured, so that no meaning hangs on colour alone.
fn paint(text: &str) -> String {
    text.replace('✓', "\u{1b}[32m✓\u{1b}[0m").replace('✗', "\u{1b}[31m✗\u{1b}[0m")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Mismatch;
    use crate::record::sample::{device, header, key, outcome, record};

    fn sample() -> (Header, Vec<Record>) {
        let header = header(vec![device("opencl"), device("wgpu")]);
        let mut records = vec![record(key("matmul_register_tiles/8x8", 512), 1.234e-3)];
        let mut wide = record(key("sepia", 1024), 5.6e-6);
        wide.flags = vec![Flag::Wide];
        wide.device = 1;
        records.push(wide);
        let mut send = record(key("send", 1 << 20), 2.5e-4);
        send.key.measure = Measure::Send;
        send.key.host_memory = Some(crate::gpu::MemoryKind::Pinned);
        records.push(send);
        for n in [1, 2, 4, 8, 16, 32] {
            let reason = "the kernel has no wgsl form".into();
            records.push(outcome(key("mine", n), Outcome::Unsupported(reason)));
        }
        records.push(outcome(
            key("loop", 9),
            Outcome::Crash { how: "killed by SIGSEGV, twice".into(), stderr: vec!["boom".into()] },
        ));
        records.push(outcome(
            key("stencil", 64),
            Outcome::Unverified(Mismatch {
                buffer: "out".into(),
                index: 17,
                found: "NaN".into(),
                expected: "1.5".into(),
                wrong: 3,
                of: 4096,
                when: "timed launches".into(),
            }),
        ));
        records.push(outcome(key("free", 3), Outcome::Unchecked));
        (header, records)
    }

    fn whole(header: &Header, records: &[Record]) -> String {
        report(header, records, Sitting { seconds: 4.0, records }, Style::default())
    }

    #[test]
    fn a_report_reads_well() {
        let (header, records) = sample();
        insta::assert_snapshot!(whole(&header, &records));
    }

    #[test]
    fn it_fits_eighty_columns() {
        let (header, records) = sample();
        let table = table(&rows(&records), &["opencl:0".into(), "wgpu:0".into()], Style::default());
        for line in table.lines() {
            assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
        }
        assert!(!whole(&header, &records).contains('\u{1b}'));
    }

    #[test]
    fn a_hostile_name_stays_text() {
        let header = header(vec![DeviceInfo { name: "\u{1b}[2Jgone".into(), ..device("opencl") }]);
        let records = [record(key("\u{1b}[31mred\u{7}", 1), 1.0)];
        let text = whole(&header, &records);
        assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{text:?}");
        assert!(text.contains("gone") && text.contains("red"));
    }
}
