//! Where the prices of the model of variants come from: non-negative least squares of relative errors, sought again.

use super::counting::count;
use super::kernels::{CONVOLUTION, DEDISPERSION, Workload};
use crate::cmd::tune::recorded;
use gpubench_analysis::fit::DataSheet;
use gpubench_model::variant::TERM_COUNT;
use std::path::{Path, PathBuf};

type Terms = [f64; TERM_COUNT];

fn data(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(path)
}

fn sheet(card: &str) -> DataSheet {
    let text = std::fs::read_to_string(data(&format!("sheets/{card}.yaml"))).unwrap();
    DataSheet::parse(card, &text).unwrap()
}

/// For every variant of a recorded space the seconds of each term at a price of 1, over what the variant took.
struct Shares(Vec<Terms>);

impl Shares {
    fn of(workload: &Workload, space: &str, card: &str) -> Self {
        let name = workload.name;
        let recorded = recorded::read(&data(&format!("spaces/{name}_{space}.csv.gz"))).unwrap();
        let (sheet, space) = (sheet(card), recorded.space());
        let counts = count(workload, space, sheet.rules()).unwrap();
        let shares = recorded.outcomes().iter().enumerate().filter_map(|(at, outcome)| {
            let seconds = outcome.time()?;
            let variant = workload.variant(&workload.values(space, at), &counts[at]);
            Some(sheet.sheet().unpriced(&variant).map(|term| term / seconds))
        });
        Self(shares.collect())
    }

    /// Whether any variant takes something of a term.
    fn take(&self, term: usize) -> bool {
        self.0.iter().any(|row| row[term] > 0.0)
    }
}

/// Prices not below 0 by which the sums of all rows come nearest to 1, each space with the same weight. Those of
/// `fixed` terms stay. Coordinate by coordinate.
fn nearest(spaces: &[&Shares], fixed: &[Option<f64>; TERM_COUNT]) -> Terms {
    let mut squares = [[0.0; TERM_COUNT]; TERM_COUNT];
    let mut sums = [0.0; TERM_COUNT];
    for space in spaces {
        let weight = 1.0 / space.0.len() as f64;
        for row in &space.0 {
            for i in 0..TERM_COUNT {
                sums[i] += weight * row[i];
                (0..TERM_COUNT).for_each(|j| squares[i][j] += weight * row[i] * row[j]);
            }
        }
    }
    let mut prices = fixed.map(Option::unwrap_or_default);
    for _ in 0..300_000 {
        for i in (0..TERM_COUNT).filter(|i| fixed[*i].is_none() && squares[*i][*i] > 0.0) {
            let others: f64 = (0..TERM_COUNT).map(|j| squares[i][j] * prices[j]).sum();
            let step = (sums[i] - others) / squares[i][i];
            prices[i] = (prices[i] + step).max(0.0);
        }
    }
    prices
}

#[test]
#[ignore = "minutes: counts the variants of five spaces"]
fn prices_are_what_least_squares_find() {
    let both = |convolution: &Shares, card: &str| {
        let dedispersion = Shares::of(&DEDISPERSION, card, card);
        nearest(&[convolution, &dedispersion], &[None; TERM_COUNT])
    };
    let predicated = both(&Shares::of(&CONVOLUTION, "a100_one_clock", "a100"), "a100");
    let convolution = Shares::of(&CONVOLUTION, "mi250x", "mi250x");
    let branched = both(&convolution, "mi250x");
    // Branching warps of 32 have prices of their own for what only the dedispersion pays.
    let fixed = std::array::from_fn(|i| convolution.take(i).then_some(branched[i]));
    let narrow = nearest(&[&Shares::of(&DEDISPERSION, "w6600", "w6600")], &fixed);
    let mut wrong = String::new();
    for (card, sought) in [("a100", predicated), ("mi250x", branched), ("w6600", narrow)] {
        let shipped = sheet(card).sheet().prices();
        for (i, (sought, shipped)) in sought.into_iter().zip(shipped).enumerate() {
            // Three digits are shipped, by which a price is off by 0.5 % at most.
            if !sought.is_finite() || (sought - shipped).abs() > 0.006 * shipped + 1e-6 {
                wrong +=
                    &format!("{card}: term {i} is sought at {sought:.3e}, shipped {shipped}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
