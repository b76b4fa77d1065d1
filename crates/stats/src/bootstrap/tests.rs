use super::*;

const NONE: Noise = Noise { variance: 0.0, freedom: f64::INFINITY };

fn one(cases: usize) -> Stratum {
    Stratum { cases, share: 1.0 }
}

#[test]
fn strata_weigh_their_shares_however_many_cases_they_have() {
    let values = vec![vec![1.0; 30], [vec![0.0; 20], vec![4.0; 10]].concat()];
    let strata = [Stratum { cases: 20, share: 0.5 }, Stratum { cases: 10, share: 0.5 }];
    let replicates = Replicates::draw(&values, &strata, &[NONE; 2], 200, 1);
    let [one, other] = replicates.means() else { panic!("two devices") };
    assert!((one - 1.0).abs() < 1e-12 && (other - 2.0).abs() < 1e-12, "{one} {other}");
    // Within a stratum all cases agree, so that no draw differs.
    let [low, high] = replicates.interval(1, 0);
    assert!((low - 1.0).abs() < 1e-9 && (high - 1.0).abs() < 1e-9, "{low} {high}");
}

#[test]
fn equal_arguments_give_equal_draws() {
    let values = vec![vec![0.1, 0.5, 0.2, 0.9, 0.3], vec![0.2, 0.1, 0.4, 0.3, 0.2]];
    let draw = |seed| Replicates::draw(&values, &[one(5)], &[NONE; 2], 200, seed).interval(0, 1);
    assert_eq!(draw(3), draw(3));
    assert_ne!(draw(3), draw(4));
}

#[test]
fn a_device_that_always_wins_is_first_and_equal_ones_share_ranks() {
    let base: Vec<f64> = (0..20).map(|i| f64::from(i * 7 % 20)).collect();
    let better: Vec<f64> = base.iter().map(|x| x + 0.1).collect();
    let other: Vec<f64> =
        base.iter().enumerate().map(|(i, x)| x + if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let values = [base, better, other];
    let replicates = Replicates::draw(&values, &[one(20)], &[NONE; 3], 1000, 1);
    let ranks = replicates.ranks();
    assert_eq!(ranks[0], [2, 3]);
    assert_eq!(ranks[1], [1, 2]);
    assert_eq!(ranks[2], [1, 3]);
    let [low, high] = replicates.interval(1, 0);
    assert!((low - 0.1).abs() < 1e-9 && (high - 0.1).abs() < 1e-9);
}

#[test]
fn few_cases_are_taken_as_they_are() {
    let values = [vec![0.0, 3.0], vec![1.0, 4.0]];
    let noise = Noise { variance: 0.01, freedom: 4.0 };
    let replicates = Replicates::draw(&values, &[one(2)], &[noise; 2], 4000, 1);
    assert_eq!(replicates.level, Level::Rounds);
    let [low, high] = replicates.interval(1, 0);
    // 1 ± t(8) · √0.02, the two estimates of four degrees each taken together.
    assert!((low - 0.674).abs() < 0.02 && (high - 1.326).abs() < 0.02, "{low} {high}");
    assert_eq!(replicates.ranks(), [[2, 2], [1, 1]]);
}

#[test]
fn strata_of_single_cases_have_the_noise_of_their_rounds() {
    let values = [vec![0.0; 5], vec![1.0; 5]];
    let strata = [Stratum { cases: 1, share: 0.2 }; 5];
    let noise = Noise { variance: 0.01, freedom: f64::INFINITY };
    let replicates = Replicates::draw(&values, &strata, &[noise; 2], 4000, 1);
    assert_eq!(replicates.level, Level::Rounds);
    let [low, high] = replicates.interval(1, 0);
    // 1 ± 1.96 · √0.02.
    assert!((low - 0.723).abs() < 0.02 && (high - 1.277).abs() < 0.02, "{low} {high}");
}

#[test]
fn a_stratum_of_one_case_scatters_as_the_others_do() {
    let values = [vec![0.0; 11], [[0.5, 1.5].repeat(5), vec![1.0]].concat()];
    let width = |shares: [f64; 2]| {
        let [many, one] = shares;
        let strata = [Stratum { cases: 10, share: many }, Stratum { cases: 1, share: one }];
        let replicates = Replicates::draw(&values, &strata, &[NONE; 2], 20_000, 1);
        let [low, high] = replicates.interval(1, 0);
        (replicates.level, (high - low) / 2.0)
    };
    // Ten cases scatter by 0.527: 2.262 · 0.527 / √10. Of one case, ± 0.527 twice as often as not.
    let (level, alone) = width([1.0, 0.0]);
    assert!(level == Level::Cases && (alone - 0.377).abs() < 0.02, "{alone}");
    let (level, both) = width([0.5, 0.5]);
    assert!(level == Level::Cases && both > 0.5 * 0.527, "{both}");
    // What has no weight shows nothing.
    assert_eq!(width([0.0, 1.0]).0, Level::Rounds);
}

#[test]
fn a_weighted_sum_takes_every_value_with_its_weight() {
    let (values, weights) =
        ([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0], [2.0, 0.0, 1.0, 3.0, 0.0, 1.0, 5.0]);
    assert_eq!(weighted_sum(&values, &weights), 382.0);
    assert_eq!(weighted_sum(&[1.0; 8], &[1.0; 8]), 8.0);
}

#[test]
fn the_smaller_stratum_decides_the_degrees_of_freedom() {
    let of = |cases: [usize; 2]| Strata::of(&cases.map(|cases| Stratum { cases, share: 0.5 }));
    assert!((of([5, 5]).freedom() - 8.0).abs() < 1e-12);
    assert!((of([5, 500]).freedom() - 4.08).abs() < 0.01);
    // 0.8² / 5 = 0.128 and 0.2² / 5 = 0.008: 0.136² · 4 / (0.128² + 0.008²).
    let uneven = Strata::of(&[0.8, 0.2].map(|share| Stratum { cases: 5, share }));
    assert!((uneven.freedom() - 4.498).abs() < 1e-3, "{}", uneven.freedom());
    // Of one case the variance is the others'.
    assert!(
        (of([1, 11]).freedom() - 10.0 * (12.0 / 11f64).powi(2) / (1.0 + 1.0 / 121.0)).abs() < 1e-9
    );
    assert!(of([4, 1]).is_few() && !of([4, 2]).is_few());
}

#[test]
fn the_middle_leaves_a_fortieth_of_the_draws_on_either_side() {
    assert_eq!(middle(&[2, 96, 2], 100), [2, 2]);
    assert_eq!(middle(&[3, 95, 2], 100), [1, 2]);
    assert_eq!(middle(&[2, 95, 3], 100), [2, 3]);
}

#[test]
fn normal_deviates_are_normal() {
    let mut rng = Pcg64Mcg::seed_from_u64(11);
    let drawn: Vec<f64> = (0..100_000).map(|_| normal(&mut rng)).collect();
    let mean_of = |of: fn(f64) -> f64| drawn.iter().map(|x| of(*x)).sum::<f64>() / 1e5;
    assert!(mean_of(|x| x).abs() < 0.015 && (mean_of(|x| x * x) - 1.0).abs() < 0.02);
    // The fourth moment, and the share below −1.
    assert!((mean_of(|x| x.powi(4)) - 3.0).abs() < 0.15);
    assert!((mean_of(|x| f64::from(u8::from(x < -1.0))) - 0.1587).abs() < 0.005);
}

#[test]
fn ranks_are_those_of_the_stretched_draws() {
    // With one degree of freedom a draw is t(1) / 1.96 = 6.48 times too near the mean: 0.4 above 0 overtakes
    // 0.5 below 1, although it lies below it as drawn.
    let replicates = Replicates {
        level: Level::Cases,
        means: vec![0.0, 1.0],
        drawn: vec![vec![0.4; 100], vec![-0.5; 100]],
        noise: vec![NONE; 2],
        freedom: 1.0,
    };
    assert!((replicates.stretch(f64::INFINITY) - 12.7062 / 1.959_96).abs() < 1e-3);
    assert_eq!(replicates.ranks(), [[1, 1], [2, 2]]);
}
