//! A device's sensors, read again and again while a case is measured: a device that has nothing to
//! do soon has no reason any more to hold its clock back.

use gpubench_core::units::with_prefix;
use gpubench_device::sensors::{Reading, Sensors};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Between two readings.
const PERIOD: Duration = Duration::from_millis(20);
/// Below this share of the last moment at work, a device's clock says nothing.
const AT_WORK: f64 = 0.5;
/// A clock below this share of what it was earlier in the same case has dropped.
const DROPPED: f64 = 0.9;

/// A thread that reads the sensors of one device when told to; clones share it.
#[derive(Clone)]
pub(super) struct Polling {
    shared: Arc<Shared>,
    _end: Arc<End>,
}

/// Ends the thread when the last clone is dropped.
struct End(Arc<Shared>);

struct Shared {
    sensors: Mutex<Box<dyn Sensors>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    reading: bool,
    over: bool,
    seen: Seen,
    latest: Option<Reading>,
}

/// The result of the readings of one case.
#[derive(Default)]
struct Seen {
    reasons: Vec<String>,
    /// The highest clock, and the lowest one behind it.
    highest: f64,
    dropped: Option<[f64; 2]>,
}

impl Polling {
    /// Of these sensors; not reading yet.
    pub fn new(sensors: Box<dyn Sensors>) -> Self {
        let (sensors, state) = (Mutex::new(sensors), Mutex::default());
        let shared = Arc::new(Shared { sensors, state, changed: Condvar::new() });
        let theirs = Arc::clone(&shared);
        std::thread::spawn(move || theirs.poll());
        let end = Arc::new(End(Arc::clone(&shared)));
        Self { shared, _end: end }
    }

    /// Reads from now on, or no more.
    pub fn switch(&self, reading: bool) {
        let mut state = lock(&self.shared.state);
        // What was read before says nothing of what begins now.
        if state.reading != reading {
            (state.reading, state.latest) = (reading, None);
        }
        drop(state);
        self.shared.changed.notify_all();
    }

    /// One reading at once.
    pub fn read(&self) -> Reading {
        lock(&self.shared.sensors).read()
    }

    /// The last reading of the device at work, while it was switched on.
    pub fn latest(&self) -> Option<Reading> {
        lock(&self.shared.state).latest.clone()
    }

    /// What held the clock back since the last call, in words.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.shared.state).seen).throttle_reasons()
    }
}

impl Drop for End {
    fn drop(&mut self) {
        lock(&self.0.state).over = true;
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn poll(&self) {
        let mut state = lock(&self.state);
        while !state.over {
            if !state.reading {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            drop(state);
            let reading = lock(&self.sensors).read();
            state = lock(&self.state);
            if state.reading {
                state.seen.note(&reading);
                if is_at_work(&reading) {
                    state.latest = Some(reading);
                }
            }
            let waited = self.changed.wait_timeout(state, PERIOD);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Seen {
    fn note(&mut self, reading: &Reading) {
        if !is_at_work(reading) {
            return;
        }
        if let Some(reason) = &reading.throttled
            && !self.reasons.contains(reason)
        {
            self.reasons.push(reason.clone());
        }
        let Some(clock) = reading.clock else { return };
        self.highest = self.highest.max(clock);
        if clock < DROPPED * self.highest
            && self.dropped.is_none_or(|[from, to]| clock / self.highest < to / from)
        {
            self.dropped = Some([self.highest, clock]);
        }
    }

    fn throttle_reasons(self) -> Vec<String> {
        let hertz = |clock| with_prefix(clock, "Hz");
        let drop =
            |[from, to]: [f64; 2]| format!("the clock fell from {} to {}", hertz(from), hertz(to));
        self.reasons.into_iter().chain(self.dropped.map(drop)).collect()
    }
}

/// A device at rest holds its clock back for no reason that counts.
fn is_at_work(reading: &Reading) -> bool {
    reading.busy.is_none_or(|share| share >= AT_WORK)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(busy: f64, mhz: f64, throttled: Option<&str>) -> Reading {
        Reading {
            busy: Some(busy),
            clock: Some(mhz * 1e6),
            throttled: throttled.map(str::to_owned),
            ..Reading::default()
        }
    }

    fn throttle_reasons(readings: &[Reading]) -> Vec<String> {
        let mut seen = Seen::default();
        readings.iter().for_each(|reading| seen.note(reading));
        seen.throttle_reasons()
    }

    #[test]
    fn a_clock_that_rises_or_idles_has_not_dropped() {
        let rising = [300.0, 1500.0, 2000.0, 1850.0].map(|mhz| reading(1.0, mhz, None));
        assert_eq!(throttle_reasons(&rising), [""; 0]);
        assert_eq!(
            throttle_reasons(&[reading(1.0, 2000.0, None), reading(0.1, 300.0, None)]),
            [""; 0]
        );
    }

    #[test]
    fn a_drop_and_each_reason_are_reported_once() {
        let hot = reading(1.0, 1980.0, Some("power cap"));
        let found = throttle_reasons(&[
            hot.clone(),
            hot,
            reading(1.0, 1200.0, Some("temperature")),
            reading(1.0, 1400.0, None),
            reading(0.0, 300.0, Some("idle")),
        ]);
        let drop = "the clock fell from 1.98 GHz to 1.20 GHz";
        assert_eq!(found, ["power cap", "temperature", drop]);
    }

    #[test]
    fn sensors_are_read_while_they_are_switched_on() {
        struct Hot;
        impl Sensors for Hot {
            fn read(&self) -> Reading {
                Reading { throttled: Some("power cap".into()), ..Reading::default() }
            }
        }
        let polling = Polling::new(Box::new(Hot));
        assert_eq!(polling.take(), [""; 0]);
        polling.switch(true);
        let mut found = vec![];
        for _ in 0..500 {
            found.extend(polling.take());
            if !found.is_empty() {
                break;
            }
            std::thread::sleep(PERIOD / 2);
        }
        polling.switch(false);
        assert_eq!(found, ["power cap"]);
    }
}
