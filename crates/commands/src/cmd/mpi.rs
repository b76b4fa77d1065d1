//! What runs over the ranks of an MPI job. A program of its own beside this one does it (`gpubench-mpi`,
//! built with `--features mpi`), so that this one starts where there is no MPI.

use super::run::locks::{IfTaken, take};
use super::scaling::{OverRanks, Scaling};
use super::{halo, ring};
use crate::store::{DeviceLock, Hold, LockKey};
use crate::worker::Remotes;
use clap::Parser;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{DeviceInfo, DeviceKind};
use gpubench_core::hash::sha256_hex;
use gpubench_core::text::{counted, printable};
use gpubench_device::{Device, Remote, all, physical_gpus};
use gpubench_experiments::ranks::{Neighbours, counts};
use std::process::{Command, ExitCode};

/// The program that is linked with MPI.
#[derive(Debug, Parser)]
#[command(name = "gpubench-mpi", version, about = "Started by `gpubench ring` and `gpubench halo`")]
struct Program {
    #[command(subcommand)]
    work: Work,
    /// The process to end with
    #[arg(long, global = true, hide = true)]
    parent: Option<u32>,
}

/// What is done over all ranks.
#[derive(Debug, clap::Subcommand)]
pub enum Work {
    /// The ring matrix product
    Ring(ring::Args),
    /// Elastic waves in slabs
    Halo(halo::Args),
}

impl Work {
    /// What every rank can check by itself, and alike.
    ///
    /// # Errors
    /// `Usage` where the number of ranks does not divide the work.
    pub fn check(&self, ranks: usize) -> Result<()> {
        match self {
            Self::Ring(args) => args.check(ranks),
            Self::Halo(args) => args.check(ranks),
        }
    }

    /// The part of one rank of `all`; `here` are those of its machine. What to print, on rank 0.
    ///
    /// # Errors
    /// As [`Work::check`]; `NoDevice`; `Usage` where another run measures the device; whatever the device says; `Mismatch`.
    pub fn serve(&self, all: &dyn Neighbours, here: &dyn Neighbours) -> Result<Option<String>> {
        match self {
            Self::Ring(args) => ring::serve(args, all, here),
            Self::Halo(args) => halo::serve(args, all, here),
        }
    }
}

/// Arguments of both.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Common {
    /// Each rank's device (default: of the machine's, the one of the rank's number there)
    #[arg(long, value_name = "BACKEND:INDEX", value_parser = super::worker::device)]
    device: Option<(String, usize)>,
    /// Seed of the inputs
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// Measure even while another run measures the same device
    #[arg(long)]
    no_lock: bool,
}

impl Common {
    /// Has `run` compute on the rank's device over every number of ranks that `divides` the work, one
    /// rank first: the whole problem, then one that gives a rank as much to do as all ranks have of that. What each
    /// took, and the device.
    pub(super) fn over_ranks<T>(
        &self,
        all: &dyn Neighbours,
        here: &dyn Neighbours,
        divides: impl Fn(usize) -> bool,
        run: impl Fn(&Remote, &dyn Neighbours, Scaling) -> Result<T>,
    ) -> Result<(DeviceInfo, Vec<OverRanks<T>>)> {
        let (backend, index) = choose(self.device.as_ref(), here.rank())?;
        let device = Remote::open(&backend, index)?;
        let _locks = self.lock(device.info(), all, here)?;
        let mut runs = vec![];
        for group in counts(all.size(), divides).into_iter().filter_map(|count| all.first(count)) {
            let (ranks, of) = (group.size(), |how| run(&device, group.as_ref(), how));
            let strong = of(Scaling::Strong)?;
            let weak = (ranks < all.size()).then(|| of(Scaling::Weak)).transpose()?;
            runs.push(OverRanks { ranks, strong, weak });
        }
        let info = device.info().clone();
        device.close();
        Ok((info, runs))
    }

    /// Has the first of the machine's ranks on a device lock it, and all ranks wait until all are locked. Nobody waits for
    /// another run: two jobs over the same machines could wait for each other.
    fn lock(
        &self,
        device: &DeviceInfo,
        all: &dyn Neighbours,
        here: &dyn Neighbours,
    ) -> Result<Option<Vec<DeviceLock>>> {
        let alone = |key: &LockKey| key.hold == Hold::Exclusive;
        let keys = DeviceLock::keys(device).into_iter().filter(alone);
        let is_first = is_first(&keys.map(|key| key.name).collect::<Vec<_>>(), here);
        let devices = std::slice::from_ref(device);
        let locks = match is_first && !self.no_lock {
            true => take(devices, &Remotes::default(), IfTaken::Leave)?,
            false => Some(vec![]),
        };
        all.barrier();
        Ok(locks)
    }
}

/// Whether no rank ahead of this one on its machine locks anything of the same name: a scheduler may give each rank its own
/// GPU under one number, and ranks may share one.
fn is_first(keys: &[String], here: &dyn Neighbours) -> bool {
    // 48 bits: a double holds them exactly.
    let number = |key: &String| i64::from_str_radix(&sha256_hex(key.as_bytes())[..12], 16);
    let mine: Vec<f64> = keys.iter().map(|key| number(key).unwrap_or(0) as f64).collect();
    let max_keys = here.largest(mine.len() as f64) as usize;
    let mut is_first = true;
    for (rank, at) in (0..here.size()).flat_map(|rank| (0..max_keys).map(move |at| (rank, at))) {
        let sent = if rank == here.rank() { mine.get(at).copied() } else { None };
        let theirs = here.largest(sent.unwrap_or(0.0));
        is_first &= rank >= here.rank() || !mine.contains(&theirs);
    }
    is_first
}

/// What was computed, on how many ranks, and on which device.
pub(super) fn title(what: &str, ranks: usize, device: &DeviceInfo) -> String {
    let (ranks, name) = (counted(ranks, "rank"), printable(&device.name, 60));
    format!("{what} on {ranks}; rank 0 on {} {name}\n", device.label())
}

/// What the dynamic linker ends a program with whose libraries are missing.
const NOT_STARTED: i32 = 127;

/// Starts the program that does the work called `name`, with this one's arguments.
pub(super) fn start(name: &str) -> Result<ExitCode> {
    let here = std::env::current_exe().map_err(|e| Error::io("gpubench", e))?;
    let program = here.with_file_name(format!("gpubench-mpi{}", std::env::consts::EXE_SUFFIX));
    if !program.exists() {
        return Err(Error::Usage(
            "this gpubench was built without MPI: install what Debian calls libopenmpi-dev and \
             libclang-dev, then build with --features mpi"
                .into(),
        ));
    }
    let arguments = std::env::args_os().skip_while(|argument| argument != name);
    let parent = format!("--parent={}", std::process::id());
    let status = Command::new(&program).args(arguments).arg(parent).status();
    let status = status.map_err(|e| Error::io(&program, e))?;
    match status.code() {
        Some(NOT_STARTED) => Err(Error::Usage(
            "gpubench-mpi does not start: MPI is missing here; install what Debian calls \
             openmpi-bin (or your cluster's MPI, the one it was built with)"
                .into(),
        )),
        Some(code) => Ok(ExitCode::from(u8::try_from(code).unwrap_or(4))),
        None => Err(Error::Device(format!("gpubench-mpi ended by a signal: {status}"))),
    }
}

/// What `gpubench-mpi` is to do; ends the process where the arguments are wrong. From here on it ends
/// with the process that started it, rather than wait for ranks that are gone.
pub fn work() -> Work {
    let Program { work, parent } = Program::parse();
    if let Some(parent) = parent {
        crate::worker::die_with(parent);
    }
    work
}

/// The device that was requested, or that of a machine's rank: each physical GPU once, then from the first
/// again.
fn choose(asked: Option<&(String, usize)>, rank: usize) -> Result<(String, usize)> {
    if let Some((backend, index)) = asked {
        return Ok((backend.clone(), *index));
    }
    let mut devices: Vec<DeviceInfo> = vec![];
    for backend in all() {
        devices.extend(backend.devices().unwrap_or_default());
    }
    let numbers = physical_gpus(&devices);
    let first = |at: &usize| numbers[..*at].iter().all(|number| *number != numbers[*at]);
    let views: Vec<usize> = (0..devices.len()).filter(first).collect();
    if views.is_empty() {
        return Err(Error::NoDevice);
    }
    let device = &devices[views[rank % views.len()]];
    Ok((device.backend.clone(), device.index))
}

/// What keeps ranks of one machine from scaling as machines of their own would.
pub(super) fn sharing(device: &DeviceInfo, here: usize) -> Option<String> {
    let what = match device.kind {
        DeviceKind::Cpu => "its cores and its memory",
        _ => "its memory, and its devices where it has fewer",
    };
    (here > 1).then(|| {
        format!(
            "  {here} ranks of this machine share {what}: machines of their own scale otherwise\n"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Attempt, LockFolder};
    use gpubench_core::record::sample;
    use gpubench_device::by_name;
    use gpubench_experiments::ranks::threads::on_ranks;

    /// What one rank alone on its machine says.
    fn alone<T: Send>(work: impl Fn(&dyn Neighbours) -> T + Sync) -> T {
        on_ranks(1, work).remove(0)
    }

    fn parse(args: &[&str]) -> Work {
        Program::parse_from([&["gpubench-mpi"], args].concat()).work
    }

    #[test]
    fn of_ranks_that_share_a_device_the_first_locks_it() {
        let keys: [&[&str]; 5] = [&["a"], &["a"], &["b", "c"], &["c"], &["d", "a"]];
        let first = on_ranks(keys.len(), |here| {
            let mine: Vec<String> = keys[here.rank()].iter().map(|&key| key.into()).collect();
            is_first(&mine, here)
        });
        assert_eq!(first, [true, false, true, false, false]);
    }

    #[test]
    fn a_device_is_locked_until_the_work_is_done() {
        // A bus of this test's own, so that nobody else's tests meet it.
        let pci = Some(format!("test of process {}", std::process::id()));
        let device = DeviceInfo { pci, ..sample::device("opencl") };
        let lock = |no_lock| {
            let common = Common { device: None, seed: 1, no_lock };
            alone(|rank| common.lock(&device, rank, rank))
        };
        let first = lock(false).unwrap();
        assert_eq!(first.as_ref().map(Vec::len), Some(2), "it, and that it may be any GPU");
        let why = lock(false).unwrap_err().to_string();
        assert!(why.contains("is being measured by the run with pid"), "{why}");
        assert!(lock(true).unwrap().is_some_and(|locks| locks.is_empty()));
        drop(first);
        assert!(lock(false).unwrap().is_some());
    }

    #[test]
    fn what_another_run_measures_is_left_to_it() {
        let device = &by_name("sim").unwrap().devices().unwrap()[9];
        let lock = || DeviceLock::attempt(&LockFolder::find(), &DeviceLock::keys(device)[0]);
        let held = std::iter::repeat_with(lock).find_map(|attempt| match attempt.unwrap() {
            Attempt::Taken(lock) => Some(lock),
            Attempt::HeldBy(_) => None,
        });
        for work in ["ring", "halo"] {
            let work = parse(&[work, "--n", "16", "--device", "sim:9"]);
            let why = alone(|rank| work.serve(rank, rank)).unwrap_err().to_string();
            assert!(why.contains("is being measured by"), "{why}");
        }
        drop(held);
    }
}
