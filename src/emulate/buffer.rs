//! A buffer whose words are made when they are first touched: one work-group of a large problem
//! sees little of it.

use std::fmt;
use std::sync::Arc;

/// Writes the words of a block, the first of which has this position in the buffer.
type Make = Arc<dyn Fn(usize, &mut [u32]) + Send + Sync>;

/// The words of one buffer.
#[derive(Clone, Default)]
pub struct Buffer {
    words: usize,
    /// Words of a block.
    block: usize,
    /// Blocks, empty until touched.
    blocks: Vec<Vec<u32>>,
    /// `None` where every block is there.
    make: Option<Make>,
}

impl Buffer {
    /// Of `words` words, which `make` writes in blocks of `block` (the last may be shorter).
    pub fn lazy(
        words: usize,
        block: usize,
        make: impl Fn(usize, &mut [u32]) + Send + Sync + 'static,
    ) -> Self {
        let block = block.max(1);
        let blocks = vec![vec![]; words.div_ceil(block)];
        Self { words, block, blocks, make: Some(Arc::new(make)) }
    }

    /// How many words it has.
    pub fn len(&self) -> usize {
        self.words
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.words == 0
    }

    /// The word at `address`, which lies in the buffer.
    pub(super) fn word(&mut self, address: usize) -> &mut u32 {
        let (number, within) = (address / self.block, address % self.block);
        if self.blocks[number].is_empty() {
            self.touch(number);
        }
        &mut self.blocks[number][within]
    }

    #[cold]
    fn touch(&mut self, number: usize) {
        let first = number * self.block;
        let mut words = vec![0; self.block.min(self.words - first)];
        if let Some(make) = &self.make {
            make(first, &mut words);
        }
        self.blocks[number] = words;
    }

    /// All words.
    pub fn into_words(mut self) -> Vec<u32> {
        for number in 0..self.blocks.len() {
            if self.blocks[number].is_empty() {
                self.touch(number);
            }
        }
        match self.blocks.len() {
            1 => self.blocks.remove(0),
            _ => self.blocks.concat(),
        }
    }
}

impl From<Vec<u32>> for Buffer {
    fn from(words: Vec<u32>) -> Self {
        let count = words.len();
        let blocks = if count == 0 { vec![] } else { vec![words] };
        Self { words: count, block: count.max(1), blocks, make: None }
    }
}

impl FromIterator<u32> for Buffer {
    fn from_iter<I: IntoIterator<Item = u32>>(words: I) -> Self {
        words.into_iter().collect::<Vec<_>>().into()
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let made = self.blocks.iter().filter(|block| !block.is_empty()).count();
        write!(f, "{} words, {made} of {} blocks made", self.words, self.blocks.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn only_blocks_that_are_touched_are_made_and_once() {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = calls.clone();
        let mut buffer = Buffer::lazy(10, 4, move |first, words| {
            counted.fetch_add(1, Ordering::Relaxed);
            words.iter_mut().zip(first as u32..).for_each(|(word, i)| *word = 100 + i);
        });
        *buffer.word(9) += 1;
        assert_eq!((*buffer.word(8), *buffer.word(9)), (108, 110));
        assert_eq!(format!("{buffer:?}"), "10 words, 1 of 3 blocks made");
        let words = buffer.into_words();
        assert_eq!(words, [100, 101, 102, 103, 104, 105, 106, 107, 108, 110]);
        assert_eq!(calls.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn words_that_are_there_stay() {
        assert_eq!(Buffer::from(vec![1, 2]).into_words(), [1, 2]);
        assert!(Buffer::from(vec![]).is_empty());
        assert_eq!(Buffer::from(vec![]).into_words(), [0; 0]);
    }
}
