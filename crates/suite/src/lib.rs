//! Suites: what to run, read from YAML and checked before anything runs.
//!
//! A file becomes a tree in which every value knows its place (`tree`), the tree becomes forms
//! (`decode`, `file`, `values`, `words`), and forms become the checked types of this module (`load`,
//! `merge`, `convert`). Every mistake is told with its place, all of a file together.

mod assets;
mod convert;
mod data;
mod decode;
mod directive;
mod evaluate;
mod expr;
mod file;
mod fit;
mod kernel;
mod load;
mod merge;
mod nearest;
mod only;
mod opencl;
mod partners;
mod schema;
mod sizes;
mod source;
mod tree;
mod types;
mod values;
mod wgsl;
mod words;

pub use assets::{kernels, suites};
pub use expr::{Expr, Scope, Wrong};
pub use load::{ROUNDS, SECONDS, load};
pub use nearest::{likest, meant};
pub use schema::schema;
pub use types::{
    Budget, Buffer, Halo, Kernel, KernelText, MAX_PASSES, PASS, Place, Rearrange, Search, Suite,
    Work, Workload,
};
