//! Signs of life: every byte that arrives from the other side is one, so that a long line over a slow link is
//! no silence.

use std::io::{Read, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How much has arrived; clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Life(Arc<AtomicU64>);

impl Life {
    /// The stream, every byte of which counts.
    pub fn of<R: Read>(&self, stream: R) -> Followed<R> {
        Followed { stream, life: self.clone() }
    }
}

/// A stream whose bytes are counted.
#[derive(Debug)]
pub(super) struct Followed<R> {
    stream: R,
    life: Life,
}

impl<R: Read> Read for Followed<R> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let read = self.stream.read(into)?;
        self.life.0.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// How long nothing has arrived.
#[derive(Debug)]
pub(super) struct Silence {
    life: Life,
    known: u64,
    passed: Duration,
}

impl Silence {
    /// From now on.
    pub fn of(life: &Life) -> Self {
        Self { known: life.0.load(Ordering::Relaxed), life: life.clone(), passed: Duration::ZERO }
    }

    /// How long it is after `waited` more. Only time that is reported here counts: a machine that slept has not
    /// listened.
    pub fn after(&mut self, waited: Duration) -> Duration {
        let now = self.life.0.load(Ordering::Relaxed);
        self.passed = if now == self.known { self.passed + waited } else { Duration::ZERO };
        self.known = now;
        self.passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_ends_a_silence_and_a_line_need_not_be_whole() {
        let life = Life::default();
        let mut stream = life.of(&b"half a li"[..]);
        let mut silence = Silence::of(&life);
        let second = Duration::from_secs(1);
        assert_eq!(silence.after(second), second);
        assert_eq!(silence.after(second), 2 * second);
        let mut byte = [0];
        for _ in 0..9 {
            stream.read_exact(&mut byte).unwrap();
            assert_eq!(silence.after(second), Duration::ZERO);
        }
        assert_eq!(stream.read(&mut byte).unwrap(), 0);
        assert_eq!(silence.after(second), second, "the end is no sign of life");
    }
}
