//! The section of a buffer that is rearranged before it is used.

use gpubench_analysis::{RearrangeSummary, rearrange};
use gpubench_core::record::Rearrange;
use gpubench_core::units::seconds;
use std::fmt::Write;

/// What each kernel takes, what was run, and after how many uses rearranging pays.
pub fn section(out: &mut String, title: &str, raw: &Rearrange) {
    let Some(summary) = rearrange(raw) else { return };
    let _ = writeln!(out, "\nRearranging for {title}");
    let _ = writeln!(
        out,
        "  in strides {}, rearranged {} ({:+.1} %), rearranging {}",
        seconds(summary.strided),
        seconds(summary.contiguous),
        -100.0 * summary.saved,
        seconds(summary.rearranging)
    );
    let _ = writeln!(out, "  {:>6}{:>14}{:>18}", "uses", "in strides", "rearranged first");
    for uses in &summary.uses {
        let _ = writeln!(
            out,
            "  {:>6}{:>14}{:>18}{}",
            uses.count,
            seconds(uses.strided),
            seconds(uses.rearranged),
            if uses.paid() { "  pays" } else { "" }
        );
    }
    let [foreseen, measured] = break_even(&summary);
    let _ = writeln!(out, "  pays: foreseen {foreseen} (model 11), measured {measured}");
}

/// After how many uses it pays, as foreseen and as measured.
pub(super) fn break_even(summary: &RearrangeSummary) -> [String; 2] {
    let foreseen = summary.foreseen.map_or_else(|| "never".into(), after);
    let most = summary.uses.last().map_or(0, |uses| uses.count);
    let measured = summary.measured.map(|uses| after(uses.into()));
    [foreseen, measured.unwrap_or_else(|| format!("not in {most} uses"))]
}

fn after(uses: u64) -> String {
    format!("after {uses} {}", if uses == 1 { "use" } else { "uses" })
}
