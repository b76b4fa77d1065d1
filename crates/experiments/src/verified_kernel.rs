//! The fastest variant of a kernel whose result is right, before its samples and after them.

use crate::autotune::{BuiltVariant, build_any, check_duration, try_variants};
use crate::expected::expected;
use crate::images::Images;
use crate::plan::{Candidate, Case};
use crate::verifier::Verifier;
use crate::{Measurement, Policy, Session, Stage, memory};
use gpubench_core::error::Result;
use gpubench_core::gpu::{Access, Origin};
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
    let images = Images::new(case, policy.cache.as_deref());
    memory::allocate(session.device.as_mut(), case)?;
    // What is only written is filled before each launch that is compared.
    images.write(session.device.as_mut(), |access| access != Access::Write)?;
    if let Some(lent) = case.candidates.first().filter(|c| is_lent(c)) {
        stage(Stage::Verify);
        // Before any launch: a stranger's sizes that do not fit the buffers are refused here.
        expected(case, lent, images.data(), policy)?;
    }
    if policy.verify_only {
        return verify_once(session, case, policy, stage, measurement, &images);
    }
    let tried = try_variants(session, case, policy, stage, measurement)?;
    for variant in &tried.fastest_first {
        tried.select(session, variant, stage, measurement)?;
        stage(Stage::Verify);
        let verifier = Verifier::new(case, variant.candidate, &images, policy);
        measurement.forgive();
        if !verifier.fresh_launch(session, "first launch", measurement)? {
            // The fastest may be so because it is wrong: the next one may be right.
            if tried.fastest_first.len() > 1 {
                measurement.flag(Flag::WrongVariant(variant.candidate.label.clone()));
            }
            continue;
        }
        verifier.poison(session)?;
        sample(session, variant, stage, measurement)?;
        stage(Stage::Verify);
        verifier.timed_launches(session, measurement)?;
        return Ok(());
    }
    Ok(())
}

/// One launch of the first variant that the device takes, and its result compared.
fn verify_once(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    measurement: &mut Measurement,
    images: &Images,
) -> Result<()> {
    let candidate = build_any(session, case, stage, measurement)?;
    stage(Stage::Launch);
    check_duration(session, case, candidate, policy.affordable_launch())?;
    stage(Stage::Verify);
    let verifier = Verifier::new(case, candidate, images, policy);
    verifier.fresh_launch(session, "launch", measurement)?;
    Ok(())
}

/// Whether a shipped kernel runs under a user's own parameters and buffer sizes.
fn is_lent(candidate: &Candidate) -> bool {
    matches!(candidate.kernel.origin, Origin::Lent(_))
}
