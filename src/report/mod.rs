//! What people read: one file a format.

pub mod detail;
pub mod html;
pub mod progress;
mod rows;
mod subject;
pub mod terminal;
pub mod words;

pub use rows::{Rate, Row, rows, rows_of};
pub use subject::{Material, Source, Subject};
