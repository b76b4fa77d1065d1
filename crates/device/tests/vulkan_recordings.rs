//! Random recordings on Vulkan's queues and on the simulator: buffers equal to the byte. The machine's
//! only queue stands for those of other machines, so that dependencies between queues are
//! semaphores.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on shall panic")]

use gpubench_core::error::Error;
use gpubench_core::gpu::{
    Access, Binding, BufferId, Element, KernelId, KernelSource, Language, Meaning, MemoryKind, Op,
    Origin, Queue, Recording, Scalar, Slice, StepId,
};
use gpubench_core::units::Bytes;
use gpubench_device::sim::{Sim, SimDevice};
use gpubench_device::vulkan::{DeviceQueue, Vulkan};
use gpubench_device::{Backend, Device};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

const KERNEL: KernelId = KernelId(0);
/// Bytes of each buffer.
const LEN: u64 = 8192;
/// So many that a copy goes through all slots of the staging ring, which have 1 MiB each, and through the first again.
const LONG: u64 = (11 << 19) + 24;
/// Device buffers; behind them are two host buffers of each kind.
const DEVICE: u32 = 4;
const HOST: [MemoryKind; 6] = [
    MemoryKind::Pageable,
    MemoryKind::Pageable,
    MemoryKind::Pinned,
    MemoryKind::Pinned,
    MemoryKind::Mapped,
    MemoryKind::Mapped,
];

/// `out = a`, word by word.
fn copy() -> KernelSource {
    let binding = |name: &str, access| Binding {
        name: name.into(),
        element: Element::scalar(Scalar::F32),
        access,
        image: None,
    };
    KernelSource {
        origin: Origin::Shipped("copy.wgsl".into()),
        group: [64, 1, 1],
        bindings: vec![binding("a", Access::Read), binding("out", Access::Write)],
        params_bytes: 4,
        meaning: Some(Meaning {
            reference: "copy".into(),
            params: vec![("n".into(), Scalar::U32)],
            sizes: vec![],
            flops: 0.0,
            double: 0.0,
            bytes: 16384.0,
            groups: 32,
            rows: None,
        }),
        ..KernelSource::new(
            Language::Wgsl,
            "copy",
            "
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<uniform> n: u32;
@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn copy(@builtin(global_invocation_id) id: vec3<u32>) { if id.x < n { out[id.x] = a[id.x]; } }
",
        )
    }
}

/// Queues in place of this machine's, and how many of them compute.
fn queues(computing: usize, copying: usize) -> Vec<DeviceQueue> {
    let queue = |computes| DeviceQueue { family: 0, index: 0, computes, timestamp_bits: 64 };
    [vec![queue(true); computing], vec![queue(false); copying]].concat()
}

/// What a step reads and writes.
fn touched(op: &Op) -> (Slice, Slice) {
    match op {
        Op::Dispatch { buffers, .. } => (buffers[0], buffers[1]),
        Op::Upload { from, to } | Op::Download { from, to } | Op::Copy { from, to } => (*from, *to),
        // The generator makes none.
        Op::Map { part, .. } | Op::Unmap { part } => (*part, *part),
    }
}

fn overlap(a: Slice, b: Slice) -> bool {
    let end = |slice: Slice| slice.offset.0 + slice.len.0;
    a.buffer == b.buffer && a.offset.0 < end(b) && b.offset.0 < end(a)
}

struct Generator {
    rng: Pcg64Mcg,
    alignment: u64,
    /// Bytes of each buffer.
    len: u64,
    /// Most bytes of a step.
    longest: u64,
}

impl Generator {
    fn slice(&mut self, buffer: u32, len: u64, alignment: u64) -> Slice {
        let offset = self.rng.random_range(0..=(self.len - len) / alignment) * alignment;
        Slice { buffer: BufferId(buffer), offset: Bytes(offset), len: Bytes(len) }
    }

    fn op(&mut self, kernels: bool) -> Op {
        let len = match self.rng.random_range(0..4) {
            // Bytes that are no words: what is not a word's must stay.
            0 => self.rng.random_range(1..64),
            _ => 4 * self.rng.random_range(1..self.longest / 4),
        };
        let device = self.rng.random_range(0..DEVICE);
        let other = (device + self.rng.random_range(1..DEVICE)) % DEVICE;
        let host = DEVICE + self.rng.random_range(0..HOST.len() as u32);
        match self.rng.random_range(0..if kernels { 4 } else { 3 }) {
            0 => Op::Upload { from: self.slice(host, len, 1), to: self.slice(device, len, 1) },
            1 => Op::Download { from: self.slice(device, len, 1), to: self.slice(host, len, 1) },
            2 => Op::Copy { from: self.slice(device, len, 1), to: self.slice(other, len, 1) },
            _ => {
                let len = len.next_multiple_of(4);
                let n = (len / 4) as u32;
                let alignment = self.alignment;
                Op::Dispatch {
                    kernel: KERNEL,
                    groups: [n.div_ceil(64), 1, 1],
                    buffers: vec![
                        self.slice(device, len, alignment),
                        self.slice(other, len, alignment),
                    ],
                    params: n.to_ne_bytes().to_vec(),
                }
            }
        }
    }

    /// Long copies of pageable memory on four queues: of each queue another device buffer, and another half of a host
    /// buffer.
    fn turns(&mut self) -> Recording {
        let mut recording = Recording::default();
        for _ in 0..self.rng.random_range(1..12) {
            let queue = self.rng.random_range(0..DEVICE);
            let half = self.len / 2;
            let len = self.rng.random_range(half / 2..half);
            let device = self.slice(queue, len, 1);
            let offset = u64::from(queue % 2) * half + self.rng.random_range(0..half - len);
            let buffer = BufferId(DEVICE + queue / 2);
            let host = Slice { buffer, offset: Bytes(offset), len: Bytes(len) };
            let op = match self.rng.random_bool(0.5) {
                true => Op::Upload { from: host, to: device },
                false => Op::Download { from: device, to: host },
            };
            recording.push(Queue(queue), vec![], op);
        }
        recording
    }

    /// Copies of pageable memory on one queue, all to the device or all from it.
    fn one_way(&mut self) -> Recording {
        let mut recording = Recording::default();
        let uploads = self.rng.random_bool(0.5);
        for _ in 0..self.rng.random_range(1..6) {
            let len = self.rng.random_range(1..self.len);
            let device = self.rng.random_range(0..DEVICE);
            let host = DEVICE + self.rng.random_range(0..2);
            let (device, host) = (self.slice(device, len, 1), self.slice(host, len, 1));
            let op = match uploads {
                true => Op::Upload { from: host, to: device },
                false => Op::Download { from: device, to: host },
            };
            recording.push(Queue(0), vec![], op);
        }
        recording
    }

    /// Steps that wait for every earlier one of another queue with which they would race, and some for
    /// others too. Only the first `computing` queues launch kernels.
    fn recording(&mut self, queues: u32, computing: u32) -> Recording {
        let mut recording = Recording::default();
        for _ in 0..self.rng.random_range(1..32) {
            let queue = self.rng.random_range(0..queues);
            let op = self.op(queue < computing);
            let (read, written) = touched(&op);
            let mut after = vec![];
            for (id, step) in (0..).zip(&recording.steps) {
                let (its_read, its_written) = touched(&step.op);
                let races = overlap(written, its_written)
                    || overlap(written, its_read)
                    || overlap(read, its_written);
                if step.queue != Queue(queue) && (races || self.rng.random_range(0..16) == 0) {
                    after.push(StepId(id));
                }
            }
            recording.push(Queue(queue), after, op);
        }
        recording
    }
}

fn fill(device: &mut dyn Device, id: u32, kind: MemoryKind, len: u64) {
    let mut rng = Pcg64Mcg::seed_from_u64(id.into());
    // Numbers, since a reference reads words as such.
    let data: Vec<u8> = (0..len / 4).flat_map(|_| f32::to_ne_bytes(rng.random::<f32>())).collect();
    device.alloc(BufferId(id), Bytes(len), kind).unwrap();
    device.write(BufferId(id), &data).unwrap();
}

/// A device with the kernel and all buffers; kinds of host memory that it lacks are pinned.
fn prepared(mut device: Box<dyn Device>, len: u64) -> Box<dyn Device> {
    device.build(KERNEL, &copy()).unwrap();
    let has = device.info().host_memory.clone();
    let kinds = [MemoryKind::Device; DEVICE as usize].into_iter().chain(HOST);
    for (id, kind) in (0..).zip(kinds) {
        let known = kind == MemoryKind::Device || has.contains(&kind);
        fill(&mut *device, id, if known { kind } else { MemoryKind::Pinned }, len);
    }
    device
}

fn simulated(len: u64) -> Box<dyn Device> {
    let mut gpu = Sim::default().descriptions().unwrap().remove(0);
    gpu.queues = 32;
    prepared(Box::new(SimDevice::new(gpu, 0, 0)), len)
}

/// Executes random recordings on both, and compares every buffer after each.
fn agree(
    vulkan: &Vulkan,
    len: u64,
    recordings: u64,
    recording: impl Fn(&mut Generator) -> Recording,
) {
    let mut device = prepared(vulkan.open(0).unwrap(), len);
    let mut simulated = simulated(len);
    let alignment = device.info().offset_alignment.0;
    // Of the long ones many are to be cut.
    let longest = if len == LONG { len } else { len / 2 };
    for seed in 0..recordings {
        let mut generator =
            Generator { rng: Pcg64Mcg::seed_from_u64(seed), alignment, len, longest };
        let recording = recording(&mut generator);
        assert!(device.info().queues >= recording.queues());
        device.run(&recording).unwrap();
        simulated.run(&recording).unwrap();
        for id in 0..DEVICE + HOST.len() as u32 {
            let (ours, theirs) = (device.read(BufferId(id)), simulated.read(BufferId(id)));
            assert!(ours.unwrap() == theirs.unwrap(), "buffer {id} after {seed}: {recording:#?}");
        }
    }
}

#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn one_kernel_queue_and_two_copy_engines_agree_with_the_simulator() {
    agree(&Vulkan { share_queues: false, queues: Some(queues(1, 2)) }, LEN, 400, |generator| {
        generator.recording(3, 1)
    });
}

#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn eight_kernel_queues_agree_with_the_simulator() {
    agree(&Vulkan { share_queues: false, queues: Some(queues(8, 0)) }, LEN, 400, |generator| {
        generator.recording(8, 8)
    });
}

#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn queues_that_share_the_devices_agree_with_the_simulator() {
    agree(&Vulkan { share_queues: true, queues: None }, LEN, 200, |generator| {
        generator.recording(6, 6)
    });
}

#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn long_copies_in_pieces_agree_with_the_simulator() {
    let vulkan = Vulkan { share_queues: false, queues: Some(queues(2, 2)) };
    agree(&vulkan, LONG, 100, |generator| generator.recording(4, 2));
}

#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn long_copies_on_queues_that_share_the_devices_agree_with_the_simulator() {
    let vulkan = Vulkan { share_queues: true, queues: None };
    agree(&vulkan, LONG, 50, |generator| generator.recording(4, 4));
}

#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn long_copies_that_take_turns_agree_with_the_simulator() {
    let vulkan = Vulkan { share_queues: false, queues: Some(queues(1, 3)) };
    agree(&vulkan, LONG, 100, Generator::turns);
}

#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn copies_one_way_around_the_staging_ring_agree_with_the_simulator() {
    let vulkan = Vulkan { share_queues: false, queues: None };
    agree(&vulkan, LONG, 100, Generator::one_way);
}

#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn more_queues_than_there_are_need_to_share() {
    let mut recording = Recording::default();
    for queue in 0..3 {
        let op =
            Generator { rng: Pcg64Mcg::seed_from_u64(1), alignment: 256, len: LEN, longest: LEN }
                .op(false);
        recording.push(Queue(queue), vec![], op);
    }
    let one = Vulkan { share_queues: false, queues: Some(queues(1, 1)) };
    let mut device = prepared(one.open(0).unwrap(), LEN);
    let rejected = device.run(&recording);
    let Err(Error::Unsupported(why)) = rejected else { panic!("{rejected:?}") };
    assert!(why.contains("3 queues") && why.contains("vulkan-share"), "{why}");
    let shared = Vulkan { share_queues: true, ..one };
    assert!(prepared(shared.open(0).unwrap(), LEN).run(&recording).is_ok());
}

#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn a_device_without_a_queue_that_computes_is_skipped() {
    let copies = Vulkan { share_queues: false, queues: Some(queues(0, 2)) };
    assert!(copies.devices().unwrap().is_empty());
    assert!(matches!(copies.open(0), Err(Error::Usage(_))));
}
