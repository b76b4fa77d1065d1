//! A simulated GPU behind the same seam as real ones.

use super::cost_model::{CostModel, Launched};
use super::counted::CountedLaunches;
use super::description::Rates;
use super::effects::{Computed, Effects, meaning, numbers};
use super::events::{Job, Work, simulate};
use super::link::{Direction, Transfer};
use super::memory::Memory;
use super::mix::Mix;
use super::noise::Scatter;
use super::units::Units;
use super::{Description, Grid, Needs, Pricing};
use crate::validation::{self, MappedParts, no_buffer, no_kernel};
use crate::{Device, wgpu};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{
    BufferId, BuildReport, Clock, DeviceInfo, DeviceKind, KernelId, KernelSource, Language,
    MemoryKind, Op, Recording, Slice, Step, StepTimes, Timeline, ZeroCopy,
};
use gpubench_core::hash::sha256_hex;
use gpubench_core::units::Bytes;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::collections::BTreeMap;

/// Group size of a copy within the device's memory, which runs on the compute units.
const COPY_GROUP: u64 = 256;
/// Bytes that each of its work-items moves.
const COPY_EACH: u64 = 16;

/// An open simulated GPU.
pub struct SimDevice {
    pub(super) gpu: Description,
    info: DeviceInfo,
    seed: u64,
    runs: u64,
    kernels: BTreeMap<KernelId, Kernel>,
    memory: Memory,
    mapped: MappedParts,
    computed: Computed,
    cost_model: Option<CostModel>,
    counted: CountedLaunches,
}

/// A kernel that passed all checks, and the local memory of one of its groups.
pub(super) struct Kernel {
    pub source: KernelSource,
    local: Bytes,
}

impl SimDevice {
    /// The GPU that `gpu` describes, at position `index` of its backend; `seed` is added to the
    /// description's, so that several processes scatter differently.
    pub fn new(gpu: Description, index: usize, seed: u64) -> Self {
        let info = info(&gpu, index);
        Self {
            gpu,
            info,
            seed,
            runs: 0,
            kernels: BTreeMap::new(),
            memory: Memory::default(),
            mapped: MappedParts::default(),
            computed: Computed::default(),
            cost_model: None,
            counted: CountedLaunches::default(),
        }
    }

    /// The same, whose kernels take what `cost_model` says.
    #[must_use]
    pub fn with_cost_model(self, cost_model: CostModel) -> Self {
        Self { cost_model: Some(cost_model), ..self }
    }

    /// A recording's steps, priced.
    ///
    /// # Errors
    /// `Unsupported` for more queues than it has, and whatever a step is refused for.
    pub(super) fn prepare(&mut self, recording: &Recording) -> Result<Vec<Job>> {
        if recording.queues() > self.gpu.queues {
            return Err(Error::Unsupported(format!(
                "{} queues: {} has {}",
                recording.queues(),
                self.gpu.name,
                self.gpu.queues
            )));
        }
        let mut scatter = Scatter::new(&self.gpu, self.seed, self.runs);
        self.runs += 1;
        let steps = recording.steps.iter().enumerate();
        steps.map(|(i, step)| self.job(i, step, &mut scatter)).collect()
    }

    /// Does what a recording does whose steps ran at `times`.
    ///
    /// # Errors
    /// What the reference of a kernel says.
    pub(super) fn conclude(
        &mut self,
        recording: &Recording,
        times: &[StepTimes],
    ) -> Result<Timeline> {
        let (memory, kernels, computed) = (&mut self.memory, &self.kernels, &mut self.computed);
        Effects { memory, kernels, computed }.apply(recording, times)?;
        let steps = self.read_clock(times);
        let wall = steps.iter().map(|step| step.ended).fold(0.0, f64::max);
        let resolution = self.gpu.resolution;
        Ok(Timeline { steps, clock: Clock::Simulated, resolution, wall, dropped: None })
    }

    fn job(&mut self, i: usize, step: &Step, scatter: &mut Scatter) -> Result<Job> {
        validation::order(i, step)?;
        self.mapped.step(&step.op, |id| self.memory.kind(id))?;
        let after = step.after.iter().map(|id| id.0 as usize).collect();
        let work = self.work(&step.op)?;
        let (noise, launch_noise) = (scatter.factor(), scatter.factor());
        Ok(Job { queue: step.queue.0, after, work, noise, launch_noise })
    }

    fn work(&mut self, op: &Op) -> Result<Work> {
        match op {
            Op::Dispatch { kernel, groups, buffers, params } => {
                self.grid(*kernel, *groups, buffers, params).map(Work::Kernel)
            }
            Op::Upload { from, to } => self.transfer(Direction::Upload, *from, *to),
            Op::Download { from, to } => self.transfer(Direction::Download, *to, *from),
            Op::Copy { from, to } => {
                self.check_pair(*from, *to)?;
                let groups = from.len.0.div_ceil(COPY_GROUP * COPY_EACH);
                let bytes = (2 * COPY_GROUP * COPY_EACH) as f64;
                let needs = Needs::new(&self.gpu, COPY_GROUP, 0, 0);
                Ok(Work::Kernel(Grid::priced(&self.gpu, groups, needs, 0.0, bytes)))
            }
            Op::Map { part, .. } => self.mapping(*part, 1.0),
            Op::Unmap { part } => self.mapping(*part, 0.0),
        }
    }

    /// A map takes the link's latency and an unmap none: no byte moves.
    fn mapping(&self, part: Slice, latencies: f64) -> Result<Work> {
        self.memory.part(part)?;
        let kind = self.memory.kind(part.buffer)?;
        let rates = self.gpu.rates(kind).ok_or_else(|| no_buffer(part.buffer, "zero-copy "))?;
        let rates = Rates { latency: latencies * rates.latency, ..*rates };
        Ok(Work::Transfer(Transfer { direction: Direction::Upload, bytes: 0.0, rates }))
    }

    fn grid(
        &mut self,
        id: KernelId,
        groups: [u32; 3],
        buffers: &[Slice],
        params: &[u8],
    ) -> Result<Grid> {
        let kernel = self.kernels.get(&id).ok_or_else(|| no_kernel(id))?;
        let source = &kernel.source;
        let takes = (source.bindings.len(), params.len());
        validation::launch(groups, (buffers.len(), params.len()), takes, &self.info)?;
        for slice in buffers {
            self.memory.part(*slice)?;
        }
        let meaning = meaning(source)?;
        let slowdown = self.slowdown(buffers)?;
        let own_price = |what: &str| match slowdown > 1.0 {
            true => Err(Error::Unsupported(format!("{what} knows no zero-copy memory"))),
            false => Ok(()),
        };
        let launched = Launched { kernel: source, groups, params };
        if let Some(seconds) = self.cost_model.as_ref().and_then(|cost_model| cost_model(&launched))
        {
            own_price("the cost model")?;
            let needs = self.needs(kernel);
            return Ok(Grid { groups: 1, needs, seconds, flops: 0.0, bytes: 0.0 });
        }
        let share = 1.0 / meaning.groups.max(1) as f64;
        let groups = groups.iter().map(|&n| u64::from(n)).product();
        let needs = self.needs(kernel);
        let numbers = numbers(source, meaning, params);
        if let Some(mix) = Mix::of(&meaning.reference, &numbers) {
            own_price("the price of this kernel")?;
            return Ok(mix.priced(&self.gpu, groups, needs));
        }
        let contents = || buffers.iter().map(|slice| self.memory.part(*slice)).collect();
        if self.gpu.kernels == Pricing::Counted
            && let Some(counts) = self.counted.of(&self.gpu, id, &launched, contents)?
        {
            let grid = Grid::counted(&self.gpu, groups, needs, counts);
            return Ok(Grid { bytes: slowdown * grid.bytes, ..grid });
        }
        // An operation in double precision takes the time of several others.
        let more = self.gpu.double_cost().map_or(0.0, |cost| (cost - 1.0) * meaning.double);
        let (flops, bytes) = ((meaning.flops + more) * share, meaning.bytes * share);
        let grid = Grid::priced(&self.gpu, groups, needs, flops, bytes);
        Ok(Grid { bytes: slowdown * grid.bytes, ..grid })
    }

    /// How many times longer the bytes of a kernel take with these buffers.
    fn slowdown(&self, buffers: &[Slice]) -> Result<f64> {
        for slice in buffers {
            if self.memory.kind(slice.buffer)?.is_zero_copy() {
                return Ok(self.gpu.zero_copy_slowdown());
            }
        }
        Ok(1.0)
    }

    fn needs(&self, kernel: &Kernel) -> Needs {
        let registers = kernel.source.settings.registers.unwrap_or(0).into();
        Needs::new(&self.gpu, kernel.source.group_size(), registers, kernel.local.0)
    }

    /// Examines the text as wgpu's devices do, which reports its mistakes and its local memory.
    fn examine(&self, source: &KernelSource) -> Result<Kernel> {
        let mut capabilities = Capabilities::default();
        let subgroups = self.gpu.features.iter().any(|feature| feature == "subgroups");
        capabilities.set(Capabilities::SUBGROUP | Capabilities::SUBGROUP_BARRIER, subgroups);
        capabilities.set(Capabilities::FLOAT64, self.gpu.double_cost().is_some());
        let validator = Validator::new(ValidationFlags::all(), capabilities);
        let local = wgpu::examine(source, &self.info, validator)?.local;
        Ok(Kernel { source: source.clone(), local })
    }

    fn transfer(&self, direction: Direction, host: Slice, device: Slice) -> Result<Work> {
        self.check_pair(host, device)?;
        if !self.memory.kind(device.buffer)?.is_for_kernels() {
            return Err(no_buffer(device.buffer, "device "));
        }
        let kind = self.memory.kind(host.buffer)?;
        let rates = self.gpu.rates(kind).filter(|_| !kind.is_for_kernels()).copied();
        let rates = rates.ok_or_else(|| no_buffer(host.buffer, "host "))?;
        Ok(Work::Transfer(Transfer { direction, bytes: host.len.0 as f64, rates }))
    }

    fn check_pair(&self, from: Slice, to: Slice) -> Result<()> {
        validation::copy(&from, &to)?;
        self.memory.part(from)?;
        self.memory.part(to)?;
        Ok(())
    }

    /// Times as a clock of the described resolution reads them.
    fn read_clock(&self, times: &[StepTimes]) -> Vec<StepTimes> {
        let tick = |t: f64| (t / self.gpu.resolution).round() * self.gpu.resolution;
        times.iter().map(|times| times.map(tick)).collect()
    }
}

impl Device for SimDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn build(&mut self, id: KernelId, source: &KernelSource) -> Result<BuildReport> {
        self.kernels.remove(&id);
        self.counted.forget(id);
        meaning(source)?;
        let kernel = self.examine(source)?;
        if Units::active(&self.gpu, self.needs(&kernel)) == 0 {
            return Err(Error::Unsupported(format!(
                "a group of {} work-items with {} of local memory does not fit a unit",
                source.group_size(),
                kernel.local
            )));
        }
        let local_bytes = Some(kernel.local.0);
        self.kernels.insert(id, kernel);
        self.computed.clear();
        Ok(BuildReport { local_bytes, subgroup: Some(self.gpu.warp), ..BuildReport::default() })
    }

    fn alloc(&mut self, id: BufferId, bytes: Bytes, kind: MemoryKind) -> Result<()> {
        self.mapped.forget(id);
        self.memory.alloc(&self.gpu, id, bytes, kind)
    }

    fn write(&mut self, id: BufferId, data: &[u8]) -> Result<()> {
        self.mapped.unused(id)?;
        self.memory.store(id, Bytes(0), data)
    }

    fn read(&mut self, id: BufferId) -> Result<Vec<u8>> {
        self.mapped.unused(id)?;
        self.memory.whole(id).map(<[u8]>::to_vec)
    }

    fn run(&mut self, recording: &Recording) -> Result<Timeline> {
        let jobs = self.prepare(recording)?;
        let times = simulate(&self.gpu, &jobs);
        self.conclude(recording, &times)
    }

    fn reset(&mut self) {
        self.kernels.retain(|id, _| id.is_lasting());
        self.memory.clear();
        self.mapped = MappedParts::default();
        self.computed.clear();
        self.counted = CountedLaunches::default();
    }
}

/// What the described GPU says of itself.
pub(super) fn info(gpu: &Description, index: usize) -> DeviceInfo {
    DeviceInfo {
        backend: "sim".to_owned(),
        index,
        name: gpu.name.clone(),
        vendor: gpu.vendor.clone(),
        kind: DeviceKind::Simulated,
        driver: format!("simulation of {}", fingerprint(gpu)),
        api: "gpubench".to_owned(),
        language: Language::Wgsl,
        memory: Some(Bytes(gpu.memory.size)),
        max_buffer: Bytes(gpu.memory.largest_buffer),
        max_binding: Bytes(gpu.bindings.map_or(gpu.memory.largest_buffer, |b| b.bytes)),
        max_storage_buffers: gpu.bindings.map_or(16, |b| b.count),
        compute_units: Some(gpu.units),
        clock_hz: Some(gpu.clock),
        max_group_size: gpu.unit.group_threads,
        max_group_dims: [gpu.unit.group_threads; 3],
        max_groups: gpu.unit.max_groups,
        local_memory: Bytes(gpu.unit.group_local.into()),
        queues: gpu.queues,
        timestamp_resolution: Some(gpu.resolution),
        subgroup: Some([gpu.warp; 2]),
        offset_alignment: Bytes(256),
        host_memory: gpu.link.host.keys().copied().collect(),
        registers: Some(gpu.unit.registers),
        zero_copy: zero_copy(gpu),
        features: gpu.features(),
        ..DeviceInfo::default()
    }
}

/// The kind of zero-copy memory, where the way to the host's memory is described.
fn zero_copy(gpu: &Description) -> Vec<ZeroCopy> {
    let memory = MemoryKind::ZeroCopy;
    let allocation = match gpu.memory.unified {
        true => "simulated: the memory is the host's",
        false => "simulated: the host's memory, over the link",
    };
    let described = gpu.rates(memory).map(|_| ZeroCopy { memory, allocation: allocation.into() });
    described.into_iter().collect()
}

/// Distinguishes descriptions whose devices have one name: results of two are not of one device. What
/// descriptions could not say at first counts only where one says it, so that the others stay the same devices.
fn fingerprint(gpu: &Description) -> String {
    let mut gpu = gpu.clone();
    if gpu.kernels == Pricing::Declared {
        gpu.counted = None;
    }
    let unsaid = [
        ", bindings: None",
        ", unified: false",
        ", f64_flops_per_cycle: None",
        ", kernels: Declared",
        ", counted: None",
    ];
    let said = unsaid.iter().fold(format!("{gpu:?}"), |said, unsaid| said.replace(unsaid, ""));
    let mut hash = sha256_hex(said);
    hash.truncate(8);
    hash
}
