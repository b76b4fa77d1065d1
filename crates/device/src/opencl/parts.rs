//! Sub-buffers of one buffer, the last one made is released first: NVIDIA's driver ends the process where they go
//! in another order.

use super::object::{Buffer, Owned};
use gpubench_core::gpu::Slice;
use gpubench_core::units::Bytes;
use std::collections::HashMap;

/// The parts of a buffer that kernels were given.
#[derive(Default)]
pub(super) struct Parts {
    /// In the order in which they were made.
    made: Vec<Owned<Buffer>>,
    /// By first byte and length: the number of each.
    numbers: HashMap<(Bytes, Bytes), usize>,
}

impl Parts {
    /// The part that is `slice`, if it was made.
    pub(super) fn get(&self, slice: &Slice) -> Option<&Buffer> {
        let number = self.numbers.get(&(slice.offset, slice.len))?;
        Some(&self.made[*number])
    }

    /// Keeps the part that is `slice`.
    pub(super) fn keep(&mut self, slice: &Slice, part: Owned<Buffer>) {
        self.numbers.insert((slice.offset, slice.len), self.made.len());
        self.made.push(part);
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        while self.made.pop().is_some() {}
    }
}
