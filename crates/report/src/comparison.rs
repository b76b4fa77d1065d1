//! A comparison for terminals, Markdown, spreadsheets and programs.

use super::csv::{csv, number};
use super::grid::{Grid, escaped};
use super::labels::case_name;
use super::labels::flag_word;
use super::ranking::{few, grouped};
use gpubench_analysis::{Comparison, Row, Verdict};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::text::{counted, printable};
use gpubench_core::units;
use serde::Serialize;
use std::fmt::Write;

/// Version of the JSON format.
pub const VERSION: u32 = 2;

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// The file.
    pub file: String,
    /// When its run began.
    pub started: String,
    /// The device as that run saw it.
    pub device: DeviceInfo,
    /// Rounds planned.
    pub rounds: u32,
}

/// A device's comparison with where both sides are from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// The run or baseline before.
    pub old: Side,
    /// The run now.
    pub new: Side,
    /// What came of it.
    pub comparison: Comparison,
}

/// For a terminal of `width` columns.
pub fn text(all: &[Compared], width: u16) -> String {
    let mut out = String::new();
    for compared in all {
        let _ = writeln!(out, "{}", head(compared, &|text| printable(text, 50)));
        out += &table(&compared.comparison).text(width);
        let _ = writeln!(out, "\n{}", summary(&compared.comparison));
        for (reason, keys) in grouped(&compared.comparison.skipped) {
            let reason = printable(reason, 200);
            let _ = writeln!(out, "skipped: {reason}\n      {} × {}", keys.len(), few(&keys));
        }
        out.push('\n');
    }
    out
}

/// For a pull request: changed cases in a table, the others counted.
pub fn markdown(all: &[Compared]) -> String {
    let mut out = String::new();
    for compared in all {
        let comparison = &compared.comparison;
        let _ = writeln!(out, "### {}", head(compared, &escaped).replace('\n', "\n\n"));
        let _ = writeln!(out, "{}\n", summary(comparison));
        let changed = |row: &&Row| matches!(row.verdict, Verdict::Faster | Verdict::Slower);
        let some = Comparison {
            rows: comparison.rows.iter().filter(changed).cloned().collect(),
            ..Comparison::default()
        };
        if !some.rows.is_empty() {
            let _ = writeln!(out, "{}", table(&some).markdown());
        }
        if !comparison.rows.is_empty() {
            let table = table(comparison).markdown();
            let n = comparison.rows.len();
            let title = format!("<details><summary>All {n} cases</summary>");
            let _ = writeln!(out, "{title}\n\n{table}\n</details>\n");
        }
        for (reason, keys) in grouped(&comparison.skipped) {
            let (reason, names) = (escaped(reason), escaped(&few(&keys)));
            let _ = writeln!(out, "- skipped: {reason}: {} × {names}", keys.len());
        }
    }
    out
}

/// One line a case; those that were left out too.
pub fn spreadsheet(all: &[Compared]) -> String {
    let head = "device,vendor,api,old_driver,new_driver,case,workload,old_seconds,new_seconds,ratio,\
                ratio_low,ratio_high,tolerance,verdict,rounds_to_settle,doubts,skipped";
    let mut lines = vec![head.split(',').map(str::to_owned).collect::<Vec<_>>()];
    for Compared { old, new, comparison } in all {
        let place = || {
            let info = &new.device;
            [&info.name, &info.vendor, &info.backend, &old.device.driver, &info.driver]
                .map(Clone::clone)
                .to_vec()
        };
        for row in &comparison.rows {
            let mut line = place();
            line.extend([case_name(&row.key), row.key.workload.clone()]);
            let [low, high] = row.interval;
            let figures = [row.old, row.new, row.ratio, low, high, row.tolerance];
            line.extend(figures.map(|x| number(Some(x))));
            line.extend([
                verdict_label(&row.verdict).to_owned(),
                settle(&row.verdict),
                doubts(row),
                String::new(),
            ]);
            lines.push(line);
        }
        for (key, reason) in &comparison.skipped {
            let mut line = place();
            line.extend([case_name(key), key.workload.clone()]);
            line.extend(std::iter::repeat_n(String::new(), 9));
            line.push(reason.clone());
            lines.push(line);
        }
    }
    csv(lines)
}

/// Everything, for programs: `{"version": 2, "compared": [ … ]}` with the fields of [`Compared`].
pub fn json(all: &[Compared]) -> String {
    format!("{:#}\n", serde_json::json!({ "version": VERSION, "compared": all }))
}

/// The device and where the two sides are from; a new driver stands out.
fn head(compared: &Compared, shown: &dyn Fn(&str) -> String) -> String {
    let Compared { old, new, .. } = compared;
    let mut out = format!("{} ({})", shown(&new.device.name), shown(&new.device.backend));
    for (name, side) in [("old", old), ("new", new)] {
        let (file, started) = (shown(&side.file), shown(&side.started));
        let _ =
            write!(out, "\n{name}: {file}, {started}, {}", counted(side.rounds as usize, "round"));
    }
    if old.device.driver != new.device.driver {
        let (before, now) = (shown(&old.device.driver), shown(&new.device.driver));
        let _ = write!(out, "\nnew driver: {before} → {now}");
    }
    if old.device.name != new.device.name || old.device.backend != new.device.backend {
        let (name, api) = (shown(&old.device.name), shown(&old.device.backend));
        let _ = write!(out, "\nanother device before: {name} ({api})");
    }
    out
}

/// What calls for attention first: slower, faster, unsure, the same.
fn table(comparison: &Comparison) -> Grid {
    let mut rows: Vec<&Row> = comparison.rows.iter().collect();
    let order = |row: &Row| match row.verdict {
        Verdict::Slower => 0,
        Verdict::Faster => 1,
        Verdict::Unsure { .. } => 2,
        Verdict::Same => 3,
    };
    rows.sort_by(|a, b| order(a).cmp(&order(b)).then_with(|| b.ratio.total_cmp(&a.ratio)));
    let mut grid = Grid::new(&["case", ">old", ">new", ">ratio", ">95 %", "verdict"]);
    for row in rows {
        let [low, high] = row.interval;
        grid.row([
            printable(&case_name(&row.key), 80),
            units::seconds(row.old),
            units::seconds(row.new),
            format!("{:.3}", row.ratio),
            format!("{low:.3}–{high:.3}"),
            format!("{}{}", mark(&row.verdict), if row.doubts.is_empty() { "" } else { " !" }),
        ]);
    }
    grid
}

fn mark(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Slower => "✗ SLOWER".into(),
        Verdict::Faster => "✓ FASTER".into(),
        Verdict::Same => "= same".into(),
        Verdict::Unsure { rounds: Some(rounds) } => format!("? {rounds} rounds"),
        Verdict::Unsure { rounds: None } => "? unsure".into(),
    }
}

fn verdict_label(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Same => "same",
        Verdict::Unsure { .. } => "unsure",
    }
}

fn settle(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Unsure { rounds: Some(rounds) } => rounds.to_string(),
        _ => String::new(),
    }
}

/// In words: `drift throttled`.
fn doubts(row: &Row) -> String {
    let mut labels: Vec<_> = row.doubts.iter().map(flag_word).collect();
    labels.sort_unstable();
    labels.dedup();
    labels.join(" ")
}

/// How many of each, and the mean: `1 slower, 0 faster, 2 unsure, 40 the same; …`.
fn summary(comparison: &Comparison) -> String {
    let count = |wanted: fn(&Verdict) -> bool| comparison.count(wanted);
    let mut out = format!(
        "✗ {} slower, ✓ {} faster, ? {} unsure, = {} the same",
        count(|v| *v == Verdict::Slower),
        count(|v| *v == Verdict::Faster),
        count(|v| matches!(v, Verdict::Unsure { .. })),
        count(|v| *v == Verdict::Same)
    );
    if let (Some(mean), Some([low, high])) = (comparison.mean_ratio, comparison.mean_interval) {
        let _ = write!(out, "\ngeometric mean of the ratios: {mean:.3} ({low:.3}–{high:.3})");
    }
    if count(|v| matches!(v, Verdict::Unsure { rounds: Some(_) })) > 0 {
        out += "\n“? n rounds”: unsure; n rounds on either side would settle it";
    }
    let doubted = comparison.rows.iter().filter(|row| !row.doubts.is_empty()).count();
    if doubted > 0 {
        let _ = write!(out, "\n! the device drifted or was throttled on either side: {doubted} ×");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_analysis::{Options, collect, compare};
    use gpubench_core::record::sample::{device, header, key, record};
    use gpubench_core::record::{Flag, Header, Outcome, Record};

    const HOSTILE: &str = "@\u{1b}[2J</script>|\u{202e}card";

    fn side(header: &Header) -> Side {
        Side {
            file: "results/a.jsonl".into(),
            started: header.started.clone(),
            device: header.devices[0].clone(),
            rounds: header.rounds,
        }
    }

    fn sample() -> Vec<Compared> {
        let mut old = header(vec![device("opencl")]);
        old.devices[0].name = HOSTILE.repeat(300);
        let mut new = old.clone();
        new.devices[0].driver = "2.0 \u{1b}[31m".into();
        let run = |factors: &[(&str, f64, f64)]| -> Vec<Record> {
            let rounds = |&(name, factor, noise): &(&str, f64, f64)| {
                let name = name.to_owned();
                (0..5_u32).map(move |round| {
                    let wobble = 1.0 + noise * (f64::from(round * 3 % 5) - 2.0);
                    Record { round, ..record(key(&name, 512), 1e-3 * factor * wobble) }
                })
            };
            factors.iter().flat_map(rounds).collect()
        };
        let before = run(&[("slow", 1.0, 1e-3), ("fast", 1.0, 1e-3), ("calm", 1.0, 1e-3)]);
        let mut before = before;
        before.extend(run(&[("restless", 1.0, 0.05), ("gone", 1.0, 0.0), ("broken", 1.0, 0.0)]));
        let mut now = run(&[("slow", 1.2, 1e-3), ("fast", 0.8, 1e-3), ("calm", 1.001, 1e-3)]);
        now.extend(run(&[("restless", 1.03, 0.05), ("broken", 1.0, 0.0)]));
        let last = now.len() - 1;
        now[last].outcome = Outcome::Timeout("launch".into());
        // Of `slow`, whose verdict is then to be doubted.
        now[0].flags.push(Flag::Drift("12 % slower".into()));
        let comparison =
            compare(&collect(&old, &before)[0], &collect(&new, &now)[0], &Options::default());
        vec![Compared { old: side(&old), new: side(&new), comparison }]
    }

    #[test]
    fn a_comparison_reads_well() {
        insta::assert_snapshot!(text(&sample(), 80));
    }

    #[test]
    fn nothing_hostile_gets_through() {
        let all = sample();
        for text in [text(&all, 80), markdown(&all)] {
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
        }
        assert!(!markdown(&all).contains("</script"));
        let table = spreadsheet(&all);
        assert!(
            table.lines().skip(1).all(|line| line.starts_with("'@") || line.starts_with("\"'@"))
        );
        assert_eq!(table.lines().count(), 1 + 6);
        for line in text(&all, 80).lines().filter(|line| line.starts_with(['s', 'f', 'c', 'r'])) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn json_says_all() {
        let value: serde_json::Value = serde_json::from_str(&json(&sample())).unwrap();
        let comparison = &value["compared"][0]["comparison"];
        assert_eq!(comparison["rows"].as_array().map(Vec::len), Some(4));
        assert_eq!(comparison["skipped"].as_array().map(Vec::len), Some(2));
    }
}
