//! Another device as the source of expected results.

use super::cases::{Filters, cases};
use crate::worker::Seat;
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::hash::sha256_hex;
use gpubench_core::record::Outcome;
use gpubench_core::workload::Verify;
use gpubench_device::sim::Sim;
use gpubench_experiments::Policy;
use gpubench_plan::{Case, Limits};
use gpubench_suite::Suite;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The devices that may testify, and where their testimony is kept.
#[derive(Debug)]
pub struct Witness<'a> {
    suite: &'a Suite,
    limits: Limits,
    folder: PathBuf,
    seats: Vec<Seat>,
    /// Cases of each seat, planned when first needed.
    cases: Vec<Option<Vec<Case>>>,
}

impl<'a> Witness<'a> {
    /// Any of `devices` (simulated ones as `sim` has them), each stage of theirs within `limit`
    /// where the user set one.
    pub fn new(
        suite: &'a Suite,
        limits: Limits,
        folder: &Path,
        devices: &[DeviceInfo],
        sim: &Sim,
        limit: Option<Duration>,
    ) -> Self {
        let seat = |device: &DeviceInfo| Seat::new(device.clone(), sim.clone(), limit);
        let seats: Vec<_> = devices.iter().map(seat).collect();
        let cases = vec![None; seats.len()];
        Self { suite, limits, folder: folder.to_owned(), seats, cases }
    }

    /// `case` as it is to be run on `device`: one that is verified against another device is
    /// turned into one that is verified against a file, which that device has written.
    ///
    /// # Errors
    /// `Unsupported` where there is no other device, else what came of the last one tried.
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
            match self.testimony(other, case, policy) {
                Some(Ok(file)) => {
                    return Ok(Case { verify: Verify::File(file, allowed), ..case.clone() });
                }
                Some(Err(outcome)) => {
                    let name = &self.seats[other].device().name;
                    last = Outcome::Failed(format!(
                        "the expected result of {name}: {}",
                        outcome.word()
                    ));
                }
                None => {}
            }
        }
        Err(last)
    }

    /// The other devices, those of another API first: two views of one card are better than
    /// one, two cards of one driver share its mistakes.
    fn order(&self, device: &DeviceInfo) -> Vec<usize> {
        let is_self = |d: &DeviceInfo| d.backend == device.backend && d.index == device.index;
        let mut others: Vec<usize> =
            (0..self.seats.len()).filter(|&i| !is_self(self.seats[i].device())).collect();
        others.sort_by_key(|&i| self.seats[i].device().backend == device.backend);
        others
    }

    /// The file with what device `other` computes; `None` when it does not run this case.
    fn testimony(
        &mut self,
        other: usize,
        case: &Case,
        policy: &Policy,
    ) -> Option<Result<PathBuf, Outcome>> {
        let device = self.seats[other].device().clone();
        let (suite, limits) = (self.suite, &self.limits);
        let planned = self.cases[other]
            .get_or_insert_with(|| cases(suite, &Filters::default(), &device, 0, limits).run);
        let theirs = planned.iter().find(|theirs| theirs.key == case.key)?.clone();
        let identity = format!("{}:{} {}", device.backend, device.index, case.key);
        let file = self.folder.join(format!("{}.witness", sha256_hex(identity)));
        if file.exists() {
            return Some(Ok(file));
        }
        let seat = &mut self.seats[other];
        let computed = seat.compute(&theirs, &file, policy, &mut |_| {});
        // Its worker must not be there while another device is measured.
        seat.leave();
        if computed.is_err() {
            // Half a file must not be taken for a testimony the next time.
            let _ = std::fs::remove_file(&file);
        }
        Some(computed.map(|()| file))
    }
}
