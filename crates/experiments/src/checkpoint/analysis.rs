//! What saving an iteration's state costs it, by queues, and what going on from a saved state takes:
//! predicted (model 12) and measured.

use crate::checkpoint::data::{Checkpoint, CheckpointRun};
use gpubench_model::checkpoint::{Save, checkpointed_seconds};
use gpubench_stats::{Summary, median_of};

/// What came of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckpointSummary {
    /// Median seconds of the iteration without saves.
    pub alone: f64,
    /// Median seconds of copying the state on the device, where a run does.
    pub snapshot: Option<f64>,
    /// Median seconds of writing a file, where a run does.
    pub writing: Option<f64>,
    /// The iteration with saves.
    pub runs: Vec<SaveSummary>,
}

/// An iteration with saves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SaveSummary {
    /// Queues.
    pub queues: u32,
    /// Whether it saves to a file.
    pub to_file: bool,
    /// Median seconds of the whole.
    pub seconds: f64,
    /// The same, by model 12.
    pub predicted: f64,
    /// Median seconds that one save costs: below 0 where what differs is less than the samples scatter.
    pub cost: f64,
    /// Half the width of its 95 % interval, in seconds.
    pub margin: f64,
    /// The same, by model 12.
    pub predicted_cost: f64,
    /// The cost less that of one queue to the same place, relative to it; `None` for one queue itself, and
    /// where the two cannot be distinguished.
    pub against_one: Option<f64>,
    /// Median seconds of restoring.
    pub restoring: f64,
    /// Restoring less that of one queue from the same place, relative to it; `None` for one queue itself,
    /// and where the two cannot be distinguished.
    pub restoring_against_one: Option<f64>,
}

/// Puts a case's raw times together; `None` where one is missing, or nothing was saved.
pub fn checkpoint(raw: &Checkpoint) -> Option<CheckpointSummary> {
    if raw.saves == 0 {
        return None;
    }
    let alone = middle(&raw.alone)?;
    let (snapshot, writing) = (middle(&raw.snapshot), middle(&raw.writing));
    let saves = raw.saves as f64;
    // Two intervals are left behind the last save.
    let interval = alone / (saves + 2.0);
    let mut runs: Vec<SaveSummary> = vec![];
    for run in &raw.runs {
        let (seconds, restoring) = (middle(&run.saving)?, middle(&run.restoring)?);
        let write = if run.to_file { writing? } else { 0.0 };
        let download = middle(&run.downloading)?;
        let save = Save { snapshot: snapshot.unwrap_or(0.0), download, write };
        let predicted_cost = match run.queues {
            1 => save.cost_in_turn(),
            _ => save.concurrent_cost(interval),
        };
        let cost = (seconds - alone) / saves;
        let margin = half_width(&run.saving).hypot(half_width(&raw.alone)) / saves;
        let one = runs.iter().find(|one| one.queues == 1 && one.to_file == run.to_file);
        let less = |mine: f64, its: f64| (its > 0.0).then(|| mine / its - 1.0);
        let apart = |one: &&SaveSummary| (cost - one.cost).abs() > margin.hypot(one.margin);
        let single = |other: &&CheckpointRun| other.queues == 1 && other.to_file == run.to_file;
        let scatter = raw.runs.iter().find(single).map_or(0.0, |one| half_width(&one.restoring));
        let scatter = scatter.hypot(half_width(&run.restoring));
        let restored_apart = |one: &&SaveSummary| (restoring - one.restoring).abs() > scatter;
        runs.push(SaveSummary {
            queues: run.queues,
            to_file: run.to_file,
            seconds,
            predicted: checkpointed_seconds(alone, 0.0, 0.0, saves * predicted_cost),
            cost,
            margin,
            predicted_cost,
            against_one: one.filter(apart).and_then(|one| less(cost, one.cost)),
            restoring,
            restoring_against_one: one
                .filter(restored_apart)
                .and_then(|one| less(restoring, one.restoring)),
        });
    }
    Some(CheckpointSummary { alone, snapshot, writing, runs })
}

impl CheckpointSummary {
    /// The run whose save costs least, of those to a file where there is one: only these outlive the
    /// machine.
    pub fn cheapest(&self) -> Option<&SaveSummary> {
        let to_file = self.runs.iter().any(|run| run.to_file);
        let runs = self.runs.iter().filter(|run| run.to_file == to_file);
        runs.min_by(|a, b| a.cost.total_cmp(&b.cost))
    }
}

fn half_width(samples: &[f64]) -> f64 {
    Summary::of(samples).map_or(0.0, |summary| summary.relative_half_width() * summary.median)
}

fn middle(samples: &[f64]) -> Option<f64> {
    median_of(samples.iter().copied()).filter(|middle| *middle > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_of_a_save_is_its_share_of_what_the_iteration_takes_longer() {
        let summary = checkpoint(&crate::checkpoint::sample::checkpoint()).unwrap();
        let [one, eight, file] = summary.runs.as_slice() else { panic!("{summary:?}") };
        assert!((one.cost - 0.25).abs() < 1e-12 && (one.predicted_cost - 0.2).abs() < 1e-12);
        assert!((eight.cost - 0.05).abs() < 1e-12 && (eight.predicted_cost - 0.04).abs() < 1e-12);
        assert!((eight.against_one.unwrap() + 0.8).abs() < 1e-12 && one.against_one.is_none());
        assert!((eight.restoring_against_one.unwrap() + 0.5).abs() < 1e-12);
        assert!((one.predicted - 12.8).abs() < 1e-12);
        // A write of 2.5 s does not fit an interval of 2 s.
        assert!((file.predicted_cost - 0.5).abs() < 1e-12 && file.against_one.is_none());
        assert_eq!(summary.cheapest(), Some(file));
        let memory = CheckpointSummary { runs: summary.runs[..2].to_vec(), ..summary.clone() };
        assert_eq!(memory.cheapest(), Some(eight));
    }

    #[test]
    fn without_samples_there_is_no_summary() {
        let raw = crate::checkpoint::sample::checkpoint();
        assert_eq!(checkpoint(&Checkpoint { alone: vec![], ..raw.clone() }), None);
        assert_eq!(checkpoint(&Checkpoint { writing: vec![], ..raw.clone() }), None);
        assert_eq!(checkpoint(&Checkpoint { saves: 0, ..raw }), None);
    }
}
