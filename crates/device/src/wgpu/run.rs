//! Commands are executed against the clock.

use super::context::Context;
use super::encode::{Parts, Script, Stage, encode};
use super::mapping;
use super::memory::Memory;
use crate::timeline;
use gpubench_core::error::Result;
use gpubench_core::gpu::{Recording, Timeline};
use std::time::Instant;

/// Executes a recording and waits for its end.
///
/// `wall` begins when the encoded commands are submitted and ends when the host knows that all
/// is done; encoding lies before it, and reading the timestamps behind it. Commands are encoded
/// anew for each run, since wgpu's can be submitted but once.
///
/// # Errors
/// As [`encode`]; else what the API complains of.
pub(super) fn run(parts: &mut Parts<'_>, recording: &Recording) -> Result<Timeline> {
    let Script { stages, timed } = encode(parts, recording)?;
    let context = parts.context;
    let wall = context.scoped(|| {
        let began = Instant::now();
        for stage in stages {
            perform(context, parts.memory, stage)?;
        }
        context.wait()?;
        Ok(began.elapsed().as_secs_f64())
    })?;
    let stamps = match timed {
        true => {
            timeline::one_after_the_other(&parts.queries.ticks(context, recording.steps.len())?)
        }
        false => Ok(vec![]),
    };
    let tick = parts.queries.tick;
    Ok(timeline::of(stamps, tick, timed.then_some(tick), wall))
}

fn perform(context: &Context, memory: &mut Memory, stage: Stage) -> Result<()> {
    match stage {
        Stage::Submit(commands) => {
            context.queue.submit(commands);
            Ok(())
        }
        Stage::Upload { from, to } => {
            let target = memory.buffer(to.buffer)?.clone();
            context.queue.write_buffer(&target, to.offset.0, memory.host(from)?);
            // What was written waits for the next submission, of which there may be none.
            context.queue.submit([]);
            Ok(())
        }
        Stage::Collect { to } => {
            let staging = memory.staging(context, to.buffer)?;
            mapping::read_mapped(context, &staging, to.offset.0, memory.host(to)?)
        }
        Stage::MapUpload { from, to } => {
            let target = memory.buffer(to.buffer)?.clone();
            mapping::write_mapped(context, &target, to.offset.0, memory.host(from)?)
        }
        Stage::MapDownload { from, to } => {
            let source = memory.buffer(from.buffer)?.clone();
            mapping::read_mapped(context, &source, from.offset.0, memory.host(to)?)
        }
    }
}
