//! Another device as the source of expected results.

use super::cases::{Filters, cases};
use crate::worker::WorkerSupervisor;
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::hash::sha256_hex;
use gpubench_core::record::Outcome;
use gpubench_core::workload::Verify;
use gpubench_experiments::Policy;
use gpubench_experiments::plan::{Case, Limits};
use gpubench_suite::Suite;
use std::path::{Path, PathBuf};

/// The devices whose results may serve as expected ones, and the folder of those results.
#[derive(Debug)]
pub struct CrossDeviceOracle<'a> {
    suite: &'a Suite,
    limits: Limits,
    folder: PathBuf,
    supervisors: Vec<WorkerSupervisor>,
    /// Cases of each supervisor, planned when first needed.
    cases: Vec<Option<Vec<Case>>>,
}

impl<'a> CrossDeviceOracle<'a> {
    /// Any of the devices that these supervise.
    pub fn new(
        suite: &'a Suite,
        limits: Limits,
        folder: &Path,
        supervisors: Vec<WorkerSupervisor>,
    ) -> Self {
        let cases = vec![None; supervisors.len()];
        Self { suite, limits, folder: folder.to_owned(), supervisors, cases }
    }

    /// `case` as it is to be run on `device`: one that is verified against another device is
    /// turned into one that is verified against a file, which that device has written.
    ///
    /// # Errors
    /// `Unsupported` where there is no other device, else the result of the last one tried.
    pub fn prepare(
        &mut self,
        case: &Case,
        device: &DeviceInfo,
        policy: &Policy,
    ) -> Result<Case, Outcome> {
        let Verify::Device(allowed) = case.verify else { return Ok(case.clone()) };
        let mut last = Outcome::Unsupported(
            "it is verified against another device, and there is none here that runs it".into(),
        );
        for other in self.order(device) {
            match self.expected_from(other, case, policy) {
                Some(Ok(file)) => {
                    return Ok(Case { verify: Verify::File(file, allowed), ..case.clone() });
                }
                Some(Err(outcome)) => {
                    let name = &self.supervisors[other].device().name;
                    last = Outcome::Failed(format!(
                        "the expected result of {name}: {}",
                        outcome.label()
                    ));
                }
                None => {}
            }
        }
        Err(last)
    }

    /// The other devices, those of another API first: two views of one physical GPU are better than
    /// one, two GPUs of one driver share its mistakes.
    fn order(&self, device: &DeviceInfo) -> Vec<usize> {
        let mut others: Vec<usize> = (0..self.supervisors.len())
            .filter(|&i| !self.supervisors[i].device().is_at(device))
            .collect();
        others.sort_by_key(|&i| self.supervisors[i].device().backend == device.backend);
        others
    }

    /// The file with what device `other` computes; `None` when it does not run this case.
    fn expected_from(
        &mut self,
        other: usize,
        case: &Case,
        policy: &Policy,
    ) -> Option<Result<PathBuf, Outcome>> {
        let device = self.supervisors[other].device().clone();
        let (suite, limits) = (self.suite, &self.limits);
        let planned = self.cases[other]
            .get_or_insert_with(|| cases(suite, &Filters::default(), &device, 0, limits).run);
        let theirs = planned.iter().find(|theirs| theirs.key == case.key)?.clone();
        let identity = format!("{} {}", device.label(), case.key);
        let file = self.folder.join(format!("{}.oracle", sha256_hex(identity)));
        if file.exists() {
            return Some(Ok(file));
        }
        let supervisor = &mut self.supervisors[other];
        let computed = supervisor.compute(&theirs, &file, policy);
        // Its worker must not be there while another device is measured.
        supervisor.leave();
        if computed.is_err() {
            // Half a file must not be taken for an expected result the next time.
            let _ = std::fs::remove_file(&file);
        }
        Some(computed.map(|()| file))
    }
}
