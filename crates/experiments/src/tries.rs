//! Which variants of a kernel a run tries, and in which order.

use crate::plan::{Case, space};
use gpubench_core::gpu::{DeviceInfo, DeviceKind};
use gpubench_tune::model::{Model, Settings};
use gpubench_tune::{Axes, InOrder, Outcome, Space, Strategy};
use std::time::Instant;

/// A search of no more variants tries all.
pub(crate) const FEW: usize = 24;
/// So many every search tries, however long it takes: with fewer the model knows nothing.
const MIN_TRIES: usize = 4;
/// Seconds of builds and launches behind which a search of more asks for no other.
pub(crate) const SECONDS: f64 = 3.0;
/// The same as long as it has tried fewer than [`FEW`], or not all neighbours of the suite's own variant: where a
/// compiler is slow, or slow variants come first, the time is up before the model has seen which values are good only
/// with others.
const SECONDS_OF_FEW: f64 = 8.0;
/// The same as long as no variant has a time: one that emulates an instruction may take seconds to compile and be too
/// long to launch, while others without it run.
const SECONDS_FOR_ONE: f64 = 12.0;
/// The same of a search of few, once [`MIN_TRIES`] were tried: some compilers take minutes for a kernel that others
/// build in milliseconds.
const LONGEST: f64 = 30.0;
/// Equal searches try equal variants, as far as their times are equal.
const SEED: u64 = 21;

/// The variants that are tried: all where they are few; of many the suite's own, its neighbours, and then those that a
/// model of what was tried expects most of, until the time is up.
pub(crate) struct Tries {
    strategy: Box<dyn Strategy>,
    /// Seconds behind which it asks for no other.
    seconds: f64,
    /// Tries of one parameter after another.
    of_axes: usize,
    asked: usize,
    /// Whether any has a time.
    has_time: bool,
    begun: Instant,
}

impl Tries {
    /// Of a case's variants on such a device. A simulated one builds nothing, and how busy the host is must not
    /// decide what it is found to do: all are tried there.
    pub(crate) fn new(case: &Case, device: &DeviceInfo) -> Self {
        let is_simulated = device.kind == DeviceKind::Simulated;
        let few = case.candidates.len() <= FEW || is_simulated;
        let seconds = match few {
            _ if is_simulated => f64::INFINITY,
            true => LONGEST,
            false => SECONDS,
        };
        let mut of_axes = 0;
        let strategy: Box<dyn Strategy> = match numbers(case) {
            Some(space) if !few => {
                // The start is the suite's own variant and its neighbours.
                let settings = Settings { start: 0, ..Settings::default() };
                let own = case.candidates.iter().position(|candidate| candidate.is_own);
                let model = Model::with(&space, SEED, settings);
                of_axes = Axes::tries(&space);
                Box::new(Axes::new(&space, own.unwrap_or(0), Box::new(model)))
            }
            Some(space) => Box::new(InOrder::exhaustive(&space)),
            None => Box::new(Empty),
        };
        Self { strategy, seconds, of_axes, asked: 0, has_time: false, begun: Instant::now() }
    }

    /// The next variant, by its position among the case's candidates.
    pub(crate) fn next(&mut self) -> Option<usize> {
        let seconds = match self.asked < self.of_axes.max(FEW) {
            _ if !self.has_time => self.seconds.max(SECONDS_FOR_ONE),
            true => self.seconds.max(SECONDS_OF_FEW),
            false => self.seconds,
        };
        if self.asked >= MIN_TRIES && self.begun.elapsed().as_secs_f64() > seconds {
            return None;
        }
        self.asked += 1;
        self.strategy.ask()
    }

    /// Takes in how a variant did; times are of a unit of work.
    pub(crate) fn report(&mut self, position: usize, outcome: &Outcome) {
        self.has_time |= matches!(outcome, Outcome::Measured(_));
        self.strategy.report(position, outcome);
    }
}

/// The candidates as a space; `None` where there is none. Where two have the same numbers, their positions
/// alone tell them apart.
fn numbers(case: &Case) -> Option<Space> {
    let kernels = case.candidates.iter().map(|candidate| &candidate.kernel);
    let variants: Vec<_> =
        kernels.map(|kernel| (kernel.group, kernel.constants.as_slice())).collect();
    let positions = (0..variants.len()).map(|position| vec![position as f64]).collect();
    space(&variants).or_else(|_| Space::new(vec!["variant".into()], positions)).ok()
}

/// There are no variants to choose from.
struct Empty;

impl Strategy for Empty {
    fn ask(&mut self) -> Option<usize> {
        None
    }

    fn report(&mut self, _: usize, _: &Outcome) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_tune::Interval;
    use std::time::Duration;

    #[test]
    fn a_search_goes_on_past_its_time_until_a_variant_ran_and_as_long_as_few_were_tried() {
        let asks = |elapsed: u64, [tried, of_axes]: [usize; 2], outcomes: [Outcome; MIN_TRIES]| {
            let space = Space::new(vec!["a".into()], (0..99).map(|a| vec![f64::from(a)]).collect());
            let mut tries = Tries {
                strategy: Box::new(InOrder::exhaustive(&space.unwrap())),
                seconds: SECONDS,
                of_axes,
                asked: 0,
                has_time: false,
                begun: Instant::now().checked_sub(Duration::from_secs(elapsed)).unwrap(),
            };
            for outcome in outcomes {
                let position = tries.next().unwrap();
                tries.report(position, &outcome);
            }
            tries.asked = tried;
            tries.next().is_some()
        };
        let slow = || [2.0; MIN_TRIES].map(Outcome::Slow);
        let ran = || {
            let time = Outcome::Measured(Interval { low: 1.0, time: 1.0, high: 1.0 });
            [Outcome::Slow(2.0), time, Outcome::Slow(2.0), Outcome::Slow(2.0)]
        };
        let at = |seconds: [u64; 2], tried, outcomes: fn() -> [Outcome; MIN_TRIES]| {
            seconds.map(|seconds| asks(seconds, tried, outcomes()))
        };
        assert_eq!(at([2, 5], [FEW, 9], ran), [true, false]);
        assert_eq!(at([7, 9], [MIN_TRIES, 0], ran), [true, false], "few were tried");
        assert_eq!(at([7, 9], [FEW + 6, 40], ran), [true, false], "not each parameter");
        assert_eq!(at([11, 13], [FEW, 0], slow), [true, false], "none ran");
    }
}
