//! This side of the way to another machine: a command behind whose stdin and stdout a relay stands.

use super::super::client::describe;
use super::super::group::Group;
use super::super::stderr_tail::{Followed, StderrTail};
use super::frame::{FrameReader, FrameWriter};
use super::life::{Life, Silence};
use super::message::{Answer, Ask, Greeting, LONGEST_LINE, pulse};
use crate::store::Lines;
use gpubench_core::record::Outcome;
use gpubench_core::text::printable;
use gpubench_device::ends_with_this_process;
use std::io::{BufReader, Read, Write};
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::time::{Duration, Instant};

/// How long a relay that begins may take to say so: a link may have to be dialled, and a password agent asked.
const GREETING: Duration = Duration::from_secs(30);

/// How long a relay may take to clear up once its stdin has ended.
const CLOSE: Duration = Duration::from_secs(2);

/// How many messages are read before somebody wants them: what floods this side waits in its own pipe.
const AHEAD: usize = 1;

/// A command that runs a relay. Dropping it ends the relay's stdin, and with that the command.
#[derive(Debug)]
pub(super) struct Link {
    group: Group,
    asks: Option<Sender<Ask>>,
    heard: Receiver<Heard>,
    life: Life,
    /// For how long the other side may be silent.
    silence: Duration,
    stderr_tail: StderrTail,
    stderr: Followed,
}

/// What arrived.
#[derive(Debug)]
enum Heard {
    Greeting(Greeting),
    Answer(Answer),
    /// A line that cannot be read: nothing behind it counts.
    Garbled(String),
}

/// Why there is no link.
pub(super) struct NoLink {
    /// What happened.
    pub why: String,
    /// The status of the command where it ended.
    pub code: Option<i32>,
}

impl Link {
    /// Runs the command of these words and waits until the relay greets; it is taken for gone after so long a silence.
    pub fn open(words: &[String], silence: Duration) -> Result<(Self, Greeting), NoLink> {
        let failed = |error: std::io::Error| NoLink { why: error.to_string(), code: None };
        let (program, arguments) = words
            .split_first()
            .ok_or_else(|| NoLink { why: "the command has no words".into(), code: None })?;
        let mut command = Command::new(program);
        command.args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        ends_with_this_process(&mut command);
        let mut group = Group::spawn_to_last(command)
            .map_err(|error| NoLink { why: format!("`{program}`: {error}"), code: None })?;
        let Some((stdin, stdout, stderr)) = group.streams() else {
            return Err(NoLink { why: "a command without pipes".into(), code: None });
        };
        let stderr_tail = StderrTail::default();
        let stderr = stderr_tail.follow(stderr).map_err(failed)?;
        let life = Life::default();
        let heard = listen(life.of(stdout), stderr_tail.clone()).map_err(failed)?;
        let asks = Some(write(stdin, pulse(silence)).map_err(failed)?);
        let mut link = Self { group, asks, heard, life, silence, stderr_tail, stderr };
        let greeting = link.greeting()?;
        Ok((link, greeting))
    }

    fn greeting(&mut self) -> Result<Greeting, NoLink> {
        let why = match self.heard.recv_timeout(GREETING) {
            Ok(Heard::Greeting(greeting)) => return Ok(greeting),
            Ok(Heard::Garbled(why)) => why,
            Ok(Heard::Answer(_)) => "it answered before it was asked".into(),
            Err(RecvTimeoutError::Timeout) => {
                format!("no gpubench answered within {} s", GREETING.as_secs())
            }
            Err(RecvTimeoutError::Disconnected) => String::new(),
        };
        let (status, words) = self.end();
        let ended = || status.map_or_else(|| "it closed its output".to_owned(), describe);
        let why = if why.is_empty() { ended() } else { why };
        Err(NoLink { why: why + &words, code: status.and_then(|status| status.code()) })
    }

    /// Sends a question.
    pub fn ask(&self, ask: Ask) {
        if let Some(asks) = &self.asks {
            // A command that does not listen has ended; waiting shows how.
            let _ = asks.send(ask);
        }
    }

    /// The next answer within `limit`. As with a worker, time in which this process was stopped does not count.
    ///
    /// # Errors
    /// `LinkLost`: the command is gone then.
    pub fn answer(&mut self, doing: &str, limit: Duration) -> Result<Answer, Outcome> {
        const SLICE: Duration = Duration::from_millis(100);
        let (mut left, mut silence) = (limit, Silence::of(&self.life));
        loop {
            let start = Instant::now();
            match self.heard.recv_timeout(SLICE.min(left)) {
                Ok(Heard::Answer(answer)) => return Ok(answer),
                Ok(Heard::Greeting(_)) => return Err(self.lost("the relay restarted")),
                Ok(Heard::Garbled(why)) => return Err(self.lost(&why)),
                Err(RecvTimeoutError::Disconnected) => return Err(self.lost("")),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let passed = start.elapsed().min(SLICE);
            left = left.saturating_sub(passed);
            if left.is_zero() {
                let limit = limit.as_secs_f64();
                return Err(self.lost(&format!("{doing}: no answer within {limit} s")));
            }
            if silence.after(passed) >= self.silence {
                let silence = self.silence.as_secs_f64();
                return Err(self.lost(&format!("{doing}: nothing was heard for {silence} s")));
            }
        }
    }

    /// As [`Link::answer`], for a question that has one answer.
    pub fn ask_once(&mut self, ask: Ask, doing: &str, limit: Duration) -> Result<Answer, Outcome> {
        self.ask(ask);
        match self.answer(doing, limit)? {
            Answer::Failed(outcome) => Err(outcome),
            answer => Ok(answer),
        }
    }

    /// That the other side said something that it was not asked for.
    pub fn confused(&mut self, answer: &Answer) -> Outcome {
        self.lost(&printable(&format!("it answered out of turn: {answer:?}"), 200))
    }

    fn lost(&mut self, why: &str) -> Outcome {
        let (status, words) = self.end();
        let ended = || match status {
            Some(status) => format!("the command ended: {}", describe(status)),
            None => "the command closed its output".to_owned(),
        };
        let why = if why.is_empty() { ended() } else { why.to_owned() };
        Outcome::LinkLost(why + &words)
    }

    /// Kills the command; how it had ended by itself, and its last words.
    fn end(&mut self) -> (Option<ExitStatus>, String) {
        let status = self.group.wait(Duration::from_millis(300));
        self.group.kill();
        self.stderr.settle();
        let lines = self.stderr_tail.lines();
        let last = lines[lines.len().saturating_sub(2)..].join(" | ");
        (status, if last.is_empty() { last } else { format!(": {last}") })
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.asks = None;
        self.group.wait(CLOSE);
    }
}

/// Reads lines in a thread; those that are no messages go to the tail of stderr. The channel ends with the
/// command's stdout.
fn listen(
    stdout: impl Read + Send + 'static,
    stderr_tail: StderrTail,
) -> std::io::Result<Receiver<Heard>> {
    let (send, heard) = sync_channel(AHEAD);
    std::thread::Builder::new().spawn(move || {
        let mut frames = FrameReader::default();
        let mut is_greeted = false;
        for line in Lines::new(BufReader::new(stdout), LONGEST_LINE).kept() {
            let text = String::from_utf8_lossy(&line);
            let read = match is_greeted {
                true => match frames.message(&text) {
                    Ok(Some(Answer::Pulse)) => continue,
                    read => read.map(|found| found.map(Heard::Answer)),
                },
                false => frames.message(&text).map(|found| found.map(Heard::Greeting)),
            };
            let (next, is_last) = match read {
                Ok(Some(heard)) => (heard, false),
                Ok(None) => {
                    stderr_tail.push(&line);
                    continue;
                }
                Err(why) => (Heard::Garbled(why), true),
            };
            is_greeted = true;
            if send.send(next).is_err() || is_last {
                break;
            }
        }
    })?;
    Ok(heard)
}

/// Writes questions in a thread, and that this side lives where there are none: a link that does not take them
/// must not block the run.
fn write(mut stdin: ChildStdin, pulse: Duration) -> std::io::Result<Sender<Ask>> {
    let (send, asks) = channel::<Ask>();
    std::thread::Builder::new().spawn(move || {
        let mut frames = FrameWriter::default();
        loop {
            let ask = match asks.recv_timeout(pulse) {
                Ok(ask) => ask,
                Err(RecvTimeoutError::Timeout) => Ask::Pulse,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let Ok(line) = frames.line(&ask) else { break };
            if stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_err() {
                break;
            }
        }
    })?;
    Ok(send)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::{host, version};

    /// A machine that says hello, and then answers what it is not asked for again and again.
    struct Flood {
        frames: FrameWriter,
        line: Vec<u8>,
        taken: Life,
    }

    impl Read for Flood {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            if self.line.is_empty() {
                self.line = self.frames.line(&Answer::Hash("f".repeat(4096)))?.into_bytes();
            }
            self.taken.of(&self.line[..1]).read_exact(&mut [0])?;
            let read = self.line.len().min(into.len());
            into[..read].copy_from_slice(&self.line[..read]);
            self.line.drain(..read);
            Ok(read)
        }
    }

    #[test]
    fn what_nobody_requested_is_not_read() {
        let (mut frames, taken) = (FrameWriter::default(), Life::default());
        let hello = Greeting { gpubench: version(), host: host(), identities: vec![] };
        let line = frames.line(&hello).unwrap().into_bytes();
        let flood = Flood { frames, line, taken: taken.clone() };
        let mut silence = Silence::of(&taken);
        let heard = listen(flood, StderrTail::default()).unwrap();
        // It is read until what is read ahead is full, and then no more.
        let second = Duration::from_secs(1);
        let full = Instant::now();
        while silence.after(second) < 5 * second {
            assert!(full.elapsed() < 10 * second, "it is read on and on");
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(matches!(heard.recv(), Ok(Heard::Greeting(_))));
        assert!(matches!(heard.recv(), Ok(Heard::Answer(Answer::Hash(_)))));
    }
}
