//! Time of one launch, from its start to its end on the device.

use super::check::Check;
use super::choose::{Chosen, KERNEL, forms};
use super::expected::expected;
use super::loops::{Sample, warm_up_and_sample};
use super::{Finding, Policy, Session, Stage, energy, memory};
use gpubench_core::error::Result;
use gpubench_core::gpu::Origin;
use gpubench_core::record::Flag;
use gpubench_plan::{Candidate, Case, launches};

/// Measures `case` into `finding`.
pub(super) fn measure(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    finding: &mut Finding,
) -> Result<()> {
    around(session, case, policy, stage, finding, |session, chosen, stage, finding| {
        let batch = session.batch(chosen.launch, MOST);
        let recording = launches(case, chosen.candidate, KERNEL, batch);
        stage(Stage::Measure);
        warm_up_and_sample(policy, batch, finding, || {
            Ok(Sample::of_batch(session.device.run(&recording)?, batch))
        })?;
        energy::measure(session, &recording, batch, policy, finding)?;
        flag_cache(session, case, finding);
        Ok(())
    })
}

/// Most launches in one sample.
const MOST: u32 = 10_000;

/// What surrounds the samples of a kernel: its fastest form that is right is built, and what
/// the launches of `sample` leave behind is compared too.
pub(super) fn around(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    finding: &mut Finding,
    sample: impl FnOnce(&mut Session, &Chosen, &mut dyn FnMut(Stage), &mut Finding) -> Result<()>,
) -> Result<()> {
    stage(Stage::Prepare);
    let initial = memory::initial(case);
    memory::allocate(session.device.as_mut(), case)?;
    memory::write(session.device.as_mut(), case, &initial, false)?;
    if let Some(lent) = case.candidates.first().filter(|c| is_lent(c)) {
        stage(Stage::Verify);
        // Before any launch: a stranger's sizes that do not fit the buffers are refused here.
        expected(case, lent, &initial, policy)?;
    }
    let forms = forms(session, case, policy, stage, finding)?;
    for chosen in &forms.fastest_first {
        forms.keep(session, chosen, stage, finding)?;
        stage(Stage::Verify);
        let wanted = expected(case, chosen.candidate, &initial, policy)?;
        let check = Check { case, initial: &initial, wanted: wanted.as_ref() };
        finding.forgive();
        if !check.fresh_launch(session, chosen, "first launch", finding)? {
            // The fastest may be so because it is wrong: the next one may be right.
            if forms.fastest_first.len() > 1 {
                finding.flag(Flag::WrongForm(chosen.candidate.label.clone()));
            }
            continue;
        }
        if !policy.verify_only {
            sample(session, chosen, stage, finding)?;
            if let Some(measured) = &mut finding.measured {
                measured.flops = chosen.candidate.flops;
                measured.bytes = chosen.candidate.bytes;
            }
            stage(Stage::Verify);
            check.timed_launches(session, chosen, finding)?;
        }
        return Ok(());
    }
    Ok(())
}

/// Whether a shipped kernel runs under a user's own parameters and buffer sizes.
fn is_lent(candidate: &Candidate) -> bool {
    matches!(candidate.kernel.origin, Origin::Lent(_))
}

/// A working set below twice the largest cache may be served from it.
fn flag_cache(session: &Session, case: &Case, finding: &mut Finding) {
    let bytes: u64 = case.buffers.iter().map(|b| b.bytes().0).sum();
    if session.device.info().cache.is_some_and(|cache| bytes < 2 * cache.0) {
        finding.flag(Flag::Cache);
    }
}
