//! A report as Markdown, short enough for a pull request.

use super::comparison::Compared;
use super::grid::{Grid, escaped};
use super::labels::{self, Counts, case_name, counts, details, few, how_often, kind_label};
use super::overview::{Line, lines};
use crate::render;
use gpubench_analysis::ReportInput;
use gpubench_analysis::rank::Ranking;
use gpubench_document::Section;
use std::fmt::Write;

/// The most that one comment of a code forge takes is about 65,000 characters.
const MAX_BYTES: usize = 50_000;
/// More columns than this no comment shows.
const COLUMNS: usize = 6;

/// The whole report.
pub fn markdown(
    input: &ReportInput,
    sections: &[Section],
    ranking: &Ranking,
    compared: &[Compared],
) -> String {
    let mut out = String::new();
    let suites: Vec<_> = input.sources.iter().map(|s| escaped(&s.header.suite)).collect();
    let _ = writeln!(out, "## gpubench: {}\n", few(suites.into_iter()));
    let _ = writeln!(out, "{}\n", sentence(input));
    out += &devices(input);
    out += &failures(input);
    for section in crate::devices_compared(input, ranking, compared) {
        out += &render::markdown::section(&section, 3);
    }
    out += &times(input, MAX_BYTES.saturating_sub(out.len()));
    out += &experiments(sections, MAX_BYTES.saturating_sub(out.len()));
    out += &notes(input);
    out
}

/// What experiments say, folded, as far as there is room.
fn experiments(sections: &[Section], room: usize) -> String {
    let (mut out, mut skipped) = (String::new(), 0);
    for section in sections {
        let text = render::markdown::section(&section.clone().folded(), 3);
        if out.len() + text.len() <= room {
            out += &text;
        } else {
            skipped += 1;
        }
    }
    if skipped > 0 {
        let _ = writeln!(out, "\n{skipped} more sections are in the other formats.");
    }
    out
}

fn sentence(input: &ReportInput) -> String {
    let counts = counts(&input.rows);
    let Counts { verified, warnings, notes, hidden, .. } = counts;
    let mut parts = vec![
        format!("✓ {verified} verified"),
        format!("**!** {warnings} with a warning"),
        format!("{notes} with a note"),
        format!("✗ {hidden} hidden"),
    ];
    for (n, what) in [
        (counts.failed, "✗ {} failed"),
        (counts.unchecked, "○ {} unchecked"),
        (counts.skipped, "{} skipped"),
    ] {
        if n > 0 {
            parts.push(what.replace("{}", &n.to_string()));
        }
    }
    parts.join(" · ")
}

fn devices(input: &ReportInput) -> String {
    let mut grid = Grid::new(&["device", "name", "kind", "API", "driver", "machine"]);
    for reported_device in &input.reported_devices {
        let device = reported_device.device;
        grid.row([
            reported_device.label.clone(),
            device.name.clone(),
            kind_label(device).to_owned(),
            device.api.clone(),
            device.driver.clone(),
            reported_device.header.host.name.clone(),
        ]);
    }
    grid.markdown()
}

fn failures(input: &ReportInput) -> String {
    const SHOWN: usize = 20;
    let failed: Vec<_> = input.rows.iter().filter(|row| row.outcome.is_failure()).collect();
    let mut out = String::new();
    if failed.is_empty() {
        return out;
    }
    let _ = writeln!(out, "\n### Failed\n");
    for row in failed.iter().take(SHOWN) {
        let (name, label) = (case_name(row.key), &input.reported_devices[row.device].label);
        let why = details(row.outcome).into_iter().next().unwrap_or_default();
        let _ = writeln!(
            out,
            "- ✗ {} on {}{}: {}: {}",
            escaped(&name),
            escaped(label),
            how_often(row),
            row.outcome.label(),
            escaped(&why)
        );
    }
    if failed.len() > SHOWN {
        let _ = writeln!(out, "- and {} more", failed.len() - SHOWN);
    }
    out
}

/// The table of times, with as many lines as `room` characters hold.
fn times(input: &ReportInput, room: usize) -> String {
    let mut lines = lines(input);
    if lines.is_empty() {
        return String::new();
    }
    let all = lines.len();
    let shown = input.reported_devices.len().min(COLUMNS);
    let mut table = grid(input, &lines, shown);
    while table.len() > room && lines.len() > 1 {
        lines.truncate(lines.len() * 3 / 4);
        table = grid(input, &lines, shown);
    }
    let mut out = format!(
        "\n### Times\n\nOf each workload the largest size that most devices computed rightly; \
         ± is half the 95 % interval, **!** a warning.\n\n{table}"
    );
    let cut = [(all - lines.len(), "workloads"), (input.reported_devices.len() - shown, "devices")];
    for (n, what) in cut.into_iter().filter(|(n, _)| *n > 0) {
        let _ = writeln!(out, "\n{n} more {what} are in the other formats.");
    }
    out
}

fn grid(input: &ReportInput, lines: &[Line], shown: usize) -> String {
    let mut cells: Vec<Vec<String>> = vec![];
    for line in lines {
        let mut row = vec![labels::workload_name(line.key, 80), labels::size(line.key)];
        row.extend((0..shown).map(|device| match line.cells.get(&device) {
            None => "–".to_owned(),
            Some(row) => {
                let [time, interval] = labels::time(row);
                let flag = if row.is_doubtful() { " !" } else { "" };
                format!("{time} {interval}{flag}")
            }
        }));
        cells.push(row);
    }
    let labels = input.reported_devices.iter().take(shown).map(|s| format!(">{}", s.label));
    let mut grid = Grid::named(["workload".into(), "size".into()].into_iter().chain(labels));
    cells.into_iter().for_each(|row| grid.row(row));
    grid.markdown()
}

fn notes(input: &ReportInput) -> String {
    let mut out = String::new();
    let flags = labels::GRADES.map(|(grade, title)| (title, labels::flagged(&input.rows, grade)));
    let skipped = ("Skipped", labels::skipped(&input.rows));
    for (title, groups) in flags.into_iter().chain([skipped]) {
        if groups.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n<details><summary>{title}</summary>\n");
        for (text, rows) in groups.iter().take(12) {
            let names = few(rows.iter().map(|row| case_name(row.key)));
            let _ = writeln!(out, "- {}: {} × {}", escaped(text), rows.len(), escaped(&names));
        }
        if groups.len() > 12 {
            let _ = writeln!(out, "- and {} more reasons", groups.len() - 12);
        }
        let _ = writeln!(out, "\n</details>");
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::testing::{Sample, hostile};

    #[test]
    fn a_pull_request_reads_well() {
        let sample = Sample::new();
        insta::assert_snapshot!(super::markdown(
            &sample.input(),
            &[crate::render::sample::section()],
            &sample.ranking(),
            &sample.compared()
        ));
    }

    #[test]
    fn hostile_names_stay_text() {
        let sample = Sample::named(&hostile());
        let text = super::markdown(&sample.input(), &[], &sample.ranking(), &sample.compared());
        assert!(!text.contains("<img") && !text.contains("</script"), "{text}");
        assert!(text.contains("&lt;/script&gt;&lt;img"));
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']));
        assert!(text.len() < 65_000, "{} characters", text.len());
    }
}
