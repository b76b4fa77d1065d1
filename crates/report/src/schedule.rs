//! The section of a problem's schedules.

use gpubench_core::record::Schedule;
use gpubench_core::text::printable;
use gpubench_core::units::seconds;
use gpubench_experiments::analysis::schedule;
use gpubench_model::schedule::{Class, Heavy};
use std::fmt::Write;

/// Every plan with its time over the lower bound, and those that were left out.
pub fn section(out: &mut String, title: &str, raw: &Schedule) {
    let Some(summary) = schedule(raw) else { return };
    let queues = if raw.queues == 1 { "one queue, in order" } else { "three queues" };
    let memory = format!("{:?}", raw.host_memory).to_lowercase();
    let _ = writeln!(out, "\nSchedules of {title}: {queues}, {memory} memory");
    let _ = writeln!(
        out,
        "  alone: upload {}, kernel {}, download {}; lower bound {}",
        seconds(summary.stages.upload),
        seconds(summary.stages.kernel),
        seconds(summary.stages.download),
        seconds(summary.lower_bound)
    );
    let _ = writeln!(
        out,
        "  class: {}; planned for {} copy {}, {} a command",
        class_words(summary.class),
        raw.engines.count,
        if raw.engines.count == 1 { "engine" } else { "engines" },
        seconds(raw.engines.command)
    );
    let _ = writeln!(
        out,
        "  {:<36}{:>6}{:>10}{:>12}{:>11}",
        "plan", "parts", "median", "over bound", "predicted"
    );
    for (i, plan) in summary.plans.iter().enumerate() {
        let _ = writeln!(
            out,
            "  {:<36}{:>6}{:>10}{:>10.2} ×{:>11}{}",
            printable(&plan.plan, 35),
            plan.parts,
            seconds(plan.seconds),
            plan.over_bound,
            seconds(plan.predicted),
            if i == summary.best { " *" } else { "" }
        );
    }
    for (plan, reason) in &raw.skipped {
        let _ = writeln!(out, "  not run: {}: {}", printable(plan, 60), printable(reason, 160));
    }
}

/// What bounds the problem, in words.
pub(super) fn class_words(class: Class) -> String {
    let bound = if class.kernel_bound { "kernel bound" } else { "transfer bound" };
    let heavy = match class.heavy {
        Heavy::Upload => "upload heavy",
        Heavy::Download => "download heavy",
        Heavy::General => "general",
    };
    format!("{bound}, {heavy}")
}
