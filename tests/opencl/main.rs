//! The OpenCL backend on a real driver.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod kernels;
mod recordings;

use gpubench::backend::opencl::Opencl;
use gpubench::backend::{Backend, Device};
use gpubench::error::Error;
use gpubench::gpu::{
    Access, Binding, BufferId, Element, KernelId, KernelSource, Language, MemoryKind, Op, Origin,
    Scalar, Slice,
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
        origin: Origin::User("my kernels.cl".into()),
        group: [64, 1, 1],
        bindings: (0..bindings).map(binding).collect(),
        params_bytes,
        ..KernelSource::new(Language::Opencl, entry, text)
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
