//! Suites: what to run, read from YAML and checked before anything runs.
//!
//! [`file`] is the form on disk (and the JSON schema), this module's types are the program's;
//! [`load`](load()) converts one into the other and reports every mistake with its place.

mod expr;
mod types;

pub use expr::{Expr, Scope, Wrong};
pub use types::{Budget, Buffer, Kernel, KernelText, Place, Search, Suite, Work, Workload};
