//! The wgpu backend on whatever adapter this machine has first.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on shall panic")]

#[macro_use]
#[path = "../crates/device/tests/driver/mod.rs"]
mod driver;

use driver::*;
use gpubench::backend::Backend;
use gpubench::backend::wgpu::Wgpu;
use gpubench::error::Error;
use gpubench::gpu::{
    BoundsChecks, BufferId, KernelSource, MemoryKind, Op, Origin, Queue, Recording,
};
use gpubench::units::Bytes;

driver_tests!(Wgpu, "require-wgpu");

#[test]
fn devices_describe_themselves() {
    for (index, info) in Wgpu.devices().unwrap().into_iter().enumerate() {
        assert_eq!((info.index, info.queues, info.backend.as_str()), (index, 1, "wgpu"));
        assert!(!info.name.is_empty() && !info.vendor.is_empty() && !info.driver.is_empty());
        assert!(info.max_group_size >= 128, "{info:?}");
        assert!(info.local_memory >= Bytes::kib(16), "{info:?}");
        assert!(info.offset_alignment.0.is_power_of_two());
        assert!(info.host_memory.contains(&MemoryKind::Pageable));
        assert!(info.timestamp_resolution.is_none_or(|tick| tick > 0.0 && tick < 1e-3));
        assert_eq!(Wgpu.devices().unwrap()[index], info);
    }
    assert!(matches!(Wgpu.open(9999), Err(Error::Usage(_))));
}

#[test]
#[cfg_attr(not(feature = "require-wgpu"), ignore = "needs a wgpu driver")]
fn every_kind_of_memory_keeps_what_is_written() {
    let mut device = device(&Wgpu);
    let mut kinds = device.info().host_memory.clone();
    kinds.push(MemoryKind::Device);
    for kind in kinds {
        // Neither a multiple of four nor of eight bytes.
        let data: Vec<u8> = (0..1013_u32).map(|i| (i * 7) as u8).collect();
        device.alloc(BufferId(3), Bytes(1013), kind).unwrap();
        assert_eq!(device.read(BufferId(3)).unwrap(), vec![0; 1013], "{kind:?}");
        device.write(BufferId(3), &data).unwrap();
        assert_eq!(device.read(BufferId(3)).unwrap(), data, "{kind:?}");
        device.write(BufferId(3), &[9, 9, 9, 9]).unwrap();
        assert_eq!(device.read(BufferId(3)).unwrap()[..6], [9, 9, 9, 9, 28, 35], "{kind:?}");
        assert!(device.write(BufferId(3), &[0; 1014]).is_err(), "{kind:?}");
        if matches!(kind, MemoryKind::Device | MemoryKind::Pinned) {
            unsupported(device.write(BufferId(3), &[0; 6]));
        }
    }
    assert!(device.read(BufferId(4)).is_err());
    device.reset();
    assert!(device.read(BufferId(3)).is_err());
}

#[test]
#[cfg_attr(not(feature = "require-wgpu"), ignore = "needs a wgpu driver")]
fn copies_move_slices() {
    let mut device = device(&Wgpu);
    let content: Vec<u32> = (0..100).collect();
    fill(&mut *device, 0, MemoryKind::Device, &content);
    fill(&mut *device, 1, MemoryKind::Device, &[7; 100]);
    let copy = Op::Copy { from: slice(0, 40, 80), to: slice(1, 4, 80) };
    let timeline = device.run(&Recording::one_queue([copy])).unwrap();
    assert!(timeline.wall > 0.0);
    let result = contents(&mut *device, 1);
    assert_eq!((result[0], result[21]), (7, 7));
    assert_eq!(result[1..21], content[10..30]);

    let outside = Op::Copy { from: slice(0, 4, 400), to: slice(1, 0, 400) };
    assert!(matches!(device.run(&Recording::one_queue([outside])), Err(Error::Usage(_))));
    let unequal = Op::Copy { from: slice(0, 0, 8), to: slice(1, 0, 4) };
    assert!(matches!(device.run(&Recording::one_queue([unequal])), Err(Error::Usage(_))));
    let odd = Op::Copy { from: slice(0, 1, 4), to: slice(1, 0, 4) };
    unsupported(device.run(&Recording::one_queue([odd])));
    let within = Op::Copy { from: slice(0, 0, 4), to: slice(0, 40, 4) };
    unsupported(device.run(&Recording::one_queue([within])));
}

#[test]
#[cfg_attr(not(feature = "require-wgpu"), ignore = "needs a wgpu driver")]
fn uploads_need_a_host_buffer_and_a_device_buffer() {
    let mut device = device(&Wgpu);
    fill(&mut *device, 0, MemoryKind::Device, &[1, 2]);
    fill(&mut *device, 1, MemoryKind::Pageable, &[3, 4]);
    for (from, to) in [(0, 1), (0, 0), (1, 1)] {
        let upload = Op::Upload { from: slice(from, 0, 4), to: slice(to, 4, 4) };
        assert!(
            matches!(device.run(&Recording::one_queue([upload])), Err(Error::Device(_))),
            "{from} {to}"
        );
    }
}

#[test]
#[cfg_attr(not(feature = "require-wgpu"), ignore = "needs a wgpu driver")]
fn a_shipped_kernel_is_built_without_checks() {
    let mut device = device(&Wgpu);
    let shipped = KernelSource { origin: Origin::Shipped("f.wgsl".into()), ..source(SCALE) };
    assert_eq!(shipped.bounds_checks(), BoundsChecks::Off);
    let lent = KernelSource { origin: Origin::Lent("f.wgsl".into()), ..source(SCALE) };
    assert_eq!(lent.bounds_checks(), BoundsChecks::On);
    assert!(device.build(KERNEL, &shipped).unwrap().options.contains("checks off"));
    assert!(device.build(KERNEL, &source(SCALE)).unwrap().options.contains("checks on"));
}

#[test]
#[cfg_attr(not(feature = "require-wgpu"), ignore = "needs a wgpu driver")]
fn a_second_queue_is_refused() {
    let mut device = device(&Wgpu);
    let mut recording = Recording::default();
    for queue in 0..2 {
        let copy = Op::Copy { from: slice(0, 0, 4), to: slice(1, 0, 4) };
        recording.push(Queue(queue), vec![], copy);
    }
    assert!(unsupported(device.run(&recording)).contains("wgpu has one queue"));
}
