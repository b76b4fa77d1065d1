//! Transfer states, and plans against them.

use crate::{measured, split_on, within};
use gpubench::backend::sim::Machine;
use gpubench::measure::transfer_states::analysis::{all_states, plan_against};
use gpubench::measure::transfer_states::data::TransferStates;
use gpubench::model::transfer_states::{Both, State, min_time, mirrored};
use gpubench::record::Outcome;
use gpubench::store::read_csv::Table;
use std::path::Path;

fn states(machine: &str) -> TransferStates {
    let measurement = measured(machine, "states", 3.0);
    assert_eq!(measurement.outcome, Some(Outcome::Ok));
    let Some(raw) = measurement.detail.and_then(|detail| detail.read::<TransferStates>()) else {
        panic!("no states")
    };
    raw
}

/// The states of a table of C13, in bytes a second.
fn table(name: &str) -> Vec<State> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/papers").join(name);
    let table = Table::read(&path, &["state", "s0", "r0", "s1", "r1"]).unwrap();
    let rate = |s: f64, r: f64| Both { upload: 1e9 * s, download: 1e9 * r };
    let rows = table.rows().map(|row| {
        let n = |column: &str| row.number(column).unwrap();
        let rates = vec![rate(n("s0"), n("r0")), rate(n("s1"), n("r1"))];
        State { name: row.text("state").unwrap().to_owned(), rates }
    });
    rows.collect()
}

/// Seconds of the least-time plan for a given number of gigabytes to and from each device.
fn min_total_time(states: &[State], each: &[[f64; 2]]) -> f64 {
    let amounts = each
        .iter()
        .map(|&[upload, download]| Both { upload: 1e9 * upload, download: 1e9 * download });
    min_time(states, &amounts.collect::<Vec<_>>()).unwrap().iter().sum()
}

fn plans_hold(raw: &TransferStates, machine: &str) {
    assert_eq!(raw.plans.len(), 3);
    for run in &raw.plans {
        let against = plan_against(run).unwrap();
        println!("{machine}: {against:?}");
        within(against.planned, against.predicted, 0.02, machine);
    }
}

#[test]
fn the_shipped_machines_are_the_tables_of_the_paper() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/device/src/sim/machines");
    for (machine, file, equal) in [
        ("dual-c2075", "transfer_states_dual_c2075.csv", true),
        ("k20c-c2075", "transfer_states_k20c_c2075.csv", false),
    ] {
        let text = std::fs::read_to_string(shipped.join(format!("{machine}.yaml"))).unwrap();
        let machine = Machine::parse(machine, &text).unwrap();
        let states = if equal { mirrored(table(file)).unwrap() } else { table(file) };
        assert_eq!(states.len(), 15);
        for State { name, rates } in states {
            let doing: Vec<[bool; 2]> =
                name.split('/').map(|does| ["S", "R"].map(|way| does.contains(way))).collect();
            let limits = machine.limits(&doing);
            let wanted: Vec<[f64; 2]> = rates.iter().map(|r| [r.upload, r.download]).collect();
            assert_eq!(limits.len(), wanted.len(), "{name}");
            for (found, wanted) in limits.iter().flatten().zip(wanted.iter().flatten()) {
                assert!((found - wanted).abs() < 1.0, "{name}: {found} is not {wanted}");
            }
        }
    }
}

/// Of four M2090 the paper measured totals; what each device moves in a state adds up to them.
#[test]
fn the_four_m2090_move_the_measured_totals() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shipped = root.join("crates/device/src/sim/machines/quad-m2090.yaml");
    let machine = Machine::parse("quad-m2090", &std::fs::read_to_string(shipped).unwrap()).unwrap();
    let file = root.join("tests/data/papers/transfer_states_quad_m2090.csv");
    let totals = Table::read(&file, &["state", "send_total", "receive_total"]).unwrap();
    assert_eq!(totals.rows().count(), 34);
    for row in totals.rows() {
        let name = row.text("state").unwrap();
        let doing: Vec<[bool; 2]> =
            name.split('/').map(|does| ["S", "R"].map(|way| does.contains(way))).collect();
        let limits = machine.limits(&doing);
        for (way, column) in ["send_total", "receive_total"].into_iter().enumerate() {
            let moved: f64 = limits.iter().map(|rates| rates[way]).sum();
            // Each device's rate is written with four digits.
            let wanted = 1e9 * row.number(column).unwrap();
            assert!((moved - wanted).abs() <= 1e-3 * wanted, "{name}: {moved} is not {wanted}");
        }
    }
}

/// The measured states give the paper's G, and what they predict is what plans take.
#[test]
fn two_c2075_move_what_the_paper_says() {
    let raw = states("dual-c2075");
    assert_eq!((raw.classes.as_slice(), raw.states.len()), (&[0, 0][..], 12));
    let all = all_states(&raw);
    assert_eq!(all.len(), 15);
    for (upload, download, g) in
        [(10.0, 2.0, 1.262), (10.0, 10.0, 2.426), (2.0, 10.0, 1.669), (5.0, 0.0, 0.489)]
    {
        let found = min_total_time(&all, &[[upload / 2.0, download / 2.0]; 2]);
        within(found, g, 0.02, &format!("G({upload}, {download})"));
    }
    plans_hold(&raw, "dual-c2075");
}

#[test]
fn an_unequal_pair_is_measured_in_every_state() {
    let raw = states("k20c-c2075");
    assert_eq!((raw.classes.as_slice(), raw.states.len()), (&[0, 1][..], 15));
    let paper = table("transfer_states_k20c_c2075.csv");
    let all = all_states(&raw);
    for each in [[[1.0, 1.0]; 2], [[5.0, 1.0], [1.0, 0.0]], [[0.0, 3.0], [2.0, 1.0]]] {
        within(
            min_total_time(&all, &each),
            min_total_time(&paper, &each),
            0.02,
            &format!("{each:?}"),
        );
    }
    plans_hold(&raw, "k20c-c2075");
}

/// Two pairs, each behind a switch of its own: the longer of the two pairs' times is the least.
#[test]
fn four_devices_take_as_long_as_the_slower_pair() {
    let dual = mirrored(table("transfer_states_dual_c2075.csv")).unwrap();
    let mixed = table("transfer_states_k20c_c2075.csv");
    for (machine, classes, first) in
        [("quad-c2075", [0, 0, 2, 2], &dual), ("quad-mixed", [0, 1, 2, 2], &mixed)]
    {
        let raw = states(machine);
        assert_eq!(raw.classes, classes, "{machine}");
        println!("{machine}: {} of 255 states measured", raw.states.len());
        let all = all_states(&raw);
        assert_eq!(all.len(), 255);
        for each in [[[1.0, 1.0]; 4], [[5.0, 1.0]; 4], [[1.0, 5.0]; 4]] {
            let wanted = min_total_time(first, &each[..2]).max(min_total_time(&dual, &each[2..]));
            within(min_total_time(&all, &each), wanted, 0.02, &format!("{machine} {each:?}"));
        }
        plans_hold(&raw, machine);
    }
}

#[test]
fn equal_pairs_are_half_as_fast_again_and_balanced_at_once() {
    let (raw, summary) = split_on("dual-c2075", "heavy");
    assert_eq!(summary.fallbacks, 0);
    assert!(summary.speedup.unwrap().median >= 1.5);
    let over_in_order = summary.over_in_order.unwrap();
    assert!((2.2..=3.6).contains(&over_in_order), "the kernel takes 79 %: {over_in_order}");
    assert!(summary.balanced_after.unwrap() <= 5 && summary.imbalance.unwrap() <= 0.05);
    assert!(raw.jobs.len() >= 6 && raw.fastest_device_seconds.len() == raw.jobs.len());
}
