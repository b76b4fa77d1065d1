//! Parts of a problem done by a group of devices, each row once, and who has done which.

use super::partition::partition;
use super::split_run::MAX_REPEATS;
use crate::autotune::{BuiltVariant, KERNEL};
use crate::check::Check;
use crate::plan::{
    Case, Chunking, bytes_of, host_mirror, multi_device_division, record_rows, rows_a_group,
};
use crate::split::data::Block;
use crate::timing::walls;
use crate::{Bench, DeviceGroup, Policy, Stage, memory};
use gpubench_core::error::Result;
use gpubench_core::gpu::{Access, Clock, HOST_RESOLUTION, Recording, Timeline};
use gpubench_model::load_balance::Balancer;
use gpubench_reference::Data;
use std::ops::Range;

/// Seconds that a block should take; blocks of less show their overhead, and by the time slices
/// of an operating system whose processors the devices' drivers share.
const BLOCK_SECONDS: f64 = 0.2;
/// The same on simulated devices, which nobody interrupts and every second of which costs the host many.
const SIMULATED_BLOCK: f64 = 0.05;

/// Numbers of chunks that a device tries for its part: few, whose ends are not hidden, and many, each of which costs.
const CHUNKS: [u64; 2] = [4, 16];

/// What the reference computes, and how close a result must come.
pub(super) type Wanted = (Vec<(usize, Data)>, gpubench_core::workload::Comparison);

/// Partitions rows over a group of devices.
pub(super) struct Partitioner<'a> {
    pub bench: Bench<'a, DeviceGroup>,
    cases: &'a [Case],
    variants: Vec<BuiltVariant<'a>>,
    /// Rows of the problem.
    pub rows: u64,
    /// Rows that one more work-group of each device computes.
    pub grain: Vec<u64>,
    /// Who has computed which rows in the last pass.
    pub owners: Vec<(Range<u64>, usize)>,
    /// How often each device alone computes the problem in one recording, for it to last as long as a
    /// block.
    pub repeats: Vec<u64>,
    /// Chunks in which each device does its part, so that one's copies run while another is computed.
    pub chunks: Vec<u64>,
    /// Seconds of work so far.
    pub busy: f64,
}

impl<'a> Partitioner<'a> {
    /// Over a group of devices, each with its variant of the problem.
    ///
    /// # Errors
    /// `Unsupported` where a case's rows cannot be partitioned.
    pub fn new(
        bench: Bench<'a, DeviceGroup>,
        cases: &'a [Case],
        variants: Vec<BuiltVariant<'a>>,
    ) -> Result<Self> {
        let rows = multi_device_division(&cases[0])?.rows;
        let grain = cases.iter().zip(&variants);
        let grain = grain
            .map(|(case, variant)| rows_a_group(variant.candidate, multi_device_division(case)?));
        let grain = grain.collect::<Result<_>>()?;
        let (repeats, chunks) = (vec![1; cases.len()], vec![1; cases.len()]);
        Ok(Self { bench, cases, variants, rows, grain, owners: vec![], repeats, chunks, busy: 0.0 })
    }

    /// How many devices there are.
    pub fn members(&self) -> usize {
        self.cases.len()
    }

    /// The clock of the devices' common runs.
    pub fn clock(&self) -> Clock {
        self.bench.session.clock()
    }

    /// Seconds that a block should take.
    fn block_seconds(&self) -> f64 {
        if self.clock() == Clock::Simulated { SIMULATED_BLOCK } else { BLOCK_SECONDS }
    }

    /// Partitions over devices that compute a given number of rows a second alone: a work-group of each, at least.
    pub fn balancer(&self, speeds: &[f64]) -> Balancer {
        let min_work = self.grain.iter().map(|&rows| rows as f64).collect();
        Balancer::new(speeds.to_vec(), self.block_seconds()).with_min_work(min_work)
    }

    /// What is said of a result that one device computed.
    pub fn when_on_one_device(&self, member: usize) -> String {
        format!("alone on {}", self.bench.session.names()[member])
    }

    /// One pass in equal parts.
    pub fn equally(&mut self) -> Result<()> {
        self.owners.clear();
        let parts = partition(&vec![1.0; self.members()], &self.grain, self.rows, true);
        self.block(0, parts, 1, &vec![true; self.members()]).map(drop)
    }

    /// Seconds of the whole problem on one device, sample by sample: of recordings that last about as
    /// long as a block.
    pub fn on_one_device(
        &mut self,
        member: usize,
        policy: &Policy,
        seconds: f64,
    ) -> Result<Vec<f64>> {
        self.bench.enter(Stage::Measure);
        let whole = 0..self.rows;
        let once = self.rest(member, &whole, 1, true)?;
        let repeats = (self.block_seconds() / once.max(1e-9)).clamp(1.0, MAX_REPEATS as f64) as u64;
        self.repeats[member] = repeats;
        let clock = self.clock();
        let (walls, _) = walls(policy, seconds, || {
            let wall = self.rest(member, &whole, repeats, true)?;
            let resolution = HOST_RESOLUTION;
            Ok(Timeline { steps: vec![], clock, resolution, wall, dropped: None })
        })?;
        self.busy += walls.iter().sum::<f64>();
        Ok(walls.iter().map(|wall| wall / repeats as f64).collect())
    }

    /// Every device computes a given number of the rows from `first` on. Those that are `pending_upload` are uploaded
    /// what every part reads, too.
    pub fn block(
        &mut self,
        first: u64,
        rows: Vec<u64>,
        repeats: u64,
        pending_upload: &[bool],
    ) -> Result<Block> {
        self.begin(first);
        let mut from = first;
        let mut recordings = vec![];
        for (member, &rows) in rows.iter().enumerate() {
            let range = from..from + rows;
            recordings.push(self.record_part(member, &range, repeats, pending_upload[member])?);
            from = range.end;
            self.owners.push((range, member));
        }
        let done = self.bench.session.run(&recordings)?;
        let seconds = done.iter().map(|part| part.ended).collect();
        Ok(Block { rows, repeats, seconds })
    }

    /// One device computes a range of rows while the others are idle; its seconds, from a common start
    /// as those of a block are.
    pub fn rest(
        &mut self,
        member: usize,
        range: &Range<u64>,
        repeats: u64,
        pending_upload: bool,
    ) -> Result<f64> {
        self.begin(range.start);
        let mut recordings = vec![Recording::default(); self.members()];
        recordings[member] = self.record_part(member, range, repeats, pending_upload)?;
        self.owners.push((range.clone(), member));
        Ok(self.bench.session.run(&recordings)?[member].ended)
    }

    /// With the first row begins a pass, in which nobody has computed any.
    fn begin(&mut self, first: u64) {
        if first == 0 {
            self.owners.clear();
        }
    }

    /// Numbers of chunks that a device may try for its part; none without three queues.
    pub fn possible_chunks(&self, member: usize) -> Vec<u64> {
        let groups = self.rows / self.grain[member];
        let has_queues = self.queues(member) >= 3;
        CHUNKS.into_iter().filter(|&chunks| has_queues && chunks <= groups).collect()
    }

    fn queues(&self, member: usize) -> u32 {
        self.bench.session.members[member].device.info().queues
    }

    /// A device's part of the problem, so many times; nothing for no rows.
    fn record_part(
        &self,
        member: usize,
        range: &Range<u64>,
        repeats: u64,
        pending_upload: bool,
    ) -> Result<Recording> {
        if range.is_empty() {
            return Ok(Recording::default());
        }
        let (case, candidate) = (&self.cases[member], self.variants[member].candidate);
        let (chunks, grain) = (self.chunks[member], self.grain[member]);
        let chunking = Chunking { chunks, grain, queues: self.queues(member) };
        record_rows(case, candidate, KERNEL, (range, repeats), chunking, pending_upload)
    }

    /// Poisons everything on the devices and all outputs on the host: what is not uploaded and
    /// computed anew is not right.
    pub fn poison(&mut self, initial: &[Data]) -> Result<()> {
        for (member, case) in self.bench.session.members.iter_mut().zip(self.cases) {
            memory::poison(member.device.as_mut(), case)?;
            for (i, buffer) in case.buffers.iter().enumerate() {
                if buffer.access == Access::Write {
                    member.device.write(host_mirror(case, i), initial[i].as_bytes())?;
                }
            }
        }
        Ok(())
    }

    /// Puts the result together from all who computed a part of it, and compares.
    pub fn right(&mut self, initial: &[Data], wanted: Option<&Wanted>, when: &str) -> Result<bool> {
        self.bench.enter(Stage::Verify);
        let case = &self.cases[0];
        let check = Check { case, initial, wanted };
        for member in 0..self.cases.len() {
            if !check.guards(&mut self.bench.member(member), when)? {
                return Ok(false);
            }
        }
        let division = multi_device_division(case)?;
        check.all(self.bench.measurement, when, |i| {
            let mut whole = vec![0xff; case.buffers[i].bytes().as_usize()];
            for (member, session) in self.bench.session.members.iter_mut().enumerate() {
                let found = session.device.read(host_mirror(case, i))?;
                for (range, _) in self.owners.iter().filter(|(_, owner)| *owner == member) {
                    let bytes = bytes_of(case, i, division, range);
                    whole[bytes.clone()].copy_from_slice(&found[bytes]);
                }
            }
            Ok(Data::from_bytes(case.buffers[i].element.scalar, &whole))
        })
    }
}
