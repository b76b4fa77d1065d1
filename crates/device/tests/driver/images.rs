//! Buffers that kernels read as images.

use super::kit::*;
use gpubench_core::error::Error;
use gpubench_core::gpu::{
    BufferId, Element, Filter, Image, KernelSource, MemoryKind, Op, Recording, Scalar,
};
use gpubench_device::{Backend, Device};

/// Sums up an element's components, each with a weight of its own, as the fractions that the device makes of bytes.
const BYTES: &str = "
@group(0) @binding(0) var input: texture_2d<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
struct Params { columns: u32, rows: u32 }
@group(0) @binding(2) var<uniform> p: Params;
@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn f(@builtin(global_invocation_id) gid: vec3<u32>) {
    if gid.x < p.columns * p.rows {
        let place = vec2<u32>(gid.x % p.columns, gid.x / p.columns);
        let bytes = vec4<u32>(round(255.0 * textureLoad(input, place, 0)));
        output[gid.x] = bytes.x + 256u * bytes.y + 65536u * bytes.z;
    }
}
";

/// A kernel whose input is an image of such elements, `width` to a row.
fn unfiltered(text: &str, element: &str, width: u32) -> KernelSource {
    let mut kernel = source(text);
    kernel.bindings[0].element = Element::try_from(element.to_owned()).unwrap();
    kernel.bindings[0].image = Some(Image { width, filter: None });
    kernel
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
    let mut means = |sign: f32, len| {
        device.write(BufferId(0), &bytes(&data(sign)))?;
        launch(&mut *device, [256, len], [8, 8])?;
        Ok::<Vec<u32>, Error>(contents(&mut *device, 1))
    };
    let short = means(1.0, 240).unwrap_err().to_string();
    assert!(short.contains("240 B are no rows of 8 elements"), "{short}");
    // Beyond the edge is the edge; what was written last counts.
    let mean = |place: u32| (place as f32 + 0.5).min(7.0);
    for sign in [1.0, -2.0] {
        for (i, bits) in (0..64).zip(means(sign, 256).unwrap()) {
            let wanted = sign * (mean(i % 8) + 100.0 * mean(i / 8) + 101.0);
            let found = f32::from_bits(bits);
            assert!((found - wanted).abs() <= 1e-5 * wanted.abs(), "{i}: {found}, wanted {wanted}");
        }
    }
}

/// Launches a kernel once on an image that begins at `first` of buffer 0.
fn launch(device: &mut dyn Device, [first, len]: [u64; 2], size: [u32; 2]) -> Result<(), Error> {
    let launch = Op::Dispatch {
        kernel: KERNEL,
        groups: [1, 1, 1],
        buffers: vec![slice(0, first, len), slice(1, 0, 256)],
        params: bytes(&size),
    };
    device.run(&Recording::one_queue([launch])).map(drop)
}

pub fn bytes_of_an_image_are_fractions(backend: &dyn Backend) {
    let mut device = device(backend);
    let data: Vec<u8> = (0..256_u32).map(|i| (31 * i % 256) as u8).collect();
    fill(&mut *device, 0, MemoryKind::Device, &words(&data));
    fill(&mut *device, 1, MemoryKind::Device, &[0; 64]);
    // Three elements to a row: no multiple of four bytes.
    for (element, width) in [("u8", 1), ("u8x2", 2), ("u8x4", 4)] {
        device.build(KERNEL, &unfiltered(BYTES, element, 3)).unwrap();
        launch(&mut *device, [0, 12 * width as u64], [3, 4]).unwrap();
        let number = |components: &[u8]| {
            let read = components.iter().take(3).zip([1, 256, 65536]);
            read.map(|(byte, weight)| u32::from(*byte) * weight).sum::<u32>()
        };
        let wanted: Vec<u32> = data[..12 * width].chunks(width).map(number).collect();
        assert_eq!(contents(&mut *device, 1)[..12], wanted, "{element}");
    }
}

pub fn images_that_no_device_has_are_rejected(backend: &dyn Backend) {
    let mut device = device(backend);
    // Of another type than the texture's, where the text has a buffer, and a buffer where it has a texture.
    for kernel in [unfiltered(BYTES, "u32x4", 4), unfiltered(SCALE, "u32", 4), source(BYTES)] {
        let built = device.build(KERNEL, &kernel).unwrap_err();
        assert!(matches!(built, Error::Build { .. } | Error::Device(_)), "{built}");
    }
    let built = device.build(KERNEL, &unfiltered(BYTES, "i8x4", 4)).unwrap_err();
    assert!(matches!(built, Error::Unsupported(_)), "{built}");
    device.build(KERNEL, &unfiltered(BYTES, "u8x4", 1)).unwrap();
    fill(&mut *device, 0, MemoryKind::Device, &vec![0; 1 << 20]);
    fill(&mut *device, 1, MemoryKind::Device, &[0; 64]);
    let tall = launch(&mut *device, [0, 4 << 20], [1, 64]).unwrap_err().to_string();
    assert!(tall.contains("an image of 1 × 1048576; the device has"), "{tall}");
    let outside = launch(&mut *device, [0, 8 << 20], [1, 64]).unwrap_err();
    assert!(matches!(outside, Error::Usage(_)), "{outside}");
}
