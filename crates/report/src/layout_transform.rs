//! The section of a buffer whose layout is transformed before it is used.

use gpubench_core::record::LayoutTransform;
use gpubench_core::units::seconds;
use gpubench_experiments::analysis::{LayoutTransformSummary, layout_transform};
use std::fmt::Write;

/// What each kernel takes, what was run, and after how many uses the transform pays.
pub fn section(out: &mut String, title: &str, raw: &LayoutTransform) {
    let Some(summary) = layout_transform(raw) else { return };
    let _ = writeln!(out, "\nLayout transform for {title}");
    let _ = writeln!(
        out,
        "  in strides {}, transformed {} ({:+.1} %), transform {}",
        seconds(summary.strided),
        seconds(summary.contiguous),
        -100.0 * summary.saved_fraction,
        seconds(summary.transform)
    );
    let _ = writeln!(out, "  {:>6}{:>14}{:>18}", "uses", "in strides", "transformed first");
    for uses in &summary.uses {
        let _ = writeln!(
            out,
            "  {:>6}{:>14}{:>18}{}",
            uses.count,
            seconds(uses.strided),
            seconds(uses.transformed),
            if uses.paid() { "  pays" } else { "" }
        );
    }
    let [predicted, measured] = break_even(&summary);
    let _ = writeln!(out, "  pays: predicted {predicted} (model 11), measured {measured}");
}

/// After how many uses it pays, as predicted and as measured.
pub(super) fn break_even(summary: &LayoutTransformSummary) -> [String; 2] {
    let predicted = summary.predicted.map_or_else(|| "never".into(), after);
    let max_uses = summary.uses.last().map_or(0, |uses| uses.count);
    let measured = summary.measured.map(|uses| after(uses.into()));
    [predicted, measured.unwrap_or_else(|| format!("not in {max_uses} uses"))]
}

fn after(uses: u64) -> String {
    format!("after {uses} {}", if uses == 1 { "use" } else { "uses" })
}
