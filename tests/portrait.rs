//! What an H100 can do, by both APIs side by side: the portrait of two recorded runs.
#![expect(clippy::unwrap_used, reason = "a helper of tests panics as tests do")]

use flate2::read::GzDecoder;
use std::fs::File;
use std::path::Path;
use std::process::Command;

/// The portrait of the runs of `ceilings`, unpacked into `folder`.
fn portrait(folder: &Path, options: &[&str]) -> String {
    portrait_of(["visit-4-ceilings-opencl", "ceilings-vulkan"], folder, options)
}

/// The portrait of two recorded runs in this order, unpacked into `folder`.
fn portrait_of(runs: [&str; 2], folder: &Path, options: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpubench"));
    command.args(["portrait", "--color", "never"]).args(options);
    for name in runs {
        let packed = format!("docs/results/h100/{name}.jsonl.gz");
        let packed = File::open(Path::new(env!("CARGO_MANIFEST_DIR")).join(packed)).unwrap();
        let run = folder.join(format!("{name}.jsonl"));
        std::io::copy(&mut GzDecoder::new(packed), &mut File::create(&run).unwrap()).unwrap();
        command.arg(run);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The line of a row, in the table that begins with `title`.
fn row<'a>(text: &'a str, title: &str, what: &str) -> &'a str {
    let table = text.split(title).nth(1).unwrap_or_else(|| panic!("no {title}: {text}"));
    let mut lines = table.lines().map(str::trim);
    lines.find(|line| line.starts_with(what)).unwrap_or_else(|| panic!("no {what}: {text}"))
}

#[test]
fn an_h100_is_shown_by_both_apis_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let text = portrait(folder.path(), &[]);
    let f32 = row(&text, "Ceilings\n", "arithmetic/f32");
    assert_eq!(f32.matches(" TFLOP/s ±").count(), 2, "{f32}");
    let whole = row(&text, "Ceilings\n", "arithmetic/i32");
    assert!(whole.contains(" TOP/s"), "whole numbers are no FLOP: {whole}");
    let half = row(&text, "Ceilings\n", "arithmetic/f16");
    assert!(half.contains("unsupported") && half.contains("TFLOP/s"), "{half}");
    let dot = row(&text, "Ceilings\n", "arithmetic/dot_i8");
    assert!(dot.contains(" implausible "), "{dot}");
    let variant = row(&text, "Variants that reached the ceilings\n", "arithmetic/f64");
    assert!(
        variant.contains("T=f64x2 UNROLL=4") && variant.contains("72 of 168 variants ran"),
        "{variant}"
    );
    assert!(row(&text, "Levels of memory\n", "bandwidth 1").contains("TB/s"));
    assert!(row(&text, "Bandwidth by working set, read_set\n", "4.00 KiB").contains("TB/s"));
}

#[test]
fn one_device_can_be_shown_alone_and_a_page_has_curves() {
    let folder = tempfile::tempdir().unwrap();
    let alone = portrait(folder.path(), &["--device", "vulkan:0"]);
    assert!(alone.contains("Vulkan 1.4.312") && !alone.contains("OpenCL 3.0"), "{alone}");
    let page = portrait(folder.path(), &["--format", "html"]);
    assert!(page.starts_with("<!DOCTYPE html>") && page.matches("<svg").count() >= 2);
    assert!(page.contains("Variants that reached the ceilings"));
}

/// One run says what ceilings the device lacks, the other what atomics cost.
#[test]
fn what_two_runs_show_of_a_device_is_shown_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let of = |runs: [&str; 2]| portrait_of(runs, folder.path(), &[]);
    let [one, other] = ["visit-5-ceilings-opencl", "visit-5-characterise-opencl"];
    let text = of([one, other]);
    assert_eq!(text, of([other, one]));
    assert!(row(&text, "Ceilings\n", "subgroup/ballot").contains("unsupported"), "{text}");
    let atomics = row(&text, "Launches, local memory", "atomic additions to one word");
    assert!(atomics.contains("G/s"), "{atomics}");
}
