//! The ring matrix product over several ranks, each with a device: strips of A travel round, and
//! every rank multiplies each of them by its columns of B.
//!
//! Source: V13 §5.2 and §5.4. Of every strip, A is uploaded to the device and its part of C downloaded
//! (transfer), the kernel runs (computation), and A is handed on to the neighbour (communication).
//! Four variants combine them, each by one of model 2's strategies: one after the other; communication during the kernel, by
//! messages that do not block or by a thread; and during the kernel the next strip's transfer and the exchange
//! of the one after it.

mod rank;
#[cfg(test)]
mod tests;

use super::ranks::Neighbours;
use gpubench_core::error::{Error, Result};
use gpubench_device::Remote;
use gpubench_model::overlap_worth::Strategy;
use gpubench_suite::Suite;
use rank::Rank;

/// How a rank combines its kernel with the exchange of strips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// An exchange blocks, behind the kernel.
    Blocking,
    /// Messages are posted before the kernel and waited for behind it: MPI moves them meanwhile, if it does.
    NonBlocking,
    /// A thread drives the device while this one exchanges, blocking.
    Threaded,
    /// The same, and the next strip is brought to the device during the kernel.
    ThreadedTransfer,
}

impl Variant {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::Blocking, Self::NonBlocking, Self::Threaded, Self::ThreadedTransfer];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Blocking => "blocking",
            Self::NonBlocking => "non-blocking",
            Self::Threaded => "threaded",
            Self::ThreadedTransfer => "threaded-transfer",
        }
    }

    /// What it does.
    pub fn about(self) -> &'static str {
        match self {
            Self::Blocking => "one after the other",
            Self::NonBlocking => "exchange posted before the kernel",
            Self::Threaded => "exchange during the kernel",
            Self::ThreadedTransfer => "exchange and transfer during the kernel",
        }
    }

    /// What model 2 expects of it.
    pub fn strategy(self) -> Strategy {
        match self {
            Self::Blocking => Strategy::Synchronous,
            Self::NonBlocking | Self::Threaded => Strategy::Native,
            Self::ThreadedTransfer => Strategy::Total,
        }
    }
}

/// The type of the matrices' numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Single precision.
    #[default]
    F32,
    /// Double precision.
    F64,
}

impl Precision {
    /// Both.
    pub const ALL: [Self; 2] = [Self::F32, Self::F64];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// What it is.
    pub fn about(self) -> &'static str {
        match self {
            Self::F32 => "single precision",
            Self::F64 => "double precision",
        }
    }

    /// The suite of the ring with the strip's kernel in this precision alone.
    ///
    /// # Errors
    /// What the shipped suite says.
    pub fn suite(self) -> Result<Suite> {
        let mut suite = crate::load("ring")?;
        let workload = match self {
            Self::F32 => "ring_strip",
            Self::F64 => "ring_strip_f64",
        };
        suite.workloads.retain(|known| known.name == workload);
        Ok(suite)
    }
}

/// What a ring took. Seconds are the middle of several samples, of the slowest rank each.
#[derive(Clone, Debug, PartialEq)]
pub struct Ringed {
    /// The kernel on one strip, alone.
    pub computation: f64,
    /// One strip to the device and its part of C back, alone.
    pub transfer: f64,
    /// One exchange of strips, alone; 0 on one rank.
    pub communication: f64,
    /// Seconds of the whole product by each variant, and what model 2 predicts.
    pub runs: Vec<(Variant, f64, f64)>,
    /// The product's bytes in row-major order, on rank 0.
    pub product: Option<Vec<u8>>,
}

impl Ringed {
    /// The fastest variant and its seconds.
    pub fn fastest(&self) -> Option<(Variant, f64)> {
        let all = self.runs.iter().map(|(variant, seconds, _)| (*variant, *seconds));
        all.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// The side of matrices that give each of `count` ranks as many operations as `ranks` ranks have with
/// side `n`, as near as `count` divides it.
pub fn alike(n: usize, ranks: usize, count: usize) -> usize {
    let side = n as f64 * (count as f64 / ranks.max(1) as f64).cbrt();
    let count = count.max(1);
    ((side / count as f64).round() as usize).max(1) * count
}

/// Samples of everything.
const SAMPLES: usize = 5;

/// Columns that each of `ranks` ranks has of an `n`×`n` product.
///
/// # Errors
/// `Usage` where they do not divide `n`, with the nearest sizes that they do, and for no rank.
pub fn columns(n: usize, ranks: usize) -> Result<usize> {
    if ranks == 0 {
        return Err(Error::Usage("a ring has a rank at least".into()));
    }
    if n > 0 && n.is_multiple_of(ranks) {
        return Ok(n / ranks);
    }
    let (below, above) = (n / ranks * ranks, n / ranks * ranks + ranks);
    let choices = if below > 0 { format!("{below} or {above}") } else { above.to_string() };
    Err(Error::Usage(format!("{ranks} ranks do not divide n = {n}: take {choices}")))
}

/// Multiplies two seeded `n`×`n` matrices over all ranks by each of `variants`; `suite` holds the
/// strip's kernel ([`Precision::suite`]), whose sizes are set here.
///
/// # Errors
/// As [`columns`]; whatever the device says; `Mismatch` where a result is wrong.
pub fn ring(
    device: &Remote,
    neighbours: &dyn Neighbours,
    suite: Suite,
    n: usize,
    seed: u64,
    variants: &[Variant],
) -> Result<Ringed> {
    let mut rank = Rank::new(device, neighbours, suite, n, seed)?;
    let computation = rank.alone(|rank| rank.compute(0))?;
    let transfer = rank.alone(|rank| {
        rank.put(&rank.first, 0)?;
        rank.take().map(drop)
    })?;
    let communication = match neighbours.size() {
        1 => 0.0,
        _ => rank.alone(|rank| {
            rank.exchange(&rank.first);
            Ok(())
        })?,
    };
    let ranks = neighbours.size() as f64;
    let mut runs = vec![];
    for &variant in variants {
        let seconds = rank.timed(variant)?;
        let exchanges = (ranks - 1.0) * communication;
        let predicted =
            variant.strategy().seconds(ranks * computation, ranks * transfer, exchanges);
        runs.push((variant, seconds, predicted));
    }
    let product = neighbours.gather(&rank.result).map(|strips| rank.in_rows(&strips));
    Ok(Ringed { computation, transfer, communication, runs, product })
}
