//! The host's own ceilings over all its cores, beside which CPU implementations of OpenCL and
//! Vulkan are held: multiply-adds by type, triads, sums and copies of arrays far larger than
//! its caches, and loads that wait for each other, up to such arrays.
//!
//! ```text
//! cargo bench --bench host_ceilings [-- MIB]      MiB of each of the arrays, default 256
//! ```
//!
//! Rates are decimal (10⁹ operations or bytes a second). A multiply-add counts as two operations; a triad's
//! element as twelve bytes, whether or not the processor reads a line before it writes it.

mod host;
// Of `peers`, which shares `host`, nothing uses it.
#[path = "host/loads.rs"]
mod loads;

use host::Type;

fn main() {
    let mib = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(256);
    println!("host: {} threads", host::threads());
    for of in [
        Type::F32,
        Type::F32Unfused,
        Type::F64,
        Type::F64Unfused,
        Type::F16,
        Type::I8,
        Type::I8Pairs,
    ] {
        match host::multiply_adds(of) {
            Some(rates) => println!("{:<9} GOP/s         {rates}", format!("{of:?}")),
            None => println!("{of:?}: no vectors of it here"),
        }
    }
    for rates in host::triad(mib) {
        println!("triad {mib:>4} MiB GB/s  {rates}");
    }
    println!("read {mib:>5} MiB GB/s  {}", host::read(mib));
    println!("copy {mib:>5} MiB GB/s  {}", host::copy(mib));
    for (kib, seconds) in loads::loads(mib) {
        println!("load {kib:>9.0} KiB ns  {:8.2}", 1e9 * seconds);
    }
}
