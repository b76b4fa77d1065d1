//! Parameters of launches as blocks of one uniform buffer, each distinct block once.

use gpubench_core::gpu::Argument;
use std::collections::HashMap;

/// Beyond this many bytes the blocks of earlier recordings are forgotten.
const RETAINED_BYTES: usize = 1 << 20;

/// The blocks, as the buffer is to hold them.
pub(crate) struct ParameterBlocks {
    content: Vec<u8>,
    offsets: HashMap<Vec<u8>, u32>,
    alignment: usize,
    dirty: bool,
}

impl ParameterBlocks {
    /// No blocks yet; each will begin at a multiple of the device's `alignment`.
    pub fn new(alignment: u64) -> Self {
        let alignment = alignment.max(16) as usize;
        Self { content: vec![], offsets: HashMap::new(), alignment, dirty: false }
    }

    /// To be called before the blocks of a recording are placed.
    pub fn begin(&mut self) {
        if self.content.len() > RETAINED_BYTES {
            self.content.clear();
            self.offsets.clear();
        }
    }

    /// Where each argument that is no buffer lies, placed from a launch's `params`.
    pub fn place(&mut self, arguments: &[Argument], params: &[u8]) -> Vec<u32> {
        let parts = arguments.iter().filter_map(|argument| argument.bytes());
        let blocks = parts.filter_map(|(first, len)| params.get(first..first + len));
        blocks.map(|block| self.place_one(block)).collect()
    }

    fn place_one(&mut self, block: &[u8]) -> u32 {
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

    /// What the buffer lacks, until [`ParameterBlocks::uploaded`].
    pub fn to_upload(&self) -> Option<&[u8]> {
        self.dirty.then_some(&self.content)
    }

    /// The buffer has all blocks.
    pub fn uploaded(&mut self) {
        self.dirty = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_distinct_block_has_one_aligned_place() {
        let mut blocks = ParameterBlocks::new(32);
        let [eight, four] = [Argument::Block(8), Argument::Block(4)];
        assert_eq!(blocks.place(&[eight, four], &[1; 8]), [0, 32]);
        assert_eq!(blocks.to_upload().map(<[u8]>::len), Some(64));
        blocks.uploaded();
        assert_eq!(blocks.place(&[four, eight, Argument::Buffer(0)], &[1; 8]), [32, 0]);
        assert_eq!(blocks.to_upload(), None);
        assert_eq!(blocks.place(&[four], &[3; 4]), [64]);
        assert!(blocks.to_upload().is_some());
    }

    #[test]
    fn blocks_are_forgotten_once_there_are_too_many() {
        let mut blocks = ParameterBlocks::new(1 << 20);
        let place = |blocks: &mut ParameterBlocks, byte| {
            blocks.begin();
            blocks.place(&[Argument::Block(1)], &[byte])
        };
        assert_eq!(place(&mut blocks, 1), [0]);
        assert_eq!(place(&mut blocks, 2), [1 << 20], "as much as may be kept");
        assert_eq!(place(&mut blocks, 2), [0], "more than that is forgotten");
    }
}
