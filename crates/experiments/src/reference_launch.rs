//! What the reference kernels do, in both languages: one computes in registers, the other streams through memory.

use crate::waking::sleeps;
use gpubench_core::gpu::{
    Access, Binding, BufferId, DeviceInfo, DeviceKind, Element, KernelId, KernelSource, Language,
    Meaning, Op, Scalar, Slice,
};
use gpubench_core::units::Bytes;

const ARITHMETIC: KernelId = KernelId(KernelId::LASTING);
const MEMORY: KernelId = KernelId(KernelId::LASTING + 1);
/// One that streams through as much as was asked for, and is built anew where it is used.
const STREAMING: KernelId = KernelId(KernelId::LASTING + 2);
const GROUP: u32 = 64;
/// Dependent multiply-adds of one work-item: few enough for drivers that end long loops. A GPU is done with these
/// before its driver has submitted the next launch; there they are more.
const STEPS: u32 = 2048;
const GPU_STEPS: u32 = 8 * STEPS;
const UNROLLED: u32 = 8;
/// Bytes that it streams through where the device allows them: twice its cache, within these limits. Hardly an API
/// names the last level of cache of a GPU with memory of its own: there it is the most.
const MEMORY_BYTES: [u64; 2] = [32 << 20, BEYOND_CACHES];
/// Bytes of which a GPU's last level of cache holds half at most.
pub(crate) const BEYOND_CACHES: u64 = 128 << 20;
/// Bytes of a vector of four words, and vectors of a work-item where groups do not pass what every device takes.
const VECTOR: u64 = 16;
const VECTORS: u64 = 4;
const MAX_GROUPS: u64 = 65_535;

/// What a reference kernel does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Work {
    /// It computes in registers.
    #[default]
    Arithmetic,
    /// It reads and writes memory.
    Memory,
}

/// A reference kernel with its launch.
pub(crate) struct Launch {
    /// The kernel's number.
    pub kernel: KernelId,
    /// The kernel.
    pub source: KernelSource,
    groups: u32,
    /// Bytes of its buffer.
    pub len: Bytes,
}

impl Launch {
    /// One that does this.
    pub(super) fn of(work: Work, info: &DeviceInfo) -> Self {
        match work {
            Work::Arithmetic => {
                let groups = 2 * info.compute_units.unwrap_or(8).clamp(1, 1024);
                let steps = if sleeps(info.kind) { GPU_STEPS } else { STEPS };
                let source = source(info.language, groups, steps);
                let len = Bytes(u64::from(4 * GROUP * groups));
                Self { kernel: ARITHMETIC, source, groups, len }
            }
            Work::Memory => {
                let [min_bytes, max_bytes] = MEMORY_BYTES;
                let wanted = match info.kind {
                    DeviceKind::Discrete => max_bytes,
                    _ => info.cache.map_or(0, |cache| 2 * cache.0).clamp(min_bytes, max_bytes),
                };
                Self { kernel: MEMORY, ..Self::streaming(info, wanted) }
            }
        }
    }

    /// One that reads and writes so many bytes, as far as the device takes them in one buffer and 32 bits number them.
    pub(crate) fn streaming(info: &DeviceInfo, bytes: u64) -> Self {
        let allowed = info.max_buffer.0.min(info.max_binding.0).min(u64::from(u32::MAX));
        let bytes = bytes.min(allowed);
        let of_group = |vectors| VECTOR * vectors * u64::from(GROUP);
        let mut vectors = VECTORS;
        while bytes.div_ceil(of_group(vectors)) > MAX_GROUPS {
            vectors *= 2;
        }
        let of_group = of_group(vectors);
        let groups = bytes.div_ceil(of_group).min(allowed / of_group).max(1);
        let source = memory_source(info.language, groups as u32, vectors as u32);
        let len = Bytes(groups * of_group);
        Self { kernel: STREAMING, source, groups: groups as u32, len }
    }

    /// Its launch over the buffer `out`.
    pub(crate) fn dispatch(&self, out: BufferId) -> Op {
        let buffers = vec![Slice { buffer: out, offset: Bytes(0), len: self.len }];
        let (kernel, groups) = (self.kernel, [self.groups, 1, 1]);
        Op::Dispatch { kernel, groups, buffers, params: vec![] }
    }
}

fn source(language: Language, groups: u32, steps: u32) -> KernelSource {
    // Without the sign's loss a compiler may compute several steps at once.
    let chain = match language {
        Language::Opencl => "x = fabs(x * a - b);",
        Language::Wgsl => "x = abs(x * a - b);",
    };
    let chain = chain.repeat(UNROLLED as usize);
    let rounds = steps / UNROLLED;
    let text = match language {
        Language::Opencl => format!(
            "kernel void reference_kernel(global float* out) {{
                 const float a = 0.999f, b = 0.25f;
                 float x = (float)(get_global_id(0) % 64u);
                 for (uint i = 0; i < {rounds}u; i++) {{ {chain} }}
                 out[get_global_id(0)] = x;
             }}"
        ),
        Language::Wgsl => format!(
            "@group(0) @binding(0) var<storage, read_write> out: array<f32>;
             @compute @workgroup_size(GROUP_X)
             fn reference_kernel(@builtin(global_invocation_id) id: vec3<u32>) {{
                 const a = 0.999f; const b = 0.25f;
                 var x = f32(id.x % 64u);
                 for (var i = 0u; i < {rounds}u; i++) {{ {chain} }}
                 out[id.x] = x;
             }}"
        ),
    };
    let flops = 2.0 * f64::from(steps) * f64::from(GROUP * groups);
    kernel(language, "reference_kernel", text, Access::Write, (groups, flops))
}

/// Adds one to every word: each is read once and written once.
fn memory_source(language: Language, groups: u32, vectors: u32) -> KernelSource {
    let items = GROUP * groups;
    let end = vectors * items;
    let text = match language {
        Language::Opencl => format!(
            "kernel void memory_kernel(global uint4* out) {{
                 for (uint i = get_global_id(0); i < {end}u; i += {items}u) {{ out[i] += 1u; }}
             }}"
        ),
        Language::Wgsl => format!(
            "@group(0) @binding(0) var<storage, read_write> out: array<vec4<u32>>;
             @compute @workgroup_size(GROUP_X)
             fn memory_kernel(@builtin(global_invocation_id) id: vec3<u32>) {{
                 for (var i = id.x; i < {end}u; i += {items}u) {{ out[i] += vec4<u32>(1u); }}
             }}"
        ),
    };
    kernel(language, "memory_kernel", text, Access::ReadWrite, (groups, 0.0))
}

fn kernel(
    language: Language,
    entry: &'static str,
    text: String,
    access: Access,
    (groups, flops): (u32, f64),
) -> KernelSource {
    KernelSource {
        group: [GROUP, 1, 1],
        bindings: vec![Binding {
            name: "out".into(),
            access,
            element: Element::scalar(Scalar::F32),
            image: None,
        }],
        // A simulated GPU takes its time and computes nothing.
        meaning: Some(Meaning {
            reference: "empty".into(),
            sizes: vec![("n".into(), 0)],
            flops,
            groups: u64::from(groups),
            ..Meaning::default()
        }),
        ..KernelSource::new(language, entry, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample;
    use gpubench_emulator::{Buffer, Emulator, Groups, Instrumentation};

    fn streaming(language: Language, max_buffer: u64, bytes: u64) -> Launch {
        let (max_buffer, max_binding) = (Bytes(max_buffer), Bytes(u64::MAX));
        let info = DeviceInfo { language, max_buffer, max_binding, ..sample::device("vulkan") };
        Launch::streaming(&info, bytes)
    }

    #[test]
    fn it_streams_through_no_less_than_is_wanted() {
        let of = |max_buffer, bytes| streaming(Language::Wgsl, max_buffer, bytes).len.0;
        for mib in [1, 128, 255, 256, 300, 512, 1000] {
            assert_eq!(of(u64::MAX, mib << 20), mib << 20);
        }
        assert_eq!(of(u64::MAX, 5000), 2 * 4096, "no less");
        assert_eq!(of(128 << 20, 512 << 20), 128 << 20, "one buffer");
        assert!((1 << 31..1 << 32).contains(&of(u64::MAX, u64::MAX)), "32 bits");
    }

    #[test]
    fn items_do_more_where_groups_would_be_too_many() {
        let launch = streaming(Language::Opencl, u64::MAX, 512 << 20);
        assert_eq!(launch.groups, 32_768);
        assert!(launch.source.text.contains("i < 33554432u; i += 2097152u"));
        let launch = streaming(Language::Wgsl, u64::MAX, 512 << 20);
        let words = launch.len.0 as usize / 4;
        let buffers = vec![Buffer::lazy(words, 256, |_, _| {})];
        let groups = [launch.groups, 1, 1];
        let mut emulated = gpubench_emulator::Launch { groups, buffers, params: vec![] };
        let emulator = Emulator::new(&launch.source).unwrap();
        let last = Groups::One([launch.groups - 1, 0, 0]);
        let seen = emulator.run(&mut emulated, last, Instrumentation::default()).unwrap();
        assert_eq!(seen.faults, []);
        let [first, before, last] = [0, words - 257, words - 1];
        let got = [first, before, last].map(|word| emulated.buffers[0].get(word));
        assert_eq!(got, [Some(0), Some(0), Some(1)]);
    }
}
