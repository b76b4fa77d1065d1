//! Parameters that are no push constants: blocks in one uniform buffer.

use super::buffer::{Buffer, Place};
use super::context::Context;
use crate::parameter_blocks::ParameterBlocks;
use ash::vk;
use gpubench_core::error::Result;
use std::rc::Rc;

/// The blocks, and where the device sees them.
pub(super) struct Params {
    pub blocks: ParameterBlocks,
    buffer: Option<Buffer>,
}

impl Params {
    /// No blocks yet.
    pub fn new(context: &Context) -> Self {
        let alignment = context.limits.min_uniform_buffer_offset_alignment;
        Self { blocks: ParameterBlocks::new(alignment), buffer: None }
    }

    /// Writes new blocks where the device sees them. True when the buffer is a new one, so that
    /// descriptors of the old one are of no more use.
    pub fn upload(&mut self, context: &Rc<Context>) -> Result<bool> {
        let Some(content) = self.blocks.to_upload() else { return Ok(false) };
        // The last block may be bound up to a whole vector beyond its end.
        let needed = content.len() as u64 + 16;
        let grown = self.buffer.as_ref().is_none_or(|buffer| buffer.len() < needed);
        if grown {
            let mut buffer =
                Buffer::new(context, needed.next_power_of_two().max(1 << 16), Place::Host)?;
            buffer.clear();
            self.buffer = Some(buffer);
        }
        if let Some(buffer) = &mut self.buffer {
            buffer.bytes_mut()[..content.len()].copy_from_slice(content);
        }
        self.blocks.uploaded();
        Ok(grown)
    }

    /// The binding for blocks of so many bytes, from the dynamic offset on.
    pub fn binding(&self, bytes: usize) -> Option<vk::DescriptorBufferInfo> {
        let range = (bytes as u64).next_multiple_of(16);
        let of = |buffer: &Buffer| vk::DescriptorBufferInfo {
            buffer: buffer.handle(),
            offset: 0,
            range,
        };
        self.buffer.as_ref().map(of)
    }
}
