//! Which device is fastest: how well models pick among several, beside always taking the same.

use super::fit::Report;
use gpubench_analysis::fit::{Evaluation, Model, Picks, Score};
use gpubench_core::gpu::DeviceInfo;
use gpubench_document::{Column, Section, Table, Unit};
use serde::Serialize;

/// `None` where no two devices have a case in common that a model predicts.
pub(super) fn section(reports: &[Report]) -> Option<Section> {
    let picks = picks(reports);
    if picks.is_empty() {
        return None;
    }
    let table = Table::of("picks", "Picks by predictions that had seen no time of the case", picks)
        .column(Column::text("by", "picked by"), |one| one.by.clone())
        .column(Column::text("held_out", "left out"), |one| one.held_out)
        .column(Column::new("cases", "cases", Unit::Count), |one| one.picks.cases as u64)
        .column(Column::new("best", "fastest picked", Unit::Count), |one| one.picks.best as u64)
        .column(Column::new("penalty", "mean penalty", Unit::Fraction), |one| one.picks.penalty)
        .column(Column::new("largest", "largest", Unit::Fraction), |one| one.picks.largest_penalty)
        .column(Column::text("at", "at"), |one| one.picks.largest_at.clone())
        .table();
    Some(Section::new("device", "Which device is fastest").table(table))
}

/// How well a model picks among the devices.
#[derive(Serialize)]
pub(super) struct PickedBy {
    /// The model, or always one device.
    by: String,
    /// `size` or `workload`.
    held_out: &'static str,
    #[serde(flatten)]
    picks: Picks,
}

/// Of every model that predicts on two devices or more, and, over the cases of the last of them, of always taking the one
/// device that loses least by it. Of runs of one device the first counts.
pub(super) fn picks(reports: &[Report]) -> Vec<PickedBy> {
    let mut known: Vec<&DeviceInfo> = vec![];
    let mut firsts: Vec<&Report> = vec![];
    for report in reports {
        if !known.contains(&&report.device) {
            known.push(&report.device);
            firsts.push(report);
        }
    }
    type Held = fn(&Evaluation) -> &Option<Score>;
    let held_out: [(&str, Held); 2] =
        [("size", |one| &one.leave_one_size_out), ("workload", |one| &one.leave_one_workload_out)];
    let mut all = vec![];
    for (held_out, score) in held_out {
        let mut always = None;
        for model in Model::ALL {
            let evaluated = firsts.iter().filter_map(|&report| {
                let one = report.evaluations.iter().find(|one| one.model == model)?;
                Some((report, score(one).as_ref()?))
            });
            let (devices, scores): (Vec<&Report>, Vec<&Score>) = evaluated.unzip();
            let Some(picks) = Picks::of(&scores) else { continue };
            all.push(PickedBy { by: model.name().to_owned(), held_out, picks });
            always = Picks::always(&scores).map(|(at, picks)| (devices[at].device.label(), picks));
        }
        let always = always.map(|(label, picks)| (format!("always {label}"), picks));
        all.extend(always.map(|(by, picks)| PickedBy { by, held_out, picks }));
    }
    all
}
