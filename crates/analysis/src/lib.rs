//! Arithmetic on records: cases over rounds, comparison with a baseline, ranking of devices.

mod beside;
mod cases;
mod ceilings;
mod checkpoint;
mod compare;
mod concurrency;
mod energy;
mod engines;
mod field;
pub mod fit;
mod foreseen;
mod halo;
mod ladder;
mod noise;
mod overlap;
mod profile;
pub mod rank;
mod rearrange;
mod roof;
mod schedule;
mod staircase;
mod together;
mod transfer;

pub use cases::{CaseResult, DeviceCases, collect};
pub use ceilings::ceilings;
pub use checkpoint::{CheckpointSummary, SaveSummary, checkpoint};
pub use compare::{Comparison, Options, Row, Verdict, compare};
pub use concurrency::{
    ConcurrencySummary, Expected, PairSummary, PairTally, concurrency, pair_tally,
};
pub use energy::{Energy, EnergyRow};
pub use engines::{Engines, engines};
pub use field::{Case, Cell, Contender, Entered, Field, field};
pub use foreseen::{CommandModel, Foreseen, Tally, foreseen, tallies};
pub use halo::{Better, HaloSummary, halo};
pub use ladder::{LADDER, Ladder, Rung, ladders};
pub use noise::noise;
pub use overlap::{Class, Heavy, LITTLE, OverlapSummary, RunSummary, class, overlap};
pub use profile::{is_probe, profile};
pub use rearrange::{RearrangeSummary, UsesSummary, rearrange};
pub use roof::flag_implausible;
pub use schedule::{PlanSummary, ScheduleSummary, schedule};
pub use staircase::{Climb, Residency, Shape, StaircaseSummary, residency, staircase};
pub use together::{
    BALANCED, PlanAgainst, SplitSummary, all_states, plan_against, split, state_of,
};
pub use transfer::{Meanwhile, TransferSummary, transfer};
