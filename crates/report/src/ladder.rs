//! The sections of ladders: what each step gained, and whether another one is worth it.

use super::labels::label;
use gpubench_core::record::{Header, Record};
use gpubench_core::text::printable;
use gpubench_core::units::seconds;
use gpubench_experiments::analysis::{Ladder, Rung, ladders};
use gpubench_model::roofline::Bound;
use std::fmt::Write;

/// One section a ladder and device.
pub fn section(out: &mut String, header: &Header, records: &[Record]) {
    for (i, device) in header.devices.iter().enumerate() {
        for ladder in ladders(records, i) {
            one(out, &ladder, &label(device));
        }
    }
}

/// The workload and its size, where it ran, and what bounds it.
pub(super) fn title(ladder: &Ladder, device: &str) -> String {
    let sizes = ladder.size.iter().map(|(name, value)| format!(" {}={value}", printable(name, 20)));
    let bound = match ladder.bound {
        Some(Bound::Compute) => ": bound by arithmetic",
        Some(Bound::Memory) => ": bound by memory",
        None => "",
    };
    let name = printable(&ladder.workload, 30);
    format!("{name}{} on {device}{bound}", sizes.collect::<String>())
}

fn one(out: &mut String, ladder: &Ladder, device: &str) {
    let _ = writeln!(out, "\nLadder of {}", title(ladder, device));
    let _ = writeln!(
        out,
        "  {:<18}{:>10}{:>9}{:>10}{:>11}{:>12}  another step",
        "step", "median", "speedup", "of ideal", "of the run", "could save"
    );
    for (i, rung) in ladder.rungs.iter().enumerate() {
        let speedup = if i == 0 { "–".to_owned() } else { format!("{:.2} ×", rung.speedup) };
        let _ = writeln!(
            out,
            "  {:<18}{:>10}{:>9}{:>10}{:>11}{:>12}  {}",
            printable(&rung.variant, 17),
            seconds(rung.seconds),
            speedup,
            percent(rung.of_ideal),
            percent(rung.share),
            percent(rung.possible()),
            worth(rung)
        );
    }
}

pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

pub(super) fn worth(rung: &Rung) -> &'static str {
    match rung.worth() {
        Some(true) => "is worth it",
        Some(false) => "is not worth it",
        None => "cannot be evaluated: no ceiling or no copies were measured",
    }
}
