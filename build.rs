//! What makes a release smaller: the linker leaves out the tables for unwinding, a seventh of the file, which a program
//! that aborts does not need, keeps one of functions that are equal to the byte, and gives the program a fixed address,
//! so that no table of what moves with it is needed. Its libraries, drivers too, still lie at random ones. `profiling`,
//! which is built with debug information, has none of the three, for `perf`.
use std::env::var;
use std::path::Path;
use std::process::{Command, Stdio};

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

/// Whether a program can be linked so: GNU's linker folds no functions, mold and gold read no such script.
fn links(arguments: &[&str], folder: &Path) -> std::io::Result<bool> {
    let [source, program] = ["empty.rs", "empty"].map(|name| folder.join(name));
    std::fs::write(&source, "fn main() {}")?;
    let mut rustc = Command::new(var("RUSTC").unwrap_or_else(|_| "rustc".into()));
    rustc.args([
        "--target",
        &var("TARGET").unwrap_or_default(),
        "--cap-lints=allow",
        "-Cpanic=abort",
    ]);
    rustc.arg("-o").arg(&program).arg(&source);
    rustc.args(arguments.iter().map(|argument| format!("-Clink-arg={argument}")));
    rustc.args(var("RUSTC_LINKER").map(|linker| format!("-Clinker={linker}")));
    let flags = var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    let links = rustc.stdout(Stdio::null()).stderr(Stdio::null()).status()?.success();
    let _ = std::fs::remove_file(program);
    Ok(links)
}

fn main() -> std::io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    let target = var("TARGET").unwrap_or_default().to_uppercase().replace(['-', '.'], "_");
    println!("cargo:rerun-if-env-changed=CARGO_TARGET_{target}_LINKER");
    let is_there =
        WHERE.iter().all(|(name, values)| var(name).is_ok_and(|is| values.contains(&is.as_str())));
    let folder = var("OUT_DIR").unwrap_or_default();
    let script = Path::new(&folder).join("no-unwinding.ld");
    std::fs::write(&script, SCRIPT)?;
    let script = format!("-Wl,-T,{}", script.display());
    // What is linked as a whole, musl's, begins otherwise: that such a program starts was not tried.
    let fixed = var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu").then_some("-no-pie");
    let mut taken = vec![];
    let wanted = [script.as_str(), "-Wl,--icf=all"].into_iter().chain(fixed);
    for argument in wanted.filter(|_| is_there) {
        taken.push(argument);
        if links(&taken, Path::new(&folder))? {
            println!("cargo:rustc-link-arg-bin=gpubench={argument}");
        } else {
            taken.pop();
        }
    }
    Ok(())
}
