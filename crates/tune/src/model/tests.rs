//! The strategy as a whole, on invented spaces.

use super::*;
use crate::outcome::Interval;
use crate::{Kind, Recorded, replay, summarise};

fn space() -> Space {
    let names = ["block_size_x", "block_size_y", "tile_size_x", "flag"].map(String::from);
    let mut variants = vec![];
    for x in [16.0, 32.0, 48.0, 64.0, 128.0, 256.0] {
        for y in [1.0, 2.0, 4.0, 8.0] {
            for tile in [1.0, 2.0, 3.0, 4.0] {
                variants.extend([0.0, 1.0].map(|flag| vec![x, y, tile, flag]));
            }
        }
    }
    Space::new(names.into(), variants).unwrap()
}

fn recorded(time: impl Fn(&[f64]) -> Option<f64>) -> Recorded {
    let space = space();
    let outcome = |values: &Vec<f64>| match time(values) {
        Some(time) => Outcome::Measured(Interval { low: time, time, high: time }),
        None => Outcome::Failed,
    };
    let outcomes = space.variants().iter().map(outcome).collect();
    Recorded::new(space, outcomes).unwrap()
}

/// Best where no prior expects it: a small, uneven group and one output.
fn surprising(values: &[f64]) -> Option<f64> {
    let away = (values[0] / 48.0).ln().abs() + 0.5 * values[1].ln() + 0.3 * values[2].ln();
    Some((away + 0.5 * (1.0 - values[3])).exp())
}

#[test]
fn finds_a_best_that_the_prior_does_not_expect() {
    let recorded = recorded(surprising);
    let of = |kind| summarise(&recorded, kind, 30, 10).unwrap().mean_ratio;
    let (model, random) = (of(Kind::Model), of(Kind::Random));
    assert!(model < 1.05 && model < random, "{model} against {random}");
}

/// A variant that was too slow to be measured teaches as if it had been.
#[test]
fn what_one_launch_took_teaches() {
    let recorded = recorded(surprising);
    let search = |is_slow: bool| {
        let mut model = Model::new(recorded.space(), 3);
        (0..40)
            .map_while(|_| {
                let variant = model.ask()?;
                let outcome = recorded.outcomes()[variant];
                let slow = outcome.estimate().filter(|_| is_slow).map(Outcome::Slow);
                model.report(variant, &slow.unwrap_or(outcome));
                Some(variant)
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(search(true), search(false));
}

#[test]
fn failures_teach() {
    let fails = |values: &[f64]| if values[3] == 1.0 { None } else { surprising(values) };
    let recorded = recorded(fails);
    let mut model = Model::new(recorded.space(), 3);
    let tried = replay(&recorded, &mut model, 40).tried;
    let failed = tried.iter().filter(|one| recorded.outcomes()[**one] == Outcome::Failed).count();
    assert!(failed <= 13, "half of the space fails, and {failed} of 40 tries did");
}

#[test]
fn goes_on_where_everything_failed_and_ends_after_the_last() {
    let space = space();
    let mut model = Model::new(&space, 1);
    let mut asked = vec![];
    while let Some(variant) = model.ask() {
        model.report(variant, &Outcome::Failed);
        asked.push(variant);
    }
    asked.sort_unstable();
    assert_eq!(asked, (0..space.len()).collect::<Vec<_>>());
}

#[test]
fn values_of_any_size_make_a_search() {
    let next = |value: f64, steps: u64| f64::from_bits(value.to_bits() + steps);
    let values: [fn(u64) -> f64; 4] =
        [|i| i as f64 * 1e-12, |i| i as f64 * 1e307, |i| 1e9 + i as f64, |i| i as f64 * 1e-300];
    // The last of these have one logarithm, so that no feature is left.
    let same_logs: Vec<f64> = (0..12).map(|i| next(1e300, i)).collect();
    let all = values.map(|value| (0..12).map(value).collect::<Vec<f64>>());
    for values in all.into_iter().chain([same_logs]) {
        let variants = values.iter().map(|value| vec![*value]).collect();
        let space = Space::new(vec!["x".into()], variants).unwrap();
        let outcomes = (0..12).map(|i| {
            let time = 1.0 + f64::from(11 - i);
            Outcome::Measured(Interval { low: time, time, high: time })
        });
        let recorded = Recorded::new(space, outcomes.collect()).unwrap();
        let mut model = Model::new(recorded.space(), 1);
        assert_eq!(replay(&recorded, &mut model, 12).tried.len(), 12, "{values:?}");
    }
}

#[test]
fn a_resumed_search_does_not_repeat_what_was_reported() {
    let recorded = recorded(surprising);
    let mut first = Model::new(recorded.space(), 5);
    let before = replay(&recorded, &mut first, 20).tried;
    let mut second = Model::new(recorded.space(), 5);
    for variant in &before {
        second.report(*variant, &recorded.outcomes()[*variant]);
    }
    let after = replay(&recorded, &mut second, 20).tried;
    assert!(after.iter().all(|variant| !before.contains(variant)));
}

#[test]
fn the_expected_improvement_is_the_positive_part() {
    assert!((expected_improvement(0.0, 1.0) - 0.398_942).abs() < 1e-5);
    assert!((expected_improvement(3.0, 1e-6) - 3.0).abs() < 1e-9);
    assert!(expected_improvement(-1.0, 0.1) < 1e-20);
}

/// Names say nothing of `a`, and of 64 variants four are fast: where they are expected, all are found soon.
#[test]
fn what_is_expected_to_be_fast_is_tried_first() {
    let rows = (0..64).map(|a| vec![f64::from(a)]).collect();
    let space = Space::new(vec!["a".into()], rows).unwrap();
    let fast = [5, 22, 41, 57];
    let seconds = |variant: usize| if fast.contains(&variant) { 1.0 } else { 4.0 };
    let found = |mut model: Model| {
        let tried: Vec<usize> = (0..12)
            .filter_map(|_| {
                let variant = model.ask()?;
                let time = seconds(variant);
                model.report(variant, &Outcome::Measured(Interval { low: time, time, high: time }));
                Some(variant)
            })
            .collect();
        (fast.iter().filter(|fast| tried.contains(fast)).count(), tried)
    };
    let expecting =
        |seed, expected: &Expected| Model::expecting(&space, seed, Settings::default(), expected);
    let expected = Expected((0..64).map(|variant| Some(1e-3 * seconds(variant))).collect());
    for seed in 0..8 {
        let (count, tried) = found(expecting(seed, &expected));
        assert_eq!(count, 4, "seed {seed}: {tried:?}");
        let nothing = found(expecting(seed, &Expected::default()));
        assert_eq!(nothing, found(Model::new(&space, seed)), "seed {seed}");
        assert!(nothing.0 < 4, "seed {seed}: {nothing:?}");
    }
}
