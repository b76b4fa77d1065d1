//! What runs over the ranks of an MPI job. A program of its own beside this one does it (`gpubench-mpi`,
//! built with `--features mpi`), so that this one starts where there is no MPI.

use super::{halo, ring};
use clap::Parser;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{DeviceInfo, DeviceKind};
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

/// A rank among those of its machine.
#[derive(Clone, Copy, Debug)]
pub struct Local {
    /// Its number there.
    pub rank: usize,
    /// How many there are.
    pub ranks: usize,
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

    /// One rank's part. What to print, on rank 0.
    ///
    /// # Errors
    /// As [`Work::check`]; `NoDevice`; whatever the device says; `Mismatch`.
    pub fn serve(&self, neighbours: &dyn Neighbours, local: Local) -> Result<Option<String>> {
        match self {
            Self::Ring(args) => ring::serve(args, neighbours, local),
            Self::Halo(args) => halo::serve(args, neighbours, local),
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
}

impl Common {
    /// Has `run` compute on the rank's device over every number of ranks that `divides` the work, one
    /// rank first; what each took, and the device.
    pub(super) fn over_ranks<T>(
        &self,
        neighbours: &dyn Neighbours,
        local: Local,
        divides: impl Fn(usize) -> bool,
        run: impl Fn(&Remote, &dyn Neighbours) -> Result<T>,
    ) -> Result<(DeviceInfo, Vec<T>)> {
        let (backend, index) = choose(self.device.as_ref(), local)?;
        let device = Remote::open(&backend, index)?;
        let groups = counts(neighbours.size(), divides).into_iter();
        let groups = groups.filter_map(|count| neighbours.first(count));
        let runs = groups.map(|group| run(&device, group.as_ref())).collect::<Result<_>>()?;
        let info = device.info().clone();
        device.close();
        Ok((info, runs))
    }
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
fn choose(asked: Option<&(String, usize)>, local: Local) -> Result<(String, usize)> {
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
    let device = &devices[views[local.rank % views.len()]];
    Ok((device.backend.clone(), device.index))
}

/// What keeps ranks of one machine from scaling as machines of their own would.
pub(super) fn sharing(device: &DeviceInfo, local: Local) -> Option<String> {
    let what = match device.kind {
        DeviceKind::Cpu => "its cores and its memory",
        _ => "its memory, and its devices where it has fewer",
    };
    (local.ranks > 1).then(|| {
        format!(
            "  {} ranks of this machine share {what}: machines of their own scale otherwise\n",
            local.ranks
        )
    })
}
