//! The order that a model predicts, beside the measured one, for terminals and Markdown.

use super::grid::{Grid, escaped};
use super::ranking::{few, grouped, name, plain, speed};
use gpubench_analysis::rank::{PredictedRank, PredictedRanking, Ranking};
use gpubench_core::text::{counted, middle, printable, wrapped};
use std::fmt::Write;

/// What was predicted, in one line: the model, and over how many cases.
pub(super) fn heading(ranking: &Ranking, prediction: &PredictedRanking) -> String {
    let all = ranking.families[0].common.len();
    format!(
        "Predicted from profiles alone ({}): {} of {}",
        prediction.model.name(),
        prediction.common.len(),
        counted(all, "case")
    )
}

/// What its speeds are relative to, and how many pairs of devices it puts in order.
pub(super) fn explanation(ranking: &Ranking, prediction: &PredictedRanking) -> String {
    let reference = &ranking.devices[prediction.reference].info;
    let [same, pairs] = prediction.pairs;
    format!(
        "Speed 1: {} ({}), over those cases\nPairs of devices in the measured order: {same} of \
         {pairs}",
        middle(&printable(&reference.name, 200), 36),
        printable(&reference.backend, 12)
    )
}

/// Rank and predicted rank, speed and predicted speed; dashes where nothing is predicted.
pub(super) fn cells(row: &PredictedRank) -> [String; 4] {
    let dash = || "–".to_owned();
    [
        row.ranks.map_or_else(dash, |ranks| ranks[0].to_string()),
        row.ranks.map_or_else(dash, |ranks| ranks[1].to_string()),
        speed(row.measured),
        row.predicted.map_or_else(dash, speed),
    ]
}

fn table(ranking: &Ranking, prediction: &PredictedRanking, shown: &dyn Fn(&str) -> String) -> Grid {
    let headings = ["rank", "predicted", "device", "API", ">speed", ">predicted speed"];
    let mut grid = Grid::new(&headings);
    for row in &prediction.rows {
        let device = &ranking.devices[row.device];
        let [rank, predicted_rank, speed, predicted] = cells(row);
        let (name, api) = (shown(&name(device)), shown(&device.info.backend));
        grid.row([rank, predicted_rank, name, api, speed, predicted]);
    }
    grid
}

/// Devices and cases that nothing is predicted of, one line a reason.
fn not_predicted(
    ranking: &Ranking,
    prediction: &PredictedRanking,
    shown: &dyn Fn(&str) -> String,
) -> Vec<String> {
    let devices = prediction.unknown.iter().map(|(device, why)| {
        let info = &ranking.devices[*device].info;
        let name = shown(&printable(&info.name, 40));
        format!("not predicted: {name} ({}): {}", shown(&info.backend), shown(&printable(why, 200)))
    });
    let cases = grouped(&prediction.skipped).into_iter().map(|(why, keys)| {
        let (why, names) = (shown(&printable(why, 200)), shown(&few(&keys)));
        format!("not predicted: {} × {names}: {why}", keys.len())
    });
    devices.chain(cases).collect()
}

/// For a terminal of `width` columns.
pub(super) fn text(ranking: &Ranking, width: u16) -> String {
    let Some(prediction) = &ranking.prediction else { return String::new() };
    let mut out = format!(
        "{}\n{}\n{}",
        heading(ranking, prediction),
        explanation(ranking, prediction),
        table(ranking, prediction, &plain).text(width)
    );
    for line in not_predicted(ranking, prediction, &|text| text.to_owned()) {
        let _ = writeln!(out, "{}", wrapped(&line, usize::from(width)));
    }
    out + "\n"
}

/// For Markdown.
pub(super) fn markdown(ranking: &Ranking) -> String {
    let Some(prediction) = &ranking.prediction else { return String::new() };
    let mut out = format!(
        "### {}\n\n{}\n\n{}\n",
        heading(ranking, prediction),
        escaped(&explanation(ranking, prediction).replace('\n', ". ")),
        table(ranking, prediction, &str::to_owned).markdown()
    );
    for line in not_predicted(ranking, prediction, &escaped) {
        let _ = writeln!(out, "- {line}");
    }
    out + "\n"
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
    let number = |x: Option<f64>| super::csv::number(x);
    [
        prediction.common.len().to_string(),
        number(Some(row.measured)),
        rank(0),
        number(row.predicted),
        rank(1),
    ]
}
