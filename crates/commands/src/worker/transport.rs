//! The worker's side of the pipes: requests in, replies out, and nothing else on either.

use super::protocol::{Reply, Request};
use gpubench_core::error::{Error, Result};
use std::io::{BufRead, BufReader, Write};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long an idle worker may take to close its device once its parent is gone.
const GRACE: Duration = Duration::from_secs(2);

/// The worker's pipes.
pub struct Transport {
    out: Box<dyn Write + Send>,
    requests: Receiver<Request>,
}

impl Transport {
    /// Takes the process's stdin and stdout over: what drivers print to stdout from now on goes
    /// to stderr. Call it before any driver is loaded.
    ///
    /// # Errors
    /// `Device` when the streams cannot be moved, or the system has no thread left.
    pub fn open() -> Result<Self> {
        let out = take_stdout().map_err(|e| Error::Device(format!("moving stdout away: {e}")))?;
        let (send, requests) = channel();
        let listening = std::thread::Builder::new().spawn(move || {
            for line in BufReader::new(std::io::stdin()).lines().map_while(std::io::Result::ok) {
                let request = serde_json::from_str(&line).unwrap_or_else(|e| {
                    // The parent is the same program: this is a bug, and it must be seen.
                    eprintln!("a request that cannot be read: {e}");
                    die()
                });
                if send.send(request).is_err() {
                    break;
                }
            }
            // Stdin has ended: the parent is done or dead. An idle worker ends by itself.
            drop(send);
            std::thread::sleep(GRACE);
            die();
        });
        listening.map_err(|e| Error::Device(format!("listening to the parent: {e}")))?;
        Ok(Self { out, requests })
    }

    /// The next request; `None` when there will be no more.
    pub fn next_request(&self) -> Option<Request> {
        self.requests.recv().ok()
    }

    /// Sends a reply.
    ///
    /// # Errors
    /// `Device` when the parent is gone.
    pub fn send(&mut self, reply: &Reply) -> Result<()> {
        let line = reply.to_line().map_err(|e| Error::Device(format!("reply: {e}")))?;
        let sent = self.out.write_all(line.as_bytes()).and_then(|()| self.out.flush());
        sent.map_err(|e| Error::Device(format!("the parent does not listen: {e}")))
    }
}

/// Keeps a copy of stdout and points the descriptor itself to stderr.
#[cfg(unix)]
pub(super) fn take_stdout() -> std::io::Result<Box<dyn Write + Send>> {
    let kept = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok(Box::new(std::fs::File::from(kept)))
}

/// Where descriptors cannot be moved, the mark before each reply distinguishes it from other output.
#[cfg(not(unix))]
pub(super) fn take_stdout() -> std::io::Result<Box<dyn Write + Send>> {
    Ok(Box::new(std::io::stdout()))
}

/// Has the system end this process when its parent, of this number, ends.
#[cfg(target_os = "linux")]
pub fn die_with(parent: u32) {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    // It may have ended before the call.
    if getppid().is_none_or(|now| now.as_raw_nonzero().get().cast_unsigned() != parent) {
        die();
    }
}

/// Where the system offers no such thing, the end of stdin shows it.
#[cfg(not(target_os = "linux"))]
pub fn die_with(_parent: u32) {}

/// Ends the process at once: no destructor of a hanging driver is waited for.
fn die() -> ! {
    #[cfg(unix)]
    let _ = rustix::process::kill_current_process_group(rustix::process::Signal::KILL);
    std::process::abort()
}
