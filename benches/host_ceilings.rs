//! The host's own ceilings over all its cores, beside which CPU implementations of OpenCL and
//! Vulkan are held: single-precision fused multiply-adds, and a triad over arrays far larger
//! than its caches.
//!
//! ```text
//! cargo bench --bench host_ceilings [-- MIB]      MiB of each of the triad's arrays, default 256
//! ```
//!
//! Rates are decimal (GFLOP/s, GB/s). A fused multiply-add counts as two operations; a triad's
//! element as twelve bytes, whether or not the processor reads a line before it writes it.

mod host;

fn main() {
    let mib = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(256);
    println!("host: {} threads", host::threads());
    println!("fma GFLOP/s          {}", host::fma());
    for rates in host::triad(mib) {
        println!("triad {mib:>4} MiB GB/s  {rates}");
    }
}
