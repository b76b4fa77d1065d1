//! Every reference by name. `tests/tables.rs` fails when a shipped kernel's is missing.

use super::{
    Data, Problem, characterise, filters, finance, gather, matmul, micro, stencils, synthetic,
    transpose,
};
use crate::error::Result;

/// Computes the buffers that a launch writes, by name, from what was there before.
///
/// # Errors
/// When the problem lacks a size or buffer that the computation needs, or has it in another type.
pub type Reference = fn(&Problem) -> Result<Vec<(&'static str, Data)>>;

const TABLE: &[(&str, Reference)] = &[
    ("atomics", characterise::atomics),
    ("black_scholes", finance::black_scholes),
    ("chase", characterise::chase),
    ("convert_chain", characterise::convert_chain),
    ("copy", micro::copy),
    ("empty", micro::empty),
    ("exchange", characterise::exchange),
    ("float_chain", characterise::float_chain),
    ("fma_chains", micro::fma_chains),
    ("gather", gather::gather),
    ("int_chain", characterise::int_chain),
    ("linear", filters::linear),
    ("local_chase", characterise::local_chase),
    ("matmul", matmul::matmul),
    ("permute_213", transpose::permute_213),
    ("permute_231", transpose::permute_231),
    ("read_sum", micro::read_sum),
    ("sepia", filters::sepia),
    ("stencil_2d_5", stencils::stencil_2d_5),
    ("stencil_3d_13", stencils::stencil_3d_13),
    ("stencil_3d_7", stencils::stencil_3d_7),
    ("stream", characterise::stream),
    ("stride", characterise::stride),
    ("synthetic", synthetic::synthetic),
    ("transpose", transpose::transpose),
    ("triad", micro::triad),
];

/// The reference `name`, if there is one.
pub fn find(name: &str) -> Option<Reference> {
    TABLE.iter().find(|(n, _)| *n == name).map(|&(_, reference)| reference)
}

/// The names of all references.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|&(name, _)| name)
}
