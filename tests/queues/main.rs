//! Concurrency, occupancy sweeps, schedules and layout transforms: ground truth recovered on simulated GPUs, and
//! whole runs.
#![expect(clippy::unwrap_used, reason = "a helper of tests panics as tests do")]

mod occupancy;
mod schedules;

use gpubench::backend::Device;
use gpubench::backend::sim::{Noise, Sim, SimDevice};
use gpubench::measure::plan;
use gpubench::measure::{Policy, Session, measure};
use gpubench::plan::{Case, Limits, Planned};
use gpubench::record::{Detail, Outcome};
use gpubench::suite::Suite;
use gpubench::units::Bytes;

/// A suite of one synthetic kernel, measured as `measure` says.
fn synthetic(measure: &str) -> Suite {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.yaml");
    let text = format!(
        "version: 1
workloads:
  mine:
    kernel: {{ family: synthetic, entry: synthetic, group: [64], constants: {{ LOCAL: 32 }} }}
    sizes: {{ groups: [400] }}
    params: {{ n: groups*64, passes: 64, steps: 1, reads: 0, chase: 0, busy: 64, words: 1024, stride: 0, group: 64, local: 32, add: 7 }}
    buffers:
      data: {{ type: u32, count: words, fill: random_bits }}
      out: {{ type: u32, count: n }}
    grid: [groups*64]
    work: {{ flops: 32*n*passes }}
    verify: {{ reference: synthetic, relative: 0, absolute: 0 }}
{measure}
  other:
    kernel: {{ family: micro, entry: empty, group: [64] }}
    sizes: {{ n: [64, 8388608] }}
    params: {{}}
    buffers: {{ out: {{ type: u32, count: n }} }}
    grid: [n]
    verify: {{ reference: empty, relative: 0, absolute: 0 }}
"
    );
    std::fs::write(&path, text).unwrap();
    gpubench::measure::load(path.to_str().unwrap()).unwrap()
}

/// The K40 as it is simulated, and one with a single queue.
fn simulated(queues: Option<u32>) -> Box<dyn Device> {
    let shipped = Sim::default().descriptions().unwrap();
    let at = shipped.iter().position(|gpu| gpu.name == "Tesla K40c").unwrap();
    let mut gpu = shipped[at].clone();
    gpu.queues = queues.unwrap_or(gpu.queues);
    gpu.noise = Noise::default();
    Box::new(SimDevice::new(gpu, at, 1))
}

/// The first case of `suite` on `device`, or why it is rejected.
fn first(suite: &Suite, device: &dyn Device, memory: Option<Bytes>) -> Result<Case, String> {
    let limits = Limits { memory, seconds: 60.0, seed: 5, cores: 2, host_memory: None };
    match plan(suite, device.info(), &limits).remove(0) {
        Planned::Case(case) => Ok(*case),
        Planned::Skipped(skip) => Err(skip.reason.to_string()),
    }
}

/// What measuring it on a simulated K40 left behind.
fn measured(suite: &Suite, queues: Option<u32>) -> Detail {
    let device = simulated(queues);
    let case = first(suite, device.as_ref(), None).unwrap();
    let policy = Policy { min_samples: 3, max_samples: 5, ..Policy::default() };
    let measurement = measure(&mut Session::new(device), &case, &policy, &mut |_| {});
    assert_eq!(measurement.outcome, Some(Outcome::Ok), "{measurement:?}");
    measurement.detail.unwrap()
}

fn suite_of(text: &str) -> Suite {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.yaml");
    std::fs::write(&path, text).unwrap();
    gpubench::measure::load(path.to_str().unwrap()).unwrap()
}

/// The workload `name` of a shipped suite at one size.
fn shipped(suite: &str, name: &str, n: i64) -> Suite {
    let mut suite = gpubench::measure::load(suite).unwrap();
    suite.workloads.retain(|workload| workload.name == name);
    suite.workloads[0].sizes = vec![vec![("n".to_owned(), n)]];
    suite
}
