//! What the linker leaves out of a release: the tables for unwinding, a seventh of the file. A program that aborts
//! needs none. `profiling`, which is built with debug information, keeps them for `perf`.
use std::env::var;
use std::path::Path;

/// As the linkers of LLVM and of GNU read it, besides their own script.
const SCRIPT: &str = "SECTIONS {
    /DISCARD/ : { *(.eh_frame_hdr) *(.eh_frame) *(.gcc_except_table .gcc_except_table.*) }
} INSERT AFTER .text;
";

/// Where nobody unwinds: a release aborts. Arm was not tried: there `./x` builds without the tables.
const WHERE: [(&str, &str); 4] = [
    ("CARGO_CFG_TARGET_ARCH", "x86_64"),
    ("CARGO_CFG_TARGET_OS", "linux"),
    ("PROFILE", "release"),
    ("DEBUG", "false"),
];

/// Whether somebody chose another linker: mold and gold read no such script, and would end the build.
fn has_own_linker() -> bool {
    let flags = var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    var("RUSTC_LINKER").is_ok() || flags.contains("linker") || flags.contains("fuse-ld")
}

fn main() -> std::io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    let is_there = WHERE.iter().all(|(name, value)| var(name).is_ok_and(|is| is == *value));
    if is_there && !has_own_linker() {
        let script = Path::new(&var("OUT_DIR").unwrap_or_default()).join("no-unwinding.ld");
        std::fs::write(&script, SCRIPT)?;
        println!("cargo:rustc-link-arg-bin=gpubench=-Wl,-T,{}", script.display());
    }
    Ok(())
}
