use super::*;
use crate::device_speed::{DeviceSpeed, Reading};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::Outcome;
use gpubench_core::record::sample::{device, key};

fn took(medians: &[f64]) -> CaseResult {
    CaseResult {
        outcome: Outcome::Ok,
        medians: medians.to_vec(),
        rounds: (0..).take(medians.len()).collect(),
        family: "compute".into(),
        flops: 1.0,
        bytes: 1.0,
        kernel_hash: None,
        bounds_checks: None,
        flags: vec![],
        grade: None,
    }
}

#[test]
fn why_a_case_cannot_be_compared_is_reported_unchanged() {
    let usable = took(&[1.0, 1.1, 1.05]);
    let [apart, in_turn] = [false, true].map(|in_turn| {
        move |old: &CaseResult, new: &CaseResult| difference(old, new, in_turn).map(|_| ())
    });
    assert_eq!((apart(&usable, &usable), in_turn(&usable, &usable)), (Ok(()), Ok(())));
    let short = apart(&usable, &took(&[1.0])).unwrap_err();
    assert!(short.contains("has 3 and 1"), "{short}");
    let none = apart(&usable, &took(&[1.0, 0.0, 1.0])).unwrap_err();
    assert!(none.contains("no time"), "{none}");
    let other = CaseResult { rounds: vec![2, 3, 4], ..usable.clone() };
    assert_eq!(in_turn(&usable, &other).unwrap_err(), "needs two rounds that both have, has 1");
    assert_eq!(apart(&usable, &other), Ok(()));
}

/// The machine takes 1, 1.5, 0.7, 1.2 and 2 times as long from round to round, and one case of ten 1.08 times as long
/// as before. Rounds that the other run lacks say nothing.
#[test]
fn rounds_in_turn_are_compared_one_by_one() {
    let speeds = [1.0, 1.5, 0.7, 1.2, 2.0];
    let run = |slower: f64, first: usize, seed: usize| {
        let mut run = run_at(1.0, 1.0, "1");
        run.cases.retain(|key, _| key.size[0].1 <= 10);
        for (n, case) in run.cases.values_mut().enumerate() {
            let by = |round: usize| {
                let noise = 1.0 + 1e-3 * ((7 * n + 3 * round * seed) % 5) as f64;
                speeds[round] * noise * if n == 4 { slower } else { 1.0 }
            };
            (case.rounds, case.medians) = (first..5).map(|round| (round as u32, by(round))).unzip();
        }
        run
    };
    let compared = |in_turn, now: &DeviceCases| {
        compare(&run(1.0, 0, 1), now, &Options { in_turn, ..Options::default() })
    };
    let slower = |comparison: &Comparison| {
        let is_slower = |(_, row): &(usize, &Row)| row.verdict == Verdict::Slower;
        comparison.rows.iter().enumerate().filter(is_slower).map(|(n, _)| n).collect::<Vec<_>>()
    };
    let in_turn = compared(true, &run(1.08, 1, 2));
    assert_eq!(slower(&in_turn), [4]);
    let row = &in_turn.rows[4];
    assert!((row.ratio - 1.08).abs() < 5e-3 && row.interval[0] > 1.07, "{row:?}");
    assert!(slower(&compared(false, &run(1.08, 0, 2))).is_empty(), "rounds scatter too much");
    assert!(slower(&compared(true, &run(1.0, 0, 2))).is_empty());
}

fn run_at(compute_seconds: f64, case_seconds: f64, driver: &str) -> DeviceCases {
    let reading = Reading { seconds: compute_seconds, error: 1e-3, rounds: 5, spread: 1.0 };
    let medians = [0.999, 1.0, 1.001].map(|x| x * case_seconds);
    let case = |n| (key("a", n), CaseResult { family: "memory".into(), ..took(&medians) });
    DeviceCases {
        device: DeviceInfo { driver: driver.into(), ..device("opencl") },
        cases: (1..=40).map(case).collect(),
        speed: DeviceSpeed { compute: Some(reading), memory: None },
    }
}

#[test]
fn what_the_speed_leaves_in_doubt_does_not_average_out() {
    let options = Options::default();
    let compared = compare(&run_at(1.0, 1.0, "1"), &run_at(1.94, 1.0, "1"), &options);
    let ([low, high], mean) = (compared.mean_interval.unwrap(), compared.mean_ratio.unwrap());
    assert!((mean - 1.0).abs() < 1e-9 && low < 1.0 / 1.9 && high < 1.01, "{low} {high}");
}

/// The reference kernels may have been 8 % slower, the unchanged cases are 5 % slower, one that was changed 16 %.
#[test]
fn what_unchanged_kernels_have_in_common_is_the_machine() {
    let run = |reading: f64, factor: f64, changed: (&str, f64)| {
        let mut run = run_at(reading, factor, "1");
        run.speed.compute.iter_mut().for_each(|compute| compute.error = 0.02);
        for (n, case) in run.cases.values_mut().enumerate() {
            case.kernel_hash = Some(if n == 7 { changed.0 } else { "same" }.to_owned());
            if n == 7 {
                case.medians.iter_mut().for_each(|median| *median *= changed.1);
            }
        }
        run
    };
    let old = run(1.0, 1.0, ("old", 1.0));
    let compared = compare(&old, &run(1.03, 1.05, ("new", 1.1)), &Options::default());
    assert!(!compared.speed.differs() && compared.count(|v| *v == Verdict::Same) == 39);
    let slower = compared.rows.iter().find(|row| row.kernel_changed).unwrap();
    assert!((slower.ratio - 1.1).abs() < 1e-9 && slower.unexplained_ratio > 1.09, "{slower:?}");
    // The machine cannot have been 30 % slower.
    let compared = compare(&old, &run(1.03, 1.3, ("old", 1.0)), &Options::default());
    assert_eq!(compared.count(|verdict| *verdict == Verdict::Slower), 40);
    // Both kernels say 10 %, no case does: which of them is right nobody knows.
    let mut tight = run(1.1, 1.0, ("old", 1.0));
    tight.speed.compute.iter_mut().for_each(|compute| compute.error = 1e-3);
    tight.speed.memory = tight.speed.compute;
    let mut before = old.clone();
    before.speed.compute.iter_mut().for_each(|compute| compute.error = 1e-3);
    before.speed.memory = before.speed.compute;
    let compared = compare(&before, &tight, &Options::default());
    assert!(compared.speed.contradicted.contains("memory"));
    assert!(compared.rows.iter().all(|row| (row.ratio - 1.0).abs() < 1e-9));
    assert_eq!(compared.count(|verdict| *verdict == Verdict::Faster), 0);
}

#[test]
fn readings_of_other_rules_say_nothing_of_the_machine() {
    // Today's reference kernel takes five times as long; the cases do not.
    let (old, new) = (run_at(7.5e-6, 1.0, "1"), run_at(36.4e-6, 1.0, "1"));
    let same = |other_method| {
        let options = Options { other_method, ..Options::default() };
        compare(&old, &new, &options).count(|verdict| *verdict == Verdict::Same)
    };
    assert_eq!((same(false), same(true)), (0, 40));
}

#[test]
fn a_faster_device_explains_no_slower_case() {
    for driver in ["1", "2"] {
        let (old, new) = (run_at(1.0, 1.0, "1"), run_at(0.7, 1.3, driver));
        let compared = compare(&old, &new, &Options::default());
        let row = &compared.rows[0];
        assert_eq!(row.verdict, Verdict::Slower, "{driver}");
        assert!(row.unexplained_ratio > 1.29 && row.interval[1] > 1.8, "{row:?}");
    }
}

#[test]
fn of_what_a_new_driver_does_nothing_is_taken_off() {
    let options = Options::default();
    let compared = compare(&run_at(1.0, 1.0, "1"), &run_at(1.5, 1.5, "2"), &options);
    let row = &compared.rows[0];
    assert!((row.ratio - 1.5).abs() < 1e-9 && matches!(row.verdict, Verdict::Unsure { .. }));
    assert!((compared.mean_ratio.unwrap() - 1.5).abs() < 1e-9);
}

#[test]
fn a_changed_kernel_is_compared_and_reported() {
    let hashed =
        |hash: &str| CaseResult { kernel_hash: Some(hash.into()), ..took(&[1.0, 1.01, 0.99]) };
    let run = |hash: &str| DeviceCases {
        device: device("opencl"),
        cases: [(key("a", 1), hashed(hash))].into(),
        speed: DeviceSpeed::default(),
    };
    let changed = |new| compare(&run("x"), &run(new), &Options::default()).rows[0].kernel_changed;
    assert!(changed("y") && !changed("x"));
}

#[test]
fn a_doubt_on_either_side_keeps_a_case_from_being_the_same() {
    // -0.8 % with hardly any noise: 0.5 % of doubt reaches beyond a tolerance of 1 %.
    let medians = [1.0, 1.0 + 1e-6, 1.0 - 1e-6];
    let slightly = medians.map(|x| x * 0.992);
    let difference = difference(&took(&medians), &took(&slightly), false).unwrap();
    let logs = [medians, slightly].map(|run| run.map(f64::ln).to_vec());
    let shifts = LevelShifts::of(&[logs]);
    let found = significances(&[difference], &[false], &shifts)[0];
    assert_eq!(verdict(&found, 0.01, [0.0; 2]), Verdict::Same);
    assert_eq!(verdict(&found, 0.01, [0.0, 0.005]), Verdict::Unsure { rounds: None });
    assert_eq!(verdict(&found, 0.01, [-0.001, 0.0]), Verdict::Same);
}

/// A device that takes 1.5 times as long, and a case that takes 1.6 times as long.
#[test]
fn a_row_says_what_the_speed_explains_and_what_is_left() {
    let slower = compare(&run_at(1.0, 1.0, "1"), &run_at(1.5, 1.6, "1"), &Options::default());
    let row = &slower.rows[0];
    let [low, high] = row.speed.expect("the speed explains some of it");
    assert!(low < 1.5 && 1.5 < high, "{row:?}");
    assert!(!slower.in_turn && (row.ratio / row.unexplained_ratio).ln() >= 0.0, "{row:?}");
    let alike = compare(&run_at(1.0, 1.0, "1"), &run_at(1.0, 1.6, "1"), &Options::default());
    let row = &alike.rows[0];
    assert_eq!((row.speed, row.unsure_by_speed, row.unexplained_ratio), (None, false, row.ratio));
    let in_turn = Options { in_turn: true, ..Options::default() };
    assert!(compare(&run_at(1.0, 1.0, "1"), &run_at(1.0, 1.0, "1"), &in_turn).in_turn);
}

/// Where rounds would settle it in spite of the speed, their number is given; where only without, the speed is why.
#[test]
fn what_keeps_an_unsure_case_from_a_verdict_is_named() {
    let (some, none) = (Verdict::Unsure { rounds: Some(9) }, Verdict::Unsure { rounds: None });
    assert!(is_by_speed(none, some) && is_by_speed(none, Verdict::Same));
    assert!(!is_by_speed(none, none) && !is_by_speed(some, some));
    assert!(!is_by_speed(some, Verdict::Slower));
    assert!(!is_by_speed(Verdict::Slower, Verdict::Slower));
}

/// What remains is a factor below the ratio; that nothing is called is the speed's doing, and no noise.
#[test]
fn what_the_speed_may_explain_is_a_factor() {
    let (old, new) = (took(&[0.999, 1.0, 1.001]), took(&[1.198, 1.2, 1.202]));
    let difference = difference(&old, &new, false).unwrap();
    let name = key("a", 1);
    let of = |doubt| {
        let correction = Correction { shift: 0.0, doubt };
        let pair = Pair { key: &name, before: &old, now: &new, correction };
        row(&pair, &Significance::Alone(difference), &Options::default())
    };
    let [clear, doubtful] = [of([0.0; 2]), of([0.0, 0.3])];
    assert_eq!((clear.verdict, clear.unsure_by_speed), (Verdict::Slower, false));
    assert_eq!(
        (doubtful.verdict, doubtful.unsure_by_speed),
        (Verdict::Unsure { rounds: None }, true)
    );
    assert!((clear.unexplained_ratio - 1.2).abs() < 1e-3, "{clear:?}");
    assert!((doubtful.unexplained_ratio - 1.2 / 0.3f64.exp()).abs() < 1e-3, "{doubtful:?}");
    assert_eq!((clear.speed.is_some(), doubtful.speed.is_some()), (false, true));
}

#[test]
fn doubts_are_the_warnings_of_doubtful_sides_each_once() {
    let of = |grade, flags: &[Flag]| CaseResult { grade, flags: flags.to_vec(), ..took(&[1.0]) };
    let (warning, other, note) =
        (Flag::Drift("by 9 %".into()), Flag::Drift("by 5 %".into()), Flag::Cache);
    let old = of(Some(Grade::Warning), &[warning.clone(), note]);
    let new = of(Some(Grade::Warning), &[warning.clone(), other.clone()]);
    assert_eq!(doubts(&old, &new), [warning.clone(), other.clone()]);
    let calm = of(Some(Grade::Note), &[other]);
    assert_eq!(doubts(&old, &calm), [warning]);
}
