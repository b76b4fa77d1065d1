//! What a ranking says in a sentence, what its families weigh, and how far it hangs on one of them.

use super::labels::capitalised;
use super::ranking::device;
use gpubench_analysis::rank::{Family, Ranking, Row, Without};
use gpubench_document::{Column, Section, Sentence, Table, Unit};

/// Slower devices that the sentence names, at most.
const MAX_NAMED: usize = 4;

/// `A and B tie; C is 2.60 × slower (2.10 to 3.20); over 18 of 40 cases, of 3 families.` `None` where there is nothing to
/// compare.
pub(super) fn verdict(ranking: &Ranking, overall: &Family) -> Option<Sentence> {
    let (first, others) = overall.rows.split_first().filter(|(_, others)| !others.is_empty())?;
    let name = |row: &Row| device(&ranking.devices[row.device]);
    // What stands behind a slower one does not tie with the first: its interval is wide.
    let tie = others.iter().position(|row| row.ranks[0] > 1).unwrap_or(others.len());
    let (ties, rest) = others.split_at(tie);
    let (open, behind): (Vec<&Row>, Vec<&Row>) = rest.iter().partition(|row| row.ranks[0] == 1);
    let sentence = match ties.split_last() {
        None => name(first).text(" is fastest"),
        Some((last, more)) => {
            let listed = std::iter::once(first).chain(more).map(name);
            Sentence::new().list(", ", listed).text(" and ").then(name(last)).text(" tie")
        }
    };
    let slower = |row: &&Row| {
        let sentence = name(row).text(" is ").value(first.speed / row.speed, Unit::Ratio);
        interval(sentence.text(" slower"), first, row, overall.reference)
    };
    let named = behind.iter().take(MAX_NAMED).map(slower);
    let sentence = if behind.is_empty() { sentence } else { sentence.text("; ").list(", ", named) };
    let sentence = match behind.len().saturating_sub(MAX_NAMED) {
        0 => sentence,
        more => {
            let last = behind.last().map_or(f64::NAN, |row| first.speed / row.speed);
            let sentence = sentence.text(", and ").counted(more as u64, "device");
            sentence.text(" more up to ").value(last, Unit::Ratio).text(" slower")
        }
    };
    let sentence = open.into_iter().fold(sentence, |sentence, row| {
        let [best, worst] = row.ranks.map(|rank| rank as f64);
        let sentence = sentence.text("; ").then(name(row)).text(" may have any rank from ");
        sentence.value(best, Unit::Count).text(" to ").value(worst, Unit::Count)
    });
    let sentence = sentence.text("; over ").value(overall.common.len() as f64, Unit::Count);
    let sentence = sentence.text(" of ").counted(overall.cases as u64, "case");
    Some(match overall.shares.len() {
        0 | 1 => sentence.text("."),
        families => sentence.text(", ").value(families as f64, Unit::Count).text(" families."),
    })
}

/// Adds the interval of how much slower a device is, where it says more than the ratio. It is known where the
/// first is what all are relative to.
fn interval(sentence: Sentence, first: &Row, row: &Row, reference: Option<usize>) -> Sentence {
    let [low, high] = [row.interval[1], row.interval[0]].map(|speed| first.speed / speed);
    if reference != Some(first.device) || high < 1.01 * low {
        return sentence;
    }
    let sentence = sentence.text(" (").value(low, Unit::None).text(" to ");
    sentence.value(high, Unit::None).text(")")
}

/// Whether the first stays first whichever family is left out, and how far devices move at most. `None`
/// where there is nothing to leave out.
pub(super) fn stability(ranking: &Ranking, overall: &Family) -> Option<Sentence> {
    let first = overall.rows.first().filter(|_| overall.rows.len() > 1)?.device;
    let others: Vec<Sentence> = overall
        .without
        .iter()
        .filter(|without| without.order.first() != Some(&first))
        .filter_map(|without| {
            let new = device(&ranking.devices[*without.order.first()?]);
            Some(new.text(" without ").name(capitalised(&without.family)))
        })
        .collect();
    let places = overall.without.iter().flat_map(|without| {
        let rows = overall.rows.iter().enumerate();
        rows.filter_map(|(place, row)| Some(place.abs_diff(place_of(row.device, &without.order)?)))
    });
    let farthest = places.max()?;
    let sentence = match (farthest, others.as_slice()) {
        (0, _) => return Some("Without any one family of cases the order is the same.".into()),
        (_, []) => device(&ranking.devices[first])
            .text(" stays first whichever family of cases is left out"),
        (_, others) => Sentence::from("First would be ").list(", ", others.iter().cloned()),
    };
    let places = sentence.text("; no device moves by more than ").counted(farthest as u64, "place");
    Some(places.text("."))
}

fn place_of(device: usize, order: &[usize]) -> Option<usize> {
    order.iter().position(|other| *other == device)
}

/// The families' shares, and each device's place without each of them.
pub(super) fn weights(ranking: &Ranking, overall: &Family) -> Section {
    let section = Section::new("weights", "What the order hangs on").folded();
    if overall.shares.len() < 2 || overall.rows.len() < 2 {
        return section;
    }
    let title = "Shares of the families";
    let shares = Table::of("weights", title, &overall.shares)
        .column(Column::text("family", "family"), |share| capitalised(&share.family))
        .column(Column::new("share", "share", Unit::Fraction), |share| share.share)
        .column(Column::new("cases", "cases", Unit::Count), |share| share.cases as u64)
        .table();
    section.table(shares).table(places(ranking, overall))
}

/// Each device's place, and the one that it would have without each family.
fn places(ranking: &Ranking, overall: &Family) -> Table {
    let title = "Places in the order, and those without each family";
    let without = |without: &&Without| {
        let heading = Sentence::from("without ").name(capitalised(&without.family));
        Column::new(&format!("without {}", without.family), heading, Unit::Count)
    };
    Table::of("without", title, overall.rows.iter().enumerate())
        .column(Column::names("device", "device"), |(_, row)| device(&ranking.devices[row.device]))
        .column(Column::new("place", "place", Unit::Count), |(place, _)| *place as u64 + 1)
        .columns(&overall.without, without, |(_, row), without| {
            place_of(row.device, &without.order).map(|place| place as u64 + 1)
        })
        .table()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sample;
    use gpubench_document::Cell;

    #[test]
    fn a_verdict_says_how_sure_it_is() {
        let mut ranking = Sample::new().ranking();
        let overall = &mut ranking.families[0];
        let first = Row { speed: 1.0, interval: [1.0; 2], ranks: [1, 2], ..overall.rows[0] };
        let slow = Row { speed: 0.5, interval: [0.4, 0.8], ranks: [2, 3], ..overall.rows[1] };
        let vague = Row { speed: 0.2, interval: [0.1, 2.0], ranks: [1, 3], ..overall.rows[1] };
        overall.reference = Some(first.device);
        overall.rows = vec![first, slow, vague];
        let said = |ranking: &Ranking| {
            verdict(ranking, &ranking.families[0]).unwrap().text_with(Clone::clone)
        };
        let text = said(&ranking);
        assert!(text.contains(" is fastest; "), "{text}");
        assert!(text.contains(" is 2.00 × slower (1.25 to 2.50); "), "{text}");
        assert!(text.contains(" may have any rank from 1 to 3; over "), "{text}");
        // Relative to another device, the first has an interval of its own.
        ranking.families[0].reference = Some(slow.device);
        assert!(said(&ranking).contains(" is 2.00 × slower; "), "{}", said(&ranking));
    }

    #[test]
    fn what_a_family_less_would_change_is_said() {
        let mut ranking = Sample::new().ranking();
        let said = |ranking: &Ranking| {
            stability(ranking, &ranking.families[0]).unwrap().text_with(Clone::clone)
        };
        assert_eq!(said(&ranking), "Without any one family of cases the order is the same.");
        ranking.families[0].without[0].order.reverse();
        let family = capitalised(&ranking.families[0].without[0].family);
        let text = said(&ranking);
        assert!(text.starts_with("First would be Another GPU · 1.0 · opencl without "), "{text}");
        assert!(text.ends_with(&format!("{family}; no device moves by more than 1 place.")));
        let places = weights(&ranking, &ranking.families[0]);
        let table = places.find_table("without").unwrap();
        assert_eq!(table.rows()[0][1..3], [Cell::Count(1), Cell::Count(2)]);
    }
}
