//! Shaders and suites go into the binary.
fn main() -> std::io::Result<()> {
    gpubench_packed::pack("../../shaders", "shaders")?;
    gpubench_packed::pack("../../suites", "suites")
}
