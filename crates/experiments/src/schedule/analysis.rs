//! Times of schedules, against the bound that none of them can beat.

use crate::schedule::data::Schedule;
use gpubench_model::schedule::Class;
use gpubench_model::streams::Stages;

/// One plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanSummary {
    /// Its name.
    pub plan: String,
    /// Number of parts.
    pub parts: usize,
    /// Median seconds.
    pub seconds: f64,
    /// Those over the lower bound.
    pub over_bound: f64,
    /// Seconds that the pipeline predicted.
    pub predicted: f64,
}

/// The results of a case's schedules.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleSummary {
    /// Median seconds of each stage alone.
    pub stages: Stages,
    /// What bounds the problem.
    pub class: Class,
    /// The longest stage: no plan is faster.
    pub lower_bound: f64,
    /// Every plan that was run.
    pub plans: Vec<PlanSummary>,
    /// Position of the fastest.
    pub best: usize,
}

/// Puts a case's raw times together; `None` where a stage or every run is missing.
pub fn schedule(raw: &Schedule) -> Option<ScheduleSummary> {
    let stages = Stages {
        upload: raw.upload.median()?,
        kernel: raw.kernel.median()?,
        download: raw.download.median()?,
    };
    let lower_bound = stages.longest();
    let plans: Vec<PlanSummary> = raw
        .runs
        .iter()
        .filter_map(|run| {
            let seconds = run.timed.median()?;
            Some(PlanSummary {
                plan: run.plan.clone(),
                parts: run.rows.len(),
                seconds,
                over_bound: seconds / lower_bound,
                predicted: run.predicted,
            })
        })
        .collect();
    let best = (0..plans.len()).min_by(|&a, &b| plans[a].seconds.total_cmp(&plans[b].seconds))?;
    Some(ScheduleSummary { stages, class: Class::of(stages), lower_bound, plans, best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::Clock;
    use gpubench_core::record::Timed;
    use gpubench_model::schedule::Heavy;

    #[test]
    fn plans_are_held_against_the_longest_stage() {
        let timed = |seconds: f64| Timed { walls: vec![seconds; 3], steps: vec![] };
        let runs = vec![("no partition", timed(12.0)), ("10 equal parts", timed(8.4))];
        let (upload, kernel, download) = (timed(2.0), timed(8.0), timed(2.0));
        let raw = Schedule {
            upload,
            kernel,
            download,
            ..crate::schedule::sample::schedule(Clock::Device, runs)
        };
        let summary = schedule(&raw).unwrap();
        assert_eq!(summary.lower_bound, 8.0);
        assert_eq!(summary.class, Class { kernel_bound: true, heavy: Heavy::General });
        assert_eq!((summary.best, summary.plans[0].over_bound), (1, 1.5));
        assert_eq!(schedule(&Schedule { runs: vec![], ..raw }), None);
    }
}
