//! The order that a model foresees, beside the measured one, for terminals and Markdown.

use super::grid::{Grid, escaped};
use super::ranking::{few, grouped, name, plain, speed};
use gpubench_analysis::rank::{Foreseen, Foresight, Ranking};
use gpubench_core::text::{counted, middle, printable, wrapped};
use std::fmt::Write;

/// What a foresight is, in one line: the model, and over how many cases.
pub(super) fn heading(ranking: &Ranking, foresight: &Foresight) -> String {
    let all = ranking.families[0].common.len();
    format!(
        "Foreseen from profiles alone ({}): {} of {}",
        foresight.model.name(),
        foresight.common.len(),
        counted(all, "case")
    )
}

/// What its speeds are relative to, and how many pairs of devices it puts in order.
pub(super) fn explanation(ranking: &Ranking, foresight: &Foresight) -> String {
    let reference = &ranking.devices[foresight.reference].info;
    let [same, pairs] = foresight.pairs;
    format!(
        "Speed 1: {} ({}), over those cases\nPairs of devices in the measured order: {same} of \
         {pairs}",
        middle(&printable(&reference.name, 200), 36),
        printable(&reference.backend, 12)
    )
}

/// Rank and foreseen rank, speed and foreseen speed; dashes where nothing is foreseen.
pub(super) fn cells(row: &Foreseen) -> [String; 4] {
    let dash = || "–".to_owned();
    [
        row.ranks.map_or_else(dash, |ranks| ranks[0].to_string()),
        row.ranks.map_or_else(dash, |ranks| ranks[1].to_string()),
        speed(row.measured),
        row.foreseen.map_or_else(dash, speed),
    ]
}

fn table(ranking: &Ranking, foresight: &Foresight, shown: &dyn Fn(&str) -> String) -> Grid {
    let headings = ["rank", "foreseen", "device", "API", ">speed", ">foreseen speed"];
    let mut grid = Grid::new(&headings);
    for row in &foresight.rows {
        let device = &ranking.devices[row.device];
        let [rank, foreseen_rank, speed, foreseen] = cells(row);
        let (name, api) = (shown(&name(device)), shown(&device.info.backend));
        grid.row([rank, foreseen_rank, name, api, speed, foreseen]);
    }
    grid
}

/// Devices and cases that nothing is foreseen of, one line a reason.
fn lacking(
    ranking: &Ranking,
    foresight: &Foresight,
    shown: &dyn Fn(&str) -> String,
) -> Vec<String> {
    let devices = foresight.unknown.iter().map(|(device, why)| {
        let info = &ranking.devices[*device].info;
        let name = shown(&printable(&info.name, 40));
        format!("not foreseen: {name} ({}): {}", shown(&info.backend), shown(&printable(why, 200)))
    });
    let cases = grouped(&foresight.left_out).into_iter().map(|(why, keys)| {
        let (why, names) = (shown(&printable(why, 200)), shown(&few(&keys)));
        format!("not foreseen: {} × {names}: {why}", keys.len())
    });
    devices.chain(cases).collect()
}

/// For a terminal of `width` columns.
pub(super) fn text(ranking: &Ranking, width: u16) -> String {
    let Some(foresight) = &ranking.foresight else { return String::new() };
    let mut out = format!(
        "{}\n{}\n{}",
        heading(ranking, foresight),
        explanation(ranking, foresight),
        table(ranking, foresight, &plain).text(width)
    );
    for line in lacking(ranking, foresight, &|text| text.to_owned()) {
        let _ = writeln!(out, "{}", wrapped(&line, usize::from(width)));
    }
    out + "\n"
}

/// For Markdown.
pub(super) fn markdown(ranking: &Ranking) -> String {
    let Some(foresight) = &ranking.foresight else { return String::new() };
    let mut out = format!(
        "### {}\n\n{}\n\n{}\n",
        heading(ranking, foresight),
        escaped(&explanation(ranking, foresight).replace('\n', ". ")),
        table(ranking, foresight, &str::to_owned).markdown()
    );
    for line in lacking(ranking, foresight, &escaped) {
        let _ = writeln!(out, "- {line}");
    }
    out + "\n"
}

/// A device's cells of a spreadsheet: cases, then speed and rank as measured over them, then as foreseen;
/// empty where nothing is foreseen.
pub(super) fn spreadsheet(foresight: Option<&Foresight>, device: usize) -> [String; 5] {
    let row = |told: &Foresight| told.rows.iter().find(|row| row.device == device).copied();
    let Some((told, row)) = foresight.and_then(|told| Some((told, row(told)?))) else {
        return Default::default();
    };
    let rank = |at: usize| row.ranks.map_or_else(String::new, |ranks| ranks[at].to_string());
    let number = |x: Option<f64>| super::csv::number(x);
    [
        told.common.len().to_string(),
        number(Some(row.measured)),
        rank(0),
        number(row.foreseen),
        rank(1),
    ]
}
