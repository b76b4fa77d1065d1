//! What clpeak does not time of a download by mapping: the unmap of what was mapped to be read.

use gpubench::backend;
use gpubench::gpu::{Access, BufferId, DeviceInfo, MemoryKind, Op, Queue, Recording, Slice};
use gpubench::units::Bytes;

/// As large as the transfers.
const BYTES: Bytes = Bytes(512 << 20);
const REPETITIONS: usize = 15;

/// GB/s, from the driver's times of its commands; `None` where it has none.
pub fn after_reading(info: &DeviceInfo) -> Option<f64> {
    let mut device = backend::by_name(&info.backend)?.open(info.index).ok()?;
    let part = Slice { buffer: BufferId(0), offset: Bytes(0), len: BYTES };
    device.alloc(part.buffer, BYTES, MemoryKind::ZeroCopy).ok()?;
    device.write(part.buffer, &vec![0; BYTES.as_usize()]).ok()?;
    let mut recording = Recording::default();
    recording.push(Queue(0), vec![], Op::Map { part, access: Access::Read });
    recording.push(Queue(0), vec![], Op::Unmap { part });
    let mut once = || Some(device.run(&recording).ok()?.steps.get(1)?.duration());
    once()?;
    let mut seconds = (0..REPETITIONS).map(|_| once()).collect::<Option<Vec<f64>>>()?;
    seconds.sort_by(f64::total_cmp);
    Some(BYTES.0 as f64 / seconds[REPETITIONS / 2] / 1e9)
}
