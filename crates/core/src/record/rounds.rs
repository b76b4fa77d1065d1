//! In how many rounds cases were measured, which time and failures make other than was planned.

use super::Record;
use crate::workload::CaseKey;
use std::collections::{BTreeMap, BTreeSet};

/// The fewest and the most rounds in which a case was measured on a device, of those that were at all; 0 where none was.
pub fn measured_rounds<'r>(records: impl IntoIterator<Item = &'r Record>) -> [u32; 2] {
    let mut by_case: BTreeMap<(usize, &CaseKey), BTreeSet<u32>> = BTreeMap::new();
    for record in records.into_iter().filter(|record| record.measured.is_some()) {
        by_case.entry((record.device, &record.key)).or_default().insert(record.round);
    }
    let counts = || by_case.values().map(|rounds| u32::try_from(rounds.len()).unwrap_or(u32::MAX));
    [counts().min().unwrap_or(0), counts().max().unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Outcome;
    use crate::record::sample::{key, record};

    #[test]
    fn rounds_are_counted_case_by_case_where_it_was_measured() {
        let round = |name: &str, round| Record { round, ..record(key(name, 64), 1e-3) };
        assert_eq!(measured_rounds(&[]), [0, 0]);
        let failed =
            Record { outcome: Outcome::Failed("gone".into()), measured: None, ..round("c", 0) };
        let all = [round("a", 1), round("a", 7), round("a", 9), round("b", 1), failed];
        assert_eq!(measured_rounds(&all), [1, 3]);
        let other = Record { device: 1, ..round("a", 1) };
        assert_eq!(measured_rounds(&[round("a", 1), other]), [1, 1]);
    }
}
