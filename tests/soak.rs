//! A run repeated for a long time on the machine's own drivers: memory, descriptors and processes.
//! It takes the time it is given, so it is only run when asked: `./x soak MINUTES`.
#![cfg(target_os = "linux")]

mod common;

use common::{Place, kill, no_orphan, text, until, workers};
use std::collections::BTreeMap;
use std::fmt;
use std::process::Child;
use std::time::{Duration, Instant};

/// Environment variable with the minutes.
const MINUTES: &str = "GPUBENCH_SOAK_MINUTES";
/// How often processes are looked at.
const EVERY: Duration = Duration::from_millis(250);
/// Growth of a process's memory that is no leak but the allocator's and the drivers' business.
const SLACK: f64 = 8.0;

/// What processes of one kind took, each time they were looked at.
#[derive(Default)]
struct Series {
    /// Seconds since the beginning, and MiB in memory.
    memory: Vec<(f64, f64)>,
    /// Open descriptors.
    descriptors: Vec<usize>,
}

impl Series {
    fn add(&mut self, at: f64, (memory, descriptors): (f64, usize)) {
        self.memory.push((at, memory));
        self.descriptors.push(descriptors);
    }

    /// MiB an hour, by least squares over all but the first quarter, which is warming up.
    fn slope(&self) -> f64 {
        let steady = &self.memory[self.memory.len() / 4..];
        let n = steady.len() as f64;
        let mean = |f: fn(&(f64, f64)) -> f64| steady.iter().map(f).sum::<f64>() / n;
        let (t, m) = (mean(|x| x.0), mean(|x| x.1));
        let both: f64 = steady.iter().map(|x| (x.0 - t) * (x.1 - m)).sum();
        let time: f64 = steady.iter().map(|x| (x.0 - t).powi(2)).sum();
        both / time.max(f64::MIN_POSITIVE) * 3600.0
    }

    /// The medians of the second and of the last quarter.
    fn quarters<T: Copy>(all: &[T], number: fn(T) -> f64) -> (f64, f64) {
        let quarter = all.len() / 4;
        let median = |part: &[T]| {
            let mut part: Vec<f64> = part.iter().map(|one| number(*one)).collect();
            part.sort_by(f64::total_cmp);
            part.get(part.len() / 2).copied().unwrap_or_default()
        };
        (median(&all[quarter..2 * quarter]), median(&all[3 * quarter..]))
    }

    fn memory(&self) -> (f64, f64) {
        Self::quarters(&self.memory, |(_, memory)| memory)
    }

    fn descriptors(&self) -> (f64, f64) {
        Self::quarters(&self.descriptors, |count| count as f64)
    }

    fn is_flat(&self) -> bool {
        let ((before, after), (few, many)) = (self.memory(), self.descriptors());
        after - before < SLACK && many <= few
    }
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((before, after), (few, many)) = (self.memory(), self.descriptors());
        let (slope, looks) = (self.slope(), self.memory.len());
        write!(
            f,
            "{before:.1} MiB then {after:.1} MiB ({slope:+.1} MiB an hour over {looks} looks), {few} then {many} descriptors"
        )
    }
}

/// MiB in memory and open descriptors of a process that lives; `field` says which memory.
fn look(pid: u32, field: &str) -> Option<(f64, usize)> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count();
    Some((kib / 1024.0, descriptors))
}

/// The backend that a worker was started for.
fn backend(pid: u32) -> Option<String> {
    let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
    let mut arguments =
        line.split('\0').skip_while(|argument| !matches!(*argument, "--device" | "--list"));
    let named = arguments.nth(1)?;
    Some(named.split(':').next().unwrap_or(named).to_owned())
}

/// Looks at a run and its workers until the time is over.
fn monitor(child: &mut Child, end: Duration) -> (Series, BTreeMap<String, Series>) {
    let (begun, pid) = (Instant::now(), child.id());
    let (mut parent, mut kinds) = (Series::default(), BTreeMap::<String, Series>::new());
    let mut living: BTreeMap<u32, (String, f64, (f64, usize))> = BTreeMap::new();
    while begun.elapsed() < end {
        assert!(matches!(child.try_wait(), Ok(None)), "it goes on until it is interrupted");
        let at = begun.elapsed().as_secs_f64();
        parent.add(at, look(pid, "VmRSS:").expect("it lives"));
        for worker in workers(pid) {
            let (Some(kind), Some(now)) = (backend(worker), look(worker, "VmHWM:")) else {
                continue;
            };
            let (_, _, max_usage) = living.entry(worker).or_insert((kind, at, now));
            *max_usage = (max_usage.0.max(now.0), max_usage.1.max(now.1));
        }
        std::thread::sleep(EVERY);
    }
    // A worker lives for a round: what counts is whether later ones take more than earlier ones.
    let mut ended: Vec<_> = living.into_values().collect();
    ended.sort_by(|a, b| a.1.total_cmp(&b.1));
    for (kind, at, max_usage) in ended {
        kinds.entry(kind).or_default().add(at, max_usage);
    }
    (parent, kinds)
}

#[test]
#[ignore = "takes the minutes it is given"]
fn a_run_repeated_for_long_leaks_nothing() {
    let minutes = std::env::var(MINUTES).ok().and_then(|n| n.parse().ok()).unwrap_or(1.0);
    let place = Place::new();
    let args = ["run", "micro", "--filter", "n=65536", "--rounds", "1", "--budget", "20"];
    let mut command = place.gpubench(&[&args[..], &["--quiet", "--repeat"]].concat());
    // Into files, since nobody reads a pipe meanwhile.
    let file = |name: &str| std::fs::File::create(place.folder.path().join(name)).unwrap();
    let mut child = command.stdout(file("stdout")).stderr(file("stderr")).spawn().unwrap();
    let pid = child.id();
    let (parent, kinds) = monitor(&mut child, Duration::from_secs_f64(60.0 * minutes));
    kill(pid, "INT");
    until("the end of the case in hand", || !matches!(child.try_wait(), Ok(None)));
    no_orphan(pid);
    let stderr = text(&std::fs::read(place.folder.path().join("stderr")).unwrap());
    assert_eq!(child.wait().unwrap().code(), Some(130), "{stderr}");
    let locks = |name: &str| name.starts_with("gpubench-") && name.ends_with(".lock");
    let left: Vec<_> = std::fs::read_dir(place.folder.path().join("tmp"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| !locks(name))
        .collect();
    println!("{minutes} minutes, {} runs", place.results().len());
    println!("parent: {parent}");
    for (kind, series) in &kinds {
        println!("workers of {kind}, each at its peak: {series}");
    }
    println!("left behind: 0 processes, {} files", left.len());
    assert!(left.is_empty(), "{left:?}");
    assert!(!kinds.is_empty(), "no worker was seen");
    assert!(parent.is_flat(), "the parent grows: {parent}");
    for (kind, series) in kinds {
        assert!(series.is_flat(), "the workers of {kind} grow: {series}");
    }
}
