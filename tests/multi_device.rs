//! Several devices at once: transfer states and plans against the tables that simulated machines
//! are made of, split workloads, and what goes wrong on the way.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;

use common::{Place, outcomes, records, suite, text};
use gpubench::backend::open_multi_device;
use gpubench::backend::sim::{Machine, SIM, Sim};
use gpubench::gpu::DeviceInfo;
use gpubench::measure::plan;
use gpubench::measure::split::analysis::{SplitSummary, split};
use gpubench::measure::split::data::Split;
use gpubench::measure::transfer_states::analysis::{all_states, plan_against};
use gpubench::measure::transfer_states::data::TransferStates;
use gpubench::measure::{DeviceGroup, Measurement, Policy, measure_multi_device};
use gpubench::model::transfer_states::{Both, State, min_time, mirrored};
use gpubench::plan::{Case, Limits, Planned};
use gpubench::record::Outcome;
use gpubench::store::read_csv::Table;
use gpubench::units::Bytes;
use std::path::{Path, PathBuf};

/// The devices of a machine, shipped or in a file.
fn devices(machine: &str) -> Vec<(String, usize)> {
    let first = Sim::shipped();
    let count = Sim::count(Path::new(machine));
    (first..first + count).map(|index| (SIM.to_owned(), index)).collect()
}

/// Measures a workload of the tests' suite over all devices of a machine, for a given number of seconds.
fn measured(machine: &str, workload: &str, seconds: f64) -> Measurement {
    let sim = Sim::new(vec![PathBuf::from(machine)], 7);
    let (devices, launcher) = open_multi_device(&devices(machine), &sim).unwrap();
    let infos: Vec<DeviceInfo> = devices.iter().map(|device| device.info().clone()).collect();
    let suite = gpubench::measure::load(&suite("multi_device/multi_device.yaml")).unwrap();
    let host_memory = Some(Bytes(16 << 30));
    let limits = Limits { memory: None, seconds: 60.0, seed: 3, cores: 2, host_memory };
    let case = |info: &DeviceInfo| -> Case {
        let named = plan(&suite, info, &limits).into_iter().find_map(|planned| match planned {
            Planned::Case(case) => (case.key.workload == workload).then_some(*case),
            Planned::Skipped(skip) => panic!("{}", skip.reason),
        });
        named.expect("the workload is in the suite")
    };
    let cases: Vec<Case> = infos.iter().map(case).collect();
    let policy = Policy { seconds, ..Policy::default() };
    measure_multi_device(&mut DeviceGroup::new(devices, launcher), &cases, &policy, &mut |_| {})
}

fn states(machine: &str) -> TransferStates {
    let measurement = measured(machine, "states", 3.0);
    assert_eq!(measurement.outcome, Some(Outcome::Ok));
    let Some(raw) = measurement.detail.and_then(|detail| detail.read::<TransferStates>()) else {
        panic!("no states")
    };
    raw
}

fn split_on(machine: &str, workload: &str) -> (Split, SplitSummary) {
    let measurement = measured(machine, workload, 1.0);
    assert_eq!(measurement.outcome, Some(Outcome::Ok));
    let Some(raw) = measurement.detail.and_then(|detail| detail.read::<Split>()) else {
        panic!("not split")
    };
    let summary = split(&raw).unwrap();
    println!("{machine}, {workload}: {summary:?}");
    (raw, summary)
}

/// The same of a machine that a test describes.
fn split_on_described(machine: &str, workload: &str) -> (Split, SplitSummary) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("machine.yaml");
    std::fs::write(&file, machine).unwrap();
    split_on(&file.display().to_string(), workload)
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

fn within(value: f64, wanted: f64, share: f64, what: &str) {
    assert!((value / wanted - 1.0).abs() <= share, "{what}: {value} is not {wanted}");
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

/// C13 §4.4: two GPUs whose copies are hidden behind their kernels are 2.2 to 3.6 times as fast as one whose are not.
#[test]
fn pairs_that_overlap_are_as_much_faster_as_the_paper_says() {
    let (raw, summary) = split_on("dual-c2075", "sepia");
    assert!(raw.chunks.iter().all(|chunks| *chunks > 1), "{:?}", raw.chunks);
    let [alone, overlapped] = [summary.isolated[0], summary.overlapped[0]];
    assert!(overlapped < 0.9 * alone, "one device hides its copies: {overlapped} of {alone}");
    let over_in_order = summary.over_in_order.unwrap();
    assert!((2.2..=3.6).contains(&over_in_order), "{over_in_order}");
    // Where copies outweigh the kernel, the pair's common way to the host is what it waits for.
    let (_, light) = split_on("dual-c2075", "light");
    assert!(light.speedup.as_ref().is_none_or(|speedup| speedup.median >= 0.97), "{light:?}");
    for workload in ["sepia", "light"] {
        let (_, unequal) = split_on("k20c-c2075", workload);
        assert!(unequal.speedup.as_ref().is_none_or(|all| all.interval[0] >= 0.97), "{unequal:?}");
    }
}

#[test]
fn unequal_devices_are_balanced_within_five_blocks() {
    let (raw, summary) = split_on("k20c-c2075", "heavy");
    assert!(summary.balanced_after.unwrap() <= 5 && summary.imbalance.unwrap() <= 0.05);
    // The C2075 adds 30 % to what the K20c does: no split can gain more. Blocks of a calibration gain 25 %.
    assert!((1.28..1.33).contains(&summary.max_speedup), "{summary:?}");
    assert!(summary.combined_speedup.unwrap() > 1.2, "{summary:?}");
    assert_eq!(summary.fallbacks, 0);
    assert!(summary.speedup.unwrap().interval[0] >= 1.15, "{summary:?}");
    assert!(summary.over_in_order.unwrap() > 1.9, "{summary:?}");
    let last = &raw.blocks.last().unwrap().rows;
    assert!(last[0] > last[1], "the K20c does more: {last:?}");
}

/// Two devices that disturb each other so much that one alone is faster.
const RIVALS: &str = "\
devices: [tesla-c2075, tesla-c2075]
switches:
  - devices: [0, 1]
    equal: true
    states:
      S/N: [5.99e9, 0, 0, 0]
      R/N: [0, 6.48e9, 0, 0]
      SR/N: [3.86e9, 4.2e9, 0, 0]
      S/S: [0.5e9, 0, 0.5e9, 0]
      R/S: [0, 0.5e9, 0.5e9, 0]
      R/R: [0, 0.5e9, 0, 0.5e9]
      SR/S: [0.5e9, 0.5e9, 0.5e9, 0]
      SR/R: [0.5e9, 0.5e9, 0, 0.5e9]
      SR/SR: [0.5e9, 0.5e9, 0.5e9, 0.5e9]
";

#[test]
fn what_is_not_worth_splitting_is_left_to_the_fastest() {
    // At a fifth of the speed, and, with 2 GB/s, somewhat slower than one alone.
    for rate in ["0.5e9", "2.0e9"] {
        let (raw, summary) = split_on_described(&RIVALS.replace("0.5e9", rate), "light");
        assert!(summary.max_speedup > 1.9 && summary.combined_speedup.unwrap() < 1.0, "{rate}");
        assert!(raw.jobs.is_empty() && summary.speedup.is_none(), "{rate}");
    }
}

/// Two devices, the second behind a link of the given bytes a second.
fn behind_a_link(rate: f64) -> String {
    let mut machine = String::from("devices: [tesla-c2075, tesla-c2075]\nswitches:\n");
    machine += "  - devices: [0, 1]\n    states:\n";
    for first in ["N", "S", "R", "SR"] {
        for second in ["N", "S", "R", "SR"] {
            let rates = |state: &str, rate: f64| {
                ["S", "R"].map(|way| if state.contains(way) { rate } else { 0.0 })
            };
            let ([a, b], [c, d]) = (rates(first, 5e9), rates(second, rate));
            if first != "N" || second != "N" {
                machine += &format!("      {first}/{second}: [{a}, {b}, {c}, {d}]\n");
            }
        }
    }
    machine
}

#[test]
fn a_much_slower_device_helps_a_little_or_is_not_tried() {
    // A tenth of the speed is more than a trial may cost, a hundredth is not.
    let (_, summary) = split_on_described(&behind_a_link(0.5e9), "light");
    assert!(
        summary.max_speedup > 1.05
            && summary.combined_speedup.unwrap() > 1.0
            && summary.tried[1] > 0
    );
    assert!(summary.speedup.unwrap().median > 1.0);
    let (raw, summary) = split_on_described(&behind_a_link(0.05e9), "light");
    assert!(summary.max_speedup < 1.03 && summary.speedup.is_none() && raw.jobs.is_empty());
    assert_eq!(raw.blocks.len(), 10, "how they are balanced is measured all the same");
}

/// The two CPU drivers together, through the real binary; results are verified, times are
/// not evaluated.
#[cfg(target_os = "linux")]
#[test]
#[cfg_attr(
    not(all(feature = "require-opencl", feature = "require-wgpu")),
    ignore = "needs an OpenCL driver and a wgpu driver"
)]
fn real_devices_start_at_once_and_are_correct() {
    let place = Place::new();
    let suite = suite("multi_device/multi_device.yaml");
    for workload in ["states", "light", "verified_by_another_device"] {
        let output = place.output(&["run", &suite, "--filter", workload, "--no-lock", "--quiet"]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{stderr}\n{}", text(&output.stdout));
    }
    let mut measured = 0;
    for file in place.results() {
        let run = gpubench::store::read(&file).unwrap();
        for record in &run.records {
            let Some(detail) = &record.detail else { continue };
            if let Some(raw) = detail.read::<TransferStates>() {
                let devices = raw.devices.len() as u32;
                assert!(all_states(&raw).len() as u32 == 4_u32.pow(devices) - 1);
                assert_eq!(raw.plans.len(), 3);
                measured += 1;
            } else if let Some(raw) = detail.read::<Split>() {
                assert!(split(&raw).is_some() && raw.blocks.len() == 10);
                measured += 1;
            }
        }
    }
    assert_eq!(measured, 3);
}

/// A kernel that is wrong wherever it does not begin at the first row is right alone, and wrong
/// when it is split; another is right when it is split, and wrong alone, to which splitting is
/// held.
#[cfg(target_os = "linux")]
#[test]
#[cfg_attr(
    not(all(feature = "require-opencl", feature = "require-wgpu")),
    ignore = "needs an OpenCL driver and a wgpu driver"
)]
fn a_wrong_part_is_caught_on_real_devices() {
    let place = Place::new();
    let suite = suite("multi_device/wrong.yaml");
    let output = place.output(&["run", &suite, "--trust", "--no-lock", "--quiet"]);
    assert!(!text(&output.stdout).contains("two are needed"), "{}", text(&output.stderr));
    let run = place.run();
    let wrong = |o: &&Outcome| matches!(o, Outcome::Unverified(_));
    assert!(outcomes(&run, "forgetful").iter().any(wrong), "{:?}", run.records);
    assert!(records(&run, "forgetful").iter().all(|record| record.detail.is_none()));
    let alone = |o: &&Outcome| matches!(o, Outcome::Unverified(at) if at.when.contains("alone on"));
    assert!(outcomes(&run, "greedy").iter().any(alone), "{:?}", run.records);
    assert!(outcomes(&run, "right").iter().all(|outcome| outcome.is_ok()), "{:?}", run.records);
}

/// What a run of the faults' suite says of a workload.
#[cfg(target_os = "linux")]
fn faulty(workload: &str) -> Outcome {
    let place = Place::new();
    let suite = suite("faults/faults.yaml");
    let args = ["run", &suite, "--trust", "--backend", "faulty", "--filter", workload];
    let output = place.output(&[&args[..], &["--timeout", "20"]].concat());
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    let run = place.run();
    assert!(run.warnings.is_empty() && run.footer.is_some(), "the file is whole");
    assert_eq!(run.records.len(), 1, "one record for both devices");
    assert!(run.records[0].detail.is_none(), "no figure is shown");
    outcomes(&run, workload)[0].clone()
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_lost_in_a_multi_device_run_is_named() {
    let outcome = faulty("disappears_midway");
    let Outcome::DeviceLost(why) = &outcome else { panic!("{outcome:?}") };
    assert!(why.starts_with("faulty:") && why.contains("as asked"), "{why}");
    let outcome = faulty("crashes_multi_device");
    let Outcome::Crash { how, .. } = &outcome else { panic!("{outcome:?}") };
    // Which of its two signals ends it depends on the thread that takes them.
    assert!(how.starts_with("killed by SIG"), "{how}");
}

#[test]
fn one_device_and_too_many_are_reported() {
    let place = Place::new();
    let suite = suite("multi_device/multi_device.yaml");
    let run = |devices: &[&str]| {
        let args = ["run", &suite, "--filter", "states", "--no-lock", "--quiet", "--sim"];
        let output = place.output(&[&args[..], devices].concat());
        (output.status.code(), text(&output.stdout) + &text(&output.stderr))
    };
    let (code, said) = run(&["k40c"]);
    assert_eq!(code, Some(4));
    assert!(said.contains("one device where two are needed"), "{said}");
    let (code, said) = run(&["k40c", "k20c", "c1060", "c2050", "m2090"]);
    assert_eq!(code, Some(4));
    assert!(said.contains("5 devices have 1024 states; choose up to 4"), "{said}");
}
