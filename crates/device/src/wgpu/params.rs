//! Parameters of all launches: blocks in one uniform buffer.

use super::context::Context;
use crate::parameter_blocks::ParameterBlocks;
use ::wgpu::{Buffer, BufferBinding, BufferDescriptor, BufferSize, BufferUsages};
use gpubench_core::error::Result;

/// The blocks, in host memory and on the device.
pub(super) struct Params {
    pub blocks: ParameterBlocks,
    buffer: Option<Buffer>,
}

impl Params {
    /// No blocks yet; each will begin at a multiple of the device's `alignment`.
    pub fn new(alignment: u32) -> Self {
        Self { blocks: ParameterBlocks::new(alignment.into()), buffer: None }
    }

    /// Brings new blocks to the device. True when the buffer is a new one, so that groups which
    /// bind the old one are of no more use.
    pub fn upload(&mut self, context: &Context) -> Result<bool> {
        let Some(content) = self.blocks.to_upload() else { return Ok(false) };
        let needed = content.len() as u64;
        let grown = self.buffer.as_ref().is_none_or(|buffer| buffer.size() < needed);
        context.scoped(|| {
            if grown {
                self.buffer = Some(context.device.create_buffer(&BufferDescriptor {
                    label: None,
                    size: needed.next_power_of_two().max(1 << 16),
                    usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                }));
            }
            if let Some(buffer) = &self.buffer {
                context.queue.write_buffer(buffer, 0, content);
            }
            context.submit(None)
        })?;
        self.blocks.uploaded();
        Ok(grown)
    }

    /// The binding for blocks of so many bytes, from the dynamic offset on.
    pub fn binding(&self, bytes: u32) -> Option<BufferBinding<'_>> {
        let size = BufferSize::new(u64::from(bytes).next_multiple_of(16));
        self.buffer.as_ref().map(|buffer| BufferBinding { buffer, offset: 0, size })
    }
}
