//! What reports say of split workloads: how soon devices were balanced, and whether it was worth it.

use super::analysis::{BALANCED, SplitSummary, split};
use super::data::Split;
use crate::results::detailed_cases;
use gpubench_analysis::ReportInput;
use gpubench_core::workload::CaseKey;
use gpubench_document::{Column, Quantity, Section, Sentence, Table, Unit};
use gpubench_model::slowdown_budget::{MAX_SLOWDOWN, worth_trying};

/// One section a case.
pub(super) fn section(input: &ReportInput) -> Section {
    let section = Section::new("split", "Split workloads").text(
        "A problem is split over several devices. Each does its part in chunks, copying one while it \
         computes another, where that is faster. Blocks calibrate the split, each partitioned by \
         the speeds of those before; a job falls back to the fastest device where that is faster.",
    );
    let cases = detailed_cases(input);
    cases.filter_map(|case| one(case.row.key, &case.data)).fold(section, Section::section)
}

fn one(key: &CaseKey, raw: &Split) -> Option<Section> {
    let summary = split(raw)?;
    let fastest =
        || Sentence::from(raw.devices.get(raw.fastest).map_or("?", String::as_str).to_owned());
    Some(
        Section::new(&key.to_string(), key.to_string())
            .figure("rows", "rows", raw.rows as f64, Unit::Count)
            .fact("fastest", "fastest device alone", fastest())
            .fact("bound", "at best", bound(&summary))
            .fact("combined", "combined", combined(raw, &summary))
            .fact("balanced", "balanced", balanced(&summary))
            .fact("decision", "decision", decision(raw, &summary))
            .fact("overall", "overall", overall(raw, &summary))
            .fact("over_in_order", "over one without overlap", over_in_order(&summary))
            .table(devices(raw, &summary)),
    )
}

/// Each device alone, and its part of the last block.
fn devices(raw: &Split, summary: &SplitSummary) -> Table {
    let rows = raw.devices.iter().zip(&raw.host_memory).zip(&summary.isolated).enumerate();
    let chunks = |at: usize| raw.chunks.get(at).copied().filter(|chunks| *chunks > 1);
    let overlapped = |at| chunks(at).and_then(|_| summary.overlapped.get(at).copied());
    let part = |at: usize| {
        let block = raw.blocks.last()?;
        let work = block.work() / block.repeats.max(1) as f64;
        Quantity::new(*block.rows.get(at)? as f64 / work.max(1.0))
    };
    Table::of("devices", "The whole problem on each device, and its part", rows)
        .column(Column::text("device", "device"), |(_, ((device, _), _))| device.to_string())
        .column(Column::text("memory", "host memory"), |(_, ((_, memory), _))| memory.label())
        .column(Column::new("isolated", "isolated", Unit::Seconds), |(_, (_, alone))| **alone)
        .column(Column::new("chunks", "chunks", Unit::Count), |(at, _)| chunks(*at))
        .column(Column::new("overlapped", "in chunks", Unit::Seconds), |(at, _)| overlapped(*at))
        .column(Column::new("last_block", "of the last block", Unit::Fraction), |(at, _)| part(*at))
        .table()
}

/// What no split can be faster than: the sum of the devices' own speeds. A gain near it is poor because the devices differ;
/// one far below it because they disturb each other, or share what they wait for.
fn bound(summary: &SplitSummary) -> Sentence {
    Sentence::new()
        .value(summary.max_speedup, Unit::Ratio)
        .text(" the fastest alone, by the speed of each alone")
}

fn combined(raw: &Split, summary: &SplitSummary) -> Sentence {
    match summary.combined_speedup {
        Some(speedup) => Sentence::new()
            .value(speedup, Unit::Ratio)
            .text(" the fastest alone, ")
            .value(speedup / summary.max_speedup, Unit::Fraction)
            .text(" of the best, in ")
            .counted(raw.blocks.len() as u64, "block"),
        None => "no block could be shared: a device's part is less than a work-group".into(),
    }
}

/// Whether the devices ended together, and from when on.
fn balanced(summary: &SplitSummary) -> Option<Sentence> {
    summary.combined_speedup?;
    let share = Sentence::new().value(BALANCED, Unit::Fraction);
    Some(match (summary.balanced_after, summary.imbalance) {
        (Some(block), Some(imbalance)) => Sentence::from("to ")
            .then(share)
            .text(" by block ")
            .value(block as f64, Unit::Count)
            .text("; the middle imbalance from then on ")
            .value(imbalance, Unit::Fraction),
        _ => Sentence::from("not to ").then(share),
    })
}

/// The decision over whole jobs.
fn decision(raw: &Split, summary: &SplitSummary) -> Sentence {
    let Some(speedup) = &summary.speedup else { return not_split(summary) };
    let count = |n: usize| Sentence::new().value(n as f64, Unit::Count);
    let [min_blocks, max_blocks] = summary.tried;
    let blocks = match min_blocks == max_blocks {
        true => count(max_blocks),
        false => count(min_blocks).text(" to ").then(count(max_blocks)),
    };
    let jobs = raw.jobs.len();
    match summary.fallbacks {
        0 => Sentence::from("split to the end in ").then(blocks).text(" blocks"),
        _ if max_blocks == 0 => "split in no job: left to the fastest device".into(),
        all if all == jobs && speedup.interval[0] < 1.0 => {
            Sentence::from("not worth it: left to the fastest device after ")
                .then(blocks)
                .text(" blocks")
        }
        some => Sentence::from("left to the fastest device in ")
            .then(count(some))
            .text(" of ")
            .then(count(jobs))
            .text(" jobs, of ")
            .then(blocks)
            .text(" blocks"),
    }
}

/// Why no job was split.
fn not_split(summary: &SplitSummary) -> Sentence {
    if worth_trying(summary.max_speedup) {
        return "not split: no speedup in these blocks; left to the fastest device".into();
    }
    Sentence::from("not split: ")
        .value(summary.max_speedup, Unit::Ratio)
        .text(" the fastest alone at best, and trying may cost a slowdown of ")
        .value(MAX_SLOWDOWN, Unit::Fraction)
}

/// Whole jobs against the fastest device alone; nothing where no block was shared.
fn overall(raw: &Split, summary: &SplitSummary) -> Option<Sentence> {
    let speedup = summary.speedup.filter(|_| summary.tried != [0, 0])?;
    Some(
        Sentence::new()
            .quantity(Quantity::between(speedup.median, speedup.interval), Unit::Ratio)
            .text(" the fastest alone; ")
            .counted(raw.jobs.len() as u64, "job")
            .text(" of ")
            .counted(raw.times, "problem"),
    )
}

/// Whole jobs that all devices shared against the fastest device that does everything in order.
fn over_in_order(summary: &SplitSummary) -> Option<Sentence> {
    let speedup = summary.over_in_order.filter(|_| summary.tried != [0, 0])?;
    let text = " one device that copies and computes in turn";
    Some(Sentence::new().value(speedup, Unit::Ratio).text(text))
}
