//! The device cools down between cases: for some seconds, or until it is below a temperature.

use super::polling::Polling;
use super::{Session, Stage};
use gpubench_core::gpu::DeviceKind;
use gpubench_core::record::{CoolDown, CooledDown, Flag};
use std::time::{Duration, Instant};

/// Seconds between two looks at the temperature.
const STEP: f64 = 0.5;

/// Lets the device of `session` cool down as asked for: what is noted of it, and why it is still warm where it is.
pub(super) fn cool_down(
    session: &mut Session,
    asked: CoolDown,
    stage: &mut dyn FnMut(Stage),
) -> (CooledDown, Option<Flag>) {
    stage(Stage::CoolDown);
    let polling = session.polling.clone();
    let mut celsius = || polling.as_ref().and_then(Polling::celsius);
    // A simulated device's time passes at once.
    let is_simulated = session.device.info().kind == DeviceKind::Simulated;
    let cooled = match is_simulated {
        true => pause(asked, &mut celsius, &mut |seconds| seconds),
        false => pause(asked, &mut celsius, &mut sleep),
    };
    // What the reference kernel took of the warm device says nothing of the cool one.
    session.reference_kernel.last = None;
    (cooled, still_warm(asked, &cooled))
}

/// Pauses, by a thermometer and a clock, which says how many seconds of those asked for have passed.
fn pause(
    asked: CoolDown,
    celsius: &mut dyn FnMut() -> Option<f64>,
    pass: &mut dyn FnMut(f64) -> f64,
) -> CooledDown {
    let mut seconds = 0.0;
    let mut now = celsius();
    if let CoolDown::Below { celsius: limit, max_seconds } = asked {
        while now.is_some_and(|now| now >= limit) && seconds < max_seconds {
            seconds += pass(STEP.min(max_seconds - seconds));
            now = celsius();
        }
    } else {
        seconds = pass(asked.max_seconds());
        now = celsius();
    }
    CooledDown { seconds, celsius: now }
}

/// Seconds that the host slept.
fn sleep(seconds: f64) -> f64 {
    let begun = Instant::now();
    std::thread::sleep(Duration::from_secs_f64(seconds));
    begun.elapsed().as_secs_f64()
}

fn still_warm(asked: CoolDown, cooled: &CooledDown) -> Option<Flag> {
    let CoolDown::Below { celsius: limit, .. } = asked else { return None };
    let why = match cooled.celsius {
        None => "no sensor reports a temperature".to_owned(),
        Some(celsius) if celsius >= limit => {
            format!("{celsius:.1} °C after {:.0} s, {limit} °C were asked for", cooled.seconds)
        }
        Some(_) => return None,
    };
    Some(Flag::StillWarm(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BELOW: CoolDown = CoolDown::Below { celsius: 50.0, max_seconds: 10.0 };

    /// What comes of it on a device that begins this warm and loses so many degrees a second.
    fn cooled(asked: CoolDown, warm: Option<f64>, rate: f64) -> CooledDown {
        let passed = std::cell::Cell::new(0.0);
        let mut celsius = || warm.map(|warm| warm - rate * passed.get());
        pause(asked, &mut celsius, &mut |seconds| {
            passed.set(passed.get() + seconds);
            seconds
        })
    }

    #[test]
    fn it_lasts_until_the_device_is_cool_or_the_limit() {
        let at_once = cooled(BELOW, Some(49.9), 0.0);
        assert_eq!((at_once.seconds, still_warm(BELOW, &at_once)), (0.0, None));
        let in_time = cooled(BELOW, Some(57.0), 2.0);
        assert_eq!((in_time.seconds, in_time.celsius), (4.0, Some(49.0)));
        let never = cooled(BELOW, Some(80.0), 0.5);
        assert_eq!((never.seconds, never.celsius), (10.0, Some(75.0)));
        let flag = Flag::StillWarm("75.0 °C after 10 s, 50 °C were asked for".into());
        assert_eq!(still_warm(BELOW, &never), Some(flag));
        let blind = cooled(BELOW, None, 0.0);
        assert_eq!(blind.seconds, 0.0, "nothing says when it would be cool");
        let flag = Flag::StillWarm("no sensor reports a temperature".into());
        assert_eq!(still_warm(BELOW, &blind), Some(flag));
    }

    #[test]
    fn seconds_are_waited_whatever_the_temperature() {
        for warm in [None, Some(20.0), Some(99.0)] {
            let cooled = cooled(CoolDown::Seconds(3.0), warm, 0.0);
            assert_eq!(cooled, CooledDown { seconds: 3.0, celsius: warm });
            assert_eq!(still_warm(CoolDown::Seconds(3.0), &cooled), None);
        }
        assert!(sleep(0.02) >= 0.02);
    }
}
