use super::super::Concurrency as Kind;
use super::*;
use crate::concurrency::data::{Launched, Pair};
use crate::results::testing::{record_of, section_of_records, with_input};
use gpubench_core::gpu::Clock;
use gpubench_core::record::{NamedStep, Record, Timed, sample};
use gpubench_document::Cell;
use gpubench_model::occupancy::Unit as Held;
use gpubench_report::render::text;

fn timed_as(seconds: f64, steps: &[(f64, f64)]) -> Timed {
    let step = |&(started, ended): &(f64, f64)| {
        let name = "kernel".into();
        NamedStep { name, queue: 0, started, ended }
    };
    let walls = vec![seconds, seconds * 1.02, seconds * 1.05];
    Timed { walls, steps: steps.iter().map(step).collect() }
}

/// A kernel concurrent with each of these, all of which take 1 ms isolated: with the first they
/// run at once, with every other one after it.
fn concurrent(first: &str, seconds: &[&str]) -> Record {
    let launched = |name: &str| Launched {
        name: format!("{name} n=16"),
        groups: 12,
        group_size: 64,
        local_bytes: 1024,
        registers: Some(32),
        bytes: Some(100e6),
    };
    let pair = |(i, second): (usize, &&str)| {
        let (both, later) = if i == 0 { (1.2, (0.0, 1.2e-3)) } else { (2.0, (1e-3, 2e-3)) };
        Pair {
            second: launched(second),
            first_isolated: timed_as(1e-3, &[(0.0, 1e-3)]),
            second_isolated: timed_as(1e-3, &[(0.0, 1e-3)]),
            concurrent_a_first: timed_as(both * 1e-3, &[(0.0, 1e-3), later]),
            concurrent_b_first: timed_as(1.3e-3, &[]),
        }
    };
    let raw = Concurrency {
        clock: Clock::Device,
        queues: 2,
        kernel: launched(first),
        pairs: seconds.iter().enumerate().map(pair).collect(),
        skipped: vec![("huge n=16".into(), "two of it need 3 GiB".into())],
        copies: vec![(1, timed_as(1e-3, &[])), (4, timed_as(1.1e-3, &[]))],
    };
    record_of::<Kind>(sample::key(first, 16), &raw)
}

fn records() -> [Record; 2] {
    [concurrent("long", &["long", "short"]), concurrent("short", &["short"])]
}

#[test]
fn pairs_with_what_model_7_predicted_read_well() {
    let unit = Held::K40;
    // 100 MB in 1 ms draw all of it.
    let known = Known { device: Some(Device { units: 15, unit }), bandwidth: Some(100e9) };
    let section =
        with_input(&records(), |input| of(device_section(input, 0), measured(input, 0), known));
    insta::assert_snapshot!(text::section(&section, Some(80)));
}

#[test]
fn without_residency_nothing_is_predicted() {
    let section = section_of_records::<Kind>(&records()).unwrap();
    let text = text::section(&section, Some(80));
    assert!(text.contains("model 7 predicts nothing"), "{text}");
    assert!(
        text.contains("0 of 3 pairs") && text.contains("contention is not predicted"),
        "{text}"
    );
    let starts = section.find_table("starts").unwrap();
    assert_eq!(starts.columns().len(), 4, "what nothing is predicted of has no column");
    let [long, short] = section.find_table("speedup").unwrap().rows() else { panic!() };
    assert!(long[1..].iter().all(|cell| *cell != Cell::Missing));
    assert_eq!(short[1], Cell::Missing);
    assert_eq!(long[0], Cell::from("long".to_owned()));
}

#[test]
fn kernels_of_one_workload_are_named_with_their_sizes() {
    let names = Names(["one n=1", "one n=2", "two n=1"].into());
    assert_eq!(["one n=1", "two n=1"].map(|name| names.short(name)), ["one n=1", "two"]);
}
