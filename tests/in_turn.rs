//! `gpubench run --against`: two suites measured in turn, and compared round by round.
#![cfg(target_os = "linux")]

mod common;

use common::{Place, text};
use gpubench::record::Record;

/// Transposes zeros; the command that says what is expected notes whose they are.
const SUITE: &str = "version: 1
name: mine
workloads:
  transpose:
    kernel: { family: transpose, entry: transpose_tiled, group: [32, 8], constants: { TILE: 32, PAD: 1 } }
    sizes: { n: [64, 128, 256] }
    params: { rows: n, cols: n }
    buffers:
      a: { type: f32, count: n*n, fill: { constant: 0 }, access: read }
      out: { type: f32, count: n*n, access: write }
    grid: [n, \"ceil_div(n, TILE)*8\"]
    work: { flops: 0, bytes: 8*n^2 }
    verify: { VERIFY, relative: 0, absolute: 0 }
";

/// The transpose of zeros is what it is; `sh` runs in the suite's folder.
const EXPECTED: &str = "cp \"$1/a.npy\" \"$2/out.npy\"; echo \"${PWD##*/}\" >> ../log\n";

/// The suite in two folders of a place, `new` and `old`; the old one lacks the last size.
fn two_suites(verify: &str) -> Place {
    let place = Place::new();
    let suite = SUITE.replace("VERIFY", verify);
    for name in ["new", "old"] {
        let folder = place.folder.path().join(name);
        std::fs::create_dir(&folder).expect("a folder");
        let suite = if name == "old" { suite.replace(", 256]", "]") } else { suite.clone() };
        std::fs::write(folder.join("mine.yaml"), suite).expect("writable");
        std::fs::write(folder.join("expected.sh"), EXPECTED).expect("writable");
    }
    place
}

const RUN: [&str; 5] = ["run", "new/mine.yaml", "--against", "old/mine.yaml", "--trust"];

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn two_suites_take_turns_case_by_case_and_are_compared_round_by_round() {
    let place = two_suites("command: [sh, expected.sh]");
    let output = place.output(
        &[&RUN[..], &["--device", "opencl:0", "--seed", "1", "--rounds", "3", "--output", "now"]]
            .concat(),
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let log = std::fs::read_to_string(place.folder.path().join("log")).expect("a log");
    assert_eq!(
        log.lines().collect::<Vec<_>>(),
        ["new", "old", "new", "old", "new"],
        "from small to large"
    );

    let mut files: Vec<_> = std::fs::read_dir(place.folder.path().join("now"))
        .expect("a folder")
        .map(|file| file.expect("a file").path().display().to_string())
        .collect();
    files.sort();
    let [new, old] = &files[..] else { panic!("{files:?}") };
    assert!(old.ends_with(".old.jsonl"), "as a pattern orders them: {files:?}");
    let read = |file: &String| gpubench::store::read(std::path::Path::new(file)).expect("a result");
    let [new_run, old_run] = [read(new), read(old)];
    let pair = |run: &gpubench::store::Run| run.header.in_turn.clone().expect("in turn");
    assert_eq!(pair(&new_run).pair, pair(&old_run).pair);
    assert!(pair(&old_run).is_old && !pair(&new_run).is_old);
    let rounds = |records: &[Record]| -> Vec<String> {
        let small = records.iter().filter(|record| record.key.size[0].1 < 256);
        small.map(|record| format!("{} {}", record.round, record.key)).collect()
    };
    assert_eq!(rounds(&new_run.records), rounds(&old_run.records), "each in the same order");

    let compared = place.output(&["compare", new, old]);
    let said = text(&compared.stdout);
    assert_eq!(compared.status.code(), Some(0), "{said}{}", text(&compared.stderr));
    assert!(said.contains("measured in turn"), "{said}");
    assert!(said.contains("not in the old run"), "the size that the old one lacks: {said}");
    for wrong in [&["compare", old, new][..], &["baseline", "save", new, old]] {
        let output = place.output(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(text(&output.stderr).contains("it is the old state"), "{wrong:?}");
    }
}

/// Whoever waits, waits for both: what is estimated and what it took are sums over the two files.
#[test]
fn the_time_of_both_suites_is_estimated_and_said() {
    let place = two_suites("reference: transpose");
    let more = ["--sim", "k40c", "--rounds", "3", "--output", "now.jsonl"];
    let begun = std::time::Instant::now();
    let output = place.output(&[&RUN[..], &more].concat());
    let elapsed = begun.elapsed().as_secs_f64();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let footers = ["now.jsonl", "now.old.jsonl"].map(|file| {
        let run = gpubench::store::read(&place.folder.path().join(file)).expect("a result");
        run.footer.expect("a footer")
    });
    let took: f64 = footers.iter().map(|footer| footer.wall).sum();
    let estimated: f64 = footers.iter().filter_map(|footer| footer.estimated).sum();
    assert!(0.0 < took && took <= elapsed, "{took} s of {elapsed} s");
    let [took, estimated] = [took, estimated].map(gpubench::units::seconds);
    let end = format!("took {took} of {estimated} estimated, both suites");
    assert!(said.contains(&end), "no `{end}` in {said}");
    let begin = format!("both suites in turn; estimated time: {estimated}");
    assert!(said.contains(&begin), "no `{begin}` in {said}");
    // The new suite has a case more: they are not estimated alike.
    assert!(footers[0].estimated > footers[1].estimated, "{footers:?}");
    let dry = place.output(&[&RUN[..], &more[..4], &["--dry-run"]].concat());
    assert!(text(&dry.stdout).contains(&begin), "{}", text(&dry.stdout));
}

#[test]
fn what_is_measured_in_turn_is_not_resumed() {
    let place = two_suites("reference: transpose");
    let output = place
        .output(&[&RUN[..], &["--sim", "k40c", "--rounds", "1", "--output", "now.jsonl"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let file = place.folder.path().join("now.jsonl");
    assert!(file.is_file() && place.folder.path().join("now.old.jsonl").is_file());
    let whole = std::fs::read_to_string(&file).expect("readable");
    let cut: String = whole.split_inclusive('\n').take(2).collect();
    std::fs::write(&file, cut).expect("writable");
    let resumed = place.output(&["run", "new/mine.yaml", "--resume", "now.jsonl", "--sim", "k40c"]);
    assert_eq!(resumed.status.code(), Some(2));
    let said = text(&resumed.stderr);
    assert!(said.contains("measured in turn with another run"), "{said}");
}

/// Each suite's case warms the device for the other's: all begin after a pause but the first of both.
#[test]
fn the_device_cools_down_between_the_cases_of_both_suites() {
    let place = two_suites("reference: transpose");
    let more = ["--sim", "k40c", "--rounds", "2", "--cool-down", "5", "--output", "now.jsonl"];
    let output = place.output(&[&RUN[..], &more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let without_pause = |file: &str| {
        let run = gpubench::store::read(&place.folder.path().join(file)).expect("a result");
        run.records.iter().filter(|record| record.monitor.cool_down.is_none()).count()
    };
    assert_eq!(["now.jsonl", "now.old.jsonl"].map(without_pause), [1, 0]);
}
