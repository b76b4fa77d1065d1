//! One rank of several: its device, its slab, and how a step goes.

use crate::chunks::best_kind;
use crate::domain::{Decomposition, PACK, Spec, UNPACK, Wanted, divided, given, slots};
use crate::plan::{Case, GUARD, Limits};
use crate::ranks::{Neighbours, check};
use crate::registry::DOMAIN;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{KernelId, MemoryKind, Recording, Scalar};
use gpubench_core::hash::sha256_hex;
use gpubench_core::units::Bytes;
use gpubench_core::workload::{CaseKey, Fill, Verify};
use gpubench_device::{Device, Remote};
use gpubench_reference::{Data, Problem, fill, find};
use gpubench_stats::median_of;
use gpubench_suite::Suite;
use std::time::Instant;

const KERNEL: KernelId = KernelId(0);
/// Steps after which results are compared: what is wrong in a halo has by then travelled on.
const STEPS: usize = 3;
/// Samples of everything, and steps of each.
const SAMPLES: usize = 5;
const EACH: usize = 4;

/// One rank's slab.
pub(super) struct Rank<'a> {
    device: &'a Remote,
    neighbours: &'a dyn Neighbours,
    /// The domain in slabs; of what is exchanged, what this rank sends or receives.
    plan: Decomposition,
    /// This rank's slab before the first step, with its shell.
    slab: Vec<f32>,
    /// The domain before the first step, on rank 0, which compares.
    domain: Vec<f32>,
}

impl<'a> Rank<'a> {
    pub(super) fn new(
        device: &'a Remote,
        neighbours: &'a dyn Neighbours,
        suite: &Suite,
        cells: [u64; 3],
        seed: u64,
    ) -> Result<Self> {
        let me = neighbours.rank();
        let mut plan = planned(device, suite, cells, neighbours.size())?;
        for exchange in &mut plan.exchanges {
            exchange.messages.retain(|message| message.from == me || message.to == me);
        }
        let count = plan.domain.field() as usize * plan.fields as usize;
        // Every rank draws the same domain and keeps its part.
        let drawn = match fill(&Fill::Uniform([-1.0, 1.0]), Scalar::F32, count, seed) {
            Data::F32(numbers) => numbers,
            _ => vec![],
        };
        let mut domain = plan.closed(&drawn);
        let slab = plan.carved(me, &domain);
        if me > 0 {
            domain = vec![];
        }
        let rank = Self { device, neighbours, plan, slab, domain };
        rank.set_up()?;
        Ok(rank)
    }

    fn set_up(&self) -> Result<()> {
        let case = self.case();
        let none = || Error::Unsupported("the kernel has no variant for this device".into());
        let kernel = case.candidates.first().ok_or_else(none)?.kernel.clone();
        let (pack, unpack) = (self.plan.pack.clone(), self.plan.unpack.clone());
        let (ways, faces) = (self.plan.ways(), self.plan.face_bytes());
        let (field, bytes) = (case.buffer(0), Bytes(case.buffers[0].bytes().0 + 2 * GUARD.0));
        let kind = best_kind(&self.device.info().host_memory);
        self.device.call(move |device| {
            device.reset();
            device.build(KERNEL, &kernel)?;
            device.build(PACK, &pack)?;
            device.build(UNPACK, &unpack)?;
            device.alloc(field, bytes, MemoryKind::Device)?;
            device.alloc(ways.leaving, faces, MemoryKind::Device)?;
            device.alloc(ways.arriving, faces, MemoryKind::Device)?;
            device.alloc(ways.faces, faces, kind)
        })
    }

    fn me(&self) -> usize {
        self.neighbours.rank()
    }

    fn case(&self) -> &Case {
        &self.plan.parts[self.me()]
    }

    /// Bytes that this rank sends in a step.
    pub(super) fn bytes(&self) -> u64 {
        let all = self.plan.exchanges.iter().flat_map(|exchange| &exchange.messages);
        let mine = all.filter(|message| message.from == self.me()).map(|message| message.bytes());
        self.neighbours.largest(mine.sum::<u64>() as f64) as u64
    }

    /// The slab as it is before the first step, within poisoned guards, and what halos travel through
    /// poisoned.
    pub(super) fn restore(&self) -> Result<()> {
        let guard = vec![0xff; GUARD.as_usize()];
        let bytes = [&guard, bytemuck::cast_slice(&self.slab), &guard[..]].concat();
        let (field, ways) = (self.case().buffer(0), self.plan.ways());
        let poison = vec![0xff; self.plan.face_bytes().as_usize()];
        self.device.call(move |device| {
            for buffer in [ways.leaving, ways.arriving, ways.faces] {
                device.write(buffer, &poison)?;
            }
            device.write(field, &bytes)
        })
    }

    /// Seconds of a step by `step`, the slowest rank's, the middle of several.
    pub(super) fn timed(&self, step: impl Fn(&Self) -> Result<()>) -> Result<f64> {
        step(self)?;
        let mut samples = vec![];
        for _ in 0..SAMPLES {
            self.neighbours.barrier();
            let begun = Instant::now();
            for _ in 0..EACH {
                step(self)?;
            }
            samples.push(self.neighbours.largest(begun.elapsed().as_secs_f64() / EACH as f64));
        }
        Ok(median_of(samples).unwrap_or(f64::NAN))
    }

    /// A step's kernels, nothing exchanged.
    pub(super) fn compute_alone(&self) -> Result<()> {
        for pass in 0..self.plan.exchanges.len() {
            let recording = self.computed(pass);
            self.device.call(move |device| device.run(&recording).map(drop))?;
        }
        Ok(())
    }

    fn computed(&self, pass: usize) -> Recording {
        let mut recording = Recording::default();
        self.plan.compute(&mut recording, (0, KERNEL), pass, [self.me()]);
        recording
    }

    pub(super) fn step(&self) -> Result<()> {
        let (me, buffer) = (self.me(), self.plan.ways().faces);
        for pass in 0..self.plan.exchanges.len() {
            let mut there = self.computed(pass);
            self.plan.leave(&mut there, pass, |message| message.from == me);
            let mut faces = self.device.call(move |device| {
                device.run(&there)?;
                device.read(buffer)
            })?;
            for with in self.partners() {
                self.swap(pass, with, &mut faces);
            }
            let mut back = Recording::default();
            self.plan.arrive(&mut back, pass, |message| message.to == me);
            if back.steps.is_empty() {
                continue;
            }
            self.device.call(move |device| {
                device.write(buffer, &faces)?;
                device.run(&back).map(drop)
            })?;
        }
        Ok(())
    }

    /// The ranks behind and ahead: even ranks turn ahead first and odd ones behind, so that two meet.
    fn partners(&self) -> impl Iterator<Item = usize> + use<> {
        let (me, ranks) = (self.me(), self.neighbours.size());
        let (ahead, behind) = (Some(me + 1).filter(|rank| *rank < ranks), me.checked_sub(1));
        let pair = if me.is_multiple_of(2) { [ahead, behind] } else { [behind, ahead] };
        pair.into_iter().flatten()
    }

    /// Exchanges what two ranks have for each other, all in one message each way.
    fn swap(&self, pass: usize, with: usize, faces: &mut [u8]) {
        let between = |from: usize, to: usize| {
            let all = slots(&self.plan.exchanges[pass]);
            let all = all.filter(move |(_, message)| message.from == from && message.to == to);
            all.map(|(offset, message)| offset as usize..(offset + message.bytes()) as usize)
        };
        let mine: Vec<u8> =
            between(self.me(), with).flat_map(|range| faces[range].iter().copied()).collect();
        let mut theirs = vec![0; between(with, self.me()).map(|range| range.len()).sum()];
        self.neighbours.swap(with, &mine, &mut theirs);
        let mut rest = theirs.as_slice();
        for range in between(with, self.me()) {
            let (head, tail) = rest.split_at(range.len());
            faces[range].copy_from_slice(head);
            rest = tail;
        }
    }

    /// Some steps, and whether all slabs together are what the reference makes of the domain, with
    /// nothing written beside them; SHA-256 of the fields, on rank 0.
    pub(super) fn compared(&self) -> Result<Option<String>> {
        for _ in 0..STEPS {
            self.step()?;
        }
        let field = self.case().buffer(0);
        let bytes = self.device.call(move |device| device.read(field))?;
        let inside = GUARD.as_usize()..bytes.len().saturating_sub(GUARD.as_usize());
        let inside = inside.start.min(inside.end)..inside.end;
        let guards = bytes[..inside.start].iter().chain(&bytes[inside.end..]);
        let broken = f64::from(u8::from(guards.into_iter().any(|byte| *byte != 0xff)));
        // Every rank ends here then, and none waits for another.
        if self.neighbours.largest(broken) > 0.0 {
            let why = "a kernel wrote beyond the bounds of a rank's slab";
            return Err(Error::Mismatch(why.into()));
        }
        let slab = &bytes[inside];
        let Some(all) = self.neighbours.gather(slab) else { return Ok(None) };
        let mut found = vec![0.0; self.domain.len()];
        for (part, slab) in all.chunks(slab.len().max(1)).enumerate() {
            self.plan.put(part, &bytemuck::pod_collect_to_vec(slab), &mut found);
        }
        self.check(&found)?;
        Ok(Some(sha256_hex(bytemuck::cast_slice::<f32, u8>(&found))))
    }

    fn check(&self, found: &[f32]) -> Result<()> {
        let missing = || Error::Usage("the kernel has no reference".into());
        let Verify::Reference(name, allowed) = &self.case().verify else { return Err(missing()) };
        let reference = find(name).ok_or_else(missing)?;
        let passes = self.case().candidates[0].passes();
        let mut field = Data::F32(self.domain.clone());
        for pass in passes.iter().cycle().take(STEPS * passes.len()) {
            let own = pass.params.iter().map(|(name, value, _)| (name.clone(), *value));
            let [nx, ny, nz] = self.plan.domain.cells;
            let whole = [("nx", nx), ("ny", ny), ("nz", nz), ("x", 0), ("y", 0), ("z", 0)];
            let whole = whole.map(|(name, value)| (name.to_owned(), value as f64));
            let problem = Problem::new(
                own.chain(whole).collect(),
                vec![(self.case().buffers[0].name.clone(), field)],
            );
            field = reference(&problem)?.swap_remove(0).1;
        }
        let found = Data::F32(found.to_vec());
        let who = format!("{} ranks", self.neighbours.size());
        check(&who, "field", [&field, &found], *allowed)
    }
}

/// The shipped domain in slabs, at this size.
fn planned(device: &Remote, suite: &Suite, cells: [u64; 3], ranks: usize) -> Result<Decomposition> {
    let none = || Error::Usage("the suite has no domain in parts".into());
    let workload = suite
        .workloads
        .iter()
        .find(|workload| workload.options::<Spec>().is_some())
        .ok_or_else(none)?;
    let spec = workload.options::<Spec>().ok_or_else(none)?;
    let [width, height, depth] = cells;
    let sides = [("width", width), ("height", height), ("depth", depth)];
    let workload = given(workload, &sides).map_err(Error::Usage)?;
    let limits = Limits { memory: None, seconds: 3600.0, seed: 0, cores: 1, host_memory: None };
    let size = workload.sizes.first().cloned().unwrap_or_default();
    let key = CaseKey { workload: workload.name.clone(), size, measure: DOMAIN, host_memory: None };
    let wanted =
        Wanted { spec, suite, workload: &workload, device: device.info(), limits: &limits };
    divided(&wanted, &key, cells, [1, 1, ranks as u64])
        .map_err(|why| Error::Unsupported(why.to_string()))
}
