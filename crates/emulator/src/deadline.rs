//! How long a run may take: a loop without end is found by the clock.

use gpubench_core::error::{Error, Result};
use gpubench_core::units;
use std::time::{Duration, Instant};

/// Turns of loops from one look at the clock to the next.
const TURNS: u32 = 16;

/// When a run must have ended.
pub(super) struct Deadline {
    begun: Instant,
    limit: Duration,
    turns: u32,
}

impl Deadline {
    pub(super) fn new(limit: Duration) -> Self {
        Self { begun: Instant::now(), limit, turns: 0 }
    }

    /// A turn of the loop at `line`.
    pub(super) fn turn(&mut self, file: &str, line: u32, group: [u32; 3]) -> Result<()> {
        self.turns = (self.turns + 1) % TURNS;
        if self.turns > 0 || self.is_met() {
            return Ok(());
        }
        Err(Error::OverBudget(
            format!(
                "{file}:{line}: this loop of group {group:?} has not ended within the limit of {}",
                self.limit()
            )
            .into(),
        ))
    }

    /// `group` begins.
    pub(super) fn begin(&self, file: &str, group: [u32; 3]) -> Result<()> {
        if self.is_met() {
            return Ok(());
        }
        Err(Error::OverBudget(
            format!(
                "{file}: the groups before {group:?} have taken longer than the limit of {}",
                self.limit()
            )
            .into(),
        ))
    }

    fn is_met(&self) -> bool {
        self.begun.elapsed() < self.limit
    }

    fn limit(&self) -> String {
        units::seconds(self.limit.as_secs_f64())
    }
}
