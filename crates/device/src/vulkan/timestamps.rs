//! Device timestamps become step times, or a reason why not.

use super::commands::Pools;
use super::context::{Context, Owned};
use super::status::checked;
use crate::timeline::Stamps;
use ash::vk;
use gpubench_core::error::Result;
use std::rc::Rc;

/// The queries of the longest recording so far, kept for the next one.
#[derive(Default)]
pub(super) struct Queries {
    pool: Option<(Owned<vk::QueryPool>, u32)>,
}

impl Queries {
    /// Makes room for so many steps, two queries each, and resets it.
    pub fn reserve(
        &mut self,
        context: &Rc<Context>,
        pools: &mut Pools,
        steps: usize,
    ) -> Result<()> {
        let needed = u32::try_from(steps * 2).unwrap_or(u32::MAX);
        if self.pool.as_ref().is_none_or(|(_, size)| *size < needed) {
            let size = needed.next_power_of_two();
            self.pool = Some((make(context, size)?, size));
        }
        match &self.pool {
            Some((pool, size)) => reset(context, pools, **pool, *size),
            None => Ok(()),
        }
    }

    /// The pool, once there is one.
    pub fn pool(&self) -> Option<vk::QueryPool> {
        self.pool.as_ref().map(|(pool, _)| **pool)
    }

    /// Reads the timestamps of so many steps, two for each.
    #[expect(unsafe_code, reason = "Vulkan call")]
    pub fn ticks(&self, context: &Context, steps: usize) -> Result<Vec<u64>> {
        let mut ticks = vec![0_u64; steps * 2];
        let Some(pool) = self.pool() else { return Ok(vec![]) };
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        // SAFETY: every one of these queries was written by commands that have ended.
        let read = unsafe { context.device.get_query_pool_results(pool, 0, &mut ticks, flags) };
        checked("reading timestamps", read)?;
        Ok(ticks)
    }
}

#[expect(unsafe_code, reason = "Vulkan call")]
fn make(context: &Rc<Context>, size: u32) -> Result<Owned<vk::QueryPool>> {
    let request =
        vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(size);
    // SAFETY: the structure lives through the call.
    let made = unsafe { context.device.create_query_pool(&request, None) };
    Ok(Owned::new(context, checked("making timestamps", made)?, ash::Device::destroy_query_pool))
}

#[expect(unsafe_code, reason = "Vulkan calls")]
fn reset(context: &Context, pools: &mut Pools, pool: vk::QueryPool, size: u32) -> Result<()> {
    if context.abilities.host_reset {
        // SAFETY: nothing that uses the pool is under way, and the extension is enabled.
        unsafe {
            let reset = context.host_reset.fp().reset_query_pool_ext;
            reset(context.device.handle(), pool, 0, size);
        }
        return Ok(());
    }
    // SAFETY: as above; the first queue computes, so it takes the command.
    pools.once(|device, commands| unsafe { device.cmd_reset_query_pool(commands, pool, 0, size) })
}

/// The device's "now" and how far it may be off, in ticks and nanoseconds, where the device tells.
#[expect(unsafe_code, reason = "Vulkan call")]
pub(super) fn now(context: &Context) -> Option<(u64, u64)> {
    if !context.abilities.calibrated {
        return None;
    }
    let clock = vk::CalibratedTimestampInfoEXT::default().time_domain(vk::TimeDomainEXT::DEVICE);
    // SAFETY: the extension is enabled, and the device has this clock.
    let (ticks, deviation) =
        unsafe { context.calibrated.get_calibrated_timestamps(&[clock]) }.ok()?;
    Some((*ticks.first()?, deviation))
}

/// The timestamps of steps, of whose ticks `bits` are valid, queued and submitted at `begun` where the
/// device's clock told that, and else with their own start.
///
/// # Errors
/// Why the ticks cannot be believed.
pub(super) fn stamps(ticks: &[u64], bits: u32, begun: Option<u64>) -> Result<Vec<Stamps>, String> {
    if let Some(step) = ticks.iter().position(|&tick| tick == 0) {
        return Err(format!("a timestamp of step {} is zero", step / 2));
    }
    let Some(&base) = ticks.first() else { return Ok(vec![]) };
    // Ticks of few bits begin again at zero: what is less than half the range behind lies behind.
    let shift = 64 - bits.clamp(1, 64);
    let behind = |tick: u64| (tick.wrapping_sub(base) << shift) as i64 >> shift;
    let first = ticks.iter().map(|&tick| behind(tick)).min().unwrap_or(0);
    let begun = begun.map(behind).filter(|&begun| begun <= first);
    let zero = begun.unwrap_or(first);
    let stamp = |tick: i64| tick.wrapping_sub(zero) as u64 + 1;
    let of = |pair: &[u64]| {
        let (start, end) = (behind(pair[0]), behind(pair[1]));
        let queued = stamp(begun.unwrap_or(start));
        [queued, queued, stamp(start), stamp(end)]
    };
    Ok(ticks.chunks_exact(2).map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_queued_when_the_recording_began() {
        let stamped = stamps(&[1000, 1500, 1600, 2600], 64, Some(900));
        assert_eq!(stamped, Ok(vec![[1, 1, 101, 601], [1, 1, 701, 1701]]));
        let alone = stamps(&[1000, 1500, 1600, 2600], 64, None);
        assert_eq!(alone, Ok(vec![[1, 1, 1, 501], [601, 601, 601, 1601]]));
        // A clock that runs ahead of the queues' is no clock of theirs.
        assert_eq!(stamps(&[1000, 1500], 64, Some(1001)), Ok(vec![[1, 1, 1, 501]]));
        assert_eq!(stamps(&[], 64, None), Ok(vec![]));
    }

    #[test]
    fn clocks_of_few_bits_may_begin_again() {
        let end = (1 << 36) - 10;
        assert_eq!(stamps(&[end, 5], 36, Some(end - 1)), Ok(vec![[1, 1, 2, 17]]));
        // Queues need not begin in the order of the steps.
        let later = stamps(&[20, 30, end, 5], 36, None);
        assert_eq!(later, Ok(vec![[31, 31, 31, 41], [1, 1, 1, 16]]));
        assert!(stamps(&[7, 0], 36, None).is_err_and(|why| why.contains("step 0 is zero")));
    }
}
