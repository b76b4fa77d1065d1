//! Whatever goes wrong on a device costs its own case only: each fault is really caused, by a
//! backend made for it, in the real binary. A test's name is the fault's.
#![cfg(target_os = "linux")]

mod common;

use common::{Place, no_orphan, outcomes, records, suite, text};
use gpubench::gpu::Clock;
use gpubench::record::{Flag, Outcome};
use gpubench::store::Run;

/// Runs the workload that has `fault`, beside one that works, on two devices.
fn run(fault: &str, more: &[&str]) -> (Run, std::process::Output) {
    let place = Place::new();
    let suite = suite("faults/faults.yaml");
    let mut args = vec!["run", &suite, "--trust", "--backend", "faulty", "--filter", fault];
    args.extend(["--timeout", "2"]);
    args.extend(more);
    let child = place.gpubench(&args).spawn().expect("the binary starts");
    let pid = child.id();
    let output = common::finish(child);
    no_orphan(pid);
    let stderr = text(&output.stderr);
    assert!(!stderr.contains("panicked"), "{stderr}");
    let run = place.run();
    assert!(run.warnings.is_empty() && run.footer.is_some(), "the file is whole");
    (run, output)
}

/// As [`run`], and the workload beside it works.
fn run_with_a_healthy_workload(fault: &str) -> Run {
    let (run, output) = run(fault, &[]);
    for outcome in outcomes(&run, "works") {
        assert_eq!(*outcome, Outcome::Ok, "the case beside it");
    }
    let failed = outcomes(&run, fault).iter().any(|outcome| outcome.is_failure());
    assert_eq!(output.status.code(), Some(if failed { 4 } else { 0 }));
    run
}

fn each(fault: &str, check: impl Fn(&Outcome) -> bool) {
    let run = run_with_a_healthy_workload(fault);
    for record in records(&run, fault) {
        assert!(check(&record.outcome), "{:?}", record.outcome);
        assert!(record.measured.is_none(), "no figure is shown");
    }
}

#[test]
fn a_build_that_hangs_is_a_timeout_of_the_build() {
    each("hangs_in_build", |o| matches!(o, Outcome::Timeout(t) if t.contains("building")));
}

/// The search goes on, and no later round tries the variant again: it ends `times` workers a device.
fn a_search_goes_on_without_the_variant(fault: &str, how: &str, times: usize) {
    let place = Place::new();
    let suite = suite("faults/faults.yaml");
    let args = ["run", &suite, "--trust", "--backend", "faulty", "--filter", fault];
    let args = [&args[..], &["--timeout", "2", "--rounds", "2"]].concat();
    assert!(place.output(&args).status.success());
    let run = place.run();
    let found = records(&run, fault);
    assert_eq!(found.len(), 4, "two devices, two rounds");
    for record in found {
        assert_eq!(record.outcome, Outcome::Ok);
        let built = record.kernel.as_ref().expect("it was built");
        let ran = |label: &str| {
            built.tried.iter().find(|(one, _)| one == label).map(|(_, time)| time.is_some())
        };
        assert_eq!([ran("64"), ran("128"), ran("256")], [Some(true), Some(false), Some(true)]);
        let [(why, variants)] = &built.untimed.iter().collect::<Vec<_>>()[..] else {
            panic!("{:?}", built.untimed)
        };
        assert!(*variants == &["128"] && why.contains(how), "{variants:?}: {why}");
        let fatal = |flag: &Flag| match flag {
            Flag::FatalVariant(which) => which.starts_with("`128`: ") && which.contains(how),
            _ => false,
        };
        assert!(record.flags.iter().any(fatal), "{:?}", record.flags);
    }
    let noted = std::fs::read_to_string(place.folder.path().join("faults").join(fault));
    assert_eq!(noted.expect("it happened").len(), 2 * times);
}

#[test]
fn a_variant_whose_build_hangs_costs_a_search_that_variant() {
    a_search_goes_on_without_the_variant(
        "hangs_in_one_build",
        "building the kernel took longer",
        1,
    );
}

#[test]
fn a_variant_whose_launch_hangs_costs_a_search_that_variant() {
    a_search_goes_on_without_the_variant("hangs_in_one_launch", "the first launch took longer", 1);
}

#[test]
fn a_variant_that_crashes_the_compiler_costs_a_search_that_variant() {
    a_search_goes_on_without_the_variant("aborts_in_one_build", "SIGABRT, twice", 2);
}

#[test]
fn a_launch_that_hangs_is_a_timeout_of_the_launch() {
    each("hangs_in_launch", |o| matches!(o, Outcome::Timeout(t) if t.contains("first launch")));
}

#[test]
fn a_device_that_hangs_when_dropped_is_not_waited_for() {
    let run = run_with_a_healthy_workload("hangs_on_drop");
    assert_eq!(outcomes(&run, "hangs_on_drop"), [&Outcome::Ok, &Outcome::Ok]);
}

#[test]
fn a_crash_is_named_by_its_signal_and_last_words() {
    each("crashes_in_launch", |outcome| {
        let Outcome::Crash { how, stderr } = outcome else { return false };
        how == "killed by SIGSEGV, twice" && stderr.iter().any(|l| l == "about to crash, as asked")
    });
}

#[test]
fn an_abort_and_an_exit_are_crashes() {
    each("aborts_in_build", |o| matches!(o, Outcome::Crash { how, .. } if how.contains("SIGABRT")));
    each(
        "exits_in_launch",
        |o| matches!(o, Outcome::Crash { how, .. } if how.contains("status 3")),
    );
}

#[test]
fn a_crash_that_does_not_come_again_is_a_flake() {
    let run = run_with_a_healthy_workload("crashes_once");
    let records = records(&run, "crashes_once");
    // The second device finds that it has happened.
    let flakes = |r: &gpubench::record::Record| r.flags.iter().any(|f| matches!(f, Flag::Flake(_)));
    assert!(records.iter().all(|record| record.outcome.is_ok() && record.measured.is_some()));
    assert_eq!(records.iter().filter(|record| flakes(record)).count(), 1);
}

#[test]
fn a_lost_device_gets_a_fresh_worker() {
    each("loses_the_device", |o| matches!(o, Outcome::DeviceLost(_)));
}

#[test]
fn a_kernel_that_does_not_build_shows_its_log() {
    each("does_not_build", |o| matches!(o, Outcome::BuildError(log) if log.contains("error:")));
}

#[test]
fn too_little_memory_is_an_outcome() {
    each("runs_out_of_memory", |o| matches!(o, Outcome::OutOfMemory(_)));
}

#[test]
fn what_becomes_wrong_while_it_is_timed_is_found_behind_it() {
    each(
        "is_wrong_later",
        |outcome| matches!(outcome, Outcome::Unverified(wrong) if wrong.when.contains("timed")),
    );
}

#[test]
fn what_a_driver_prints_is_never_data() {
    let run = run_with_a_healthy_workload("chatters");
    assert_eq!(outcomes(&run, "chatters"), [&Outcome::Ok, &Outcome::Ok]);
    assert_eq!(run.records.len(), 4, "two workloads on two devices");
}

#[test]
fn a_device_that_was_throttled_for_a_moment_is_measured_again() {
    let run = run_with_a_healthy_workload("throttles_once");
    for record in records(&run, "throttles_once") {
        assert!(record.outcome.is_ok() && record.monitor.discarded >= 15, "{record:?}");
        assert!(record.monitor.reference_kernel.is_some());
    }
    let drifted = |flag: &Flag| matches!(flag, Flag::Drift(_));
    assert!(!run.records.iter().any(|record| record.flags.iter().any(drifted)));
}

#[test]
fn a_device_that_is_throttled_for_ever_is_flagged_and_soon_measured_once_only() {
    let (run, output) = run("endless", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(run.records.len(), 12, "six sizes on two devices");
    for record in &run.records {
        let [flag] = record.flags.as_slice() else { panic!("{:?}", record.flags) };
        assert!(matches!(flag, Flag::Drift(how) if how.contains("% longer")), "{flag:?}");
        let [before, after] = record.monitor.reference_kernel.expect("a reference kernel");
        let began = record.monitor.began.expect("the run began");
        assert!(before.max(after) > 1.2 * began, "{began} {before} {after}");
    }
    for device in 0..2 {
        let of_device = run.records.iter().filter(|record| record.device == device);
        let again = of_device.filter(|record| record.monitor.discarded > 0).count();
        assert_eq!(again, 3, "no more than helped nothing three times");
    }
}

#[test]
fn timestamps_that_cannot_be_true_are_dropped_counted_and_the_hosts_clock_named() {
    let (run, output) = run("stamps", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for (fault, word) in [
        ("stamps_are_zero", "is zero"),
        ("stamps_run_backwards", "run backwards"),
        ("stamps_are_huge", "span"),
    ] {
        for record in records(&run, fault) {
            let measured = record.measured.as_ref().expect("measured all the same");
            assert_eq!(measured.clock, Clock::Host);
            assert!(measured.dropped as usize >= measured.samples.len(), "{}", measured.dropped);
            let named = |flag: &Flag| matches!(flag, Flag::Timestamps(why) if why.contains(word));
            assert!(record.flags.iter().any(named), "{:?}", record.flags);
        }
    }
    for record in records(&run, "works") {
        assert_eq!(
            record.measured.as_ref().map(|m| (m.clock, m.dropped)),
            Some((Clock::Simulated, 0))
        );
    }
}

#[test]
fn three_failures_in_a_row_are_quarantine() {
    let (run, output) = run("fatal", &["--rounds", "2"]);
    assert_eq!(output.status.code(), Some(4));
    for record in &run.records {
        match (&record.outcome, record.round) {
            (Outcome::Crash { .. }, 0) => {}
            (Outcome::Skipped(why), 1) => assert!(why.to_string().contains("quarantine"), "{why}"),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(run.records.len(), 12, "three workloads, two devices, two rounds");
}
