//! Seeded mistakes are found, each with its line.

use super::super::{Emulator, FaultKind, Groups, Instrumentation, Launch};
use super::{kernel, one_group, run, shipped};
use gpubench_core::error::Error;

const SHIFT: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
var<workgroup> tile: array<u32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    tile[i] = i;
    workgroupBarrier();
    data[i] = tile[(i + 1u) % 64u];
}";

#[test]
fn a_valid_kernel_has_no_fault() {
    let (data, faults) = one_group(SHIFT, 64, 64);
    assert_eq!(faults, []);
    assert_eq!((data[0], data[63]), (1, 0));
}

#[test]
fn a_removed_barrier_is_a_race() {
    let (_, faults) = one_group(&SHIFT.replace("workgroupBarrier();", ""), 64, 64);
    assert_eq!(faults.len(), 1);
    let fault = &faults[0];
    assert_eq!((fault.kind, fault.line, fault.times), (FaultKind::Race, 7, 64));
    assert_eq!(
        fault.to_string(),
        "main.wgsl:7: race: work-item [0, 0, 0] of group [0, 0, 0] reads element 1 of \
         64 in `tile`, which work-item [1, 0, 0] of group [0, 0, 0] wrote at main.wgsl:5; no \
         barrier lies between (64 times)"
    );
}

#[test]
fn the_shipped_matmul_races_without_its_barriers() {
    let valid = shipped!("matmul/tiled.wgsl", [8, 8, 1], &[]);
    let launch = || Launch {
        groups: [2, 2, 1],
        buffers: vec![vec![0; 256].into(); 3],
        params: vec![16, 16, 16, 0, 16],
    };
    assert_eq!(run(&valid, &mut launch(), Groups::All).unwrap().faults, []);
    let mut racy = valid.clone();
    racy.text = valid.text.replacen("workgroupBarrier();", "", 1);
    let faults = run(&racy, &mut launch(), Groups::All).unwrap().faults;
    let read = 1 + valid.text.lines().position(|l| l.contains("sum = fma")).unwrap();
    assert!(faults.iter().all(|f| f.kind == FaultKind::Race), "{faults:?}");
    assert!(faults.iter().any(|f| f.line as usize == read), "{faults:?}");
}

#[test]
fn a_component_of_the_last_element_is_within_bounds() {
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<vec2<u32>>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    data[i].y = data[i].y + i;
}";
    let (data, faults) = one_group(text, 64, 128);
    assert_eq!(faults, []);
    assert_eq!((data[1], data[126], data[127]), (0, 0, 63));
    let (_, faults) = one_group(text, 64, 126);
    assert_eq!((faults.len(), faults[0].times), (1, 2), "read and written: {faults:?}");
    assert!(faults[0].to_string().contains("element 63 of 63 in `data`"), "{faults:?}");
}

#[test]
fn a_read_out_of_bounds_is_named() {
    let kernel = kernel(
        "far/main.wgsl",
        "@group(0) @binding(0) var<storage, read> source: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read_write> to: array<vec2<u32>>;
@compute @workgroup_size(4, 2)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x + 8u * id.y;
    to[i] =
        source[i + 1u];
}",
        [4, 2, 1],
        &[],
    );
    let buffers = vec![(0..32).collect(), vec![7; 32].into()];
    let mut launch = Launch { groups: [2, 1, 1], buffers, params: vec![] };
    let faults = run(&kernel, &mut launch, Groups::All).unwrap().faults;
    assert_eq!(faults.len(), 1);
    assert_eq!(
        faults[0].to_string(),
        "far/main.wgsl:7: out of bounds: work-item [3, 1, 0] of group [1, 0, 0] reads element 16 \
         of 16 in `source`"
    );
    // What lies outside reads as 0.
    assert_eq!(launch.buffers.remove(1).into_words()[28..], [30, 31, 0, 0]);
}

#[test]
fn a_write_out_of_bounds_does_nothing() {
    let (data, faults) = one_group(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) { data[2u * i] = 9u; }",
        4,
        5,
    );
    assert_eq!(data, [9, 0, 9, 0, 9]);
    assert_eq!((faults[0].kind, faults[0].line), (FaultKind::OutOfBounds, 3));
    assert!(faults[0].what.contains("writes element 6 of 5 in `data`"), "{faults:?}");
}

#[test]
fn lanes_that_rest_are_not_out_of_bounds() {
    let (_, faults) = one_group(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    if (i < arrayLength(&data)) { data[i] = data[i] + 1u; }
}",
        64,
        5,
    );
    assert_eq!(faults, []);
}

#[test]
fn a_barrier_in_divergent_flow_is_named() {
    let (_, faults) = one_group(
        "var<workgroup> tile: array<u32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    if (i >= 60u) { return; }
    tile[i] = i;
    workgroupBarrier();
}",
        64,
        1,
    );
    assert_eq!(faults.len(), 1);
    assert_eq!(
        faults[0].to_string(),
        "main.wgsl:6: barrier in divergent flow: 60 of 64 work-items reach it, \
         work-item [60, 0, 0] of group [0, 0, 0] does not"
    );
}

#[test]
fn groups_race_for_what_both_write() {
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) { data[i] = i; }";
    let kernel = kernel("main.wgsl", text, [4, 1, 1], &[]);
    let mut launch = Launch { groups: [2, 1, 1], buffers: vec![vec![0; 4].into()], params: vec![] };
    let faults = run(&kernel, &mut launch, Groups::All).unwrap().faults;
    assert_eq!((faults.len(), faults[0].kind, faults[0].times), (1, FaultKind::Race, 4));
    let rival = "which work-item [0, 0, 0] of group [0, 0, 0] wrote at main.wgsl:3; nothing orders";
    assert!(faults[0].what.contains(rival), "{faults:?}");
}

#[test]
fn of_several_readers_another_one_is_the_rival() {
    let (_, faults) = one_group(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let all = data[0];
    if (i == 3u) {
        data[0] = all;
    }
}",
        4,
        4,
    );
    let rival = "work-item [3, 0, 0] of group [0, 0, 0] writes element 0 of 4 in `data`, which \
                 work-item [0, 0, 0] of group [0, 0, 0] read at main.wgsl:4";
    assert!(faults[0].what.starts_with(rival), "{faults:?}");
}

#[test]
fn what_is_not_known_is_named_with_its_line() {
    let rejected = |text: &str| {
        let rejected = Emulator::new(&kernel("main.wgsl", text, [4, 1, 1], &[]));
        match rejected.map(|_| ()) {
            Err(Error::Unsupported(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    let wide = rejected(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    data[i] =
        u32(u64(i) * 3lu);
}",
    );
    assert_eq!(wide, "main.wgsl:5: the emulator does not know `u64`");
    let texture = rejected(
        "@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var<storage, read_write> data: array<f32>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    data[i] = textureLoad(image, vec2(i, 0u), 0).x;
}",
    );
    assert_eq!(texture, "main.wgsl:5: the emulator does not know `textureLoad`");
    let barrier = rejected("@compute @workgroup_size(4)\nfn main() { subgroupBarrier(); }");
    assert_eq!(barrier, "main.wgsl:2: the emulator does not know `subgroupBarrier`");
    let large = rejected("@compute @workgroup_size(2048) fn main() {}");
    assert!(large.contains("1 to 1024 work-items, not 2048"), "{large}");
}

#[test]
fn the_reference_lists_what_is_not_known() {
    let page = include_str!("../../../../docs/reference/EMULATOR.md");
    let sources = [include_str!("../lower/names.rs"), include_str!("../lower/types.rs")];
    let texts = sources.iter().flat_map(|source| source.split('"').skip(1).step_by(2));
    let names: Vec<&str> = texts.filter_map(|text| text.split('`').nth(1)).collect();
    assert!(names.len() > 12 && names.contains(&"textureLoad"), "{names:?}");
    let missing = names.iter().filter(|name| !name.contains('{') && !page.contains(**name));
    assert_eq!(missing.collect::<Vec<_>>(), [] as [&&str; 0]);
}

#[test]
fn a_launch_that_does_not_fit_is_rejected() {
    let emulator = Emulator::new(&kernel("main.wgsl", SHIFT, [64, 1, 1], &[])).unwrap();
    let mut launch = Launch { groups: [1; 3], ..Launch::default() };
    let rejected = emulator.run(&mut launch, Groups::All, Instrumentation::default());
    assert!(rejected.unwrap_err().to_string().contains("no buffer for `data`"));
    let wants = "struct P { a: u32, b: u32 } @group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(1) fn main() { data[0] = p.b; }";
    let starved = Emulator::new(&kernel("main.wgsl", wants, [1, 1, 1], &[])).unwrap();
    let mut one = Launch { groups: [1; 3], buffers: vec![vec![0].into(); 2], params: vec![1] };
    let rejected =
        starved.run(&mut one, Groups::All, Instrumentation::default()).unwrap_err().to_string();
    assert_eq!(rejected, "main.wgsl: the kernel reads 2 parameters, the launch has 1");
    launch.buffers = vec![vec![0; 64].into()];
    let rejected = emulator.run(&mut launch, Groups::One([0, 1, 0]), Instrumentation::default());
    assert!(rejected.unwrap_err().to_string().contains("no group [0, 1, 0]"));
}

#[test]
fn text_that_is_no_wgsl_is_shown() {
    let rejected = Emulator::new(&kernel("main.wgsl", "fn main() { let x = ; }", [4, 1, 1], &[]));
    assert!(
        matches!(rejected.map(|_| ()), Err(Error::Build { log, .. }) if log.contains("main.wgsl:1"))
    );
}
