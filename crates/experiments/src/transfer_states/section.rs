//! What reports say of transfer states: the rates of each, and each plan against what it took.

use super::analysis::{all_states, plan_against};
use super::data::{PlanRun, TransferStates};
use crate::results::detailed_cases;
use gpubench_analysis::ReportInput;
use gpubench_core::workload::CaseKey;
use gpubench_document::{Cell, Column, Quantity, Section, Sentence, Table, Unit};

/// One section a case.
pub(super) fn section(input: &ReportInput) -> Section {
    let section = Section::new("transfer_states", "Transfer states").text(
        "Rates are of what moved while every device of the state was at it. A plan spends its time \
         in states, one after the other; all at once is the same amounts without a plan.",
    );
    detailed_cases(input).map(|case| one(case.row.key, &case.data)).fold(section, Section::section)
}

fn one(key: &CaseKey, raw: &TransferStates) -> Section {
    let section = Section::new(&key.to_string(), key.to_string())
        .fact("memory", "host memory", raw.host_memory.label())
        .figure("copy", "bytes of one copy", raw.copy as f64, Unit::Bytes)
        .table(states(raw))
        .table(plans(raw));
    alike(raw).fold(section, Section::note)
}

/// Devices whose states another's stand for.
fn alike(raw: &TransferStates) -> impl Iterator<Item = Sentence> {
    let pairs = raw.devices.iter().zip(&raw.classes).enumerate();
    pairs.filter(|(at, (_, class))| at != *class).filter_map(|(_, (device, &class))| {
        let device = Sentence::new().name(device).text(" is as ");
        Some(device.name(raw.devices.get(class)?).text(": their states are measured once"))
    })
}

fn states(raw: &TransferStates) -> Table {
    let ways = raw.devices.iter().flat_map(|device| {
        ["to ", "from "].map(|way| {
            let title = Sentence::from(way).name(device);
            Column::new(&format!("{way}{device}"), title, Unit::BytesPerSecond)
        })
    });
    let columns = [Column::text("state", "state")].into_iter().chain(ways);
    let mut table = Table::new("states", "Measured states", columns);
    let all = all_states(raw);
    for measured in &raw.states {
        let Some(state) = all.iter().find(|state| state.name == measured.state) else { continue };
        let rates = state.rates.iter().flat_map(|rates| [rates.upload, rates.download]);
        let moved = rates.map(|rate| Cell::from(Quantity::new(rate).filter(|_| rate > 0.0)));
        table.row([Cell::from(state.name.clone())].into_iter().chain(moved));
    }
    table
}

fn plans(raw: &TransferStates) -> Table {
    let amounts = |run: &PlanRun| run.amounts.first().copied().unwrap_or_default();
    let runs = raw.plans.iter().filter_map(|run| Some((run, amounts(run), plan_against(run)?)));
    Table::of("plans", "Transfer plans, and what they took", runs)
        .column(Column::new("upload", "upload to each", Unit::Bytes), |(_, [up, _], _)| *up as f64)
        .column(Column::new("download", "download from each", Unit::Bytes), |(_, [_, down], _)| {
            *down as f64
        })
        .column(Column::new("predicted", "predicted", Unit::Seconds), |(.., of)| of.predicted)
        .column(Column::new("planned", "took", Unit::Seconds), |(.., of)| of.planned)
        .column(Column::new("accuracy", "accuracy", Unit::None), |(.., of)| of.accuracy)
        .column(Column::new("at_once", "all at once", Unit::Seconds), |(.., of)| of.at_once)
        .column(Column::new("over_plan", "over the plan", Unit::Ratio), |(.., of)| {
            of.at_once / of.planned
        })
        .column(Column::text("spent", "time spent in"), |(run, ..)| spent(run))
        .table()
}

/// `S/R 60 %, R/S 40 %`.
fn spent(run: &PlanRun) -> Sentence {
    let share = |(state, seconds): &(String, f64)| {
        Sentence::new().name(state).text(" ").value(seconds / run.predicted, Unit::Fraction)
    };
    Sentence::new().list(", ", run.spent.iter().map(share))
}
