//! A case between two launches of the reference kernel, the sensors of device and host being read meanwhile: what was
//! measured on a device that was slower than before is thrown away and measured again, but not for
//! ever.

use super::cool_down::cool_down;
use super::reference_kernel::drift;
use super::{Measurement, Policy, Session, Stage, measure};
use crate::first_build;
use crate::plan::Case;
use crate::registry::experiment;
use gpubench_analysis::smallest_drift;
use gpubench_core::record::{Flag, Wall};
use std::time::Instant;

/// Cases of one process that are measured a second time, at most.
const AGAIN: u32 = 10;
/// This many second times in a row that were no better are the last.
const FUTILE: u32 = 3;
/// The share of a process's time that may be thrown away.
const DISCARDED: f64 = 0.05;

/// How often a session may still throw a measurement away.
#[derive(Debug)]
pub(super) struct RetryBudget {
    left: u32,
    futile: u32,
    /// Seconds thrown away so far.
    discarded: f64,
}

impl Default for RetryBudget {
    fn default() -> Self {
        Self { left: AGAIN, futile: 0, discarded: 0.0 }
    }
}

impl RetryBudget {
    /// Whether to throw away what took so many `seconds` and measure once more, in a process that is
    /// `age` seconds old.
    fn spend(&mut self, seconds: f64, age: f64) -> bool {
        let affordable = self.discarded + seconds <= DISCARDED * age;
        let may = self.left > 0 && self.futile < FUTILE && affordable;
        if may {
            self.left -= 1;
            self.discarded += seconds;
        }
        may
    }

    fn learn(&mut self, better: bool) {
        self.futile = if better { 0 } else { self.futile + 1 };
    }
}

/// Measures one case as [`measure`](super::measure()) does, on a device that has cooled down where that is asked for,
/// and watches it. `first` is what the reference kernel took when the run began; where it is `None`, this is when it
/// begins.
pub fn measure_with_drift_guard(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    first: Option<f64>,
    stage: &mut dyn FnMut(Stage),
) -> Measurement {
    let begun = Instant::now();
    let cooled = policy.cool_down.map(|asked| cool_down(session, asked, stage));
    let waited = begun.elapsed().as_secs_f64();
    let mut measurement = guarded(session, case, policy, first, stage);
    if let Some((cooled, flag)) = cooled {
        measurement.wall.cool_down = waited;
        measurement.monitor.cool_down = Some(cooled);
        flag.into_iter().for_each(|flag| measurement.flag(flag));
    }
    measurement
}

/// The same without a pause: with threads placed, and between readings of the reference kernel unless drift is the
/// result, or times are compared within minutes.
fn guarded(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    first: Option<f64>,
    stage: &mut dyn FnMut(Stage),
) -> Measurement {
    let is_result = experiment(case.key.measure).is_some_and(|kind| kind.drift_is_result);
    if policy.verify_only {
        return measure(session, case, policy, stage);
    }
    let begun = Instant::now();
    stage(Stage::Prepare);
    let placing = session.place_threads();
    let mut measurement = match (policy.race.is_some(), is_result) {
        (true, _) => measure(session, case, policy, stage),
        (false, true) => sensed(session, case, policy, stage).0,
        (false, false) => return between_readings(session, case, policy, (begun, first), stage),
    };
    measurement.wall.reference_kernel = placing;
    measurement
}

/// Measures, and once more where the reference kernel shows that the device was slower meanwhile. `begun` is when the
/// time began that none of the case's stages take.
fn between_readings(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    (begun, first): (Instant, Option<f64>),
    stage: &mut dyn FnMut(Stage),
) -> Measurement {
    let last = session.reference_kernel.last;
    let mut before = last.or_else(|| session.afford_reference_kernel());
    let first = first.or(before);
    let limit = smallest_drift(session.device.info().kind);
    let (mut discarded, mut discarded_seconds) = (0, 0.0);
    let mut compiled = None;
    loop {
        let (mut measurement, throttled) = sensed(session, case, policy, stage);
        first_build::keep(&mut measurement.kernel, compiled.as_ref());
        // A device that was woken is as fast as it was then.
        before = session.reference_kernel.last.or(before);
        measurement.wall.discarded = discarded_seconds;
        measurement.monitor.began = first;
        measurement.monitor.discarded = discarded;
        let Some(measured) = &measurement.measured else {
            measurement.wall.reference_kernel = since(begun, measurement.wall);
            // Whatever went wrong, the next case looks at the device anew.
            session.reference_kernel.last = None;
            return measurement;
        };
        let samples = u32::try_from(measured.samples.len()).unwrap_or(u32::MAX);
        // Where it is not affordable, the next reading is behind a later case.
        let after = session.afford_reference_kernel();
        let around = before.zip(after).map(|(before, after)| [before, after]);
        let drift = first.zip(around).map(|(first, around)| slower_end(first, around));
        let slower = drift.is_some_and(|drift| drift > limit) || !throttled.is_empty();
        if discarded > 0 {
            session.retry_budget.learn(!slower);
        }
        let seconds = measurement.wall.stages();
        if slower && discarded == 0 && session.retry_budget.spend(seconds, session.age()) {
            (discarded, discarded_seconds) = (samples, seconds);
            compiled = measurement.kernel.take();
            before = session.afford_reference_kernel().or(after);
            continue;
        }
        measurement.monitor.reference_kernel = around;
        measurement.monitor.memory_kernel = session.afford_memory_kernel();
        throttled.into_iter().for_each(|why| measurement.flag(Flag::Throttled(why)));
        measurement.wall.reference_kernel = since(begun, measurement.wall);
        return measurement;
    }
}

/// Seconds since then that went into none of the stages that count.
fn since(begun: Instant, wall: Wall) -> f64 {
    (begun.elapsed().as_secs_f64() - wall.stages() - wall.discarded).max(0.0)
}

/// Measures, and reports what held the clock back while samples were taken.
fn sensed(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
) -> (Measurement, Vec<String>) {
    let Some(polling) = session.polling.clone() else {
        return (measure(session, case, policy, stage), vec![]);
    };
    let mut measurement = measure(session, case, policy, &mut |now| {
        polling.switch(now == Stage::Measure);
        stage(now);
    });
    polling.switch(false);
    let seen = polling.take();
    (measurement.monitor.sensors, measurement.monitor.host) = (seen.device, seen.host);
    (measurement, seen.throttle_reasons())
}

/// The drift of the slower end.
fn slower_end(first: f64, [before, after]: [f64; 2]) -> f64 {
    drift(first, before).max(drift(first, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Race;
    use crate::invented_device::{InventedDevice, timeline};
    use crate::plan::case::sample;
    use gpubench_core::gpu::{DeviceKind, KernelId, Op};
    use std::cell::Cell;
    use std::rc::Rc;

    /// Whether the reference kernel ran, as it does before threads are placed.
    fn is_placed(kind: DeviceKind, policy: &Policy) -> bool {
        let is_placed = Rc::new(Cell::new(false));
        let seen = Rc::clone(&is_placed);
        let device = InventedDevice::new(kind, move |_, recording| {
            let is_reference = |op: &Op| match op {
                Op::Dispatch { kernel, .. } => kernel.0 == KernelId::LASTING,
                _ => false,
            };
            seen.set(seen.get() || recording.steps.iter().any(|step| is_reference(&step.op)));
            timeline(vec![], 1e-3)
        });
        let case = sample::case("compute", "mine", 4);
        guarded(&mut Session::new(Box::new(device)), &case, policy, None, &mut |_| {});
        is_placed.get()
    }

    #[test]
    fn threads_of_a_cpu_are_placed_for_races_too() {
        let race = Policy { race: Some(Race { best: None }), ..Policy::default() };
        let verify_only = Policy { verify_only: true, ..Policy::default() };
        assert!(is_placed(DeviceKind::Cpu, &race));
        assert!(!is_placed(DeviceKind::Discrete, &race));
        assert!(!is_placed(DeviceKind::Cpu, &verify_only));
    }

    #[test]
    fn the_retry_budget_ends() {
        let mut endless = RetryBudget::default();
        let mut tries = 0;
        while endless.spend(1.0, 1e6) {
            endless.learn(false);
            tries += 1;
        }
        assert_eq!(tries, FUTILE);
        let mut now_and_then = RetryBudget::default();
        let mut tries = 0;
        while now_and_then.spend(1.0, 1e6) {
            now_and_then.learn(true);
            tries += 1;
        }
        assert_eq!(tries, AGAIN);
        let mut young = RetryBudget::default();
        assert!(!young.spend(1.0, 19.0) && young.spend(1.0, 21.0) && !young.spend(1.0, 39.0));
    }

    #[test]
    fn the_slower_end_counts() {
        assert!((slower_end(1.0, [1.01, 1.05]) - 0.05).abs() < 1e-12);
        assert!((slower_end(1.0, [1.05, 0.9]) - 0.05).abs() < 1e-12, "a faster one hides nothing");
    }
}
