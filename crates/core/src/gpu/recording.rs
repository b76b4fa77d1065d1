//! GPU work as a value: what to do, in which order, on which queue.

use super::kernel::Access;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// A kernel, numbered by the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct KernelId(pub u32);

impl KernelId {
    /// Kernels numbered from here on are a session's, not a case's: they outlive a
    /// device's reset.
    pub const LASTING: u32 = u32::MAX - 7;

    /// Whether it outlives a reset.
    pub fn is_lasting(self) -> bool {
        self.0 >= Self::LASTING
    }
}

/// A buffer, on the device or the host, numbered by the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BufferId(pub u32);

/// An in-order queue of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Queue(pub u32);

/// A step's position in its recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StepId(pub u32);

/// Where a buffer lives.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryKind {
    /// The device's memory.
    Device,
    /// Ordinary host memory: the driver stages every copy.
    Pageable,
    /// Host memory that the device's copy engine reaches directly.
    Pinned,
    /// Device memory that the host reaches through its address space: a copy is a map, a
    /// memory copy by the host, and an unmap.
    Mapped,
    /// Zero-copy memory that the driver allocates: the host maps what kernels use in place.
    ZeroCopy,
    /// Zero-copy memory of the program's own, on the edge of a page, that kernels use in place.
    HostPointer,
}

impl MemoryKind {
    /// Whether kernels are given buffers of it; the others are what copies begin or end in.
    pub fn is_for_kernels(self) -> bool {
        matches!(self, Self::Device) || self.is_zero_copy()
    }

    /// Whether the host maps its buffers.
    pub fn is_zero_copy(self) -> bool {
        matches!(self, Self::ZeroCopy | Self::HostPointer)
    }

    /// What tables call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Pageable => "pageable",
            Self::Pinned => "pinned",
            Self::Mapped => "mapped",
            Self::ZeroCopy => "zero-copy",
            Self::HostPointer => "host pointer",
        }
    }
}

/// A part of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Slice {
    /// The buffer.
    pub buffer: BufferId,
    /// First byte.
    pub offset: Bytes,
    /// Number of bytes.
    pub len: Bytes,
}

/// One thing a device does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Runs a kernel.
    Dispatch {
        /// Which.
        kernel: KernelId,
        /// Work-groups along each dimension.
        groups: [u32; 3],
        /// Buffers in binding order.
        buffers: Vec<Slice>,
        /// The parameter block.
        params: Vec<u8>,
    },
    /// Copies from a host buffer to a device buffer.
    Upload {
        /// Part of a buffer of a host kind.
        from: Slice,
        /// Part of a device buffer, of equal length.
        to: Slice,
    },
    /// Copies from a device buffer to a host buffer.
    Download {
        /// Part of a device buffer.
        from: Slice,
        /// Part of a buffer of a host kind, of equal length.
        to: Slice,
    },
    /// Copies within the device's memory.
    Copy {
        /// Source.
        from: Slice,
        /// Destination, of equal length.
        to: Slice,
    },
    /// Gives the host a part of a zero-copy buffer, whose contents stay; the host waits until it has it.
    Map {
        /// Which; nothing else of the buffer is mapped, and no step uses it meanwhile.
        part: Slice,
        /// What the host does with it.
        access: Access,
    },
    /// Gives a mapped part back to the device.
    Unmap {
        /// What was mapped.
        part: Slice,
    },
}

/// An operation on a queue, begun after the queue's earlier steps and after those it names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The queue it is submitted to.
    pub queue: Queue,
    /// Earlier steps (of other queues) that must have ended before.
    pub after: Vec<StepId>,
    /// What to do.
    pub op: Op,
}

/// GPU work as a pure value: equal inputs make equal recordings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// The steps in the order in which they are queued.
    pub steps: Vec<Step>,
}

impl Recording {
    /// Steps of one queue, which take them in order.
    pub fn one_queue(ops: impl IntoIterator<Item = Op>) -> Self {
        let step = |op| Step { queue: Queue(0), after: vec![], op };
        Self { steps: ops.into_iter().map(step).collect() }
    }

    /// Appends a step and returns its number.
    pub fn push(&mut self, queue: Queue, after: Vec<StepId>, op: Op) -> StepId {
        let id = StepId(u32::try_from(self.steps.len()).unwrap_or(u32::MAX));
        self.steps.push(Step { queue, after, op });
        id
    }

    /// How many queues the recording needs.
    pub fn queues(&self) -> u32 {
        self.steps.iter().map(|step| step.queue.0 + 1).max().unwrap_or(0)
    }
}

#[test]
fn the_last_kernels_outlive_a_reset() {
    let last = [u32::MAX, KernelId::LASTING, KernelId::LASTING - 1, 0];
    assert_eq!(last.map(|id| KernelId(id).is_lasting()), [true, true, false, false]);
}

#[test]
fn kinds_of_memory_have_names_and_sides() {
    use MemoryKind::{Device, HostPointer, Mapped, Pageable, Pinned, ZeroCopy};
    for (kind, label, for_kernels, zero_copy) in [
        (Device, "device", true, false),
        (Pageable, "pageable", false, false),
        (Pinned, "pinned", false, false),
        (Mapped, "mapped", false, false),
        (ZeroCopy, "zero-copy", true, true),
        (HostPointer, "host pointer", true, true),
    ] {
        assert_eq!(kind.label(), label);
        assert_eq!(
            (kind.is_for_kernels(), kind.is_zero_copy()),
            (for_kernels, zero_copy),
            "{label}"
        );
    }
}

#[test]
fn steps_are_numbered_and_need_their_queues() {
    let part = Slice { buffer: BufferId(0), offset: Bytes(0), len: Bytes(4) };
    let mut recording = Recording::default();
    assert_eq!(recording.queues(), 0);
    let first = recording.push(Queue(2), vec![], Op::Unmap { part });
    let second = recording.push(Queue(0), vec![first], Op::Unmap { part });
    assert_eq!((first, second, recording.queues()), (StepId(0), StepId(1), 3));
    assert_eq!(recording.steps[1].after, [first]);
}
