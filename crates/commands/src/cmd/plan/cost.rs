//! What a checkpoint costs, from its parts.

use crate::cmd::number::at_least_zero;
use gpubench_model::checkpoint::Save;

/// The parts of a save, in place of its cost.
#[derive(Debug, Default, clap::Args)]
pub struct SaveParts {
    /// Of a save's cost: copying the state to the host
    #[arg(long, value_name = "SECONDS", value_parser = at_least_zero, conflicts_with_all = ["cost", "from"])]
    save_download: Option<f64>,
    /// Of a save's cost: writing it to a file
    #[arg(long, value_name = "SECONDS", value_parser = at_least_zero, requires = "save_download")]
    save_write: Option<f64>,
    /// Of a save's cost: copying it on the device, so that the kernel goes on meanwhile
    #[arg(long, value_name = "SECONDS", value_parser = at_least_zero, requires = "save_interval")]
    save_snapshot: Option<f64>,
    /// Seconds of the kernel from one save to the next, during which the last one goes on
    #[arg(long, value_name = "SECONDS", value_parser = at_least_zero, requires = "save_download")]
    save_interval: Option<f64>,
}

impl SaveParts {
    /// Seconds that a save costs; `None` where no parts are given.
    pub fn cost(&self) -> Option<f64> {
        let save = Save {
            snapshot: self.save_snapshot.unwrap_or(0.0),
            download: self.save_download?,
            write: self.save_write.unwrap_or(0.0),
        };
        Some(match self.save_interval {
            None => save.cost_in_turn(),
            Some(interval) => save.concurrent_cost(interval),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_where_the_kernel_waits_and_hide_where_it_goes_on() {
        let parts = |interval, snapshot| SaveParts {
            save_download: Some(2.0),
            save_write: Some(3.0),
            save_snapshot: snapshot,
            save_interval: interval,
        };
        assert_eq!(SaveParts::default().cost(), None);
        assert_eq!(parts(None, None).cost(), Some(5.0));
        let hidden = parts(Some(10.0), Some(0.125)).cost();
        assert_eq!(hidden, Some(0.125));
    }
}
