//! Suites: what to run, read from YAML and checked before anything runs.
//!
//! A file becomes a tree in which every value knows its place (`tree`), the tree becomes specs
//! (`decode`, `file`, `values`, `words`), and specs become the checked types of this module (`load`,
//! `merge`, `convert`). Every diagnostic is reported with its place, all of a file together.

mod args;
mod assets;
mod ceiling;
mod chains;
mod condition;
mod convert;
mod data;
mod decode;
mod directive;
mod evaluate;
mod experiment_kind;
mod expr;
mod family;
mod file;
mod fills;
mod headers;
mod image;
mod kernel;
mod keywords;
mod load;
mod merge;
mod misfit;
mod precision;
mod program;
mod questions;
mod reading;
mod requested;
mod schema;
mod search;
mod select;
mod settings;
mod signature;
mod sizes;
mod source;
mod spirv;
mod steps;
mod subgroup;
mod suggest;
mod texts;
mod tolerances;
mod translate;
mod types;
mod values;
mod verify;
mod wgsl;

pub use args::Lowered;
pub use assets::{is_module as is_shipped_module, kernel as shipped_kernel, kernels, suites};
pub use condition::Condition;
pub use convert::{NAME_RULE, is_name};
pub use decode::{At, Decode, Diagnostics, SpecReader};
pub use experiment_kind::{
    ExperimentKind, Family, HostMemory, Needs, Options, OptionsContext, Partner, Passes,
    Wrong as WrongOption,
};
pub use expr::{Expr, Scope, Wrong};
pub use family::COMPUTE_INTENSITY;
pub use gpubench_core::yaml::{Key, Node, Value};
pub use headers::read_kernel;
pub use keywords::SearchedBy;
pub use load::{ROUNDS, SECONDS, load};
pub use program::{Program, ProgramKernel, ProgramLaunch, Step};
pub use reading::mistake_of_panic;
pub use requested::Requested;
pub use schema::schema;
pub use search::{Search, Variant};
pub use signature::wgsl_signatures;
pub use subgroup::Subgroup;
pub use suggest::{closest_matches, suggest};
pub use tolerances::Profile;
pub use types::{
    Argument, Budget, Buffer, Fallback, Kernel, KernelText, MAX_PASSES, PASS, Place, Suite, Work,
    Workload, Written,
};
pub use values::Expression;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
