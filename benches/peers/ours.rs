//! What gpubench measures of one device.

use crate::Failure;
use gpubench::analyse::{CaseResult, DeviceCases, collect};
use gpubench::gpu::{DeviceInfo, DeviceKind};
use gpubench::store;
use gpubench::workload::CaseKey;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// gpubench for one device.
pub struct Ours {
    program: PathBuf,
    selector: String,
    device: DeviceInfo,
    scratch: tempfile::TempDir,
    /// Where the result files lie: one folder for all of this device.
    results: PathBuf,
    runs: Cell<usize>,
}

/// Copies as large as clpeak's on a processor, where copies of 512 MiB are faster than those of 256. And of zeros as
/// clpeak's are, which some processors copy faster than other bytes: what is copied is the inverse of the fill.
const TRANSFERS: &str = "
version: 1
name: transfers
budget: { total: 20, rounds: 1 }
workloads:
  transfer:
    sizes: { bytes: [536870912] }
    buffers:
      data: { type: u32, count: bytes/4, fill: { constant: 4294967295 }, access: read }
    work: { flops: 0, bytes: bytes }
    verify: none
    measure: [upload, download]
    host_memory: [pageable, mapped]
";

impl Ours {
    pub fn new(selector: &str) -> Result<Self, Failure> {
        let program =
            std::env::var_os("GPUBENCH").unwrap_or_else(|| env!("CARGO_BIN_EXE_gpubench").into());
        let program = PathBuf::from(program);
        let list =
            Command::new(&program).args(["devices", "--json", "--device", selector]).output()?;
        let list: Vec<DeviceInfo> = serde_json::from_slice(&list.stdout)?;
        let [device] = <[DeviceInfo; 1]>::try_from(list)
            .map_err(|list| format!("{selector} names {} devices: name one", list.len()))?;
        let scratch = tempfile::tempdir()?;
        std::fs::write(scratch.path().join("transfers.yaml"), TRANSFERS)?;
        let results = match std::env::var_os("KEEP") {
            Some(kept) => {
                std::fs::create_dir_all(&kept)?;
                let prefix = format!("{}-", device.slug());
                tempfile::Builder::new().prefix(&prefix).tempdir_in(kept)?.keep()
            }
            None => scratch.path().to_owned(),
        };
        let selector = selector.to_owned();
        Ok(Self { program, selector, device, scratch, results, runs: Cell::new(0) })
    }

    pub fn name(&self) -> &str {
        &self.device.name
    }

    pub fn driver(&self) -> &str {
        &self.device.driver
    }

    /// Whether the host's own code is a peer of it.
    pub fn is_cpu(&self) -> bool {
        self.device.kind == DeviceKind::Cpu
    }

    /// The cases of the suite `ceilings` that all of `filters` let through.
    pub fn ceilings(&self, filters: &[&str]) -> Result<DeviceCases, Failure> {
        let filters = filters.iter().flat_map(|filter| ["--filter", filter]);
        let arguments = ["ceilings", "--rounds", "1"].into_iter().chain(filters);
        self.run(&arguments.collect::<Vec<_>>())
    }

    /// Copies as large as clpeak's.
    pub fn transfers(&self) -> Result<DeviceCases, Failure> {
        let suite = self.scratch.path().join("transfers.yaml");
        self.run(&[&suite.to_string_lossy()])
    }

    fn run(&self, arguments: &[&str]) -> Result<DeviceCases, Failure> {
        self.runs.set(self.runs.get() + 1);
        let file = self.results.join(format!("{:03}.jsonl", self.runs.get()));
        let mut command = Command::new(&self.program);
        command.arg("run").args(arguments).args([
            "--device",
            &self.selector,
            "--quiet",
            "--output",
        ]);
        // Failed cases are not hidden: their cell gives the result.
        command.arg(&file).stdout(Stdio::null()).status()?;
        only_device(&file)
    }
}

fn only_device(file: &Path) -> Result<DeviceCases, Failure> {
    let run = store::read(file)?;
    let devices = collect(&run.header, &run.records).into_iter().next();
    devices.ok_or_else(|| format!("{}: no device", file.display()).into())
}

/// A figure, or the result of the case that has none.
pub type Figure = Result<f64, &'static str>;

/// The largest figure of any case that was measured.
pub fn best(ours: &DeviceCases, figure: impl Fn(&CaseResult, f64) -> f64) -> Figure {
    let cases = || ours.cases.values();
    let measured = cases().filter_map(|case| Some(figure(case, case.seconds()?)));
    let why = cases().map(|case| case.outcome.label()).next().unwrap_or("not in the run");
    measured.reduce(f64::max).ok_or(why)
}

/// The figure of the largest of the cases that `wanted` picks, or the result of that case.
pub fn largest(
    ours: &DeviceCases,
    wanted: impl Fn(&CaseKey) -> bool,
    figure: impl Fn(&CaseResult, f64) -> f64,
) -> Figure {
    let cases = ours.cases.iter().filter(|(key, _)| wanted(key));
    let largest = cases.max_by_key(|(key, _)| key.size.first().map(|&(_, value)| value));
    let (_, case) = largest.ok_or("not in the run")?;
    case.seconds().map(|seconds| figure(case, seconds)).ok_or(case.outcome.label())
}
