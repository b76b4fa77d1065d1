//! The section of an iteration whose state is saved while it goes on.

use gpubench_core::record::Checkpoint;
use gpubench_core::text::printable;
use gpubench_core::units::{Bytes, seconds};
use gpubench_experiments::analysis::{SaveSummary, checkpoint};
use std::fmt::Write;

/// What a save costs by queues, predicted and measured, and what restoring takes.
pub fn section(out: &mut String, title: &str, raw: &Checkpoint) {
    let Some(summary) = checkpoint(raw) else { return };
    let _ = writeln!(
        out,
        "\nCheckpoints of {title} ({} memory)",
        format!("{:?}", raw.host_memory).to_lowercase()
    );
    let _ = write!(
        out,
        "  {} saves of {} in {} passes, which take {} without",
        raw.saves,
        Bytes(raw.bytes),
        raw.passes,
        seconds(summary.alone)
    );
    for (what, alone) in [("a copy on the device", summary.snapshot), ("a file", summary.writing)] {
        if let Some(alone) = alone {
            let _ = write!(out, "; {what} {}", seconds(alone));
        }
    }
    let _ = writeln!(
        out,
        "\n  {:<6}{:>7}{:>24}{:>13}{:>16}{:>11}{:>16}",
        "to",
        "queues",
        "cost of a save",
        "by model 12",
        "against 1 queue",
        "restoring",
        "against 1 queue"
    );
    for run in &summary.runs {
        let _ = writeln!(out, "  {}", row(run));
    }
    for (what, why) in &raw.skipped {
        let _ = writeln!(out, "  {}: {}", printable(what, 40), printable(why, 200));
    }
}

fn row(run: &SaveSummary) -> String {
    format!(
        "{:<6}{:>7}{:>24}{:>13}{:>16}{:>11}{:>16}",
        if run.to_file { "file" } else { "memory" },
        run.queues,
        cost(run),
        seconds(run.predicted_cost),
        change(run.against_one),
        seconds(run.restoring),
        change(run.restoring_against_one)
    )
}

/// What a save costs, with half the width of its interval.
pub(super) fn cost(run: &SaveSummary) -> String {
    format!("{} ± {}", seconds(run.cost), seconds(run.margin))
}

/// `+12 %`; nothing where there is nothing to compare with, or no significant difference.
pub(super) fn change(share: Option<f64>) -> String {
    share.map_or_else(String::new, |share| format!("{:+.0} %", 100.0 * share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample;

    #[test]
    fn costs_stand_beside_the_models() {
        let mut out = String::new();
        section(&mut out, "iteration n=8 on sim:0", &sample::checkpoint());
        insta::assert_snapshot!(out);
    }
}
