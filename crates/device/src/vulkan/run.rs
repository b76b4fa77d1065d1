//! Commands are executed against the clock.

use super::context::{Context, Owned};
use super::encode::encode;
use super::pieces::in_pieces;
use super::plan::{HostCopy, How, Stage, plan};
use super::prepare::Parts;
use super::status::checked;
use super::timestamps::{self, Queries};
use crate::timeline;
use ash::vk;
use gpubench_core::error::Result;
use gpubench_core::gpu::{Op, Recording, Timeline};
use gpubench_core::record::is_tick;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

/// A timeline semaphore for each queue of the device that was used: a step has ended once its queue's
/// semaphore has the step's value.
#[derive(Default)]
pub(super) struct Semaphores {
    semaphores: BTreeMap<usize, Owned<vk::Semaphore>>,
    /// The greatest value that any has.
    base: u64,
}

/// A batch that was encoded.
struct Encoded {
    commands: [vk::CommandBuffer; 1],
    waits: Vec<vk::Semaphore>,
    wait_values: Vec<u64>,
    wait_stages: Vec<vk::PipelineStageFlags>,
    signals: Vec<vk::Semaphore>,
    signal_values: Vec<u64>,
}

/// What is done one after the other.
enum Action {
    Submit { queue: usize, batches: Vec<Encoded> },
    Host { after: BTreeMap<usize, usize>, copy: HostCopy },
}

/// A recording at work.
struct Run<'p, 'a> {
    parts: &'p mut Parts<'a>,
    recording: &'p Recording,
    hows: &'p [How],
    semaphores: &'p mut Semaphores,
    /// The last step of each of the device's queues that it does: the host's have ended anyway.
    last: BTreeMap<usize, usize>,
}

/// Executes a recording and waits for its end.
///
/// `wall` begins when the encoded commands are submitted and ends when the host knows that all is done;
/// encoding lies before it, and reading the timestamps behind it.
///
/// # Errors
/// As [`Parts::prepare`]; else what the driver answers.
pub(super) fn run(
    parts: &mut Parts<'_>,
    queries: &mut Queries,
    semaphores: &mut Semaphores,
    recording: &Recording,
) -> Result<Timeline> {
    let assigned = parts.context.topology.assign(recording)?;
    let hows = parts.prepare(recording)?;
    let clock = Clock::of(parts.context, recording, &assigned, &hows);
    if clock.is_some() {
        queries.reserve(parts.context, parts.pools, recording.steps.len())?;
    }
    parts.pools.reset()?;
    // Without such semaphores the host can wait for whole queues only.
    let (recording, hows) = match parts.context.abilities.timeline {
        true => in_pieces(recording, &assigned, hows),
        false => (Cow::Borrowed(recording), hows),
    };
    parts.make_staging(&recording, &hows)?;
    let recording = recording.as_ref();
    let last = recording.steps.iter().enumerate().filter(|(i, _)| hows[*i] != How::Direct);
    let last = last.map(|(i, step)| (assigned[step.queue.0 as usize], i)).collect();
    let context = Rc::clone(parts.context);
    let mut run = Run { parts, recording, hows: &hows, semaphores, last };
    run.ensure_semaphores()?;
    let pool = queries.pool().filter(|_| clock.is_some());
    let actions = plan(recording, &assigned, &hows).into_iter();
    let actions: Vec<Action> =
        actions.map(|stage| run.encode(stage, pool)).collect::<Result<_>>()?;
    let begun = clock.as_ref().and_then(|_| timestamps::now(&context));
    let wall = run.execute(actions)?;
    let Some(clock) = clock else { return Ok(timeline::of(Ok(vec![]), 1.0, None, wall)) };
    let ticks = queries.ticks(&context, recording.steps.len())?;
    let stamps = timestamps::stamps(&ticks, clock.bits, begun.map(|(ticks, _)| ticks));
    // Queues are compared by what calibration makes of their clocks.
    let deviation = begun.filter(|_| clock.queues > 1).map_or(0.0, |(_, ns)| ns as f64 * 1e-9);
    let resolution = clock.tick.max(deviation);
    Ok(timeline::of(stamps, clock.tick, Some(resolution), wall))
}

/// The device's clock.
struct Clock {
    tick: f64,
    bits: u32,
    queues: usize,
}

impl Clock {
    /// The clock of a recording all of whose steps the device does alone, on queues that have timestamps;
    /// of several queues they can be compared only where they are calibrated.
    fn of(
        context: &Context,
        recording: &Recording,
        assigned: &[usize],
        hows: &[How],
    ) -> Option<Self> {
        let mut used: Vec<usize> =
            recording.steps.iter().map(|step| assigned[step.queue.0 as usize]).collect();
        used.sort_unstable();
        used.dedup();
        let bits = used.iter().map(|&queue| context.topology.queues[queue].timestamp_bits).min()?;
        let tick = f64::from(context.limits.timestamp_period) * 1e-9;
        let comparable = used.len() == 1 || context.abilities.calibrated;
        let alone = hows.iter().all(|how| *how == How::Device);
        let known = bits > 0 && tick > 0.0 && is_tick(tick) && comparable && alone;
        known.then_some(Self { tick, bits, queues: used.len() })
    }
}

impl Run<'_, '_> {
    /// Makes the semaphores that are missing.
    #[expect(unsafe_code, reason = "Vulkan call")]
    fn ensure_semaphores(&mut self) -> Result<()> {
        let context = self.parts.context;
        if !context.abilities.timeline {
            return Ok(());
        }
        for &queue in self.last.keys() {
            if self.semaphores.semaphores.contains_key(&queue) {
                continue;
            }
            let mut kind = vk::SemaphoreTypeCreateInfo::default()
                .semaphore_type(vk::SemaphoreType::TIMELINE)
                .initial_value(self.semaphores.base);
            let request = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
            // SAFETY: the feature is enabled; the structures live through the call.
            let made = unsafe { context.device.create_semaphore(&request, None) };
            let made = checked("making a semaphore", made)?;
            let made = Owned::new(context, made, ash::Device::destroy_semaphore);
            self.semaphores.semaphores.insert(queue, made);
        }
        Ok(())
    }

    /// The semaphore and value by which a step has ended.
    fn ended(&self, queue: usize, step: usize) -> Option<(vk::Semaphore, u64)> {
        let semaphore = self.semaphores.semaphores.get(&queue)?;
        Some((**semaphore, self.semaphores.base + step as u64 + 1))
    }

    fn encode(&mut self, stage: Stage, queries: Option<vk::QueryPool>) -> Result<Action> {
        let (queue, batches) = match stage {
            Stage::Submit { queue, batches } => (queue, batches),
            Stage::Host { after, copy } => return Ok(Action::Host { after, copy }),
        };
        let place = self.parts.context.topology.queues[queue];
        let mut encoded = vec![];
        for batch in batches {
            let work = (self.recording, self.hows, &batch.steps[..]);
            let commands = encode(self.parts, work, place, queries)?;
            let waits = batch.waits.iter().filter_map(|(&queue, &step)| self.ended(queue, step));
            let (waits, wait_values): (Vec<_>, Vec<_>) = waits.unzip();
            let signals = batch.steps.last().and_then(|&step| self.ended(queue, step));
            let (signals, signal_values) = signals.into_iter().unzip();
            encoded.push(Encoded {
                commands: [commands],
                wait_stages: vec![vk::PipelineStageFlags::ALL_COMMANDS; waits.len()],
                waits,
                wait_values,
                signals,
                signal_values,
            });
        }
        Ok(Action::Submit { queue, batches: encoded })
    }

    /// Does everything and waits for it: seconds.
    fn execute(&mut self, actions: Vec<Action>) -> Result<f64> {
        let began = Instant::now();
        let done = actions
            .into_iter()
            .try_for_each(|action| self.perform(action))
            .and_then(|()| self.wait(&self.last));
        let wall = began.elapsed().as_secs_f64();
        if done.is_err() {
            // What still runs uses memory that the caller may free next, and signals what no
            // later recording counts on.
            self.parts.context.settle();
            self.semaphores.semaphores.clear();
        }
        self.semaphores.base += self.recording.steps.len() as u64;
        done.map(|()| wall)
    }

    fn perform(&mut self, action: Action) -> Result<()> {
        match action {
            Action::Submit { queue, batches } => self.submit(queue, &batches),
            Action::Host { after, copy } => {
                self.wait(&after)?;
                self.copy(copy)
            }
        }
    }

    fn submit(&self, queue: usize, batches: &[Encoded]) -> Result<()> {
        let mut values: Vec<_> = batches
            .iter()
            .map(|batch| {
                vk::TimelineSemaphoreSubmitInfo::default()
                    .wait_semaphore_values(&batch.wait_values)
                    .signal_semaphore_values(&batch.signal_values)
            })
            .collect();
        let timeline = self.parts.context.abilities.timeline;
        let submits: Vec<_> = batches
            .iter()
            .zip(&mut values)
            .map(|(batch, values)| {
                let submit = vk::SubmitInfo::default()
                    .command_buffers(&batch.commands)
                    .wait_semaphores(&batch.waits)
                    .wait_dst_stage_mask(&batch.wait_stages)
                    .signal_semaphores(&batch.signals);
                if timeline { submit.push_next(values) } else { submit }
            })
            .collect();
        self.parts.context.submit(queue, &submits)
    }

    /// Waits until the last step of each queue named has ended.
    fn wait(&self, after: &BTreeMap<usize, usize>) -> Result<()> {
        let context = self.parts.context;
        if !context.abilities.timeline {
            return after.keys().try_for_each(|&queue| context.wait(queue));
        }
        let ended = after.iter().filter_map(|(&queue, &step)| self.ended(queue, step));
        let (semaphores, values): (Vec<_>, Vec<_>) = ended.unzip();
        if semaphores.is_empty() {
            return Ok(());
        }
        context.wait_for(&semaphores, &values)
    }

    fn copy(&mut self, copy: HostCopy) -> Result<()> {
        let memory = &mut self.parts.memory;
        match copy {
            HostCopy::ToStaging(slice, how) => memory.through_staging(slice, how, true),
            HostCopy::FromStaging(slice, how) => memory.through_staging(slice, how, false),
            HostCopy::Direct(step) => match &self.recording.steps[step].op {
                Op::Upload { from, to } => memory.direct(*from, *to, true),
                Op::Download { from, to } => memory.direct(*to, *from, false),
                Op::Map { part, .. } => memory.map(part.buffer, true),
                Op::Unmap { part } => memory.map(part.buffer, false),
                Op::Dispatch { .. } | Op::Copy { .. } => Ok(()),
            },
        }
    }
}
