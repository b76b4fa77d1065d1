//! A domain in parts, each with a shell that holds what its neighbours have: what is exchanged when,
//! and the recordings of it.
//!
//! After every pass, each part gets the fields that its cells will read of their neighbours. Two
//! designs do that: a kernel *packs* each face into a contiguous buffer, which is copied to the host and
//! on to the neighbour, where another kernel unpacks it; or all fields of the pass are copied to the host
//! in *bulk*, which exchanges the faces there and copies them back.

mod array;
mod cut;
mod spec;

pub use array::{Array, Face};
pub use cut::{Wanted, decompose, divided, given};
pub use spec::Spec;

use crate::plan::{Candidate, Case, GUARD, Pass};
use gpubench_core::gpu::{BufferId, KernelId, KernelSource, Op, Queue, Recording, Slice};
use gpubench_core::units::Bytes;
use serde::{Deserialize, Serialize};

/// Packs a face.
pub const PACK: KernelId = KernelId(1);
/// Unpacks one.
pub const UNPACK: KernelId = KernelId(2);

/// A domain in equal parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decomposition {
    /// The whole domain.
    pub domain: Array,
    /// A part of it.
    pub part: Array,
    /// Parts along x, y and z.
    pub cuts: [u64; 3],
    /// Fields of either.
    pub fields: u32,
    /// The parts, along x first; each at a place of its own.
    pub parts: Vec<Case>,
    /// What packs a face.
    pub pack: KernelSource,
    /// What unpacks it.
    pub unpack: KernelSource,
    /// What is exchanged after each pass.
    pub exchanges: Vec<Exchange>,
}

/// What is exchanged after a pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// First of the fields that a copy in bulk moves, and their number.
    pub bulk: [u64; 2],
    /// What travels.
    pub messages: Vec<Message>,
}

/// A face on its way from a part to its neighbour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Whose it is.
    pub from: usize,
    /// Who reads it.
    pub to: usize,
    /// Where the one has it.
    pub source: Face,
    /// Where the other needs it.
    pub target: Face,
    /// How it is packed.
    pub pack: Pass,
    /// How it is unpacked.
    pub unpack: Pass,
}

impl Message {
    /// Bytes that travel.
    pub fn bytes(&self) -> u64 {
        4 * self.source.len()
    }
}

/// The buffers through which halos travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ways {
    /// Packed faces on the device, as they leave.
    pub leaving: BufferId,
    /// Packed faces on the device, as they arrive.
    pub arriving: BufferId,
    /// Packed faces on the host.
    pub faces: BufferId,
    /// Whole fields on the host.
    pub bulk: BufferId,
}

impl Decomposition {
    /// The buffers through which halos travel.
    pub fn ways(&self) -> Ways {
        let buffer = |i| self.parts[0].buffer(i);
        Ways { leaving: buffer(1), arriving: buffer(2), faces: buffer(3), bulk: buffer(4) }
    }

    /// Bytes of each buffer of faces: those of the pass with the most of them.
    pub fn face_bytes(&self) -> Bytes {
        let end = |exchange: &Exchange| {
            let last = slots(exchange).last();
            last.map_or(0, |(offset, message)| offset + message.bytes())
        };
        Bytes(self.exchanges.iter().map(end).max().unwrap_or(0).max(GUARD.0))
    }

    /// Elements that a part has in the host's buffer of whole fields.
    pub fn bulk_elements(&self) -> u64 {
        let max_bulk = self.exchanges.iter().map(|exchange| exchange.bulk[1]).max();
        max_bulk.unwrap_or(0) * self.part.field()
    }

    /// Bytes that a step moves to the host, and back again: packed, and in bulk.
    pub fn bytes(&self) -> [u64; 2] {
        let parts = self.parts.len() as u64;
        let packed = self.exchanges.iter().flat_map(|e| &e.messages).map(Message::bytes).sum();
        let fields: u64 = self.exchanges.iter().map(|exchange| exchange.bulk[1]).sum();
        [packed, 4 * parts * fields * self.part.field()]
    }

    /// Copies that a step makes to the host, and back again: packed, and in bulk.
    pub fn copies(&self) -> [u64; 2] {
        let packed = self.exchanges.iter().map(|exchange| exchange.messages.len()).sum::<usize>();
        [packed as u64, (self.parts.len() * self.exchanges.len()) as u64]
    }

    /// Appends the launches of a pass on `parts`; `kernel` is that of the variant number `variant`.
    pub fn compute(
        &self,
        recording: &mut Recording,
        (variant, kernel): (usize, KernelId),
        pass: usize,
        parts: impl IntoIterator<Item = usize>,
    ) {
        for part in parts {
            let case = &self.parts[part];
            let passes = case.candidates.get(variant).map(Candidate::passes).unwrap_or_default();
            let Some(pass) = passes.get(pass) else { continue };
            let field = self.field(part, 0, u64::from(self.fields));
            recording.push(Queue(0), vec![], launch(kernel, pass, vec![field]));
        }
    }

    /// Appends what brings every face that `leaves` to the host.
    pub fn leave(&self, recording: &mut Recording, pass: usize, leaves: impl Fn(&Message) -> bool) {
        let ways = self.ways();
        let all = || slots(&self.exchanges[pass]).filter(|(_, message)| leaves(message));
        for (offset, message) in all() {
            let field = self.field(message.from, 0, u64::from(self.fields));
            let face = slot(ways.leaving, offset, message);
            recording.push(Queue(0), vec![], launch(PACK, &message.pack, vec![field, face]));
        }
        for (offset, message) in all() {
            let (from, to) =
                (slot(ways.leaving, offset, message), slot(ways.faces, offset, message));
            recording.push(Queue(0), vec![], Op::Download { from, to });
        }
    }

    /// Appends what brings every face that `arrives` from the host to where it is needed.
    pub fn arrive(
        &self,
        recording: &mut Recording,
        pass: usize,
        arrives: impl Fn(&Message) -> bool,
    ) {
        let ways = self.ways();
        let all = || slots(&self.exchanges[pass]).filter(|(_, message)| arrives(message));
        for (offset, message) in all() {
            let (from, to) =
                (slot(ways.faces, offset, message), slot(ways.arriving, offset, message));
            recording.push(Queue(0), vec![], Op::Upload { from, to });
        }
        for (offset, message) in all() {
            let face = slot(ways.arriving, offset, message);
            let field = self.field(message.to, 0, u64::from(self.fields));
            recording.push(Queue(0), vec![], launch(UNPACK, &message.unpack, vec![face, field]));
        }
    }

    /// Appends copies of all fields of a pass between every part and the host.
    pub fn bulk(&self, recording: &mut Recording, pass: usize, to_host: bool) {
        let [first, count] = self.exchanges[pass].bulk;
        for part in 0..self.parts.len() {
            let device = self.field(part, first, count);
            let offset = Bytes(4 * part as u64 * self.bulk_elements());
            let host = Slice { buffer: self.ways().bulk, offset, len: device.len };
            let op = match to_host {
                true => Op::Download { from: device, to: host },
                false => Op::Upload { from: host, to: device },
            };
            recording.push(Queue(0), vec![], op);
        }
    }

    /// Exchanges the faces in the host's buffer of whole fields.
    pub fn exchange(&self, pass: usize, bulk: &mut [f32]) {
        let Exchange { bulk: [first, _], messages } = &self.exchanges[pass];
        let each = self.bulk_elements() as usize;
        let skipped = (first * self.part.field()) as usize;
        for message in messages {
            let begin = |part: usize, run: usize| part * each + run - skipped;
            for (from, to) in message.source.runs().zip(message.target.runs()) {
                let from = begin(message.from, from);
                bulk.copy_within(from..from + message.source.run(), begin(message.to, to));
            }
        }
    }

    /// A part's array out of the whole domain's.
    pub fn carved(&self, part: usize, domain: &[f32]) -> Vec<f32> {
        let shape = self.part.cells.map(|cells| cells + 2);
        let (from, to) = self.shares(part, [0; 3], shape);
        let mut array = vec![0.0; to.len() as usize];
        let run = to.run();
        for (from, to) in from.runs().zip(to.runs()) {
            array[to..to + run].copy_from_slice(&domain[from..from + run]);
        }
        array
    }

    /// Puts a part's cells into the whole domain's array.
    pub fn put(&self, part: usize, array: &[f32], domain: &mut [f32]) {
        let (to, from) = self.shares(part, [1; 3], self.part.cells);
        let run = to.run();
        for (from, to) in from.runs().zip(to.runs()) {
            domain[to..to + run].copy_from_slice(&array[from..from + run]);
        }
    }

    /// The domain's array with nothing outside of it.
    pub fn closed(&self, domain: &[f32]) -> Vec<f32> {
        let mut closed = vec![0.0; domain.len()];
        let fields: Vec<u32> = (0..self.fields).collect();
        let inside = self.domain.part([1; 3], self.domain.cells, &fields);
        for run in inside.runs() {
            closed[run..run + inside.run()].copy_from_slice(&domain[run..run + inside.run()]);
        }
        closed
    }

    /// Where `counts` cells from `first` on of a part lie in the domain's array and in its own.
    fn shares(&self, part: usize, first: [u64; 3], counts: [u64; 3]) -> (Face, Face) {
        let fields: Vec<u32> = (0..self.fields).collect();
        let place = self.place(part);
        let begin = std::array::from_fn(|axis| place[axis] * self.part.cells[axis] + first[axis]);
        (self.domain.part(begin, counts, &fields), self.part.part(first, counts, &fields))
    }

    /// Which part along x, y and z it is.
    fn place(&self, part: usize) -> [u64; 3] {
        let ([px, py, _], part) = (self.cuts, part as u64);
        [part % px, part / px % py, part / px / py]
    }

    /// `count` fields of a part's array from `first` on.
    fn field(&self, part: usize, first: u64, count: u64) -> Slice {
        let bytes = 4 * self.part.field();
        let offset = Bytes(GUARD.0 + first * bytes);
        Slice { buffer: self.parts[part].buffer(0), offset, len: Bytes(count * bytes) }
    }
}

/// Every message of a pass and where in the buffers of faces it begins, aligned for any device.
pub fn slots(exchange: &Exchange) -> impl Iterator<Item = (u64, &Message)> {
    exchange.messages.iter().scan(0, |next, message| {
        let offset = *next;
        *next += message.bytes().next_multiple_of(GUARD.0);
        Some((offset, message))
    })
}

fn slot(buffer: BufferId, offset: u64, message: &Message) -> Slice {
    Slice { buffer, offset: Bytes(offset), len: Bytes(message.bytes()) }
}

fn launch(kernel: KernelId, pass: &Pass, buffers: Vec<Slice>) -> Op {
    Op::Dispatch { kernel, groups: pass.groups, buffers, params: pass.param_bytes() }
}
