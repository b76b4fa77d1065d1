//! The published figures of `docs/results/2026-11-23-published-figures.md`: each row's command is run, and must give
//! what the page says we get, and differ from what the paper prints by as much as the page says.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const PAGE: &str = "docs/results/2026-11-23-published-figures.md";

/// A row of the page.
#[derive(Debug)]
struct Figure {
    what: String,
    kind: String,
    published: String,
    ours: String,
    difference: String,
    command: String,
    value: String,
}

/// The rows of all tables with seven columns; a row without a command has that of the row above.
fn figures() -> Vec<Figure> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE)).unwrap();
    let mut command = String::new();
    let mut figures = vec![];
    for line in text.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [place, what, kind, published, ours, difference, how] = cells[..] else { continue };
        let quoted: Vec<&str> = how.split('`').skip(1).step_by(2).collect();
        let value = match quoted[..] {
            [own, value] => {
                own.strip_prefix("gpubench ").unwrap().clone_into(&mut command);
                value
            }
            [value] => value,
            _ => continue, // the heading
        };
        figures.push(Figure {
            what: format!("{place}, {what}"),
            kind: kind.into(),
            published: published.into(),
            ours: ours.into(),
            difference: difference.into(),
            command: command.clone(),
            value: value.into(),
        });
    }
    figures
}

fn output(command: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_gpubench"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(command.split_whitespace())
        .arg("--json")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "gpubench {command}: {stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A printed number in the unit of the command's output, and half of its last digit.
fn number(printed: &str) -> (f64, f64) {
    let (digits, unit) = printed.split_once(' ').unwrap_or((printed, ""));
    let scale = match unit {
        "" | "s" | "×" | "warps" => 1.0,
        "%" => 1e-2,
        "ms" => 1e-3,
        "µs" => 1e-6,
        _ => panic!("{printed}: unknown unit"),
    };
    let decimals = digits.split_once('.').map_or(0, |(_, after)| after.len());
    let half_digit = 0.5 * 10f64.powi(-i32::try_from(decimals).unwrap());
    (scale * digits.parse::<f64>().unwrap(), scale * half_digit)
}

/// What the page must say of a figure: that it is within a published range, or how far from the
/// figure or the nearer end.
fn difference(ours: f64, published: &str) -> String {
    let (low, high) = match published.split_once(" to ") {
        Some((low, high)) => (number(low).0, number(high).0),
        None => (number(published).0, number(published).0),
    };
    match ours {
        _ if low < high && (low..=high).contains(&ours) => "within".into(),
        _ if ours < low => format!("{:+.1} %", 100.0 * (ours / low - 1.0)),
        _ => format!("{:+.1} %", 100.0 * (ours / high - 1.0)),
    }
}

#[test]
fn each_figure_is_what_its_command_gives() {
    let mut outputs = BTreeMap::new();
    let figures = figures();
    for figure in &figures {
        let output =
            outputs.entry(figure.command.clone()).or_insert_with(|| output(&figure.command));
        let found = output
            .pointer(&format!("/parts/{}/value", figure.value))
            .or_else(|| output.pointer(&format!("/{}", figure.value)))
            .unwrap_or_else(|| panic!("{figure:?}: {output}"));
        if let Some(text) = found.as_str() {
            assert_eq!(text, figure.ours, "{figure:?}");
            let wanted = if figure.ours == figure.published { "none" } else { "differs" };
            assert_eq!(figure.difference, wanted, "{figure:?}");
            continue;
        }
        // The stream times of the paper are in milliseconds in the file, too.
        let scale = if figure.value.starts_with("predicted_ms") { 1e-3 } else { 1.0 };
        let found = scale * found.as_f64().unwrap();
        let (ours, half_digit) = number(&figure.ours);
        assert!((found - ours).abs() <= half_digit * (1.0 + 1e-9), "{found}: {figure:?}");
        assert_eq!(figure.difference, difference(found, &figure.published), "{figure:?}");
    }
    assert!(figures.len() >= 40, "{} figures", figures.len());
}

/// A column that a paper calculated is no measurement.
#[test]
fn each_figure_says_whether_it_was_measured() {
    let figures = figures();
    for figure in &figures {
        let Figure { what, kind, .. } = figure;
        assert!(["measured", "calculated"].contains(&kind.as_str()), "{what}: {kind}");
    }
    let measured = figures.iter().filter(|figure| figure.kind == "measured").count();
    let streams = figures.iter().filter(|figure| figure.command.contains("model streams"));
    assert!(streams.clone().count() == 3 && streams.clone().all(|f| f.kind == "calculated"));
    assert!(measured >= 25, "{measured}");
}

/// What the page counts.
#[test]
fn the_pages_counts_are_right() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE)).unwrap();
    let figures = figures();
    let near = |figure: &&Figure| match figure.difference.as_str() {
        "none" | "within" => true,
        other => other
            .strip_suffix(" %")
            .is_some_and(|percent| percent.parse::<f64>().unwrap().abs() <= 5.0),
    };
    let measured = |figure: &&Figure| figure.kind == "measured";
    let counts = format!(
        "{} figures, {} of them measured; {} are within 5 %, {} of them measured",
        figures.len(),
        figures.iter().filter(measured).count(),
        figures.iter().filter(near).count(),
        figures.iter().filter(near).filter(measured).count()
    );
    assert!(text.contains(&counts), "the page must say: {counts}");
}
