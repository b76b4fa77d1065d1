//! Arithmetic on records: cases over rounds, comparison with a baseline, ranking of devices.

mod cases;
mod compare;
mod overlap;
mod staircase;
mod transfer;

pub use cases::{CaseResult, DeviceCases, collect};
pub use compare::{Comparison, Options, Row, Verdict, compare};
pub use overlap::{Class, Heavy, OverlapSummary, RunSummary, class, overlap};
pub use staircase::{Climb, Residency, Shape, StaircaseSummary, residency, staircase};
pub use transfer::{TransferSummary, transfer};
