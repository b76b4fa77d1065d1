//! The parent's handle on a worker.

use super::compiled;
use super::deadlines::Deadlines;
use super::group::Group;
use super::page;
use super::protocol::{Reply, Request};
use super::stderr_tail::{Followed, StderrTail};
use crate::store::Lines;
use gpubench_core::gpu::{DeviceInfo, KernelSource, Signature};
use gpubench_core::record::Outcome;
use gpubench_device::opencl::library_variable;
use gpubench_device::sim::{SIM, Sim};
use gpubench_device::wgpu::EXIT_DEVICE_LOST;
use gpubench_experiments::Stage;
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// How long a worker may take to close its device after its last case; then it is killed.
const CLOSE: Duration = Duration::from_secs(2);

/// The longest reply: a record with 200 samples and a long build log stays far below.
const LONGEST_REPLY: usize = 64 << 20;

/// A worker process. Dropping it kills it.
#[derive(Debug)]
pub struct Client {
    group: Group,
    requests: Option<Sender<Vec<u8>>>,
    replies: Receiver<Reply>,
    stderr_tail: StderrTail,
    stderr: Followed,
}

/// How long a backend may take to list its devices, or to compile a kernel.
pub(super) const LISTING: Duration = Duration::from_secs(60);

/// The devices of a backend, found by a worker: a driver that crashes or hangs while it is
/// loaded does so there.
///
/// # Errors
/// The worker's error instead.
pub fn devices(backend: &str) -> Result<Vec<DeviceInfo>, Outcome> {
    let (client, devices) = Client::listing(backend)?;
    client.close();
    Ok(devices)
}

/// What each entry point of `source` takes, as the compiler of the backend's first device reports it; `None` where the
/// backend has no device.
///
/// # Errors
/// The worker's error instead.
pub fn signatures(backend: &str, source: &KernelSource) -> Result<Option<Vec<Signature>>, Outcome> {
    let (mut client, devices) = Client::listing(backend)?;
    if devices.is_empty() {
        return Ok(None);
    }
    client.send(&Request::Signatures { device: 0, source: Box::new(source.clone()) })?;
    match client.wait("compiling the kernel", LISTING)? {
        Reply::Signatures(found) => {
            client.close();
            Ok(Some(found))
        }
        other => Err(other.failure()),
    }
}

impl Client {
    /// Starts a worker and waits until it has opened the devices, simulated ones as `sim` has
    /// them. A driver keeps what it compiles in `folder`, where there is one.
    ///
    /// # Errors
    /// The error instead: `Timeout`, `Crash`, or why a device does not open.
    pub fn open(
        devices: &[DeviceInfo],
        sim: &Sim,
        folder: Option<&Path>,
        limit: Duration,
    ) -> Result<Self, Outcome> {
        let mut command = Self::command(devices, None, sim)?;
        command.envs(folder.into_iter().flat_map(|folder| compiled::environment(folder, devices)));
        let mut client = Self::spawn(command)?;
        match client.wait("opening the device", limit)? {
            Reply::Ready(found) if found.len() == devices.len() => {
                let other =
                    |(a, b): &(&DeviceInfo, &DeviceInfo)| a.name != b.name || a.driver != b.driver;
                match devices.iter().zip(&found).find(other) {
                    None => Ok(client),
                    Some((device, found)) => Err(Outcome::DeviceLost(format!(
                        "{} device {} is now {} ({})",
                        device.backend, device.index, found.name, found.driver
                    ))),
                }
            }
            other => Err(other.failure()),
        }
    }

    /// Sends a request and waits for its last reply, reporting to `stage` what the worker does.
    ///
    /// # Errors
    /// `Timeout` or `Crash`: the worker is gone then.
    pub fn ask(
        &mut self,
        request: &Request,
        deadlines: &Deadlines,
        stage: &mut dyn FnMut(Stage),
    ) -> Result<Reply, Outcome> {
        self.send(request)?;
        let mut doing = Stage::Prepare;
        loop {
            match self.wait(stage_activity(doing), deadlines.of(doing))? {
                Reply::Stage(now) => {
                    stage(now);
                    doing = now;
                }
                reply => return Ok(reply),
            }
        }
    }

    /// Sends a request and kills the worker when it has measured for so long; the reply, where it has
    /// ended before that.
    ///
    /// # Errors
    /// `Timeout` or `Crash`: it was gone before it was killed.
    pub fn kill_during(
        &mut self,
        request: &Request,
        deadlines: &Deadlines,
        moment: Duration,
    ) -> Result<Option<Reply>, Outcome> {
        self.send(request)?;
        let mut doing = Stage::Prepare;
        while doing != Stage::Measure {
            match self.wait(stage_activity(doing), deadlines.of(doing))? {
                Reply::Stage(now) => doing = now,
                reply => return Ok(Some(reply)),
            }
        }
        match self.replies.recv_timeout(moment) {
            Ok(reply) => Ok(Some(reply)),
            Err(RecvTimeoutError::Disconnected) => Err(self.autopsy()),
            Err(RecvTimeoutError::Timeout) => {
                self.group.kill();
                Ok(None)
            }
        }
    }

    fn send(&self, request: &Request) -> Result<(), Outcome> {
        let mut line =
            serde_json::to_vec(request).map_err(|e| Outcome::Failed(format!("request: {e}")))?;
        line.push(b'\n');
        // A worker that does not listen has ended; waiting shows how.
        let _ = self.requests.as_ref().map(|requests| requests.send(line));
        Ok(())
    }

    /// The number of its process.
    pub fn process(&self) -> u32 {
        self.group.process()
    }

    /// Lets the worker close its device, but does not wait for it for long.
    pub fn close(mut self) {
        self.requests = None;
        self.group.wait(CLOSE);
    }

    /// What starts a worker for these devices, or one that lists those of a backend.
    fn command(devices: &[DeviceInfo], list: Option<&str>, sim: &Sim) -> Result<Command, Outcome> {
        let mut command = Command::new(std::env::current_exe().map_err(not_started)?);
        command.args(["worker", "--parent", &std::process::id().to_string()]);
        if let Some(backend) = list {
            command.args(["--list", backend]);
        }
        for device in devices {
            command.args(["--device", &format!("{}:{}", device.backend, device.index)]);
        }
        if devices.iter().any(|device| device.backend == SIM) {
            command.args(["--sim-seed", &sim.seed().to_string()]);
            for file in sim.files() {
                command.arg("--sim-file").arg(file);
            }
        }
        command.envs(library_variable());
        command.envs(page::environment());
        Ok(command)
    }

    /// A worker that has listed the devices of a backend, and these.
    fn listing(backend: &str) -> Result<(Self, Vec<DeviceInfo>), Outcome> {
        let mut client = Self::spawn(Self::command(&[], Some(backend), &Sim::default())?)?;
        match client.wait("listing the devices", LISTING)? {
            Reply::Devices(devices) => Ok((client, devices)),
            other => Err(other.failure()),
        }
    }

    fn spawn(mut command: Command) -> Result<Self, Outcome> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = Group::spawn(command).map_err(not_started)?;
        let Some((stdin, stdout, stderr)) = group.streams() else {
            return Err(Outcome::Failed("a worker without pipes".into()));
        };
        let stderr_tail = StderrTail::default();
        let stderr = stderr_tail.follow(stderr).map_err(not_started)?;
        let replies = listen(stdout, stderr_tail.clone()).map_err(not_started)?;
        let requests = Some(write(stdin).map_err(not_started)?);
        Ok(Self { group, requests, replies, stderr_tail, stderr })
    }

    /// The next reply within `limit`. Time in which this process was stopped does not count:
    /// it passes in slices, and a slice counts once however long it was.
    fn wait(&mut self, doing: &str, limit: Duration) -> Result<Reply, Outcome> {
        const SLICE: Duration = Duration::from_millis(100);
        let mut left = limit;
        loop {
            let start = Instant::now();
            match self.replies.recv_timeout(SLICE.min(left)) {
                Ok(reply) => return Ok(reply),
                Err(RecvTimeoutError::Disconnected) => return Err(self.autopsy()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            left = left.saturating_sub(start.elapsed().min(SLICE));
            if left.is_zero() {
                self.group.kill();
                let limit = limit.as_secs_f64();
                return Err(Outcome::Timeout(format!("{doing} took longer than {limit} s")));
            }
        }
    }

    /// Why the worker stopped talking.
    fn autopsy(&mut self) -> Outcome {
        let status = self.group.wait(Duration::from_secs(1));
        // Whatever it started ends with it, and so does its stderr.
        self.group.kill();
        self.stderr.settle();
        let stderr = self.stderr_tail.lines();
        if status.and_then(|status| status.code()) == Some(EXIT_DEVICE_LOST) {
            return Outcome::DeviceLost(stderr.last().cloned().unwrap_or_default());
        }
        let how = status.map_or_else(|| "closed its output and went on".to_owned(), describe);
        Outcome::Crash { how, stderr }
    }
}

fn not_started(error: std::io::Error) -> Outcome {
    Outcome::Failed(format!("starting a worker: {error}"))
}

/// Reads replies in a thread; lines that are none go to the tail of stderr. The channel ends with the
/// worker's stdout.
fn listen(
    stdout: impl Read + Send + 'static,
    stderr_tail: StderrTail,
) -> std::io::Result<Receiver<Reply>> {
    let (send, replies) = channel();
    std::thread::Builder::new().spawn(move || {
        for line in Lines::new(BufReader::new(stdout), LONGEST_REPLY).kept() {
            match Reply::from_line(&String::from_utf8_lossy(&line)) {
                Some(reply) => {
                    if send.send(reply).is_err() {
                        break;
                    }
                }
                None => stderr_tail.push(&line),
            }
        }
    })?;
    Ok(replies)
}

/// Writes requests in a thread: a worker that does not read must not block the parent.
fn write(mut stdin: ChildStdin) -> std::io::Result<Sender<Vec<u8>>> {
    let (send, requests) = channel::<Vec<u8>>();
    std::thread::Builder::new().spawn(move || {
        for request in requests {
            if stdin.write_all(&request).and_then(|()| stdin.flush()).is_err() {
                break;
            }
        }
    })?;
    Ok(send)
}

/// A stage in a word.
pub fn stage_label(stage: Stage) -> &'static str {
    stage_words(stage)[0]
}

/// What a worker does in it.
fn stage_activity(stage: Stage) -> &'static str {
    stage_words(stage)[1]
}

/// A stage in a word, and what a worker does in it.
fn stage_words(stage: Stage) -> [&'static str; 2] {
    match stage {
        Stage::CoolDown => ["cool down", "cooling down"],
        Stage::Prepare => ["prepare", "preparing the inputs"],
        Stage::Build | Stage::BuildVariant(_) => ["build", "building the kernel"],
        Stage::Launch | Stage::LaunchVariant(_) => ["launch", "the first launch"],
        Stage::Verify => ["verify", "the verified run"],
        Stage::Measure => ["measure", "the measured run"],
    }
}

/// How a process ended.
#[cfg(unix)]
pub(super) fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match status.signal() {
        Some(9) => "killed by SIGKILL (by someone else; by the system, if memory ran out)".into(),
        Some(signal) => format!("killed by {}", signal_name(signal)),
        None => format!("exited with status {}", status.code().unwrap_or(-1)),
    }
}

/// How a process ended.
#[cfg(not(unix))]
pub(super) fn describe(status: ExitStatus) -> String {
    status.to_string()
}

#[cfg(unix)]
fn signal_name(signal: i32) -> String {
    use rustix::process::Signal;
    const NAMES: [(Signal, &str); 10] = [
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::HUP, "SIGHUP"),
        (Signal::ILL, "SIGILL"),
        (Signal::INT, "SIGINT"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::SYS, "SIGSYS"),
        (Signal::TERM, "SIGTERM"),
    ];
    let name = NAMES.iter().find(|(known, _)| known.as_raw() == signal);
    name.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}
