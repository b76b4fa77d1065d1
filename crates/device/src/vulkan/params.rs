//! Parameters that are no push constants: blocks in one uniform buffer, each distinct block once.

use super::buffer::{Buffer, Place};
use super::context::Context;
use ash::vk;
use gpubench_core::error::Result;
use gpubench_core::gpu::Argument;
use std::collections::HashMap;
use std::rc::Rc;

/// Beyond this many bytes the blocks of earlier recordings are forgotten.
const RETAINED_BYTES: usize = 1 << 20;

/// The blocks.
#[derive(Default)]
pub(super) struct Params {
    buffer: Option<Buffer>,
    content: Vec<u8>,
    offsets: HashMap<Vec<u8>, u32>,
    dirty: bool,
}

impl Params {
    /// To be called before the blocks of a recording are placed.
    pub fn begin(&mut self) {
        if self.content.len() > RETAINED_BYTES {
            self.content.clear();
            self.offsets.clear();
        }
    }

    /// Where each argument that is no buffer lies, placed from a launch's `params`.
    pub fn place(&mut self, context: &Context, arguments: &[Argument], params: &[u8]) -> Vec<u32> {
        let alignment = context.limits.min_uniform_buffer_offset_alignment.max(16) as usize;
        let parts = arguments.iter().filter_map(|argument| argument.bytes());
        let blocks = parts.filter_map(|(first, len)| params.get(first..first + len));
        blocks.map(|block| self.place_one(block, alignment)).collect()
    }

    fn place_one(&mut self, block: &[u8], alignment: usize) -> u32 {
        if let Some(&offset) = self.offsets.get(block) {
            return offset;
        }
        let offset = u32::try_from(self.content.len()).unwrap_or(u32::MAX);
        let end = self.content.len() + block.len();
        self.content.extend_from_slice(block);
        self.content.resize(end.next_multiple_of(alignment), 0);
        self.offsets.insert(block.to_vec(), offset);
        self.dirty = true;
        offset
    }

    /// Writes new blocks where the device sees them. True when the buffer is a new one, so that
    /// descriptors of the old one are of no more use.
    pub fn upload(&mut self, context: &Rc<Context>) -> Result<bool> {
        if !self.dirty {
            return Ok(false);
        }
        // The last block may be bound up to a whole vector beyond its end.
        let needed = self.content.len() as u64 + 16;
        let grown = self.buffer.as_ref().is_none_or(|buffer| buffer.len() < needed);
        if grown {
            let mut buffer =
                Buffer::new(context, needed.next_power_of_two().max(1 << 16), Place::Host)?;
            buffer.clear();
            self.buffer = Some(buffer);
        }
        if let Some(buffer) = &mut self.buffer {
            buffer.bytes_mut()[..self.content.len()].copy_from_slice(&self.content);
        }
        self.dirty = false;
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
