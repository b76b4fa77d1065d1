//! The sections of what several devices do at once: transfer states and plans, a split workload.

use gpubench_core::record::{PlanRun, Split, TransferStates};
use gpubench_core::text::printable;
use gpubench_core::units::{Bytes, bandwidth, seconds};
use gpubench_experiments::analysis::{
    BALANCED, PlanAgainst, SplitSummary, all_states, plan_against, split,
};
use gpubench_model::slowdown_budget::{MAX_SLOWDOWN, worth_trying};
use gpubench_stats::Summary;
use std::fmt::Write;

/// A table of states that were measured, and of plans.
pub fn states_section(out: &mut String, title: &str, raw: &TransferStates) {
    let _ = writeln!(
        out,
        "\nTransfer states of {title}: {} ({} memory, copies of {})",
        names(&raw.devices).join(" "),
        format!("{:?}", raw.host_memory).to_lowercase(),
        Bytes(raw.copy)
    );
    let devices = names(&raw.devices);
    let alike = |at: usize| raw.classes.get(at).filter(|&&class| class != at);
    for (at, device) in devices.iter().enumerate() {
        if let Some(other) = alike(at).and_then(|&class| devices.get(class)) {
            let _ = writeln!(out, "  {device} is as {other}: their states are measured once");
        }
    }
    let width = raw.states.iter().map(|state| state.state.len()).max().unwrap_or(0).clamp(5, 40);
    let _ = write!(out, "  {:<width$}", "state");
    for device in &devices {
        let _ = write!(out, "  {:>11} {:>11}", format!("to {device}"), "from");
    }
    let _ = writeln!(out);
    let all = all_states(raw);
    for measured in &raw.states {
        let Some(state) = all.iter().find(|state| state.name == measured.state) else { continue };
        let _ = write!(out, "  {:<width$}", printable(&state.name, 40));
        for rates in &state.rates {
            let _ = write!(out, "  {:>11} {:>11}", rate(rates.upload), rate(rates.download));
        }
        let _ = writeln!(out);
    }
    for run in &raw.plans {
        plan_lines(out, run);
    }
}

/// Names that a file has, fit for a terminal.
fn names(devices: &[String]) -> Vec<String> {
    devices.iter().map(|device| printable(device, 40)).collect()
}

fn rate(rate: f64) -> String {
    if rate > 0.0 { bandwidth(rate) } else { "–".to_owned() }
}

fn plan_lines(out: &mut String, run: &PlanRun) {
    let Some(against) = plan_against(run) else { return };
    let PlanAgainst { predicted, planned, accuracy, at_once } = against;
    let each = run.amounts.first().copied().unwrap_or_default().map(Bytes);
    let _ = writeln!(
        out,
        "  plan to upload {} to each and download {} from each: predicted {}, took {} (accuracy {:.3}); \
         all at once {}, {:.2} × the plan",
        each[0],
        each[1],
        seconds(predicted),
        seconds(planned),
        accuracy,
        seconds(at_once),
        at_once / planned
    );
    let share = |(state, time): &(String, f64)| {
        format!("{} {:.0} %", printable(state, 40), 100.0 * time / predicted)
    };
    let spent: Vec<String> = run.spent.iter().map(share).collect();
    let _ = writeln!(out, "    {}", spent.join(", "));
}

/// How a workload was split, and whether that was worth it.
pub fn split_section(out: &mut String, title: &str, raw: &Split) {
    let Some(summary) = split(raw) else { return };
    let _ = writeln!(out, "\nSplit of {title}: {} rows", raw.rows);
    let devices = names(&raw.devices);
    for ((device, alone), memory) in devices.iter().zip(&summary.isolated).zip(&raw.host_memory) {
        let memory = format!("{memory:?}").to_lowercase();
        let _ = writeln!(out, "  {device} alone: {} ({memory} memory)", seconds(*alone));
    }
    let fastest = devices.get(raw.fastest).map_or("?", String::as_str);
    calibration_lines(out, raw, &summary, fastest);
    let _ = writeln!(out, "  {}", decided(raw, &summary, fastest));
    let tried = summary.tried != [0, 0];
    if let Some(Summary { median, interval: [low, high], .. }) = summary.speedup.filter(|_| tried) {
        let jobs = raw.jobs.len();
        let _ = writeln!(
            out,
            "  overall {median:.2} × {fastest} alone ({low:.2} to {high:.2}; {jobs} jobs of {} problems)",
            raw.times
        );
    }
}

/// How soon the devices were balanced, and their combined speed.
fn calibration_lines(out: &mut String, raw: &Split, summary: &SplitSummary, fastest: &str) {
    let Some(speedup) = summary.combined_speedup else {
        let _ =
            writeln!(out, "  no block could be shared: a device's part is less than a work-group");
        return;
    };
    let blocks = raw.blocks.len();
    let _ = writeln!(out, "  combined in {blocks} blocks: {speedup:.2} × {fastest} alone");
    let balanced = percent(BALANCED);
    let _ = match (summary.balanced_after, summary.imbalance) {
        (Some(block), Some(imbalance)) => {
            let imbalance = percent(imbalance);
            writeln!(
                out,
                "  balanced to {balanced} by block {block}; the middle imbalance from then on {imbalance}"
            )
        }
        _ => writeln!(out, "  not balanced to {balanced}"),
    };
    if let Some(block) = raw.blocks.last() {
        let work = block.work() / block.repeats.max(1) as f64;
        let shares = names(&raw.devices).into_iter().zip(&block.rows);
        let shares: Vec<String> = shares
            .map(|(device, &rows)| format!("{device} {}", percent(rows as f64 / work.max(1.0))))
            .collect();
        let _ = writeln!(out, "  last block: {}", shares.join(", "));
    }
}

/// The decision over whole jobs.
fn decided(raw: &Split, summary: &SplitSummary, fastest: &str) -> String {
    let Some(speedup) = &summary.speedup else { return not_split(summary, fastest) };
    let jobs = raw.jobs.len();
    let [min_blocks, max_blocks] = summary.tried;
    let blocks = if min_blocks == max_blocks {
        format!("{max_blocks}")
    } else {
        format!("{min_blocks} to {max_blocks}")
    };
    match summary.fallbacks {
        0 => format!("split to the end in {blocks} blocks"),
        _ if max_blocks == 0 => format!("split in no job: left to {fastest}"),
        all if all == jobs && speedup.interval[0] < 1.0 => {
            format!("not worth it: left to {fastest} after {blocks} blocks")
        }
        some => format!("left to {fastest} in {some} of {jobs} jobs, of {blocks} blocks"),
    }
}

/// Why no job was split.
fn not_split(summary: &SplitSummary, fastest: &str) -> String {
    if worth_trying(summary.max_speedup) {
        return format!("not split: no speedup in these blocks; left to {fastest}");
    }
    let slowdown = percent(MAX_SLOWDOWN);
    let max_speedup = summary.max_speedup;
    format!(
        "not split: {max_speedup:.2} × {fastest} alone at best, and trying may cost a slowdown of {slowdown}"
    )
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
