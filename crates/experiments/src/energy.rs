//! Joules of one launch, where the device's sensors report energy: the kernel is launched again and again
//! for a moment, behind the timed launches, between two readings.

use super::Bench;
use gpubench_core::error::Result;
use gpubench_core::gpu::Recording;
use gpubench_device::sensors::Reading;
use std::time::Instant;

/// Seconds of launches between readings: far longer than reading takes.
const BURST: f64 = 0.01;
/// Seconds over which a counter of energy is read: many times its own period, 20 to 100 ms.
const BY_COUNTER: f64 = 0.4;
/// Seconds after which a power that is averaged over a second is this kernel's.
const BY_POWER: f64 = 1.25;

/// Fills in the joules of one of the `batch` launches of `recording`. Nothing where the device
/// does not report it, or where it would take more than half of the case's sampling time.
pub(super) fn measure(bench: &mut Bench, recording: &Recording, batch: u32) -> Result<()> {
    let Some(polling) = bench.session.polling.clone() else { return Ok(()) };
    let seconds = match polling.read() {
        Reading { joules: Some(_), .. } => BY_COUNTER,
        Reading { watts: Some(_), .. } => BY_POWER,
        _ => return Ok(()),
    };
    if seconds > bench.policy.seconds / 2.0 {
        return Ok(());
    }
    let begun = Instant::now();
    let mut energy = Energy::new(seconds);
    loop {
        let burst = Instant::now();
        let mut launches = 0;
        while launches == 0 || burst.elapsed().as_secs_f64() < BURST {
            bench.device().run(recording)?;
            launches += u64::from(batch);
        }
        if energy.feed(begun.elapsed().as_secs_f64(), launches, &polling.read()) {
            break;
        }
    }
    bench.measurement.monitor.joules = energy.each();
    Ok(())
}

/// The result of readings between bursts of launches.
struct Energy {
    seconds: f64,
    /// Seconds, launches and joules when the counter first moved, and when it last did.
    moved: Option<[(f64, u64, f64); 2]>,
    before: Option<f64>,
    launches: u64,
    each: Option<f64>,
}

impl Energy {
    fn new(seconds: f64) -> Self {
        Self { seconds, moved: None, before: None, launches: 0, each: None }
    }

    /// Takes in a reading `at` seconds, after a given number of further launches; whether it was the last.
    fn feed(&mut self, at: f64, launches: u64, reading: &Reading) -> bool {
        self.launches += launches;
        match (reading.joules, reading.watts) {
            (Some(joules), _) => self.count(at, joules),
            (None, Some(watts)) => self.each = Some(watts * at / self.launches as f64),
            (None, None) => return true,
        }
        // A counter may take a while to move; one that never does says nothing.
        at > 2.0 * self.seconds
            || at > self.seconds && (reading.joules.is_none() || self.long_enough())
    }

    /// The counter moves in steps: only the times of its steps are known.
    fn count(&mut self, at: f64, joules: f64) {
        if self.before.replace(joules).is_none_or(|before| before == joules) {
            return;
        }
        let now = (at, self.launches, joules);
        let [first, _] = *self.moved.get_or_insert([now; 2]);
        self.moved = Some([first, now]);
        if self.long_enough() && now.1 > first.1 {
            self.each = Some((joules - first.2) / (now.1 - first.1) as f64);
        }
    }

    fn long_enough(&self) -> bool {
        self.moved.is_some_and(|[first, last]| last.0 - first.0 >= 0.6 * self.seconds)
    }

    fn each(self) -> Option<f64> {
        self.each.filter(|joules| *joules > 0.0 && joules.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Joules a launch of a device that draws 200 W and takes 1 ms each, read every 10 ms.
    fn run(reading: impl Fn(f64) -> Reading, seconds: f64) -> (Option<f64>, f64) {
        let mut energy = Energy::new(seconds);
        for i in 1.. {
            let at = f64::from(i) * 0.01;
            if energy.feed(at, 10, &reading(at)) {
                return (energy.each(), at);
            }
        }
        unreachable!("bounded")
    }

    #[test]
    fn a_counter_that_moves_in_steps_is_read_at_its_steps() {
        for period in [0.0201, 0.05, 0.1] {
            let counter = |at: f64| (at / period).floor() * period * 200.0 + 1e6;
            let (each, at) =
                run(|at| Reading { joules: Some(counter(at)), ..Reading::default() }, 0.4);
            let error = each.unwrap() / 0.2 - 1.0;
            assert!(error.abs() < 0.05, "{period}: {error}");
            assert!(at < 0.6, "{at} s");
        }
    }

    #[test]
    fn a_counter_that_stands_still_says_nothing() {
        let (each, at) = run(|_| Reading { joules: Some(5.0), ..Reading::default() }, 0.4);
        assert_eq!(each, None);
        assert!(at < 0.9, "bounded: {at}");
        assert_eq!(run(|_| Reading::default(), 0.4), (None, 0.01));
    }

    #[test]
    fn power_counts_when_it_has_settled() {
        let settling = |at: f64| Reading { watts: Some(200.0 * at.min(1.0)), ..Reading::default() };
        let (each, at) = run(settling, 1.25);
        assert!((each.unwrap() - 0.2).abs() < 1e-9);
        assert!((1.25..1.3).contains(&at));
    }
}
