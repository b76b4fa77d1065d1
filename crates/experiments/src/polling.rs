//! The sensors of a device and of its host, read again and again while a case is measured: a device that has nothing
//! to do soon has no reason any more to hold its clock back.

use gpubench_core::record::Sensed;
use gpubench_core::units::with_prefix;
use gpubench_device::sensors::{HostSensors, Reading, Sensors};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Between two readings of the device.
const PERIOD: Duration = Duration::from_millis(20);
/// Between two readings of the host, whose clocks are not read for nothing.
const HOST_PERIOD: Duration = Duration::from_millis(500);
/// Below this share of the last moment at work, a device's clock says nothing.
const AT_WORK: f64 = 0.5;
/// A clock below this share of what it was earlier in the same case has dropped.
const DROPPED: f64 = 0.9;

/// A thread that reads the sensors of one device and its host when told to; clones share it.
#[derive(Clone)]
pub(super) struct Polling {
    shared: Arc<Shared>,
    _end: Arc<End>,
}

/// Ends the thread when the last clone is dropped.
struct End(Arc<Shared>);

struct Shared {
    sensors: Option<Mutex<Box<dyn Sensors>>>,
    host: Option<Mutex<HostSensors>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    reading: bool,
    over: bool,
    seen: Seen,
    latest: Option<Reading>,
    host: Sensed,
}

/// The result of the readings of one case.
#[derive(Default)]
pub(super) struct Seen {
    /// The device's last reading at work.
    pub device: Sensed,
    /// The host's last.
    pub host: Sensed,
    reasons: Vec<String>,
    /// The highest clock, and the lowest one behind it.
    highest: f64,
    dropped: Option<[f64; 2]>,
}

impl Polling {
    /// Of these sensors, where there are any; not reading yet.
    pub fn new(sensors: Option<Box<dyn Sensors>>, host: Option<HostSensors>) -> Option<Self> {
        (sensors.is_some() || host.is_some()).then(|| Self::start(sensors, host))
    }

    fn start(sensors: Option<Box<dyn Sensors>>, host: Option<HostSensors>) -> Self {
        let (sensors, host, state) =
            (sensors.map(Mutex::new), host.map(Mutex::new), Mutex::default());
        let shared = Arc::new(Shared { sensors, host, state, changed: Condvar::new() });
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
            (state.reading, state.latest, state.host) = (reading, None, Sensed::default());
        }
        drop(state);
        self.shared.changed.notify_all();
    }

    /// One reading of the device at once; of nothing where it has no sensors.
    pub fn read(&self) -> Reading {
        self.shared.device()
    }

    /// The temperature at once: the device's, else its host's.
    pub fn celsius(&self) -> Option<f64> {
        let host = || lock(self.shared.host.as_ref()?).read().celsius;
        self.read().celsius.or_else(host)
    }

    /// The last reading of the device at work, while it was switched on.
    pub fn latest(&self) -> Option<Reading> {
        lock(&self.shared.state).latest.clone()
    }

    /// The host's last reading while it was switched on.
    pub fn latest_host(&self) -> Sensed {
        lock(&self.shared.state).host
    }

    /// What was read since the last call.
    pub fn take(&self) -> Seen {
        std::mem::take(&mut lock(&self.shared.state).seen)
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
        let mut host_due = None;
        let mut state = lock(&self.state);
        while !state.over {
            if !state.reading {
                host_due = None;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            drop(state);
            let reading = self.device();
            let host = self.host_when(&mut host_due);
            state = lock(&self.state);
            if state.reading {
                state.note(reading, host);
            }
            let period = if self.sensors.is_some() { PERIOD } else { HOST_PERIOD };
            let waited = self.changed.wait_timeout(state, period);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn device(&self) -> Reading {
        self.sensors.as_ref().map(|sensors| lock(sensors).read()).unwrap_or_default()
    }

    /// A reading of the host where it is due; the first is of what begins then.
    fn host_when(&self, due: &mut Option<Instant>) -> Option<Sensed> {
        let host = self.host.as_ref()?;
        if due.is_some_and(|due| Instant::now() < due) {
            return None;
        }
        let mut host = lock(host);
        if due.replace(Instant::now() + HOST_PERIOD).is_none() {
            host.restart();
        }
        Some(host.read())
    }
}

impl State {
    fn note(&mut self, reading: Reading, host: Option<Sensed>) {
        self.seen.note(&reading);
        if let Some(host) = host {
            (self.host, self.seen.host) = (host, host);
        }
        if is_at_work(&reading) {
            self.latest = Some(reading);
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
        self.device =
            Sensed { hertz: reading.clock, watts: reading.watts, celsius: reading.celsius };
        let Some(clock) = reading.clock else { return };
        self.highest = self.highest.max(clock);
        if clock < DROPPED * self.highest
            && self.dropped.is_none_or(|[from, to]| clock / self.highest < to / from)
        {
            self.dropped = Some([self.highest, clock]);
        }
    }

    /// What held the clock back, in words.
    pub fn throttle_reasons(self) -> Vec<String> {
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
                let throttled = Some("power cap".into());
                Reading { throttled, celsius: Some(81.0), ..Reading::default() }
            }
        }
        let polling = Polling::new(Some(Box::new(Hot)), None).unwrap();
        assert_eq!(polling.take().throttle_reasons(), [""; 0]);
        polling.switch(true);
        let seen = first(&polling, |seen| !seen.device.is_empty());
        polling.switch(false);
        assert_eq!(seen.device.celsius, Some(81.0));
        assert_eq!(
            (seen.host, seen.throttle_reasons()),
            (Sensed::default(), vec!["power cap".into()])
        );
    }

    /// What was read first that is as wished for.
    fn first(polling: &Polling, wished: impl Fn(&Seen) -> bool) -> Seen {
        for _ in 0..500 {
            let seen = polling.take();
            if wished(&seen) {
                return seen;
            }
            std::thread::sleep(PERIOD / 2);
        }
        panic!("nothing was read");
    }

    #[test]
    fn a_host_is_read_where_the_device_has_no_sensors() {
        assert!(Polling::new(None, None).is_none());
        let sys = tempfile::tempdir().unwrap();
        let zone = sys.path().join("class/thermal/thermal_zone0");
        std::fs::create_dir_all(&zone).unwrap();
        std::fs::write(zone.join("type"), "cpu-thermal\n").unwrap();
        std::fs::write(zone.join("temp"), "71500\n").unwrap();
        let polling = Polling::new(None, HostSensors::below(sys.path())).unwrap();
        assert_eq!(polling.read(), Reading::default());
        assert!(polling.latest_host().is_empty(), "it is not switched on");
        polling.switch(true);
        let seen = first(&polling, |seen| !seen.host.is_empty());
        let warm = Sensed { celsius: Some(71.5), ..Sensed::default() };
        assert_eq!((seen.host, seen.device), (warm, Sensed::default()));
        assert_eq!((polling.latest_host(), polling.celsius()), (warm, warm.celsius));
        polling.switch(false);
        assert!(polling.latest_host().is_empty());
    }
}
