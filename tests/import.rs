//! What other programs measured, by the real binary: imported, reported, ranked, compared and exported.

mod common;

use common::{Place, text};

const MAPPING: &str = "version: 1
device: { name: gpu, api: { is: cuda } }
workload: kernel
size: { n: n }
time: { columns: [ms], unit: ms }
outcome: { column: status, ok: passed }
";

fn table(seconds: [f64; 2]) -> String {
    let [a, b] = seconds;
    format!(
        "gpu,kernel,n,ms,status\nA,blur,64,{a},passed\nB,blur,64,{b},passed\nB,scan,64,1,wrong\n"
    )
}

fn imported(place: &Place, name: &str, rounds: &[[f64; 2]]) {
    let path = |name: &str| place.folder.path().join(name);
    std::fs::write(path("map.yaml"), MAPPING).expect("written");
    let files: Vec<String> = (0..rounds.len()).map(|i| format!("{name}{i}.csv")).collect();
    for (file, times) in files.iter().zip(rounds) {
        std::fs::write(path(file), table(*times)).expect("written");
    }
    let mut args = vec!["import", "csv", "--mapping", "map.yaml", "--output", name];
    args.extend(files.iter().map(String::as_str));
    let output = place.output(&args);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn an_imported_run_is_one_like_any_other_and_says_so() {
    let place = Place::new();
    imported(&place, "old.jsonl", &[[1.0, 2.0], [1.01, 2.01], [0.99, 2.0]]);
    imported(&place, "new.jsonl", &[[1.5, 2.0], [1.51, 2.01], [1.49, 2.0]]);
    let report = text(&place.output(&["report", "old.jsonl"]).stdout);
    assert!(report.contains("A · cuda (imported)") && report.contains("imported from"), "{report}");
    assert!(report.contains("old.jsonl0.csv, SHA-256 "), "{report}");
    let alone = place.output(&["rank", "old.jsonl"]);
    assert_eq!(alone.status.code(), Some(2), "nothing to rank: {}", text(&alone.stdout));
    assert!(text(&alone.stderr).contains("--include-imported"));
    let ranked = text(&place.output(&["rank", "old.jsonl", "--include-imported"]).stdout);
    assert!(ranked.contains("B · cuda (imported) is 2.00 × slower"), "{ranked}");
    let compared = place.output(&["compare", "new.jsonl", "old.jsonl", "--fail-on", "slower:5"]);
    assert_eq!(compared.status.code(), Some(1), "{}", text(&compared.stdout));
    let exported = text(&place.output(&["export", "new.jsonl", "--format", "csv"]).stdout);
    assert!(exported.lines().any(|line| line.contains("blur") && line.contains("0.0015")));
    let again = place.output(&["import", "shoc", "map.yaml", "--output", "old.jsonl"]);
    assert_eq!(again.status.code(), Some(2), "{}", text(&again.stderr));
}

/// A file that counted twice would seem to have been measured twice, with no spread at all.
#[test]
fn a_file_counts_once_however_often_it_is_named() {
    let place = Place::new();
    imported(&place, "once.jsonl", &[[1.0, 2.0]]);
    imported(&place, "twice.jsonl", &[[1.0, 2.0], [1.0, 2.0]]);
    let rounds = |paths: &[&str]| {
        let rank = ["rank", "--include-imported", "--format", "json"];
        let output = place.output(&[&rank[..], paths].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let ranking: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        ranking["ranking"]["families"][0]["rows"][0]["rounds"].clone()
    };
    let one = serde_json::json!([1, 1]);
    assert_eq!(rounds(&["once.jsonl"]), one);
    assert_eq!(rounds(&["twice.jsonl"]), one);
    assert_eq!(rounds(&["once.jsonl", "twice.jsonl"]), one, "one file, imported at two times");
}

/// What any program may have written: a value of a parameter that has 301 digits, or none.
#[test]
fn values_of_parameters_are_read_as_numbers_and_named_in_short() {
    let place = Place::new();
    let path = |name: &str| place.folder.path().join(name);
    let space = |value: &str| {
        let result = |value: &str, ms: u32| {
            format!(
                r#"{{"configuration":{{"x":{value}}},"invalidity":"correct","measurements":[{{"name":"time","value":{ms},"unit":"ms"}}]}}"#
            )
        };
        let results = [result(value, 1), result("2", 3)].join(",");
        let all = format!(
            r#"{{"metadata":{{"device_name":"D","kernel_name":"k"}},"results":[{results}]}}"#
        );
        std::fs::write(path("t4.json"), all).expect("written");
        let import = ["import", "kernel-tuner", "t4.json", "--output", "run.jsonl"];
        let imported = place.output(&import);
        let report = text(&place.output(&["report", "run.jsonl"]).stdout);
        let _ = std::fs::remove_file(path("run.jsonl"));
        let replay = place.output(&["tune", "--replay", "t4.json", "--variants", "2"]);
        (imported.status.code(), report + &text(&replay.stdout))
    };
    for (value, shown) in [("1e300", "x=1e300"), ("5e-324", "x=5e-324"), ("16", "x=16")] {
        let (code, text) = space(value);
        assert!(code == Some(0) && text.contains(shown), "{text}");
        assert!(!text.contains(&"0".repeat(20)), "{text}");
    }
    for no_number in [r#""1e400""#, r#""nan""#] {
        assert_eq!(space(no_number).0, Some(2), "{no_number}");
    }
}

#[test]
fn a_mapping_that_has_no_end_is_not_read() {
    let place = Place::new();
    std::fs::write(place.folder.path().join("t.csv"), "a\n1\n").expect("written");
    let import = ["import", "csv", "--mapping", "/dev/zero", "--output", "run.jsonl", "t.csv"];
    let output = place.output(&import);
    assert!(text(&output.stderr).contains("a pipe or a device"), "{}", text(&output.stderr));
}

#[test]
fn what_nobody_checked_is_unchecked_and_ranked_on_request() {
    let place = Place::new();
    let shoc = "device,platform,sgemm_n,ocl_queue\nk40,cuda6,1000,0.01\nc1060,cuda5,250,0.02\n";
    std::fs::write(place.folder.path().join("shoc.csv"), shoc).unwrap();
    let output = place.output(&["import", "shoc", "shoc.csv", "--output", "shoc.jsonl"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = text(&place.output(&["report", "shoc.jsonl"]).stdout);
    assert!(report.contains("0 verified") && report.contains("4 unchecked"), "{report}");
    let ranked = text(&place.output(&["rank", "shoc.jsonl", "--include-imported"]).stdout);
    assert!(ranked.contains("c1060 · cuda5 · opencl (imported) is 2.83 × slower"), "{ranked}");
}
