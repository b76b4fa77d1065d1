//! The last lines that a worker wrote and that are no messages: what a crash leaves to read.

use crate::store::Lines;
use gpubench_core::text::printable;
use gpubench_report::progress::Stderr;
use std::collections::VecDeque;
use std::io::{BufReader, Read, Write};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The environment variable that says what the library is to note besides results.
pub const LOG: &str = "GPUBENCH_LOG";
const LINES: usize = 20;
const CHARS: usize = 400;

/// The last lines; clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct StderrTail(Arc<Mutex<VecDeque<String>>>);

impl StderrTail {
    /// Appends a line; the user's home folder is left out of it. Who asks for a log sees it at once.
    pub fn push(&self, line: &[u8]) {
        let mut text = printable(&String::from_utf8_lossy(line), CHARS);
        if let Some(home) = home() {
            text = text.replace(&home, "~");
        }
        if text.trim().is_empty() {
            return;
        }
        // What it notes it has chosen already, by the same variable.
        if std::env::var_os(LOG).is_some_and(|wanted| !wanted.is_empty()) {
            let _ = Stderr.write_all(format!("{text}\n").as_bytes());
        }
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(text);
    }

    /// Follows a stream to its end in a thread, where the system has one.
    pub fn follow(&self, stream: impl Read + Send + 'static) -> std::io::Result<Followed> {
        let (end, ended) = channel();
        let stderr_tail = self.clone();
        std::thread::Builder::new().spawn(move || {
            let lines = Lines::new(BufReader::new(stream), 4 * CHARS);
            lines.kept().for_each(|line| stderr_tail.push(&line));
            let _ = end.send(());
        })?;
        Ok(Followed(ended))
    }

    /// The lines.
    pub fn lines(&self) -> Vec<String> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().cloned().collect()
    }
}

/// A stream that is being followed.
#[derive(Debug)]
pub(super) struct Followed(Receiver<()>);

impl Followed {
    /// Waits for the stream's end, but not for ever: a process that outlived its parent may
    /// keep it open.
    pub fn settle(&self) {
        let _ = self.0.recv_timeout(Duration::from_millis(300));
    }
}

fn home() -> Option<String> {
    let home = std::env::var("HOME").or_else(|_| std::env::var("USERPROFILE")).ok()?;
    (home.len() > 1).then_some(home)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_stay() {
        let stderr_tail = StderrTail::default();
        let text: String = (0..100).map(|i| format!("line {i}\n\n")).collect();
        stderr_tail.follow(std::io::Cursor::new(text)).unwrap().settle();
        let lines = stderr_tail.lines();
        assert_eq!(lines.len(), LINES);
        assert_eq!(lines[LINES - 1], "line 99");
    }
}
