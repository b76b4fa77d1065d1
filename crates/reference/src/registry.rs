//! Every reference by name. `tests/tables.rs` fails when a shipped kernel's is missing.

use super::{
    Data, Problem, aes, ceilings, characterise, chip, factors, filters, finance, gather, graphs,
    halo, layered, matmul, matrix_chains, micro, nbody, paths, places, reduction, seismic, speckle,
    stencils, streams, synthetic, transforms, transpose, tuned,
};
use gpubench_core::error::Result;

/// Computes the buffers that a launch writes, by name, from what was there before.
///
/// # Errors
/// When the problem lacks a size or buffer that the computation needs, or has it in another type.
pub type Reference = fn(&Problem) -> Result<Vec<(&'static str, Data)>>;

/// Name, computation, and what it computes.
const TABLE: &[(&str, Reference, &str)] = &[
    (
        "add_again",
        streams::add_again,
        "`a` plus `steps` times `b`, rounded and without its sign every time",
    ),
    ("aes_decrypt", aes::decrypt, "AES-128 decryption of `blocks` blocks of 16 bytes (FIPS 197)"),
    ("aes_encrypt", aes::encrypt, "AES-128 encryption of `blocks` blocks of 16 bytes (FIPS 197)"),
    (
        "atomic_f32",
        ceilings::atomic_f32,
        "counters of `f32`, or of their bits, after `n` work-items added 1 `times` times",
    ),
    (
        "atomic_u64",
        ceilings::atomic_u64,
        "counters of 64 bits after `n` work-items added 1 `times` times",
    ),
    (
        "atomics",
        characterise::atomics,
        "counters after `n` work-items have added 1 to 16·REPEAT: to the first (SPREAD 0) or to their own",
    ),
    (
        "bfs",
        graphs::bfs,
        "one level of a breadth-first search among `n` nodes with `degree` neighbours each",
    ),
    ("black_scholes", finance::black_scholes, "European call and put options by Black and Scholes"),
    (
        "chase",
        characterise::chase,
        "where `passes` times 16·REPEAT steps along a cycle of `words` words end",
    ),
    (
        "convert_chain",
        characterise::convert_chain,
        "chains of conversions between integers and `f32`",
    ),
    (
        "convolution",
        tuned::convolution,
        "a filter of 15×15 weights over an image of `width` × `height`",
    ),
    ("copy", micro::copy, "`out = a`"),
    (
        "dedispersion",
        tuned::dedispersion,
        "sums over `channels` of samples, each channel delayed for each of `measures` dispersion measures",
    ),
    (
        "dot_chains",
        ceilings::dot_chains,
        "`whole_chains` with the dot product of the signed bytes of `a` and `r` for their product",
    ),
    (
        "elastic",
        seismic::elastic,
        "half a time step of elastic waves on a cube of `n` cells a side, second order",
    ),
    (
        "elastic_box",
        seismic::elastic_box,
        "half a time step of elastic waves in a box of a larger domain",
    ),
    (
        "elastic_layered",
        layered::elastic_layered,
        "half a time step of elastic waves in a medium that changes from plane to plane",
    ),
    (
        "elastic_pml",
        layered::elastic_pml,
        "the same with a perfectly matched layer of `pml` cells at all faces",
    ),
    ("empty", micro::empty, "`out[i] = i`"),
    (
        "exchange",
        characterise::exchange,
        "numbers that work-items pass round their `group` through local memory",
    ),
    ("float_chain", characterise::float_chain, "chains of `f32` instructions of class OP"),
    ("float_chains", ceilings::float_chains, "`fma_chains` in whole numbers"),
    (
        "floyd_warshall",
        graphs::floyd_warshall,
        "one pass of all shortest paths: through node `via`, where that is shorter",
    ),
    ("fma_chains", micro::fma_chains, "`steps` times `x = a*x + b` from every seed"),
    ("gather", gather::gather, "`out[i] = a[i] + b[d*i + f]`"),
    (
        "gather_again",
        gather::gather_again,
        "`out[i] = a[i] + Σ b[d*((i + j*shift) mod n) + f]` over `j` below `times`",
    ),
    ("gather_two", gather::gather_two, "`out[y][x] = a[y][x] + b[dx*x + dy*y + f]`"),
    ("hotspot_2d", chip::hotspot_2d, "one step of a chip's temperature on a plane"),
    ("hotspot_3d", chip::hotspot_3d, "one step of a chip's temperature in layers"),
    (
        "image_sums",
        ceilings::image_sums,
        "sums of the `SIDE` × `SIDE` texels that begin at each of an image of `n` × `n`, or of the means where four meet; bytes are fractions of 255",
    ),
    (
        "initialise",
        streams::initialise,
        "`steps` steps of a linear congruential generator from every position on",
    ),
    ("int_chain", characterise::int_chain, "chains of integer instructions of class OP"),
    ("linear", filters::linear, "the mean of a pixel and its eight neighbours"),
    (
        "local_chase",
        characterise::local_chase,
        "where steps through local memory end, STRIDE words from neighbour to neighbour",
    ),
    ("lud", factors::lud, "LU factors of `blocks` square blocks of `width`, without pivoting"),
    (
        "matmul",
        matmul::matmul,
        "`c = a·b` for row-major `a` (`m`×`k`) and `b` (`k`×`n`), of `f32` or `f64`",
    ),
    (
        "matrix_chains",
        matrix_chains::matrix_chains,
        "matrices that gain `steps` products of others, MATRICES of which come over and over",
    ),
    ("nbody", nbody::nbody, "one step of `n` bodies under their mutual attraction"),
    ("nearest", places::nearest, "distances of `n` places from the point (`x`, `y`)"),
    ("pack_box", halo::pack_box, "a box of a field, packed into a face"),
    ("particle", places::particle, "resampling of `n` particles by cumulative weights"),
    ("pathfinder", paths::pathfinder, "the cheapest paths down `rows` rows"),
    ("permute_213", transpose::permute_213, "`out(j, i, k) = a(i, j, k)`"),
    ("permute_231", transpose::permute_231, "`out(j, k, i) = a(i, j, k)`"),
    (
        "read_again",
        ceilings::read_again,
        "sums modulo 2^32 of what each of `items` work-items reads of `words` words, `n` reads in all",
    ),
    (
        "read_runs",
        ceilings::read_runs,
        "column sums of blocks of DEPTH rows of STEP vectors, modulo 2^32",
    ),
    (
        "read_sum",
        micro::read_sum,
        "column sums of blocks of `depth` rows of `width` numbers, modulo 2^32",
    ),
    ("reduction", reduction::reduction, "one pass of a sum of `n` numbers modulo 2^32"),
    (
        "scattered",
        ceilings::scattered,
        "sums modulo 2^32 of LOADS words at scrambled places among `words` words",
    ),
    ("sepia", filters::sepia, "the sepia tone of an image"),
    ("srad", speckle::srad, "one step of speckle-reducing anisotropic diffusion"),
    (
        "stencil_2d_5",
        stencils::stencil_2d_5,
        "`centre` times the point plus `side` times its four neighbours on a plane",
    ),
    (
        "stencil_3d_13",
        stencils::stencil_3d_13,
        "thirteen points in space: `centre`, `near` and `far` neighbours",
    ),
    (
        "stencil_3d_7",
        stencils::stencil_3d_7,
        "`centre` times the point plus `side` times its six neighbours in space",
    ),
    ("stream", characterise::stream, "sums, writes or copies of rows, as MODE says"),
    ("stride", characterise::stride, "sums of REPEAT words, STRIDE apart"),
    (
        "subgroup_chain",
        ceilings::subgroup_chain,
        "numbers that work-items of a subgroup or a group tell each other, as OP says",
    ),
    (
        "synthetic",
        synthetic::synthetic,
        "chains that groups compute with chosen occupancy, exchanged through local memory",
    ),
    (
        "table_reads",
        ceilings::table_reads,
        "numbers of `n` work-items that `reads` vectors of a table of `words` words went into",
    ),
    ("transpose", transpose::transpose, "the transpose of a matrix of `rows` × `cols`"),
    ("triad", micro::triad, "`out = b + s*c`"),
    ("unpack_box", halo::unpack_box, "a face, unpacked into a box of a field"),
    ("walsh", transforms::walsh, "one pass of the fast Walsh transform of `n` numbers"),
    (
        "whole_chains",
        ceilings::whole_chains,
        "`steps` times `s' = s + a*r` with `r` before `s`, from every seed and `b` less it",
    ),
    (
        "word_chain",
        characterise::word_chain,
        "where `passes` times 16·REPEAT steps through `words` words of BYTES bytes end, each stored before it is loaded with WRITE",
    ),
    ("write_blocks", micro::write_blocks, "`out[i] = i / 16`, of `n` scalars"),
];

/// The reference `name`, if there is one.
pub fn find(name: &str) -> Option<Reference> {
    TABLE.iter().find(|(n, ..)| *n == name).map(|&(_, reference, _)| reference)
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
    TABLE.iter().map(|&(name, ..)| name)
}

/// The names of all references, each with what it computes.
pub fn abouts() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLE.iter().map(|&(name, _, about)| (name, about))
}
