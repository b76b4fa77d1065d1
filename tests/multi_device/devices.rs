//! Real and faulty devices.

use crate::common::{Place, outcomes, records, suite, text};
use gpubench::measure::split::analysis::split;
use gpubench::measure::split::data::Split;
use gpubench::measure::transfer_states::analysis::all_states;
use gpubench::measure::transfer_states::data::TransferStates;
use gpubench::record::Outcome;

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
