//! Sections for what one row of the table cannot say: overlap and transfers.

use super::words::{case_name, label};
use crate::analyse::{Class, Heavy, OverlapSummary, overlap, transfer};
use crate::model::least_squares::Estimate;
use crate::record::{Detail, Header, Overlap, Record, Transfer};
use crate::units::{bandwidth, seconds};
use std::fmt::Write;

/// One section a record that has details; of several rounds, the first that was measured.
pub fn sections(header: &Header, records: &[Record]) -> String {
    let mut out = String::new();
    let mut told: Vec<(&crate::workload::CaseKey, usize)> = Vec::new();
    for record in records {
        let Some(detail) = &record.detail else { continue };
        if told.contains(&(&record.key, record.device)) {
            continue;
        }
        told.push((&record.key, record.device));
        let device = header.devices.get(record.device).map_or_else(String::new, label);
        let title = format!("{} on {device}, round {}", case_name(&record.key), record.round + 1);
        match detail {
            Detail::Overlap(raw) => overlap_section(&mut out, &title, raw),
            Detail::Transfer(raw) => transfer_section(&mut out, &title, raw),
            Detail::Schedule(_) | Detail::Concurrency(_) | Detail::Staircase(_) => {}
        }
    }
    super::staircase::section(&mut out, header, records);
    out
}

fn overlap_section(out: &mut String, title: &str, raw: &Overlap) {
    let Some(summary) = overlap(raw) else { return };
    let best = &summary.runs[summary.best];
    let _ = writeln!(
        out,
        "\nOverlap of {title} ({} memory)",
        format!("{:?}", raw.host_memory).to_lowercase()
    );
    let _ = writeln!(
        out,
        "  alone: send {}, kernel {}, receive {}; one after the other {}",
        seconds(summary.stages.send),
        seconds(summary.stages.kernel),
        seconds(summary.stages.receive),
        seconds(summary.stages.serial())
    );
    let _ = writeln!(out, "  class: {}", class_words(summary.class));
    runs_table(out, &summary);
    let _ = writeln!(
        out,
        "  best: {} chunks on {} in {}: saved {} of what ideal overlap would save",
        best.chunks,
        lanes_words(best.lanes),
        seconds(best.seconds),
        percent(best.saved)
    );
    if let Some([send, kernel, receive]) = summary.hidden {
        let _ = writeln!(
            out,
            "  beside another stage (by intervals, no gain by itself): send {:.0} %, kernel {:.0} %, receive {:.0} %",
            send * 100.0,
            kernel * 100.0,
            receive * 100.0
        );
    }
    let _ = writeln!(out, "  copy engines inferred: {}", engines_words(&summary));
    let _ = writeln!(out, "  worth it? {}", worth_words(&summary));
}

fn runs_table(out: &mut String, summary: &OverlapSummary) {
    let _ = writeln!(out, "  chunks  lanes     median     saved  model streams   fitted pipeline");
    for run in &summary.runs {
        let _ = writeln!(
            out,
            "  {:>6}  {:>5}  {:>9}  {:>8}  {:>13}  {:>16}",
            run.chunks,
            run.lanes,
            seconds(run.seconds),
            percent(run.saved),
            seconds(run.streams),
            run.pipeline.map_or_else(|| "–".to_owned(), seconds)
        );
    }
}

pub(super) fn class_words(class: Class) -> String {
    let bound = if class.kernel_bound { "kernel bound" } else { "transfer bound" };
    let heavy = match class.heavy {
        Heavy::Send => "send heavy",
        Heavy::Receive => "receive heavy",
        Heavy::General => "general",
    };
    format!("{bound}, {heavy}")
}

pub(super) fn lanes_words(lanes: u32) -> String {
    if lanes == 1 { "one lane (in order)".to_owned() } else { format!("{lanes} lanes") }
}

pub(super) fn engines_words(summary: &OverlapSummary) -> String {
    let Some(fitted) = &summary.fitted else { return "too few runs to tell".to_owned() };
    let accuracy = summary.held_out.map_or_else(String::new, |a| {
        format!("; the pipeline foresees a run it was not fitted to with accuracy {a:.2}")
    });
    match fitted.engines {
        Some(count) => format!("{count}{accuracy}"),
        None => {
            format!("these runs do not tell (best explained by {}){accuracy}", fitted.best.count)
        }
    }
}

pub(super) fn worth_words(summary: &OverlapSummary) -> String {
    let verdict = if summary.gain >= 0.05 {
        "yes"
    } else if summary.potential < 0.05 {
        "no: there is little to hide"
    } else {
        "no: this device hides little of it"
    };
    format!(
        "{verdict} (could save {:.0} % of the serial time, saved {:.0} %)",
        summary.potential * 100.0,
        summary.gain * 100.0
    )
}

pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.0} %", share * 100.0))
}

fn transfer_section(out: &mut String, title: &str, raw: &Transfer) {
    let _ = writeln!(out, "\nTransfers, {title}");
    match transfer(raw) {
        Err(error) => {
            let _ = writeln!(out, "  {error}");
        }
        Ok(summary) => {
            for (way, line) in [("send", &summary.send), ("receive", &summary.receive)] {
                let _ = writeln!(
                    out,
                    "  {way:<8} latency {}, bandwidth {}",
                    with_error(line.latency, seconds),
                    with_error(line.bandwidth, bandwidth)
                );
            }
            let _ = writeln!(
                out,
                "  both at once on {}: {} together, {:.2} × one after the other",
                if raw.lanes == 1 { "one lane" } else { "two lanes" },
                bandwidth(summary.both),
                summary.gain
            );
        }
    }
}

/// A fitted value with its 95 % half-width, or that it could not be told.
pub(super) fn with_error(estimate: Estimate, unit: fn(f64) -> String) -> String {
    if !estimate.error.is_finite() || estimate.error > estimate.value.abs() {
        return "not identifiable".to_owned();
    }
    format!("{} ± {:.1} %", unit(estimate.value), 196.0 * estimate.error / estimate.value)
}
