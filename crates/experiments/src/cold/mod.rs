//! Time of one launch whose caches hold nothing of its own.

pub mod data;
mod run;

use crate::experiment::{Experiment, Run};
use gpubench_suite::{Needs, Passes};

/// Time of one launch whose caches hold nothing of its own.
pub struct Cold;

impl Experiment for Cold {
    const ABOUT: &'static str =
        "Time of one launch behind a write over twice the last level of cache.";
    const NEEDS: Needs = Needs { passes: Passes::Taken, ..Needs::KERNEL };
    const RUN: Run = run::measure;
    type Spec = ();
    type Plan = ();
    type Data = data::Flushed;
}
