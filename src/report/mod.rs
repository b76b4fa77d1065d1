//! What people read: one file a format.

pub mod detail;
pub mod progress;
mod rows;
pub mod staircase;
pub mod terminal;
pub mod trace;

pub use rows::{Row, rows};
