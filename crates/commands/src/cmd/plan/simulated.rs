//! The plan by simulation: nodes that fail at random.

use crate::cmd::show::wrapped;
use gpubench_core::error::{Error, Result};
use gpubench_core::units::seconds;
use gpubench_model::aged_failures::AgedFailures;
use gpubench_model::failure_simulation::{Computation, Mean, Simulated, simulate};
use serde::Serialize;

/// Most times to failure that are drawn, some seconds' work.
const MAX_DRAWS: u64 = 100_000_000;

/// How to simulate.
#[derive(Debug, Default, clap::Args)]
pub struct Simulation {
    /// Also simulate nodes that fail at random this many times, and when the computation ends (ours:
    /// after a failure all nodes are new, and none fails during a recovery)
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u32).range(2..))]
    simulate: Option<u32>,
    /// The seed of the simulation
    #[arg(long, default_value_t = 1, requires = "simulate")]
    seed: u64,
}

/// A mean and its 95 % interval's half; nothing of fewer than two runs.
#[derive(Debug, Serialize)]
struct Of {
    mean: f64,
    margin: f64,
}

/// What the simulation gave.
#[derive(Debug, Serialize)]
pub struct Summary {
    runs: u32,
    survival: Option<Of>,
    recomputed: Option<Of>,
    waste: Option<Of>,
    /// Seconds until the end, with failures, recoveries and checkpoints.
    completion: Option<Of>,
}

impl Simulation {
    /// Simulates where that is wanted.
    pub fn run(&self, failures: AgedFailures, computation: Computation) -> Result<Option<Summary>> {
        let Some(runs) = self.simulate else { return Ok(None) };
        if u64::from(runs) * u64::from(computation.nodes) > MAX_DRAWS {
            return Err(Error::Usage(format!(
                "--simulate {runs}: with {} nodes more than {MAX_DRAWS} times to failure would be drawn",
                computation.nodes
            )));
        }
        let Simulated { survival, recomputed, waste, completion } =
            simulate(failures, computation, runs, self.seed);
        let of = |Mean { mean, margin }| {
            (mean.is_finite() && margin.is_finite()).then_some(Of { mean, margin })
        };
        Ok(Some(Summary {
            runs,
            survival: of(survival),
            recomputed: of(recomputed),
            waste: of(waste),
            completion: of(completion),
        }))
    }
}

impl Summary {
    /// In a line for people.
    pub fn text(&self) -> String {
        let time = |of: &Option<Of>| match of {
            Some(of) => format!("{} ± {}", seconds(of.mean), seconds(of.margin)),
            None => "unknown".to_owned(),
        };
        let survival = match &self.survival {
            Some(of) => format!("{:.4} ± {:.4}", of.mean, of.margin),
            None => "unknown".to_owned(),
        };
        let end = match &self.completion {
            Some(_) => format!("it ends after {}", time(&self.completion)),
            None => "these runs have more than a million failures before their end: fewer may do"
                .to_owned(),
        };
        let (again, wasted) = (time(&self.recomputed), time(&self.waste));
        let text = format!(
            "simulated {} times: no failure with probability {survival}; computed again {again}; wasted {wasted}",
            self.runs
        );
        wrapped(&text, ["", "  "], false) + &format!("with checkpoints and failures {end}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_model::checkpoint::Failures;

    const COMPUTATION: Computation =
        Computation { nodes: 64, seconds: 300.0, cost: 0.05, phi: 0.5, recovery: 0.0 };

    #[test]
    fn a_simulation_is_run_where_wanted_and_limited() {
        let failures = Failures::new(1e-6, 1.5).unwrap().aged(0.0);
        let run = |simulate| Simulation { simulate, seed: 1 }.run(failures, COMPUTATION);
        assert!(run(None).unwrap().is_none());
        let text = run(Some(2000)).unwrap().unwrap().text();
        assert!(
            text.starts_with("simulated 2000 times: no failure with probability 0.7"),
            "{text}"
        );
        assert!(text.contains("\nwith checkpoints and failures it ends after 30"), "{text}");
        let message = run(Some(10_000_000)).unwrap_err().to_string();
        assert!(message.contains("more than 100000000"), "{message}");
    }
}
