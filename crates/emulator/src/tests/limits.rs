//! What would take for ever, or all memory, is refused.

use super::super::{Emulator, Groups, Instrumentation, Launch};
use super::kernel;
use gpubench_core::error::Error;
use std::time::{Duration, Instant};

fn over_budget(text: &str, groups: u32, limit: Duration) -> String {
    let emulator = Emulator::new(&kernel("main.wgsl", text, [4, 1, 1], &[])).unwrap();
    let buffers = vec![vec![0; 4].into()];
    let mut launch = Launch { groups: [groups, 1, 1], buffers, params: vec![] };
    let instrumentation = Instrumentation { limit, ..Instrumentation::default() };
    match emulator.run(&mut launch, Groups::All, instrumentation) {
        Err(Error::OverBudget(why)) => why.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_loop_without_end_is_named_after_its_seconds() {
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    loop {
        data[i] += 1u;
        if (data[i] == 0u) { break; }
        data[i] |= 1u;
    }
}";
    let begun = Instant::now();
    assert_eq!(
        over_budget(text, 1, Duration::from_millis(20)),
        "main.wgsl:4: this loop of group [0, 0, 0] has not ended within the limit of 20.0 ms"
    );
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn many_groups_share_the_limit() {
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) { data[i] += 1u; }";
    let why = over_budget(text, 1 << 30, Duration::from_millis(20));
    assert!(why.starts_with("main.wgsl: the groups before ["), "{why}");
    assert!(why.ends_with("have taken longer than the limit of 20.0 ms"), "{why}");
}

/// A kernel in which each of `depth` functions calls the next one twice.
fn nested(depth: u32, innermost: &str) -> String {
    let calls = |i: u32| format!("fn f{i}() {{ f{0}(); f{0}(); }}\n", i + 1);
    let functions: String = (0..depth).map(calls).collect();
    format!(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
{functions}fn f{depth}() {{ {innermost} }}
@compute @workgroup_size(4) fn main() {{ f0(); }}"
    )
}

#[test]
fn calls_that_double_at_every_level_are_rejected() {
    for innermost in ["data[0] += 1u;", "", "var a: array<u32, 4096>; a[data[0]] = 1u;"] {
        let begun = Instant::now();
        let rejected = Emulator::new(&kernel("main.wgsl", &nested(40, innermost), [4, 1, 1], &[]));
        let Err(Error::Unsupported(why)) = rejected.map(|_| ()) else { panic!("{innermost}") };
        assert!(why.contains("with its calls inlined"), "{why}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{innermost}");
    }
}

#[test]
fn calls_that_fit_are_taken_in_good_time() {
    let begun = Instant::now();
    let text = nested(12, "data[0] += data[1] * 3u;");
    Emulator::new(&kernel("main.wgsl", &text, [4, 1, 1], &[])).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(20));
}
