//! What a device says of itself, what it keeps in its memory, and how it copies and builds.

use super::kit::*;
use gpubench_core::error::Error;
use gpubench_core::gpu::{
    BoundsChecks, BufferId, DeviceInfo, KernelSource, MemoryKind, Op, Origin, Recording,
};
use gpubench_core::units::Bytes;
use gpubench_device::{Backend, Device};

/// What is so of every device; `more` of those of `backend`.
pub fn devices_describe_themselves(backend: &dyn Backend, more: impl Fn(&DeviceInfo)) {
    for (index, info) in backend.devices().unwrap().into_iter().enumerate() {
        assert_eq!((info.index, info.backend.as_str()), (index, backend.name()));
        assert!(!info.name.is_empty() && !info.vendor.is_empty() && !info.driver.is_empty());
        assert!(info.max_group_size >= 128, "{info:?}");
        assert!(info.local_memory >= Bytes::kib(16), "{info:?}");
        assert!(info.offset_alignment.0.is_power_of_two());
        assert!(info.host_memory.contains(&MemoryKind::Pageable));
        assert!(info.timestamp_resolution.is_none_or(|tick| tick > 0.0 && tick < 1e-3));
        more(&info);
        assert_eq!(backend.devices().unwrap()[index], info);
    }
}

/// Buffer 3 of every kind of memory; `more` sees it when it begins with four nines.
pub fn every_kind_of_memory_keeps_what_is_written(
    backend: &dyn Backend,
    more: impl Fn(&mut dyn Device, MemoryKind),
) {
    let mut device = device(backend);
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
        more(&mut *device, kind);
    }
    assert!(device.read(BufferId(4)).is_err());
    device.reset();
    assert!(device.read(BufferId(3)).is_err());
}

/// Returns the device, with a hundred words in each of its buffers 0 and 1.
pub fn copies_move_slices(backend: &dyn Backend) -> Box<dyn Device> {
    let mut device = device(backend);
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
    device
}

/// `is_expected` is what an upload between any others ends in.
pub fn uploads_need_a_host_buffer_and_a_device_buffer(
    backend: &dyn Backend,
    is_expected: impl Fn(&Error) -> bool,
) {
    let mut device = device(backend);
    fill(&mut *device, 0, MemoryKind::Device, &[1, 2]);
    fill(&mut *device, 1, MemoryKind::Pageable, &[3, 4]);
    for (from, to) in [(0, 1), (0, 0), (1, 1)] {
        let upload = Op::Upload { from: slice(from, 0, 4), to: slice(to, 4, 4) };
        let ended = device.run(&Recording::one_queue([upload]));
        assert!(ended.is_err_and(|error| is_expected(&error)), "{from} {to}");
    }
}

pub fn a_shipped_kernel_is_built_unchecked(backend: &dyn Backend) {
    let mut device = device(backend);
    let shipped = KernelSource { origin: Origin::Shipped("f.wgsl".into()), ..source(SCALE) };
    assert_eq!(shipped.bounds_checks(), BoundsChecks::Off);
    let lent = KernelSource { origin: Origin::Lent("f.wgsl".into()), ..source(SCALE) };
    assert_eq!(lent.bounds_checks(), BoundsChecks::On);
    assert!(device.build(KERNEL, &shipped).unwrap().options.contains("checks off"));
    assert!(device.build(KERNEL, &source(SCALE)).unwrap().options.contains("checks on"));
}
