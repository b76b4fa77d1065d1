//! What reports say of schedules: every plan against the bound that none can beat.

use super::analysis::{PlanSummary, ScheduleSummary, schedule};
use super::data::Schedule;
use crate::results::{DetailedCase, detailed_cases, skipped};
use crate::stages;
use gpubench_analysis::ReportInput;
use gpubench_document::{
    Axis, Column, Direction, Plot, Scale, Section, Sentence, Series, Style, Table, Unit,
};

/// One section a case.
pub(super) fn section(input: &ReportInput) -> Section {
    let section = Section::new("schedule", "Schedules").text(
        "A problem is cut into parts by published rules, in equal parts, and as a search \
         proposes; each plan was run. No plan can be faster than the longest of the three stages, \
         the lower bound.",
    );
    detailed_cases(input).filter_map(|case| one(&case)).fold(section, Section::section)
}

fn one(case: &DetailedCase<Schedule>) -> Option<Section> {
    let summary = schedule(&case.data)?;
    let plans = Section::new("plans", "All plans")
        .folded()
        .table(table(&summary))
        .table(skipped("plan", &case.data.skipped));
    Some(facts(case, &summary).plot(plot(&summary)).section(plans))
}

fn facts(case: &DetailedCase<Schedule>, summary: &ScheduleSummary) -> Section {
    let Schedule { host_memory, queues, engines, .. } = case.data;
    let planned_for = Sentence::new()
        .counted(engines.count.into(), "copy engine")
        .text(", ")
        .value(engines.command, Unit::Seconds)
        .text(" a command");
    case.section()
        .fact("best", "best", best(summary))
        .fact("isolated", "isolated", stages::times(summary.stages))
        .fact("class", "class", stages::class(summary.class, host_memory))
        .fact("run_on", "run on", stages::queues(queues))
        .fact("planned_for", "planned for", planned_for)
}

/// `search: 8.4 s, 1.05 × the lower bound`.
fn best(summary: &ScheduleSummary) -> Sentence {
    let PlanSummary { plan, seconds, over_bound, .. } = &summary.plans[summary.best];
    let time = Sentence::new().name(plan).text(": ").value(*seconds, Unit::Seconds);
    time.text(", ").value(*over_bound, Unit::Ratio).text(" the lower bound")
}

fn plot(summary: &ScheduleSummary) -> Plot {
    let names = summary.plans.iter().map(|plan| plan.plan.clone());
    let points = |value: fn(&PlanSummary) -> f64| {
        summary.plans.iter().enumerate().map(move |(i, plan)| (i as f64, value(plan)))
    };
    let measured = Series::new("measured", Style::Bars).look(0, 0);
    let predicted = Series::new("predicted (model 9)", Style::Open).look(3, 0);
    let time = Axis::new("time", Unit::Seconds, Scale::Linear);
    Plot::new("by_plan", "Time by plan", Axis::categories("plan", names), time)
        .describe(Sentence::from("The best is ").then(best(summary)).text("."))
        .series(measured.points(points(|plan| plan.seconds)))
        .series(predicted.points(points(|plan| plan.predicted)))
        .limit(Direction::Horizontal, summary.lower_bound, "lower bound")
        .tabled_in("plans")
}

fn table(summary: &ScheduleSummary) -> Table {
    let title = "Every plan, measured and predicted (model 9)";
    Table::of("plans", title, &summary.plans)
        .column(Column::text("plan", "plan"), |plan| plan.plan.clone())
        .column(Column::new("parts", "parts", Unit::Count), |plan| plan.parts as u64)
        .column(Column::new("seconds", "median", Unit::Seconds), |plan| plan.seconds)
        .column(Column::new("over_bound", "over bound", Unit::Ratio), |plan| plan.over_bound)
        .column(Column::new("predicted", "predicted", Unit::Seconds), |plan| plan.predicted)
        .table()
        .with_best(summary.best, "seconds")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::testing::section_of;
    use gpubench_core::gpu::Clock;
    use gpubench_core::record::Timed;

    #[test]
    fn plans_are_shown_against_the_bound() {
        let timed = |seconds: f64| Timed { walls: vec![seconds; 3], steps: vec![] };
        let runs = vec![("no partition", timed(12.0)), ("10 equal parts", timed(8.4))];
        let raw = Schedule {
            upload: timed(2.0),
            kernel: timed(8.0),
            download: timed(2.0),
            skipped: vec![("1000 equal parts".into(), "1000 parts of 10 rows".into())],
            ..crate::schedule::sample::schedule(Clock::Device, runs)
        };
        let section = section_of::<crate::schedule::Schedule>(&raw).unwrap();
        let plans = section.find_table("plans").unwrap();
        assert_eq!((plans.rows().len(), plans.bests()), (2, &[(1, 2)][..]));
        insta::assert_snapshot!(gpubench_report::render::text::section(&section, Some(80)));
    }

    #[test]
    fn without_a_run_there_is_no_section() {
        let raw = crate::schedule::sample::schedule(Clock::Device, vec![]);
        assert_eq!(section_of::<crate::schedule::Schedule>(&raw), None);
    }
}
