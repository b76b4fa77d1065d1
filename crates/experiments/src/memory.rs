//! A case's buffers: inputs from a seeded generator, outputs poisoned, guards on either side.

use crate::plan::{BufferPlan, Case, GUARD};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Access, BufferId, MemoryKind, Op, Queue, Recording, Scalar, Slice};
use gpubench_core::hash;
use gpubench_core::units::Bytes;
use gpubench_core::workload::Fill;
use gpubench_device::Device;
use gpubench_emulator::Buffer;
use gpubench_reference::{Data, fill, for_each_chunk, parallel_map, promise};
use sha2::{Digest, Sha256};

/// Every byte of an output before it is written, and of the guards: as a float it is NaN.
const POISON: u8 = 0xff;
const ORACLE_POISON: u8 = 0x5a;
pub(super) const GUARD_PATTERN: u8 = 0xa5;
/// Bytes that one core writes or reads before others are worth waking.
const PIECE: usize = 1 << 20;
/// Host memory for the guards of all buffers.
const GUARDS: BufferId = BufferId(u32::MAX);

/// Allocates every buffer of `case` with its guards.
pub(super) fn allocate(device: &mut dyn Device, case: &Case) -> Result<()> {
    for (i, buffer) in case.buffers.iter().enumerate() {
        let bytes = Bytes(buffer.bytes().0 + 2 * GUARD.0);
        device.alloc(case.buffer(i), bytes, MemoryKind::Device)?;
    }
    Ok(())
}

/// The contents of every buffer before a launch, in binding order.
pub fn initial(case: &Case) -> Vec<Data> {
    poisoned_by(case, POISON)
}

/// Allocates every buffer and fills it with its initial contents, which it returns.
pub(super) fn set_up(device: &mut dyn Device, case: &Case) -> Result<Vec<Data>> {
    let initial = initial(case);
    allocate(device, case)?;
    write(device, case, &initial, false)?;
    Ok(initial)
}

/// The same contents, made when an emulator touches them.
pub fn promised(case: &Case) -> Vec<Buffer> {
    let contents = |buffer: &BufferPlan| {
        let scalar = buffer.element.scalar;
        let count = buffer.bytes().as_usize() / scalar.size();
        match filled(buffer) {
            Some(how) => promise(how, scalar, count, input_seed(case, buffer)),
            None => promised_poison(buffer, POISON),
        }
    };
    case.buffers.iter().map(contents).collect()
}

fn promised_poison(buffer: &BufferPlan, poison: u8) -> Buffer {
    let poison = Fill::Constant(f64::from(u32::from_ne_bytes([poison; 4])));
    promise(&poison, Scalar::U32, buffer.bytes().as_usize().div_ceil(4), 0)
}

/// What fills a buffer before a launch; `None` for what the kernel only writes.
pub(super) fn filled(buffer: &BufferPlan) -> Option<&Fill> {
    buffer.fill.as_ref().filter(|_| buffer.access != Access::Write)
}

/// What a buffer holds, `data`, as an oracle's run begins: another pattern in the outputs.
pub(super) fn oracle_contents(buffer: &BufferPlan, data: &Data) -> Buffer {
    match filled(buffer) {
        Some(_) => data.into(),
        None => promised_poison(buffer, ORACLE_POISON),
    }
}

/// Contents of an output that no comparison takes for `expected`: the poison, but where that is
/// what is expected. `None` where the poison does everywhere.
pub(super) fn unlike(expected: &Data) -> Option<Data> {
    let (scalar, size) = (expected.scalar(), expected.scalar().size());
    let poison = scalar.number(&[POISON; 8]);
    let is_poison = |i: usize| match expected.get(i) {
        Some(x) if scalar.is_float() => x.is_nan(),
        x => x == Some(poison),
    };
    let first = (0..expected.len()).find(|&i| is_poison(i))?;
    let mut bytes = vec![POISON; expected.as_bytes().len()];
    for i in (first..expected.len()).filter(|&i| is_poison(i)) {
        bytes[size * i..][..size].fill(ORACLE_POISON);
    }
    Some(Data::from_bytes(expected.scalar(), &bytes))
}

/// As [`initial`], with another pattern in the outputs: what two devices both leave unwritten
/// must not look like agreement.
pub(super) fn of_a_cross_device_oracle(case: &Case) -> Vec<Data> {
    poisoned_by(case, ORACLE_POISON)
}

fn poisoned_by(case: &Case, poison: u8) -> Vec<Data> {
    case.buffers.iter().map(|buffer| contents_or(case, buffer, poison)).collect()
}

/// The contents of one buffer before a launch.
pub(super) fn contents(case: &Case, buffer: &BufferPlan) -> Data {
    contents_or(case, buffer, POISON)
}

fn contents_or(case: &Case, buffer: &BufferPlan, poison: u8) -> Data {
    let (scalar, bytes) = (buffer.element.scalar, buffer.bytes().as_usize());
    match filled(buffer) {
        Some(how) => fill(how, scalar, bytes / scalar.size(), input_seed(case, buffer)),
        None => Data::from_bytes(scalar, &vec![poison; bytes]),
    }
}

/// Inputs are seeded by the buffer's name, so that every variant of a workload sees the same.
pub(super) fn input_seed(case: &Case, buffer: &BufferPlan) -> u64 {
    let digest = Sha256::digest(buffer.name.as_bytes());
    case.seed ^ u64::from_le_bytes(std::array::from_fn(|i| digest[i]))
}

/// `bytes` between their guards.
pub(super) fn guarded(bytes: &[u8]) -> Vec<u8> {
    between_guards(bytes.len(), |first, piece| {
        piece.copy_from_slice(&bytes[first..][..piece.len()])
    })
}

/// As [`guarded`], of an output that is not written yet.
pub(super) fn guarded_poison(bytes: usize) -> Vec<u8> {
    between_guards(bytes, |_, piece| piece.fill(POISON))
}

/// Guards, and between them what `write` puts into each piece, given the place of its first byte.
fn between_guards(bytes: usize, write: impl Fn(usize, &mut [u8]) + Sync) -> Vec<u8> {
    let guard = GUARD.as_usize();
    let mut all = vec![0; bytes + 2 * guard];
    for_each_chunk(&mut all[guard..bytes + guard], PIECE, |first, piece| {
        write(first * PIECE, piece)
    });
    all[..guard].fill(GUARD_PATTERN);
    all[bytes + guard..].fill(GUARD_PATTERN);
    all
}

/// What lies between the guards.
pub(super) fn inside(guarded: &[u8]) -> &[u8] {
    let guard = GUARD.as_usize();
    guarded.get(guard..guarded.len().saturating_sub(guard)).unwrap_or_default()
}

/// What a buffer's contents are recognised by: the fingerprint of its pieces' fingerprints, which all cores of the host compute;
/// of a single piece, that one's.
pub(super) fn fingerprint(bytes: &[u8]) -> u128 {
    if bytes.len() <= PIECE {
        return hash::fingerprint(bytes);
    }
    let piece = |i: usize| &bytes[i * PIECE..bytes.len().min((i + 1) * PIECE)];
    let print = |i| hash::fingerprint(piece(i)).to_le_bytes();
    let prints = parallel_map(bytes.len().div_ceil(PIECE), print);
    hash::fingerprint(prints.as_flattened())
}

/// Writes the initial contents of every buffer, or only of those that a kernel writes.
pub(super) fn write(
    device: &mut dyn Device,
    case: &Case,
    data: &[Data],
    only_written: bool,
) -> Result<()> {
    for (i, (buffer, data)) in case.buffers.iter().zip(data).enumerate() {
        if only_written && buffer.access == Access::Read {
            continue;
        }
        device.write(case.buffer(i), &guarded(data.as_bytes()))?;
    }
    Ok(())
}

/// Poisons every buffer between its guards, inputs too: a recording that uploads them must do so.
pub(super) fn poison(device: &mut dyn Device, case: &Case) -> Result<()> {
    let poisoned: Vec<Data> = case
        .buffers
        .iter()
        .map(|b| Data::from_bytes(b.element.scalar, &vec![POISON; b.bytes().as_usize()]))
        .collect();
    write(device, case, &poisoned, false)
}

/// Reads buffer number `id` of `case`, without its guards.
pub(super) fn read(device: &mut dyn Device, case: &Case, id: usize) -> Result<Data> {
    let scalar = case.buffers[id].element.scalar;
    Ok(Data::from_bytes(scalar, inside(&read_guarded(device, case, id)?)))
}

/// Reads buffer number `id` of `case` with its guards.
pub(super) fn read_guarded(device: &mut dyn Device, case: &Case, id: usize) -> Result<Vec<u8>> {
    let buffer = &case.buffers[id];
    let mut guarded = device.read(case.buffer(id))?;
    let len = buffer.bytes().as_usize() + 2 * GUARD.as_usize();
    if guarded.len() < len {
        let (name, found) = (&buffer.name, guarded.len());
        return Err(Error::Device(format!("reading `{name}` gave {found} bytes")));
    }
    guarded.truncate(len);
    Ok(guarded)
}

/// A guard that was overwritten.
pub(super) struct Breach {
    /// The buffer, by position.
    pub buffer: usize,
    side: &'static str,
}

impl Breach {
    /// What happened, in words.
    pub(super) fn text(&self, case: &Case) -> String {
        let name = &case.buffers[self.buffer].name;
        format!("the kernel wrote {} the bounds of buffer `{name}`", self.side)
    }
}

/// The first guard of any buffer, read or written by the kernel, that is not as it was.
pub(super) fn breach(device: &mut dyn Device, case: &Case) -> Result<Option<Breach>> {
    let guards = 2 * case.buffers.len();
    let kind = device.info().host_memory.first().copied().unwrap_or(MemoryKind::Pageable);
    device.alloc(GUARDS, Bytes(GUARD.0 * guards as u64), kind)?;
    let part = |buffer, offset| Slice { buffer, offset: Bytes(offset), len: GUARD };
    let mut recording = Recording::default();
    for (i, buffer) in case.buffers.iter().enumerate() {
        for (side, offset) in [(0, 0), (1, GUARD.0 + buffer.bytes().0)] {
            let from = part(case.buffer(i), offset);
            let to = part(GUARDS, GUARD.0 * (2 * i as u64 + side));
            recording.push(Queue(0), vec![], Op::Download { from, to });
        }
    }
    device.run(&recording)?;
    let found = device.read(GUARDS)?;
    let broken = |guard: &[u8]| guard.iter().any(|&byte| byte != GUARD_PATTERN);
    let first = found.chunks(GUARD.as_usize()).position(broken);
    Ok(first.map(|i| Breach { buffer: i / 2, side: ["before", "behind"][i % 2] }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_large_buffer_counts() {
        let mut bytes: Vec<u8> = (0..3 * PIECE + 5).map(|i| (i % 251) as u8).collect();
        let before = fingerprint(&bytes);
        assert_eq!(before, fingerprint(&bytes.clone()));
        for at in [0, PIECE - 1, PIECE, 2 * PIECE + 7, 3 * PIECE + 4] {
            bytes[at] ^= 1;
            assert_ne!(fingerprint(&bytes), before, "byte {at}");
            bytes[at] ^= 1;
        }
        let (first, others) = bytes.split_at_mut(PIECE);
        first.swap_with_slice(&mut others[..PIECE]);
        assert_ne!(fingerprint(&bytes), before, "pieces in another order");
        assert_ne!(fingerprint(&bytes[..3 * PIECE]), fingerprint(&bytes[..2 * PIECE]));
        assert_eq!(fingerprint(&bytes[..9]), hash::fingerprint(&bytes[..9]));
    }

    #[test]
    fn guards_are_on_either_side_of_a_large_buffer_too() {
        let guard = vec![GUARD_PATTERN; GUARD.as_usize()];
        for len in [0, 5, PIECE, 2 * PIECE + 3] {
            let bytes: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
            assert!(guarded(&bytes) == [&guard[..], &bytes, &guard].concat(), "{len}");
            let poison = vec![POISON; len];
            assert!(guarded_poison(len) == [&guard[..], &poison, &guard].concat(), "{len}");
        }
    }

    #[test]
    fn an_output_never_begins_as_what_is_expected() {
        assert_eq!(unlike(&Data::U32(vec![1, 2, 0x5a5a_5a5a])), None);
        assert_eq!(unlike(&Data::F32(vec![0.0, f32::INFINITY])), None);
        let unlike_max = unlike(&Data::U32(vec![u32::MAX, 7]));
        assert_eq!(unlike_max, Some(Data::U32(vec![0x5a5a_5a5a, u32::MAX])));
        let unlike_minus_one = unlike(&Data::I32(vec![3, -1]));
        assert_eq!(unlike_minus_one, Some(Data::I32(vec![-1, 0x5a5a_5a5a])));
        let Some(Data::F32(unlike_nan)) = unlike(&Data::F32(vec![1.0, -f32::NAN])) else {
            panic!("a NaN is expected, and the poison is one")
        };
        assert!(unlike_nan[0].is_nan() && !unlike_nan[1].is_nan());
    }
}
