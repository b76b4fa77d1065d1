//! Shaders and suites are embedded whole: a new file must be seen as well as a changed one.
fn main() {
    println!("cargo:rerun-if-changed=../../shaders");
    println!("cargo:rerun-if-changed=../../suites");
}
