//! One rank of a ring: its device, its columns, and how it goes through a product.

use super::{SAMPLES, Variant, columns};
use crate::chunks::best_kind;
use crate::plan::{Candidate, Case, Limits, Planned};
use crate::planner::plan;
use crate::ranks::{Neighbours, check};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{
    BufferId, DeviceInfo, KernelId, MemoryKind, Op, Queue, Recording, Scalar, Slice,
};
use gpubench_core::units::Bytes;
use gpubench_core::workload::{Fill, Verify};
use gpubench_device::{Device, Remote};
use gpubench_reference::{Data, Problem, fill, find};
use gpubench_stats::median_of;
use gpubench_suite::Suite;
use std::time::Instant;

/// The strip of A that is multiplied and the one that arrives meanwhile; the columns of B; a
/// strip's part of C; and the host's sides of A and C.
const A: [BufferId; 2] = [BufferId(0), BufferId(3)];
const B: BufferId = BufferId(1);
const C: BufferId = BufferId(2);
const HOST_A: BufferId = BufferId(4);
const HOST_C: BufferId = BufferId(5);
const KERNEL: KernelId = KernelId(0);
/// A byte of what no kernel has written: numbers of such bytes are none, in either precision.
const UNWRITTEN: u8 = 0xff;

/// One rank's part of the product.
pub(super) struct Rank<'a> {
    device: &'a Remote,
    neighbours: &'a dyn Neighbours,
    case: Case,
    /// Rows and columns of the matrices, and columns of a rank.
    n: usize,
    columns: usize,
    /// The type of the numbers.
    scalar: Scalar,
    /// The strip of A that begins here.
    pub(super) first: Vec<u8>,
    /// What the product's columns of this rank must be.
    wanted: Data,
    /// What they are.
    pub(super) result: Vec<u8>,
}

impl<'a> Rank<'a> {
    pub(super) fn new(
        device: &'a Remote,
        neighbours: &'a dyn Neighbours,
        suite: Suite,
        n: usize,
        seed: u64,
    ) -> Result<Self> {
        let columns = columns(n, neighbours.size())?;
        let case = strip(suite, device.info(), n, columns, seed)?;
        let scalar = case.buffers[0].element.scalar;
        let matrix = |seed: u64| fill(&Fill::Uniform([-1.0, 1.0]), scalar, n * n, seed);
        // Every rank draws the same matrices and keeps its part.
        let (a, b) = (matrix(seed), matrix(seed ^ 0x5eed));
        let (rank, strip, row) = (neighbours.rank(), columns * scalar.size(), n * scalar.size());
        let mine = |row: &[u8]| row[rank * strip..(rank + 1) * strip].to_vec();
        let b: Vec<u8> = b.as_bytes().chunks(row).flat_map(mine).collect();
        let first = a.as_bytes()[rank * columns * row..(rank + 1) * columns * row].to_vec();
        let wanted = reference(a, Data::from_bytes(scalar, &b), n, columns)?;
        let result = vec![UNWRITTEN; n * strip];
        let rank = Self { device, neighbours, case, n, columns, scalar, first, wanted, result };
        rank.set_up(b)?;
        Ok(rank)
    }

    fn set_up(&self, b: Vec<u8>) -> Result<()> {
        let kernel = self.candidate()?.kernel.clone();
        let [strip, own, part] = [0, 1, 2].map(|i| self.case.buffers[i].bytes());
        let kind = best_kind(&self.device.info().host_memory);
        self.device.call(move |device| {
            device.build(KERNEL, &kernel)?;
            for (id, len, kind) in [
                (A[0], strip, MemoryKind::Device),
                (A[1], strip, MemoryKind::Device),
                (B, own, MemoryKind::Device),
                (C, part, MemoryKind::Device),
                (HOST_A, strip, kind),
                (HOST_C, part, kind),
            ] {
                device.alloc(id, len, kind)?;
                device.write(id, &vec![UNWRITTEN; len.as_usize()])?;
            }
            device.write(B, &b)
        })?;
        // The first launch pays for what the driver puts off.
        self.put(&self.first, 0)?;
        self.compute(0)
    }

    fn candidate(&self) -> Result<&Candidate> {
        let none = || Error::Unsupported("the ring's kernel has no variant for this device".into());
        self.case.candidates.first().ok_or_else(none)
    }

    /// Seconds of something, the slowest rank's, the middle of several.
    pub(super) fn alone(&self, what: impl Fn(&Self) -> Result<()>) -> Result<f64> {
        let once = |_| {
            self.neighbours.barrier();
            let begun = Instant::now();
            what(self)?;
            Ok(self.neighbours.largest(begun.elapsed().as_secs_f64()))
        };
        let walls = (0..SAMPLES).map(once).collect::<Result<Vec<f64>>>()?;
        Ok(median_of(walls).unwrap_or(f64::NAN))
    }

    /// Seconds of the whole product; every time it must be right.
    pub(super) fn timed(&mut self, variant: Variant) -> Result<f64> {
        let mut walls = vec![];
        for _ in 0..SAMPLES {
            self.result.fill(UNWRITTEN);
            self.neighbours.barrier();
            let begun = Instant::now();
            match variant {
                Variant::Blocking => self.blocking()?,
                Variant::NonBlocking => self.non_blocking()?,
                Variant::Threaded => self.threaded()?,
                Variant::ThreadedTransfer => self.threaded_transfer()?,
            }
            walls.push(self.neighbours.largest(begun.elapsed().as_secs_f64()));
            self.check(variant)?;
        }
        Ok(median_of(walls).unwrap_or(f64::NAN))
    }

    fn blocking(&mut self) -> Result<()> {
        let mut strip = self.first.clone();
        for step in 0..self.neighbours.size() {
            self.put(&strip, 0)?;
            self.compute(0)?;
            let part = self.take()?;
            self.store_part(step, &part);
            if step + 1 < self.neighbours.size() {
                strip = self.exchange(&strip);
            }
        }
        Ok(())
    }

    fn non_blocking(&mut self) -> Result<()> {
        let mut strip = self.first.clone();
        for step in 0..self.neighbours.size() {
            self.put(&strip, 0)?;
            let (mut arrived, mut computed) = (vec![0; strip.len()], Ok(()));
            let mut compute = || computed = self.compute(0);
            match step + 1 < self.neighbours.size() {
                true => self.neighbours.exchange_during(&strip, &mut arrived, &mut compute),
                false => compute(),
            }
            computed?;
            strip = arrived;
            let part = self.take()?;
            self.store_part(step, &part);
        }
        Ok(())
    }

    fn threaded(&mut self) -> Result<()> {
        let mut strip = self.first.clone();
        for step in 0..self.neighbours.size() {
            self.put(&strip, 0)?;
            let launch = self.launch(0)?;
            let computed = self.device.begin(move |device| device.run(&launch).map(drop));
            if step + 1 < self.neighbours.size() {
                strip = self.exchange(&strip);
            }
            self.device.end(&computed)?;
            let part = self.take()?;
            self.store_part(step, &part);
        }
        Ok(())
    }

    fn threaded_transfer(&mut self) -> Result<()> {
        let ranks = self.neighbours.size();
        self.put(&self.first, 0)?;
        let mut next = if ranks > 1 { self.exchange(&self.first) } else { vec![] };
        for step in 0..ranks {
            let mut work = self.launch(step % 2)?;
            let arriving = (step + 1 < ranks).then(|| next.clone());
            if arriving.is_some() {
                let queue = Queue(if self.device.info().queues > 1 { 1 } else { 0 });
                work.push(queue, vec![], self.upload((step + 1) % 2));
            }
            let download = self.download();
            let computed = self.device.begin(move |device| {
                if let Some(strip) = arriving {
                    device.write(HOST_A, &strip)?;
                }
                device.run(&work)?;
                device.run(&download)?;
                device.read(HOST_C)
            });
            if step + 2 < ranks {
                next = self.exchange(&next);
            }
            let part = self.device.end(&computed)?;
            self.store_part(step, &part);
        }
        Ok(())
    }

    /// Brings a strip of A to the device.
    pub(super) fn put(&self, strip: &[u8], place: usize) -> Result<()> {
        let bytes = strip.to_vec();
        let recording = Recording::one_queue([self.upload(place)]);
        self.device.call(move |device| {
            device.write(HOST_A, &bytes)?;
            device.run(&recording).map(drop)
        })
    }

    pub(super) fn compute(&self, place: usize) -> Result<()> {
        let launch = self.launch(place)?;
        self.device.call(move |device| device.run(&launch).map(drop))
    }

    /// Brings the strip's part of C back.
    pub(super) fn take(&self) -> Result<Vec<u8>> {
        let download = self.download();
        self.device.call(move |device| {
            device.run(&download)?;
            device.read(HOST_C)
        })
    }

    pub(super) fn exchange(&self, strip: &[u8]) -> Vec<u8> {
        let mut arrived = vec![0; strip.len()];
        self.neighbours.exchange(strip, &mut arrived);
        arrived
    }

    fn launch(&self, place: usize) -> Result<Recording> {
        let candidate = self.candidate()?;
        let buffers = [A[place], B, C].into_iter().zip(&self.case.buffers);
        let whole = |(buffer, plan): (BufferId, &crate::plan::BufferPlan)| Slice {
            buffer,
            offset: Bytes(0),
            len: plan.bytes(),
        };
        let op = Op::Dispatch {
            kernel: KERNEL,
            groups: candidate.groups,
            buffers: buffers.map(whole).collect(),
            params: candidate.param_bytes(),
        };
        Ok(Recording::one_queue([op]))
    }

    fn upload(&self, place: usize) -> Op {
        let len = self.case.buffers[0].bytes();
        let part = |buffer| Slice { buffer, offset: Bytes(0), len };
        Op::Upload { from: part(HOST_A), to: part(A[place]) }
    }

    fn download(&self) -> Recording {
        let len = self.case.buffers[2].bytes();
        let part = |buffer| Slice { buffer, offset: Bytes(0), len };
        Recording::one_queue([Op::Download { from: part(C), to: part(HOST_C) }])
    }

    /// Notes the part of C that step number `step` computed: that of the strip which began so
    /// many ranks behind this one.
    fn store_part(&mut self, step: usize, part: &[u8]) {
        let ranks = self.neighbours.size();
        let strip = (self.neighbours.rank() + step) % ranks;
        let from = strip * self.columns * self.columns * self.scalar.size();
        self.result[from..from + part.len()].copy_from_slice(part);
    }

    fn check(&self, variant: Variant) -> Result<()> {
        let Verify::Reference(_, allowed) = &self.case.verify else {
            return Err(Error::Usage("the ring's kernel has no reference".into()));
        };
        let found = Data::from_bytes(self.scalar, &self.result);
        let who = format!("rank {}, {variant:?}", self.neighbours.rank());
        check(&who, "c", [&self.wanted, &found], *allowed)
    }

    /// The whole product from the ranks' columns, which lie one after the other.
    pub(super) fn in_rows(&self, strips: &[u8]) -> Vec<u8> {
        let len = self.columns * self.scalar.size();
        let row = |row: usize| {
            let parts = strips.chunks(self.n * len);
            parts.flat_map(move |strip| strip[row * len..(row + 1) * len].iter().copied())
        };
        (0..self.n).flat_map(row).collect()
    }
}

/// One strip's product on this device.
fn strip(
    mut suite: Suite,
    device: &DeviceInfo,
    n: usize,
    columns: usize,
    seed: u64,
) -> Result<Case> {
    let (n, columns) = (n as i64, columns as i64);
    let size = [("m", columns), ("k", n), ("n", columns)];
    for workload in &mut suite.workloads {
        workload.sizes = vec![size.map(|(name, value)| (name.to_owned(), value)).to_vec()];
    }
    let limits = Limits { memory: None, seconds: 3600.0, seed, cores: 1, host_memory: None };
    match plan(&suite, device, &limits).into_iter().next() {
        Some(Planned::Case(case)) if case.buffers.len() == 3 => Ok(*case),
        Some(Planned::Skipped(skip)) => Err(Error::Unsupported(skip.reason.to_string())),
        _ => Err(Error::Usage("the ring's suite needs one kernel with a, b and c".into())),
    }
}

fn reference(a: Data, b: Data, n: usize, columns: usize) -> Result<Data> {
    let missing = || Error::Usage("there is no reference `matmul`".into());
    let size = |name: &str, value: usize| (name.to_owned(), value as f64);
    let sizes = vec![size("m", n), size("k", n), size("n", columns)];
    let inputs = vec![("a".to_owned(), a), ("b".to_owned(), b)];
    let computed = find("matmul").ok_or_else(missing)?(&Problem::new(sizes, inputs))?;
    computed.into_iter().next().map(|(_, data)| data).ok_or_else(missing)
}
