//! The OpenCL backend on a real driver.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
use gpubench::backend::opencl::Opencl;
use gpubench::backend::{Backend, Device};
use gpubench::error::Error;
use gpubench::gpu::{
    Access, Argument, Binding, BufferId, Clock, Element, KernelId, KernelSource, Language, Library,
    MemoryKind, Op, Origin, Queue, Recording, Scalar, Slice, ValueType, packed,
};
use gpubench::units::Bytes;

/// The first device.
fn device() -> Box<dyn Device> {
    assert!(!Opencl.devices().unwrap().is_empty(), "no OpenCL device on this machine");
    Opencl.open(0).unwrap()
}

const SCALE: &str = "
typedef struct { uint n; float factor; } Params;
__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void scale(global const float* a, global float* b, const Params p) {
    size_t i = get_global_id(0);
    if (i < p.n) b[i] = p.factor * a[i];
}";

fn source(text: &str, entry: &str, bindings: usize, params_bytes: u32) -> KernelSource {
    let binding = |i| Binding {
        name: format!("b{i}"),
        element: Element::scalar(Scalar::F32),
        access: Access::ReadWrite,
        image: None,
    };
    KernelSource {
        language: Language::Opencl,
        text: text.into(),
        entry: entry.into(),
        origin: Origin::User("my kernels.cl".into()),
        group: [64, 1, 1],
        constants: vec![],
        bindings: (0..bindings).map(binding).collect(),
        params_bytes,
        args: None,
        meaning: None,
        settings: Default::default(),
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect()
}

fn bytes(floats: &[f32]) -> Vec<u8> {
    floats.iter().flat_map(|x| x.to_ne_bytes()).collect()
}

fn ramp(n: usize) -> Vec<f32> {
    (0..n).map(|i| i as f32).collect()
}

fn slice(buffer: u32, offset: u64, len: u64) -> Slice {
    Slice { buffer: BufferId(buffer), offset: Bytes(offset), len: Bytes(len) }
}

fn alloc(device: &mut dyn Device, id: u32, bytes: u64, kind: MemoryKind) {
    device.alloc(BufferId(id), Bytes(bytes), kind).unwrap();
}

fn scale(from: Slice, to: Slice, n: u32, factor: f32) -> Op {
    Op::Dispatch {
        kernel: KernelId(0),
        groups: [n.div_ceil(64), 1, 1],
        buffers: vec![from, to],
        params: [n.to_ne_bytes(), factor.to_ne_bytes()].concat(),
    }
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn devices_describe_themselves() {
    let device = device();
    let info = device.info();
    assert_eq!((info.backend.as_str(), info.index), ("opencl", 0));
    assert!(!info.name.is_empty() && !info.vendor.is_empty() && !info.driver.is_empty());
    assert!(info.api.starts_with("OpenCL ") && info.max_buffer.0 > 0 && info.memory.is_some());
    assert!(info.max_group_size >= 1 && info.max_group_dims[0] >= 1 && info.queues >= 2);
    assert!(info.offset_alignment.0 >= 4 && info.local_memory.0 >= 1024);
    assert!(matches!(Opencl.open(9999), Err(Error::Usage(_))));
}

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
fn what_is_written_is_read() {
    let mut device = device();
    let data = bytes(&ramp(1000));
    for (id, kind) in [
        (0, MemoryKind::Device),
        (1, MemoryKind::Pageable),
        (2, MemoryKind::Pinned),
        (3, MemoryKind::Mapped),
    ] {
        alloc(&mut *device, id, 4000, kind);
        device.write(BufferId(id), &data).unwrap();
        assert_eq!(device.read(BufferId(id)).unwrap(), data, "{kind:?}");
        assert!(matches!(device.write(BufferId(id), &[0; 4001]), Err(Error::Usage(_))));
    }
    device.reset();
    assert!(matches!(device.read(BufferId(0)), Err(Error::Usage(_))));
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn a_kernel_uses_memory_that_the_host_maps() {
    let mut device = device();
    device.build(KernelId(0), &source(SCALE, "scale", 2, 8)).unwrap();
    let step = device.info().offset_alignment.0.max(4096);
    let n = 1000;
    for kind in device.info().zero_copy.clone() {
        let kind = kind.memory;
        // Kernels see parts, the host maps parts, and both are the same bytes.
        for id in [0, 1] {
            alloc(&mut *device, id, step + 4 * n, kind);
            device.write(BufferId(id), &vec![7; (step + 4 * n) as usize]).unwrap();
        }
        let input: Vec<u8> = [vec![7; step as usize], bytes(&ramp(n as usize))].concat();
        device.write(BufferId(0), &input).unwrap();
        let (from, to) = (slice(0, step, 4 * n), slice(1, step, 4 * n));
        let (write, read) = (Access::Write, Access::Read);
        let mut recording = Recording::default();
        for op in [
            Op::Map { part: from, access: write },
            Op::Unmap { part: from },
            scale(from, to, n as u32, 3.0),
            Op::Map { part: to, access: read },
            Op::Unmap { part: to },
        ] {
            recording.push(Queue(0), vec![], op);
        }
        let times = device.run(&recording).unwrap();
        assert!(times.steps.len() == 5 || times.clock == Clock::Host, "{kind:?}");
        let found = device.read(BufferId(1)).unwrap();
        let expected: Vec<f32> = ramp(n as usize).iter().map(|x| 3.0 * x).collect();
        assert_eq!(floats(&found[step as usize..]), expected, "{kind:?}");
        assert!(found[..step as usize].iter().all(|&byte| byte == 7), "{kind:?}");

        // What is mapped is the host's from one recording to the next.
        let mut run = |ops: &[Op]| {
            let mut recording = Recording::default();
            for op in ops {
                recording.push(Queue(0), vec![], op.clone());
            }
            device.run(&recording).map(drop)
        };
        run(&[Op::Map { part: from, access: write }]).unwrap();
        let used = run(&[scale(from, to, n as u32, 3.0)]).unwrap_err();
        assert!(used.to_string().contains("buffer 0 is mapped"), "{used}");
        run(&[Op::Unmap { part: from }, scale(from, to, n as u32, 2.0)]).unwrap();
        assert!(run(&[Op::Unmap { part: from }]).is_err(), "it is not mapped");
    }
    alloc(&mut *device, 2, 64, MemoryKind::Device);
    let mut recording = Recording::default();
    let map = Op::Map { part: slice(2, 0, 64), access: Access::Read };
    recording.push(Queue(0), vec![], map);
    assert!(matches!(device.run(&recording), Err(Error::Usage(_))), "device memory is not mapped");
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn copies_within_the_device() {
    let mut device = device();
    let align = device.info().offset_alignment.0;
    let len = 16 * align;
    alloc(&mut *device, 0, len, MemoryKind::Device);
    alloc(&mut *device, 1, len, MemoryKind::Device);
    let data: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
    device.write(BufferId(0), &data).unwrap();
    device.write(BufferId(1), &vec![0xee; len as usize]).unwrap();
    let mut recording = Recording::default();
    // One copy between aligned parts, and one that no sub-buffer can stand for.
    let (from, to) = (slice(0, 2 * align, align), slice(1, 4 * align, align));
    recording.push(Queue(0), vec![], Op::Copy { from, to });
    recording.push(Queue(0), vec![], Op::Copy { from: slice(0, 1, 7), to: slice(1, 3, 7) });
    device.run(&recording).unwrap();
    let mut expected = vec![0xee; len as usize];
    let at = |n: u64| n as usize;
    expected[at(4 * align)..at(5 * align)].copy_from_slice(&data[at(2 * align)..at(3 * align)]);
    expected[3..10].copy_from_slice(&data[1..8]);
    assert_eq!(device.read(BufferId(1)).unwrap(), expected);
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn transfers_with_every_kind_of_host_memory() {
    let mut device = device();
    let align = device.info().offset_alignment.0;
    let len = 8 * align;
    let data: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
    for kind in [MemoryKind::Pageable, MemoryKind::Pinned, MemoryKind::Mapped] {
        alloc(&mut *device, 0, len, MemoryKind::Device);
        alloc(&mut *device, 1, len, kind);
        alloc(&mut *device, 2, len, kind);
        device.write(BufferId(0), &vec![0; len as usize]).unwrap();
        device.write(BufferId(1), &data).unwrap();
        let mut recording = Recording::default();
        let (to, from) = (slice(0, align, 3 * align), slice(1, 5, 3 * align));
        let upload = recording.push(Queue(0), vec![], Op::Upload { from, to });
        let back = Op::Download { from: to, to: slice(2, 9, 3 * align) };
        recording.push(Queue(1), vec![upload], back);
        let odd = Op::Download { from: slice(0, align + 3, 5), to: slice(2, 0, 5) };
        recording.push(Queue(1), vec![upload], odd);
        let times = device.run(&recording).unwrap();
        assert!(times.steps.len() == 3 || times.clock == Clock::Host);
        let part = &data[5..5 + 3 * align as usize];
        let found = device.read(BufferId(2)).unwrap();
        assert_eq!(&found[9..9 + part.len()], part, "{kind:?}");
        assert_eq!(&found[..5], &part[3..8], "{kind:?}");
        assert!(found[9 + part.len()..].iter().all(|&b| b == 0), "{kind:?}");
        let on_device = device.read(BufferId(0)).unwrap();
        assert!(on_device[..align as usize].iter().all(|&b| b == 0), "{kind:?}");
        assert_eq!(&on_device[align as usize..][..part.len()], part, "{kind:?}");
    }
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
fn new_memory_reaches_a_kernel_that_was_bound_to_the_old() {
    let mut device = device();
    device.build(KernelId(0), &source(SCALE, "scale", 2, 8)).unwrap();
    for round in 1..4_u8 {
        alloc(&mut *device, 0, 4096, MemoryKind::Device);
        alloc(&mut *device, 1, 4096, MemoryKind::Device);
        device.write(BufferId(0), &bytes(&[f32::from(round); 1024])).unwrap();
        let mut recording = Recording::default();
        recording.push(Queue(0), vec![], scale(slice(0, 0, 4096), slice(1, 0, 4096), 1024, 3.0));
        device.run(&recording).unwrap();
        assert_eq!(floats(&device.read(BufferId(1)).unwrap()), [3.0 * f32::from(round); 1024]);
    }
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn queues_wait_for_each_other() {
    let mut device = device();
    let n = 1 << 16;
    device.build(KernelId(0), &source(SCALE, "scale", 2, 8)).unwrap();
    for (id, kind) in [(0, MemoryKind::Pinned), (1, MemoryKind::Device), (2, MemoryKind::Device)] {
        alloc(&mut *device, id, 4 * n as u64, kind);
    }
    device.write(BufferId(0), &bytes(&ramp(n))).unwrap();
    device.write(BufferId(1), &vec![0; 4 * n]).unwrap();
    device.write(BufferId(2), &vec![0; 4 * n]).unwrap();
    let all = |id| slice(id, 0, 4 * n as u64);
    let mut recording = Recording::default();
    let mut last = recording.push(Queue(0), vec![], Op::Upload { from: all(0), to: all(1) });
    // The data goes to and fro between two buffers, every step on the other queue.
    for step in 0..8 {
        let (from, to) = if step % 2 == 0 { (1, 2) } else { (2, 1) };
        let op = scale(all(from), all(to), n as u32, 2.0);
        last = recording.push(Queue(1 - step % 2), vec![last], op);
    }
    recording.push(Queue(1), vec![last], Op::Download { from: all(1), to: all(0) });
    let times = device.run(&recording).unwrap();
    let expected: Vec<_> = (0..n).map(|i| 256.0 * i as f32).collect();
    assert_eq!(floats(&device.read(BufferId(0)).unwrap()), expected);
    for pair in times.steps.windows(2) {
        assert!(pair[0].ended <= pair[1].started, "{pair:?}");
    }
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn times_are_ordered_and_within_the_hosts() {
    let mut device = device();
    device.build(KernelId(0), &source(SCALE, "scale", 2, 8)).unwrap();
    alloc(&mut *device, 0, 1 << 20, MemoryKind::Device);
    alloc(&mut *device, 1, 1 << 20, MemoryKind::Device);
    device.write(BufferId(0), &vec![0; 1 << 20]).unwrap();
    let mut recording = Recording::default();
    for _ in 0..100 {
        let op = scale(slice(0, 0, 1 << 20), slice(1, 0, 1 << 20), 1 << 18, 2.0);
        recording.push(Queue(0), vec![], op);
    }
    let times = device.run(&recording).unwrap();
    assert!(times.wall > 0.0 && times.resolution > 0.0);
    assert_eq!((times.clock, &times.dropped), (Clock::Device, &None), "its clock is used");
    assert_eq!(times.steps.len(), 100);
    for (step, t) in times.steps.iter().enumerate() {
        assert!(0.0 <= t.queued && t.queued <= t.submitted, "step {step}: {t:?}");
        assert!(t.submitted <= t.started && t.started <= t.ended, "step {step}: {t:?}");
        assert!(t.ended <= times.wall * 1.05 + 1e-3, "step {step}: {t:?}, wall {}", times.wall);
    }
    assert!(times.steps.windows(2).all(|pair| pair[0].ended <= pair[1].started));
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn an_empty_recording_has_no_steps() {
    let mut device = device();
    assert!(device.run(&Recording::default()).unwrap().steps.is_empty());
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

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn recordings_that_make_no_sense_are_rejected() {
    let mut device = device();
    device.build(KernelId(0), &source(SCALE, "scale", 2, 8)).unwrap();
    alloc(&mut *device, 0, 4096, MemoryKind::Device);
    alloc(&mut *device, 1, 4096, MemoryKind::Pageable);
    let mut run = |queue, op| {
        let mut recording = Recording::default();
        recording.push(Queue(queue), vec![], op);
        device.run(&recording).unwrap_err()
    };
    let whole = slice(0, 0, 4096);
    let launch = |kernel, buffers| Op::Dispatch {
        kernel: KernelId(kernel),
        groups: [1; 3],
        buffers,
        params: vec![0; 8],
    };
    let usage = [
        // Binding count, a host buffer as an argument, no such kernel, no groups.
        launch(0, vec![whole]),
        launch(0, vec![whole, slice(1, 0, 4096)]),
        launch(7, vec![whole, whole]),
        scale(whole, whole, 0, 1.0),
        // Outside the buffer, unequal lengths, no such buffer, the wrong sort of buffer.
        Op::Copy { from: slice(0, 4000, 100), to: slice(0, 0, 100) },
        Op::Copy { from: slice(0, u64::MAX, 100), to: slice(0, 0, 100) },
        Op::Copy { from: slice(0, 0, 100), to: slice(0, 200, 99) },
        Op::Copy { from: slice(5, 0, 100), to: slice(0, 200, 100) },
        Op::Upload { from: whole, to: slice(1, 0, 4096) },
    ];
    for op in usage {
        let error = run(0, op.clone());
        assert!(matches!(error, Error::Usage(_)), "{op:?}: {error:?}");
    }
    let copy = Op::Copy { from: slice(0, 0, 100), to: slice(0, 200, 100) };
    assert!(matches!(run(u32::MAX, copy), Error::Unsupported(_)));
    let misaligned = scale(slice(0, 1, 64), slice(0, 2048, 64), 16, 1.0);
    assert!(matches!(run(0, misaligned), Error::Unsupported(_)));
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn allocations_beyond_the_limit_are_rejected() {
    let mut device = device();
    let too_much = Bytes(device.info().max_buffer.0 + 1);
    let rejected = device.alloc(BufferId(0), too_much, MemoryKind::Device);
    assert!(matches!(rejected, Err(Error::Unsupported(_))), "{rejected:?}");
    let rejected = device.alloc(BufferId(0), Bytes(1 << 50), MemoryKind::Pageable);
    assert!(matches!(rejected, Err(Error::OutOfMemory(_))), "{rejected:?}");
    let rejected = device.alloc(BufferId(0), Bytes(0), MemoryKind::Device);
    assert!(matches!(rejected, Err(Error::Unsupported(_))), "{rejected:?}");
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
