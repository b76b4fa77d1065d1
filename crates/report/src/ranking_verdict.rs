//! What a ranking says in a sentence, what its families weigh, and how far it hangs on one of them.

use super::labels::{capitalised, row_name};
use gpubench_analysis::rank::{Family, Ranking, Row};
use gpubench_document::{Cell, Column, Section, Sentence, Table, Unit};

/// Devices that the sentence names, at most.
const MAX_NAMED: usize = 8;

/// `A and B tie; C is 2.60 × slower; over 18 cases of 3 families.` `None` where there is nothing to compare.
pub(super) fn verdict(ranking: &Ranking, overall: &Family) -> Option<Sentence> {
    let (first, others) = overall.rows.split_first().filter(|(_, others)| !others.is_empty())?;
    let name = |row: &Row| row_name(&ranking.devices[row.device].info);
    let (ties, behind): (Vec<&Row>, Vec<&Row>) = others.iter().partition(|row| row.ranks[0] == 1);
    let sentence = match ties.split_last() {
        None => name(first).text(" is fastest"),
        Some((last, more)) => {
            let listed = std::iter::once(first).chain(more.iter().copied()).map(name);
            Sentence::new().list(", ", listed).text(" and ").then(name(last)).text(" tie")
        }
    };
    let slower = |row: &&Row| {
        name(row).text(" is ").value(first.speed / row.speed, Unit::Ratio).text(" slower")
    };
    let named = behind.iter().take(MAX_NAMED).map(slower);
    let sentence = if behind.is_empty() { sentence } else { sentence.text("; ").list(", ", named) };
    let sentence = match behind.len().saturating_sub(MAX_NAMED) {
        0 => sentence,
        more => sentence.text(", and ").counted(more as u64, "device").text(" more are behind"),
    };
    let sentence = sentence.text("; over ").counted(overall.common.len() as u64, "case");
    Some(match overall.shares.len() {
        0 | 1 => sentence.text("."),
        families => sentence.text(" of ").value(families as f64, Unit::Count).text(" families."),
    })
}

/// The families' shares, and the order without each of them.
pub(super) fn weights(ranking: &Ranking, overall: &Family) -> Section {
    let section = Section::new("weights", "What the order hangs on").folded();
    if overall.shares.len() < 2 || overall.rows.len() < 2 {
        return section;
    }
    let columns = [
        Column::text("family", "family"),
        Column::new("share", "share", Unit::Fraction),
        Column::new("cases", "cases", Unit::Count),
        Column::text("without", "without it"),
    ];
    let mut table =
        Table::new("weights", "Shares of the families, and the order without each", columns);
    for share in &overall.shares {
        let without = overall.without.iter().find(|without| without.family == share.family);
        table.row([
            capitalised(&share.family).into(),
            share.share.into(),
            (share.cases as u64).into(),
            without.map_or(Cell::Missing, |without| order(ranking, overall, &without.order).into()),
        ]);
    }
    section.table(table)
}

/// Which devices change their places, in the order of their new ones.
fn order(ranking: &Ranking, overall: &Family, order: &[usize]) -> Sentence {
    let place = |device: usize| overall.rows.iter().position(|row| row.device == device);
    let moved = order.iter().enumerate().filter(|(now, device)| place(**device) != Some(*now));
    let moved: Vec<Sentence> = moved
        .map(|(now, &device)| {
            let before = place(device).map_or(f64::NAN, |place| place as f64 + 1.0);
            let name = row_name(&ranking.devices[device].info).text(" ");
            name.value(before, Unit::Count).text(" → ").value(now as f64 + 1.0, Unit::Count)
        })
        .collect();
    let more = moved.len().saturating_sub(MAX_NAMED);
    let shown = moved.into_iter().take(MAX_NAMED);
    match (order.is_empty(), shown.len(), more) {
        (_, 0, _) => "the same order".into(),
        (_, _, 0) => Sentence::new().list(", ", shown),
        _ => Sentence::new()
            .list(", ", shown)
            .text(" and ")
            .value(more as f64, Unit::Count)
            .text(" more"),
    }
}
