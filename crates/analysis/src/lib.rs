//! Arithmetic on records: cases over rounds, comparison with a baseline, ranking of devices.

mod aggregate;
mod cases;
mod ceilings;
mod common_shift;
mod compare;
mod derived_flags;
mod device_speed;
mod drift;
mod energy;
pub mod fit;
mod gate;
mod history;
mod level_shifts;
mod levels;
mod noise;
pub mod rank;
mod report_input;
mod result_matrix;
mod roof;
mod significance;

pub use aggregate::{Aggregate, Rate, aggregate, aggregate_numbered};
pub use cases::{CaseResult, DeviceCases, collect};
pub use common_shift::CommonShift;
pub use compare::{Comparison, Exclusion, Options, Row, Skipped, Verdict, compare};
pub use derived_flags::{Flagged, derive_flags};
pub use device_speed::{Change, DeviceSpeed, Reading, SpeedChange};
pub use drift::smallest_drift;
pub use energy::{Energy, EnergyRow};
pub use gate::{Counts, Failure, Gate, Judgement};
pub use history::{History, HistoryOf, MIN_RUNS, Step, Trajectory, histories, past};
pub use noise::noise;
pub use report_input::{ReportInput, ReportedDevice, Source, is_same};
pub use result_matrix::{
    Case, Cell, Entry, ResultMatrix, Round, RunRounds, family_place, ranking_family, result_matrix,
};
pub use roof::{Figure, Roof};
