//! Drivers as boards and phones have them: a layer of ours (`tests/data/boards/layer.c`) lies over an OpenCL driver as
//! they do, and what comes of it is verified or says why not.
#![cfg(target_os = "linux")]

mod common;

use common::{Place, finish, suite, text};
use gpubench::gpu::{Clock, DeviceInfo};
use gpubench::measure::zero_copy::data::ZeroCopy;
use gpubench::record::{Flag, Outcome, Record};
use gpubench::store::Run;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The layer, built once.
fn layer() -> &'static PathBuf {
    static BUILT: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let build = || {
        let folder = tempfile::tempdir().expect("a folder");
        let library = folder.path().join("layer.so");
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-Wall", "-Werror", "-o"])
            .arg(&library)
            .arg(suite("boards/layer.c"))
            .output()
            .expect("a C compiler and the OpenCL headers");
        assert!(built.status.success(), "{}", text(&built.stderr));
        (folder, library)
    };
    &BUILT.get_or_init(build).1
}

/// `gpubench` on the driver, seen through the layer that lies so.
fn board(place: &Place, lies: &str, args: &[&str]) -> Output {
    let mut command = place.gpubench(&[args, &["--backend", "opencl"]].concat());
    command.env("OPENCL_LAYERS", layer()).env("GPUBENCH_BOARD", lies);
    finish(command.spawn().expect("the binary starts"))
}

fn device(lies: &str) -> DeviceInfo {
    let place = Place::new();
    let listed = board(&place, lies, &["devices", "--json"]);
    let devices: Vec<DeviceInfo> = serde_json::from_slice(&listed.stdout).expect("JSON");
    devices.into_iter().next().expect("a device")
}

/// A suite small enough for all of them, measured.
fn run(lies: &str) -> (Run, Output) {
    let place = Place::new();
    let suite = suite("boards/boards.yaml");
    let output = board(&place, lies, &["run", &suite, "--rounds", "1"]);
    assert_eq!(output.status.code(), Some(0), "{lies}: {}", text(&output.stderr));
    (place.run(), output)
}

/// What became of the case of this name, and whether that was by a profile's tolerance.
fn outcome(run: &Run, workload: &str) -> (&'static str, Option<String>) {
    let named = |record: &&Record| record.key.workload == workload;
    let record = run.records.iter().find(named).expect("a record");
    let profile = record.flags.iter().find_map(|flag| match flag {
        Flag::ProfileTolerance(which) => Some(which.clone()),
        _ => None,
    });
    (record.outcome.label(), profile)
}

/// A wider tolerance holds where the suite declares it and the device is of that profile, and nowhere else.
#[test]
#[cfg_attr(
    not(feature = "require-opencl"),
    ignore = "needs an OpenCL driver, a C compiler and headers"
)]
fn a_profiles_tolerance_is_used_only_where_it_is_declared() {
    let embedded = "OpenCL's embedded profile: relative 0.00001, absolute 0.05 instead of relative 0.00001, absolute 0.0001";
    let flush = "devices that take denormals for zero: relative 0.00001, absolute 0.03 instead of relative 0.00001, absolute 0.0001";
    for (lies, plain, declared) in [
        ("", "ok", ("ok", None)),
        ("coarse", "unverified", ("unverified", None)),
        ("coarse,toward-zero", "unverified", ("unverified", None)),
        ("coarse,embedded", "unverified", ("ok", Some(embedded))),
        ("coarse,flush", "unverified", ("ok", Some(flush))),
        ("embedded", "ok", ("ok", Some(embedded))),
    ] {
        let place = Place::new();
        let output = board(&place, lies, &["run", &suite("boards/profiles.yaml"), "--rounds", "1"]);
        let run = place.run();
        assert_eq!(outcome(&run, "plain"), (plain, None), "{lies}: {}", text(&output.stderr));
        let declared = (declared.0, declared.1.map(str::to_owned));
        assert_eq!(outcome(&run, "declared"), declared, "{lies}: {}", text(&output.stderr));
        let failed = plain == "unverified";
        assert_eq!(output.status.code(), Some(if failed { 4 } else { 0 }), "{lies}");
        let report = place.output(&["report", &place.result().display().to_string()]);
        let said = text(&report.stdout).contains("profile's tolerance");
        assert_eq!(said, declared.1.is_some(), "{lies}: {}", text(&report.stdout));
    }
}

fn clocks(records: &[Record]) -> Vec<Clock> {
    records.iter().filter_map(|r| r.measured.as_ref()).map(|measured| measured.clock).collect()
}

#[test]
#[cfg_attr(
    not(feature = "require-opencl"),
    ignore = "needs an OpenCL driver, a C compiler and headers"
)]
fn what_a_driver_reports_wrongly_is_unknown() {
    let honest = device("");
    assert!(honest.clock_hz.is_some() && honest.timestamp_resolution.is_some(), "{honest:?}");
    assert_eq!(device("no-clock").clock_hz, None);
    assert_eq!(device("quiet").timestamp_resolution, None);
    let old = device("old");
    assert_eq!((old.api.as_str(), honest.features.contains(&"f64".into())), ("OpenCL 1.1", true));
    let embedded = device("old,embedded");
    assert_eq!(embedded.api, "OpenCL 1.1 embedded profile");
    assert_eq!(embedded.features, ["embedded"]);
    assert_eq!(device("embedded,flush").features, ["embedded", "flush_to_zero"]);
    assert_eq!(device("embedded,toward-zero").features, ["embedded", "round_to_zero"]);
}

/// Each lie alone, then all of them: what runs is right, on the clock that there is.
#[test]
#[cfg_attr(
    not(feature = "require-opencl"),
    ignore = "needs an OpenCL driver, a C compiler and headers"
)]
fn kernels_and_transfers_are_verified_on_every_board() {
    let (honest, _) = run("");
    let cases = honest.records.len();
    assert!(honest.records.iter().all(|record| record.outcome.ran()), "{:?}", honest.records);
    assert!(clocks(&honest.records).contains(&Clock::Device));
    for lies in [
        "embedded",
        "old",
        "no-profiling",
        "no-profiling,quiet",
        "no-parts",
        "odd-align",
        "no-images",
        "embedded,old,no-profiling,quiet,tiny,no-parts,no-clock,odd-align",
    ] {
        let (found, output) = run(lies);
        let said = text(&output.stdout).contains("kernels are timed by the host's clock");
        assert_eq!(said, lies.contains("no-profiling"), "{lies}: {}", text(&output.stdout));
        assert_eq!(found.records.len(), cases, "{lies}");
        let is_untimed = lies.contains("no-profiling");
        let clocks = clocks(&found.records);
        assert_eq!(!clocks.contains(&Clock::Device), is_untimed, "{lies}: {clocks:?}");
        for record in &found.records {
            let may_lack = match record.key.workload.as_str() {
                "wide" => lies.contains("embedded"),
                "image/nearest" => lies.contains("no-images") || lies.contains("old"),
                "image/linear" => {
                    ["no-images", "old", "embedded"].iter().any(|lie| lies.contains(lie))
                }
                "large" | "grouped" => lies.contains("tiny"),
                _ => false,
            };
            match &record.outcome {
                Outcome::Ok | Outcome::Unchecked => assert!(!may_lack, "{lies}: {}", record.key),
                Outcome::Unsupported(why) => assert!(may_lack, "{lies}: {}: {why}", record.key),
                other => panic!("{lies}: {}: {other:?} {}", record.key, text(&output.stderr)),
            }
        }
    }
}

/// Zero-copy memory is right where a kernel is given a whole buffer, turned; what the driver refuses costs no case.
#[test]
#[cfg_attr(
    not(feature = "require-opencl"),
    ignore = "needs an OpenCL driver, a C compiler and headers"
)]
fn zero_copy_memory_is_verified_on_every_board() {
    for (lies, kinds) in [
        ("", 2),
        ("no-parts", 2),
        ("odd-align", 2),
        ("no-host-ptr", 1),
        ("embedded,old,no-profiling,quiet,no-parts,no-clock,odd-align", 2),
    ] {
        let place = Place::new();
        let small = ["run", "zero-copy", "--filter", "n<=65536", "--filter", "triad"];
        let output = board(&place, lies, &[&small[..], &["--rounds", "1"]].concat());
        assert_eq!(output.status.code(), Some(0), "{lies}: {}", text(&output.stderr));
        let run = place.run();
        let [record] = &run.records[..] else { panic!("{lies}: {:?}", run.records) };
        let found = record.detail.as_ref().expect("times");
        let found: ZeroCopy = found.read().expect("as it was written");
        let why: Vec<_> = found.skipped.iter().map(|(_, why)| why.as_str()).collect();
        assert_eq!((found.kinds.len(), why.len()), (kinds, 2 - kinds), "{lies}: {why:?}");
        assert!(why.iter().all(|why| why.contains("CL_INVALID_HOST_PTR")), "{why:?}");
    }
}
