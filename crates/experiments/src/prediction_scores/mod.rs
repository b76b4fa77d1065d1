//! What models predicted beside what was measured, over all the details of a device.

mod section;

pub use section::section;

use crate::registry::experiment;
use gpubench_core::record::Detail;
use gpubench_model::accuracy;
use gpubench_model::concurrency::Device;

/// One time, predicted and measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelPrediction {
    /// By which model.
    pub model: &'static str,
    /// Seconds predicted.
    pub predicted: f64,
    /// Seconds measured.
    pub measured: f64,
}

/// How well one model predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tally {
    /// The model.
    pub model: &'static str,
    /// How many times it predicted.
    pub count: usize,
    /// Mean of the smaller time over the larger.
    pub accuracy: f64,
    /// The least of them.
    pub worst: f64,
    /// Geometric mean of the time predicted over the one measured: below 1 it is too hopeful.
    pub bias: f64,
}

/// Everything that models predicted of `details`, which are one device's; `device` is what is known
/// of its residency.
pub fn predictions<'a>(
    details: impl IntoIterator<Item = &'a Detail>,
    device: Option<Device>,
) -> Vec<ModelPrediction> {
    let of = |detail: &Detail| match experiment(detail.kind()) {
        Some(experiment) => (experiment.predictions)(detail, device),
        None => vec![],
    };
    details.into_iter().flat_map(of).collect()
}

/// How well each model predicted, in the models' order.
pub fn tallies(all: &[ModelPrediction]) -> Vec<Tally> {
    let mut models: Vec<&'static str> = vec![];
    for one in all {
        if !models.contains(&one.model) {
            models.push(one.model);
        }
    }
    let tally = |model| {
        let of: Vec<&ModelPrediction> = all.iter().filter(|one| one.model == model).collect();
        let each: Vec<f64> = of.iter().map(|one| accuracy(one.predicted, one.measured)).collect();
        let logs = of.iter().map(|one| (one.predicted / one.measured).ln());
        let count = of.len();
        (count > 0).then(|| Tally {
            model,
            count,
            accuracy: each.iter().sum::<f64>() / count as f64,
            worst: each.iter().copied().fold(1.0, f64::min),
            bias: (logs.sum::<f64>() / count as f64).exp(),
        })
    };
    models.into_iter().filter_map(tally).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::Clock;
    use gpubench_core::record::Timed;

    #[test]
    fn a_schedules_plans_are_predicted() {
        let timed = |seconds: f64| Timed { walls: vec![seconds; 3], steps: vec![] };
        let runs = vec![("no partition", timed(2.0)), ("10 equal parts", timed(0.5))];
        let detail = Detail::new(&crate::schedule::sample::schedule(Clock::Device, runs));
        let all = predictions([&detail], None);
        assert_eq!(all.len(), 2);
        let tallies = tallies(&all);
        let [tally] = tallies.as_slice() else { panic!("{tallies:?}") };
        assert_eq!((tally.model, tally.count), ("schedule (model 9)", 2));
        assert!((tally.accuracy - 0.5).abs() < 1e-12 && (tally.worst - 0.5).abs() < 1e-12);
        assert!((tally.bias - 1.0).abs() < 1e-12, "half and twice cancel out");
    }

    #[test]
    fn no_predictions_have_no_score() {
        assert_eq!(predictions([], None), []);
        assert_eq!(tallies(&[]), []);
    }
}
