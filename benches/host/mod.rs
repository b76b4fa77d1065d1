//! What the host's processor reaches by itself, over all its cores.

mod chains;
mod streams;

pub use chains::Type;
use std::fmt;
use std::hint::black_box;
use std::num::NonZero;
use std::sync::Barrier;
use std::time::Instant;

/// Repetitions of each measurement.
const REPETITIONS: usize = 15;

/// One variant of a measurement: its name, and its rate in each repetition.
pub struct Rates {
    /// Which instructions it uses.
    pub variant: &'static str,
    /// 10⁹ operations or bytes a second.
    pub rates: Vec<f64>,
}

impl Rates {
    /// The middle repetition.
    pub fn median(&self) -> f64 {
        let mut sorted = self.rates.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let best = self.rates.iter().copied().fold(0.0, f64::max);
        write!(f, "{:<16} best {best:8.2}   median {:8.2}", self.variant, self.median())
    }
}

/// Logical processors that this process may use.
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Multiply-adds of a type, 10⁹ operations a second over all threads; `None` where this processor has no vectors
/// of it that are written here.
pub fn multiply_adds(of: Type) -> Option<Rates> {
    let chains = chains::best(of)?;
    Some(Rates { variant: chains.variant, rates: arithmetic_rates(threads(), &chains) })
}

/// A triad over three arrays of `mib` MiB each, in GB/s, in every variant that the processor takes;
/// the plain loop is the first.
pub fn triad(mib: usize) -> Vec<Rates> {
    let mut arrays = streams::Arrays::new(mib << 18, threads());
    let rates = |(variant, kernel)| Rates { variant, rates: arrays.triad_rates(kernel) };
    streams::variants().into_iter().map(rates).collect()
}

/// Reads of an array of `mib` MiB, in GB/s.
pub fn read(mib: usize) -> Rates {
    let arrays = streams::Arrays::new(mib << 18, threads());
    Rates { variant: "sum", rates: arrays.read_rates() }
}

/// A copy of `mib` MiB by one thread, in GB/s of what is copied: what a driver's transfer is.
pub fn copy(mib: usize) -> Rates {
    Rates { variant: "one thread", rates: streams::copy_rates(mib << 18) }
}

/// Runs `work` on every part at once, each on a thread of its own, and returns the seconds from
/// the first to start to the last to end.
fn timed<T: Send>(parts: impl ExactSizeIterator<Item = T>, work: impl Fn(T) + Sync) -> f64 {
    let barrier = Barrier::new(parts.len());
    let run = |part| {
        barrier.wait();
        let start = Instant::now();
        work(part);
        (start, Instant::now())
    };
    let spans: Vec<(Instant, Instant)> = std::thread::scope(|scope| {
        let run = &run;
        let handles: Vec<_> = parts.map(|part| scope.spawn(move || run(part))).collect();
        handles.into_iter().filter_map(|handle| handle.join().ok()).collect()
    });
    let first = spans.iter().map(|span| span.0).min();
    let last = spans.iter().map(|span| span.1).max();
    first.zip(last).map_or(f64::NAN, |(first, last)| (last - first).as_secs_f64())
}

/// 10⁹ operations a second, repetition by repetition; each lasts about a tenth of a second.
fn arithmetic_rates(threads: usize, chains: &chains::Chains) -> Vec<f64> {
    let mut steps = 1 << 16;
    let run = chains.run;
    let seconds = |steps| timed((0..threads).map(|_| steps), |steps| _ = black_box(run(steps)));
    while seconds(steps) < 0.1 {
        steps *= 2;
    }
    let operations = (threads as u64 * chains.operations * steps) as f64;
    (0..REPETITIONS).map(|_| operations / seconds(steps) / 1e9).collect()
}
