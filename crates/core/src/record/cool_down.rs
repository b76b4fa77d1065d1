//! A pause between cases, in which the device cools down: how it is asked for, and what came of it.

use crate::units::quoted;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::str::FromStr;

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
    /// Whether it is one that could be asked for.
    pub(super) fn is_possible(self) -> bool {
        SECONDS.contains(&self.max_seconds())
            && match self {
                Self::Seconds(_) => true,
                Self::Below { celsius, .. } => CELSIUS.contains(&celsius),
            }
    }

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

/// A pause before a case.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CooledDown {
    /// Seconds that it lasted, of a simulated device on its own clock.
    pub seconds: f64,
    /// Degrees Celsius at its end, of the device, else of the host; `None` where no sensor reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub celsius: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const BELOW: CoolDown = CoolDown::Below { celsius: 50.0, max_seconds: 10.0 };

    #[test]
    fn it_is_read_as_seconds_or_degrees() {
        let read = |text: &str| text.parse::<CoolDown>();
        let below = |celsius, max_seconds| Ok(CoolDown::Below { celsius, max_seconds });
        assert_eq!(read("30"), Ok(CoolDown::Seconds(30.0)));
        assert_eq!([read("50C"), read("50°C"), read("50c")], [(); 3].map(|()| below(50.0, 120.0)));
        assert_eq!(read("47.5C:300"), below(47.5, 300.0));
        assert!([read("30"), read("47.5C:300")].iter().flatten().all(|asked| asked.is_possible()));
        let odd = CoolDown::Below { celsius: f64::NAN, max_seconds: 1.0 };
        assert!(!odd.is_possible() && !CoolDown::Seconds(1e9).is_possible());
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
