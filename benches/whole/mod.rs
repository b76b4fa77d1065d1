//! The same kernel measured by the whole program: a worker, guards, warm-up, batches, records.

use gpubench::store;
use std::error::Error;
use std::process::Command;

/// The triad of `n` scalars in the one variant that the bare loop launches.
const SUITE: &str = "\
version: 1
name: whole
workloads:
  triad:
    kernel: { family: micro, entry: triad, group: [GROUP], constants: { V: f32xWIDTH, ITEMS: 1 } }
    sizes: { n: [COUNT] }
    params: { n: n, s: { f32: 0.5 } }
    buffers:
      b: { type: f32, count: n, fill: { uniform: [0.5, 1] }, access: read }
      c: { type: f32, count: n, fill: { uniform: [0.5, 1] }, access: read }
      out: { type: f32, count: n, access: write }
    grid: [n/V]
    verify: { reference: triad, relative: 0, absolute: 0 }
budget: { case: 1 }
";

/// Seconds of one launch on OpenCL device `index`, sample by sample.
pub fn samples(
    index: usize,
    n: u32,
    (group, width): (u32, u32),
) -> Result<Vec<f64>, Box<dyn Error>> {
    let scratch = tempfile::tempdir()?;
    let [suite, results] = ["whole.yaml", "whole.jsonl"].map(|name| scratch.path().join(name));
    let text = SUITE.replace("GROUP", &group.to_string()).replace("WIDTH", &width.to_string());
    std::fs::write(&suite, text.replace("COUNT", &n.to_string()))?;
    let run = Command::new(env!("CARGO_BIN_EXE_gpubench"))
        .arg("run")
        .arg(&suite)
        .args(["--backend", "opencl", "--quiet", "--device", &index.to_string()])
        .args(["--rounds", "1", "--output"])
        .arg(&results)
        .output()?;
    if !run.status.success() {
        return Err(String::from_utf8_lossy(&run.stderr).into());
    }
    let records = store::read(&results)?.records.into_iter();
    Ok(records.filter_map(|record| record.measured).flat_map(|m| m.samples).collect())
}
