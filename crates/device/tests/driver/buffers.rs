//! What buffers hold, and where kernels read them from.

use super::kit::*;
use gpubench_core::error::Error;
use gpubench_core::gpu::{BufferId, Element, Filter, Image, MemoryKind, Op, Scalar};
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
        device.run(&one_queue([Op::Dispatch {
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

pub fn a_buffer_is_read_as_an_image(backend: &dyn Backend) {
    const TEXT: &str = "
@group(0) @binding(0) var input: texture_2d<f32>;
@group(0) @binding(1) var mean_of_four: sampler;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;
struct Params { columns: u32, rows: u32 }
@group(0) @binding(3) var<uniform> p: Params;
@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn f(@builtin(global_invocation_id) gid: vec3<u32>) {
    let place = vec2<f32>(vec2<u32>(gid.x % p.columns, gid.x / p.columns) + 1u);
    let size = vec2<f32>(vec2<u32>(p.columns, p.rows));
    output[gid.x] = textureSampleLevel(input, mean_of_four, place / size, 0.0).x
        + textureLoad(input, vec2<u32>(1u), 0).x;
}
";
    let mut device = device(backend);
    let mut kernel = source(TEXT);
    kernel.bindings[0].element = Element::scalar(Scalar::F32);
    kernel.bindings[0].image = Some(Image { width: 8, filter: Some(Filter::Linear) });
    kernel.bindings[1].element = Element::scalar(Scalar::F32);
    device.build(KERNEL, &kernel).unwrap();
    let data = |sign: f32| -> Vec<u32> {
        let image = (0..64).map(|i| sign * ((i % 8) as f32 + 100.0 * (i / 8) as f32));
        [0.0; 64].into_iter().chain(image).map(f32::to_bits).collect()
    };
    fill(&mut *device, 0, MemoryKind::Device, &data(0.0));
    fill(&mut *device, 1, MemoryKind::Device, &[0; 64]);
    let mut launch = |sign: f32, len| {
        device.write(BufferId(0), &bytes(&data(sign)))?;
        device.run(&one_queue([Op::Dispatch {
            kernel: KERNEL,
            groups: [1, 1, 1],
            buffers: vec![slice(0, 256, len), slice(1, 0, 256)],
            params: bytes(&[8, 8]),
        }]))?;
        Ok::<Vec<u32>, Error>(contents(&mut *device, 1))
    };
    let short = launch(1.0, 240).unwrap_err().to_string();
    assert!(short.contains("240 B are no rows of 8 elements"), "{short}");
    // Beyond the edge is the edge; what was written last counts.
    let mean = |place: u32| (place as f32 + 0.5).min(7.0);
    for sign in [1.0, -2.0] {
        for (i, bits) in (0..64).zip(launch(sign, 256).unwrap()) {
            let wanted = sign * (mean(i % 8) + 100.0 * mean(i / 8) + 101.0);
            let found = f32::from_bits(bits);
            assert!((found - wanted).abs() <= 1e-5 * wanted.abs(), "{i}: {found}, wanted {wanted}");
        }
    }
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
