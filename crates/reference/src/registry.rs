//! Every reference by name. `tests/tables.rs` fails when a shipped kernel's is missing.

use super::{
    Data, Problem, aes, characterise, chip, factors, filters, finance, gather, graphs, halo,
    matmul, micro, nbody, paths, places, reduction, seismic, speckle, stencils, streams, synthetic,
    transforms, transpose,
};
use gpubench_core::error::Result;

/// Computes the buffers that a launch writes, by name, from what was there before.
///
/// # Errors
/// When the problem lacks a size or buffer that the computation needs, or has it in another type.
pub type Reference = fn(&Problem) -> Result<Vec<(&'static str, Data)>>;

const TABLE: &[(&str, Reference)] = &[
    ("add_again", streams::add_again),
    ("aes_decrypt", aes::decrypt),
    ("aes_encrypt", aes::encrypt),
    ("atomics", characterise::atomics),
    ("bfs", graphs::bfs),
    ("black_scholes", finance::black_scholes),
    ("chase", characterise::chase),
    ("convert_chain", characterise::convert_chain),
    ("copy", micro::copy),
    ("elastic", seismic::elastic),
    ("elastic_box", seismic::elastic_box),
    ("empty", micro::empty),
    ("exchange", characterise::exchange),
    ("float_chain", characterise::float_chain),
    ("floyd_warshall", graphs::floyd_warshall),
    ("fma_chains", micro::fma_chains),
    ("gather", gather::gather),
    ("gather_two", gather::gather_two),
    ("hotspot_2d", chip::hotspot_2d),
    ("hotspot_3d", chip::hotspot_3d),
    ("initialise", streams::initialise),
    ("int_chain", characterise::int_chain),
    ("linear", filters::linear),
    ("local_chase", characterise::local_chase),
    ("lud", factors::lud),
    ("matmul", matmul::matmul),
    ("nbody", nbody::nbody),
    ("nearest", places::nearest),
    ("pack_box", halo::pack_box),
    ("particle", places::particle),
    ("pathfinder", paths::pathfinder),
    ("permute_213", transpose::permute_213),
    ("permute_231", transpose::permute_231),
    ("read_sum", micro::read_sum),
    ("reduction", reduction::reduction),
    ("sepia", filters::sepia),
    ("srad", speckle::srad),
    ("stencil_2d_5", stencils::stencil_2d_5),
    ("stencil_3d_13", stencils::stencil_3d_13),
    ("stencil_3d_7", stencils::stencil_3d_7),
    ("stream", characterise::stream),
    ("stride", characterise::stride),
    ("synthetic", synthetic::synthetic),
    ("transpose", transpose::transpose),
    ("triad", micro::triad),
    ("unpack_box", halo::unpack_box),
    ("walsh", transforms::walsh),
];

/// The reference `name`, if there is one.
pub fn find(name: &str) -> Option<Reference> {
    TABLE.iter().find(|(n, _)| *n == name).map(|&(_, reference)| reference)
}

/// Why the reference `name` cannot compute anything from buffers of such lengths, if it cannot; `count` gives
/// a buffer's scalars by its name.
pub fn unfit(name: &str, count: impl Fn(&str) -> Option<u64>) -> Option<String> {
    match name {
        "aes_decrypt" | "aes_encrypt" => count("key").and_then(aes::unfit_key),
        _ => None,
    }
}

/// The names of all references.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|&(name, _)| name)
}
