//! Kernels: how they are built, what they are given, and what is said of their mistakes.

use crate::{SCALE, alloc, bytes, device, floats, ramp, scale, slice, source};
use gpubench::error::Error;
use gpubench::gpu::{
    Argument, Binding, BufferId, KernelId, KernelSource, Library, MemoryKind, Op, Queue, Recording,
    ValueType, packed,
};

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn a_program_is_compiled_once_however_often_its_kernels_are_built() {
    let mut device = device();
    let text = format!("{SCALE}\nkernel void other(global float* b) {{ b[0] = 7.0f; }}");
    let scaling = source(&text, "scale", 2, 8);
    let first = device.build(KernelId(0), &scaling).unwrap();
    device.reset();
    let again = device.build(KernelId(0), &scaling).unwrap();
    assert_eq!((first.kept, again.kept), (false, true));
    assert!(again.seconds > 0.0 && again.seconds <= first.seconds, "what compiling it took");
    assert!(device.build(KernelId(1), &source(&text, "other", 1, 0)).unwrap().kept);
    let wider = KernelSource { group: [32, 1, 1], ..scaling };
    assert!(!device.build(KernelId(2), &wider).unwrap().kept, "another group");
    for id in [0, 1] {
        alloc(&mut *device, id, 256, MemoryKind::Device);
    }
    device.write(BufferId(0), &bytes(&ramp(64))).unwrap();
    let mut recording = Recording::default();
    recording.push(Queue(0), vec![], scale(slice(0, 0, 256), slice(1, 0, 256), 64, 2.0));
    device.run(&recording).unwrap();
    assert_eq!(floats(&device.read(BufferId(1)).unwrap())[63], 126.0);
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn a_kernel_sees_its_parameters_and_its_part_of_a_buffer() {
    let mut device = device();
    let align = device.info().offset_alignment.0;
    let report = device.build(KernelId(0), &source(SCALE, "scale", 2, 8)).unwrap();
    assert!(report.seconds > 0.0 && report.options.contains("-D GROUP_X=64"));
    let (count, quarter) = (align as usize, align as usize / 4);
    alloc(&mut *device, 0, 4 * align, MemoryKind::Device);
    alloc(&mut *device, 1, 4 * align, MemoryKind::Device);
    device.write(BufferId(0), &bytes(&ramp(count))).unwrap();
    device.write(BufferId(1), &bytes(&vec![-1.0; count])).unwrap();
    let mut recording = Recording::default();
    // Quarter 3 times 2 into quarter 1, then quarter 1 times 10 into quarter 2; n is one short.
    let (third, first, second) =
        (slice(0, 3 * align, align), slice(1, align, align), slice(1, 2 * align, align));
    recording.push(Queue(0), vec![], scale(third, first, quarter as u32, 2.0));
    recording.push(Queue(0), vec![], scale(first, second, quarter as u32 - 1, 10.0));
    device.run(&recording).unwrap();
    let found = floats(&device.read(BufferId(1)).unwrap());
    for (i, &found) in found.iter().enumerate() {
        let (part, i) = (i / quarter, i % quarter);
        let expected = match part {
            1 => 2.0 * (3 * quarter + i) as f32,
            2 if i < quarter - 1 => 20.0 * (3 * quarter + i) as f32,
            _ => -1.0,
        };
        assert_eq!(found, expected, "element {i} of quarter {part}");
    }
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn a_mistake_in_a_kernel_names_the_users_file_and_line() {
    let mut device = device();
    let text = "kernel void f(global float* a) {\n    int x = 1;\n    a[0] = y;\n}\n";
    let Err(Error::Build { kernel, log }) = device.build(KernelId(0), &source(text, "f", 1, 0))
    else {
        panic!("a kernel with a mistake does not build");
    };
    assert_eq!(kernel, "f (my kernels.cl)");
    assert!(log.contains("my kernels.cl:3:"), "{log}");
    assert!(!log.contains("/tmp") && !log.contains("/root"), "{log}");
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn kernels_that_do_not_fit_are_rejected() {
    let mut device = device();
    let id = KernelId(0);
    let mut huge = source(SCALE, "scale", 2, 8);
    huge.group = [device.info().max_group_size * 2, 1, 1];
    assert!(matches!(device.build(id, &huge), Err(Error::Unsupported(_))));
    huge.group = [0, 1, 1];
    assert!(matches!(device.build(id, &huge), Err(Error::Usage(_))));

    let log = |built| match built {
        Err(Error::Build { log, .. }) => log,
        other => panic!("expected a build error, not {other:?}"),
    };
    let one_short = log(device.build(id, &source(SCALE, "scale", 1, 8)));
    assert!(one_short.contains("takes 3 arguments"), "{one_short}");
    // A driver need not know the sizes of arguments; one that does is heard.
    let other_size = device.build(id, &source(SCALE, "scale", 2, 12));
    assert!(other_size.is_ok() || log(other_size).contains("12 bytes"));
    let absent = log(device.build(id, &source(SCALE, "scales", 2, 8)));
    assert!(absent.contains("no kernel called `scales`; there are: scale"), "{absent}");
    for none in ["", "\n  \n", "int f(void) { return 1; }"] {
        let none = log(device.build(id, &source(none, "scale", 2, 8)));
        assert!(none.ends_with("there is no kernel in it"), "{none}");
    }
    let fixed = SCALE.replace("GROUP_X, GROUP_Y, GROUP_Z", "32, 1, 1");
    let fixed = log(device.build(id, &source(&fixed, "scale", 2, 8)));
    assert!(fixed.contains("reqd_work_group_size is [32, 1, 1]"), "{fixed}");

    let local = device.info().local_memory.0 / 4 + 1024;
    let text = format!(
        "kernel void f(global float* a) {{ local float t[{local}]; size_t i = get_local_id(0);
           t[i] = a[i]; barrier(CLK_LOCAL_MEM_FENCE); a[i] = t[{local} - 1 - i]; }}"
    );
    let rejected = device.build(id, &source(&text, "f", 1, 0));
    assert!(matches!(rejected, Err(Error::Unsupported(_) | Error::Build { .. })), "{rejected:?}");
}

const ANY_ORDER: &str = "
kernel void scaled(float factor, global float* out, local int* scratch, ulong n, int2 add,
                global const float* in) {
    size_t i = get_global_id(0);
    scratch[get_local_id(0)] = add.y;
    if (i < n) out[i] = factor * in[i] + (float)(add.x + scratch[get_local_id(0)]);
}";

/// The arguments of [`ANY_ORDER`] over the buffers `in` and `out`, and their values.
fn any_order() -> (KernelSource, Vec<u8>) {
    let value = |text: &str| ValueType::try_from(text.to_owned()).unwrap();
    let values =
        [(value("f32"), vec![3.0]), (value("u64"), vec![64.0]), (value("i32x2"), vec![10.0, 1.0])];
    let at = |offset, name| Argument::Value { offset, r#type: value(name) };
    let args = vec![
        at(0, "f32"),
        Argument::Buffer(1),
        Argument::Local(256),
        at(8, "u64"),
        at(16, "i32x2"),
        Argument::Buffer(0),
    ];
    let mut source = source(ANY_ORDER, "scaled", 2, 24);
    source.bindings[0].name = "in".into();
    source.bindings[1].name = "out".into();
    (KernelSource { args: Some(args), ..source }, packed(0, &values))
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn arguments_of_every_sort_stand_in_the_kernels_order() {
    let mut device = device();
    let (source, params) = any_order();
    device.build(KernelId(0), &source).unwrap();
    for i in 0..2 {
        alloc(&mut *device, i, 256, MemoryKind::Device);
    }
    device.write(BufferId(0), &bytes(&ramp(64))).unwrap();
    let buffers = vec![slice(0, 0, 256), slice(1, 0, 256)];
    let mut recording = Recording::default();
    let op = Op::Dispatch { kernel: KernelId(0), groups: [1; 3], buffers, params };
    recording.push(Queue(0), vec![], op);
    device.run(&recording).unwrap();
    let wanted: Vec<f32> = ramp(64).iter().map(|x| 3.0 * x + 11.0).collect();
    assert_eq!(floats(&device.read(BufferId(1)).unwrap()), wanted);
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn arguments_that_are_not_the_kernels_are_rejected_with_both_lists() {
    let mut device = device();
    let mut spoiled = |spoil: &dyn Fn(&mut KernelSource), words: &[&str]| {
        let mut source = any_order().0;
        spoil(&mut source);
        match device.build(KernelId(0), &source) {
            Err(Error::Build { log, .. }) => {
                assert!(words.iter().all(|word| log.contains(word)), "{words:?}: {log}");
            }
            other => panic!("expected a build error, not {other:?}"),
        }
    };
    let change = |i: usize, to: Argument| {
        move |source: &mut KernelSource| source.args.as_mut().unwrap()[i] = to
    };
    let double = ValueType::try_from("f64".to_owned()).unwrap();
    let lists = ["the suite gives: ", "the kernel takes: float factor, float* out, int* scratch"];
    spoiled(
        &|s| s.args.as_mut().unwrap().truncate(5),
        &["my kernels.cl:2:", "takes 6 arguments", "gives 5", lists[1]],
    );
    spoiled(
        &change(3, Argument::Value { offset: 8, r#type: double }),
        &["argument 3", "`n`", "`ulong`", "`double`", lists[0]],
    );
    spoiled(&change(0, Argument::Buffer(0)), &["`factor`", "is a value", "gives a buffer"]);
    spoiled(&change(1, Argument::Local(4)), &["`out`", "is a buffer", "gives local memory"]);
    // The order is compared only where nothing maps it on purpose.
    let text = "kernel void f(global float* x, global float* y) { y[0] = x[0]; }";
    let mixed = |s: &mut KernelSource| {
        *s = source(text, "f", 2, 0);
        (s.bindings[0].name, s.bindings[1].name) = ("y".into(), "x".into());
    };
    spoiled(&mixed, &["buffers are y, x", "takes x, y", "`args` maps them"]);
}

/// Rows 1 and 2 of a product of 3×2 by 2×2 matrices. What is said where CLBlast is missing, its unit tests show.
#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver and CLBlast")]
fn clblast_multiplies_what_rows_it_is_given() {
    let mut device = device();
    let named = |(name, mut binding): (&str, Binding)| {
        binding.name = name.into();
        binding
    };
    let mut source = source("", "gemm", 3, 20);
    source.bindings = ["a", "b", "c"].into_iter().zip(source.bindings).map(named).collect();
    source.settings.library = Some(Library::Clblast);
    let built = device.build(KernelId(0), &source).unwrap();
    assert!(built.options.contains("libclblast.so.1"), "{}", built.options);
    let matrices = [vec![1., 2., 3., 4., 5., 6.], vec![7., 8., 9., 10.], vec![-1.; 6]];
    for (id, matrix) in (0..).zip(&matrices) {
        alloc(device.as_mut(), id, 4 * matrix.len() as u64, MemoryKind::Device);
        device.write(BufferId(id), &bytes(matrix)).unwrap();
    }
    let mut recording = Recording::default();
    let params: [u32; 5] = [3, 2, 2, 1, 2];
    recording.push(
        Queue(0),
        vec![],
        Op::Dispatch {
            kernel: KernelId(0),
            groups: [1; 3],
            buffers: vec![slice(0, 0, 24), slice(1, 0, 16), slice(2, 0, 24)],
            params: params.iter().flat_map(|n| n.to_ne_bytes()).collect(),
        },
    );
    let timeline = device.run(&recording).unwrap();
    assert!(timeline.wall > 0.0 && timeline.steps.iter().all(|step| step.ended >= step.started));
    assert_eq!(floats(&device.read(BufferId(2)).unwrap()), [-1., -1., 57., 64., 89., 100.][..]);
    // Rows that the matrices do not have.
    let Op::Dispatch { params, .. } = &mut recording.steps[0].op else { panic!() };
    params[16..].copy_from_slice(&9u32.to_ne_bytes());
    let why = device.run(&recording).unwrap_err().to_string();
    assert!(why.contains("buffer is too small"), "{why}");
}
