//! What tests of a driver are made of: kernels, buffers and recordings.

use gpubench_core::error::Error;
use gpubench_core::gpu::{
    Access, Binding, BufferId, Element, KernelId, KernelSource, Language, MemoryKind, Op, Origin,
    Scalar, Slice,
};
use gpubench_core::units::Bytes;
use gpubench_device::{Backend, Device};

pub const KERNEL: KernelId = KernelId(0);

/// The first device.
pub fn device(backend: &dyn Backend) -> Box<dyn Device> {
    assert!(!backend.devices().unwrap().is_empty(), "no {} device here", backend.name());
    backend.open(0).unwrap()
}

pub fn binding(name: &str, access: Access) -> Binding {
    Binding { name: name.into(), element: Element::scalar(Scalar::U32), access, image: None }
}

/// A kernel with two buffers, `input` and `output`, and 8 bytes of parameters.
pub fn source(text: &str) -> KernelSource {
    KernelSource {
        origin: Origin::User("kernels/f.wgsl".into()),
        group: [64, 1, 1],
        bindings: vec![binding("input", Access::Read), binding("output", Access::Write)],
        params_bytes: 8,
        ..KernelSource::new(Language::Wgsl, "f", text)
    }
}

pub const SCALE: &str = "
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
struct Params { n: u32, factor: u32 }
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn f(@builtin(global_invocation_id) gid: vec3<u32>) {
    if gid.x < p.n { output[gid.x] = input[gid.x] * p.factor; }
}
";

/// Adds one to a counter in a single work-item.
pub fn counter() -> KernelSource {
    let text = "
@group(0) @binding(0) var<storage, read_write> count: array<u32>;
@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn f() { count[0] += 1u; }
";
    KernelSource {
        group: [1, 1, 1],
        bindings: vec![binding("count", Access::ReadWrite)],
        params_bytes: 0,
        args: None,
        ..source(text)
    }
}

/// One launch of [`counter`] on buffer 0.
pub fn count() -> Op {
    Op::Dispatch { kernel: KERNEL, groups: [1; 3], buffers: vec![slice(0, 0, 4)], params: vec![] }
}

pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

pub fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect()
}

pub fn slice(buffer: u32, offset: u64, len: u64) -> Slice {
    Slice { buffer: BufferId(buffer), offset: Bytes(offset), len: Bytes(len) }
}

pub fn fill(device: &mut dyn Device, id: u32, kind: MemoryKind, content: &[u32]) {
    device.alloc(BufferId(id), Bytes(content.len() as u64 * 4), kind).unwrap();
    device.write(BufferId(id), &bytes(content)).unwrap();
}

pub fn contents(device: &mut dyn Device, id: u32) -> Vec<u32> {
    words(&device.read(BufferId(id)).unwrap())
}

pub fn build_error(device: &mut dyn Device, source: &KernelSource) -> String {
    match device.build(KERNEL, source) {
        Err(Error::Build { kernel, log }) => {
            assert_eq!(kernel, format!("{} (kernels/f.wgsl)", source.entry));
            log
        }
        other => panic!("{other:?}"),
    }
}

pub fn unsupported<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    match result {
        Err(Error::Unsupported(reason)) => reason,
        other => panic!("{other:?}"),
    }
}
