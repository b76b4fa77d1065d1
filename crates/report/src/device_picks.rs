//! Which device is fastest: how well models pick among several, against always taking the same.

use super::fit::Report;
use gpubench_analysis::fit::{Evaluation, Model, Picks, Score};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::text::printable;
use gpubench_document::{Column, Section, Table, Unit};
use serde::Serialize;

/// `None` where no two devices have a case in common that a model predicts.
pub(super) fn section(reports: &[Report]) -> Option<Section> {
    let picks = picks(reports);
    if picks.is_empty() {
        return None;
    }
    let always = "always one device";
    let table = Table::of("picks", "Picks by predictions that had seen no time of the case", picks)
        .column(Column::text("model", "model"), |one| one.model.name)
        .column(Column::text("held_out", "left out"), |one| one.held_out)
        .column(Column::new("cases", "cases", Unit::Count), |one| one.picks.cases as u64)
        .column(Column::new("best", "fastest picked", Unit::Count), |one| one.picks.best as u64)
        .column(Column::new("penalty", "mean penalty", Unit::Fraction), |one| one.picks.penalty)
        .column(Column::new("largest", "largest", Unit::Fraction), |one| one.picks.largest_penalty)
        .column(Column::text("at", "at"), |one| one.picks.largest_at.clone())
        .column(Column::new("always_best", "fastest", Unit::Count).under(always), |one| {
            one.always.best as u64
        })
        .column(
            Column::new("always_penalty", "mean penalty", Unit::Fraction).under(always),
            |one| one.always.penalty,
        )
        .column(Column::text("always", "which").under(always), |one| one.device.clone())
        .table();
    Some(Section::new("device", "Which device is fastest").table(table))
}

/// How well a model picks among the devices, and how well whoever always takes the same.
#[derive(Serialize)]
pub(super) struct PickedBy {
    model: Model,
    /// `size` or `workload`.
    held_out: &'static str,
    #[serde(flatten)]
    picks: Picks,
    /// Of the one device that loses least by it, over the same cases.
    always: Picks,
    /// Which that is.
    device: String,
}

/// Of every model that predicts on two devices or more. Of runs of one device, or of equal ones, the first counts.
pub(super) fn picks(reports: &[Report]) -> Vec<PickedBy> {
    let identity = |report: &Report| {
        let DeviceInfo { backend, vendor, name, uuid, index, .. } = &report.device;
        (backend.clone(), vendor.clone(), name.clone(), uuid.clone(), *index)
    };
    let mut firsts: Vec<&Report> = vec![];
    for report in reports {
        if firsts.iter().all(|known| identity(known) != identity(report)) {
            firsts.push(report);
        }
    }
    type Held = fn(&Evaluation) -> &Option<Score>;
    let held_out: [(&str, Held); 2] =
        [("size", |one| &one.leave_one_size_out), ("workload", |one| &one.leave_one_workload_out)];
    let one = |(held_out, score): (&'static str, Held), model: Model| {
        let evaluated = firsts.iter().filter_map(|report| {
            let one = report.evaluations.iter().find(|one| one.model == model)?;
            Some((&report.device, score(one).as_ref()?))
        });
        let (devices, scores): (Vec<&DeviceInfo>, Vec<&Score>) = evaluated.unzip();
        let (picks, (at, always)) = (Picks::of(&scores)?, Picks::always(&scores)?);
        let device = format!("{} {}", devices[at].label(), printable(&devices[at].name, 60));
        Some(PickedBy { model, held_out, picks, always, device })
    };
    let each = |held| Model::ALL.into_iter().filter_map(move |model| one(held, model));
    held_out.into_iter().flat_map(each).collect()
}
