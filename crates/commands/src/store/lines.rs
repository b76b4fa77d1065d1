//! Lines of a stream that nobody vouches for: bounded, and never an endless wait for memory.

use std::io::{self, BufRead, Read};

/// Splits a stream into lines of at most `limit` bytes.
#[derive(Debug)]
pub struct Lines<R> {
    source: R,
    limit: usize,
}

/// One line as it was found, without its line break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A whole line.
    Whole(Vec<u8>),
    /// The stream ended before the line did.
    Torn(Vec<u8>),
    /// The line is longer than the limit; its beginning.
    TooLong(Vec<u8>),
}

impl Piece {
    /// The bytes that were kept.
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::Whole(bytes) | Self::Torn(bytes) | Self::TooLong(bytes) => bytes,
        }
    }
}

impl<R: BufRead> Lines<R> {
    /// Lines of `source`, each cut at `limit` bytes.
    pub fn new(source: R, limit: usize) -> Self {
        Self { source, limit }
    }

    /// The next line and how many bytes of the stream it took; `None` at the end.
    ///
    /// # Errors
    /// What the stream says.
    pub fn next_line(&mut self) -> io::Result<Option<(Piece, u64)>> {
        let mut line = Vec::new();
        // One byte over the limit: the line's end, or what shows that it is too long.
        let max_bytes = self.limit as u64 + 1;
        let taken = (&mut self.source).take(max_bytes).read_until(b'\n', &mut line)? as u64;
        if line.last() == Some(&b'\n') {
            line.pop();
            return Ok(Some((Piece::Whole(line), taken)));
        }
        if taken < max_bytes {
            return Ok((taken > 0).then_some((Piece::Torn(line), taken)));
        }
        line.truncate(self.limit);
        let skipped = self.source.skip_until(b'\n')? as u64;
        Ok(Some((Piece::TooLong(line), taken + skipped)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, limit: usize) -> Vec<(Piece, u64)> {
        // A tiny buffer, so that lines span several fills.
        let mut lines =
            Lines::new(io::BufReader::with_capacity(3, io::Cursor::new(text.to_owned())), limit);
        std::iter::from_fn(|| lines.next_line().expect("a cursor does not fail")).collect()
    }

    #[test]
    fn whole_lines_and_a_torn_end() {
        let found = all("one\n\nthree", 10);
        assert_eq!(
            found,
            [
                (Piece::Whole(b"one".to_vec()), 4),
                (Piece::Whole(vec![]), 1),
                (Piece::Torn(b"three".to_vec()), 5)
            ]
        );
    }

    #[test]
    fn a_long_line_is_cut_but_the_next_one_is_whole() {
        let found = all("abcdefghij\nk\n", 4);
        assert_eq!(
            found,
            [(Piece::TooLong(b"abcd".to_vec()), 11), (Piece::Whole(b"k".to_vec()), 2)]
        );
        assert_eq!(all("abcd\n", 4), [(Piece::Whole(b"abcd".to_vec()), 5)]);
    }
}
