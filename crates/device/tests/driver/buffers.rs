//! What buffers hold, and where kernels read them from.

use super::kit::*;
use gpubench_core::gpu::{BufferId, MemoryKind, Op, Recording};
use gpubench_core::units::Bytes;
use gpubench_device::Backend;

pub fn a_buffer_is_read_from_constant_memory(backend: &dyn Backend) {
    let mut device = device(backend);
    let table = |vectors: u32| {
        let declared = format!("var<uniform> input: array<vec4<u32>, {vectors}>;");
        let text = SCALE.replace("var<storage, read> input: array<u32>;", &declared);
        source(&text.replace("input[gid.x]", "input[gid.x / 4u % 64u].x"))
    };
    device.build(KERNEL, &table(64)).unwrap();
    fill(&mut *device, 0, MemoryKind::Device, &(0..1024).collect::<Vec<_>>());
    fill(&mut *device, 1, MemoryKind::Device, &[0; 256]);
    let mut launch = |from, len| {
        device.run(&Recording::one_queue([Op::Dispatch {
            kernel: KERNEL,
            groups: [4, 1, 1],
            buffers: vec![slice(0, from, len), slice(1, 0, 1024)],
            params: bytes(&[256, 3]),
        }]))
    };
    let short = launch(0, 1008).unwrap_err().to_string();
    assert!(short.contains("1.00 KiB of constant memory at binding 0"), "{short}");
    launch(1024, 2048).unwrap();
    let thrice: Vec<u32> = (0..256).map(|i| 3 * (256 + i / 4 * 4)).collect();
    assert_eq!(contents(&mut *device, 1), thrice);
}

pub fn what_a_buffer_holds_is_known_to_the_byte(backend: &dyn Backend) {
    let mut device = device(backend);
    // More than a backend moves at once, and no whole number of words.
    let mut data: Vec<u8> = (0..(17_u32 << 20) + 3).map(|i| (i % 251) as u8).collect();
    let mut kinds = device.info().host_memory.clone();
    kinds.push(MemoryKind::Device);
    for kind in kinds {
        let id = BufferId(0);
        device.alloc(id, Bytes(data.len() as u64), kind).unwrap();
        device.write(id, &data).unwrap();
        assert!(device.holds(id, &data).unwrap(), "{kind:?}");
        for wrong in [0, 16 << 20, data.len() - 1] {
            data[wrong] ^= 1;
            assert!(!device.holds(id, &data).unwrap(), "{kind:?}: byte {wrong}");
            data[wrong] ^= 1;
        }
        assert!(!device.holds(id, &data[1..]).unwrap(), "{kind:?}: fewer");
        assert!(!device.holds(id, &data[..data.len() - 1]).unwrap(), "{kind:?}: fewer");
        assert!(!device.holds(id, &[&data[..], &[0]].concat()).unwrap(), "{kind:?}: more");
        assert!(device.holds(BufferId(1), &data).is_err());
    }
}
