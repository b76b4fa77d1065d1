//! Parameter blocks of all launches in one uniform buffer, each distinct block once.

use super::context::Context;
use ::wgpu::{Buffer, BufferBinding, BufferDescriptor, BufferSize, BufferUsages};
use gpubench_core::error::Result;
use gpubench_core::gpu::Argument;
use std::collections::HashMap;

/// Beyond this many bytes the blocks of earlier recordings are forgotten.
const RETAINED_BYTES: usize = 1 << 20;

/// The blocks, in host memory and on the device.
pub(super) struct Params {
    buffer: Option<Buffer>,
    content: Vec<u8>,
    offsets: HashMap<Vec<u8>, u32>,
    alignment: usize,
    dirty: bool,
}

impl Params {
    /// No blocks yet; each will begin at a multiple of the device's `alignment`.
    pub fn new(alignment: u32) -> Self {
        Self {
            buffer: None,
            content: vec![],
            offsets: HashMap::new(),
            alignment: alignment.max(16) as usize,
            dirty: false,
        }
    }

    /// To be called before the blocks of a recording are placed.
    pub fn begin(&mut self) {
        if self.content.len() > RETAINED_BYTES {
            self.content.clear();
            self.offsets.clear();
        }
    }

    /// Where `block` lies in the buffer.
    pub fn place(&mut self, block: &[u8]) -> u32 {
        if let Some(&offset) = self.offsets.get(block) {
            return offset;
        }
        let offset = u32::try_from(self.content.len()).unwrap_or(u32::MAX);
        let end = self.content.len() + block.len();
        self.content.extend_from_slice(block);
        self.content.resize(end.next_multiple_of(self.alignment), 0);
        self.offsets.insert(block.to_vec(), offset);
        self.dirty = true;
        offset
    }

    /// Where each argument that is no buffer lies, placed from a launch's `params`.
    pub fn place_all(&mut self, arguments: &[Argument], params: &[u8]) -> Vec<u32> {
        let parts = arguments.iter().filter_map(|argument| argument.bytes());
        let blocks = parts.filter_map(|(first, len)| params.get(first..first + len));
        blocks.map(|block| self.place(block)).collect()
    }

    /// Brings new blocks to the device. True when the buffer is a new one, so that groups which
    /// bind the old one are of no more use.
    pub fn upload(&mut self, context: &Context) -> Result<bool> {
        if !self.dirty {
            return Ok(false);
        }
        let needed = self.content.len() as u64;
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
                context.queue.write_buffer(buffer, 0, &self.content);
            }
            context.submit(None)
        })?;
        self.dirty = false;
        Ok(grown)
    }

    /// The binding for blocks of so many bytes, from the dynamic offset on.
    pub fn binding(&self, bytes: u32) -> Option<BufferBinding<'_>> {
        let size = BufferSize::new(u64::from(bytes).next_multiple_of(16));
        self.buffer.as_ref().map(|buffer| BufferBinding { buffer, offset: 0, size })
    }
}
