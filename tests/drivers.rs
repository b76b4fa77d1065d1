//! Faults that are really caused on the machine's own drivers, through the real binary: what a
//! wrong kernel does to PoCL or lavapipe costs its own case, and no figure of it is shown.
#![cfg(target_os = "linux")]

mod common;

use common::{Place, no_orphan, outcomes, records, suite, text};
use gpubench::record::Outcome;
use gpubench::store::Run;

/// Runs one workload on the CPU implementation of `backend`.
fn run(backend: &str, workload: &str, timeout: &str) -> Run {
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
    let stderr = text(&output.stderr);
    assert_ne!(output.status.code(), Some(3), "no {backend} device here: {stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    let run = place.run();
    assert!(run.warnings.is_empty() && run.footer.is_some(), "the file is whole");
    run
}

/// The outcome is as wanted on every device of `backend`, and there is no figure.
fn caught(backend: &str, workload: &str, wanted: impl Fn(&Outcome) -> bool) {
    let run = run(backend, workload, "20");
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
#[cfg_attr(
    not(all(feature = "require-opencl", feature = "require-wgpu")),
    ignore = "needs an OpenCL driver and a wgpu driver"
)]
fn a_loop_cut_short_is_caught() {
    for backend in ["opencl", "wgpu"] {
        let run = run(backend, "long_loop", "20");
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
#[cfg_attr(
    not(all(feature = "require-opencl", feature = "require-wgpu", feature = "require-vulkan")),
    ignore = "needs drivers of OpenCL, wgpu and Vulkan"
)]
fn an_output_never_written_is_caught() {
    for backend in ["opencl", "vulkan", "wgpu"] {
        caught(backend, "never_written", unverified);
    }
}

/// What it gives is anyone's guess: a number, or a trap.
#[test]
#[cfg_attr(
    not(all(feature = "require-opencl", feature = "require-wgpu")),
    ignore = "needs an OpenCL driver and a wgpu driver"
)]
fn an_integer_division_by_zero_is_caught() {
    let bad = |o: &Outcome| unverified(o) || matches!(o, Outcome::Crash { .. });
    caught("opencl", "divides_by_zero", bad);
    caught("wgpu", "divides_by_zero", bad);
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn not_a_number_is_caught() {
    caught("opencl", "not_a_number", unverified);
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn a_small_write_out_of_bounds_is_caught_by_the_guards() {
    let run = run("opencl", "one_too_far", "20");
    for outcome in outcomes(&run, "one_too_far") {
        assert!(
            format!("{outcome:?}").contains("behind the bounds of buffer `out`"),
            "{outcome:?}"
        );
    }
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn a_kernel_that_crashes_the_driver_is_a_crash() {
    caught(
        "opencl",
        "crashes",
        |outcome| matches!(outcome, Outcome::Crash { how, .. } if how.contains("SIGSEGV")),
    );
}

/// The parent ends it within two seconds of its deadline.
#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn a_kernel_that_never_ends_is_a_timeout() {
    let run = run("opencl", "endless", "3");
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
#[cfg_attr(not(feature = "require-wgpu"), ignore = "needs a wgpu driver")]
fn a_grid_that_would_block_the_device_is_not_launched() {
    caught("wgpu", "endless_grid", |outcome| match outcome {
        Outcome::Skipped(why) => why.to_string().contains("one launch takes"),
        Outcome::Timeout(_) => true,
        _ => false,
    });
}
