//! The fastest variant of a kernel whose result is right, before its samples and after them.

use crate::autotune::{BuiltVariant, build_any, try_variants};
use crate::expected::expected;
use crate::images::Images;
use crate::long_launch::check_duration;
use crate::plan::{Candidate, Case};
use crate::verifier::Verifier;
use crate::{Bench, Stage, memory};
use gpubench_core::error::Result;
use gpubench_core::gpu::{Access, Origin};
use gpubench_core::record::Flag;

/// What surrounds the samples of a kernel: its fastest variant that is right is built, and what
/// the launches of `sample` leave behind is compared too.
pub(crate) fn around(
    case: &Case,
    bench: &mut Bench,
    sample: impl FnOnce(&mut Bench, &BuiltVariant) -> Result<()>,
) -> Result<()> {
    bench.enter(Stage::Prepare);
    let images = Images::new(case, bench.policy.cache.as_deref());
    memory::allocate(bench.device(), case)?;
    // What is only written is filled before each launch that is compared.
    images.write(bench.device(), |access| access != Access::Write)?;
    if let Some(lent) = case.candidates.first().filter(|c| is_lent(c)) {
        bench.enter(Stage::Verify);
        // Before any launch: a stranger's sizes that do not fit the buffers are refused here.
        expected(case, lent, || images.made(), bench.policy)?;
    }
    if bench.policy.verify_only {
        return verify_once(case, bench, &images);
    }
    let tried = try_variants(case, bench)?;
    for variant in &tried.fastest_first {
        tried.select(bench, variant)?;
        bench.enter(Stage::Verify);
        let verifier = Verifier::new(case, variant.candidate, &images, bench.policy);
        bench.measurement.forgive();
        if !verifier.fresh_launch(bench, "first launch")? {
            // The fastest may be so because it is wrong: the next one may be right.
            if tried.fastest_first.len() > 1 {
                bench.measurement.flag(Flag::WrongVariant(variant.candidate.label.clone()));
            }
            continue;
        }
        verifier.poison(bench.device())?;
        sample(bench, variant)?;
        bench.enter(Stage::Verify);
        verifier.timed_launches(bench)?;
        return Ok(());
    }
    Ok(())
}

/// One launch of the first variant that the device takes, and its result compared.
fn verify_once(case: &Case, bench: &mut Bench, images: &Images) -> Result<()> {
    let candidate = build_any(case, bench)?;
    bench.enter(Stage::Launch);
    let policy = bench.policy;
    check_duration(bench.device(), case, (candidate, case.kernel()), policy)?;
    bench.enter(Stage::Verify);
    let verifier = Verifier::new(case, candidate, images, bench.policy);
    verifier.fresh_launch(bench, "launch")?;
    Ok(())
}

/// Whether a shipped kernel runs under a user's own parameters and buffer sizes.
fn is_lent(candidate: &Candidate) -> bool {
    matches!(candidate.kernel.origin, Origin::Lent(_))
}
