//! What people read: one file a format.

pub mod comparison;
pub mod csv;
pub mod data;
pub mod export;
pub mod fit;
pub mod grid;
pub mod html;
pub mod labels;
pub mod markdown;
mod overview;
pub mod predict;
mod predicted_ranking;
pub mod profile;
pub mod progress;
pub mod ranking;
pub mod render;
pub mod selection;
pub mod terminal;
#[cfg(test)]
mod testing;
pub mod trace;
