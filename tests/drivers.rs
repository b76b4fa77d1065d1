//! Faults that are really caused on the machine's own drivers, through the real binary: what a
//! wrong kernel does to PoCL or lavapipe costs its own case, and no figure of it is shown.
#![cfg(target_os = "linux")]

mod common;

use common::{Place, no_orphan, outcomes, records, suite, text};
use gpubench::record::Outcome;
use gpubench::store::Run;

/// Runs one workload on the CPU implementation of `backend`; `None` (and a word why) where there is none.
fn run(backend: &str, workload: &str, timeout: &str) -> Option<Run> {
    let place = Place::new();
    let suite = suite("drivers/drivers.yaml");
    let args = [
        &["run", &suite, "--trust", "--backend", backend, "--filter", workload],
        &["--timeout", timeout, "--no-lock"][..],
    ]
    .concat();
    let child = place.gpubench(&args).spawn().expect("the binary starts");
    let pid = child.id();
    let output = common::finish(child);
    no_orphan(pid);
    if output.status.code() == Some(3) {
        println!("skipped: no {backend} device here");
        return None;
    }
    let stderr = text(&output.stderr);
    assert!(!stderr.contains("panicked"), "{stderr}");
    let run = place.run();
    assert!(run.warnings.is_empty() && run.footer.is_some(), "the file is whole");
    Some(run)
}

/// The outcome is as wanted on every device of `backend`, and there is no figure.
fn caught(backend: &str, workload: &str, wanted: impl Fn(&Outcome) -> bool) {
    let Some(run) = run(backend, workload, "20") else { return };
    assert!(!records(&run, workload).is_empty());
    for record in records(&run, workload) {
        assert!(wanted(&record.outcome), "{backend}: {:?}", record.outcome);
        assert!(record.measured.is_none(), "no figure is shown");
    }
}

fn unverified(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Unverified(_))
}

/// lavapipe of Mesa 22.3 leaves every loop after 65,535 passes; a right driver is right.
#[test]
fn a_loop_cut_short_is_caught() {
    for backend in ["opencl", "wgpu"] {
        let Some(run) = run(backend, "long_loop", "20") else { continue };
        for (record, outcome) in
            records(&run, "long_loop").into_iter().zip(outcomes(&run, "long_loop"))
        {
            let driver = &run.header.devices[record.device].driver;
            let cuts = driver.contains("Mesa 22.3");
            println!("{driver}: {}", outcome.label());
            assert!(if cuts { unverified(outcome) } else { outcome.is_ok() }, "{outcome:?}");
            assert_eq!(record.measured.is_some(), outcome.is_ok());
        }
    }
}

#[test]
fn an_output_never_written_is_caught() {
    caught("opencl", "never_written", unverified);
    caught("wgpu", "never_written", unverified);
}

/// What it gives is anyone's guess: a number, or a trap.
#[test]
fn an_integer_division_by_zero_is_caught() {
    let bad = |o: &Outcome| unverified(o) || matches!(o, Outcome::Crash { .. });
    caught("opencl", "divides_by_zero", bad);
    caught("wgpu", "divides_by_zero", bad);
}

#[test]
fn not_a_number_is_caught() {
    caught("opencl", "not_a_number", unverified);
}

#[test]
fn a_small_write_out_of_bounds_is_caught_by_the_guards() {
    let Some(run) = run("opencl", "one_too_far", "20") else { return };
    for outcome in outcomes(&run, "one_too_far") {
        assert!(
            format!("{outcome:?}").contains("behind the bounds of buffer `out`"),
            "{outcome:?}"
        );
    }
}

#[test]
fn a_kernel_that_crashes_the_driver_is_a_crash() {
    caught(
        "opencl",
        "crashes",
        |outcome| matches!(outcome, Outcome::Crash { how, .. } if how.contains("SIGSEGV")),
    );
}

/// The parent ends it within two seconds of its deadline.
#[test]
fn a_kernel_that_never_ends_is_a_timeout() {
    let Some(run) = run("opencl", "endless", "3") else { return };
    for record in records(&run, "endless") {
        assert!(matches!(record.outcome, Outcome::Timeout(_)), "{:?}", record.outcome);
        let launch = record.wall.launch + record.wall.verify;
        assert!((3.0..5.0).contains(&launch), "ended {launch} s after it began, 3 s allowed");
    }
}

/// A part of the grid shows that the whole would block the device for minutes (and trip the
/// watchdog of one with a display): it is not begun. Where the part itself takes too long, that
/// is a timeout.
#[test]
fn a_grid_that_would_block_the_device_is_not_launched() {
    caught("wgpu", "endless_grid", |outcome| match outcome {
        Outcome::Skipped(why) => why.to_string().contains("one launch takes"),
        Outcome::Timeout(_) => true,
        _ => false,
    });
}
