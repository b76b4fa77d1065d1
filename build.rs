//! What the linker leaves out of a release: the tables for unwinding, a seventh of the file. A program that aborts
//! needs none. `profiling`, which is built with debug information, keeps them for `perf`.
use std::env::var;
use std::path::Path;

/// As the linkers of LLVM and of GNU read it, besides their own script.
const SCRIPT: &str = "SECTIONS {
    /DISCARD/ : { *(.eh_frame_hdr) *(.eh_frame) *(.gcc_except_table .gcc_except_table.*) }
} INSERT AFTER .text;
";

/// Where nobody unwinds: a release aborts. What Arm's 32-bit programs have instead was not tried: there `./x` builds
/// without the tables, but for those of the standard library.
const WHERE: [(&str, &[&str]); 4] = [
    ("CARGO_CFG_TARGET_ARCH", &["x86_64", "aarch64"]),
    ("CARGO_CFG_TARGET_OS", &["linux"]),
    ("PROFILE", &["release"]),
    ("DEBUG", &["false"]),
];

/// Whether the linker may be another than LLVM's and GNU's: mold and gold read no such script, and would end the build.
/// A C compiler for another architecture links with GNU's.
fn may_be_another_linker() -> bool {
    let flags = var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let chosen = var("RUSTC_LINKER").is_ok_and(|linker| !linker.ends_with("-linux-gnu-gcc"));
    chosen || flags.contains("linker") || flags.contains("fuse-ld")
}

fn main() -> std::io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    let is_there =
        WHERE.iter().all(|(name, values)| var(name).is_ok_and(|is| values.contains(&is.as_str())));
    if is_there && !may_be_another_linker() {
        let script = Path::new(&var("OUT_DIR").unwrap_or_default()).join("no-unwinding.ld");
        std::fs::write(&script, SCRIPT)?;
        println!("cargo:rustc-link-arg-bin=gpubench=-Wl,-T,{}", script.display());
    }
    Ok(())
}
