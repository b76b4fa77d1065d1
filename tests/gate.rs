//! The gate by the real binary: first lines, exit codes, formats, speed, and what baselines remember.
#![cfg(target_os = "linux")]

mod common;

use common::{Place, invented, output};
use gpubench::record::{Host, METHOD, Outcome, Record};
use gpubench::store::{Writer, read};
use std::path::Path;

/// What sets an invented run apart from a usual one.
struct Run<'a> {
    file: &'a str,
    started: &'a str,
    driver: &'a str,
    host: &'a str,
    /// Cases `copy n=0`, `copy n=1` …, each so many times a millisecond; `None` where its result is wrong.
    cases: Vec<Option<f64>>,
    /// Seconds of the reference kernels by round, in units of the usual.
    speed: [f64; 5],
    /// By how much the rounds of a case differ, at most four times this.
    scatter: f64,
    /// By which rules it was timed.
    method: u32,
}

impl Default for Run<'_> {
    fn default() -> Self {
        Self {
            file: "run.jsonl",
            started: "2025-01-31T12:30:05Z",
            driver: "1.0",
            host: "EPYC",
            cases: vec![Some(1.0); 4],
            speed: [1.0; 5],
            scatter: 1e-4,
            method: METHOD,
        }
    }
}

impl Run<'_> {
    fn write(&self, place: &Place) {
        let mut device = invented::device("Card A");
        device.driver = self.driver.into();
        let mut header = invented::header(vec![device], 5);
        header.started = self.started.into();
        header.method = self.method;
        header.host = Host { cpu: self.host.into(), cores: 2, ..Host::default() };
        let path = place.folder.path().join(self.file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let mut writer = Writer::create_at(&path, &header).expect("a new file");
        for (round, speed) in (0..5).zip(self.speed) {
            for (n, factor) in (0..).zip(&self.cases) {
                let wobble = 1.0 + self.scatter * f64::from((round * 7 + n as u32) % 5);
                let seconds = 1e-3 * factor.unwrap_or(1.0) * wobble;
                let mut record =
                    invented::record(invented::key("copy", n), 0, round, vec![seconds; 15]);
                record.monitor.reference_kernel = Some([3e-4 * speed; 2]);
                record.monitor.memory_kernel = Some(5e-3 * speed);
                if factor.is_none() {
                    let outcome = Outcome::Failed("wrong".into());
                    record = Record { outcome, measured: None, ..record };
                }
                writer.append(&record).expect("written");
            }
        }
        writer.leave().expect("on disk");
    }
}

/// The exit code and the first line of a comparison with `old.jsonl`.
fn gate(place: &Place, args: &[&str]) -> (Option<i32>, String) {
    let all = [&["compare", "new.jsonl", "old.jsonl"], args].concat();
    let (code, stdout, stderr) = output(place, &all);
    (code, stdout.lines().next().unwrap_or(&stderr).to_owned())
}

fn compared(cases: Vec<Option<f64>>) -> Place {
    let place = Place::new();
    Run { file: "old.jsonl", ..Run::default() }.write(&place);
    Run { file: "new.jsonl", cases, ..Run::default() }.write(&place);
    place
}

#[test]
fn each_reason_has_its_exit_code_and_the_first_line_counts() {
    let place = compared(vec![Some(1.0), Some(1.1), None]);
    let (code, line) = gate(&place, &["--fail-on"]);
    assert_eq!(code, Some(4), "a wrong result is the gravest: {line}");
    assert!(line.starts_with("FAIL: 1 slower, 1 unverified, 1 missing; 1 the same"), "{line}");
    assert_eq!(gate(&place, &["--fail-on", "slower:5,missing"]).0, Some(1));
    assert_eq!(gate(&place, &["--fail-on", "slower:20,missing"]).0, Some(5));
    let (code, line) = gate(&place, &["--fail-on", "slower:20"]);
    assert!(code == Some(0) && line.starts_with("PASS: 0 slower by more than 20.0 %"), "{line}");
    // Without a gate nothing fails, and a missing value or a doubtful one is a mistake.
    assert_eq!(gate(&place, &[]).0, Some(0));
    assert_eq!(gate(&place, &["--fail-on", "slower:0.05"]).0, Some(2));
    assert_eq!(gate(&place, &["--fail-on", "faster"]).0, Some(2));
}

/// Every code that a gate leaves with, in the order of the page, and what its row says of it.
#[test]
fn the_page_of_continuous_integration_has_every_exit_code() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/howto/ci.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let rows: Vec<&str> =
        rows.filter(|row| row.as_bytes().get(2).is_some_and(u8::is_ascii_digit)).collect();
    let found = |[old, new]: [Vec<Option<f64>>; 2], scatter: f64, gate: &str| {
        let place = Place::new();
        Run { file: "old.jsonl", cases: old, scatter, ..Run::default() }.write(&place);
        Run { file: "new.jsonl", cases: new, scatter, ..Run::default() }.write(&place);
        let (code, _, _) =
            output(&place, &["compare", "new.jsonl", "old.jsonl", "--fail-on", gate]);
        code.expect("a code")
    };
    let all = "slower:5,unverified,missing,unsure";
    let [same, slow] = [Some(1.0), Some(1.2)];
    let of_two = |new: Vec<Option<f64>>| [vec![same; 2], new];
    let codes = [
        (found(of_two(vec![same; 2]), 1e-4, all), "PASS"),
        (found(of_two(vec![slow, None]), 1e-4, all), "a case is wrong or failed"),
        (found(of_two(vec![slow]), 1e-4, all), "a case is slower"),
        (found(of_two(vec![same]), 1e-4, all), "it is gone"),
        (found(of_two(vec![same; 2]), 0.05, all), "a case is unsure"),
        (found([vec![None; 2], vec![same; 2]], 1e-4, all), "nothing could be compared"),
        (found(of_two(vec![same; 2]), 1e-4, "faster"), "a mistake on the command line"),
    ];
    assert_eq!(rows.len(), codes.len(), "{rows:#?}");
    for ((code, what), row) in codes.into_iter().zip(rows) {
        assert!(row.starts_with(&format!("| {code}")) && row.contains(what), "{code}: {row}");
    }
}

#[test]
fn nothing_to_compare_has_a_code_of_its_own() {
    let place = Place::new();
    Run { file: "old.jsonl", cases: vec![None], ..Run::default() }.write(&place);
    Run { file: "new.jsonl", ..Run::default() }.write(&place);
    for args in [&[][..], &["--fail-on"]] {
        assert_eq!(gate(&place, args).0, Some(7));
    }
    assert_eq!(output(&place, &["compare", "new.jsonl"]).0, Some(7), "no baseline");
}

/// Rounds that differ by 20 % do not tell whether a case is 2 % slower.
#[test]
fn an_unsure_case_fails_with_a_code_of_its_own_where_that_is_wanted() {
    let place = Place::new();
    Run { file: "old.jsonl", scatter: 0.05, ..Run::default() }.write(&place);
    let cases = vec![Some(1.02); 4];
    Run { file: "new.jsonl", cases, scatter: 0.05, ..Run::default() }.write(&place);
    let (code, line) = gate(&place, &["--fail-on", "slower,unverified,missing,unsure"]);
    assert_eq!(code, Some(6), "{line}");
    let counts = "0 slower, 0 unverified, 0 missing; 0 the same, 0 faster, 4 unsure, 0 new";
    assert_eq!(line, format!("FAIL: {counts}"));
    let (code, line) = gate(&place, &["--fail-on"]);
    assert_eq!((code, line), (Some(0), format!("PASS: {counts}")), "unless it is wanted");
    let args = ["compare", "new.jsonl", "old.jsonl", "--fail-on"];
    let (_, stdout, _) = output(&place, &args);
    let second = stdout.lines().nth(2).unwrap_or_default();
    assert!(second.starts_with("Of 4 unsure: ") && second.contains(" rounds on"), "{stdout}");
}

#[test]
fn every_format_names_host_device_driver_verdict_and_rule() {
    let place = compared(vec![Some(1.0), Some(1.1), None, Some(1.0)]);
    let format = |name| {
        output(
            &place,
            &["compare", "new.jsonl", "old.jsonl", "--fail-on", "slower:5", "--format", name],
        )
    };
    let (code, xml, _) = format("junit");
    assert_eq!(code, Some(1));
    for part in [
        "<testsuite name=\"Card A (opencl)\"",
        "tests=\"4\" failures=\"1\" skipped=\"1\"",
        "<property name=\"driver\" value=\"1.0\">",
        "<property name=\"host\" value=\"EPYC, 2 cores\">",
        "<failure type=\"slower\" message=\"new over old is 1.100",
        "<skipped message=\"unverified: ",
    ] {
        assert!(xml.contains(part), "{part} is not in\n{xml}");
    }
    let (_, json, _) = format("json");
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["pass"], false);
    let slow = &value["cases"][1];
    assert_eq!((&slow["verdict"], &slow["driver"]), (&"slower".into(), &"1.0".into()));
    assert!(slow["rule"].as_str().is_some_and(|rule| rule.contains("exceeds the tolerance")));
    let (_, page, _) = format("md");
    assert!(page.starts_with("**FAIL: 1 slower by more than 5.0 %"), "{page}");
}

/// A slower case has one sign, in the terminal, a comment and a page alike; no other sign stands for it.
#[test]
fn a_slower_case_has_one_sign_everywhere() {
    let place = compared(vec![Some(1.0), Some(1.2), Some(1.0), Some(1.0)]);
    let compare = ["compare", "new.jsonl", "old.jsonl"];
    let report = ["report", "new.jsonl", "--baseline", "old.jsonl"];
    for args in [
        &compare[..],
        &[&compare[..], &["--format", "md"]].concat(),
        &[&report[..], &["--format", "text"]].concat(),
        &[&report[..], &["--format", "md"]].concat(),
        &[&report[..], &["--format", "html"]].concat(),
    ] {
        let (code, stdout, stderr) = output(&place, args);
        assert_eq!(code, Some(0), "{args:?}: {stderr}");
        assert_eq!(stdout.matches("▼ SLOWER").count(), 1, "{args:?}: {stdout}");
        assert_eq!(stdout.matches("SLOWER").count(), 1, "{args:?}: {stdout}");
    }
}

#[test]
fn a_machine_of_another_speed_is_neither_faster_nor_slower() {
    for (speed, code) in [(1.94, 0), (1.0, 1)] {
        let place = Place::new();
        Run { file: "old.jsonl", ..Run::default() }.write(&place);
        let run = Run { file: "new.jsonl", cases: vec![Some(1.94); 4], ..Run::default() };
        Run { speed: [speed; 5], ..run }.write(&place);
        let (found, stdout, _) =
            output(&place, &["compare", "new.jsonl", "old.jsonl", "--fail-on"]);
        assert_eq!(found, Some(code), "{stdout}");
        assert!(stdout.contains("speed: the reference kernels take"), "{stdout}");
    }
    // A slowdown on top of that is found; of the others, with a new driver, nobody knows.
    for driver in ["1.0", "2.0"] {
        let place = Place::new();
        Run { file: "old.jsonl", ..Run::default() }.write(&place);
        let slowed = vec![Some(1.3), Some(1.3), Some(1.3 * 1.2), Some(1.3)];
        let run = Run { file: "new.jsonl", cases: slowed, driver, ..Run::default() };
        Run { speed: [1.3; 5], ..run }.write(&place);
        let (found, stdout, _) =
            output(&place, &["compare", "new.jsonl", "old.jsonl", "--fail-on"]);
        assert_eq!(found, Some(1), "{stdout}");
        assert_eq!(stdout.contains("? speed"), driver == "2.0", "{stdout}");
    }
}

#[test]
fn runs_whose_speed_drifted_are_no_baseline_and_teach_no_floor() {
    let place = Place::new();
    Run { file: "a.jsonl", speed: [1.0, 1.0, 1.3, 1.3, 1.3], ..Run::default() }.write(&place);
    let (code, _, stderr) = output(&place, &["baseline", "save", "a.jsonl"]);
    assert!(code == Some(2) && stderr.contains("--allow drift"), "{stderr}");
    assert_eq!(output(&place, &["baseline", "save", "a.jsonl", "--allow", "drift"]).0, Some(0));
    // Three runs, of which one was slower as the whole machine was.
    for (file, by) in [("b.jsonl", 1.0), ("c.jsonl", 1.4), ("d.jsonl", 1.001)] {
        let day = &file[..1];
        let started = format!("2025-02-0{}T00:00:00Z", day.as_bytes()[0] - b'a');
        let cases = vec![Some(by); 4];
        Run { file, started: &started, cases, speed: [by; 5], ..Run::default() }.write(&place);
    }
    let all =
        ["baseline", "save", "b.jsonl", "c.jsonl", "d.jsonl", "--replace", "--allow", "drift"];
    let (code, _, stderr) = output(&place, &all);
    assert!(code == Some(0) && stderr.contains("from 2 runs"), "{stderr}");
    let (_, shown, _) = output(&place, &["baseline", "show", "card-a"]);
    assert!(shown.contains("0.1") && !shown.contains("40 %"), "{shown}");
}

/// The files of the baselines here.
fn baselines(place: &Place) -> Vec<String> {
    let files = std::fs::read_dir(place.folder.path().join("baselines")).expect("a folder");
    let name = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> = files.map(|entry| name(entry.expect("readable"))).collect();
    names.sort();
    names
}

#[test]
fn another_driver_has_a_baseline_of_its_own_and_the_nearest_is_named() {
    let place = Place::new();
    Run { file: "a.jsonl", ..Run::default() }.write(&place);
    assert_eq!(output(&place, &["baseline", "save", "a.jsonl"]).0, Some(0));
    Run { file: "b.jsonl", driver: "2.0", host: "Xeon", ..Run::default() }.write(&place);
    let (code, stdout, stderr) = output(&place, &["compare", "b.jsonl", "--fail-on"]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert!(stderr.contains("another driver: 1.0, not 2.0"), "{stderr}");
    assert!(stderr.contains("another host: EPYC, 2 cores, not Xeon, 2 cores"), "{stderr}");
    assert_eq!(output(&place, &["baseline", "save", "b.jsonl"]).0, Some(0));
    assert_eq!(
        baselines(&place),
        [
            "nobody-card-a-opencl--1-0--epyc-2-cores.jsonl",
            "nobody-card-a-opencl--2-0--xeon-2-cores.jsonl"
        ]
    );
    let (_, _, stderr) = output(&place, &["compare", "b.jsonl"]);
    assert!(!stderr.contains("another"), "{stderr}");
}

#[test]
fn runs_that_were_timed_by_different_rules_are_not_pooled_and_a_comparison_says_so() {
    let place = Place::new();
    Run { file: "old.jsonl", method: METHOD - 1, ..Run::default() }.write(&place);
    let started = "2025-02-01T00:00:00Z";
    Run { file: "new.jsonl", started, ..Run::default() }.write(&place);
    let (code, _, stderr) = output(&place, &["baseline", "save", "old.jsonl", "new.jsonl"]);
    assert!(code == Some(2) && stderr.contains("different rules: save them apart"), "{stderr}");
    assert_eq!(output(&place, &["baseline", "save", "old.jsonl"]).0, Some(0));
    let (code, _, stderr) = output(&place, &["baseline", "update", "new.jsonl"]);
    assert!(code == Some(2) && stderr.contains("timed by other rules"), "{stderr}");
    for with in [&[] as &[&str], &["old.jsonl"]] {
        let (_, _, stderr) = output(&place, &[&["compare", "new.jsonl"], with].concat());
        assert!(stderr.contains("timed by other rules"), "{stderr}");
    }
    assert_eq!(output(&place, &["baseline", "save", "new.jsonl", "--replace"]).0, Some(0));
    let (_, _, stderr) = output(&place, &["compare", "new.jsonl"]);
    assert!(!stderr.contains("rules"), "{stderr}");
}

#[test]
fn an_update_keeps_floors_and_history_and_a_replacement_says_what_it_drops() {
    let place = Place::new();
    for (file, day, by) in [("aa/1.jsonl", 1, 1.0), ("aa/2.jsonl", 2, 1.05)] {
        let started = format!("2025-01-0{day}T00:00:00Z");
        let cases = vec![Some(by); 4];
        Run { file, started: &started, cases, ..Run::default() }.write(&place);
    }
    assert_eq!(output(&place, &["baseline", "save", "aa"]).0, Some(0));
    Run { file: "b.jsonl", started: "2025-01-09T00:00:00Z", ..Run::default() }.write(&place);
    let (code, _, stderr) = output(&place, &["baseline", "update", "b.jsonl"]);
    assert!(code == Some(0) && stderr.contains("4 cases from 3 runs"), "{stderr}");
    let path = place.folder.path().join("baselines").join(&baselines(&place)[0]);
    let noise = read(Path::new(&path)).expect("a baseline").noise.expect("floors");
    assert_eq!((noise.runs, noise.history.len()), (3, 3));
    assert!(noise.floors.iter().all(|(_, floor)| (floor - 0.05).abs() < 1e-3), "{noise:?}");
    let (_, _, stderr) = output(&place, &["baseline", "save", "b.jsonl", "--replace"]);
    assert!(stderr.contains("dropped the noise floors of 4 cases that 3 runs taught"), "{stderr}");
    Run { file: "c.jsonl", driver: "9", ..Run::default() }.write(&place);
    let (code, _, stderr) = output(&place, &["baseline", "update", "c.jsonl"]);
    assert!(code == Some(2) && stderr.contains("baseline save"), "{stderr}");
}

#[test]
fn a_slow_slide_and_a_step_are_found_over_a_folder_of_runs() {
    let place = Place::new();
    for week in 0..16 {
        let file = format!("nightly/{week:02}.jsonl");
        let started = format!("2025-{:02}-{:02}T00:00:00Z", 1 + week / 4, 1 + 7 * (week % 4));
        let step = if week < 9 { 1.0 } else { 1.2 };
        let noise = 1.0 + 0.002 * f64::from(week * 5 % 7 - 3);
        let cases = [1.0, 1.01f64.powi(week), step, 1.0].map(|by| Some(by * noise)).to_vec();
        Run { file: &file, started: &started, cases, ..Run::default() }.write(&place);
    }
    let (code, stdout, stderr) = output(&place, &["baseline", "history", "nightly"]);
    assert_eq!(code, Some(0), "{stderr}");
    let line = |case: &str| stdout.lines().find(|line| line.contains(case)).unwrap_or_default();
    assert!(line("copy n=1").contains("slides +"), "{stdout}");
    assert!(line("copy n=2").contains("steps: 2025-03-08 1.20 ×"), "{stdout}");
    assert!(line("copy n=0").is_empty() && line("copy n=3").is_empty(), "{stdout}");
}

/// What `docs/howto/ci.md` says, followed by its script on a simulated device: a slowdown of 10 % is found, and
/// no change is not red.
#[test]
fn the_script_of_continuous_integration_does_what_its_page_says() {
    let place = Place::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/ci.sh");
    let output = std::process::Command::new(script)
        .args([env!("CARGO_BIN_EXE_gpubench"), "sim", "1", "2"])
        .env("TMPDIR", place.folder.path().join("tmp"))
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let last = said.lines().last();
    let expected = "slowdown of 10 %: found in 1 of 1 tries; none: red in 0 of 2 tries";
    assert_eq!(last, Some(expected), "{said}");
}
