//! What a plan makes of a suite on devices and hosts of all sizes.

use super::{folder, load};
use gpubench::backend;
use gpubench::gpu::DeviceInfo;
use gpubench::measure::layout::plan::LayoutPlan;
use gpubench::measure::plan;
use gpubench::plan::{Case, Limits, Planned, estimate, multi_device_division, rows_a_group};
use gpubench::units::Bytes;

/// A host with everything.
pub(super) const LIMITS: Limits =
    Limits { memory: None, seconds: 1.0, seed: 0, cores: 8, host_memory: None };

/// A large simulated GPU.
fn gpu() -> DeviceInfo {
    let mut gpu = backend::by_name("sim").unwrap().devices().unwrap().remove(0);
    gpu.memory = Some(Bytes(80 << 30));
    gpu.max_buffer = Bytes(40 << 30);
    gpu.max_binding = Bytes(40 << 30);
    gpu
}

/// What becomes of each case: `Ok`, or the reason why not.
fn planned(text: &str, device: &DeviceInfo, limits: &Limits) -> Vec<Result<Case, String>> {
    let folder = folder(&[("a.yaml", text)]);
    let suite = load(&folder.path().join("a.yaml")).unwrap_or_else(|error| panic!("{error}"));
    let result = |planned| match planned {
        Planned::Case(case) => Ok(*case),
        Planned::Skipped(skip) => Err(skip.reason.to_string()),
    };
    plan(&suite, device, limits).into_iter().map(result).collect()
}

const SCALE: &str = r#"version: 1
workloads:
  scale:
    kernel: { opencl: scale.cl, wgsl: scale.wgsl, entry: scale, group: [64], constants: { VALUES: 4 } }
    sizes: { n: [67108864, 2147483648] }
    params: { n: n, factor: { f32: 2 } }
    buffers:
      in: { type: f32, count: n/2, fill: { uniform: [0, 1] } }
      out: { type: f32, count: n/2 }
    grid: [n/64]
    verify: none
"#;

const LINKS: &str = "version: 1\nworkloads:\n  link: { measure: [transfer], verify: none }\n";

#[test]
fn inputs_are_estimated_with_all_cores_and_not_with_a_fair_share() {
    // 4 GiB of input take two seconds on eight cores, and about eleven on one.
    let cases = planned(SCALE, &gpu(), &LIMITS);
    assert!(cases.iter().all(Result::is_ok), "{cases:?}");
    let slow = planned(SCALE, &gpu(), &Limits { cores: 1, ..LIMITS });
    assert!(slow[0].is_ok());
    let reason = slow[1].as_ref().unwrap_err();
    assert!(reason.starts_with("making 8.00 GiB of buffers takes about"), "{reason}");
}

#[test]
fn passes_have_their_own_parameters_and_groups() {
    let text = SCALE
        .replace("[67108864, 2147483648]", "[1024]")
        .replace("{ n: n, factor: { f32: 2 } }", "{ n: n/2^pass, factor: { f32: pass } }")
        .replace("grid: [n/64]", "grid: [n]\n    passes: log2(n) - 7");
    let cases = planned(&text, &gpu(), &LIMITS);
    let candidate = &cases[0].as_ref().unwrap().candidates[0];
    let passes = candidate.passes();
    let groups: Vec<u32> = passes.iter().map(|pass| pass.groups[0]).collect();
    assert_eq!(groups, [16, 8, 4]);
    let factors: Vec<f64> = passes.iter().map(|pass| pass.params[1].1).collect();
    assert_eq!(factors, [0.0, 1.0, 2.0]);
    assert_eq!(candidate.all_groups(), 28.0);
    assert_eq!(candidate.kernel.meaning, None, "a user's own");
}

#[test]
fn an_estimate_counts_every_pass_of_the_reference() {
    let seconds = |passes: u32, verify: &str| {
        let text = SCALE
            .replace("[67108864, 2147483648]", "[1048576]")
            .replace("grid: [n/64]", &format!("grid: [n]\n    passes: {passes}"))
            .replace("verify: none", &format!("verify: {verify}"));
        let case = planned(&text, &gpu(), &LIMITS).remove(0).unwrap();
        estimate(&case, &gpu(), 2).reference
    };
    let [one, many] = [1, 200].map(|passes| seconds(passes, "{ reference: gather }"));
    assert!(one > 0.0 && (many / one - 200.0).abs() < 1.0, "{one} {many}");
    assert_eq!(seconds(200, "none"), 0.0);
}

/// A gather in strides of `d` out of `b`, and the kernels that make it contiguous.
const STRIDED: &str = r#"version: 1
defaults: { sizes: { n: [64], d: [4] }, grid: [n] }
workloads:
  strided:
    kernel: &gather { family: gather, entry: gather, group: [64] }
    params: { n: n, d: d, f: 0 }
    buffers: &gathered
      a: { type: f32, count: n, fill: random_bits }
      b: { type: f32, count: n*d, fill: random_bits }
      out: { type: f32, count: n }
    measure: { layout: { buffer: b, strides: [d], by: moved, then: contiguous } }
    verify: { reference: gather }
  moved:
    kernel: { family: transpose, entry: transpose_naive, group: [32, 8] }
    params: { rows: n, cols: d }
    buffers: { a: { type: f32, count: n*d, fill: random_bits }, out: { type: f32, count: n*d } }
    grid: [d, n]
    verify: { reference: transpose }
  contiguous:
    kernel: *gather
    params: { n: n, d: 1, f: 0 }
    buffers: *gathered
    verify: { reference: gather }
"#;

#[test]
fn a_layout_transform_must_fit_its_case() {
    let plan = |part: &str, by: &str| {
        assert!(STRIDED.contains(part), "{part}");
        planned(&STRIDED.replacen(part, by, 1), &gpu(), &LIMITS).remove(0)
    };
    let rejected = |part: &str, by: &str, why: &str| {
        let reason = plan(part, by).unwrap_err();
        assert!(reason.contains(why), "{reason}");
    };
    let layout: LayoutPlan = plan("f: 0", "f: 0").unwrap().planned().unwrap();
    assert_eq!((layout.buffer, layout.read, layout.written), (1, 0, 1));
    assert_eq!(layout.then.key.workload, "contiguous");
    rejected("strides: [d]", "strides: [n*d]", "less than the length of the array (strides [256]");
    rejected("strides: [d]", "strides: [0]", "a stride must be at least 1");
    rejected("strides: [d]", "strides: [2*d]", "its kernel is given no stride of 8");
    rejected("strides: [d]", "strides: [4, 6]", "must be a multiple");
    rejected("by: moved", "by: contiguous", "`contiguous` must read one buffer and write one");
    rejected("then: contiguous", "then: moved", "the buffers of `moved n=64 d=4` do not fit");
    let small = "{ a: { type: f32, count: n, fill: random_bits }, out: { type: f32, count: n*d } }";
    rejected(
        "{ a: { type: f32, count: n*d, fill: random_bits }, out: { type: f32, count: n*d } }",
        small,
        "`moved n=64 d=4` reads 256 B and not all of `b`",
    );
}

#[test]
fn the_host_needs_room_too() {
    let small = Limits { host_memory: Some(Bytes(8 << 30)), ..LIMITS };
    let cases = planned(SCALE, &gpu(), &small);
    assert!(cases[0].is_ok());
    let reason = cases[1].as_ref().unwrap_err();
    assert!(
        reason.contains("making and checking it needs 40.0 GiB, and the host has 8.00 GiB"),
        "{reason}"
    );
}

#[test]
fn a_transfer_fits_device_host_and_guards() {
    let largest = |device: &DeviceInfo, limits: &Limits| {
        let cases = planned(LINKS, device, limits);
        cases[0].as_ref().map(|case| case.buffers[0].bytes()).map_err(Clone::clone)
    };
    let patient = Limits { seconds: 100.0, ..LIMITS };
    assert_eq!(largest(&gpu(), &patient), Ok(Bytes(4 << 30)), "a quarter of ten seconds");
    let hasty = Limits { seconds: 1.0, cores: 1, ..LIMITS };
    assert_eq!(largest(&gpu(), &hasty), Ok(Bytes(64 << 20)));
    let small = Limits { host_memory: Some(Bytes(12 << 30)), ..patient };
    assert_eq!(largest(&gpu(), &small), Ok(Bytes(1 << 30)), "an eighth of the host's memory");
    // The largest buffer a power of two: no room for the guards.
    let tight = DeviceInfo { max_buffer: Bytes(1 << 20), ..gpu() };
    assert_eq!(largest(&tight, &patient), Ok(Bytes(1 << 19)));
}

#[test]
fn variants_that_a_device_does_not_take_are_kept_with_their_reason() {
    let text = SCALE
        .replace("    grid:", "    search: { group: [[64], [512]] }\n    grid:")
        .replace(", 2147483648", "");
    let small = DeviceInfo { max_group_size: 256, max_group_dims: [256; 3], ..gpu() };
    let case = planned(&text, &small, &LIMITS).remove(0).unwrap();
    let labels: Vec<_> = case.candidates.iter().map(|candidate| candidate.label.as_str()).collect();
    assert_eq!(labels, ["64"]);
    let [(label, reason)] = case.dropped.as_slice() else { panic!("{:?}", case.dropped) };
    assert_eq!(label, "512");
    assert!(reason.contains("the device takes 256"), "{reason}");
    let none = DeviceInfo { max_group_size: 32, ..small };
    let reason = planned(&text, &none, &LIMITS).remove(0).unwrap_err();
    assert!(reason.contains("the device takes 32"), "{reason}");
}

/// Rows are partitioned in whole work-groups; the number of rows in one.
#[test]
fn rows_of_a_work_group_are_inferred_from_the_grid() {
    let rows = |group: [u32; 2], grid: &str| {
        let text = format!(
            r#"version: 1
workloads:
  split:
    kernel: {{ family: filters, entry: linear, group: {group:?}, constants: {{ ROWS: 4 }} }}
    sizes: {{ n: [100] }}
    params: {{ rows: n, cols: n, first: 0, count: n }}
    buffers:
      image:  {{ type: f32x4, count: n*n, fill: {{ uniform: [0, 1] }}, access: read, split: rows }}
      result: {{ type: f32x4, count: n*n, access: write, split: rows }}
    grid: {grid}
    verify: none
    measure: [split]
    divide: count
"#
        );
        let case = planned(&text, &gpu(), &LIMITS).remove(0).unwrap();
        rows_a_group(&case.candidates[0], multi_device_division(&case).unwrap()).unwrap()
    };
    assert_eq!(rows([16, 16], "[n, count]"), 16);
    assert_eq!(rows([32, 8], r#"[n, "ceil_div(count, ROWS)"]"#), 32);
    assert_eq!(rows([64, 1], "[count]"), 64);
    assert_eq!(rows([64, 1], "[count*n]"), 1, "a row takes two, and two rows take more");
    assert_eq!(rows([1, 128], "[n, count]"), 1, "all rows lie in one: parts are not rounded");
    assert_eq!(rows([32, 8], "[n, n]"), 1, "a grid that does not grow");
}

/// What `check` accepts in a program, a run takes.
#[test]
fn constants_count_the_repetitions_and_the_work_of_a_program() {
    let suite = "version: 1
workloads:
  again:
    kernel: { family: micro, entry: triad, group: [64], constants: { V: f32, ITEMS: 3 } }
    sizes: { n: [1024] }
    params: { n: n, s: { f32: 0.5 } }
    buffers:
      b: { type: f32, count: n, fill: index }
      c: { type: f32, count: n, fill: index }
      out: { type: f32, count: n }
    steps: [{ repeat: ITEMS, steps: [{ kernel: {}, grid: [n] }] }]
    work: { flops: 2*n*ITEMS, bytes: GROUP_X }
    verify: none
";
    let case = planned(suite, &gpu(), &LIMITS).remove(0).unwrap();
    let candidate = &case.candidates[0];
    assert_eq!(candidate.passes().len(), 3);
    assert_eq!((candidate.flops, candidate.bytes), (6144.0, 64.0));
}
