//! `gpubench ring`: the ring matrix product over MPI. A program of its own beside this one does it
//! (`gpubench-ring`, built with `--features mpi`), so that this one starts where there is no MPI.

use crate::backend::{Device, Remote, all, cards};
use crate::error::{Error, Result};
use crate::gpu::{DeviceInfo, DeviceKind};
use crate::hash::sha256_hex;
use crate::measure::ring::{Neighbours, Ringed, columns, ring};
use crate::model::overlap_worth::Strategy;
use crate::report::words::label;
use crate::text::printable;
use crate::units::seconds;
use clap::Parser;
use std::fmt::Write;
use std::process::{Command, ExitCode};

/// Arguments of `gpubench ring`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Rows and columns of the matrices; the number of ranks divides it. Each rank computes its
    /// columns on the host first, to compare with: n³ / ranks multiplications
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=8192))]
    n: u32,
    /// Each rank's device (default: of the machine's, the one of the rank's number there)
    #[arg(long, value_name = "BACKEND:INDEX", value_parser = super::worker::device)]
    device: Option<(String, usize)>,
    /// Seed of the matrices
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The same, as a program's.
#[derive(Debug, Parser)]
#[command(
    name = "gpubench-ring",
    version,
    about = "The ring matrix product (started by `gpubench ring`)"
)]
struct Program {
    #[command(flatten)]
    args: Args,
    /// The process to end with
    #[arg(long, hide = true)]
    parent: Option<u32>,
}

impl Args {
    /// What every rank can tell by itself, and alike.
    ///
    /// # Errors
    /// `Usage` where so many ranks do not divide `n`.
    pub fn check(&self, ranks: usize) -> Result<()> {
        columns(self.n as usize, ranks).map(drop)
    }
}

/// What the dynamic linker ends a program with whose libraries are missing.
const NOT_STARTED: i32 = 127;

/// Starts the program that does it, with this one's arguments.
pub fn run(_: Args) -> Result<ExitCode> {
    let here = std::env::current_exe().map_err(|e| Error::io("gpubench", e))?;
    let program = here.with_file_name(format!("gpubench-ring{}", std::env::consts::EXE_SUFFIX));
    if !program.exists() {
        return Err(Error::Usage(
            "this gpubench was built without MPI: install what Debian calls libopenmpi-dev and \
             libclang-dev, then build with --features mpi"
                .into(),
        ));
    }
    let arguments = std::env::args_os().skip_while(|argument| argument != "ring").skip(1);
    let parent = format!("--parent={}", std::process::id());
    let status = Command::new(&program).args(arguments).arg(parent).status();
    let status = status.map_err(|e| Error::io(&program, e))?;
    match status.code() {
        Some(NOT_STARTED) => Err(Error::Usage(
            "gpubench-ring does not start: MPI is missing here; install what Debian calls \
             openmpi-bin (or your cluster's MPI, the one it was built with)"
                .into(),
        )),
        Some(code) => Ok(ExitCode::from(u8::try_from(code).unwrap_or(4))),
        None => Err(Error::Device(format!("gpubench-ring ended by a signal: {status}"))),
    }
}

/// The arguments of `gpubench-ring`; ends the process where they are wrong. From here on it ends
/// with the process that started it, rather than wait for ranks that are gone.
pub fn arguments() -> Args {
    let Program { args, parent } = Program::parse();
    if let Some(parent) = parent {
        crate::worker::die_with(parent);
    }
    args
}

/// One rank's part; `local` is its number among the ranks of its machine. What to print, on rank 0.
///
/// # Errors
/// As [`Args::check`]; `NoDevice`; whatever the device says; `Mismatch`.
pub fn serve(args: &Args, neighbours: &dyn Neighbours, local: usize) -> Result<Option<String>> {
    let references: Vec<_> = crate::reference::names().collect();
    let suite = crate::suite::load("ring", &references)?;
    let (backend, index) = match &args.device {
        Some((backend, index)) => (backend.clone(), *index),
        None => choose(local)?,
    };
    let device = Remote::open(&backend, index)?;
    let ringed = ring(&device, neighbours, suite, args.n as usize, args.seed)?;
    let (rank, ranks, info) = (neighbours.rank(), neighbours.size(), device.info().clone());
    device.close();
    Ok((rank == 0).then(|| text(args.n, ranks, &info, &ringed)))
}

/// The device of rank number `local` of a machine: each card once, then from the first again.
fn choose(local: usize) -> Result<(String, usize)> {
    let mut devices: Vec<DeviceInfo> = vec![];
    for backend in all() {
        devices.extend(backend.devices().unwrap_or_default());
    }
    let numbers = cards(&devices);
    let first = |at: &usize| numbers[..*at].iter().all(|number| *number != numbers[*at]);
    let views: Vec<usize> = (0..devices.len()).filter(first).collect();
    if views.is_empty() {
        return Err(Error::NoDevice);
    }
    let device = &devices[views[local % views.len()]];
    Ok((device.backend.clone(), device.index))
}

fn text(n: u32, ranks: usize, device: &DeviceInfo, ringed: &Ringed) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "Ring matrix product, n = {n} on {ranks} {}; rank 0 on {} {}",
        if ranks == 1 { "rank" } else { "ranks" },
        label(device),
        printable(&device.name, 60)
    );
    match device.kind {
        // Host seconds of an emulation say nothing of any device.
        DeviceKind::Simulated => out += "  simulated: three strategies, no times\n",
        _ => times(&mut out, ringed),
    }
    let product = ringed.product.as_deref().unwrap_or_default();
    let _ = writeln!(
        out,
        "  every product verified; SHA-256 of C {}",
        sha256_hex(bytemuck::cast_slice::<f32, u8>(product))
    );
    out
}

fn times(out: &mut String, ringed: &Ringed) {
    let _ = writeln!(
        out,
        "  a strip: kernel {}, transfer {}, exchange {}",
        seconds(ringed.computation),
        seconds(ringed.transfer),
        seconds(ringed.communication)
    );
    let _ =
        writeln!(out, "  {:<40}{:>10}{:>10}{:>10}", "strategy", "measured", "model 2", "accuracy");
    for (strategy, measured, foreseen) in &ringed.runs {
        let accuracy = measured.min(*foreseen) / measured.max(*foreseen).max(1e-30);
        let _ = writeln!(
            out,
            "  {:<40}{:>10}{:>10}{accuracy:>10.3}",
            word(*strategy),
            seconds(*measured),
            seconds(*foreseen)
        );
    }
}

fn word(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::Synchronous => "one after the other",
        Strategy::Native => "exchange beside the kernel",
        Strategy::Total => "exchange and transfer beside the kernel",
    }
}
