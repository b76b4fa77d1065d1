//! A run as text for a terminal: the table, what was left out and why, where the time went.

use super::comparison::Compared;
use super::grid::Grid;
use super::labels::{self, Counts, case_name, counts, details, few, how_often, kind_label};
use crate::{render, roofline};
use gpubench_analysis::rank::Ranking;
use gpubench_analysis::{Aggregate, ReportInput, ReportedDevice};
use gpubench_core::gpu::Clock;
use gpubench_core::record::{Record, Wall};
use gpubench_core::text::printable;
use gpubench_core::units;
use gpubench_document::Section;
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
pub struct Invocation<'a> {
    /// Seconds of wall time.
    pub seconds: f64,
    /// The records made in it.
    pub records: &'a [Record],
}

/// The whole report of a run; `sections` are what experiments say.
pub fn report(
    input: &ReportInput,
    sections: &[Section],
    invocation: Invocation,
    style: Style,
) -> String {
    let mut out = body(input, sections, style);
    time(&mut out, invocation);
    if style.color { paint(&out) } else { out }
}

/// The same of runs that were made before, one or several; and how devices compare.
pub fn summary(
    input: &ReportInput,
    sections: &[Section],
    ranking: &Ranking,
    compared: &[Compared],
    style: Style,
) -> String {
    let mut all = crate::devices_compared(input, ranking, compared);
    all.push(roofline::section(input));
    all.extend_from_slice(sections);
    let out = body(input, &all, style);
    if style.color { paint(&out) } else { out }
}

fn body(input: &ReportInput, sections: &[Section], style: Style) -> String {
    let (rows, labels) = (&input.rows, &input.labels());
    let mut out = String::new();
    list(&mut out, input);
    out.push_str(&table(rows, labels, style));
    legend(&mut out, rows);
    let width = Some(usize::from(style.width));
    let shown = sections.iter().filter(|section| !section.is_empty());
    out.extend(shown.map(|section| render::text::section(section, width)));
    failures(&mut out, rows, labels);
    grouped(&mut out, "Skipped", labels::skipped(rows), labels);
    for (grade, title) in labels::GRADES {
        grouped(&mut out, title, labels::flagged(rows, grade), labels);
    }
    out
}

fn list(out: &mut String, input: &ReportInput) {
    for ReportedDevice { device, label, .. } in &input.reported_devices {
        let name = printable(&device.name, 60);
        let (api, driver) = (printable(&device.api, 40), printable(&device.driver, 60));
        let _ = writeln!(out, "{label}  {name} ({}; {api}; {driver})", kind_label(device));
    }
    out.push('\n');
}

const HEADINGS: [&str; 7] = ["workload", "size", "device", ">median", ">95 %", ">rate", ""];

fn table(rows: &[Aggregate], labels: &[String], style: Style) -> String {
    let mut grid = Grid::new(&HEADINGS);
    for row in rows.iter().filter(|row| !row.is_skipped()) {
        grid.row(cells(row, labels));
    }
    grid.text(style.width)
}

fn cells(row: &Aggregate, labels: &[String]) -> [String; 7] {
    let [median, interval] = labels::time(row);
    [
        labels::workload_name(row.key, 60),
        labels::size(row.key),
        device(row, labels),
        median,
        interval,
        labels::rate(row),
        labels::mark(row),
    ]
}

fn device(row: &Aggregate, labels: &[String]) -> String {
    labels.get(row.device).cloned().unwrap_or_default()
}

fn legend(out: &mut String, rows: &[Aggregate]) {
    let Counts { verified, warnings, notes, hidden, failed, unchecked, skipped } = counts(rows);
    let _ = writeln!(
        out,
        "\n✓ {verified} verified  ! {warnings} with a warning  {notes} with a note  ✗ {hidden} hidden"
    );
    let others = [(failed, "✗ {} failed"), (unchecked, "○ {} unchecked"), (skipped, "{} skipped")];
    let others = others.into_iter().filter(|(n, _)| *n > 0);
    let others: Vec<_> = others.map(|(n, what)| what.replace("{}", &n.to_string())).collect();
    if !others.is_empty() {
        let _ = writeln!(out, "{}", others.join("  "));
    }
}

fn failures(out: &mut String, rows: &[Aggregate], labels: &[String]) {
    let failed: Vec<_> = rows.iter().filter(|row| row.outcome.is_failure()).collect();
    if failed.is_empty() {
        return;
    }
    out.push_str("\nFailed\n");
    for row in failed {
        let (name, device) = (case_name(row.key), device(row, labels));
        let _ = writeln!(out, "  ✗ {name} on {device}{}: {}", how_often(row), row.outcome.label());
        for line in details(row.outcome) {
            let _ = writeln!(out, "      {}", printable(&line, 160));
        }
    }
}

fn grouped(out: &mut String, title: &str, groups: Vec<labels::Shared>, labels: &[String]) {
    if groups.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{title}");
    for (text, rows) in groups {
        let names = few(rows.iter().map(|row| case_name(row.key)));
        let devices = few(rows.iter().map(|row| device(row, labels)));
        let _ = writeln!(out, "  {}", printable(&text, 300));
        let _ = writeln!(out, "      {} × on {devices}: {names}", rows.len());
    }
}

/// Where the time went.
fn time(out: &mut String, Invocation { seconds, records }: Invocation) {
    let sum = |part: fn(&Wall) -> f64| records.iter().map(|r| part(&r.wall)).sum::<f64>();
    let mut parts = vec![
        ("build", sum(|w| w.build)),
        ("prepare", sum(|w| w.prepare)),
        ("first launches", sum(|w| w.launch)),
        ("verify", sum(|w| w.verify)),
        ("measure", sum(|w| w.measure)),
        ("reference kernel", sum(|w| w.reference_kernel)),
        ("discarded", sum(|w| w.discarded)),
    ];
    let other = seconds - parts.iter().map(|(_, seconds)| seconds).sum::<f64>();
    parts.push(("other", other));
    let _ = write!(out, "\nTime: {}", units::seconds(seconds));
    let mut join = "=";
    for (name, part) in parts.into_iter().filter(|(_, part)| *part > 0.0) {
        let percent = 100.0 * part / seconds;
        let _ = write!(out, " {join} {name} {} ({percent:.0} %)", units::seconds(part));
        join = "+";
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
    use gpubench_analysis::{Source, aggregate};
    use gpubench_core::gpu::DeviceInfo;
    use gpubench_core::record::Header;
    use gpubench_core::record::sample::{device, header, key, outcome, record};
    use gpubench_core::record::{Flag, Mismatch, Outcome};
    use gpubench_core::workload::Kind;

    fn sample() -> (Header, Vec<Record>) {
        let header = header(vec![device("opencl"), device("wgpu")]);
        let mut records = vec![record(key("matmul_register_tiles/8x8", 512), 1.234e-3)];
        let mut not_converged = record(key("sepia", 1024), 5.6e-6);
        not_converged.flags = vec![Flag::NotConverged];
        not_converged.device = 1;
        records.push(not_converged);
        let mut upload = record(key("upload", 1 << 20), 2.5e-4);
        upload.key.measure = Kind::new("upload");
        upload.measured.as_mut().unwrap().flops = 0.0;
        upload.key.host_memory = Some(gpubench_core::gpu::MemoryKind::Pinned);
        records.push(upload);
        for n in [1, 2, 4, 8, 16, 32] {
            let reason = "the kernel has no wgsl source".into();
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
        let name = "sample.jsonl".into();
        let source = Source { name, header, records, footer: None, warnings: vec![] };
        let input = ReportInput::new(vec![source]);
        let section = render::sample::section();
        report(&input, &[section], Invocation { seconds: 4.0, records }, Style::default())
    }

    #[test]
    fn a_report_reads_well() {
        let (header, records) = sample();
        insta::assert_snapshot!(whole(&header, &records));
    }

    #[test]
    fn it_fits_eighty_columns() {
        let (header, records) = sample();
        let table =
            table(&aggregate(&records), &["opencl:0".into(), "wgpu:0".into()], Style::default());
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
