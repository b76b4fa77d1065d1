//! How long and how well to measure.

use gpubench_core::reason::Reason;
use gpubench_core::record::CoolDown;
use gpubench_core::units::Bytes;
use gpubench_stats::{Sampling, Summary};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How long and how well to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// Fewest samples.
    pub min_samples: usize,
    /// Most samples.
    pub max_samples: usize,
    /// How precise a median sampling aims at, relative to it.
    pub target: f64,
    /// Seconds after which warm-up gives up.
    pub warmup: f64,
    /// Seconds of sampling (warm-up apart).
    pub seconds: f64,
    /// Longest single launch, in seconds: a longer one could trip a display's watchdog.
    pub longest_launch: f64,
    /// Seconds that the user lets one launch take, whatever the time for the samples: there may be fewer
    /// of them then.
    #[serde(default)]
    pub allowed_launch: Option<f64>,
    /// Check the result only.
    pub verify_only: bool,
    /// How the device cools down before the case.
    #[serde(default)]
    pub cool_down: Option<CoolDown>,
    /// Where variants of a kernel race for the fastest.
    #[serde(default)]
    pub race: Option<Race>,
    /// What the process that measures may hold; before a case that would take more, a fresh one begins.
    #[serde(default)]
    pub process_memory: Option<Bytes>,
    /// A folder for inputs and expected results, which several rounds and devices share.
    pub cache: Option<PathBuf>,
    /// A folder on the disk that states are saved to; without one, the system's for temporary files.
    pub disk: Option<PathBuf>,
}

/// A race: a variant is measured only as far as it may still be the fastest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Race {
    /// Seconds that the best so far takes at most; `None` for the first to run.
    pub best: Option<f64>,
}

impl Race {
    /// With fewer samples the lower end of their interval is not to be relied on.
    const ENOUGH: usize = 5;
    /// What takes so many times as long as the best needs no warm-up to lose …
    const HOPELESS: f64 = 2.0;
    /// … and few samples.
    const FEW: usize = 2;
    /// What takes so many times as long in two launches loses without any.
    const DISMISSED: f64 = 3.0;

    /// Whether these samples show that the variant is slower than the best.
    pub(super) fn is_lost(self, samples: &[f64]) -> bool {
        let Some((best, summary)) = self.best.zip(Summary::of(samples)) else { return false };
        let hopeless = samples.len() >= Self::FEW && self.is_hopeless(summary.min);
        hopeless || samples.len() >= Self::ENOUGH && summary.interval[0] > best
    }

    /// Why a variant whose launch takes so many seconds is neither verified nor measured.
    pub(super) fn dismissal(self, launch: f64) -> Option<Reason> {
        let fastest = self.best.filter(|best| launch > Self::DISMISSED * best)?;
        Some(Reason::Slow { launch, fastest })
    }

    /// Whether a launch of so many seconds leaves no doubt.
    pub(super) fn is_hopeless(self, launch: f64) -> bool {
        self.best.is_some_and(|best| launch > Self::HOPELESS * best)
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            min_samples: 15,
            max_samples: 200,
            target: 0.005,
            warmup: 5.0,
            seconds: 5.0,
            longest_launch: 2.0,
            allowed_launch: None,
            verify_only: false,
            cool_down: None,
            race: None,
            process_memory: None,
            cache: None,
            disk: None,
        }
    }
}

impl Policy {
    /// Seconds that one launch may take: what the user allows; else all samples must fit the time, and
    /// where nothing is measured there is one launch.
    pub fn affordable_launch(&self) -> f64 {
        match (self.allowed_launch, self.verify_only) {
            (Some(allowed), _) => allowed,
            (None, true) => self.longest_launch,
            (None, false) => self.longest_launch.min(self.seconds / self.launches()),
        }
    }

    /// Seconds of sampling in which a launch of `launch` seconds is affordable.
    pub fn sampling_of(&self, launch: f64) -> f64 {
        launch * self.launches()
    }

    /// So many launches must fit the time: half of the fewest samples, since sampling may take twice its time.
    fn launches(&self) -> f64 {
        0.5 * self.min_samples as f64
    }

    /// The same for a kernel whose first launches took so long.
    pub(super) fn after_launch(&self, seconds: f64) -> Self {
        let hopeless = self.race.is_some_and(|race| race.is_hopeless(seconds));
        let warmup = if hopeless { 0.0 } else { self.warmup };
        Self { warmup, ..self.clone() }
    }

    /// Sampling that takes up to so many seconds.
    pub(super) fn sampling(&self, seconds: f64) -> Sampling {
        Sampling::new(self.target, self.min_samples, self.max_samples, seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_race_is_lost_by_intervals_and_hopeless_by_a_launch() {
        let race = Race { best: Some(1.0) };
        assert!(!race.is_lost(&[2.0; 4]), "too few samples");
        assert!(race.is_lost(&[2.0; 5]));
        assert!(race.is_lost(&[2.1; 2]) && !race.is_lost(&[9.0]), "hopeless");
        assert!(!race.is_lost(&[2.0, 2.0, 0.9, 2.0, 2.0]), "one of five was faster");
        assert!(!Race::default().is_lost(&[2.0; 5]), "nobody to lose against");
        assert!(race.dismissal(2.9).is_none() && Race::default().dismissal(9.0).is_none());
        assert_eq!(race.dismissal(3.1), Some(Reason::Slow { launch: 3.1, fastest: 1.0 }));
        let policy = Policy { race: Some(race), ..Policy::default() };
        let warmups = [1.9, 2.1].map(|launch| policy.after_launch(launch).warmup);
        assert_eq!(warmups, [policy.warmup, 0.0]);
        assert_eq!(Policy::default().after_launch(9.0), Policy::default());
    }
}
