//! Every second row of a file held out: what a fit on the others predicts, against what was measured.

use super::percent;
use crate::store::read_csv::{Row, Table};
use gpubench_core::error::Result;
use gpubench_model::least_squares::Solution;
use serde::Serialize;
use std::collections::BTreeMap;

/// Errors over what a fit never saw, as fractions of what was measured.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Errors {
    /// The median error.
    pub median_error: f64,
    /// The largest error.
    pub max_error: f64,
}

impl Errors {
    /// Of errors in any order, at least one.
    pub(super) fn of(errors: impl IntoIterator<Item = f64>) -> Self {
        let mut errors: Vec<f64> = errors.into_iter().collect();
        errors.sort_unstable_by(f64::total_cmp);
        let middle = errors.len() / 2;
        let median = match errors.len() % 2 {
            0 => (errors[middle - 1] + errors[middle]) / 2.0,
            _ => errors[middle],
        };
        Self { median_error: median, max_error: errors[errors.len() - 1] }
    }

    /// In a sentence.
    pub(super) fn text(self) -> String {
        let [median, largest] = [self.median_error, self.max_error].map(|x| percent(x, 2));
        format!("median error {median}, largest {largest}")
    }
}

/// How far a prediction is off, as a fraction of what was measured.
pub(super) fn error(predicted: f64, measured: f64) -> f64 {
    (predicted / measured - 1.0).abs()
}

/// The 1st, 3rd, 5th … of `items`, and the others.
pub(super) fn every_second<T: Copy>(items: &[T]) -> (Vec<T>, Vec<T>) {
    let pick = |first: usize| items.iter().skip(first).step_by(2).copied().collect();
    (pick(0), pick(1))
}

/// Parameters by their names.
pub(super) fn named<'a>(names: &[&'a str], solution: &Solution) -> BTreeMap<&'a str, f64> {
    names.iter().copied().zip(solution.values.iter().map(|estimate| estimate.value)).collect()
}

/// All rows of a table.
///
/// # Errors
/// [`gpubench_core::error::Error::Suite`] with fewer rows than a fit of four parameters on every
/// second one needs, or where `read` finds a mistake.
pub(super) fn rows<'a, T>(
    table: &'a Table,
    column: &str,
    read: impl Fn(Row<'a>) -> Result<T>,
) -> Result<Vec<T>> {
    let rows = table.rows().map(read).collect::<Result<Vec<T>>>()?;
    match table.rows().last() {
        Some(last) if rows.len() < MIN_ROWS => {
            let message = format!("the last of {} rows, too few for a fit", rows.len());
            let help = format!("every second row is held out: {MIN_ROWS} rows at least");
            Err(last.diagnostic(column, &message, Some(&help)))
        }
        _ => Ok(rows),
    }
}

/// Of which every second one is five.
const MIN_ROWS: usize = 9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_even_and_odd_numbers_of_errors() {
        let two = Errors::of([0.3, 0.1]);
        assert!((two.median_error - 0.2).abs() < 1e-12 && two.max_error == 0.3);
        assert_eq!(Errors::of([0.3, 0.1, 0.2]).median_error, 0.2);
        assert_eq!(error(90.0, 100.0), 0.09999999999999998);
        assert_eq!(every_second(&[1, 2, 3]), (vec![1, 3], vec![2]));
    }
}
