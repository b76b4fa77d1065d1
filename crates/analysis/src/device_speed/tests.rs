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

/// Readings of a round, as logarithms.
fn readings(round: u32, logs: &[f64]) -> Vec<Record> {
    let of = |log: &f64| {
        let mut record = record(key("a", 1), 1.0);
        record.round = round;
        record.monitor.reference_kernel = Some([9.0, log.exp()]);
        record
    };
    logs.iter().map(of).collect()
}

fn near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-6 * wanted.abs().max(1e-3), "{found} is not {wanted}");
}

#[test]
fn a_reading_is_apart_by_what_its_error_leaves() {
    let reading = Reading { seconds: 2.0, error: 0.1, rounds: 5, spread: 1.0 };
    // ln 2 less three errors, either way.
    near(reading.factor_from(1.0), 2.0 * (-0.3f64).exp());
    near(reading.factor_from(4.0), 2.0 * (-0.3f64).exp());
    assert_eq!(reading.factor_from(1.9), 1.0);
}

#[test]
fn three_rounds_and_one_reading_have_the_error_that_they_show() {
    let alike: Vec<_> = (0..3).flat_map(|n| readings(n, &[-0.1, 0.0, 0.1])).collect();
    // Variances of 0.01, a third of it each round, over three squared.
    near(DeviceSpeed::of(&alike).compute.unwrap().error, (0.01f64 / 9.0).sqrt());
    let single = DeviceSpeed::of(&readings(0, &[0.5])).compute.unwrap();
    assert_eq!((single.error, single.spread, single.rounds), (0.0, 1.0, 1));
    let apart = [readings(0, &[1.0]), readings(1, &[1.5])].concat();
    near(DeviceSpeed::of(&apart).spread(), 0.5f64.exp());
    // The scatter is that of rounds which have several: 0.01 explains 0.079 between single readings.
    let mixed = [readings(0, &[-0.01, 0.0, 0.01]), readings(1, &[0.04])].concat();
    assert_eq!(DeviceSpeed::of(&mixed).spread(), 1.0);
}

#[test]
fn a_change_is_a_ratio_beyond_its_scatter() {
    let of = |seconds, error, rounds| DeviceSpeed {
        compute: Some(Reading { seconds, error, rounds, spread: 1.0 }),
        memory: None,
    };
    let change =
        |old, new, tolerance| SpeedChange::between(&old, &new, tolerance, false).compute.unwrap();
    let found = change(of(2.0, 0.01, 3), of(3.0, 0.01, 2), 0.01);
    near(found.ratio, 1.5);
    near(found.error, 0.01 * 2f64.sqrt());
    // Student's t of three degrees of freedom.
    near(found.scatter, 3.182_446 * 0.01 * 2f64.sqrt());
    // Of one round each nothing is known but the readings' own scatter.
    near(change(of(2.0, 0.01, 1), of(3.0, 0.01, 1), 0.01).scatter, 3.0 * 0.01 * 2f64.sqrt());
    assert!(!change(of(2.0, 0.0, 3), of(2.0, 0.0, 3), 0.0).differs, "nothing at all");
}

#[test]
fn the_machine_did_what_lies_between_its_readings() {
    let of = |ratio: f64, scatter| Change {
        old: 1.0,
        new: ratio,
        ratio,
        error: 0.0,
        scatter,
        differs: true,
    };
    let [slow, slower] = [of(0.1f64.exp(), 0.02), of(0.3f64.exp(), 0.05)];
    let allowed =
        |compute, memory| SpeedChange { compute, memory, ..SpeedChange::default() }.allowed();
    let [low, high] = allowed(Some(slow), Some(slower)).unwrap();
    near(low, 0.08);
    near(high, 0.35);
    // Where one was read, the other may have stayed.
    for alone in [allowed(Some(slower), None), allowed(None, Some(slower))] {
        let [low, high] = alone.unwrap();
        assert_eq!(low, 0.0);
        near(high, 0.35);
    }
    assert_eq!(allowed(None, None), None);
}

/// Cases that differ by so much each, known to a thousandth.
fn learnt(change: &mut SpeedChange, by: &[f64]) {
    let one = |by: &f64| ("compute", Difference { difference: *by, error: 1e-3, ..DIFFERENCE });
    change.learn(by.iter().map(one));
}

#[test]
fn a_family_is_contradicted_where_the_speed_changed_and_enough_cases_did_not_follow() {
    let contradicted = |ratio: f64, by: &[f64]| {
        let mut change = change(ratio, Some(ratio), false);
        learnt(&mut change, by);
        assert!(change.common.is_empty(), "{change:?}");
        !change.contradicted.is_empty()
    };
    assert!(contradicted(1.2, &[-0.1; 6]));
    assert!(!contradicted(1.2, &[-0.1; 4]), "too few");
    assert!(!contradicted(1.0, &[-0.1; 6]), "no speed changed");
}

#[test]
fn what_cases_have_in_common_is_kept_where_it_says_more_than_noise() {
    let common = |by: &[f64]| {
        let mut change = change(1.0, Some(1.0), false);
        learnt(&mut change, by);
        change.common.get("compute").copied()
    };
    assert_eq!(common(&[0.0; 6]), None, "all alike and no shift");
    // No shift, but farther apart than their noise: that is left in doubt, on either side.
    let apart = common(&[-0.03, -0.02, -0.01, 0.0, 0.01, 0.02, 0.03]).unwrap();
    assert!(apart.excess > 1.0 && (apart.ratio, apart.error) == (1.0, 0.0), "{apart:?}");
    assert!(!apart.is_significant());
    let mut change = change(1.0, Some(1.0), false);
    learnt(&mut change, &[-0.03, -0.02, -0.01, 0.0, 0.01, 0.02, 0.03]);
    let Correction { shift, doubt } = change.explains(&key("a", 1), "compute", &DIFFERENCE);
    assert_eq!((shift, doubt[0]), (0.0, -doubt[1]));
    assert!(doubt[1] > 0.0);
}

#[test]
fn where_memory_alone_was_read_what_is_about_memory_follows() {
    let at = |seconds| DeviceSpeed { compute: None, memory: speed(seconds, None).compute };
    let change = SpeedChange::between(&at(1.0), &at(1.5), 0.01, false);
    let shift = |family| change.explains(&key("a", 1), family, &DIFFERENCE).shift;
    near(shift("memory"), 1.5f64.ln());
    assert_eq!(shift("compute"), 0.0);
}
