//! `gpubench devices` and `gpubench doctor` as a user runs them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::Value;
use std::process::{Command, Output};

fn gpubench(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpubench"));
    command.args(arguments);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Without drivers: the loaders look where there are none.
fn without_drivers(arguments: &[&str]) -> Output {
    let empty = tempfile::tempdir().unwrap();
    let mut command = gpubench(arguments);
    command.env("OCL_ICD_VENDORS", empty.path()).env_remove("OPENCL_DYLIB_PATH");
    command.env("VK_DRIVER_FILES", empty.path().join("none.json"));
    command.env("VK_ICD_FILENAMES", empty.path().join("none.json"));
    command.output().unwrap()
}

#[test]
fn simulated_devices_are_listed_when_asked_for() {
    let listed = gpubench(&["devices", "--backend", "sim"]).output().unwrap();
    assert!(listed.status.success(), "{}", text(&listed.stderr));
    let table = text(&listed.stdout);
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    assert!(table.contains("Tesla K40c") && table.contains("simulated"), "{table}");

    let json = gpubench(&["devices", "--json", "--device", "sim:teslak40c"]).output().unwrap();
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 1);
    assert_eq!((&json[0]["name"], &json[0]["backend"]), (&"Tesla K40c".into(), &"sim".into()));
    assert!(
        json[0]["physical_gpu"].is_u64()
            && json[0]["selector"].as_str().unwrap().starts_with("sim:")
    );

    let usual = gpubench(&["devices", "--json"]).output().unwrap();
    assert!(!text(&usual.stdout).contains("\"sim\""));
}

#[test]
fn a_description_of_ones_own_is_a_device_and_its_mistakes_are_located() {
    let folder = tempfile::tempdir().unwrap();
    let shipped = include_str!("../crates/device/src/sim/devices/tesla-c2075.yaml");
    let listed = |text: &str| {
        std::fs::write(folder.path().join("my.yaml"), text).unwrap();
        let mut command = gpubench(&["devices", "--json", "--sim", "my.yaml"]);
        command.current_dir(folder.path()).output().unwrap()
    };
    let good = listed(&shipped.replace("Tesla C2075", "Mine"));
    let json: Value = serde_json::from_slice(&good.stdout).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 1, "the shipped ones stay away");
    assert_eq!((&json[0]["name"], &json[0]["simulated"]), (&"Mine".into(), &true.into()));
    assert!(json[0]["sources"]["costs"].as_str().unwrap().starts_with("assumed"), "{json:#}");
    for (good, bad, place, message) in [
        ("units: 14", "units: 0", "my.yaml:5:8", "0 is too small"),
        ("units: 14", "units: many", "my.yaml:5:8", "expected i64"),
        ("warp: 32", "wrap: 32", "my.yaml:6:1", "unknown field `wrap`"),
        ("bandwidth: 144.0e9", "bandwidth: -144.0e9", "my.yaml:28:14", "no positive number"),
        ("engines: 2", "engines: 3", "my.yaml:33:12", "0, 1 or 2"),
    ] {
        assert!(shipped.contains(good), "{good}");
        let output = listed(&shipped.replace(good, bad));
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            output.stdout.is_empty() && said.contains(place) && said.contains(message),
            "{said}"
        );
    }
    let missing = gpubench(&["devices", "--sim", "nowhere.yaml"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
    let unknown = gpubench(&["run", "--sim", "quick"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("Tesla K40c"), "{}", text(&unknown.stderr));
}

#[test]
fn a_selector_that_is_not_one_physical_gpu_lists_the_choices() {
    for (name, said) in [("tesla", "means several devices"), ("no such thing", "no device matches")]
    {
        let output = gpubench(&["devices", "--backend", "sim", "--device", name]).output().unwrap();
        let said_here = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said_here}");
        assert!(output.stdout.is_empty() && said_here.contains(said), "{said_here}");
        assert!(said_here.contains("Tesla K40c"), "{said_here}");
    }
    let unknown = gpubench(&["devices", "--backend", "cuda"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(2));
}

#[test]
#[cfg(target_os = "linux")]
fn without_a_device_every_command_prints_the_doctor() {
    let output = without_drivers(&["devices"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(output.stdout.is_empty());
    for part in ["no usable device", "OpenCL\n", "Vulkan\n", "0 devices usable"] {
        assert!(said.contains(part), "{part} in {said}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_doctor_counts_devices() {
    let output = without_drivers(&["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(3));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["devices"], 0);
    let findings = json["findings"].as_array().unwrap();
    assert!(findings.iter().any(|f| f["state"] == "problem" && f["todo"].is_string()), "{json:#}");
    let here = gpubench(&["doctor"]).output().unwrap();
    let expected = if text(&here.stdout).contains("\n0 devices usable") { 3 } else { 0 };
    assert_eq!(here.status.code(), Some(expected), "{}", text(&here.stdout));
}

#[test]
fn a_library_that_does_not_load_says_why() {
    let output = gpubench(&["doctor", "--load", "no-such-library.so"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("no-such-library"));
}
