//! Kernels in GLSL and in SPIR-V: run where an API takes them, skipped elsewhere, wrong ones shown where
//! they stand.

mod common;

use common::{Place, text};
use gpubench::backend::by_name;
use gpubench::gpu::{Language, Scalar};
use gpubench::measure::{load, plan};
use gpubench::plan::{Limits, Planned};
use gpubench::record::Outcome;
use naga::back::spv;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::fs;

const GLSL: &str = "#version 450
layout(local_size_x = GROUP_X) in;
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) buffer Y { float y[]; };
layout(push_constant) uniform Params { uint n; float a; };
shared float last[GROUP_X];
void main() {
    uint i = gl_GlobalInvocationID.x;
    last[gl_LocalInvocationID.x] = float(OFFSET);
    barrier();
    if (i < n) { y[i] = a * x[i] + last[GROUP_X - 1]; }
}
";

const WGSL: &str = "
struct Params { n: u32, a: f32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;
@compute @workgroup_size(16)
fn scale2(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < p.n { y[id.x] = p.a * x[id.x] + 3.0; }
}
";

const SUITE: &str = "version: 1
workloads:
  scale:
    kernel: { FILE }
    sizes: { n: [100] }
    params: { n: n, a: { f32: 0.5 } }
    buffers:
      x: { type: f32, count: n, fill: index }
      y: { type: f32, count: n }
    grid: [n]
    verify: { file: y.npy }
";

/// A folder with the suite for a kernel, and what that computes.
fn place(kernel: &str, files: &[(&str, &[u8])]) -> Place {
    let place = Place::new();
    let write = |name: &str, contents: &[u8]| {
        fs::write(place.folder.path().join(name), contents).expect("writable");
    };
    write("my.yaml", SUITE.replace("FILE", kernel).as_bytes());
    let y: Vec<u8> = (0..100).flat_map(|i| (0.5 * i as f32 + 3.0).to_ne_bytes()).collect();
    write("y.npy", &gpubench_core::npy::file(Scalar::F32, &[100], &y));
    files.iter().for_each(|(name, contents)| write(name, contents));
    place
}

/// The kernel above as a compiler for Vulkan would write it.
fn spirv() -> Vec<u32> {
    let module = naga::front::wgsl::parse_str(WGSL).expect("WGSL");
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
    let info = validator.validate(&module).expect("a valid module");
    let options = spv::Options { lang_version: (1, 3), ..spv::Options::default() };
    spv::write_vec(&module, &info, &options, None).expect("SPIR-V")
}

/// A module whose group and constants a pipeline sets; its text stands next to it.
const SET: &[u8] = include_bytes!("../crates/core/src/gpu/spirv/set.spv");

fn as_it_is(group: u32, constants: &str) -> String {
    format!(
        "spirv: k.spv, translate: false, entry: main, group: [{group}], constants: {{ {constants} }}"
    )
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Runs the suite; what becomes of each device that takes kernels in `language`.
fn ran(place: &Place, language: Language) -> (Vec<(bool, Outcome)>, String) {
    let ran = place.output(&["run", "my.yaml", "--trust", "--verify", "--rounds", "1"]);
    let said = text(&ran.stdout) + &text(&ran.stderr);
    let run = place.run();
    let device = |i: usize| &run.header.devices[i];
    let of = run.records.iter().filter(|record| device(record.device).language == language);
    let takes = |i: usize| device(i).features.iter().any(|feature| feature == "spirv");
    (of.map(|record| (takes(record.device), record.outcome.clone())).collect(), said)
}

#[test]
#[cfg_attr(not(feature = "require-wgpu"), ignore = "needs a wgpu driver")]
fn glsl_and_spirv_for_vulkan_run_wherever_wgsl_does() {
    let glsl = "glsl: k.comp, entry: main, group: [16], constants: { OFFSET: 3 }";
    let spirv_kernel = "spirv: k.spv, entry: scale2, group: [16]";
    let module = bytes(&spirv());
    for place in
        [place(glsl, &[("k.comp", GLSL.as_bytes())]), place(spirv_kernel, &[("k.spv", &module)])]
    {
        let (outcomes, said) = ran(&place, Language::Wgsl);
        assert!(!outcomes.is_empty(), "{said}");
        assert!(outcomes.iter().all(|(_, outcome)| *outcome == Outcome::Ok), "{said}");
        // The emulator takes it, too.
        let suite = place.folder.path().join("my.yaml");
        let text = fs::read_to_string(&suite).expect("readable");
        let emulated = text.replace("{ file: y.npy }", "{ against: emulator }");
        fs::write(&suite, emulated).expect("writable");
        fs::remove_dir_all(place.folder.path().join("results")).expect("results");
        let (outcomes, said) = ran(&place, Language::Wgsl);
        assert!(outcomes.iter().all(|(_, outcome)| *outcome == Outcome::Ok), "{said}");
    }
}

/// Its group and its constants are the suite's; wgpu skips it, and so does every API that does not take it.
#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn a_module_that_is_not_translated_runs_by_vulkan_as_it_is() {
    let scaled = "OFFSET: 3, TWICE: 1, SCALE: 0.5";
    for (group, constants) in [(16, "OFFSET: 3"), (32, scaled)] {
        let kernel = as_it_is(group, constants);
        let place = place(&kernel, &[("k.spv", SET)]);
        let (outcomes, said) = ran(&place, Language::Wgsl);
        let taken = outcomes.iter().filter(|(takes, _)| *takes);
        assert!(taken.clone().count() > 0, "{said}");
        assert!(taken.clone().all(|(_, outcome)| *outcome == Outcome::Ok), "{said}");
        let by_wgpu = place.output(&["run", "my.yaml", "--trust", "--backend", "wgpu"]);
        let said = text(&by_wgpu.stdout) + &text(&by_wgpu.stderr);
        let taken = "the kernel is in SPIR-V, which the driver does not take";
        assert!(by_wgpu.status.code() != Some(0) && said.contains(taken), "{said}");
    }
}

#[test]
fn what_does_not_fit_a_module_that_is_not_translated_is_shown_at_the_suites_line() {
    let own = as_it_is(16, "OFFSET: 3");
    let fixed = bytes(&spirv());
    let late = [&SET[..4], &0x0001_0500_u32.to_le_bytes(), &SET[8..]].concat();
    type Case<'a> = (&'a str, &'a [u8], [&'a str; 2]);
    let cases: [Case<'_>; 9] = [
        (&own.replace("main", "other"), SET, ["my.yaml:4:54", "has no entry point `other`"]),
        (&own.replace("OFFSET", "OFFSETS"), SET, ["my.yaml:4:86", "has no constant `OFFSETS`"]),
        (&own.replace("OFFSET: 3", "OFFSET: 0.5"), SET, ["my.yaml:4:86", "type does not hold"]),
        (&own.replace("OFFSET: 3", "OFFSET: f32"), SET, ["my.yaml:4:86", "type does not hold"]),
        (&own, &late, ["my.yaml:4:22", "SPIR-V 1.5, and devices are opened as Vulkan 1.1"]),
        (
            "spirv: k.spv, translate: false, entry: scale2, group: [8]",
            &fixed,
            ["my.yaml:4:62", "the module's work-group is 16 x 1 x 1"],
        ),
        (
            &format!("{own}, args: [x, y, {{ u32: n }}, {{ f32: a }}]"),
            SET,
            ["my.yaml:6:", "push constants, and the suite gives 2"],
        ),
        (
            &format!("{own}, args: [y, {{ u32: n }}, {{ f32: a }}, x]"),
            SET,
            ["my.yaml:4:22", "set 0, binding 1 of the module is a buffer"],
        ),
        (
            "opencl: k.spv, translate: false, entry: scale2, group: [8]",
            GLSL.as_bytes(),
            ["my.yaml:4:41", "here is none"],
        ),
    ];
    for (kernel, module, words) in cases {
        let checked = place(kernel, &[("k.spv", module)]).output(&["check", "my.yaml"]);
        let said = text(&checked.stdout) + &text(&checked.stderr);
        assert_eq!(checked.status.code(), Some(2), "{kernel}: {said}");
        assert!(words.iter().all(|word| said.contains(word)), "{kernel}: {words:?}: {said}");
    }
}

/// Both are for Vulkan and wgpu: a variant has its own, and not its base's beside it.
#[test]
fn a_variant_in_another_language_takes_the_place_of_its_base() {
    let files = [("k.wgsl", WGSL.as_bytes()), ("k.comp", GLSL.as_bytes())];
    let place = place("wgsl: k.wgsl, entry: scale2, group: [16]", &files);
    let suite = place.folder.path().join("my.yaml");
    let variants = "variants: { first: {}, other: { kernel: { glsl: k.comp, entry: main, \
                    constants: { OFFSET: 3 } } } }\n    sizes:";
    let text = fs::read_to_string(&suite).expect("readable").replace("sizes:", variants);
    fs::write(&suite, text).expect("writable");
    let found = place.output(&["check", "my.yaml"]);
    assert_eq!(found.status.code(), Some(0), "{}", common::text(&found.stderr));
}

#[test]
fn what_is_wrong_with_them_is_shown_where_it_stands() {
    let glsl = "glsl: k.comp, entry: main, group: [16], constants: { OFFSET: 3 }";
    let own = "spirv: k.spv, entry: scale2, group: [16]";
    let mut beyond = spirv();
    // OpCapability Addresses, which is OpenCL's.
    beyond.splice(5..5, [2 << 16 | 17, 4]);
    // The entry point is a function that there is not.
    let mut nowhere = spirv();
    let entry = nowhere.iter().position(|word| word & 0xffff == 15).expect("OpEntryPoint");
    nowhere[entry + 2] = 9999;
    let swapped: Vec<u8> = spirv().iter().flat_map(|word| word.to_be_bytes()).collect();
    let [good, beyond, nowhere] = [spirv(), beyond, nowhere].map(|m| bytes(&m));
    let unended = GLSL.replace("float(OFFSET);", "float(OFFSET)");
    let brackets = ["(", ")"].map(|bracket| bracket.repeat(100_000));
    let deep = GLSL.replace("a * x[i]", &format!("{}a{}", brackets[0], brackets[1]));
    let mistyped = GLSL.replace("a * x[i]", "a * z[i]");
    let bound = GLSL.replace("binding = 1", "binding = 4");
    type Case<'a> = (&'a str, &'a [(&'a str, &'a [u8])], &'a [&'a str]);
    let cases: [Case<'_>; 16] = [
        (glsl, &[("k.comp", mistyped.as_bytes())], &["k.comp:11:29", "z"]),
        (glsl, &[("k.comp", bound.as_bytes())], &["my.yaml:9:7", "for buffer `y`"]),
        (
            &glsl.replace("main", "other"),
            &[("k.comp", GLSL.as_bytes())],
            &["my.yaml:4:36", "has no entry point `other`"],
        ),
        (
            &glsl.replace(": 3", ": f32x4"),
            &[("k.comp", GLSL.as_bytes())],
            &["my.yaml:4:21", "`OFFSET` is a type"],
        ),
        (
            &glsl.replace("glsl", "wgsl: k.wgsl, glsl"),
            &[("k.comp", GLSL.as_bytes()), ("k.wgsl", WGSL.as_bytes())],
            &["my.yaml:4:35", "both for Vulkan and wgpu"],
        ),
        (own, &[("k.spv", &beyond)], &["my.yaml:4:22", "apability"]),
        (own, &[("k.spv", &good[..good.len() - 3])], &["my.yaml:4:22", "it is cut"]),
        (own, &[("k.spv", &good[..24])], &["my.yaml:4:22", "it is cut"]),
        (own, &[("k.spv", &good[..good.len() - 4])], &["my.yaml:4:22", "incomplete data"]),
        (own, &[("k.spv", &nowhere)], &["my.yaml:4:22", "naga, which reads"]),
        (own, &[("k.spv", &swapped)], &["my.yaml:4:22", "big-endian"]),
        (own, &[("k.spv", GLSL.as_bytes())], &["my.yaml:4:22", "it is no SPIR-V"]),
        (glsl, &[("k.comp", unended.as_bytes())], &["k.comp:10:5", "Expected Semicolon"]),
        (glsl, &[("k.comp", deep.as_bytes())], &["k.comp:11:", "more than 100 brackets"]),
        (
            &own.replace("[16]", "[8]"),
            &[("k.spv", &good)],
            &["my.yaml:4:44", "the kernel's work-group is [16, 1, 1]"],
        ),
        (
            &own.replace("scale2", "scale3"),
            &[("k.spv", &good)],
            &["my.yaml:4:36", "has no entry point `scale3`"],
        ),
    ];
    for (kernel, files, words) in cases {
        let checked = place(kernel, files).output(&["check", "my.yaml"]);
        let said = text(&checked.stdout) + &text(&checked.stderr);
        assert_eq!(checked.status.code(), Some(2), "{kernel}: {said}");
        assert!(words.iter().all(|word| said.contains(word)), "{kernel}: {words:?}: {said}");
    }
}

/// In a line of the text that is emulated, which is shown.
#[test]
fn a_race_in_glsl_has_a_line_of_its_translation() {
    let racing = GLSL.replace("last[gl_LocalInvocationID.x]", "last[0]");
    let glsl = "glsl: k.comp, entry: main, group: [16], constants: { OFFSET: 3 }";
    let place = place(glsl, &[("k.comp", racing.as_bytes())]);
    let emulated = place.output(&["emulate", "my.yaml"]);
    let said = text(&emulated.stdout) + &text(&emulated.stderr);
    assert_eq!(emulated.status.code(), Some(4), "{said}");
    let (_, line) = said.split_once("k.comp as WGSL:").expect("the race's line");
    let (line, rest) = line.split_once(':').expect("a line and what is wrong");
    assert!(rest.contains("race") && rest.contains("`last`"), "{said}");
    let shown = text(&place.output(&["emulate", "my.yaml", "--wgsl"]).stdout);
    let line = shown.lines().find(|shown| shown.trim_start().starts_with(line)).expect("the line");
    assert!(line.contains("last[0i] = "), "{line}");
    assert!(shown.contains("var<storage, read_write> y"), "{shown}");
}

#[test]
fn what_a_device_lacks_skips_a_module_that_needs_it() {
    let mut words = spirv();
    // OpCapability Float64.
    words.splice(5..5, [2 << 16 | 17, 10]);
    let place = place("spirv: k.spv, entry: scale2, group: [16]", &[("k.spv", &bytes(&words))]);
    let file = place.folder.path().join("my.yaml");
    let suite = load(file.to_str().expect("UTF-8")).expect("a valid suite");
    let mut device = by_name("sim").expect("sim").devices().expect("devices").remove(0);
    device.language = Language::Wgsl;
    let limits = Limits { memory: None, seconds: 1.0, seed: 0, cores: 1, host_memory: None };
    for lacking in [false, true] {
        device.features = if lacking { vec![] } else { vec!["f64".to_owned()] };
        match plan(&suite, &device, &limits).remove(0) {
            Planned::Case(_) => assert!(!lacking),
            Planned::Skipped(skip) => {
                let why = skip.reason.to_string();
                assert!(lacking && why.contains("my.yaml:3: "), "{why}");
                assert!(
                    why.contains("k.spv needs `f64`, which the device does not offer"),
                    "{why}"
                );
            }
        }
    }
}

/// `kernel void seven(global uint *y) { y[get_global_id(0)] = 7; }`, as a compiler for OpenCL would write
/// it, for pointers of 64 bits.
fn opencl_spirv() -> Vec<u8> {
    const VOID: u32 = 1;
    const UINT: u32 = 2;
    const ULONG: u32 = 3;
    const TRIPLE: u32 = 4;
    const INPUT: u32 = 5;
    const GLOBAL: u32 = 6;
    const SIGNATURE: u32 = 7;
    const ID: u32 = 8;
    const SEVEN: u32 = 9;
    const ENTRY: u32 = 10;
    let name = [u32::from_le_bytes(*b"seve"), u32::from_le_bytes(*b"n\0\0\0")];
    let instructions: [(u32, &[u32]); 25] = [
        (17, &[4]),                              // OpCapability Addresses
        (17, &[6]),                              // Kernel
        (17, &[11]),                             // Int64
        (14, &[2, 2]),                           // OpMemoryModel Physical64 OpenCL
        (15, &[6, ENTRY, name[0], name[1], ID]), // OpEntryPoint Kernel
        (71, &[ID, 11, 28]),                     // OpDecorate BuiltIn GlobalInvocationId
        (71, &[ID, 22]),                         // Constant
        (19, &[VOID]),                           // OpTypeVoid
        (21, &[UINT, 32, 0]),                    // OpTypeInt
        (21, &[ULONG, 64, 0]),
        (23, &[TRIPLE, ULONG, 3]),          // OpTypeVector
        (32, &[INPUT, 1, TRIPLE]),          // OpTypePointer Input
        (32, &[GLOBAL, 5, UINT]),           // CrossWorkgroup
        (33, &[SIGNATURE, VOID, GLOBAL]),   // OpTypeFunction
        (43, &[UINT, SEVEN, 7]),            // OpConstant
        (59, &[INPUT, ID, 1]),              // OpVariable Input
        (54, &[VOID, ENTRY, 0, SIGNATURE]), // OpFunction
        (55, &[GLOBAL, 11]),                // OpFunctionParameter
        (248, &[12]),                       // OpLabel
        (61, &[TRIPLE, 13, ID, 2, 32]),     // OpLoad Aligned 32
        (81, &[ULONG, 14, 13, 0]),          // OpCompositeExtract
        (70, &[GLOBAL, 15, 11, 14]),        // OpInBoundsPtrAccessChain
        (62, &[15, SEVEN, 2, 4]),           // OpStore Aligned 4
        (253, &[]),                         // OpReturn
        (56, &[]),                          // OpFunctionEnd
    ];
    let mut words = vec![0x0723_0203, 0x0001_0000, 0, 16, 0];
    for (code, operands) in instructions {
        words.push((operands.len() as u32 + 1) << 16 | code);
        words.extend(operands);
    }
    bytes(&words)
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn spirv_for_opencl_runs_where_the_driver_takes_it() {
    let place = place("spirv: k.spv, entry: seven, group: [4]", &[("k.spv", &opencl_spirv())]);
    let suite = place.folder.path().join("my.yaml");
    let text = fs::read_to_string(&suite).expect("readable");
    let x = "      x: { type: f32, count: n, fill: index }\n";
    let text = text.replace(x, "").replace("{ n: n, a: { f32: 0.5 } }", "{}");
    let text = text.replace("type: f32", "type: u32");
    fs::write(&suite, text).expect("writable");
    let y: Vec<u8> = [7u32; 100].iter().flat_map(|x| x.to_ne_bytes()).collect();
    let y = gpubench_core::npy::file(Scalar::U32, &[100], &y);
    fs::write(place.folder.path().join("y.npy"), y).expect("writable");
    let (outcomes, said) = ran(&place, Language::Opencl);
    assert!(!outcomes.is_empty(), "{said}");
    for (takes, outcome) in outcomes {
        match takes {
            true => assert_eq!(outcome, Outcome::Ok, "{said}"),
            false => assert!(said.contains("SPIR-V, which the driver does not take"), "{said}"),
        }
    }
}
