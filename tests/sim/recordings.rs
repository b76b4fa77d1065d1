//! What recordings do on a simulated device: data, kernels by their references, mistakes, noise.

use crate::{assert_near, gpu};
use gpubench::backend::Device;
use gpubench::backend::sim::{Description, Noise, SimDevice};
use gpubench::error::Error;
use gpubench::gpu::{
    Access, Binding, BufferId, Clock, Constant, Element, KernelId, KernelSource, Language, Meaning,
    MemoryKind, Op, Origin, Queue, Recording, Scalar, Slice, StepId,
};
use gpubench::units::Bytes;

fn slice(buffer: u32, len: u64) -> Slice {
    Slice { buffer: BufferId(buffer), offset: Bytes(0), len: Bytes(len) }
}

/// A device with a host buffer 0 and device buffers 1 and 2 of 4 bytes each.
fn device(gpu: Description) -> SimDevice {
    let mut device = SimDevice::new(gpu, 0, 0);
    device.alloc(BufferId(0), Bytes(4), MemoryKind::Pinned).unwrap();
    for id in [1, 2] {
        device.alloc(BufferId(id), Bytes(4), MemoryKind::Device).unwrap();
    }
    device
}

fn there_and_back(after: Vec<StepId>) -> Recording {
    let mut recording = Recording::default();
    recording.push(Queue(0), vec![], Op::Upload { from: slice(0, 4), to: slice(1, 4) });
    recording.push(Queue(1), after, Op::Copy { from: slice(1, 4), to: slice(2, 4) });
    recording
}

#[test]
fn a_recording_moves_data_as_its_dependencies_say() {
    let mut device = device(gpu());
    device.write(BufferId(0), &[1, 2, 3, 4]).unwrap();
    let timeline = device.run(&there_and_back(vec![StepId(0)])).unwrap();
    assert_eq!(device.read(BufferId(2)).unwrap(), [1, 2, 3, 4]);
    assert_eq!(timeline.clock, Clock::Simulated);
    assert_eq!(timeline.wall, timeline.steps[1].ended);
    // Without the dependency the copy starts before the upload has ended, and copies what was there.
    device.write(BufferId(0), &[9; 4]).unwrap();
    device.run(&there_and_back(vec![])).unwrap();
    assert_eq!(device.read(BufferId(2)).unwrap(), [1, 2, 3, 4]);
}

#[test]
fn what_cannot_be_done_is_rejected() {
    let mut device = device(gpu());
    let mut recording = Recording::default();
    recording.push(Queue(4), vec![], Op::Copy { from: slice(1, 4), to: slice(2, 4) });
    assert!(matches!(device.run(&recording), Err(Error::Unsupported(_))));
    for op in [
        Op::Upload { from: slice(1, 4), to: slice(2, 4) },
        Op::Upload { from: slice(0, 4), to: slice(1, 3) },
        Op::Download { from: slice(1, 8), to: slice(0, 8) },
        Op::Copy { from: slice(1, 4), to: slice(7, 4) },
    ] {
        let recording = Recording::one_queue([op]);
        assert!(matches!(device.run(&recording), Err(Error::Usage(_))));
    }
    let mut recording = Recording::default();
    recording.push(Queue(0), vec![StepId(0)], Op::Copy { from: slice(1, 4), to: slice(2, 4) });
    assert!(matches!(device.run(&recording), Err(Error::Usage(_))));
    let pageable = device.alloc(BufferId(9), Bytes(4), MemoryKind::Pageable);
    assert!(matches!(pageable, Err(Error::Unsupported(_))));
    let huge = device.alloc(BufferId(9), Bytes((1 << 28) + 1), MemoryKind::Device);
    assert!(matches!(huge, Err(Error::OutOfMemory(_))));
}

/// The shipped `copy` over `n` scalars in groups of 64.
fn copy_kernel(n: u64) -> KernelSource {
    let binding = |name: &str, access| Binding {
        name: name.into(),
        element: Element::scalar(Scalar::F32),
        access,
        image: None,
    };
    KernelSource {
        language: Language::Wgsl,
        text: include_str!("../../shaders/micro/copy.wgsl").into(),
        entry: "copy".into(),
        origin: Origin::Shipped("micro/copy.wgsl".into()),
        group: [64, 1, 1],
        constants: vec![
            ("ITEMS".into(), Constant::Int(1)),
            ("V".into(), Constant::Type(Element { scalar: Scalar::F32, width: 1 })),
        ],
        bindings: vec![binding("a", Access::Read), binding("out", Access::Write)],
        params_bytes: 4,
        args: None,
        settings: Default::default(),
        meaning: Some(Meaning {
            reference: "copy".into(),
            params: vec![("n".into(), Scalar::U32)],
            sizes: vec![("n".into(), 1)],
            flops: 0.0,
            double: 0.0,
            bytes: (8 * n) as f64,
            groups: n.div_ceil(64),
            rows: None,
        }),
    }
}

/// Copies scalars `from..to` by a kernel on `queue`.
fn copy_range(queue: u32, after: Vec<StepId>, from: u64, to: u64) -> impl Fn(&mut Recording) {
    let part = |buffer| Slice {
        buffer: BufferId(buffer),
        offset: Bytes(4 * from),
        len: Bytes(4 * (to - from)),
    };
    let op = Op::Dispatch {
        kernel: KernelId(0),
        groups: [u32::try_from((to - from).div_ceil(64)).unwrap(), 1, 1],
        buffers: vec![part(1), part(2)],
        params: u32::try_from(to - from).unwrap().to_ne_bytes().to_vec(),
    };
    move |recording| {
        recording.push(Queue(queue), after.clone(), op.clone());
    }
}

#[test]
fn kernels_compute_through_their_reference() {
    const N: u64 = 1000;
    let mut device = SimDevice::new(gpu(), 0, 0);
    device.build(KernelId(0), &copy_kernel(N)).unwrap();
    for id in [1, 2] {
        device.alloc(BufferId(id), Bytes(4 * N), MemoryKind::Device).unwrap();
    }
    let numbers = |start: u16| -> Vec<u8> {
        (0..1000).flat_map(|i| f32::from(start + i).to_ne_bytes()).collect()
    };
    // The parameter block's n, not the size of that name, says how much is computed.
    device.write(BufferId(1), &numbers(1)).unwrap();
    let mut half = Recording::default();
    copy_range(0, vec![], 0, 500)(&mut half);
    let time = device.run(&half).unwrap().wall;
    let result = device.read(BufferId(2)).unwrap();
    assert_eq!(result[..2000], numbers(1)[..2000]);
    assert_eq!(result[2000..], [0; 2000]);
    // The other half, twice, on a queue of its own; then from changed input.
    let mut rest = half.clone();
    copy_range(1, vec![], 500, N)(&mut rest);
    copy_range(1, vec![], 500, N)(&mut rest);
    for start in [1, 7, 7] {
        device.write(BufferId(1), &numbers(start)).unwrap();
        let timeline = device.run(&rest).unwrap();
        assert_eq!(device.read(BufferId(2)).unwrap(), numbers(start));
        // Far from any limit, halves on two queues take as long as one.
        assert_near(timeline.steps[1].ended, time);
    }
    // What a batch need not compute again, it must when its output was overwritten.
    device.write(BufferId(2), &vec![0xff; 4 * N as usize]).unwrap();
    device.run(&rest).unwrap();
    assert_eq!(device.read(BufferId(2)).unwrap(), numbers(7));
}

#[test]
fn a_kernels_local_memory_limits_how_many_groups_a_unit_holds() {
    // A unit has 4096 bytes, so that it holds two groups of 2048 but eight that use none.
    let staged = "var<workgroup> tile: array<f32, 512>;";
    let mut text =
        copy_kernel(1).text.replace("    let vectors", "    tile[0] = 1.0;\n    let vectors");
    text.push_str(staged);
    let mut waves = vec![];
    for source in [copy_kernel(64 * 128), KernelSource { text, ..copy_kernel(64 * 128) }] {
        let mut device = SimDevice::new(gpu(), 0, 0);
        let local = device.build(KernelId(0), &source).unwrap().local_bytes;
        for id in [1, 2] {
            device.alloc(BufferId(id), Bytes(4 * 64 * 128), MemoryKind::Device).unwrap();
        }
        let mut recording = Recording::default();
        copy_range(0, vec![], 0, 64 * 128)(&mut recording);
        waves.push((local, device.run(&recording).unwrap().wall));
    }
    assert_eq!((waves[0].0, waves[1].0), (Some(0), Some(2048)));
    assert_near(waves[1].1 / waves[0].1, 4.0);
}

#[test]
fn a_kernels_mistake_is_found_in_its_text() {
    let mut device = SimDevice::new(gpu(), 0, 0);
    let wrong = copy_kernel(1).text.replace("out[i] = a[i]", "out[i] = b[i]");
    let Err(Error::Build { log, .. }) =
        device.build(KernelId(0), &KernelSource { text: wrong, ..copy_kernel(1) })
    else {
        panic!("a kernel that names an unknown variable was built");
    };
    assert!(log.contains("micro/copy.wgsl:19:"), "{log}");
}

#[test]
fn kernels_without_a_meaning_or_room_are_rejected() {
    let mut device = SimDevice::new(gpu(), 0, 0);
    let rejection =
        |source: &KernelSource, device: &mut SimDevice| match device.build(KernelId(0), source) {
            Err(Error::Unsupported(reason)) => reason,
            other => panic!("{other:?}"),
        };
    let nameless = KernelSource { meaning: None, ..copy_kernel(1) };
    assert!(rejection(&nameless, &mut device).contains("`copy` names none"));
    let mut unknown = copy_kernel(1);
    unknown.meaning.as_mut().unwrap().reference = "nonsense".into();
    assert!(rejection(&unknown, &mut device).contains("no reference called `nonsense`"));
    let large = KernelSource { group: [64, 32, 1], ..copy_kernel(1) };
    assert!(rejection(&large, &mut device).contains("2048 work-items"));
    // Not built, so not run.
    let mut recording = Recording::default();
    copy_range(0, vec![], 0, 64)(&mut recording);
    assert!(matches!(device.run(&recording), Err(Error::Usage(_))));
}

#[test]
fn noise_is_seeded() {
    let mut noisy = gpu();
    noisy.noise = Noise { relative: 0.1, seed: 3 };
    let walls = |seed: u64| -> Vec<f64> {
        let mut device = SimDevice::new(noisy.clone(), 0, seed);
        for (id, kind) in [(0, MemoryKind::Pinned), (1, MemoryKind::Device)] {
            device.alloc(BufferId(id), Bytes(8), kind).unwrap();
        }
        let recording = Recording::one_queue([Op::Upload { from: slice(0, 8), to: slice(1, 8) }]);
        (0..1001).map(|_| device.run(&recording).unwrap().wall).collect()
    };
    let mut first = walls(0);
    assert_eq!(first, walls(0));
    assert_ne!(first, walls(1));
    first.sort_by(f64::total_cmp);
    // 8 bytes at 8 a second; the median of 1001 lognormal times of 10 % stays within 2 %.
    assert!((first[500] - 1.0).abs() < 0.02, "{}", first[500]);
    let share = first.iter().filter(|t| (t.ln()).abs() < 0.1).count() as f64 / 1001.0;
    assert!((0.63..0.74).contains(&share), "{share} within one standard deviation");
}
