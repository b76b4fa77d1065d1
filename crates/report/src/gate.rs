//! What a gate says of a comparison: a line, and the rule by which each case has its verdict.

use super::comparison::Compared;
use gpubench_analysis::{Exclusion, Failure, Gate, Judgement, Row, Skipped, Verdict};
use gpubench_document::{Quantity, Sentence, Unit, number};

/// The outcome of comparisons at a gate.
pub fn evaluate(all: &[Compared], gate: &Gate) -> Judgement {
    gate.evaluate(all.iter().map(|compared| &compared.comparison))
}

/// `FAIL: 1 slower by more than 5.0 %, 2 unverified, 0 missing; 40 the same, …`.
pub fn line(judgement: &Judgement, gate: &Gate) -> String {
    let counts = &judgement.counts;
    let slower = match gate.slower {
        Some(allowed) if allowed > 0.0 => {
            format!("{} slower by more than {}", counts.too_slow, number(allowed, Unit::Fraction))
        }
        _ => format!("{} slower", counts.slower),
    };
    let others = counts.slower - counts.too_slow;
    let by_less = match gate.slower {
        Some(allowed) if allowed > 0.0 && others > 0 => format!("{others} slower by less, "),
        _ => String::new(),
    };
    format!(
        "{}: {slower}, {} unverified, {} missing; {by_less}{} the same, {} faster, {} unsure, {} new{}",
        if judgement.passes() { "PASS" } else { "FAIL" },
        counts.unverified,
        counts.missing,
        counts.same,
        counts.faster,
        counts.unsure,
        counts.new,
        match judgement.failures.contains(&Failure::NothingCompared) {
            true => "; no case could be compared",
            false => "",
        }
    )
}

/// What else than the tolerance a change may be too close to.
const MOVES_OF_CASES: &str = "to how far cases move within a run";

/// What would settle the cases that are unsure: how many rounds the first of them, and the last; nothing where none is.
pub fn settling(all: &[Compared]) -> Option<String> {
    let rows = || all.iter().flat_map(|compared| &compared.comparison.rows);
    let unsure = rows().filter(|row| matches!(row.verdict, Verdict::Unsure { .. })).count();
    let by_speed = rows().filter(|row| row.unsure_by_speed).count();
    let by_rounds = rows().filter(|row| !row.unsure_by_speed).filter_map(|row| match row.verdict {
        Verdict::Unsure { rounds } => rounds,
        _ => None,
    });
    let mut rounds: Vec<u32> = by_rounds.collect();
    rounds.sort_unstable();
    let mut said = vec![];
    if let (Some(first), Some(last)) = (rounds.first(), rounds.last()) {
        let enough = if first == last { last.to_string() } else { format!("{first} to {last}") };
        said.push(format!("{enough} rounds on either side would settle {}", rounds.len()));
    }
    if by_speed > 0 {
        said.push(format!("a run when the machine is quiet may settle {by_speed}"));
    }
    if unsure > rounds.len() + by_speed {
        let close = unsure - rounds.len() - by_speed;
        let or = "so close to the tolerance or";
        said.push(format!("no number of rounds settles {close}, {or} {MOVES_OF_CASES}"));
    }
    (unsure > 0).then(|| format!("Of {unsure} unsure: {}.", said.join("; ")))
}

/// Why a case has its verdict.
pub fn rule(row: &Row) -> String {
    let tolerance = number(row.tolerance, Unit::Fraction);
    let ratio = Quantity::between(row.ratio, row.interval);
    let ratio = Sentence::new().quantity(ratio, Unit::Relative).text_with(Clone::clone);
    let speed = row.speed.map_or_else(String::new, |[low, high]| {
        let explained = Sentence::new().value(low, Unit::Relative).text(" to ");
        let explained = explained.value(high, Unit::Relative).text_with(Clone::clone);
        format!("; the device's speed, which explains {explained}, is taken off")
    });
    let why = match row.verdict {
        Verdict::Slower | Verdict::Faster => {
            format!("the change exceeds the tolerance of {tolerance}, and noise hardly explains it")
        }
        Verdict::Same => format!("the 95 % interval lies within the tolerance of {tolerance}"),
        Verdict::Unsure { .. } if row.unsure_by_speed => {
            "what the device's speed explains of the change is not known well enough".to_owned()
        }
        Verdict::Unsure { rounds: Some(rounds) } => {
            format!("too few rounds; {rounds} on either side would settle it")
        }
        Verdict::Unsure { rounds: None } => {
            format!("it is too close to the tolerance of {tolerance} or {MOVES_OF_CASES}")
        }
    };
    format!("new over old is {ratio}: {why}{speed}")
}

/// In a word, what a case without a verdict lacks.
pub fn exclusion(skipped: &Skipped) -> &'static str {
    match skipped.exclusion {
        Exclusion::Unverified => "unverified",
        Exclusion::Missing => "missing",
        Exclusion::New => "new",
        Exclusion::Before => "unverified before",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_analysis::Counts;

    #[test]
    fn the_line_says_what_failed_and_how_many_there_are_of_each() {
        let counts = Counts { slower: 3, too_slow: 1, same: 40, missing: 2, ..Counts::default() };
        let failures = vec![Failure::Slower, Failure::Missing];
        let by = |share| Gate { slower: Some(share), ..Gate::default() };
        let judgement = Judgement { failures, counts };
        assert_eq!(
            line(&judgement, &by(0.05)),
            "FAIL: 1 slower by more than 5.0 %, 0 unverified, 2 missing; 2 slower by less, \
             40 the same, 0 faster, 0 unsure, 0 new"
        );
        let judgement = Judgement { failures: vec![], counts: Counts::default() };
        assert!(line(&judgement, &by(0.0)).starts_with("PASS: 0 slower, 0 unverified"));
    }
}
