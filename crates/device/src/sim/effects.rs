//! What steps do to memory: kernels compute through their reference.
//!
//! A step reads when it starts and writes when it ends, on the simulated clock: a recording that
//! forgets a dependency computes the wrong result here as it may on a real device.

use super::device::Kernel;
use super::memory::Memory;
use crate::validation::no_kernel;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{
    Access, BufferId, KernelId, KernelSource, Meaning, Op, Recording, Slice, StepTimes,
};
use gpubench_core::units::Bytes;
use gpubench_reference::{Data, Problem};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// A launch by what it computes from.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Launch {
    kernel: KernelId,
    buffers: Vec<Slice>,
    params: Vec<u8>,
}

/// Launches and copies whose results are in memory already, with the versions of their buffers: a
/// batch of equal ones is done once.
#[derive(Default)]
pub(super) struct Computed {
    launches: HashMap<Launch, Vec<u64>>,
    copies: HashMap<(Slice, Slice), [u64; 2]>,
}

impl Computed {
    pub fn clear(&mut self) {
        self.launches.clear();
        self.copies.clear();
    }
}

/// What a running step will write.
struct Pending {
    ended: f64,
    writes: Vec<(BufferId, Bytes, Vec<u8>)>,
    launch: Option<(Launch, Vec<u64>)>,
    /// Source and target of a copy, and the source's version when it began.
    copy: Option<(Slice, Slice, u64)>,
}

/// Memory and kernels on which steps act.
pub(super) struct Effects<'a> {
    pub memory: &'a mut Memory,
    pub kernels: &'a BTreeMap<KernelId, Kernel>,
    pub computed: &'a mut Computed,
}

impl Effects<'_> {
    /// Does what `recording` does, in the order of `times`.
    pub fn apply(&mut self, recording: &Recording, times: &[StepTimes]) -> Result<()> {
        let mut order: Vec<usize> = (0..times.len()).collect();
        order.sort_by(|&a, &b| times[a].started.total_cmp(&times[b].started).then(a.cmp(&b)));
        let mut pending: Vec<Pending> = vec![];
        for step in order {
            self.finish(&mut pending, times[step].started)?;
            pending.push(self.start(&recording.steps[step].op, times[step].ended)?);
        }
        self.finish(&mut pending, f64::INFINITY)
    }

    /// Writes what the steps that ended by `now` have computed, in the order of their ends.
    fn finish(&mut self, pending: &mut Vec<Pending>, now: f64) -> Result<()> {
        pending.sort_by(|a, b| a.ended.total_cmp(&b.ended));
        let over = pending.partition_point(|step| step.ended <= now);
        for step in pending.drain(..over) {
            let untouched = match &step.launch {
                Some((launch, before)) => self.versions(launch)? == *before,
                None => false,
            };
            for (buffer, offset, data) in &step.writes {
                self.memory.store(*buffer, *offset, data)?;
            }
            if let (Some((launch, _)), true) = (step.launch, untouched) {
                let after = self.versions(&launch)?;
                self.computed.launches.insert(launch, after);
            }
            if let Some((from, to, before)) = step.copy
                && self.memory.version(from.buffer)? == before
            {
                let versions = [before, self.memory.version(to.buffer)?];
                self.computed.copies.insert((from, to), versions);
            }
        }
        Ok(())
    }

    fn start(&self, op: &Op, ended: f64) -> Result<Pending> {
        let (writes, launch) = match op {
            Op::Upload { from, to } | Op::Download { from, to } | Op::Copy { from, to } => {
                return self.copy(*from, *to, ended);
            }
            Op::Dispatch { kernel, buffers, params, .. } => {
                let launch =
                    Launch { kernel: *kernel, buffers: buffers.clone(), params: params.clone() };
                self.launch(launch)?
            }
            Op::Map { .. } | Op::Unmap { .. } => (vec![], None),
        };
        Ok(Pending { ended, writes, launch, copy: None })
    }

    fn copy(&self, from: Slice, to: Slice, ended: f64) -> Result<Pending> {
        let versions = [self.memory.version(from.buffer)?, self.memory.version(to.buffer)?];
        if self.computed.copies.get(&(from, to)) == Some(&versions) {
            return Ok(Pending { ended, writes: vec![], launch: None, copy: None });
        }
        let writes = vec![(to.buffer, to.offset, self.memory.part(from)?.to_vec())];
        Ok(Pending { ended, writes, launch: None, copy: Some((from, to, versions[0])) })
    }

    #[expect(clippy::type_complexity, reason = "the two halves of one `Pending`")]
    fn launch(
        &self,
        launch: Launch,
    ) -> Result<(Vec<(BufferId, Bytes, Vec<u8>)>, Option<(Launch, Vec<u64>)>)> {
        let kernel = self.kernels.get(&launch.kernel).ok_or_else(|| no_kernel(launch.kernel))?;
        let source = &kernel.source;
        let versions = self.versions(&launch)?;
        if self.computed.launches.get(&launch) == Some(&versions) {
            return Ok((vec![], None));
        }
        let mut writes = vec![];
        for (name, data) in self.compute(source, &launch)? {
            let (slice, access) = bound(source, &launch, name)?;
            let bytes = data.as_bytes();
            if access == Access::Read || bytes.len() as u64 > slice.len.0 {
                return Err(Error::Device(format!(
                    "the reference writes {} bytes to `{name}`, bound as {access:?} with {} bytes",
                    bytes.len(),
                    slice.len.0
                )));
            }
            let rows = chunk(meaning(source)?, &launch.params, bytes.len());
            let offset = Bytes(slice.offset.0 + rows.start as u64);
            writes.push((slice.buffer, offset, bytes[rows].to_vec()));
        }
        // What is updated in place differs after every launch.
        let in_place = source.bindings.iter().any(|b| b.access == Access::ReadWrite);
        Ok((writes, (!in_place).then_some((launch, versions))))
    }

    fn compute(&self, source: &KernelSource, launch: &Launch) -> Result<Vec<(&'static str, Data)>> {
        let meaning = meaning(source)?;
        let numbers = numbers(source, meaning, &launch.params);
        let buffers = source.bindings.iter().zip(&launch.buffers).map(|(binding, slice)| {
            let data = Data::from_bytes(binding.element.scalar, self.memory.part(*slice)?);
            Ok((binding.name.clone(), data))
        });
        let problem = Problem::new(numbers, buffers.collect::<Result<_>>()?);
        let reference = gpubench_reference::find(&meaning.reference)
            .ok_or_else(|| Error::Unsupported(unknown(&meaning.reference)))?;
        reference(&problem)
    }

    fn versions(&self, launch: &Launch) -> Result<Vec<u64>> {
        launch.buffers.iter().map(|slice| self.memory.version(slice.buffer)).collect()
    }
}

/// What the kernel computes.
///
/// # Errors
/// `Unsupported` where nothing says it, or no reference is called so.
pub(super) fn meaning(source: &KernelSource) -> Result<&Meaning> {
    let meaning = source.meaning.as_ref().ok_or_else(|| {
        Error::Unsupported(format!(
            "a simulated GPU computes through references, and kernel `{}` names none",
            source.entry
        ))
    })?;
    match gpubench_reference::find(&meaning.reference) {
        Some(_) => Ok(meaning),
        None => Err(Error::Unsupported(unknown(&meaning.reference))),
    }
}

/// The part of an output of `len` bytes that a launch writes: its rows, where it has only some.
fn chunk(meaning: &Meaning, params: &[u8], len: usize) -> Range<usize> {
    let whole = 0..len;
    let Some((rows, counter)) = &meaning.rows else { return whole };
    let number = |wanted: &str| {
        parameters(meaning, params).find(|(name, _)| name == wanted).map(|(_, n)| n as usize)
    };
    let rows = usize::try_from(*rows).unwrap_or(usize::MAX);
    match (number("first"), number(counter)) {
        (Some(first), Some(count)) if rows > 0 && len.is_multiple_of(rows) => {
            let at = |row: usize| row.min(rows) * (len / rows);
            at(first)..at(first.saturating_add(count))
        }
        _ => whole,
    }
}

fn unknown(reference: &str) -> String {
    format!("there is no reference called `{reference}`")
}

fn bound(source: &KernelSource, launch: &Launch, name: &str) -> Result<(Slice, Access)> {
    let at = source.bindings.iter().position(|binding| binding.name == name);
    at.and_then(|at| Some((*launch.buffers.get(at)?, source.bindings[at].access)))
        .ok_or_else(|| Error::Device(format!("the reference writes `{name}`, which is not bound")))
}

/// Sizes, constants and parameters of a launch by name; of one name, the last holds.
pub(super) fn numbers(
    source: &KernelSource,
    meaning: &Meaning,
    params: &[u8],
) -> Vec<(String, f64)> {
    let sizes = meaning.sizes.iter().map(|(name, n)| (name.clone(), *n as f64));
    let constants = source.constants.iter().flat_map(|(name, value)| value.numbers(name));
    sizes.chain(constants).chain(parameters(meaning, params)).collect()
}

/// The fields of a parameter block: four bytes each.
fn parameters<'a>(
    meaning: &'a Meaning,
    block: &'a [u8],
) -> impl Iterator<Item = (String, f64)> + 'a {
    let fields = meaning.params.iter().zip(block.chunks_exact(4));
    fields.map(|((name, scalar), field)| (name.clone(), scalar.number(field)))
}
