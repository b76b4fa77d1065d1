//! What an H100 can do, by both APIs side by side: the portrait of two recorded runs.
#![expect(clippy::unwrap_used, reason = "a helper of tests panics as tests do")]

use flate2::read::GzDecoder;
use std::fs::File;
use std::path::Path;
use std::process::Command;

/// The portrait of the runs of `ceilings`, unpacked into `folder`.
fn portrait(folder: &Path, options: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpubench"));
    command.args(["portrait", "--color", "never"]).args(options);
    for name in ["visit-4-ceilings-opencl", "ceilings-vulkan"] {
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
