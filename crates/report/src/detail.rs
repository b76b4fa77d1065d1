//! Sections for what one row of the table cannot say: overlap and transfers.

use super::labels::{case_name, label};
use super::schedule::class_words;
use gpubench_core::record::{Detail, Header, Overlap, Record, Transfer};
use gpubench_core::units::{bandwidth, seconds};
use gpubench_experiments::analysis::{
    Engines, LITTLE, Meanwhile, OverlapSummary, engines, overlap, transfer,
};
use gpubench_model::least_squares::Estimate;
use std::fmt::Write;

/// One section a record that has details; of several rounds, the first that was measured.
pub fn sections(header: &Header, records: &[Record]) -> String {
    let mut out = String::new();
    let mut shown: Vec<(&gpubench_core::workload::CaseKey, usize)> = Vec::new();
    for record in records {
        let Some(detail) = &record.detail else { continue };
        if shown.contains(&(&record.key, record.device)) {
            continue;
        }
        shown.push((&record.key, record.device));
        let device = header.devices.get(record.device).map_or_else(String::new, label);
        let of_device = records.iter().filter(|other| other.device == record.device);
        let details: Vec<&Detail> = of_device.filter_map(|other| other.detail.as_ref()).collect();
        let title = format!("{} on {device}, round {}", case_name(&record.key), record.round + 1);
        let name = || format!("{}, round {}", case_name(&record.key), record.round + 1);
        if let Some(raw) = detail.read() {
            overlap_section(&mut out, &title, &raw, &engines(&details));
        } else if let Some(raw) = detail.read() {
            transfer_section(&mut out, &title, &raw);
        } else if let Some(raw) = detail.read() {
            let residency = super::occupancy_sweep::device_residency(records, record.device);
            let info = header.devices.get(record.device);
            let device = residency.zip(info).map(|(residency, info)| residency.device(info));
            super::concurrency::section(&mut out, &title, &raw, device);
        } else if let Some(raw) = detail.read() {
            super::schedule::section(&mut out, &title, &raw);
        } else if let Some(raw) = detail.read() {
            super::layout_transform::section(&mut out, &title, &raw);
        } else if let Some(raw) = detail.read() {
            super::halo::section(&mut out, &title, &raw);
        } else if let Some(raw) = detail.read() {
            super::checkpoint::section(&mut out, &title, &raw);
        } else if let Some(raw) = detail.read() {
            super::multi_device::states_section(&mut out, &name(), &raw);
        } else if let Some(raw) = detail.read() {
            super::multi_device::split_section(&mut out, &name(), &raw);
        }
    }
    super::concurrency::tallies(&mut out, header, records);
    super::occupancy_sweep::section(&mut out, header, records);
    super::ladder::section(&mut out, header, records);
    out
}

fn overlap_section(out: &mut String, title: &str, raw: &Overlap, engines: &Engines) {
    let Some(summary) = overlap(raw) else { return };
    let best = &summary.runs[summary.best];
    let _ = writeln!(
        out,
        "\nOverlap of {title} ({} memory)",
        format!("{:?}", raw.host_memory).to_lowercase()
    );
    let _ = writeln!(
        out,
        "  alone: upload {}, kernel {}, download {}; one after the other {}",
        seconds(summary.stages.upload),
        seconds(summary.stages.kernel),
        seconds(summary.stages.download),
        seconds(summary.stages.serial())
    );
    let _ = writeln!(out, "  class: {}", class_words(summary.class));
    runs_table(out, &summary);
    let _ = writeln!(
        out,
        "  best: {} {} on {} in {}{}",
        best.chunks,
        if best.chunks == 1 { "chunk" } else { "chunks" },
        queue_count_label(best.queues),
        seconds(best.seconds),
        best.hidden_fraction.map_or_else(String::new, |fraction| {
            format!(": hidden fraction {:.0} %", fraction * 100.0)
        })
    );
    if let Some([upload, kernel, download]) = summary.hidden {
        let _ = writeln!(
            out,
            "  concurrent with another stage (by intervals, no speedup by itself): upload {:.0} %, kernel {:.0} %, download {:.0} %",
            upload * 100.0,
            kernel * 100.0,
            download * 100.0
        );
    }
    let _ = writeln!(out, "  copy engines inferred: {}", engines_words(engines));
    if let Some(accuracy) = summary.held_out {
        let _ = writeln!(
            out,
            "  the pipeline predicts a run that it was not fitted to with accuracy {accuracy:.2}"
        );
    }
    let _ = writeln!(out, "  worth it? {}", worth_words(&summary));
}

fn runs_table(out: &mut String, summary: &OverlapSummary) {
    let _ = writeln!(out, "  chunks queues     median    hidden  model streams   fitted pipeline");
    for run in &summary.runs {
        let _ = writeln!(
            out,
            "  {:>6}  {:>5}  {:>9}  {:>8}  {:>13}  {:>16}",
            run.chunks,
            run.queues,
            seconds(run.seconds),
            percent(run.hidden_fraction),
            seconds(run.streams),
            run.pipeline.map_or_else(|| "–".to_owned(), seconds)
        );
    }
}

pub(super) fn queue_count_label(queues: u32) -> String {
    if queues == 1 { "one queue (in order)".to_owned() } else { format!("{queues} queues") }
}

/// The number of copy engines, and what it is inferred from.
pub(super) fn engines_words(engines: &Engines) -> &'static str {
    match (engines.both_ways, engines.overlaps_kernels) {
        (Some(true), Some(true)) => "2 (both directions at once, and concurrently with kernels)",
        (Some(false), Some(true)) => {
            "1 (copies concurrent with kernels, but one direction at a time)"
        }
        (_, Some(false)) => "0 (no copy runs concurrently with a kernel)",
        (None, Some(true)) => {
            "at least 1 (copies run concurrently with kernels); `measure: transfer` determines it"
        }
        (Some(true), None) => {
            "2 (both directions at once); these runs hide too little to show more"
        }
        _ => "these runs do not show it",
    }
}

pub(super) fn worth_words(summary: &OverlapSummary) -> String {
    let verdict = if summary.ideal < LITTLE {
        "no: there is little to hide"
    } else if summary.gain >= LITTLE {
        "yes"
    } else {
        "no: this device hides little of it"
    };
    format!(
        "{verdict} (ideal overlap could save {:.0} % of the serial time, kernel overlapped with copies only \
         {:.0} %; saved {:.0} %)",
        summary.ideal * 100.0,
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
            for (way, line) in [("upload", &summary.upload), ("download", &summary.download)] {
                let _ = writeln!(
                    out,
                    "  {way:<8} latency {}, bandwidth {}",
                    with_error(line.latency, seconds),
                    with_error(line.bandwidth, bandwidth)
                );
            }
            let _ = writeln!(
                out,
                "  both at once on {}: {} combined, {:.2} × serial",
                if raw.queues == 1 { "one queue" } else { "two queues" },
                bandwidth(summary.both),
                summary.speedup
            );
            match summary.meanwhile {
                Some(Meanwhile::Rates(rates)) => {
                    let [upload, download] = rates.map(bandwidth);
                    let _ = writeln!(out, "  while both run: upload {upload}, download {download}");
                }
                Some(Meanwhile::Turns) => {
                    let _ = writeln!(out, "  while both run: never, they take turns");
                }
                None => {}
            }
        }
    }
}

/// A fitted value with its 95 % half-width, or that it could not be determined.
pub(super) fn with_error(estimate: Estimate, unit: fn(f64) -> String) -> String {
    if !estimate.margin.is_finite() || estimate.margin > estimate.value.abs() {
        return "not identifiable".to_owned();
    }
    format!("{} ± {:.1} %", unit(estimate.value), 100.0 * estimate.margin / estimate.value)
}
