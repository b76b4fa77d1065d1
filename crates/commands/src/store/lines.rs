//! Lines of a stream that nobody vouches for: bounded, and never an endless wait for memory.

use std::io::{self, BufRead};

/// Splits a stream into lines of at most `limit` bytes.
#[derive(Debug)]
pub struct Lines<R> {
    source: R,
    limit: usize,
    /// Memory of a line that is done with.
    spare: Vec<u8>,
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
        Self { source, limit, spare: vec![] }
    }

    /// The next line and how many bytes of the stream it took; `None` at the end.
    ///
    /// # Errors
    /// What the stream says.
    pub fn next_line(&mut self) -> io::Result<Option<(Piece, u64)>> {
        let mut line = std::mem::take(&mut self.spare);
        line.clear();
        // One byte over the limit: the line's end, or what shows that it is too long.
        let max_bytes = self.limit + 1;
        self.read_line(max_bytes, &mut line)?;
        let taken = line.len() as u64;
        if line.last() == Some(&b'\n') {
            line.pop();
            return Ok(Some((Piece::Whole(line), taken)));
        }
        if line.len() < max_bytes {
            return Ok((taken > 0).then_some((Piece::Torn(line), taken)));
        }
        line.truncate(self.limit);
        let skipped = self.source.skip_until(b'\n')? as u64;
        Ok(Some((Piece::TooLong(line), taken + skipped)))
    }

    /// What was kept of each line, until the stream ends or fails.
    pub fn kept(mut self) -> impl Iterator<Item = Vec<u8>> {
        std::iter::from_fn(move || Some(self.next_line().ok()??.0.into_bytes()))
    }

    /// Takes back the memory of a line for the next one.
    pub fn reuse(&mut self, line: Vec<u8>) {
        self.spare = line;
    }

    /// As `read_until` of at most so many bytes, with a faster search.
    fn read_line(&mut self, max_bytes: usize, line: &mut Vec<u8>) -> io::Result<()> {
        while line.len() < max_bytes && line.last() != Some(&b'\n') {
            let found = match self.source.fill_buf() {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                found => found?,
            };
            let found = &found[..found.len().min(max_bytes - line.len())];
            if found.is_empty() {
                break;
            }
            let end = memchr::memchr(b'\n', found).map_or(found.len(), |end| end + 1);
            line.extend_from_slice(&found[..end]);
            self.source.consume(end);
        }
        Ok(())
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
