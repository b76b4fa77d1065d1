//! The ring matrix product over several ranks, each with a device: strips of A travel round, and
//! every rank multiplies each of them by its columns of B.
//!
//! Source: V13 §5.2 and §5.4. Of every strip, A is sent to the device and its part of C received
//! (transfer), the kernel runs (computation), and A is handed on to the neighbour (communication).
//! Three strategies combine them: one after the other; communication beside the kernel; and beside
//! the kernel the next strip's transfer and the exchange of the one after it.

mod rank;
#[cfg(test)]
mod tests;

use crate::backend::Remote;
use crate::error::{Error, Result};
use crate::model::overlap_worth::Strategy;
use crate::stats::median_of;
use crate::suite::Suite;
use rank::Rank;

/// The ranks beside this one.
pub trait Neighbours {
    /// Which rank this is, from 0.
    fn rank(&self) -> usize;
    /// How many there are.
    fn size(&self) -> usize;
    /// Sends a strip to the rank before, and receives that of the rank behind.
    fn exchange(&self, strip: &[f32], into: &mut [f32]);
    /// Waits for all ranks.
    fn barrier(&self);
    /// The largest of all ranks' values.
    fn largest(&self, value: f64) -> f64;
    /// All ranks' values, those of rank 0 first; on rank 0 only.
    fn gather(&self, mine: &[f32]) -> Option<Vec<f32>>;
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
    /// Seconds of the whole product by each strategy, and what model 2 foresees.
    pub runs: Vec<(Strategy, f64, f64)>,
    /// The product in row-major order, on rank 0.
    pub product: Option<Vec<f32>>,
}

/// Samples of everything.
const SAMPLES: usize = 5;

/// Columns that each of `ranks` ranks has of an `n`×`n` product.
///
/// # Errors
/// `Usage` where they do not divide `n`, with the nearest sizes that they do.
pub fn columns(n: usize, ranks: usize) -> Result<usize> {
    if n > 0 && n.is_multiple_of(ranks.max(1)) {
        return Ok(n / ranks.max(1));
    }
    let (below, above) = (n / ranks * ranks, n / ranks * ranks + ranks);
    let choices = if below > 0 { format!("{below} or {above}") } else { above.to_string() };
    Err(Error::Usage(format!("{ranks} ranks do not divide n = {n}: take {choices}")))
}

/// Multiplies two seeded `n`×`n` matrices over all ranks by every strategy; `suite` holds the
/// strip's kernel, whose sizes are set here.
///
/// # Errors
/// As [`columns`]; whatever the device says; `Mismatch` where a result is wrong.
pub fn ring(
    device: &Remote,
    neighbours: &dyn Neighbours,
    suite: Suite,
    n: usize,
    seed: u64,
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
    for strategy in [Strategy::Synchronous, Strategy::Native, Strategy::Total] {
        let seconds = rank.timed(strategy)?;
        let exchanges = (ranks - 1.0) * communication;
        let foreseen = strategy.seconds(ranks * computation, ranks * transfer, exchanges);
        runs.push((strategy, seconds, foreseen));
    }
    let product = neighbours.gather(&rank.result).map(|strips| rank.in_rows(&strips));
    Ok(Ringed { computation, transfer, communication, runs, product })
}

fn middle(samples: Vec<f64>) -> f64 {
    median_of(samples).unwrap_or(f64::NAN)
}
