//! What people read: one file a format.

mod checkpoint;
pub mod comparison;
mod concurrency;
pub mod csv;
pub mod data;
pub mod detail;
pub mod export;
pub mod fit;
pub mod grid;
mod halo;
pub mod html;
mod input;
pub mod labels;
mod ladder;
mod layout_transform;
pub mod markdown;
pub mod multi_device;
pub mod occupancy_sweep;
mod overview;
pub mod predict;
mod predicted_ranking;
pub mod profile;
pub mod progress;
pub mod ranking;
mod schedule;
pub mod selection;
pub mod terminal;
#[cfg(test)]
mod testing;
pub mod trace;

pub use input::{ReportInput, ReportedDevice, Source};
