//! Time of one launch whose caches hold nothing of its own.

pub mod data;
mod run;

use crate::Bench;
use crate::experiment::Experiment;
use crate::plan::Case;
use gpubench_core::error::Result;
use gpubench_core::workload::Kind;
use gpubench_suite::{Needs, Passes};

/// Time of one launch whose caches hold nothing of its own.
pub struct Cold;

impl Experiment for Cold {
    const KIND: Kind = Kind::new("cold");
    const ABOUT: &'static str =
        "Time of one launch behind a write over twice the last level of cache.";
    const NEEDS: Needs = Needs { passes: Passes::Taken, ..Needs::KERNEL };
    type Spec = ();
    type Plan = ();
    type Data = data::Flushed;

    fn run(case: &Case, bench: &mut Bench) -> Result<()> {
        run::measure(case, bench)
    }
}
