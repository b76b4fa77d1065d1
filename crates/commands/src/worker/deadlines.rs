//! How long each stage of a case may take before its worker is killed.

use gpubench_core::record::CoolDown;
use gpubench_experiments::{Policy, Stage};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The longest a worker may stay silent, by what it does. Generous: they end what hangs, they
/// do not hurry what is slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadlines {
    /// Loading the driver and opening the device.
    pub open: Duration,
    /// A pause that the user asked for.
    pub cool_down: Duration,
    /// Making inputs, allocating, uploading.
    pub prepare: Duration,
    /// Compiling one variant of a kernel.
    pub build: Duration,
    /// Launching for the first time; a launch is as long as the policy allows.
    pub launch: Duration,
    /// Launching once more, the reference, comparing.
    pub verify: Duration,
    /// Warm-up and samples.
    pub measure: Duration,
}

impl Deadlines {
    /// Those for cases measured by `policy`; the user's own `limit`, where given, holds for
    /// every stage but a pause, which is as long as the user asked for.
    pub fn new(policy: &Policy, limit: Option<Duration>) -> Self {
        let seconds = |s: f64| limit.unwrap_or(Duration::from_secs_f64(s.clamp(0.0, 1e6)));
        let launch = policy.allowed_launch.unwrap_or(policy.longest_launch);
        // The longest launch is sampled, too.
        let sampling = policy.allowed_launch.unwrap_or(0.0) * policy.min_samples as f64;
        let sampling = sampling.max(policy.seconds);
        let pause = policy.cool_down.map_or(0.0, CoolDown::max_seconds);
        Self {
            open: seconds(60.0),
            cool_down: Duration::from_secs_f64(30.0 + pause),
            prepare: seconds(120.0),
            build: seconds(120.0),
            launch: seconds(60.0 + launch),
            verify: seconds(120.0 + launch),
            // A case that lacks samples ends by itself after three times its time.
            measure: seconds(30.0 + 3.0 * (policy.warmup + sampling)),
        }
    }

    /// The deadline of a stage.
    pub fn of(&self, stage: Stage) -> Duration {
        match stage {
            Stage::CoolDown => self.cool_down,
            Stage::Prepare => self.prepare,
            Stage::Build | Stage::BuildVariant(_) => self.build,
            Stage::Launch | Stage::LaunchVariant(_) => self.launch,
            Stage::Verify => self.verify,
            Stage::Measure => self.measure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_that_lacks_samples_ends_before_its_worker_is_killed() {
        let of = |policy: Policy| Deadlines::new(&policy, None).of(Stage::Measure).as_secs();
        let policy = Policy { warmup: 5.0, seconds: 100.0, ..Policy::default() };
        assert_eq!(of(policy.clone()), 30 + 3 * 105);
        let allowed_launch = Some(20.0);
        assert_eq!(of(Policy { allowed_launch, min_samples: 15, ..policy }), 30 + 3 * 305);
    }
}
