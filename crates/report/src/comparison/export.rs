//! A comparison for programs.

use super::Compared;
use crate::csv::{csv, number};
use crate::gate::{evaluate, exclusion, rule};
use crate::labels::{case_name, flag_word};
use crate::render;
use gpubench_analysis::{Gate, Row, Verdict};

/// Version of the JSON format.
const VERSION: u32 = 3;

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
                doubt_labels(row),
                String::new(),
            ]);
            lines.push(line);
        }
        for skipped in &comparison.skipped {
            let mut line = place();
            line.extend([case_name(&skipped.key), skipped.key.workload.clone()]);
            line.extend(std::iter::repeat_n(String::new(), 6));
            line.extend([exclusion(skipped).to_owned(), String::new(), String::new()]);
            line.push(skipped.reason.clone());
            lines.push(line);
        }
    }
    csv(lines)
}

/// Everything, for programs: `{"version": 3, "pass": true, "gate": …, "judgement": …, "cases": […],
/// "compared": […]}` with a line a case, and the fields of [`Compared`].
pub fn json(all: &[Compared], gate: &Gate) -> String {
    let judgement = evaluate(all, gate);
    render::json::json(&serde_json::json!({
        "version": VERSION,
        "pass": judgement.passes(),
        "gate": gate,
        "judgement": judgement,
        "cases": all.iter().flat_map(cases).collect::<Vec<_>>(),
        "compared": all,
    }))
}

/// Of each case where it ran, its verdict, and the rule by which it has it.
fn cases(compared: &Compared) -> Vec<serde_json::Value> {
    let Compared { new, comparison, .. } = compared;
    let one = |key, verdict: &str, rule: String| {
        serde_json::json!({
            "host": new.host.class(),
            "device": new.device.name,
            "api": new.device.backend,
            "driver": new.device.driver,
            "case": case_name(key),
            "verdict": verdict,
            "rule": rule,
        })
    };
    let rows = comparison.rows.iter();
    let rows = rows.map(|row| one(&row.key, verdict_label(&row.verdict), rule(row)));
    let skipped = comparison.skipped.iter();
    rows.chain(skipped.map(|s| one(&s.key, exclusion(s), s.reason.clone()))).collect()
}

pub(crate) fn verdict_label(verdict: &Verdict) -> &'static str {
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
fn doubt_labels(row: &Row) -> String {
    let mut labels: Vec<_> = row.doubts.iter().map(flag_word).collect();
    labels.extend(row.kernel_changed.then_some("kernel changed"));
    labels.sort_unstable();
    labels.dedup();
    labels.join(" ")
}
