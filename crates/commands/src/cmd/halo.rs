//! `gpubench halo`: elastic waves over MPI, a slab of the domain on every rank.

use super::mpi::{Common, sharing, start, title};
use super::scaling::{OverRanks, Scaled, Scaling, tables};
use gpubench_core::error::Result;
use gpubench_core::gpu::{DeviceInfo, DeviceKind};
use gpubench_core::units::{Bytes, seconds};
use gpubench_device::Remote;
use gpubench_experiments::ranks::Neighbours;
use gpubench_experiments::slabs::{Slabbed, slab, slabs};
use std::fmt::Write;
use std::process::ExitCode;

/// Arguments of `gpubench halo`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Cells along each side of the domain; the number of ranks divides it. Rank 0 computes some steps
    /// of all cells on the host, to compare with
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=512))]
    n: u32,
    #[command(flatten)]
    common: Common,
}

impl Args {
    /// What every rank can check by itself, and alike.
    ///
    /// # Errors
    /// `Usage` where that many ranks cannot have equal slabs.
    pub fn check(&self, ranks: usize) -> Result<()> {
        slab([self.n.into(); 3], ranks).map(drop)
    }
}

/// Starts the program that does it, with this one's arguments.
pub fn run(_: Args) -> Result<ExitCode> {
    start("halo")
}

/// The part of one rank of `all`; `here` are those of its machine. What to print, on rank 0.
///
/// # Errors
/// As [`Args::check`]; `NoDevice`; `Usage` where another run measures the device; whatever the device says; `Mismatch`.
pub fn serve(args: &Args, all: &dyn Neighbours, here: &dyn Neighbours) -> Result<Option<String>> {
    let suite = gpubench_experiments::load("seismic")?;
    let (n, ranks) = (u64::from(args.n), all.size());
    let planes = n / ranks as u64;
    let divides = |count: usize| args.n.is_multiple_of(count as u32);
    let run = |device: &Remote, group: &dyn Neighbours, how: Scaling| {
        let depth = match how {
            Scaling::Strong => n,
            Scaling::Weak => planes * group.size() as u64,
        };
        slabs(device, group, &suite, [n, n, depth], args.common.seed)
    };
    let (info, runs) = args.common.over_ranks(all, here, divides, run)?;
    Ok((all.rank() == 0).then(|| text(args.n, &info, &runs, here.size())))
}

fn text(n: u32, device: &DeviceInfo, runs: &[OverRanks<Slabbed>], here: usize) -> String {
    let Some(all) = runs.last() else { return String::new() };
    let mut out = title(&format!("Elastic waves, {n}×{n}×{n} cells in slabs"), all.ranks, device);
    match device.kind {
        // Host seconds of an emulation say nothing of any device.
        DeviceKind::Simulated => out += "  simulated: halos exchanged, no times\n",
        _ => times(&mut out, n.into(), device, runs, here),
    }
    let hashes: Vec<&str> = runs.iter().filter_map(|run| run.strong.hash.as_deref()).collect();
    let hash = hashes.last().copied().unwrap_or_default();
    let same = hashes.iter().all(|other| *other == hash);
    let numbers: Vec<String> = runs.iter().map(|run| run.ranks.to_string()).collect();
    let likeness = match (runs.len(), same) {
        (1, _) => String::new(),
        (_, true) => format!("; on {} ranks the same to the bit", numbers.join(", ")),
        (_, false) => format!("; on {} ranks the same within the tolerance", numbers.join(", ")),
    };
    let _ = writeln!(out, "  every result verified{likeness}; SHA-256 of the fields {hash}");
    out
}

fn times(out: &mut String, n: u64, device: &DeviceInfo, runs: &[OverRanks<Slabbed>], here: usize) {
    let Some(all) = runs.last() else { return };
    let _ = writeln!(
        out,
        "  a step {}, its kernels alone {}; a rank sends up to {} a step",
        seconds(all.strong.step),
        seconds(all.strong.computation),
        Bytes(all.strong.bytes)
    );
    let planes = n / all.ranks as u64;
    let line = |ranks: usize, slabbed: &Slabbed, how: Scaling| {
        let depth = match how {
            Scaling::Strong => n,
            Scaling::Weak => planes * ranks as u64,
        };
        let what = format!("{n}×{n}×{depth} cells");
        Scaled { ranks, what, work: (n * n * depth) as f64, seconds: slabbed.step }
    };
    let strong = "strong scaling: the same domain, a step of it";
    let weak = "weak scaling: the same slab on every rank, a step of all";
    tables(out, [strong, weak], runs, line);
    *out += &sharing(device, here).unwrap_or_default();
}
