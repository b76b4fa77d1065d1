//! What came of trying a variant.

/// A variant's time with the interval that it is known to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end, seconds.
    pub low: f64,
    /// The best estimate, seconds: a median.
    pub time: f64,
    /// The upper end, seconds.
    pub high: f64,
}

/// The result of one try. A failure counts as tried, and teaches a strategy too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// It ran and was right.
    Measured(Interval),
    /// A launch took so many seconds, far longer than the best, and was neither verified nor measured.
    Slow(f64),
    /// It does not build, needs more than the device has, does not run, or is wrong.
    Failed,
}

impl Outcome {
    /// The time of a variant that was measured, seconds.
    pub fn time(&self) -> Option<f64> {
        match self {
            Self::Measured(interval) => Some(interval.time),
            Self::Slow(_) | Self::Failed => None,
        }
    }

    /// Seconds that it takes, measured or by one launch.
    pub fn estimate(&self) -> Option<f64> {
        match self {
            Self::Slow(seconds) => Some(*seconds),
            Self::Measured(_) | Self::Failed => self.time(),
        }
    }
}
