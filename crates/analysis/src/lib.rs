//! Arithmetic on records: cases over rounds, comparison with a baseline, ranking of devices.

mod aggregate;
mod cases;
mod ceilings;
mod checkpoint;
mod co_running;
mod compare;
mod concurrency;
mod energy;
mod engines;
pub mod fit;
mod halo;
mod ladder;
mod layout_transform;
mod multi_device;
mod noise;
mod occupancy_sweep;
mod overlap;
mod predictions;
mod profile;
pub mod rank;
mod result_matrix;
mod roof;
mod schedule;
mod transfer;

pub use aggregate::{Aggregate, Rate, aggregate, aggregate_numbered};
pub use cases::{CaseResult, DeviceCases, collect};
pub use ceilings::ceilings;
pub use checkpoint::{CheckpointSummary, SaveSummary, checkpoint};
pub use compare::{Comparison, Options, Row, Verdict, compare};
pub use concurrency::{
    ConcurrencySummary, Expected, PairSummary, PairTally, concurrency, pair_tally,
};
pub use energy::{Energy, EnergyRow};
pub use engines::{Engines, engines};
pub use halo::{Better, HaloSummary, halo};
pub use ladder::{LADDER, Ladder, Rung, ladders};
pub use layout_transform::{LayoutTransformSummary, UsesSummary, layout_transform};
pub use multi_device::{
    BALANCED, PlanAgainst, SplitSummary, all_states, plan_against, split, state_of,
};
pub use noise::noise;
pub use occupancy_sweep::{
    OccupancySearch, OccupancySweepSummary, Residency, Shape, occupancy_sweep, residency,
};
pub use overlap::{LITTLE, OverlapSummary, RunSummary, overlap};
pub use predictions::{CommandModel, ModelPrediction, Tally, predictions, tallies};
pub use profile::{is_probe, profile};
pub use result_matrix::{Case, Cell, Entered, Entry, ResultMatrix, result_matrix};
pub use roof::flag_implausible;
pub use schedule::{PlanSummary, ScheduleSummary, schedule};
pub use transfer::{Meanwhile, TransferSummary, transfer};
