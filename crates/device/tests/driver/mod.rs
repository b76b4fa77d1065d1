//! What every backend whose kernels are in WGSL does, whatever driver is below. `driver_tests!` makes tests of a backend
//! of it.

mod buffers;
mod device;
mod images;
mod kit;

pub use buffers::*;
pub use device::*;
pub use images::*;
pub use kit::*;

use gpubench_core::error::Error;
use gpubench_core::gpu::{
    Access, Argument, BufferId, Clock, Constant, KernelSource, Language, MemoryKind, Op, Recording,
    ValueType, packed,
};
use gpubench_core::units::Bytes;
use gpubench_device::Backend;

const BEGIN: &str = "[before the backend]";
const END: &str = "[after the backend]";

/// Runs [`speak`] in a process with these variables and returns its standard output in between.
fn spoken(variables: &[(&str, &str)]) -> String {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "speak", "--ignored", "--nocapture"])
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let from = text.find(BEGIN).unwrap() + BEGIN.len();
    text[from..text.find(END).unwrap()].trim().to_owned()
}

pub fn every_kind_of_host_memory_uploads_and_downloads(backend: &dyn Backend) {
    let mut device = device(backend);
    for kind in device.info().host_memory.clone() {
        let content: Vec<u32> = (1000..1100).collect();
        fill(&mut *device, 0, MemoryKind::Device, &[7; 100]);
        fill(&mut *device, 1, kind, &content);
        fill(&mut *device, 2, kind, &[8; 100]);
        // Byte 44 is a multiple of four, but not of the eight that maps begin at.
        let there = Op::Upload { from: slice(1, 44, 80), to: slice(0, 20, 80) };
        let back = Op::Download { from: slice(0, 16, 88), to: slice(2, 4, 88) };
        let timeline = device.run(&Recording::one_queue([there, back])).unwrap();
        let result = contents(&mut *device, 2);
        assert_eq!((result[0], result[1], result[22], result[23]), (8, 7, 7, 8), "{kind:?}");
        assert_eq!(result[2..22], content[11..31], "{kind:?}");
        assert!(timeline.steps.is_empty() || kind == MemoryKind::Pinned, "{kind:?}");

        // What was downloaded is uploaded again, and the order of a queue holds.
        let back = Op::Download { from: slice(0, 80, 40), to: slice(2, 0, 40) };
        let again = Op::Upload { from: slice(2, 0, 400), to: slice(0, 0, 400) };
        let last = Op::Download { from: slice(0, 0, 40), to: slice(2, 360, 40) };
        device.run(&Recording::one_queue([back, again, last])).unwrap();
        let beginning: Vec<u32> = content[26..31].iter().copied().chain([7; 5]).collect();
        assert_eq!(contents(&mut *device, 0)[..10], beginning, "{kind:?}");
        assert_eq!(contents(&mut *device, 2)[90..], beginning, "{kind:?}");
    }
}

/// Of a kernel that is not ours, whatever groups before it left there.
pub fn local_memory_begins_with_zeros(backend: &dyn Backend) {
    const TEXT: &str = "
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
struct Params { n: u32, factor: u32 }
@group(0) @binding(2) var<uniform> p: Params;
var<workgroup> tile: array<u32, 64>;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn f(@builtin(global_invocation_id) gid: vec3<u32>, @builtin(local_invocation_index) i: u32) {
    output[gid.x] = tile[63u - i];
    workgroupBarrier();
    tile[i] = input[gid.x] + p.n * p.factor;
}
";
    let mut device = device(backend);
    device.build(KERNEL, &source(TEXT)).unwrap();
    fill(&mut *device, 0, MemoryKind::Device, &[7; 64 * 256]);
    fill(&mut *device, 1, MemoryKind::Device, &[1; 64 * 256]);
    let launch = Op::Dispatch {
        kernel: KERNEL,
        groups: [256, 1, 1],
        buffers: vec![slice(0, 0, 64 * 256 * 4), slice(1, 0, 64 * 256 * 4)],
        params: bytes(&[0, 0]),
    };
    device.run(&Recording::one_queue([launch.clone(), launch])).unwrap();
    assert_eq!(contents(&mut *device, 1), [0; 64 * 256]);
}

pub fn memory_that_the_device_lacks_is_rejected(backend: &dyn Backend) {
    let mut device = device(backend);
    for kind in [MemoryKind::Pinned, MemoryKind::Mapped] {
        if !device.info().host_memory.contains(&kind) {
            unsupported(device.alloc(BufferId(0), Bytes(16), kind));
        }
    }
    let huge = Bytes(device.info().max_buffer.0 + 4);
    assert!(unsupported(device.alloc(BufferId(0), huge, MemoryKind::Device)).contains("largest"));
}

pub fn a_launch_sees_its_slices_and_parameters(backend: &dyn Backend) {
    let mut device = device(backend);
    let report = device.build(KERNEL, &source(SCALE)).unwrap();
    assert!(report.seconds > 0.0 && report.local_bytes == Some(0));
    let step = device.info().offset_alignment.0.max(256);
    let per_slice = (step / 4) as u32;
    let content: Vec<u32> = (0..4 * per_slice).collect();
    fill(&mut *device, 0, MemoryKind::Device, &content);
    fill(&mut *device, 1, MemoryKind::Device, &vec![0; content.len()]);
    let launch = |part: u64, factor: u32| Op::Dispatch {
        kernel: KERNEL,
        groups: [per_slice.div_ceil(64), 1, 1],
        buffers: vec![slice(0, part * step, step), slice(1, part * step, step)],
        params: bytes(&[per_slice, factor]),
    };
    device.run(&Recording::one_queue([launch(0, 2), launch(2, 3), launch(3, 2)])).unwrap();
    for (i, &value) in contents(&mut *device, 1).iter().enumerate() {
        let factor = [2, 0, 3, 2][i / per_slice as usize];
        assert_eq!(value, content[i] * factor, "{i}");
    }

    let groups = [device.info().max_groups[0] + 1, 1, 1];
    let Op::Dispatch { kernel, buffers, params, .. } = launch(0, 1) else { panic!() };
    let wide = Op::Dispatch { kernel, groups, buffers: buffers.clone(), params };
    assert!(
        unsupported(device.run(&Recording::one_queue([wide])))
            .contains("work-groups; the device takes")
    );
    let bare = Op::Dispatch { kernel, groups: [1; 3], buffers, params: vec![] };
    assert!(matches!(device.run(&Recording::one_queue([bare])), Err(Error::Usage(_))));
    if step > 4 {
        let buffers = vec![slice(0, 4, 4), slice(1, 0, 4)];
        let params = bytes(&[1, 1]);
        let off = Op::Dispatch { kernel, groups: [1; 3], buffers, params };
        let aligned = device.info().offset_alignment.0 <= 4;
        assert_eq!(device.run(&Recording::one_queue([off])).is_ok(), aligned);
    }
}

pub fn a_directive_stays_in_front_of_the_constants(backend: &dyn Backend) {
    let mut device = device(backend);
    let computes = device.info().features.iter().any(|feature| feature == "f16");
    let half = format!("enable f16;{}", SCALE.replace("p.factor;", "u32(f16(p.factor));"));
    let half = KernelSource { constants: vec![("N".into(), Constant::Int(1))], ..source(&half) };
    let built = device.build(KERNEL, &half);
    assert_eq!(built.is_ok(), computes, "{built:?}");
}

pub fn mistakes_are_shown_at_their_place_in_the_file(backend: &dyn Backend) {
    let mut device = device(backend);
    let log = build_error(&mut *device, &source(&SCALE.replace("p.factor;", "p.faktor;")));
    assert!(log.contains("kernels/f.wgsl:9:"), "{log}");
    assert!(log.contains("if gid.x < p.n { output[gid.x] = input[gid.x] * p.faktor; }"), "{log}");

    // The parser takes this; the validator does not.
    let log = build_error(&mut *device, &source(&SCALE.replace("gid.x < p.n", "p.n")));
    assert!(log.contains("kernels/f.wgsl:9:"), "{log}");

    let log = build_error(&mut *device, &source("oops;"));
    assert!(log.contains("kernels/f.wgsl:1:1"), "{log}");
}

pub fn arguments_that_differ_from_the_suite_are_named(backend: &dyn Backend) {
    let mut device = device(backend);
    let mut log = |source| build_error(&mut *device, &source);

    let mut written = source(SCALE);
    written.bindings[1].access = Access::Read;
    let text = log(written);
    assert!(text.contains("binding: 1"), "{text}");

    let mut few = source(SCALE);
    (few.bindings, few.params_bytes) = (vec![binding("input", Access::Read)], 0);
    let text = log(few);
    assert!(text.contains("binding: 1"), "{text}");

    let text = log(KernelSource { entry: "g".into(), ..source(SCALE) });
    assert!(text.contains("`g`") && text.contains("`f`"), "{text}");

    let fixed = source(&SCALE.replace("GROUP_X, GROUP_Y, GROUP_Z", "32"));
    assert!(log(fixed).contains("GROUP_X, GROUP_Y, GROUP_Z"));
}

pub fn kernels_beyond_the_limits_are_rejected_before_they_are_built(backend: &dyn Backend) {
    let mut device = device(backend);
    let info = device.info().clone();
    let words = info.local_memory.0 / 4;
    let local = |words: u64| {
        let tile = format!("var<workgroup> tile: array<u32, {words}>;\n@compute");
        let text = SCALE.replace("@compute", &tile);
        source(&text.replace("if gid", "tile[gid.x] = 1u; workgroupBarrier();\n if gid"))
    };
    assert_eq!(device.build(KERNEL, &local(words)).unwrap().local_bytes, Some(info.local_memory.0));
    assert!(unsupported(device.build(KERNEL, &local(words + 4))).contains("local memory"));

    let large = KernelSource { group: [info.max_group_size, 2, 1], ..source(SCALE) };
    assert!(unsupported(device.build(KERNEL, &large)).contains("work-items"));
    let deep = KernelSource { group: [1, 1, info.max_group_dims[2] + 1], ..source(SCALE) };
    unsupported(device.build(KERNEL, &deep));
    let opencl = KernelSource { language: Language::Opencl, ..source(SCALE) };
    assert!(unsupported(device.build(KERNEL, &opencl)).contains("WGSL"));
}

pub fn thousands_of_launches_are_one_recording_with_sane_times(backend: &dyn Backend) {
    let mut device = device(backend);
    device.build(KERNEL, &counter()).unwrap();
    fill(&mut *device, 0, MemoryKind::Device, &[0]);
    let launches = 5000;
    let timeline = device.run(&Recording::one_queue(vec![count(); launches])).unwrap();
    assert_eq!(contents(&mut *device, 0), [launches as u32]);
    if device.info().timestamp_resolution.is_none() {
        assert_eq!(timeline.clock, Clock::Host, "a device without a clock");
        return;
    }
    assert_eq!(timeline.dropped, None, "what its clock says is used");
    assert_eq!((timeline.steps.len(), timeline.clock), (launches, Clock::Device));
    assert_eq!(Some(timeline.resolution), device.info().timestamp_resolution);
    for pair in timeline.steps.windows(2) {
        assert!(pair[0].started <= pair[0].ended && pair[0].ended <= pair[1].ended, "{pair:?}");
    }
    assert!(timeline.steps[launches - 1].ended <= timeline.wall * 1.01 + 1e-4);
}

pub fn replaced_buffers_and_kernels_are_the_ones_that_run(backend: &dyn Backend) {
    let mut device = device(backend);
    device.build(KERNEL, &counter()).unwrap();
    let recording = Recording::one_queue([count()]);
    fill(&mut *device, 0, MemoryKind::Device, &[10]);
    device.run(&recording).unwrap();
    fill(&mut *device, 0, MemoryKind::Device, &[20]);
    device.run(&recording).unwrap();
    assert_eq!(contents(&mut *device, 0), [21]);
    let mut twice = counter();
    twice.text = twice.text.replace("1u", "2u");
    device.build(KERNEL, &twice).unwrap();
    device.run(&recording).unwrap();
    assert_eq!(contents(&mut *device, 0), [23]);

    // A mapped transfer replaces the buffer below the kernel's bind group.
    if device.info().host_memory.contains(&MemoryKind::Mapped) {
        fill(&mut *device, 1, MemoryKind::Mapped, &[40]);
        let upload = Op::Upload { from: slice(1, 0, 4), to: slice(0, 0, 4) };
        device.run(&Recording::one_queue([upload, count()])).unwrap();
        assert_eq!(contents(&mut *device, 0), [42]);
    }
    device.reset();
    assert!(device.run(&recording).is_err());
}

pub fn a_kernel_without_arguments_runs(backend: &dyn Backend) {
    let mut device = device(backend);
    let text = "@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z) fn f() {}";
    let empty = KernelSource { bindings: vec![], params_bytes: 0, ..source(text) };
    device.build(KERNEL, &empty).unwrap();
    let launch =
        Op::Dispatch { kernel: KERNEL, groups: [3, 2, 1], buffers: vec![], params: vec![] };
    assert!(device.run(&Recording::one_queue([launch.clone(), launch])).unwrap().wall > 0.0);
}

pub fn an_empty_recording_ends(backend: &dyn Backend) {
    let mut device = device(backend);
    let timeline = device.run(&Recording::default()).unwrap();
    assert!(timeline.steps.is_empty() && timeline.dropped.is_none());
}

/// A kernel's own order of arguments, with other values in each of two launches.
pub fn arguments_stand_at_the_binding_of_their_position(backend: &dyn Backend) {
    let mut device = device(backend);
    let text = "
@group(0) @binding(0) var<uniform> factor: u32;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
@group(0) @binding(2) var<uniform> add: vec2<i32>;
@group(0) @binding(3) var<storage, read> input: array<u32>;
@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn f(@builtin(global_invocation_id) id: vec3<u32>) {
    output[id.x] += factor * input[id.x] + u32(add.y);
}
";
    let types = ["u32", "i32x2"].map(|name| ValueType::try_from(name.to_owned()).unwrap());
    let value = |offset, r#type| Argument::Value { offset, r#type };
    let args =
        vec![value(0, types[0]), Argument::Buffer(1), value(8, types[1]), Argument::Buffer(0)];
    let source = KernelSource { args: Some(args), params_bytes: 16, ..source(text) };
    device.build(KERNEL, &source).unwrap();
    fill(&mut *device, 0, MemoryKind::Device, &(0..64).collect::<Vec<u32>>());
    fill(&mut *device, 1, MemoryKind::Device, &[0; 64]);
    let launch = |factor: f64, add: f64| Op::Dispatch {
        kernel: KERNEL,
        groups: [1; 3],
        buffers: vec![slice(0, 0, 256), slice(1, 0, 256)],
        params: packed(0, &[(types[0], vec![factor]), (types[1], vec![-1.0, add])]),
    };
    device.run(&Recording::one_queue([launch(2.0, 5.0), launch(1.0, 100.0)])).unwrap();
    let wanted: Vec<u32> = (0..64).map(|i| 3 * i + 105).collect();
    assert_eq!(words(&device.read(BufferId(1)).unwrap()), wanted);

    let double = ValueType::try_from("f64".to_owned()).unwrap();
    for unsupported in [value(0, double), Argument::Local(64)] {
        let source = KernelSource { args: Some(vec![unsupported]), ..source.clone() };
        let rejected = device.build(KERNEL, &source);
        assert!(matches!(rejected, Err(Error::Unsupported(_))), "{rejected:?}");
    }
    // Each is a uniform buffer, of which no device takes so many.
    let many = vec![value(0, types[0]); 4000];
    let many = KernelSource { args: Some(many), ..source };
    assert!(unsupported(device.build(KERNEL, &many)).contains("takes 4000 values"));
}

pub fn drivers_and_loaders_never_write_to_standard_output() {
    assert_eq!(spoken(&[]), "");
    assert_eq!(spoken(&[("VK_LOADER_DEBUG", "all"), ("MESA_DEBUG", "1")]), "");
}

pub fn without_a_driver_the_list_is_empty() {
    // The loader finds no driver, as on a machine without Vulkan; nothing panics.
    let none = "/nonexistent.json";
    let nowhere =
        [("VK_ICD_FILENAMES", none), ("VK_DRIVER_FILES", none), ("EXPECT_NOTHING", "yes")];
    assert_eq!(spoken(&nowhere), "");
}

/// What [`spoken`] watches in another process.
pub fn speak(backend: &dyn Backend) {
    println!("{BEGIN}");
    let devices = backend.devices().unwrap();
    if std::env::var_os("EXPECT_NOTHING").is_some() {
        assert!(devices.is_empty(), "{devices:?}");
    } else {
        let mut device = backend.open(0).unwrap();
        device.build(KERNEL, &counter()).unwrap();
        assert!(device.build(KERNEL, &source("oops")).is_err());
    }
    println!("{END}");
}

/// Tests of `$backend`, which need the feature `$feature`.
macro_rules! driver_tests {
    ($backend:expr, $feature:tt) => {
        driver_tests! { $backend, $feature,
            every_kind_of_host_memory_uploads_and_downloads,
            local_memory_begins_with_zeros,
            memory_that_the_device_lacks_is_rejected,
            a_launch_sees_its_slices_and_parameters,
            a_directive_stays_in_front_of_the_constants,
            mistakes_are_shown_at_their_place_in_the_file,
            arguments_that_differ_from_the_suite_are_named,
            kernels_beyond_the_limits_are_rejected_before_they_are_built,
            thousands_of_launches_are_one_recording_with_sane_times,
            replaced_buffers_and_kernels_are_the_ones_that_run,
            a_kernel_without_arguments_runs,
            an_empty_recording_ends,
            arguments_stand_at_the_binding_of_their_position,
            a_buffer_is_read_from_constant_memory,
            a_buffer_is_read_as_an_image,
            bytes_of_an_image_are_fractions,
            images_that_no_device_has_are_rejected,
            what_a_buffer_holds_is_known_to_the_byte,
            a_shipped_kernel_is_built_unchecked,
        }

        #[test]
        #[cfg_attr(not(feature = $feature), ignore = "needs its driver")]
        fn drivers_and_loaders_never_write_to_standard_output() {
            driver::drivers_and_loaders_never_write_to_standard_output();
        }

        #[test]
        #[cfg(target_os = "linux")]
        fn without_a_driver_the_list_is_empty() {
            driver::without_a_driver_the_list_is_empty();
        }

        /// Not a test of its own: what the two before watch in another process.
        #[test]
        #[ignore = "started by other tests"]
        fn speak() {
            driver::speak(&$backend);
        }
    };
    ($backend:expr, $feature:tt, $($name:ident,)*) => {
        $(
            #[test]
            #[cfg_attr(not(feature = $feature), ignore = "needs its driver")]
            fn $name() {
                driver::$name(&$backend);
            }
        )*
    };
}
