//! `gpubench new`: suites for kernels that exist, which run once their questions are answered.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Place, text};
use gpubench::record::Outcome;
use std::fs;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/new");

/// A folder with copies of the kernels.
fn place() -> Place {
    let place = Place::new();
    for file in fs::read_dir(FOLDER).expect("a folder") {
        let file = file.expect("readable");
        fs::copy(file.path(), place.folder.path().join(file.file_name())).expect("a copy");
    }
    place
}

fn new(place: &Place, args: &[&str]) -> (Option<i32>, String) {
    let output = place.output(&[&["new"], args].concat());
    (output.status.code(), text(&output.stdout) + &text(&output.stderr))
}

/// The suite with every question answered: by the first answer whose key is in its line.
fn answered(suite: &str, answers: &[(&str, &str)]) -> String {
    assert!(suite.contains("\"? "), "it asks nothing: {suite}");
    let line = |line: &str| {
        let Some((before, question)) = line.split_once("\"? ") else { return line.to_owned() };
        let (question, after) = question.split_once('"').expect("a closed question");
        let answer = answers.iter().find(|(key, _)| question.contains(key));
        let (_, answer) = answer.unwrap_or_else(|| panic!("no answer to: {question}"));
        format!("{before}{answer}{after}")
    };
    suite.lines().map(|l| line(l) + "\n").collect()
}

/// NumPy's file of these numbers.
fn npy(numbers: &[f32]) -> Vec<u8> {
    let header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({},), }}", numbers.len());
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(format!("{header:<117}\n").as_bytes());
    file.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
    file
}

/// Writes a suite for `kernel`, answers its questions, runs it and looks whether it verifies.
#[track_caller]
fn runs(kernel: &str, more: &[&str], answers: &[(&str, &str)], expected: &[f32]) {
    let place = place();
    let (code, said) = new(&place, &[&[kernel], more].concat());
    assert_eq!(code, Some(0), "{said}");
    let file = place.folder.path().join(kernel).with_extension("yaml");
    let suite = fs::read_to_string(&file).expect("written");
    let name = file.file_name().expect("a name").to_string_lossy().into_owned();
    // Every question is asked where it stands, before anything else is looked at.
    let asked = place.output(&["check", &name]);
    let asked = (asked.status.code(), text(&asked.stderr));
    assert_eq!(asked.0, Some(2), "{}", asked.1);
    let questions = suite.matches("\"? ").count();
    assert!(said.contains(&format!("{questions} question")), "{said}");
    assert_eq!(asked.1.matches("still to answer: ").count(), questions, "{}", asked.1);
    fs::write(&file, answered(&suite, answers)).expect("writable");
    fs::write(place.folder.path().join("expected.npy"), npy(expected)).expect("writable");
    let ran = place.output(&["run", &name, "--trust", "--verify", "--rounds", "1"]);
    let said = text(&ran.stdout) + &text(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{said}\n{}", fs::read_to_string(&file).unwrap());
    let run = place.run();
    let skipped = |outcome: &Outcome| matches!(outcome, Outcome::Unsupported(_));
    let ran: Vec<_> = run.records.iter().filter(|r| !skipped(&r.outcome)).collect();
    assert!(!ran.is_empty(), "{said}");
    for record in ran {
        assert_eq!(record.outcome, Outcome::Ok, "{said}");
        assert_eq!(record.against.as_deref(), Some("file expected.npy"));
    }
}

const VERIFY: (&str, &str) = ("expected.npy", "{ file: expected.npy }");

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn a_saxpy_runs_once_its_questions_are_answered() {
    let answers = [
        ("work-items of a group", "[64]"),
        ("the number a", "2"),
        ("values of n", "[1000]"),
        ("how many elements", "n"),
        ("contents of x", "index"),
        ("contents of y", "{ constant: 1 }"),
        ("reads y", "read_write"),
        ("work-items along", "[n]"),
        ("operations", "{ flops: 2*n, bytes: 12*n }"),
        VERIFY,
    ];
    let expected: Vec<_> = (0..1000).map(|i| 2.0 * i as f32 + 1.0).collect();
    runs("saxpy.cl", &[], &answers, &expected);
}

/// Pointers to a type of its own, none of them `const`, scalars behind them.
#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn a_gemm_runs_once_its_questions_are_answered() {
    let answers = [
        ("work-items of a group", "[8, 8]"),
        ("the number alpha", "0.5"),
        ("the number beta", "2"),
        ("values of rows", "[8]"),
        ("values of cols", "[12]"),
        ("values of inner", "[4]"),
        ("how many elements a", "rows*inner"),
        ("how many elements b", "inner*cols"),
        ("how many elements c", "rows*cols"),
        ("contents of c", "index"),
        ("contents of", "{ constant: 1 }"),
        ("reads c", "read_write"),
        ("reads", "read"),
        ("work-items along", "[cols, rows]"),
        ("operations", "{ flops: 2*rows*cols*inner }"),
        VERIFY,
    ];
    let expected: Vec<_> = (0..96).map(|i| 2.0 * i as f32 + 2.0).collect();
    runs("gemm.cl", &[], &answers, &expected);
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn a_stencil_keeps_the_group_of_its_text() {
    let answers = [
        ("values of n", "[16]"),
        ("how many elements", "n*n"),
        ("contents of a", "index"),
        ("contents of b", "{ constant: 7 }"),
        ("reads b", "read_write"),
        ("work-items along", "[n, n]"),
        ("operations", "{ flops: 4*n^2, bytes: 8*n^2 }"),
        VERIFY,
    ];
    let inner = |i: usize| (1..15).contains(&(i % 16)) && (1..15).contains(&(i / 16));
    let expected: Vec<_> = (0..256).map(|i| if inner(i) { i as f32 } else { 7.0 }).collect();
    runs("jacobi.cl", &[], &answers, &expected);
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn a_reduction_asks_for_its_local_memory() {
    let answers = [
        ("work-items of a group", "[32]"),
        ("bytes of part", "4*GROUP_X"),
        ("values of n", "[128]"),
        ("how many elements x", "n"),
        ("how many elements sums", "n/32"),
        ("contents of x", "{ constant: 2 }"),
        ("contents of sums", "{ constant: 0 }"),
        ("reads sums", "write"),
        ("work-items along", "[n]"),
        ("operations", "{ flops: n, bytes: 4*n }"),
        VERIFY,
    ];
    runs("sums.cl", &[], &answers, &[64.0; 4]);
}

/// With a header, a vector by value, and a constant without which it does not compile.
#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn a_kernel_with_a_header_compiles_with_a_constant() {
    let answers = [
        ("work-items of a group", "[16]"),
        ("4 numbers for weights", "[1, 2, 3, 4]"),
        ("values of n", "[20]"),
        ("how many elements", "n"),
        ("contents of in", "{ constant: 1 }"),
        ("contents of out", "{ constant: 0 }"),
        ("reads out", "write"),
        ("work-items along", "[n]"),
        ("operations", "{ flops: 8*n, bytes: 32*n }"),
        VERIFY,
    ];
    let expected = [11.0, 12.0, 13.0, 14.0].repeat(20);
    runs("weighted.cl", &["-D", "OFFSET=10"], &answers, &expected);
}

/// Bindings outside of group 0, and an `override` that a parameter of its name sets.
#[test]
#[cfg_attr(not(feature = "require-wgpu"), ignore = "needs a wgpu driver")]
fn a_kernel_in_wgsl_runs_once_its_questions_are_answered() {
    let answers = [
        ("the number factor", "3"),
        ("problem sizes", "{ LIMIT: [100] }"),
        ("how many elements", "LIMIT"),
        ("contents of x", "index"),
        ("work-items along", "[LIMIT]"),
        ("operations", "{ flops: LIMIT, bytes: 8*LIMIT }"),
        VERIFY,
    ];
    let expected: Vec<_> = (0..100).map(|i| 3.0 * i as f32).collect();
    runs("scaled.wgsl", &[], &answers, &expected);
}

/// A picture of 8 × 6 that counts its elements, read where four meet.
const PICTURE: [(&str, &str); 7] = [
    ("an element of picture", "f32"),
    ("elements picture has", "48"),
    ("contents of picture", "index"),
    ("of a row of picture", "8"),
    ("nearest or linear", "linear"),
    ("operations", "{ flops: 4, bytes: 4 }"),
    VERIFY,
];

fn halved_picture() -> Vec<f32> {
    let four_around = |i: usize| (16 * (i / 4) + 2 * (i % 4)) as f32 + 4.5;
    (0..12).map(four_around).collect()
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn a_kernel_with_an_image_and_its_sampler_runs() {
    let own = [
        ("work-items of a group", "[4, 4]"),
        ("values of columns", "[4]"),
        ("values of rows", "[3]"),
        ("elements out has", "columns*rows"),
        ("contents of out", "{ constant: 0 }"),
        ("reads out", "write"),
        ("work-items along", "[columns, rows]"),
    ];
    runs("halved.cl", &[], &[&own[..], &PICTURE].concat(), &halved_picture());
}

#[test]
#[cfg_attr(not(feature = "require-wgpu"), ignore = "needs a wgpu driver")]
fn a_kernel_with_a_texture_and_its_sampler_runs() {
    let own = [
        ("problem sizes", "{ COLUMNS: [4], ROWS: [3] }"),
        ("elements out has", "COLUMNS*ROWS"),
        ("work-items along", "[COLUMNS, ROWS]"),
    ];
    runs("halved.wgsl", &[], &[&own[..], &PICTURE].concat(), &halved_picture());
}

#[test]
fn what_cannot_be_done_is_said() {
    let place = place();
    let write = |name: &str, text: &str| fs::write(place.folder.path().join(name), text).unwrap();
    write("there.yaml", "");
    write("there.wgsl", "@compute @workgroup_size(1) fn f() {}");
    write("wrong.wgsl", "@compute @workgroup_size(1) fn f() { nonsense(); }");
    write("empty.wgsl", "const A = 1;");
    write("named.wgsl", "@compute @workgroup_size(1) fn über() {}");
    write("outside.cl", "#include \"../x.h\"\n");
    for (args, words) in [
        (&["there.wgsl"][..], &["there.yaml is there already", "--output"][..]),
        (&["wrong.wgsl"], &["wrong.wgsl:1:38", "nonsense"]),
        (&["empty.wgsl"], &["empty.wgsl: there is no kernel in it"]),
        (&["named.wgsl"], &["named.wgsl: suites cannot name the kernel `über`"]),
        (&["missing.wgsl"], &["missing.wgsl"]),
        (
            &["there.yaml", "-o", "other.yaml"],
            &["there.yaml: a kernel's file ends in .cl or .wgsl"],
        ),
        (&["outside.cl"], &["outside.cl:1:11", "outside the suite's folder"]),
        (&["there.wgsl", "-o", "tmp/other.yaml"], &["does not lie in the suite's folder"]),
        (&["there.wgsl", "-D", "A=x"], &["expected a name and a whole number"]),
    ] {
        let (code, said) = new(&place, args);
        assert_eq!(code, Some(2), "{args:?}: {said}");
        assert!(words.iter().all(|word| said.contains(word)), "{args:?}: {said}");
    }
    let (code, said) = new(&place, &["there.wgsl", "-o", "-"]);
    assert!(code == Some(0) && said.contains("entry: f\n"), "{said}");
}
