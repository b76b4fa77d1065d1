//! A buffer whose words are made when they are first touched: one work-group of a large problem
//! sees little of it. An output knows which of its words were written.

use std::fmt;
use std::sync::Arc;

/// Writes the words of a block, the first of which has this position in the buffer.
type Make = Arc<dyn Fn(usize, &mut [u32]) + Send + Sync>;

/// The words of one buffer.
#[derive(Clone, Default)]
pub struct Buffer {
    words: usize,
    /// The words that are there: all in their order, or block after block as they were touched.
    made: Vec<u32>,
    /// `None` where every word is there.
    lazy: Option<Lazy>,
    /// Of an output, a bit for each half of a word: whether it was written.
    written: Option<Vec<u64>>,
}

/// What is not there yet.
#[derive(Clone)]
struct Lazy {
    /// A block has two to the power of this many words.
    bits: u32,
    /// Which of the made blocks each is, from 1; 0: it is not made. The system
    /// gives pages of zeros only where they are written.
    places: Vec<usize>,
    make: Make,
}

impl Buffer {
    /// Of `words` words, which `make` writes in blocks of `block`, a power of two or the next one
    /// (the last may be shorter).
    pub fn lazy(
        words: usize,
        block: usize,
        make: impl Fn(usize, &mut [u32]) + Send + Sync + 'static,
    ) -> Self {
        let block = block.next_power_of_two();
        let places = vec![0; words.div_ceil(block)];
        let lazy = Lazy { bits: block.trailing_zeros(), places, make: Arc::new(make) };
        Self { words, made: vec![], lazy: Some(lazy), written: None }
    }

    /// Makes it an output: what it holds now is nobody's, until a kernel writes it.
    pub fn track_writes(&mut self) {
        self.written = Some(vec![0; self.words.div_ceil(32)]);
    }

    /// Whether it is an output.
    pub(super) fn is_tracked(&self) -> bool {
        self.written.is_some()
    }

    /// Notes that a half of a word, which lies in the buffer, was written.
    pub(super) fn mark(&mut self, half: usize) {
        if let Some(written) = &mut self.written {
            written[half / 64] |= 1 << (half % 64);
        }
    }

    /// Whether a half of a word holds something: all do, but for what an output was not given.
    pub(super) fn is_written(&self, half: usize) -> bool {
        self.written.as_ref().is_none_or(|written| written[half / 64] >> (half % 64) & 1 == 1)
    }

    /// The word at `address`; `None` beyond its end, and where an output was never written.
    pub fn get(&mut self, address: usize) -> Option<u32> {
        let is_written = |half| self.is_written(2 * address + half);
        (address < self.words && is_written(0) && is_written(1)).then(|| *self.word(address))
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
    #[inline]
    pub(super) fn word(&mut self, address: usize) -> &mut u32 {
        let Some(lazy) = &mut self.lazy else { return &mut self.made[address] };
        let number = address >> lazy.bits;
        let place = match lazy.places[number] {
            0 => lazy.touch(number, self.words, &mut self.made),
            place => place,
        };
        let within = address % (1 << lazy.bits);
        &mut self.made[((place - 1) << lazy.bits) + within]
    }

    /// All words.
    pub fn into_words(self) -> Vec<u32> {
        let Some(lazy) = self.lazy else { return self.made };
        let mut all = vec![0; self.words];
        for (number, words) in all.chunks_mut(1 << lazy.bits).enumerate() {
            match lazy.places[number] {
                0 => (lazy.make)(number << lazy.bits, words),
                place => {
                    let first = (place - 1) << lazy.bits;
                    words.copy_from_slice(&self.made[first..][..words.len()]);
                }
            }
        }
        all
    }
}

impl Lazy {
    /// Makes a block of a buffer of `words` words behind those that are made; its place.
    #[cold]
    fn touch(&mut self, number: usize, words: usize, made: &mut Vec<u32>) -> usize {
        let (first, at) = (number << self.bits, made.len());
        let block = words.min(1 << self.bits);
        made.resize(at + block, 0);
        (self.make)(first, &mut made[at..][..block.min(words - first)]);
        self.places[number] = (at >> self.bits) + 1;
        self.places[number]
    }
}

impl From<Vec<u32>> for Buffer {
    fn from(words: Vec<u32>) -> Self {
        Self { words: words.len(), made: words, lazy: None, written: None }
    }
}

impl FromIterator<u32> for Buffer {
    fn from_iter<I: IntoIterator<Item = u32>>(words: I) -> Self {
        words.into_iter().collect::<Vec<_>>().into()
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(lazy) = &self.lazy else { return write!(f, "{} words", self.words) };
        let made = lazy.places.iter().filter(|place| **place > 0).count();
        write!(f, "{} words, {made} of {} blocks made", self.words, lazy.places.len())
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
    fn an_output_knows_what_was_written() {
        let mut buffer = Buffer::from(vec![7; 70]);
        assert!(!buffer.is_tracked() && buffer.is_written(139));
        buffer.track_writes();
        assert!(buffer.is_tracked() && !buffer.is_written(139));
        buffer.mark(139);
        assert!(buffer.is_written(139) && !buffer.is_written(5) && !buffer.is_written(138));
        assert_eq!(buffer.get(69), None);
        buffer.mark(138);
        assert_eq!([69, 5, 70].map(|word| buffer.get(word)), [Some(7), None, None]);
    }

    #[test]
    fn words_that_are_there_stay() {
        assert_eq!(Buffer::from(vec![1, 2]).into_words(), [1, 2]);
        assert!(Buffer::from(vec![]).is_empty());
        assert_eq!(Buffer::from(vec![]).into_words(), [0; 0]);
    }
}
