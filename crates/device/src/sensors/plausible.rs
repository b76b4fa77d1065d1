//! What a sensor can have measured; all else is left out.

use super::{Reading, Sensors};

/// Degrees Celsius of a file of Linux's, which holds thousandths of them; some kernels write whole degrees. 0 is what
/// a sensor without power says.
pub(super) fn celsius(number: f64) -> Option<f64> {
    degrees(if number.abs() < 1000.0 { number } else { 1e-3 * number })
}

fn degrees(celsius: f64) -> Option<f64> {
    Some(celsius).filter(|celsius| (-60.0..=150.0).contains(celsius) && *celsius != 0.0)
}

/// A clock in hertz: drivers that know none report 0 or 1 MHz.
pub(super) fn hertz(hertz: f64) -> Option<f64> {
    Some(hertz).filter(|hertz| *hertz > 1e6 && *hertz <= 2e10)
}

/// A power in watts.
pub(super) fn watts(watts: f64) -> Option<f64> {
    Some(watts).filter(|watts| *watts > 0.0 && *watts <= 1e4)
}

/// Sensors whose readings hold nothing that cannot be.
pub(super) struct Plausible<S>(pub S);

impl<S: Sensors> Sensors for Plausible<S> {
    fn read(&self) -> Reading {
        let reading = self.0.read();
        Reading {
            throttled: reading.throttled,
            clock: reading.clock.and_then(hertz),
            busy: reading.busy.filter(|share| (0.0..=1.0).contains(share)),
            joules: reading.joules.filter(|joules| joules.is_finite() && *joules >= 0.0),
            watts: reading.watts.and_then(watts),
            celsius: reading.celsius.and_then(degrees),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Same(Reading);

    impl Sensors for Same {
        fn read(&self) -> Reading {
            self.0.clone()
        }
    }

    #[test]
    fn only_what_can_be_is_read() {
        let possible = Reading {
            throttled: Some("power cap".into()),
            clock: Some(1.8e9),
            busy: Some(1.0),
            joules: Some(0.0),
            watts: Some(0.3),
            celsius: Some(-5.0),
        };
        assert_eq!(Plausible(Same(possible.clone())).read(), possible);
        for absurd in [f64::NAN, f64::INFINITY, -1e9, 1e300] {
            let reading = Reading {
                throttled: None,
                clock: Some(absurd),
                busy: Some(absurd),
                joules: Some(absurd).filter(|joules| *joules != 1e300),
                watts: Some(absurd),
                celsius: Some(absurd),
            };
            assert_eq!(Plausible(Same(reading)).read(), Reading::default(), "{absurd}");
        }
        assert_eq!(
            [celsius(46.0), celsius(67307.0)].map(|t| t.map(f64::round)),
            [Some(46.0), Some(67.0)]
        );
        assert_eq!([hertz(1e6), hertz(0.0), watts(0.0), celsius(0.0)], [None; 4]);
    }
}
