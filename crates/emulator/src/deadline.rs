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
        if self.turns > 0 {
            return Ok(());
        }
        self.check(|limit| {
            format!(
                "{file}:{line}: this loop of group {group:?} has not ended within the limit of \
                 {limit}"
            )
        })
    }

    /// `group` begins.
    pub(super) fn begin(&self, file: &str, group: [u32; 3]) -> Result<()> {
        self.check(|limit| {
            format!(
                "{file}: the groups before {group:?} have taken longer than the limit of {limit}"
            )
        })
    }

    /// An error behind the limit, which is part of what it says.
    fn check(&self, why: impl FnOnce(String) -> String) -> Result<()> {
        if self.begun.elapsed() < self.limit {
            return Ok(());
        }
        Err(Error::OverBudget(why(units::seconds(self.limit.as_secs_f64())).into()))
    }
}
