use super::*;
use gpubench_core::record::sample::{key, record};
use gpubench_core::workload::Kind;

fn speed(compute: f64, memory: Option<f64>) -> DeviceSpeed {
    let reading = |seconds| Reading { seconds, error: 1e-3, rounds: 9, spread: 1.0 };
    DeviceSpeed { compute: Some(reading(compute)), memory: memory.map(reading) }
}

fn change(compute: f64, memory: Option<f64>, new_driver: bool) -> SpeedChange {
    let old = speed(1.0, memory.map(|_| 1.0));
    SpeedChange::between(&old, &speed(compute, memory), 0.01, new_driver)
}

const DIFFERENCE: Difference = Difference {
    difference: 0.0,
    error: 0.01,
    freedom: 4.0,
    scatter: 0.01,
    rounds: [3.0; 2],
    paired: false,
};

fn range(correction: Correction) -> [f64; 2] {
    correction.explained().map(f64::exp)
}

#[test]
fn a_speed_is_that_of_its_rounds() {
    let of = |round, after: f64| {
        let mut record = record(key("a", 1), 1.0);
        record.round = round;
        record.monitor.reference_kernel = Some([9.0, after]);
        record
    };
    let records = [of(0, 1.0), of(1, 2.0), of(2, 1.0)];
    let reading = DeviceSpeed::of(&records).compute.unwrap();
    assert!((reading.seconds - 2f64.powf(1.0 / 3.0)).abs() < 1e-12);
    assert!((reading.spread - 2.0).abs() < 1e-12);
    // The standard deviation of 0, ln 2 and 0 over the root of three.
    assert!((reading.error - 2f64.ln() / 3.0).abs() < 1e-12, "{}", reading.error);
    assert_eq!((DeviceSpeed::of(&records).memory, DeviceSpeed::of(&[]).spread()), (None, 1.0));
}

#[test]
fn what_does_not_differ_explains_nothing() {
    let same = change(1.003, Some(0.998), false);
    assert!(
        !same.differs()
            && same.explains(&key("a", 1), "compute", &DIFFERENCE) == Correction::default()
    );
    let noisy = DeviceSpeed {
        compute: Some(Reading { seconds: 1.05, error: 0.03, rounds: 9, spread: 1.1 }),
        memory: None,
    };
    let old = speed(1.0, None);
    assert!(!SpeedChange::between(&old, &noisy, 0.01, false).differs(), "within its scatter");
}

#[test]
fn a_kernel_lies_between_arithmetic_and_memory() {
    let both = change(1.94, Some(1.2), false);
    let [low, high] = range(both.explains(&key("a", 1), "memory", &DIFFERENCE));
    assert!((1.19..1.2).contains(&low) && (1.94..1.95).contains(&high), "{low} {high}");
    // Without a reading of memory only arithmetic follows.
    let one = change(1.94, None, false);
    let [low, high] = range(one.explains(&key("a", 1), "compute", &DIFFERENCE));
    assert!((1.93..1.94).contains(&low) && (1.94..1.95).contains(&high), "{low} {high}");
    let other = one.explains(&key("a", 1), "memory", &DIFFERENCE);
    assert_eq!(other.shift, 0.0);
    assert!(range(other)[1] > 1.94, "{other:?}");
}

#[test]
fn a_reading_that_does_not_differ_adds_no_doubt() {
    let reading = |seconds, error| Some(Reading { seconds, error, rounds: 9, spread: 1.0 });
    let of = |compute, memory| DeviceSpeed {
        compute: reading(compute, 1e-3),
        memory: reading(memory, 0.05),
    };
    let change = SpeedChange::between(&of(1.0, 1.0), &of(1.1, 1.1), 0.01, false);
    assert_eq!(change.memory.map(|memory| memory.differs), Some(false), "1.4 errors");
    let [low, high] = range(change.explains(&key("a", 1), "memory", &DIFFERENCE));
    assert!(low > 0.99 && high < 1.11, "from nothing to that of arithmetic: {low} {high}");
}

#[test]
fn nothing_is_taken_off_what_is_no_kernel_or_has_a_new_driver() {
    let copy = CaseKey { measure: Kind::new("other"), ..key("a", 1) };
    for correction in [
        change(1.5, Some(1.4), false).explains(&copy, "transfer", &DIFFERENCE),
        change(1.5, Some(1.4), true).explains(&key("a", 1), "compute", &DIFFERENCE),
    ] {
        let [low, high] = range(correction);
        assert!(correction.shift == 0.0 && high > 1.5, "{correction:?}");
        assert!((0.99..1.0).contains(&low), "a slower device makes nothing faster: {low}");
    }
}

#[test]
fn two_rounds_make_a_poor_error() {
    let of = |seconds, rounds| DeviceSpeed {
        compute: Some(Reading { seconds, error: 0.01, rounds, spread: 1.0 }),
        memory: None,
    };
    // 5 % is 3.4 joint errors: enough of many rounds, not of two each, where t is 4.3.
    for (rounds, differs) in [(9, true), (2, false)] {
        let change = SpeedChange::between(&of(1.0, rounds), &of(1.05, rounds), 0.01, false);
        assert_eq!(change.differs(), differs, "{rounds}");
    }
}

#[test]
fn readings_within_rounds_bound_the_error_and_rounds_the_spread() {
    let of = |round, after: f64| {
        let mut record = record(key("a", 1), 1.0);
        record.round = round;
        record.monitor.reference_kernel = Some([9.0, after.exp()]);
        record
    };
    // Two rounds whose medians agree: readings of -0.1, 0 and 0.1 have the variance 0.01, a third of it a round.
    let records: Vec<_> =
        [0, 1].iter().flat_map(|&n| [-0.1, 0.0, 0.1].map(|log| of(n, log))).collect();
    let reading = DeviceSpeed::of(&records).compute.unwrap();
    assert!((reading.error.powi(2) - 0.02 / 3.0 / 4.0).abs() < 1e-12, "{}", reading.error);
    assert_eq!(reading.rounds, 2);
    let apart = DeviceSpeed::of(&[of(0, 0.0), of(1, 0.5)]);
    assert!((apart.spread() - 0.5f64.exp()).abs() < 1e-9);
    // Of readings that scatter by 1 %, medians of three differ by 4.6 % in a thousandth of all cases.
    let thrice = |scatter: f64| {
        let round = |n, by: f64| [-scatter, 0.0, scatter].map(|log| of(n, log + by));
        DeviceSpeed::of(&[round(0, 0.0), round(1, 0.04)].concat()).spread()
    };
    assert_eq!(thrice(0.01), 1.0);
    assert!((1.035..0.04f64.exp()).contains(&thrice(0.001)), "{}", thrice(0.001));
}
