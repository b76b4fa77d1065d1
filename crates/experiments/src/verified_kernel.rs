//! The fastest variant of a kernel whose result is right, before its samples and after them.

use crate::autotune::{BuiltVariant, try_variants};
use crate::check::Check;
use crate::expected::expected;
use crate::plan::{Candidate, Case};
use crate::{Measurement, Policy, Session, Stage, memory};
use gpubench_core::error::Result;
use gpubench_core::gpu::Origin;
use gpubench_core::record::Flag;

/// What surrounds the samples of a kernel: its fastest variant that is right is built, and what
/// the launches of `sample` leave behind is compared too.
pub(crate) fn around(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    measurement: &mut Measurement,
    sample: impl FnOnce(
        &mut Session,
        &BuiltVariant,
        &mut dyn FnMut(Stage),
        &mut Measurement,
    ) -> Result<()>,
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
    let tried = try_variants(session, case, policy, stage, measurement)?;
    for variant in &tried.fastest_first {
        tried.select(session, variant, stage, measurement)?;
        stage(Stage::Verify);
        let wanted = expected(case, variant.candidate, &initial, policy)?;
        let check = Check { case, initial: &initial, wanted: wanted.as_ref() };
        measurement.forgive();
        if !check.fresh_launch(session, variant, "first launch", measurement)? {
            // The fastest may be so because it is wrong: the next one may be right.
            if tried.fastest_first.len() > 1 {
                measurement.flag(Flag::WrongVariant(variant.candidate.label.clone()));
            }
            continue;
        }
        if !policy.verify_only {
            sample(session, variant, stage, measurement)?;
            stage(Stage::Verify);
            check.timed_launches(session, variant, measurement)?;
        }
        return Ok(());
    }
    Ok(())
}

/// Whether a shipped kernel runs under a user's own parameters and buffer sizes.
fn is_lent(candidate: &Candidate) -> bool {
    matches!(candidate.kernel.origin, Origin::Lent(_))
}
