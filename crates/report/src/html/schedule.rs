//! A divisible problem cut by several rules: what each took, and what was predicted of it.

use super::detailed_cases::{DetailedCase, detailed_cases};
use super::plot::{Entry, Look, WIDTH, figure, mark, num, series, short_seconds};
use super::scale::Scale;
use super::{Section, name, scroll};
use crate::input::ReportInput;
use crate::labels;
use crate::schedule::class_words;
use gpubench_core::record::Schedule;
use gpubench_core::text::{middle, printable};
use gpubench_core::units::seconds;
use gpubench_experiments::analysis::{PlanSummary, ScheduleSummary, schedule};
use maud::{Markup, html};

type Case<'m, 'a> = DetailedCase<'m, 'a, Schedule, ScheduleSummary>;

pub(super) fn section(input: &ReportInput) -> Option<Section> {
    let cases: Vec<Case> = detailed_cases(input, schedule);
    if cases.is_empty() {
        return None;
    }
    let body = html! {
        p {
            "A problem is cut into parts by published rules, in equal parts, and as a search proposes; each plan was run. "
            "No plan can be faster than the longest of the three stages, the dotted bound."
        }
        @for case in &cases { (details(input, case)) }
    };
    Some(Section { id: "schedules", title: "Schedules", body })
}

fn details(input: &ReportInput, case: &Case) -> Markup {
    let label = &input.reported_devices[case.row.device].label;
    let workload = labels::workload_name(case.row.key, 100);
    let summary = &case.summary;
    let best = &summary.plans[summary.best];
    html! {
        h3 { (name(&workload)) " " (labels::size(case.row.key)) " on " (label) }
        div.plots {
            (plot(case))
            dl.facts {
                dt { "best" } dd { (printable(&best.plan, 60)) ": " (seconds(best.seconds)) ", " (format!("{:.2}", best.over_bound)) " × the bound" }
                dt { "alone" } dd { "upload " (seconds(summary.stages.upload)) ", kernel " (seconds(summary.stages.kernel)) ", download " (seconds(summary.stages.download)) }
                dt { "class" } dd { (class_words(summary.class)) ", " (labels::memory_label(case.raw.host_memory)) " memory" }
                dt { "planned for" } dd { (case.raw.engines.count) " copy engines, " (seconds(case.raw.engines.command)) " a command" }
            }
        }
        details {
            summary { h4 { "All plans" } span { (summary.plans.len()) " plans" } }
            (scroll(&format!("Plans of {workload} on {label}"), &table(case)))
            @if !case.raw.skipped.is_empty() {
                ul {
                    @for (plan, reason) in &case.raw.skipped {
                        li { (printable(plan, 60)) ": not run: " (printable(reason, 200)) }
                    }
                }
            }
        }
    }
}

/// One line a plan: its name above, what was predicted and measured below.
fn plot(case: &Case) -> Markup {
    const SIDE: f64 = 8.0;
    const ROW: f64 = 34.0;
    const TOP: f64 = 6.0;
    let (plans, bound) = (&case.summary.plans, case.summary.lower_bound);
    let times = plans.iter().flat_map(|plan| [plan.seconds, plan.predicted]);
    let Some(scale) = Scale::from_zero(times.chain([bound])) else { return html! {} };
    let place = |v: f64| SIDE + scale.place(v) * (WIDTH - 2.0 * SIDE);
    let bottom = TOP + ROW * plans.len() as f64;
    let line = |i: usize, plan: &PlanSummary| {
        let y = TOP + ROW * i as f64;
        let middle_of_bar = y + 22.0;
        html! {
            rect.band x=(num(SIDE)) y=(num(middle_of_bar - 6.0)) width=(num(WIDTH - 2.0 * SIDE)) height="12" {}
            path.limit d={ "M" (num(place(bound))) " " (num(middle_of_bar - 6.0)) "v12" } {}
            text x=(num(SIDE)) y=(num(y + 12.0)) { (middle(&printable(&plan.plan, 80), 40)) }
            text.end x=(num(WIDTH - SIDE)) y=(num(y + 12.0)) { (seconds(plan.seconds)) }
            g class=(series(0)) {
                path.line d={ "M" (num(place(0.0))) " " (num(middle_of_bar)) "H" (num(place(plan.seconds))) } {}
                path.mark d=(mark(0, place(plan.seconds), middle_of_bar)) {}
            }
            g class=(series(1)) { path.open d=(mark(3, place(plan.predicted), middle_of_bar)) {} }
        }
    };
    let drawing = html! {
        @for (i, plan) in plans.iter().enumerate() { (line(i, plan)) }
        @for tick in scale.ticks(4) {
            text.tick.mid x=(num(place(tick).clamp(14.0, WIDTH - 16.0))) y=(num(bottom + 14.0)) { (short_seconds(tick)) }
        }
        text.title.end x=(num(WIDTH - SIDE)) y=(num(bottom + 30.0)) { "time" }
    };
    let labelled =
        |plan: &PlanSummary| format!("{} {}", printable(&plan.plan, 60), seconds(plan.seconds));
    let description = format!(
        "Lower bound {}; {}.",
        seconds(bound),
        plans.iter().map(labelled).collect::<Vec<_>>().join(", ")
    );
    let legend = [
        Entry { look: Look::Marks(0), text: "measured".into() },
        Entry { look: Look::Open(1, 3), text: "predicted".into() },
        Entry { look: Look::Limit, text: "lower bound".into() },
    ];
    figure("Time by plan", &description, bottom + 36.0, &drawing, &legend)
}

fn table(case: &Case) -> Markup {
    html! {
        table {
            caption { "Every plan, against the lower bound of " (seconds(case.summary.lower_bound)) }
            thead {
                tr {
                    th scope="col" { "plan" }
                    th.n scope="col" { "parts" }
                    th.n scope="col" { "median" }
                    th.n scope="col" { "over bound" }
                    th.n scope="col" { "predicted" }
                }
            }
            tbody {
                @for (i, plan) in case.summary.plans.iter().enumerate() {
                    tr {
                        th.name scope="row" { (name(&printable(&plan.plan, 60))) }
                        td.n { (plan.parts) }
                        td.n.best[i == case.summary.best] { (seconds(plan.seconds)) }
                        td.n { (format!("{:.2} ×", plan.over_bound)) }
                        td.n { (seconds(plan.predicted)) }
                    }
                }
            }
        }
    }
}
