//! Layouts of types that no buffer has. naga gives every array a stride; the specification allows one only in
//! buffers and push constants (VUID-StandaloneSpirv-None-10684, which Khronos' layer looks at since 2026). A type
//! that a buffer has, too, keeps its own: naga makes one of all that are equal. Of what else a module could have
//! naga writes nothing: groups of decorations, untyped pointers, pointers to physical memory.

use gpubench_core::gpu::SpirvModule;
use std::collections::{BTreeMap, BTreeSet};

/// Instructions.
const TYPE_ARRAY: u32 = 28;
const TYPE_RUNTIME_ARRAY: u32 = 29;
const TYPE_STRUCT: u32 = 30;
const TYPE_POINTER: u32 = 32;
const DECORATE: u32 = 71;
const MEMBER_DECORATE: u32 = 72;

/// Decorations that are a layout: RowMajor, ColMajor, ArrayStride, MatrixStride, Offset.
const LAYOUTS: [u32; 5] = [4, 5, 6, 7, 35];

/// Decorations of the structures that buffers are: Block, BufferBlock.
const BLOCKS: [u32; 2] = [2, 3];

/// Classes of memory whose types have a layout: Uniform, PushConstant, StorageBuffer.
const LAID_OUT: [u32; 3] = [2, 9, 12];

/// The module without layouts of types that are in no buffer. What is no module is left as it is.
pub(super) fn of_buffers_only(words: Vec<u32>) -> Vec<u32> {
    let (mut parts, mut length) = (BTreeMap::new(), 0);
    let mut next: Vec<u32> = vec![];
    for (op, instruction) in SpirvModule::instructions(&words) {
        length += instruction.len();
        match (op, &instruction[1..]) {
            (TYPE_ARRAY | TYPE_RUNTIME_ARRAY, [id, element, ..]) => {
                parts.insert(*id, std::slice::from_ref(element));
            }
            (TYPE_STRUCT, [id, members @ ..]) => drop(parts.insert(*id, members)),
            (TYPE_POINTER, [_, class, to]) if LAID_OUT.contains(class) => next.push(*to),
            // A block counts without a pointer to it, too: its variable may be another entry's.
            (DECORATE, [id, decoration, ..]) if BLOCKS.contains(decoration) => next.push(*id),
            _ => {}
        }
    }
    if SpirvModule::HEADER + length != words.len() {
        return words;
    }
    let mut in_buffers = BTreeSet::new();
    while let Some(id) = next.pop() {
        if in_buffers.insert(id) {
            next.extend(parts.get(&id).copied().unwrap_or_default());
        }
    }
    let is_kept = |op, operands: &[u32]| match (op, operands) {
        (DECORATE, [id, decoration, ..]) | (MEMBER_DECORATE, [id, _, decoration, ..]) => {
            !LAYOUTS.contains(decoration) || in_buffers.contains(id) || !parts.contains_key(id)
        }
        _ => true,
    };
    let kept = SpirvModule::instructions(&words).filter(|(op, words)| is_kept(*op, &words[1..]));
    words[..SpirvModule::HEADER].iter().chain(kept.flat_map(|(_, words)| words)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(instructions: &[&[u32]]) -> Vec<u32> {
        let mut words = vec![0; SpirvModule::HEADER];
        for instruction in instructions {
            words.push((instruction.len() as u32) << 16 | instruction[0]);
            words.extend(&instruction[1..]);
        }
        words
    }

    #[test]
    fn only_what_is_in_a_buffer_keeps_its_layout() {
        const STRIDE: u32 = 6;
        const BLOCK: u32 = 2;
        const WORKGROUP: u32 = 4;
        // Array 10 is local, array 11 is in struct 12, which a buffer has; 13 is a number.
        let local: &[u32] = &[DECORATE, 10, STRIDE, 4];
        let others: [&[u32]; 8] = [
            &[DECORATE, 11, STRIDE, 4],
            &[DECORATE, 12, BLOCK],
            &[MEMBER_DECORATE, 12, 0, 35, 0],
            &[TYPE_ARRAY, 10, 13, 1],
            &[TYPE_RUNTIME_ARRAY, 11, 13],
            &[TYPE_STRUCT, 12, 11],
            &[TYPE_POINTER, 14, WORKGROUP, 10],
            &[TYPE_POINTER, 15, 12, 12],
        ];
        let all = module(&[&[local], &others[..]].concat());
        assert_eq!(of_buffers_only(all), module(&others));
    }

    #[test]
    fn what_is_no_module_is_left_as_it_is() {
        for words in [vec![], vec![1; 3], vec![9 << 16; 6], vec![0; 6]] {
            assert_eq!(of_buffers_only(words.clone()), words);
        }
    }
}
