//! What people read: one file a format.

pub mod comparison;
pub mod csv;
pub mod detail;
pub mod export;
pub mod grid;
pub mod progress;
pub mod ranking;
mod rows;
pub mod staircase;
pub mod terminal;
pub mod trace;

pub use rows::{Row, rows};
