//! The device's queues, and which of them a recording's queues become.
//!
//! A recording's queue that launches kernels needs a queue that computes: of a family that does not
//! draw, where there is one, since kernels on two queues of a family that draws may take turns (on an
//! NVIDIA H100 they do, 170 µs each turn; docs/results). One that only copies is given a queue of a
//! family that does nothing else, where there is one left: these are the copy engines.

use super::facts::Physical;
use ash::vk;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Op, Recording};

/// One queue of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceQueue {
    /// Its family.
    pub family: u32,
    /// Its position in the family.
    pub index: u32,
    /// Whether kernels run on it; all of them copy.
    pub computes: bool,
    /// How many bits of its timestamps are valid; 0: it has none.
    pub timestamp_bits: u32,
}

/// Every queue of a device that copies: those that compute first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// The queues.
    pub queues: Vec<DeviceQueue>,
    /// Whether several queues of a recording may become one of the device.
    pub shared: bool,
}

/// How many queues a recording may have where they share those of the device.
const SHARED_QUEUES: u32 = 32;

impl Topology {
    /// The queues of a device.
    #[expect(unsafe_code, reason = "ash's queries are foreign functions")]
    pub(super) fn of(physical: Physical<'_>) -> Self {
        let (instance, handle) = (physical.instance, physical.handle);
        // SAFETY: the instance is alive, and the handle came from it.
        let families = unsafe { instance.get_physical_device_queue_family_properties(handle) };
        Self::of_families(&families)
    }

    /// The queues of families, computing ones first, and families that do the least of other things
    /// before those that do more (one that also draws, a decoder of video that also copies).
    fn of_families(families: &[vk::QueueFamilyProperties]) -> Self {
        let copying = vk::QueueFlags::COMPUTE | vk::QueueFlags::GRAPHICS | vk::QueueFlags::TRANSFER;
        let mut queues = vec![];
        for (family, properties) in (0..).zip(families) {
            let flags = properties.queue_flags;
            if !flags.intersects(copying) {
                continue;
            }
            let computes = flags.contains(vk::QueueFlags::COMPUTE);
            let own =
                vk::QueueFlags::COMPUTE | vk::QueueFlags::TRANSFER | vk::QueueFlags::SPARSE_BINDING;
            let others = (flags & !own).as_raw();
            queues.extend((0..properties.queue_count).map(|index| {
                let timestamp_bits = properties.timestamp_valid_bits;
                (others.count_ones(), DeviceQueue { family, index, computes, timestamp_bits })
            }));
        }
        queues.sort_by_key(|(others, queue)| (!queue.computes, *others, queue.family));
        Self { queues: queues.into_iter().map(|(_, queue)| queue).collect(), shared: false }
    }

    /// Why the device cannot be used, where it cannot.
    pub(super) fn lacks(&self) -> Option<&'static str> {
        let computes = self.queues.iter().any(|queue| queue.computes);
        (!computes).then_some("it has no queue that computes")
    }

    /// How many queues a recording may have.
    pub(super) fn count(&self) -> u32 {
        let own = u32::try_from(self.queues.len()).unwrap_or(u32::MAX);
        if self.shared { own.max(SHARED_QUEUES) } else { own }
    }

    /// The first queue: what is written, read and cleared outside a recording goes there.
    pub(super) fn first(&self) -> DeviceQueue {
        self.queues[0]
    }

    /// The families, each once: what buffers are shared between.
    pub(super) fn families(&self) -> Vec<u32> {
        let mut families: Vec<u32> = self.queues.iter().map(|queue| queue.family).collect();
        families.sort_unstable();
        families.dedup();
        families
    }

    /// Which of the device's queues each queue of a recording becomes.
    ///
    /// # Errors
    /// `Unsupported` where there are too few.
    pub(super) fn assign(&self, recording: &Recording) -> Result<Vec<usize>> {
        let count = recording.queues() as usize;
        let mut launches = vec![false; count];
        for step in &recording.steps {
            launches[step.queue.0 as usize] |= matches!(step.op, Op::Dispatch { .. });
        }
        let kernels = launches.iter().filter(|&&launches| launches).count();
        let computing = self.queues.iter().filter(|queue| queue.computes).count();
        if (count > self.queues.len() || kernels > computing) && !self.shared {
            return Err(self.too_few(count, kernels));
        }
        // Kernels first: they have the smaller choice.
        let mut assigned = vec![0; count];
        for (nth, queue) in (0..count).filter(|&queue| launches[queue]).enumerate() {
            assigned[queue] = nth % computing;
        }
        let only_copy = computing..self.queues.len();
        let left: Vec<usize> = only_copy.chain(kernels.min(computing)..computing).collect();
        // Where all queues have kernels, copies share the device's first.
        let left = if left.is_empty() { vec![0] } else { left };
        for (nth, queue) in (0..count).filter(|&queue| !launches[queue]).enumerate() {
            assigned[queue] = left[nth % left.len()];
        }
        Ok(assigned)
    }

    fn too_few(&self, queues: usize, kernels: usize) -> Error {
        let computing = self.queues.iter().filter(|queue| queue.computes).count();
        Error::Unsupported(format!(
            "{queues} queues, {kernels} of them with kernels; the device has {}, {computing} of them for \
             kernels (through vulkan-share they share)",
            self.queues.len()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::{BufferId, KernelId, Queue, Slice};
    use gpubench_core::units::Bytes;

    fn family(flags: vk::QueueFlags, queue_count: u32) -> vk::QueueFamilyProperties {
        vk::QueueFamilyProperties {
            queue_flags: flags,
            queue_count,
            timestamp_valid_bits: 64,
            ..Default::default()
        }
    }

    fn discrete() -> Topology {
        let all = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE | vk::QueueFlags::TRANSFER;
        Topology::of_families(&[
            family(vk::QueueFlags::TRANSFER | vk::QueueFlags::VIDEO_DECODE_KHR, 1),
            family(vk::QueueFlags::SPARSE_BINDING, 1),
            family(vk::QueueFlags::TRANSFER | vk::QueueFlags::SPARSE_BINDING, 2),
            family(all, 1),
            family(vk::QueueFlags::COMPUTE | vk::QueueFlags::TRANSFER, 2),
        ])
    }

    /// A recording whose queues launch a kernel where `true`, and else only copy.
    fn recording(queues: &[bool]) -> Recording {
        let slice = Slice { buffer: BufferId(0), offset: Bytes(0), len: Bytes(4) };
        let mut recording = Recording::default();
        for (queue, launches) in (0..).zip(queues) {
            let op = match launches {
                true => Op::Dispatch {
                    kernel: KernelId(0),
                    groups: [1; 3],
                    buffers: vec![],
                    params: vec![],
                },
                false => Op::Copy { from: slice, to: slice },
            };
            recording.push(Queue(queue), vec![], op);
        }
        recording
    }

    #[test]
    fn queues_that_compute_come_first_those_that_draw_behind_them_and_decoders_last() {
        let topology = discrete();
        let places: Vec<_> = topology.queues.iter().map(|q| (q.family, q.index)).collect();
        assert_eq!(places, [(4, 0), (4, 1), (3, 0), (2, 0), (2, 1), (0, 0)]);
        assert_eq!((topology.count(), topology.families()), (6, vec![0, 2, 3, 4]));
        assert_eq!(topology.lacks(), None);
        let copies = Topology::of_families(&[family(vk::QueueFlags::TRANSFER, 1)]);
        assert!(copies.lacks().is_some_and(|why| why.contains("computes")));
    }

    #[test]
    fn copies_are_given_the_copy_engines() {
        let assigned = |queues: &[bool]| discrete().assign(&recording(queues)).unwrap();
        assert_eq!(assigned(&[false, true, false]), [3, 0, 4]);
        assert_eq!(assigned(&[true, true, true]), [0, 1, 2]);
        assert_eq!(assigned(&[false; 6]), [3, 4, 5, 0, 1, 2]);
        assert_eq!(assigned(&[true, false, false, false, false]), [0, 3, 4, 5, 1]);
    }

    #[test]
    fn too_many_are_rejected_unless_they_share() {
        let mut topology = discrete();
        for queues in [&[true; 4][..], &[false; 7]] {
            let Err(Error::Unsupported(text)) = topology.assign(&recording(queues)) else {
                panic!("{queues:?} are too many")
            };
            assert!(text.contains("the device has 6, 3 of them for kernels"), "{text}");
        }
        topology.shared = true;
        assert_eq!(topology.count(), 32);
        assert_eq!(topology.assign(&recording(&[true; 4])).unwrap(), [0, 1, 2, 0]);
        topology.queues.truncate(1);
        assert_eq!(topology.assign(&recording(&[false, true, false])).unwrap(), [0, 0, 0]);
    }
}
