//! The section of a kernel beside others.

use crate::analyse::{Expected, PairSummary, concurrency};
use crate::model::concurrency::{Case, Device};
use crate::record::Concurrency;
use crate::text::printable;
use crate::units::seconds;
use std::fmt::Write;

/// Pairs in a table, copies in a line; `device` is what staircases told.
pub fn section(out: &mut String, title: &str, raw: &Concurrency, device: Option<Device>) {
    let summary = concurrency(raw, device);
    let lanes = if raw.lanes == 1 { "one queue, in order" } else { "two lanes" };
    let _ = writeln!(out, "\n{title}: {lanes}");
    let _ = writeln!(
        out,
        "  {:<22}{:>10}{:>10}{:>10}{:>6}{:>6}  slowed",
        "beside", "alone", "together", "reversed", "gain", "rev."
    );
    for pair in &summary.pairs {
        row(out, pair);
    }
    if let [.., (most, _)] = summary.copies[..] {
        let each: Vec<_> =
            summary.copies.iter().map(|(n, gain)| format!("{n}: {gain:.1}")).collect();
        let at_once = summary.copies.iter().map(|(_, gain)| *gain).fold(0.0, f64::max);
        let _ = writeln!(out, "  copies at once and gain: {}", each.join(", "));
        let _ = writeln!(out, "  of {most} copies about {at_once:.0} really ran at once");
    }
    for (name, reason) in &raw.left_out {
        let _ = writeln!(out, "  not beside {}: {}", printable(name, 60), printable(reason, 200));
    }
    if device.is_none() {
        let _ = writeln!(
            out,
            "  model 7: not told, since no staircase of this run shows what a unit holds"
        );
    } else if summary.pairs.iter().any(|pair| pair.expected.is_none()) {
        let _ = writeln!(out, "  model 7: not told where a group is larger than any staircase's");
    }
}

fn row(out: &mut String, pair: &PairSummary) {
    let slowed = match (pair.slowdown, pair.case) {
        (Some([first, second]), Some(case)) => {
            format!("{first:.2} {second:.2} {}", letter(case))
        }
        _ => "–".to_owned(),
    };
    let _ = writeln!(
        out,
        "  {:<22}{:>10}{:>10}{:>10}{:>6.2}{:>6.2}  {slowed}",
        printable(&pair.second, 21),
        seconds(pair.alone[1]),
        seconds(pair.together[0]),
        seconds(pair.together[1]),
        pair.gain[0],
        pair.gain[1],
    );
    if let Some(Expected { case, slowdown, gain }) = pair.expected {
        let _ = writeln!(
            out,
            "  {:<22}model 7 foresees case {}, slowdown {slowdown:.2}, gain {gain:.2}",
            "",
            letter(case)
        );
    }
}

fn letter(case: Case) -> &'static str {
    match case {
        Case::A => "A",
        Case::B => "B",
        Case::C => "C",
    }
}
