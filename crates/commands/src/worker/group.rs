//! A child in a process group of its own, which ends with everything it started.

use process_wrap::std::{ChildWrapper, CommandWrap};
use std::io;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Group numbers of the children that live, for [`kill_all`].
static LIVE: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// How long a killed process may take to vanish: one that sits in a driver's call may take for
/// ever, and is then left to the system.
const REAP: Duration = Duration::from_secs(1);

/// A child and its process group (on Windows, its job). Dropping it kills both.
#[derive(Debug)]
pub(super) struct Group {
    child: Box<dyn ChildWrapper>,
    status: Option<ExitStatus>,
    killed: bool,
}

impl Group {
    /// Starts `command`. The parent must start it from a thread that lives on: on Linux a worker
    /// dies with the thread that started it.
    pub fn spawn(command: Command) -> io::Result<Self> {
        let mut command = CommandWrap::from(command);
        #[cfg(unix)]
        command.wrap(process_wrap::std::ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(process_wrap::std::JobObject);
        // Held over the start, so that no child lives that `kill_all` does not see.
        let mut live = live();
        let child = command.spawn()?;
        live.push(child.id());
        Ok(Self { child, status: None, killed: false })
    }

    /// As [`Group::spawn`], by a thread that lives as long as this process, whoever calls.
    pub fn spawn_to_last(command: Command) -> io::Result<Self> {
        type Job = (Command, SyncSender<io::Result<Group>>);
        static SPAWNER: OnceLock<Option<Sender<Job>>> = OnceLock::new();
        let begin = || {
            let (send, jobs) = channel::<Job>();
            let spawn = move || {
                for (command, answer) in jobs {
                    // Who no longer waits for it has no use for it: it is dropped, and so killed.
                    let _ = answer.send(Self::spawn(command));
                }
            };
            std::thread::Builder::new().spawn(spawn).ok().map(|_| send)
        };
        let gone = || io::Error::other("the system has no thread left");
        let (answer, spawned) = sync_channel(1);
        let spawner = SPAWNER.get_or_init(begin).as_ref().ok_or_else(gone)?;
        spawner.send((command, answer)).map_err(|_| gone())?;
        spawned.recv().map_err(|_| gone())?
    }

    /// The child's number.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// The child's ends of its three streams, once.
    pub fn streams(&mut self) -> Option<(ChildStdin, ChildStdout, ChildStderr)> {
        let child = self.child.as_mut();
        Some((child.stdin().take()?, child.stdout().take()?, child.stderr().take()?))
    }

    /// The child's stderr, once, where it alone is piped.
    pub fn stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr().take()
    }

    /// Waits until the child has ended, at most so long.
    pub fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        while self.status.is_none() {
            let mut live = live();
            if let Ok(Some(status)) = self.child.try_wait() {
                self.status = Some(status);
                live.retain(|&id| id != self.child.id());
                break;
            }
            drop(live);
            if start.elapsed() >= limit {
                break;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
        self.status
    }

    /// Kills the group, once (its number may be another's afterwards), and waits for the child
    /// a moment.
    pub fn kill(&mut self) -> Option<ExitStatus> {
        if !std::mem::replace(&mut self.killed, true) {
            let _ = self.child.start_kill();
        }
        self.wait(REAP)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Kills every child's group at once, without waiting. For the moment before exit: no child is
/// started any more after it.
pub fn kill_all() {
    let live = live();
    #[cfg(unix)]
    for pid in live.iter().filter_map(|&id| rustix::process::Pid::from_raw(id.cast_signed())) {
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
    // Elsewhere the children see their stdin end, and end themselves.
    std::mem::forget(live);
}

fn live() -> MutexGuard<'static, Vec<u32>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}
