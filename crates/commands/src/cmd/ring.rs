//! `gpubench ring`: the ring matrix product over MPI.

use super::choice::one_of;
use super::mpi::{Common, sharing, start, title};
use super::scaling::{OverRanks, Scaled, Scaling, tables};
use gpubench_core::error::Result;
use gpubench_core::gpu::{DeviceInfo, DeviceKind};
use gpubench_core::hash::sha256_hex;
use gpubench_core::text::counted;
use gpubench_core::units::seconds;
use gpubench_device::Remote;
use gpubench_document::{Unit, number};
use gpubench_experiments::ranks::Neighbours;
use gpubench_experiments::ring::{Precision, Ringed, Variant, alike, columns, ring};
use std::fmt::Write;
use std::process::ExitCode;

/// Arguments of `gpubench ring`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Rows and columns of the matrices; the number of ranks divides it. Each rank computes its
    /// columns on the host first, to compare with: n³ / ranks multiplications
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=8192))]
    n: u32,
    /// How a rank combines its kernel with the exchange of strips (default: each, in turn)
    #[arg(long, value_name = "VARIANT", value_delimiter = ',',
          value_parser = one_of(Variant::ALL.map(|it| (it.name(), it.about(), it))))]
    variant: Vec<Variant>,
    /// The type of the matrices' numbers
    #[arg(long, default_value = "f32",
          value_parser = one_of(Precision::ALL.map(|it| (it.name(), it.about(), it))))]
    precision: Precision,
    #[command(flatten)]
    common: Common,
}

impl Args {
    /// What every rank can check by itself, and alike.
    ///
    /// # Errors
    /// `Usage` where the number of ranks does not divide `n`.
    pub fn check(&self, ranks: usize) -> Result<()> {
        columns(self.n as usize, ranks).map(drop)
    }

    /// What was requested, or all.
    fn variants(&self) -> Vec<Variant> {
        match self.variant.as_slice() {
            [] => Variant::ALL.into(),
            some => some.to_vec(),
        }
    }
}

/// Starts the program that does it, with this one's arguments.
pub fn run(_: Args) -> Result<ExitCode> {
    start("ring")
}

/// The part of one rank of `all`; `here` are those of its machine. What to print, on rank 0.
///
/// # Errors
/// As [`Args::check`]; `NoDevice`; `Usage` where another run measures the device; whatever the device says; `Mismatch`.
pub fn serve(args: &Args, all: &dyn Neighbours, here: &dyn Neighbours) -> Result<Option<String>> {
    let suite = args.precision.suite()?;
    let (n, ranks, variants) = (args.n as usize, all.size(), args.variants());
    let run = |device: &Remote, group: &dyn Neighbours, how: Scaling| {
        let n = match how {
            Scaling::Strong => n,
            Scaling::Weak => alike(n, ranks, group.size()),
        };
        ring(device, group, suite.clone(), n, args.common.seed, &variants)
    };
    let divides = |count: usize| n.is_multiple_of(count);
    let (info, runs) = args.common.over_ranks(all, here, divides, run)?;
    Ok((all.rank() == 0).then(|| text(args, &info, &runs, here.size())))
}

fn text(args: &Args, device: &DeviceInfo, runs: &[OverRanks<Ringed>], here: usize) -> String {
    let Some(all) = runs.last() else { return String::new() };
    let what = format!("Ring matrix product, n = {}, {}", args.n, args.precision.about());
    let mut out = title(&what, all.ranks, device);
    match device.kind {
        // Host seconds of an emulation say nothing of any device.
        DeviceKind::Simulated => {
            let count = all.strong.runs.len();
            let _ = writeln!(out, "  simulated: {}, no times", counted(count, "variant"));
        }
        _ => {
            times(&mut out, &all.strong);
            scaling(&mut out, (args.n as usize, all.ranks), runs);
            out += &sharing(device, here).unwrap_or_default();
        }
    }
    let product = all.strong.product.as_deref().unwrap_or_default();
    let _ = writeln!(out, "  every product verified; SHA-256 of C {}", sha256_hex(product));
    out
}

fn scaling(out: &mut String, (n, all): (usize, usize), runs: &[OverRanks<Ringed>]) {
    let line = |ranks: usize, ringed: &Ringed, how: Scaling| {
        let n = match how {
            Scaling::Strong => n,
            Scaling::Weak => alike(n, all, ranks),
        };
        Scaled {
            ranks,
            what: format!("n = {n}"),
            work: 2.0 * (n as f64).powi(3),
            seconds: ringed.fastest().map_or(f64::NAN, |(_, seconds)| seconds),
        }
    };
    let strong = "strong scaling: the same product, by the fastest variant";
    let weak = "weak scaling: about the same number of operations on every rank";
    tables(out, [strong, weak], runs, line);
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
        writeln!(out, "  {:<40}{:>10}{:>10}{:>10}", "variant", "measured", "model 2", "accuracy");
    for (variant, measured, predicted) in &ringed.runs {
        let accuracy = measured.min(*predicted) / measured.max(*predicted).max(1e-30);
        let _ = writeln!(
            out,
            "  {:<40}{:>10}{:>10}{:>10}",
            variant.about(),
            seconds(*measured),
            seconds(*predicted),
            number(accuracy, Unit::Relative)
        );
    }
}
