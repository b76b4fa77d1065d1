//! Device timestamps around the steps of a recording.

use super::context::Context;
use super::mapping;
use ::wgpu::{
    Buffer, BufferUsages, Features, QUERY_SET_MAX_QUERIES, QUERY_SIZE, QuerySet,
    QuerySetDescriptor, QueryType,
};
use gpubench_core::error::Result;
use gpubench_core::record::is_time;

/// Steps whose two timestamps fit one query set.
pub(super) const STEPS_PER_SET: usize = QUERY_SET_MAX_QUERIES as usize / 2;
const SET_BYTES: u64 = QUERY_SET_MAX_QUERIES as u64 * QUERY_SIZE as u64;

/// Where the two timestamps of a step go.
#[derive(Clone, Copy)]
pub(super) struct Stamps<'q> {
    pub set: &'q QuerySet,
    pub first: u32,
    pub second: u32,
    /// Whether they can be written within a compute pass, not only at its ends.
    pub within_passes: bool,
}

/// The queries of the longest recording so far, kept for the next one.
pub(super) struct Queries {
    /// Timestamps around passes.
    pub passes: bool,
    /// Timestamps between the launches of one pass.
    launches: bool,
    /// Timestamps between commands, so that copies can be timed too.
    pub commands: bool,
    /// Seconds of one tick.
    pub tick: f64,
    sets: Vec<QuerySet>,
    buffers: Option<(Buffer, Buffer)>,
}

impl Queries {
    /// What the open device can do.
    pub fn new(context: &Context) -> Self {
        let features = context.device.features();
        let tick = f64::from(context.queue.get_timestamp_period()) * 1e-9;
        let passes = features.contains(Features::TIMESTAMP_QUERY) && is_time(tick);
        Self {
            passes,
            launches: passes && features.contains(Features::TIMESTAMP_QUERY_INSIDE_PASSES),
            commands: passes && features.contains(Features::TIMESTAMP_QUERY_INSIDE_ENCODERS),
            tick,
            sets: vec![],
            buffers: None,
        }
    }

    /// Makes room for so many steps.
    pub fn reserve(&mut self, context: &Context, steps: usize) -> Result<()> {
        let sets = steps.div_ceil(STEPS_PER_SET);
        if sets <= self.sets.len() {
            return Ok(());
        }
        context.scoped(|| {
            self.sets.resize_with(sets, || {
                context.device.create_query_set(&QuerySetDescriptor {
                    label: None,
                    ty: QueryType::Timestamp,
                    count: QUERY_SET_MAX_QUERIES,
                })
            });
            Ok(())
        })?;
        let bytes = SET_BYTES * sets as u64;
        let resolved =
            mapping::create(context, bytes, BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC)?;
        let staging =
            mapping::create(context, bytes, BufferUsages::MAP_READ | BufferUsages::COPY_DST)?;
        self.buffers = Some((resolved, staging));
        Ok(())
    }

    /// Where the two timestamps of a step go; `None` without room for it.
    pub fn of(&self, step: usize) -> Option<Stamps<'_>> {
        let set = self.sets.get(step / STEPS_PER_SET)?;
        let first = (step % STEPS_PER_SET * 2) as u32;
        Some(Stamps { set, first, second: first + 1, within_passes: self.launches })
    }

    /// Reads the timestamps of so many steps, two for each.
    pub fn ticks(&self, context: &Context, steps: usize) -> Result<Vec<u64>> {
        let Some((resolved, staging)) = &self.buffers else { return Ok(vec![]) };
        let mut bytes = vec![0; steps * 2 * QUERY_SIZE as usize];
        context.scoped(|| {
            let mut encoder = context.device.create_command_encoder(&Default::default());
            let mut left = steps;
            for (set, offset) in self.sets.iter().zip((0..).step_by(SET_BYTES as usize)) {
                let here = left.min(STEPS_PER_SET);
                if here > 0 {
                    encoder.resolve_query_set(set, 0..here as u32 * 2, resolved, offset);
                }
                left -= here;
            }
            encoder.copy_buffer_to_buffer(resolved, 0, staging, 0, bytes.len() as u64);
            context.queue.submit([encoder.finish()]);
            mapping::read_mapped(context, staging, 0, &mut bytes)
        })?;
        Ok(bytes
            .chunks_exact(QUERY_SIZE as usize)
            .map(|tick| tick.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
            .collect())
    }
}
