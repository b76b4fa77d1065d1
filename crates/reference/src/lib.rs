//! What each kernel must compute, written again in plain Rust, independently of the kernels.

mod aes;
mod ceilings;
mod characterise;
mod chip;
mod data;
mod factors;
mod fill;
mod filters;
mod finance;
mod gather;
mod graphs;
mod halo;
mod matmul;
mod micro;
mod nbody;
mod parallel;
mod paths;
mod places;
mod problem;
mod reduction;
mod registry;
mod seismic;
mod speckle;
mod stencils;
mod streams;
mod synthetic;
mod transforms;
mod transpose;
mod tuned;

pub use data::Data;
pub use fill::{fill, promise};
pub use gpubench_stats::threads::map as parallel_map;
use gpubench_stats::threads::map;
use parallel::for_each_chunk;
pub use problem::Problem;
pub use registry::{Reference, abouts, find, names, unfit};
