//! The Vulkan backend on whatever device this machine has first.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on shall panic")]

#[macro_use]
mod driver;

use driver::*;
use gpubench_core::error::Error;
use gpubench_core::gpu::{Access, BufferId, MemoryKind, Op, Queue, Recording};
use gpubench_core::units::Bytes;
use gpubench_device::Backend;
use gpubench_device::vulkan::{DeviceQueue, Vulkan};

driver_tests!(Vulkan::default(), "require-vulkan");

#[test]
fn a_device_that_is_not_there_is_a_mistake_of_the_caller() {
    assert!(matches!(Vulkan::default().open(9999), Err(Error::Usage(_))));
}

#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn devices_describe_themselves() {
    assert!(!Vulkan::default().devices().unwrap().is_empty());
    driver::devices_describe_themselves(&Vulkan::default(), |info| assert!(info.queues > 0));
}

#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn every_kind_of_memory_keeps_what_is_written() {
    driver::every_kind_of_memory_keeps_what_is_written(&Vulkan::default(), |device, kind| {
        device.write(BufferId(3), &[0; 6]).unwrap();
        assert_eq!(device.read(BufferId(3)).unwrap()[4..8], [0, 0, 42, 49], "{kind:?}");
    });
}

#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn copies_move_slices() {
    let mut device = driver::copies_move_slices(&Vulkan::default());
    // Bytes that are no words are copied too, and within one buffer.
    let odd = Op::Copy { from: slice(0, 40, 3), to: slice(1, 1, 3) };
    let within = Op::Copy { from: slice(0, 0, 4), to: slice(0, 40, 4) };
    device.run(&Recording::one_queue([odd, within])).unwrap();
    assert_eq!(device.read(BufferId(1)).unwrap()[..5], [7, 10, 0, 0, 10]);
    assert_eq!(contents(&mut *device, 0)[9..12], [9, 0, 11]);
    let onto_itself = Op::Copy { from: slice(0, 0, 8), to: slice(0, 4, 8) };
    assert!(unsupported(device.run(&Recording::one_queue([onto_itself]))).contains("overlap"));
}

#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn a_kernel_uses_memory_that_the_host_maps() {
    let mut device = device(&Vulkan::default());
    device.build(KERNEL, &source(SCALE)).unwrap();
    let content: Vec<u32> = (0..1000).collect();
    let part = |buffer| slice(buffer, 0, 4000);
    let launch = |factor: u32| Op::Dispatch {
        kernel: KERNEL,
        groups: [16, 1, 1],
        buffers: vec![part(0), part(1)],
        params: bytes(&[1000, factor]),
    };
    let map = |buffer, access| Op::Map { part: part(buffer), access };
    let unmap = |buffer| Op::Unmap { part: part(buffer) };
    for kind in device.info().zero_copy.clone() {
        fill(&mut *device, 0, kind.memory, &content);
        fill(&mut *device, 1, kind.memory, &[0; 1000]);
        let whole = [map(0, Access::Write), unmap(0), launch(3), map(1, Access::Read), unmap(1)];
        let timeline = device.run(&Recording::one_queue(whole)).unwrap();
        assert!(timeline.steps.is_empty() && timeline.wall > 0.0, "the host takes part");
        let tripled: Vec<u32> = content.iter().map(|x| 3 * x).collect();
        assert_eq!(contents(&mut *device, 1), tripled);

        // What is mapped is the host's from one recording to the next.
        device.run(&Recording::one_queue([map(0, Access::Write)])).unwrap();
        for op in [launch(2), map(0, Access::Read)] {
            assert!(matches!(device.run(&Recording::one_queue([op])), Err(Error::Usage(_))));
        }
        device.run(&Recording::one_queue([unmap(0), launch(2)])).unwrap();
        assert_eq!(contents(&mut *device, 1)[999], 2 * 999);
        // Copies of the device's own are made there, too; those of the host are not.
        fill(&mut *device, 2, MemoryKind::Pinned, &[5; 1000]);
        device.run(&Recording::one_queue([Op::Upload { from: part(2), to: part(0) }])).unwrap();
        assert_eq!(contents(&mut *device, 0), [5; 1000]);
        fill(&mut *device, 2, MemoryKind::Mapped, &[5; 1000]);
        let upload = Op::Upload { from: part(2), to: part(0) };
        assert!(unsupported(device.run(&Recording::one_queue([upload]))).contains("zero-copy"));
    }
    fill(&mut *device, 3, MemoryKind::Device, &[0; 1000]);
    assert!(matches!(
        device.run(&Recording::one_queue([map(3, Access::Read)])),
        Err(Error::Usage(_))
    ));
}

#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn what_is_written_is_not_in_constant_memory() {
    let mut device = device(&Vulkan::default());
    let uniform = SCALE
        .replace("var<storage, read> input: array<u32>", "var<uniform> input: array<vec4<u32>, 4>")
        .replace("input[gid.x]", "input[0].x");
    let mut written = source(&uniform);
    device.build(KERNEL, &written).unwrap();
    written.bindings[0].access = Access::ReadWrite;
    let why = device.build(KERNEL, &written).unwrap_err();
    assert!(matches!(&why, Error::Build { log, .. } if log.contains("buffer is written")), "{why}");
}

#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn uploads_need_a_host_buffer_and_a_device_buffer() {
    let is_expected = |error: &Error| matches!(error, Error::Usage(_));
    driver::uploads_need_a_host_buffer_and_a_device_buffer(&Vulkan::default(), is_expected);
}

/// What a device with one queue answers to a recording that wants eight.
#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn eight_queues_on_one_are_rejected_unless_they_share() {
    let one = DeviceQueue { family: 0, index: 0, computes: true, timestamp_bits: 64 };
    let open = |share_queues| {
        let mut device =
            Vulkan { share_queues, queues: Some(vec![one]) }.open(0).expect("a device");
        device.build(KERNEL, &counter()).unwrap();
        fill(&mut *device, 0, MemoryKind::Device, &[0]);
        device
    };
    let mut recording = Recording::default();
    let mut after = vec![];
    for queue in 0..8 {
        after = vec![recording.push(Queue(queue), after, count())];
    }
    let mut alone = open(false);
    assert!(unsupported(alone.run(&recording)).contains("8 queues, 8 of them with kernels"));
    // It is of use as before.
    alone.run(&Recording::one_queue([count()])).unwrap();
    assert_eq!(contents(&mut *alone, 0), [1]);
    let mut shared = open(true);
    shared.run(&recording).unwrap();
    assert_eq!(contents(&mut *shared, 0), [8]);
}

/// A device none of whose queues computes is none.
#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn a_device_without_a_queue_that_computes_is_not_listed() {
    let copies = DeviceQueue { family: 0, index: 0, computes: false, timestamp_bits: 64 };
    let backend = Vulkan { share_queues: false, queues: Some(vec![copies]) };
    assert_eq!(backend.devices().unwrap(), []);
    assert!(matches!(backend.open(0), Err(Error::Usage(_))));
}

/// The program's own memory is used in place, wherever its end lies.
#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn imported_memory_of_any_length_is_used_in_place() {
    let mut device = device(&Vulkan::default());
    if device.info().zero_copy.iter().all(|kind| kind.memory != MemoryKind::HostPointer) {
        unsupported(device.alloc(BufferId(0), Bytes(16), MemoryKind::HostPointer));
        return;
    }
    for len in [4u64, 4096, 4100, 1 << 20] {
        let content: Vec<u32> = (0..len as u32 / 4).collect();
        fill(&mut *device, 0, MemoryKind::HostPointer, &content);
        device.alloc(BufferId(1), Bytes(len), MemoryKind::Device).unwrap();
        let part = |buffer| slice(buffer, 0, len);
        device.run(&Recording::one_queue([Op::Copy { from: part(0), to: part(1) }])).unwrap();
        assert_eq!(contents(&mut *device, 1), content);
    }
}
