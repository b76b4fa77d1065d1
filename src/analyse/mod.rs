//! Arithmetic on records: cases over rounds, comparison with a baseline, ranking of devices.

mod cases;
mod compare;

pub use cases::{CaseResult, DeviceCases, collect};
pub use compare::{Comparison, Options, Row, Verdict, compare};
