//! One launch in a model's eyes: everything but its parameters.

use gpubench_model::hybrid::{Factor, Multiples};
use serde::Serialize;
use std::any::Any;
use std::fmt::Debug;

/// The part of a launch that takes longest, in the order in which reports list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Instructions.
    Compute,
    /// Global memory: bandwidth.
    Global,
    /// Local memory and barriers.
    Local,
    /// Waiting for memory or for earlier instructions, which too few warps hide.
    Latency,
    /// Starting the launch and its groups.
    Launch,
}

impl Bound {
    /// In words.
    pub fn label(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Global => "global memory",
            Self::Local => "local memory",
            Self::Latency => "latency",
            Self::Launch => "launch",
        }
    }
}

/// One launch in a model's eyes.
pub trait Pass: Any + Debug + Send + Sync {
    /// Its seconds at the parameters `p`, where the seconds of waiting are known; `multiples` are what the
    /// kernel takes beyond what the model sees.
    fn seconds_with(&self, p: &[f64], multiples: Multiples, waiting: f64) -> f64;

    /// Seconds of waiting, where they take most of the work of the seconds and of the parameters only the
    /// second changes them: a fit keeps them while that one stays.
    fn waiting(&self, _: &[f64]) -> f64 {
        0.0
    }

    /// The parts that the seconds are made of, as far as the model distinguishes them, with the
    /// kernel's multiples; they may run side by side.
    fn parts(&self, p: &[f64], multiples: Multiples) -> Vec<(Bound, f64)>;

    /// What a kernel takes beyond what the model sees, of this launch.
    fn multiples(&self, _: &Factor) -> Multiples {
        Multiples::ONE
    }

    /// What tells it from the launches of other kernels, where the model learns from that.
    fn features(&self) -> Vec<f64> {
        vec![]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_called_as_reports_do() {
        let all = [Bound::Compute, Bound::Global, Bound::Local, Bound::Latency, Bound::Launch];
        let labels = ["compute", "global memory", "local memory", "latency", "launch"];
        assert_eq!(all.map(Bound::label), labels);
    }
}
