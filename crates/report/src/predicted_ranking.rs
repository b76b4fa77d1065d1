//! The order that a model predicts, beside the measured one.

use super::csv::number;
use super::labels::with_reasons;
use super::ranking::{device, with_devices};
use gpubench_analysis::rank::{PredictedRanking, Ranking};
use gpubench_document::{Column, Section, Sentence, Table, Unit};

/// Both orders, and what nothing is predicted of; without parts where no prediction was requested.
pub(super) fn section(ranking: &Ranking) -> Section {
    let section = Section::new("predicted", "Predicted order");
    let Some(prediction) = &ranking.prediction else { return section };
    let count = |n: usize| Sentence::new().value(n as f64, Unit::Count).text(" of ");
    let all = ranking.families[0].common.len() as u64;
    let [same, pairs] = prediction.pairs;
    section
        .text(
            "What a model makes of each kernel's counted instructions and memory traffic with the \
             costs in the devices' profiles. No parameter of it was fitted to any time of a case \
             ranked here.",
        )
        .fact("model", "model", prediction.model.name)
        .fact("cases", "over", count(prediction.common.len()).counted(all, "case"))
        .fact("reference", "speed 1", device(&ranking.devices[prediction.reference]))
        .fact(
            "pairs",
            "pairs of devices in the measured order",
            count(same).value(pairs as f64, Unit::Count),
        )
        .table(table(ranking, prediction))
        .section(not_predicted(ranking, prediction))
}

/// Devices and cases that nothing is predicted of.
fn not_predicted(ranking: &Ranking, prediction: &PredictedRanking) -> Section {
    let section = Section::new("unknown", "Not predicted").folded();
    with_reasons(with_devices(section, ranking, &prediction.unknown), &prediction.skipped)
}

/// Ranks and speeds, measured and predicted; dashes where nothing is predicted.
fn table(ranking: &Ranking, prediction: &PredictedRanking) -> Table {
    Table::of("predicted", "Measured and predicted", &prediction.rows)
        .column(Column::text("device", "device"), |row| device(&ranking.devices[row.device]))
        .column(Column::new("rank", "rank", Unit::Count), |row| {
            row.ranks.map(|[rank, _]| rank as u64)
        })
        .column(Column::new("predicted_rank", "predicted rank", Unit::Count), |row| {
            row.ranks.map(|[_, rank]| rank as u64)
        })
        .column(Column::new("speed", "speed", Unit::Relative), |row| row.measured)
        .column(Column::new("predicted_speed", "predicted speed", Unit::Relative), |row| {
            row.predicted
        })
        .table()
}

/// A device's cells of a spreadsheet: cases, then speed and rank as measured over them, then as predicted;
/// empty where nothing is predicted.
pub(super) fn spreadsheet(prediction: Option<&PredictedRanking>, device: usize) -> [String; 5] {
    let row = |prediction: &PredictedRanking| {
        prediction.rows.iter().find(|row| row.device == device).copied()
    };
    let Some((prediction, row)) =
        prediction.and_then(|prediction| Some((prediction, row(prediction)?)))
    else {
        return Default::default();
    };
    let rank = |at: usize| row.ranks.map_or_else(String::new, |ranks| ranks[at].to_string());
    [
        prediction.common.len().to_string(),
        number(Some(row.measured)),
        rank(0),
        number(row.predicted),
        rank(1),
    ]
}
