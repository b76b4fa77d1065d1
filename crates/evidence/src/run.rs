//! Runs jobs, one after the other, each bounded; what is done stays done.

use crate::job::{Device, Done, Job};
use gpubench_core::error::{Error, Result};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A line of `gpubench devices --json`.
#[derive(serde::Deserialize)]
struct Listed {
    #[serde(flatten)]
    device: Device,
    /// Whether it is a view through a layer, which runs leave out.
    #[serde(default)]
    layer: bool,
}

/// The program that is shown, and this machine.
pub struct Machine<'a> {
    /// The binary of gpubench.
    pub gpubench: &'a Path,
    /// The machine's name.
    pub name: String,
    /// What the binary says of itself.
    pub version: String,
}

/// How a sequence of jobs ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Jobs that were run now.
    pub ran: usize,
    /// Jobs for another call.
    pub left: usize,
}

/// How a command ended.
enum End {
    /// By itself, with this status; none by a signal.
    Exited(Option<i32>),
    /// It took too long.
    TooLong,
    /// It could not be started.
    NoProgram(String),
}

/// What went wrong with a file, as an error about it.
pub fn io(path: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    move |source| Error::io(path, source)
}

impl<'a> Machine<'a> {
    /// This one, called `name` where that is given.
    ///
    /// # Errors
    /// `Usage` where the binary does not start.
    pub fn new(gpubench: &'a Path, name: Option<&str>) -> Result<Self> {
        let host = || fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let name = name.map_or_else(host, str::to_owned);
        let name = gpubench_core::text::slug(&[name.trim()], 40);
        let mut machine = Self { gpubench, name, version: String::new() };
        machine.version = machine.output(&["--version"])?.trim().to_owned();
        Ok(machine)
    }

    fn output(&self, words: &[&str]) -> Result<String> {
        let output = Command::new(self.gpubench).args(words).output();
        let output = output.map_err(io(self.gpubench))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The devices of this machine that runs measure where none is named; none where gpubench finds none.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn devices(&self) -> Result<Vec<Device>> {
        let listed = self.output(&["devices", "--json"])?;
        let listed: Vec<Listed> = serde_json::from_str(&listed).unwrap_or_default();
        Ok(listed.into_iter().filter(|one| !one.layer).map(|one| one.device).collect())
    }

    /// Runs what is not done yet, as long as it is expected to end within `piece`.
    ///
    /// # Errors
    /// `Io`.
    pub fn run(&self, jobs: &[Job], piece: Option<Duration>) -> Result<Progress> {
        let began = Instant::now();
        let mut progress = Progress::default();
        let open: Vec<&Job> = jobs.iter().filter(|job| !job.is_done()).collect();
        for (i, job) in open.iter().enumerate() {
            let ends = began.elapsed() + Duration::from_secs(job.expected);
            if piece.is_some_and(|piece| ends > piece && i > 0) {
                break;
            }
            eprintln!("evidence: {} of {}: {}", i + 1, open.len(), job.command());
            let limit = Duration::from_secs(job.limit);
            // The first of a piece has all of its time, so that what is long ends in some piece.
            let piece = piece.filter(|_| i > 0).map(|piece| piece.saturating_sub(began.elapsed()));
            if !self.run_job(job, limit, piece)? {
                break;
            }
            progress.ran += 1;
        }
        progress.left = open.len() - progress.ran;
        Ok(progress)
    }

    /// Whether it is done; not where the piece ended before it did, whose next one begins with it.
    fn run_job(&self, job: &Job, limit: Duration, piece: Option<Duration>) -> Result<bool> {
        if job.folder.exists() {
            fs::remove_dir_all(&job.folder).map_err(io(&job.folder))?;
        }
        fs::create_dir_all(&job.folder).map_err(io(&job.folder))?;
        let (started, load, began) = (jiff::Timestamp::now().to_string(), load(), Instant::now());
        let bound = piece.map_or(limit, |piece| piece.min(limit));
        let (code, error) = match self.start(job, bound)? {
            End::TooLong if bound < limit => return Ok(false),
            End::Exited(Some(0)) => (Some(0), String::new()),
            End::Exited(code) => {
                let status = code.map_or("a signal".to_owned(), |code| format!("status {code}"));
                (code, format!("ended by {status}: {}", last_line(&job.folder.join("errors"))))
            }
            End::TooLong => {
                self.report_part(job)?;
                (None, format!("ended after {} s: what it had", limit.as_secs()))
            }
            End::NoProgram(name) => (None, format!("there is no `{name}` here")),
        };
        let done = Done {
            capability: job.capability.clone(),
            step: job.step.clone(),
            target: job.target.clone(),
            attempt: job.attempt,
            command: job.command(),
            machine: self.name.clone(),
            gpubench: header_version(&job.folder).unwrap_or_else(|| self.version.clone()),
            started,
            seconds: began.elapsed().as_secs_f64(),
            load: [load, self::load()],
            code,
            error,
        };
        if !done.error.is_empty() {
            eprintln!("evidence: {}", done.error);
        }
        let text =
            serde_json::to_string_pretty(&done).map_err(|error| Error::Usage(error.to_string()))?;
        // Whole or not at all: what is half done is run again.
        let (part, file) = (job.folder.join("done.part"), job.folder.join("done.json"));
        fs::write(&part, text).map_err(io(&part))?;
        fs::rename(&part, &file).map_err(io(&file))?;
        Ok(true)
    }

    /// The report of a run that was ended: each of its records was on disk before the next case began.
    fn report_part(&self, job: &Job) -> Result<()> {
        let file = job.folder.join("run.jsonl");
        if file.exists() {
            let text =
                self.output(&["report", &file.display().to_string(), "--format", "figures"])?;
            let output = job.folder.join("output");
            fs::write(&output, text).map_err(io(&output))?;
        }
        Ok(())
    }

    /// Runs the command.
    fn start(&self, job: &Job, limit: Duration) -> Result<End> {
        let create = |name: &str| {
            let path = job.folder.join(name);
            File::create(&path).map_err(io(&path))
        };
        let mut command = match job.ranks {
            None => Command::new(self.gpubench),
            Some(ranks) => {
                let mut command = Command::new("mpirun");
                command.args(["--oversubscribe", "-n", &ranks.to_string()]).arg(self.gpubench);
                // In a container there is often nobody else.
                command.env("OMPI_ALLOW_RUN_AS_ROOT", "1");
                command.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
                command
            }
        };
        let child = command
            .args(&job.words)
            .envs(job.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(create("output")?)
            .stderr(create("errors")?)
            .spawn();
        let mut child = match child {
            Ok(child) => child,
            Err(_) => {
                let name = command.get_program().to_string_lossy().into_owned();
                return Ok(End::NoProgram(name));
            }
        };
        let began = Instant::now();
        loop {
            if let Some(status) = child.try_wait().map_err(io(self.gpubench))? {
                return Ok(End::Exited(status.code()));
            }
            if began.elapsed() > limit {
                // Its workers end with it.
                child.kill().and_then(|()| child.wait()).map_err(io(self.gpubench))?;
                return Ok(End::TooLong);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The version with its commit, as a result file's header has it.
fn header_version(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join("run.jsonl")).ok()?;
    let header: serde_json::Value = serde_json::from_str(text.lines().next()?).ok()?;
    Some(format!("gpubench {}", header["header"]["gpubench"].as_str()?))
}

/// The load of the machine over the last minute; 0 where it does not say.
fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0.0)
}

/// The last line of a file that says something.
fn last_line(file: &Path) -> String {
    let text = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    gpubench_core::text::printable(line.unwrap_or("it says nothing"), 300)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Target;
    use gpubench_core::testing;

    /// A program that prints its words, and fails or sleeps where they say so.
    const PROGRAM: &str = "case \"$*\" in *fail*) echo no use >&2; exit 3;; \
        *sleep*) exec sleep 20;; esac\necho \"$*\"";

    fn job(folder: &Path, words: &str) -> Job {
        Job {
            capability: "a".into(),
            step: "b".into(),
            target: Target::Host,
            attempt: 1,
            words: words.split(' ').map(str::to_owned).collect(),
            environment: vec![],
            ranks: None,
            limit: 1,
            expected: 1,
            folder: folder.join(words),
        }
    }

    fn done(job: &Job) -> Done {
        serde_json::from_str(&fs::read_to_string(job.folder.join("done.json")).unwrap()).unwrap()
    }

    #[test]
    fn what_is_done_stays_done_and_every_end_is_written_down() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        testing::script(PROGRAM, &program);
        let machine = Machine::new(&program, Some("A b")).unwrap();
        assert_eq!((machine.version.as_str(), machine.name.as_str()), ("--version", "a-b"));
        assert_eq!(machine.devices().unwrap(), vec![], "it prints no JSON");
        let jobs = ["good", "fail", "sleep"].map(|words| job(folder.path(), words));
        let progress = machine.run(&jobs, None).unwrap();
        assert_eq!(progress, Progress { ran: 3, left: 0 });
        let [good, failed, slept] = jobs.each_ref().map(done);
        assert_eq!((good.code, good.error.as_str()), (Some(0), ""));
        assert_eq!(fs::read_to_string(jobs[0].folder.join("output")).unwrap(), "good\n");
        assert_eq!((failed.code, failed.error.as_str()), (Some(3), "ended by status 3: no use"));
        assert_eq!((slept.code, slept.error.as_str()), (None, "ended after 1 s: what it had"));
        assert_eq!(machine.run(&jobs, None).unwrap(), Progress::default());
    }

    #[test]
    fn a_piece_ends_before_what_does_not_fit() {
        let folder = tempfile::tempdir().unwrap();
        let machine =
            Machine { gpubench: Path::new("echo"), name: "m".into(), version: String::new() };
        let mut jobs = ["a", "b", "c"].map(|words| job(folder.path(), words));
        jobs[1].expected = 100;
        let piece = Some(Duration::from_secs(10));
        assert_eq!(machine.run(&jobs, piece).unwrap(), Progress { ran: 1, left: 2 });
        // The next piece begins with it, however long it is expected to take.
        assert_eq!(machine.run(&jobs, piece).unwrap(), Progress { ran: 2, left: 0 });
        let machine = Machine { gpubench: Path::new("sleep"), ..machine };
        let jobs = ["0.1", "0.9"].map(|words| job(folder.path(), words));
        let piece = Some(Duration::from_millis(1200));
        let jobs = jobs.map(|job| Job { expected: 0, ..job });
        assert_eq!(machine.run(&jobs, Some(Duration::from_millis(500))).unwrap().left, 1);
        assert!(!jobs[1].is_done(), "its piece ended first");
        assert_eq!(machine.run(&jobs, piece).unwrap(), Progress { ran: 1, left: 0 });
    }
}
