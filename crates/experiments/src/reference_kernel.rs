//! A fixed small kernel between cases: how long it takes shows whether the device is still as fast
//! as when the run began. It computes in registers only, on every unit, so that nothing but the
//! device's clock (and whoever else uses the device) decides.

use gpubench_core::error::Result;
use gpubench_core::gpu::{
    Access, Binding, BufferId, Clock, DeviceKind, Element, KernelId, KernelSource, Language,
    Meaning, MemoryKind, Op, Origin, Queue, Recording, Scalar, Slice,
};
use gpubench_core::units::Bytes;
use gpubench_device::Device;

/// From this relative difference on, a device has drifted. On the host's own processor other programs
/// move the reference kernel by several percent, from one launch to the next.
pub(super) fn limit(kind: DeviceKind) -> f64 {
    if kind == DeviceKind::Cpu { 0.1 } else { 0.02 }
}

const KERNEL: KernelId = KernelId(KernelId::LASTING);
const GROUP: u32 = 64;
/// Dependent multiply-adds of one work-item: few enough for drivers that end long loops.
const STEPS: u32 = 2048;
const UNROLLED: u32 = 8;
/// Launches of one sample, and samples without a better one that end it.
const BATCH: u32 = 4;
const STALE: u32 = 3;
/// Seconds given to a device that was idle to raise its clock: the first time, and later as long
/// as it is slower than it was.
const RISE: f64 = 0.2;
/// Most samples, however short.
const MAX_LAUNCHES: u32 = 2000;

/// The reference kernel on one device.
#[derive(Debug, Default)]
pub(super) struct ReferenceKernel {
    /// Whether it is built; `Some(false)` where the device cannot.
    built: Option<bool>,
    /// What it took when it last ran behind a case.
    pub last: Option<f64>,
}

impl ReferenceKernel {
    /// Seconds of one launch, the best of a few, so that a moment's disturbance is not taken for
    /// drift; `None` where the device cannot run it. A device slower than `first` gets a moment to
    /// raise its clock.
    pub fn run(&mut self, device: &mut dyn Device, first: Option<f64>) -> Option<f64> {
        device.reset();
        let groups = 2 * device.info().compute_units.unwrap_or(8).clamp(1, 1024);
        if self.built.is_none() {
            let source = source(device.info().language, groups);
            self.built = Some(device.build(KERNEL, &source).is_ok());
        }
        self.last = None;
        if self.built == Some(true) {
            self.last = best(device, groups, first).ok().flatten();
        }
        self.last
    }
}

/// How far `now` is from `first`: 0.03 for 3 % slower.
pub(super) fn drift(first: f64, now: f64) -> f64 {
    now / first - 1.0
}

fn best(device: &mut dyn Device, groups: u32, first: Option<f64>) -> Result<Option<f64>> {
    let len = Bytes(u64::from(4 * GROUP * groups));
    let out = BufferId(0);
    device.alloc(out, len, MemoryKind::Device)?;
    let mut recording = Recording::default();
    for _ in 0..BATCH {
        let buffers = vec![Slice { buffer: out, offset: Bytes(0), len }];
        let groups = [groups, 1, 1];
        recording.push(
            Queue(0),
            vec![],
            Op::Dispatch { kernel: KERNEL, groups, buffers, params: vec![] },
        );
    }
    let (mut best, mut stale, mut spent) = (f64::INFINITY, 0, 0.0);
    for _ in 0..MAX_LAUNCHES {
        let timeline = device.run(&recording)?;
        spent += timeline.wall;
        if timeline.dropped.is_some() {
            continue;
        }
        let sample = super::session::span(&timeline) / f64::from(BATCH);
        stale = if sample < 0.998 * best { 0 } else { stale + 1 };
        best = best.min(sample);
        let slower = first.is_none_or(|first| drift(first, best) > limit(device.info().kind));
        // A simulated clock never rises.
        let rising = slower && spent < RISE && timeline.clock != Clock::Simulated;
        if stale >= STALE && !rising {
            break;
        }
    }
    Ok((best > 0.0 && best.is_finite()).then_some(best))
}

fn source(language: Language, groups: u32) -> KernelSource {
    let chain = "x = x * a + b;".repeat(UNROLLED as usize);
    let rounds = STEPS / UNROLLED;
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
    let flops = 2.0 * f64::from(STEPS) * f64::from(GROUP * groups);
    KernelSource {
        language,
        text,
        entry: "reference_kernel".into(),
        origin: Origin::Shipped("reference_kernel".into()),
        group: [GROUP, 1, 1],
        constants: vec![],
        bindings: vec![Binding {
            name: "out".into(),
            access: Access::Write,
            element: Element::scalar(Scalar::F32),
        }],
        params_bytes: 0,
        // A simulated GPU takes its time and computes nothing.
        meaning: Some(Meaning {
            reference: "empty".into(),
            params: vec![],
            sizes: vec![("n".into(), 0)],
            flops,
            bytes: 0.0,
            groups: u64::from(groups),
            rows: None,
        }),
    }
}
