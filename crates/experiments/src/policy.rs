//! How long and how well to measure.

use gpubench_stats::Sampling;
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
    /// A folder for inputs and expected results, which several rounds and devices share.
    pub cache: Option<PathBuf>,
    /// A folder on the disk that states are saved to; without one, the system's for temporary files.
    pub disk: Option<PathBuf>,
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
            (None, false) => self.longest_launch.min(self.seconds * 2.0 / self.min_samples as f64),
        }
    }

    /// Sampling that takes up to so many seconds.
    pub(super) fn sampling(&self, seconds: f64) -> Sampling {
        Sampling::new(self.target, self.min_samples, self.max_samples, seconds)
    }
}
