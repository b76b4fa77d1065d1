//! What models predicted and what was measured, over all the details of a device.

use super::{checkpoint, concurrency, overlap, schedule};
use gpubench_core::record::Detail;
use gpubench_model::accuracy;
use gpubench_model::concurrency::Device;

/// A model of commands side by side that predicts seconds which a run also measures; models of
/// single kernels are those of [`super::fit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommandModel {
    /// Model 1: chunks on streams, from the stages alone.
    Streams,
    /// The pipeline, fitted to all other runs of the same case.
    Pipeline,
    /// Model 9: a plan's parts on the device as inferred from its runs in equal chunks.
    Schedule,
    /// Model 7: two concurrent kernels, from both isolated and the device's residency.
    Concurrency,
    /// Model 12: an iteration with saves, from its parts alone.
    Checkpoint,
}

impl CommandModel {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Streams => "streams (model 1)",
            Self::Pipeline => "pipeline, fitted to the other runs",
            Self::Schedule => "schedule (model 9)",
            Self::Concurrency => "concurrency (model 7)",
            Self::Checkpoint => "checkpoint (model 12)",
        }
    }
}

/// One time, predicted and measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelPrediction {
    /// By which model.
    pub model: CommandModel,
    /// Seconds predicted.
    pub predicted: f64,
    /// Seconds measured.
    pub measured: f64,
}

/// How well one model predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tally {
    /// The model.
    pub model: CommandModel,
    /// How many times it predicted.
    pub count: usize,
    /// Mean of the smaller time over the larger.
    pub accuracy: f64,
    /// The least of them.
    pub worst: f64,
    /// Geometric mean of the time predicted over the one measured: below 1 it is too hopeful.
    pub bias: f64,
}

/// Everything that models predicted of `details`, which are one device's; `device` is what its
/// occupancy sweeps show.
pub fn predictions<'a>(
    details: impl IntoIterator<Item = &'a Detail>,
    device: Option<Device>,
) -> Vec<ModelPrediction> {
    details.into_iter().flat_map(|detail| of(detail, device)).collect()
}

fn of(detail: &Detail, device: Option<Device>) -> Vec<ModelPrediction> {
    let one = |model| {
        move |[predicted, measured]: [f64; 2]| ModelPrediction { model, predicted, measured }
    };
    match detail {
        Detail::Overlap(raw) => {
            let Some(summary) = overlap(raw) else { return vec![] };
            let max_queues = summary.runs.iter().map(|run| run.queues).max();
            let runs = summary.runs.iter().filter(|run| Some(run.queues) == max_queues);
            let streams =
                runs.map(|run| [run.streams, run.seconds]).map(one(CommandModel::Streams));
            let pipeline = summary.unseen.iter().copied().map(one(CommandModel::Pipeline));
            streams.chain(pipeline).collect()
        }
        Detail::Schedule(raw) => {
            let plans = schedule(raw).map_or_else(Vec::new, |summary| summary.plans);
            plans
                .iter()
                .map(|p| [p.predicted, p.seconds])
                .map(one(CommandModel::Schedule))
                .collect()
        }
        Detail::Concurrency(raw) => {
            let pairs = concurrency(raw, device).pairs;
            let times = pairs.iter().filter_map(|pair| {
                let concurrent = (pair.isolated[0] + pair.isolated[1]) / pair.expected?.speedup;
                Some([concurrent, pair.concurrent[0]])
            });
            times.map(one(CommandModel::Concurrency)).collect()
        }
        Detail::Checkpoint(raw) => {
            let Some(summary) = checkpoint(raw) else { return vec![] };
            let runs = summary.runs.iter().map(|run| [run.predicted, run.seconds]);
            runs.map(one(CommandModel::Checkpoint)).collect()
        }
        Detail::Transfer(_)
        | Detail::Layout(_)
        | Detail::Halo(_)
        | Detail::Occupancy(_)
        | Detail::Characterised(_)
        | Detail::TransferStates(_)
        | Detail::Split(_) => vec![],
    }
}

/// How well each model predicted, in the models' order.
pub fn tallies(all: &[ModelPrediction]) -> Vec<Tally> {
    let models = [
        CommandModel::Streams,
        CommandModel::Pipeline,
        CommandModel::Schedule,
        CommandModel::Concurrency,
        CommandModel::Checkpoint,
    ];
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
    use gpubench_core::record::{Timed, sample};

    #[test]
    fn a_schedules_plans_are_predicted() {
        let timed = |seconds: f64| Timed { walls: vec![seconds; 3], steps: vec![] };
        let runs = vec![("no partition", timed(2.0)), ("10 equal parts", timed(0.5))];
        let detail = Detail::Schedule(sample::schedule(Clock::Device, runs));
        let all = predictions([&detail], None);
        assert_eq!(all.len(), 2);
        let tallies = tallies(&all);
        let [tally] = tallies.as_slice() else { panic!("{tallies:?}") };
        assert_eq!((tally.model, tally.count), (CommandModel::Schedule, 2));
        assert!((tally.accuracy - 0.5).abs() < 1e-12 && (tally.worst - 0.5).abs() < 1e-12);
        assert!((tally.bias - 1.0).abs() < 1e-12, "half and twice cancel out");
    }

    #[test]
    fn no_predictions_have_no_score() {
        assert_eq!(predictions([], None), []);
        assert_eq!(tallies(&[]), []);
    }
}
