//! Command buffers, from a pool a family; all are reused once nothing runs.

use super::context::{Context, Owned};
use super::status::checked;
use ash::vk;
use gpubench_core::error::Result;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The pools.
pub(super) struct Pools {
    context: Rc<Context>,
    pools: BTreeMap<u32, Pool>,
}

struct Pool {
    pool: Owned<vk::CommandPool>,
    buffers: Vec<vk::CommandBuffer>,
    /// How many of `buffers` are in use.
    used: usize,
}

impl Pools {
    /// No pools yet.
    pub fn new(context: &Rc<Context>) -> Self {
        Self { context: Rc::clone(context), pools: BTreeMap::new() }
    }

    /// Takes back every command buffer: nothing of them runs any more.
    #[expect(unsafe_code, reason = "Vulkan call")]
    pub fn reset(&mut self) -> Result<()> {
        for pool in self.pools.values_mut().filter(|pool| pool.used > 0) {
            let flags = vk::CommandPoolResetFlags::empty();
            // SAFETY: the caller has waited for all that was submitted.
            let reset = unsafe { self.context.device.reset_command_pool(*pool.pool, flags) };
            checked("resetting commands", reset)?;
            pool.used = 0;
        }
        Ok(())
    }

    /// A command buffer for a family, begun.
    #[expect(unsafe_code, reason = "Vulkan calls")]
    pub fn begin(&mut self, family: u32) -> Result<vk::CommandBuffer> {
        let pool = match self.pools.entry(family) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(Pool::new(&self.context, family)?)
            }
        };
        let commands = pool.next(&self.context)?;
        let usage = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;
        let begin = vk::CommandBufferBeginInfo::default().flags(usage);
        // SAFETY: the command buffer is new or was reset with its pool.
        checked("recording commands", unsafe {
            self.context.device.begin_command_buffer(commands, &begin)
        })?;
        Ok(commands)
    }

    /// Ends a command buffer.
    #[expect(unsafe_code, reason = "Vulkan call")]
    pub fn end(&self, commands: vk::CommandBuffer) -> Result<()> {
        // SAFETY: it was begun and not yet ended.
        checked("recording commands", unsafe { self.context.device.end_command_buffer(commands) })
    }

    /// Has the device's first queue execute what `record` writes, and waits for it. Nothing may be in
    /// use.
    pub fn once(&mut self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<()> {
        self.reset()?;
        let commands = self.begin(self.context.topology.first().family)?;
        record(&self.context.device, commands);
        self.end(commands)?;
        let commands = [commands];
        self.context.submit(0, &[vk::SubmitInfo::default().command_buffers(&commands)])?;
        self.context.wait(0)
    }
}

impl Pool {
    #[expect(unsafe_code, reason = "Vulkan call")]
    fn new(context: &Rc<Context>, family: u32) -> Result<Self> {
        let request = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(family);
        // SAFETY: the device has queues of the family.
        let pool = unsafe { context.device.create_command_pool(&request, None) };
        let pool = checked("making commands", pool)?;
        let pool = Owned::new(context, pool, ash::Device::destroy_command_pool);
        Ok(Self { pool, buffers: vec![], used: 0 })
    }

    #[expect(unsafe_code, reason = "Vulkan call")]
    fn next(&mut self, context: &Context) -> Result<vk::CommandBuffer> {
        if self.used == self.buffers.len() {
            let request = vk::CommandBufferAllocateInfo::default()
                .command_pool(*self.pool)
                .level(vk::CommandBufferLevel::PRIMARY)
                .command_buffer_count(1);
            // SAFETY: the pool is alive.
            let made = unsafe { context.device.allocate_command_buffers(&request) };
            self.buffers.extend(checked("making commands", made)?);
        }
        self.used += 1;
        Ok(self.buffers[self.used - 1])
    }
}
