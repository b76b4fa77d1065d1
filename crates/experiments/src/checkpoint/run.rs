//! What it costs an iteration to have its state saved while it goes on, to memory and to a file, by
//! the number of queues, and what it takes to go on from a saved state.
//!
//! The iteration is first run without saves, pass after pass, and its states are read between them:
//! every state saved later must be equal to the one of its pass, to the bit, and so must the end of
//! every run, with saves or gone on from one. All times are the host's, until the last save is safe.

mod timed;
mod verified;

use crate::autotune::autotune;
use crate::check::Check;
use crate::checkpoint_store::CheckpointStore;
use crate::chunks::best_kind;
use crate::expected::expected;
use crate::iterate::{ToFile, allocate, read_state};
use crate::iteration::Iteration;
use crate::plan::Case;
use crate::timing::fastest;
use crate::{Bench, Policy, Stage, memory};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{DeviceInfo, DeviceKind};
use gpubench_core::record::Detail;
use gpubench_core::text::printable;

/// Characters of a folder's name that a record keeps.
const LONGEST_NAME: usize = 200;
/// Numbers of queues that are tried, as in L14.
const QUEUE_COUNTS: [u32; 3] = [1, 4, 8];
/// Samples of each, at least.
const MIN_SAMPLES: usize = 5;
/// Samples of each, at most: a simulated device's time shows nothing of how long it takes.
const MAX_SAMPLES: usize = 25;
/// Whole iterations that are sampled: alone, and on each number of queues to memory and to a file.
const ITERATIONS: f64 = 7.0;
/// Among how many the case's time is shared: these, and shorter ones.
const SHARES: f64 = 16.0;

/// Measures `case` with `bench`.
pub(super) fn measure(case: &Case, bench: &mut Bench) -> Result<()> {
    bench.enter(Stage::Prepare);
    let initial = memory::set_up(bench.device(), case)?;
    let policy = bench.policy;
    let min_samples = policy.min_samples.min(MIN_SAMPLES);
    // One launch is a whole iteration, and many of them must fit.
    let each = Policy { min_samples, seconds: policy.seconds / ITERATIONS, ..policy.clone() };
    let candidate = autotune(case, &mut bench.with_policy(&each))?.candidate;
    let iteration = Iteration { case, candidate };
    let saves = iteration.few_saves();
    let info = bench.device().info();
    let host_memory = best_kind(&info.host_memory);
    let simulated = info.kind == DeviceKind::Simulated;
    let (queues, skipped) = tried(info);
    allocate(bench.device(), case, saves.len(), host_memory)?;
    bench.enter(Stage::Verify);
    let wanted = expected(case, candidate, || initial.clone(), policy)?;
    let check = Check { case, initial: &initial, wanted: wanted.as_ref() };
    let temporary = std::env::temp_dir();
    let folder = policy.disk.as_ref().unwrap_or(&temporary);
    // The policy's is a run's own and about to go; what lasts is the one that it lies in.
    let named = policy.disk.as_ref().and_then(|disk| disk.parent()).unwrap_or(&temporary);
    let named = printable(&named.display().to_string(), LONGEST_NAME);
    let folder = tempfile::tempdir_in(folder).map_err(|error| Error::io(folder, error))?;
    let checkpoint_store = CheckpointStore::new(folder.path().join("state.checkpoint"), iteration);
    let max_samples = policy.max_samples.min(MAX_SAMPLES);
    let policy =
        Policy { min_samples, max_samples, seconds: policy.seconds / SHARES, ..policy.clone() };
    let mut runs = Iterations {
        bench: bench.with_policy(&policy),
        check,
        iteration,
        saves: &saves,
        checkpoint_store: &checkpoint_store,
    };
    let Some(states) = runs.states()? else { return Ok(()) };
    for &queues in &queues {
        if !runs.verified(queues, &states)? {
            return Ok(());
        }
    }
    if policy.verify_only {
        return Ok(());
    }
    let Some(mut detail) = runs.timed(&queues, simulated, &states)? else { return Ok(()) };
    detail.host_memory = host_memory;
    detail.skipped = skipped;
    detail.folder = Some(named);
    let to_memory = detail.runs.iter().filter(|run| !run.to_file).map(|run| &run.saving[..]);
    let work = [candidate.flops, candidate.bytes];
    bench.measurement.measured = Some(fastest(to_memory, detail.clock, work));
    bench.measurement.detail = Some(Detail::new(&detail));
    bench.measurement.flag_if_not_converged(&policy);
    Ok(())
}

/// The numbers of queues that the device has, and what is not run or not timed on it.
fn tried(info: &DeviceInfo) -> (Vec<u32>, Vec<(String, String)>) {
    let (queues, beyond): (Vec<u32>, Vec<u32>) =
        QUEUE_COUNTS.into_iter().partition(|&n| n <= info.queues);
    let lacking = |n| (format!("{n} queues"), format!("the device has {}", info.queues));
    let mut skipped: Vec<(String, String)> = beyond.into_iter().map(lacking).collect();
    if info.kind == DeviceKind::Simulated {
        let why = "saved and gone on from, but not timed: the simulated clock has no disk";
        skipped.push(("to a file".into(), why.into()));
    }
    (queues, skipped)
}

/// The states that a run without saves is in: after each pass that is saved, and in the end.
pub(crate) struct States {
    saved: Vec<Vec<u8>>,
    last: Vec<u8>,
}

/// An iteration that is run again and again, with saves and without.
pub(crate) struct Iterations<'a> {
    bench: Bench<'a>,
    check: Check<'a>,
    iteration: Iteration<'a>,
    saves: &'a [usize],
    checkpoint_store: &'a CheckpointStore,
}

impl Iterations<'_> {
    /// Everything as it was before the first pass.
    fn begin(&mut self) -> Result<()> {
        memory::write(self.bench.device(), self.check.case, self.check.initial, true)
    }

    fn read(&mut self) -> Result<Vec<u8>> {
        read_state(self.bench.device(), self.iteration.case)
    }

    fn save_to_file(&mut self, queues: u32) -> Result<()> {
        let Self { iteration, checkpoint_store, .. } = *self;
        ToFile { iteration, queues, checkpoint_store }.run(self.bench.session, 0, self.saves)
    }
}
