//! Buffers that kernels read as images: by OpenCL C (what takes WGSL is tested with the drivers'), and what no image can be.
use gpubench::backend::opencl::Opencl;
use gpubench::backend::{Backend, Device};
use gpubench::error::Error;
use gpubench::gpu::{
    Access, Binding, BufferId, Element, Filter, Image, KernelId, KernelSource, Language,
    MemoryKind, Op, Origin, Recording, Scalar, Slice,
};
use gpubench::units::Bytes;

const TEXT: &str = "
constant sampler_t BY_PLACE = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;

kernel void sampled(read_only image2d_t a, sampler_t s, global float* b) {
    const uint i = get_global_id(0);
    const float2 place = (float2)((i % 8 + 1) / 8.0f, (i / 8 + 1) / 8.0f);
    b[i] = read_imagef(a, s, place).x + read_imagef(a, BY_PLACE, (int2)(1, 1)).x;
}
kernel void writes(write_only image2d_t a, global float* b) { write_imagef(a, (int2)(0, 0), (float4)(b[0])); }
kernel void plain(global const float* a, global float* b) { b[get_global_id(0)] = a[0]; }
kernel void fractions(read_only image2d_t a, global float* b) {
    const int i = get_global_id(0);
    const float4 read = 255 * read_imagef(a, BY_PLACE, (int2)(i % 8, i / 8));
    b[i] = read.x + 256 * read.y;
}";

fn source(entry: &str, image: Image) -> KernelSource {
    let binding = |name: &str, access, image| Binding {
        name: name.into(),
        element: Element::scalar(Scalar::F32),
        access,
        image,
    };
    KernelSource {
        origin: Origin::User("mine.cl".into()),
        group: [64, 1, 1],
        bindings: vec![binding("a", Access::Read, Some(image)), binding("b", Access::Write, None)],
        ..KernelSource::new(Language::Opencl, entry, TEXT)
    }
}

fn slice(buffer: u32, offset: u64, len: u64) -> Slice {
    Slice { buffer: BufferId(buffer), offset: Bytes(offset), len: Bytes(len) }
}

fn bytes(numbers: impl Iterator<Item = f32>) -> Vec<u8> {
    numbers.flat_map(f32::to_ne_bytes).collect()
}

/// What the kernel makes of the image in this part of buffer 0.
fn launch(device: &mut dyn Device, image: Slice) -> Result<Vec<f32>, Error> {
    let buffers = vec![image, slice(1, 0, 256)];
    let launch = Op::Dispatch { kernel: KernelId(0), groups: [1; 3], buffers, params: vec![] };
    device.run(&Recording::one_queue([launch]))?;
    let found = device.read(BufferId(1))?;
    Ok(found.as_chunks().0.iter().map(|bytes| f32::from_ne_bytes(*bytes)).collect())
}

/// The same of an image of the second part of buffer 0, which is written first.
fn counted(device: &mut dyn Device, sign: f32, len: u64) -> Result<Vec<f32>, Error> {
    let offset = device.info().offset_alignment.0.max(256);
    let image = (0..64).map(|i| sign * ((i % 8) as f32 + 100.0 * (i / 8) as f32));
    device.write(BufferId(0), &bytes(vec![0.0; offset as usize / 4].into_iter().chain(image)))?;
    launch(device, slice(0, offset, len))
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn an_opencl_kernel_reads_a_buffer_as_an_image() {
    let mut device = Opencl.open(0).unwrap();
    let linear = Image { width: 8, filter: Some(Filter::Linear) };
    device.build(KernelId(0), &source("sampled", linear)).unwrap();
    let offset = device.info().offset_alignment.0.max(256);
    device.alloc(BufferId(0), Bytes(offset + 256), MemoryKind::Device).unwrap();
    device.alloc(BufferId(1), Bytes(256), MemoryKind::Device).unwrap();
    let short = counted(&mut *device, 1.0, 240).unwrap_err().to_string();
    assert!(short.contains("240 B are no rows of 8 elements"), "{short}");
    // Beyond the edge is the edge; what was written last counts.
    let mean = |place: u32| (place as f32 + 0.5).min(7.0);
    for sign in [1.0, -2.0] {
        for (i, found) in (0..).zip(counted(&mut *device, sign, 256).unwrap()) {
            let wanted = sign * (mean(i % 8) + 100.0 * mean(i / 8) + 101.0);
            assert!((found - wanted).abs() <= 1e-5 * wanted.abs(), "{i}: {found}, not {wanted}");
        }
    }
}

/// What the kernel `fractions` makes of an image of bytes at the beginning of a buffer.
fn fractions(bytes: &[u8], width: u32, element_width: u32) -> Result<Vec<f32>, Error> {
    let mut device = Opencl.open(0)?;
    let len = bytes.len() as u64;
    device.alloc(BufferId(0), Bytes(len), MemoryKind::Device)?;
    device.alloc(BufferId(1), Bytes(256), MemoryKind::Device)?;
    device.write(BufferId(0), bytes)?;
    let mut kernel = source("fractions", Image { width, filter: None });
    kernel.bindings[0].element = Element { scalar: Scalar::U8, width: element_width };
    device.build(KernelId(0), &kernel)?;
    launch(&mut *device, slice(0, 0, len))
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn bytes_of_an_opencl_image_are_fractions() {
    for width in [1_usize, 2, 4] {
        let bytes: Vec<u8> = (0..64 * width).map(|i| (7 * i % 256) as u8).collect();
        let components = |element: &[u8]| {
            f32::from(element[0]) + 256.0 * f32::from(*element.get(1).unwrap_or(&0))
        };
        let wanted = bytes.chunks(width).map(components);
        let found = match fractions(&bytes, 8, width as u32) {
            // OpenCL 1.2 demands images of four channels only.
            Err(Error::Unsupported(_)) if width < 4 => continue,
            found => found.unwrap(),
        };
        for (i, (found, wanted)) in found.iter().zip(wanted).enumerate() {
            assert!((found - wanted).abs() < 0.05, "{width}, {i}: {found}, wanted {wanted}");
        }
    }
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn an_opencl_image_that_is_too_tall_is_unsupported() {
    let tall = fractions(&vec![0; 8 << 20], 1, 4).unwrap_err();
    assert!(matches!(&tall, Error::Unsupported(why) if why.contains("1 × 2097152")), "{tall}");
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn an_opencl_kernel_takes_an_image_where_the_suite_has_one() {
    let mut device = Opencl.open(0).unwrap();
    let mut log = |entry: &str, filter| {
        let built = device.build(KernelId(0), &source(entry, Image { width: 8, filter }));
        let Err(Error::Build { log, .. }) = built else { panic!("{built:?}") };
        log
    };
    let wants_a_buffer = log("plain", None);
    assert!(
        wants_a_buffer.contains("`a`, is a buffer (`float*`), and the suite gives an image"),
        "{wants_a_buffer}"
    );
    let writes = log("writes", None);
    assert!(writes.contains("`a`, is an image to write (`image2d_t`)"), "{writes}");
    let wants_a_sampler = log("sampled", None);
    assert!(
        wants_a_sampler.contains("`sampled` takes 3 arguments, and the suite gives 2"),
        "{wants_a_sampler}"
    );
    let wants_none = log("plain", Some(Filter::Nearest));
    assert!(wants_none.contains("the suite gives: a, a sampler, b"), "{wants_none}");
}
