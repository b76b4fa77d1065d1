//! What people read: one file a format.

mod checkpoint;
pub mod comparison;
mod concurrency;
pub mod csv;
pub mod data;
pub mod detail;
pub mod export;
pub mod fit;
mod foresight;
pub mod grid;
mod halo;
pub mod html;
mod ladder;
pub mod markdown;
mod overview;
pub mod predict;
pub mod profile;
pub mod progress;
pub mod ranking;
mod rearrange;
mod rows;
mod schedule;
pub mod selection;
pub mod staircase;
mod subject;
pub mod terminal;
#[cfg(test)]
mod testing;
pub mod together;
pub mod trace;
pub mod words;

pub use rows::{Rate, Row, rows, rows_of};
pub use subject::{Material, Source, Subject};
