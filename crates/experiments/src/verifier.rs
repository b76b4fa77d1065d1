//! A kernel's results against the expected ones, round after round: compared number by number the first
//! time, and by their fingerprint wherever the same result was found right before.

use super::autotune::KERNEL;
use super::check::{Check, worst};
use super::expected::{Expected, expected, shared_file};
use super::images::Images;
use super::known_results::KnownResults;
use super::memory::{fingerprint, inside, read_guarded};
use super::{Bench, Policy, memory};
use crate::plan::{Candidate, Case, launches};
use gpubench_core::error::Result;
use gpubench_core::gpu::Access;
use gpubench_core::hash::sha256_hex;
use gpubench_core::workload::{Comparison, Verify};
use gpubench_device::Device;
use gpubench_reference::Data;
use std::cell::{OnceCell, RefCell};
use std::path::PathBuf;

/// What a variant of a case's kernel must compute.
pub(super) struct Verifier<'a> {
    case: &'a Case,
    candidate: &'a Candidate,
    images: &'a Images<'a>,
    policy: &'a Policy,
    /// Made when first needed: a result that is known to be right needs none.
    wanted: OnceCell<Option<(Expected, Comparison)>>,
    known: RefCell<KnownResults>,
}

impl<'a> Verifier<'a> {
    pub fn new(
        case: &'a Case,
        candidate: &'a Candidate,
        images: &'a Images<'a>,
        policy: &'a Policy,
    ) -> Self {
        let known = RefCell::new(KnownResults::open(known_file(case, candidate, policy)));
        Self { case, candidate, images, policy, wanted: OnceCell::new(), known }
    }

    /// Poisons what the kernel writes, launches once, and compares; whether to go on.
    pub fn fresh_launch(&self, bench: &mut Bench, when: &str) -> Result<bool> {
        self.poison(bench.device())?;
        bench.device().run(&launches(self.case, self.candidate, KERNEL, 1))?;
        self.results(bench, when)
    }

    /// Poisons what the kernel writes, so that what is compared next was written by what runs next.
    pub fn poison(&self, device: &mut dyn Device) -> Result<()> {
        if matches!(self.case.verify, Verify::Reference(..)) {
            let written = |access| access != Access::Read;
            return self.images.write(device, written);
        }
        let (initial, wanted) = (self.images.data(), self.wanted()?);
        let check = Check { case: self.case, initial, wanted };
        memory::write(device, self.case, &check.before(), true)
    }

    /// Compares what the timed launches left behind. A kernel that works in place has by then
    /// been applied many times: it is restored and launched once more.
    pub fn timed_launches(&self, bench: &mut Bench) -> Result<bool> {
        if self.case.buffers.iter().any(|b| b.access == Access::ReadWrite) {
            self.fresh_launch(bench, "launch after the timed ones")
        } else {
            self.results(bench, "timed launches")
        }
    }

    /// Reads and compares every written buffer; guards are checked even where nothing else is.
    fn results(&self, bench: &mut Bench, when: &str) -> Result<bool> {
        let unseen = Check { case: self.case, initial: &[], wanted: None };
        if !unseen.guards(bench, when)? {
            return Ok(false);
        }
        let Bench { session, measurement, .. } = bench;
        if matches!(self.case.verify, Verify::Nothing) {
            return unseen.all(measurement, when, |_| Ok(Data::U32(vec![])));
        }
        let mut found: Vec<(usize, Vec<u8>)> = vec![];
        for (i, buffer) in self.case.buffers.iter().enumerate() {
            if buffer.access != Access::Read {
                found.push((i, read_guarded(session.device.as_mut(), self.case, i)?));
            }
        }
        let prints: Vec<_> =
            found.iter().map(|(i, bytes)| (*i, fingerprint(inside(bytes)))).collect();
        let known = self.known.borrow().norms(&prints);
        if let Some(norms) = known {
            measurement.norms = Some(worst(measurement.norms, norms));
            return Ok(true);
        }
        let before = measurement.norms.take();
        let check = Check { case: self.case, initial: &[], wanted: self.wanted()? };
        let right = check.all(measurement, when, |id| {
            let bytes = found.iter().find(|(i, _)| *i == id).map_or(&[][..], |(_, b)| inside(b));
            Ok(Data::from_bytes(self.case.buffers[id].element.scalar, bytes))
        })?;
        if let Some(norms) = measurement.norms.filter(|_| right) {
            let file = known_file(self.case, self.candidate, self.policy);
            self.known.borrow_mut().add(&prints, norms, file);
        }
        if let Some(before) = before {
            measurement.norms = Some(worst(measurement.norms, before));
        }
        Ok(right)
    }

    /// What is expected, where the suite says how to tell.
    ///
    /// # Errors
    /// As [`expected`].
    pub fn wanted(&self) -> Result<Option<&(Expected, Comparison)>> {
        if self.wanted.get().is_none() {
            let wanted = expected(self.case, self.candidate, || self.images.made(), self.policy)?;
            let _ = self.wanted.set(wanted);
        }
        Ok(self.wanted.get().and_then(Option::as_ref))
    }
}

/// Where the right results of a problem are shared: what is right depends on the tolerance too.
fn known_file(case: &Case, candidate: &Candidate, policy: &Policy) -> Option<PathBuf> {
    let (Verify::Reference(_, allowed) | Verify::Emulator(allowed) | Verify::Command(_, allowed)) =
        &case.verify
    else {
        return None;
    };
    let file = shared_file(case, candidate, policy)?;
    let tolerance = sha256_hex(serde_json::to_vec(allowed).ok()?);
    Some(file.with_extension(format!("{}.verified", &tolerance[..16])))
}
