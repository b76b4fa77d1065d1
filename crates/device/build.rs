//! The simulated devices and machines go into the binary.
fn main() -> std::io::Result<()> {
    gpubench_packed::pack("src/sim/devices", "devices")?;
    gpubench_packed::pack("src/sim/machines", "machines")
}
