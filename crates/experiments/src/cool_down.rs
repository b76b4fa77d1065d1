//! A pause between cases, in which the device cools down: for some seconds, or until it is below a temperature.

use super::polling::Polling;
use super::{Session, Stage};
use gpubench_core::gpu::DeviceKind;
use gpubench_core::record::{CooledDown, Flag};
use gpubench_core::units::quoted;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// Seconds between two looks at the temperature.
const STEP: f64 = 0.5;
/// Seconds that a pause may last.
const SECONDS: RangeInclusive<f64> = 0.1..=3600.0;
/// Temperatures that a device may cool down to.
const CELSIUS: RangeInclusive<f64> = 10.0..=120.0;
/// Seconds after which a device that is still too warm is measured, where nothing else is said.
const MAX_SECONDS: f64 = 120.0;

/// How a device cools down.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CoolDown {
    /// For so many seconds.
    Seconds(f64),
    /// Until it, or where it has no sensor its host, is below a temperature.
    Below {
        /// In degrees Celsius.
        celsius: f64,
        /// Seconds after which it is measured all the same.
        max_seconds: f64,
    },
}

impl CoolDown {
    /// Seconds that a pause lasts at most.
    pub fn max_seconds(self) -> f64 {
        match self {
            Self::Seconds(seconds) => seconds,
            Self::Below { max_seconds, .. } => max_seconds,
        }
    }

    /// Seconds that the next pause is expected to last, after so many that lasted so long in all. Of a temperature
    /// nothing is known until one was made: a cool device needs none, and no case is left out for what may be.
    pub fn expected(self, (pauses, seconds): (u32, f64)) -> f64 {
        match self {
            Self::Below { .. } => seconds / f64::from(pauses.max(1)),
            Self::Seconds(seconds) => seconds,
        }
    }

    /// The same, but for at most so many seconds.
    pub fn within(self, left: f64) -> Self {
        match self {
            Self::Below { celsius, max_seconds } => {
                Self::Below { celsius, max_seconds: max_seconds.min(left.max(0.0)) }
            }
            Self::Seconds(_) => self,
        }
    }
}

impl FromStr for CoolDown {
    type Err = String;

    /// `30`, `50C` and `50C:300`.
    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str, range: RangeInclusive<f64>| {
            text.trim().parse().ok().filter(|number| range.contains(number))
        };
        let (first, limit) = match text.split_once(':') {
            Some((first, limit)) => (first, Some(limit)),
            None => (text, None),
        };
        let found = match (first.trim().strip_suffix(['C', 'c']), limit) {
            (None, None) => number(first, SECONDS).map(Self::Seconds),
            (None, Some(_)) => None,
            (Some(degrees), limit) => {
                let max_seconds = limit.map_or(Some(MAX_SECONDS), |limit| number(limit, SECONDS));
                let celsius = number(degrees.trim_end_matches('°'), CELSIUS);
                celsius
                    .zip(max_seconds)
                    .map(|(celsius, max)| Self::Below { celsius, max_seconds: max })
            }
        };
        found.ok_or_else(|| {
            let [shortest, longest] = [SECONDS.start(), SECONDS.end()].map(|s| quoted(*s));
            let [coolest, hottest] = [CELSIUS.start(), CELSIUS.end()].map(|t| quoted(*t));
            format!(
                "expected seconds between {shortest} and {longest}, or degrees between {coolest}C and {hottest}C, \
                 as `50C`, with the longest wait as `50C:300`"
            )
        })
    }
}

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

    #[test]
    fn it_is_read_as_seconds_or_degrees() {
        let read = |text: &str| text.parse::<CoolDown>();
        let below = |celsius, max_seconds| Ok(CoolDown::Below { celsius, max_seconds });
        assert_eq!(read("30"), Ok(CoolDown::Seconds(30.0)));
        assert_eq!([read("50C"), read("50°C"), read("50c")], [(); 3].map(|()| below(50.0, 120.0)));
        assert_eq!(read("47.5C:300"), below(47.5, 300.0));
        for wrong in
            ["", "0", "-1", "nan", "inf", "30:60", "5C", "500C", "C", "50C:0", "50C:", "50F", "1e9"]
        {
            let why = read(wrong).unwrap_err();
            assert!(why.starts_with("expected seconds between 0.1 and 3600"), "{wrong}: {why}");
        }
    }

    #[test]
    fn the_next_pause_lasts_as_those_before() {
        assert_eq!(CoolDown::Seconds(3.0).expected((7, 70.0)), 3.0);
        assert_eq!([BELOW.expected((0, 0.0)), BELOW.expected((4, 8.0))], [0.0, 2.0]);
        assert_eq!([3.0, 30.0].map(|left| BELOW.within(left).max_seconds()), [3.0, 10.0]);
    }
}
