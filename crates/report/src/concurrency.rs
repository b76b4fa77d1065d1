//! The section of a kernel and those that run concurrently with it.

use super::labels::label;
use super::occupancy_sweep;
use gpubench_core::record::{Concurrency, Header, Record};
use gpubench_core::text::printable;
use gpubench_core::units::seconds;
use gpubench_experiments::analysis::{Expected, PairSummary, PairTally, concurrency, pair_tally};
use gpubench_model::concurrency::{Case, Device};
use std::fmt::Write;

/// Pairs in a table, copies in a line; `device` is the residency inferred from occupancy sweeps.
pub fn section(out: &mut String, title: &str, raw: &Concurrency, device: Option<Device>) {
    let summary = concurrency(raw, device);
    let queues = if raw.queues == 1 { "one queue, in order" } else { "two queues" };
    let _ = writeln!(out, "\n{title}: {queues}");
    let _ = writeln!(
        out,
        "  {:<22}{:>10}{:>10}{:>10}{:>9}{:>9}  slowed",
        "co-running B", "isolated", "A first", "B first", "speedup", "B first"
    );
    for pair in &summary.pairs {
        row(out, pair);
    }
    if let [.., (max_copies, _)] = summary.copies[..] {
        let each: Vec<_> =
            summary.copies.iter().map(|(n, speedup)| format!("{n}: {speedup:.1}")).collect();
        let at_once = summary.copies.iter().map(|(_, speedup)| *speedup).fold(0.0, f64::max);
        let _ = writeln!(out, "  copies at once and speedup: {}", each.join(", "));
        let _ = writeln!(out, "  of {max_copies} copies about {at_once:.0} really ran at once");
    }
    for (name, reason) in &raw.skipped {
        let _ = writeln!(out, "  not run with {}: {}", printable(name, 60), printable(reason, 200));
    }
    if device.is_none() {
        let _ = writeln!(
            out,
            "  model 7: no prediction, since no occupancy sweep of this run shows what a unit holds"
        );
    } else if summary.pairs.iter().any(|pair| pair.expected.is_none()) {
        let _ = writeln!(
            out,
            "  model 7: no prediction where a group is larger than any occupancy sweep's"
        );
    }
}

/// How well model 7 predicted all pairs of each device, over all rounds.
pub fn tallies(out: &mut String, header: &Header, records: &[Record]) {
    for (i, info) in header.devices.iter().enumerate() {
        let Some(residency) = occupancy_sweep::device_residency(records, i) else { continue };
        let device = residency.device(info);
        let of = |record: &Record| match record.detail.as_ref().and_then(|detail| detail.read()) {
            Some(raw) => concurrency(&raw, Some(device)).pairs,
            None => vec![],
        };
        let here = records.iter().filter(|record| record.device == i);
        let pairs: Vec<PairSummary> = here.flat_map(of).collect();
        if let Some(tally) = pair_tally(&pairs) {
            let _ = writeln!(out, "\nModel 7 on {}: {}", label(info), tally_words(&tally));
        }
    }
}

/// The share of cases predicted rightly, which were not, and how far slowdowns were off.
pub(super) fn tally_words(tally: &PairTally) -> String {
    let PairTally { pairs, right, .. } = *tally;
    let share = 100.0 * right as f64 / pairs as f64;
    let mut out = format!("the case of {right} of {pairs} pairs predicted ({share:.0} %)");
    let wrong = tally.wrong.iter().map(|&(measured, predicted, n)| {
        format!("{n} × {}, not {}", letter(measured), letter(predicted))
    });
    let wrong: Vec<String> = wrong.collect();
    if !wrong.is_empty() {
        let _ = write!(out, "\n  the others are {}", wrong.join("; "));
    }
    if tally.undecided > 0 {
        let _ =
            write!(out, "\n  {} other pairs are not measured or not predicted", tally.undecided);
    }
    let error = 100.0 * tally.slowdown_error;
    let _ = write!(out, "\n  slowdowns of later kernels off by {error:.1} % in the mean");
    out
}

fn row(out: &mut String, pair: &PairSummary) {
    let slowed = match (pair.slowdown, pair.case) {
        (Some([first, second]), Some(case)) => {
            let swapped = if pair.swapped { ", swapped" } else { "" };
            format!("{first:.2} {second:.2} {}{swapped}", letter(case))
        }
        _ => "–".to_owned(),
    };
    let _ = writeln!(
        out,
        "  {:<22}{:>10}{:>10}{:>10}{:>9.2}{:>9.2}  {slowed}",
        printable(&pair.second, 21),
        seconds(pair.isolated[1]),
        seconds(pair.concurrent[0]),
        seconds(pair.concurrent[1]),
        pair.speedup[0],
        pair.speedup[1],
    );
    if let Some(Expected { case, slowdown, speedup }) = pair.expected {
        let _ = writeln!(
            out,
            "  {:<22}model 7 predicts case {}, slowdown {slowdown:.2}, speedup {speedup:.2}",
            "",
            letter(case)
        );
    }
}

/// The case's letter.
pub(super) fn letter(case: Case) -> &'static str {
    match case {
        Case::A => "A",
        Case::B => "B",
        Case::C => "C",
    }
}
