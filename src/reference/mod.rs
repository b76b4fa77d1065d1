//! What each kernel must compute, written again in plain Rust, independently of the kernels.

mod characterise;
mod data;
mod fill;
mod filters;
mod finance;
mod gather;
mod matmul;
mod micro;
mod parallel;
mod problem;
mod stencils;
mod synthetic;
mod table;
mod transpose;

pub use data::Data;
pub use fill::{fill, promise};
pub use parallel::{for_each_chunk, map_all};
pub use problem::Problem;
pub use table::{Reference, find, names};
