use super::*;
use crate::compare::{Options, compare};
use crate::{collect, result_matrix};
use gpubench_core::record::Mismatch;
use gpubench_core::record::sample::{device, header, key, outcome, record};

fn round(round: u32, record: Record) -> Record {
    Record { round, ..record }
}

/// Rounds of one case with these outcomes; those that are right took a second.
fn rounds(outcomes: &[Outcome]) -> Vec<Record> {
    let one = |(n, ended): (usize, &Outcome)| match ended {
        Outcome::Ok => round(n as u32, record(key("a", 1), 1.0)),
        other => round(n as u32, outcome(key("a", 1), other.clone())),
    };
    outcomes.iter().enumerate().map(one).collect()
}

fn timeout() -> Outcome {
    Outcome::Timeout("launch".into())
}

fn crash() -> Outcome {
    Outcome::Crash { how: "killed by SIGSEGV".into(), stderr: vec![] }
}

fn wrong() -> Outcome {
    Outcome::Unverified(Mismatch {
        buffer: "out".into(),
        index: 0,
        found: "1".into(),
        expected: "2".into(),
        wrong: 1,
        of: 1,
        when: "first launch".into(),
    })
}

#[test]
fn a_case_is_described_by_a_round_that_was_measured() {
    let skipped = Outcome::Skipped("no time".to_owned().into());
    let records = rounds(&[skipped.clone(), timeout(), Outcome::Ok]);
    let described = |records: &[Record]| aggregate(records)[0].described_by().round;
    assert_eq!(described(&[records[0].clone(), records[2].clone()]), 2);
    assert_eq!(described(&records[..2]), 1);
    assert_eq!(described(&records[..1]), 0);
}

#[test]
fn rounds_make_one_case() {
    let records = [record(key("a", 1), 1.0), round(1, record(key("a", 1), 4.0))];
    let cases = aggregate(&records);
    let [case] = cases.as_slice() else { panic!("{cases:?}") };
    let value = case.time.expect("measured").value;
    assert!((value - 2.0).abs() < 1e-9, "geometric mean of 1 and 4, not {value}");
    assert_eq!(case.rate, Some(Rate::Flops(1e6 / value)));
    assert_eq!((case.failed, case.exclusion, case.rounds().count()), ((0, 2), None, 2));
}

#[test]
fn cases_come_by_key_then_device_and_a_run_s_devices_may_be_renumbered() {
    let on = |device, key| Record { device, ..record(key, 1.0) };
    let records = [on(1, key("b", 1)), on(1, key("a", 1)), on(0, key("b", 1))];
    let places = |cases: &[Aggregate]| -> Vec<(String, usize)> {
        cases.iter().map(|case| (case.key.workload.clone(), case.device)).collect()
    };
    let place = |name: &str, device| (name.to_owned(), device);
    assert_eq!(places(&aggregate(&records)), [place("a", 1), place("b", 0), place("b", 1)]);
    let renumbered = aggregate_numbered(records.iter().map(|record| (7, record)));
    assert_eq!(places(&renumbered), [place("a", 7), place("b", 7)]);
}

#[test]
fn the_worst_round_s_outcome_is_the_case_s_in_whatever_order_they_came() {
    let from_best_to_worst = [
        Outcome::Skipped("budget".into()),
        Outcome::Unsupported("no such type".into()),
        Outcome::Ok,
        Outcome::Unchecked,
        Outcome::BuildError("log".into()),
        Outcome::OutOfMemory("1 GiB".into()),
        Outcome::Failed("error -5".into()),
        timeout(),
        crash(),
        Outcome::DeviceLost("gone".into()),
        wrong(),
    ];
    for (n, worse) in from_best_to_worst.iter().enumerate() {
        for better in &from_best_to_worst[..=n] {
            for both in [[better.clone(), worse.clone()], [worse.clone(), better.clone()]] {
                let records = rounds(&both);
                assert_eq!(aggregate(&records)[0].outcome, worse, "{both:?}");
            }
        }
    }
}

#[test]
fn a_failed_round_takes_the_value_and_a_skipped_one_does_not() {
    let records = rounds(&[Outcome::Ok, Outcome::Skipped("budget".into()), Outcome::Ok]);
    let case = &aggregate(&records)[0];
    assert!(case.time.is_some() && case.outcome.is_ok() && case.exclusion.is_none());
    assert_eq!((case.failed, case.rounds().count()), ((0, 2), 2));

    let records = rounds(&[Outcome::Ok, timeout(), Outcome::Skipped("budget".into())]);
    let case = &aggregate(&records)[0];
    assert_eq!((case.time, case.rate, case.rounds().count()), (None, None, 0));
    assert_eq!((case.failed, case.exclusion), ((1, 2), Some("timeout")));

    let records = rounds(&[Outcome::Skipped("budget".into())]);
    assert!(aggregate(&records)[0].is_skipped() && aggregate(&records)[0].failed == (0, 0));
}

#[test]
fn what_cannot_be_believed_or_resolved_has_no_value() {
    let flag = Flag::Implausible("above the roof".into());
    let doubted = Record { flags: vec![flag.clone(), Flag::Cache], ..record(key("a", 1), 1.0) };
    let records = [doubted.clone(), round(1, doubted)];
    let case = &aggregate(&records)[0];
    assert_eq!((case.time, case.exclusion), (None, Some("implausible")));
    assert_eq!(case.flags, [&flag, &Flag::Cache], "each once");

    let records = [record(key("a", 1), 0.0)];
    assert_eq!(aggregate(&records)[0].exclusion, Some("no usable time"));
    let records = [outcome(key("a", 1), Outcome::Ok)];
    assert_eq!(aggregate(&records)[0].exclusion, Some("not measured"));
    let unchecked = Record { outcome: Outcome::Unchecked, ..record(key("a", 1), 1.0) };
    let records = [record(key("a", 1), 1.0), round(1, unchecked)];
    let case = &aggregate(&records)[0];
    assert!(case.time.is_some(), "an unchecked figure is shown");
    assert_eq!(case.exclusion, Some("unchecked"), "and never ranked");
}

#[test]
fn ranking_and_comparison_say_what_tables_do() {
    let header = header(vec![device("opencl")]);
    let usual = [record(key("a", 1), 1.0), round(1, record(key("a", 1), 1.0))];
    let before = collect(&header, &usual).remove(0);
    for both in [[timeout(), crash()], [crash(), timeout()]] {
        let mut records = rounds(&both);
        assert_eq!(aggregate(&records)[0].outcome, &crash());
        assert_eq!(aggregate(&records)[0].failed, (2, 2));

        let matrix = result_matrix([(&header, &records[..])]);
        assert_eq!(matrix.cell(0, 0).unwrap_err(), "crash");
        let runs = records.iter().map(|record| (&header, std::slice::from_ref(record)));
        assert_eq!(result_matrix(runs).cell(0, 0).unwrap_err(), "crash", "as two runs");

        let now = collect(&header, &records).remove(0);
        assert_eq!(now.cases[&key("a", 1)].outcome, crash());
        let comparison = compare(&before, &now, &Options::default());
        let [skipped] = &comparison.skipped[..] else { panic!("one case") };
        assert_eq!(
            (&skipped.key, skipped.exclusion, skipped.reason.as_str()),
            (&key("a", 1), crate::Exclusion::Unverified, "crash in the new run")
        );

        records.push(round(2, record(key("a", 1), 1.0)));
        assert_eq!(aggregate(&records)[0].outcome, &crash(), "a right round excuses nothing");
    }
}

#[test]
fn a_case_has_the_grade_of_its_worst_flag() {
    let with = |n: u32, flags: &[Flag]| Record {
        flags: flags.to_vec(),
        ..round(n, record(key("a", 1), 1.0))
    };
    let grade = |records: &[Record]| aggregate(records)[0].grade();
    let drift = Flag::Drift("12 % longer".into());
    assert_eq!(grade(&[with(0, &[])]), None);
    assert_eq!(grade(&[with(0, &[Flag::NotConverged, Flag::Cache])]), Some(Grade::Note));
    assert_eq!(grade(&[with(0, &[Flag::Cache, drift.clone()])]), Some(Grade::Warning));
    let impossible = Flag::Implausible("above the roof".into());
    assert_eq!(grade(&[with(0, &[drift.clone(), impossible])]), Some(Grade::Hidden));
    assert_eq!(grade(&rounds(&[wrong()])), Some(Grade::Hidden));
    assert_eq!(grade(&rounds(&[timeout()])), None);
    // One round of three that differs is in the interval; one of two is half of the figure.
    let [first, second] = [with(0, &[drift]), with(1, &[])];
    assert_eq!(grade(&[first.clone(), second.clone(), with(2, &[])]), Some(Grade::Note));
    assert_eq!(grade(&[first, second]), Some(Grade::Warning));
}

#[test]
fn the_other_cases_of_a_device_decide_how_wide_an_interval_is() {
    let two = |name: &str, by: f64| {
        [0, 1].map(|n| round(n, record(key(name, 1), 1.0 + by * f64::from(n))))
    };
    let alone = two("a", 0.01).to_vec();
    let mut among = alone.clone();
    among.extend((0..20).flat_map(|i| two(&format!("other {i}"), 0.2)));
    let interval = |records: &[Record]| aggregate(records)[0].time.expect("measured").interval;
    let width = |[low, high]: [f64; 2]| high - low;
    // Two rounds alone have t(1) = 12.7 standard errors.
    assert!(width(interval(&alone)) != width(interval(&among)));
}

#[test]
fn only_what_did_not_run_is_skipped() {
    let skipped = |outcomes: &[Outcome]| aggregate(&rounds(outcomes))[0].is_skipped();
    assert!(skipped(&[Outcome::Skipped("budget".into())]));
    assert!(!skipped(&[Outcome::Ok]) && !skipped(&[crash()]));
}

/// Of three rounds two that warn make a case doubtful, and one a note.
#[test]
fn half_of_the_rounds_must_warn() {
    let of = |warned: usize| {
        let mut records = rounds(&[Outcome::Ok, Outcome::Ok, Outcome::Ok]);
        for record in &mut records[..warned] {
            record.flags = vec![Flag::Drift("by 5 %".into())];
        }
        let cases = aggregate(&records);
        (cases[0].is_doubtful(), cases[0].grade())
    };
    assert_eq!(of(2), (true, Some(Grade::Warning)));
    assert_eq!(of(1), (false, Some(Grade::Note)));
    assert_eq!(of(0), (false, None));
    assert!(!Tally::default().is_doubtful());
}
