//! The fastest variant of a kernel whose result is right, before its samples and after them.

use crate::autotune::{BuiltVariant, try_variants};
use crate::check::Check;
use crate::expected::expected;
use crate::plan::{Candidate, Case};
use crate::{Bench, Stage, memory};
use gpubench_core::error::Result;
use gpubench_core::gpu::Origin;
use gpubench_core::record::Flag;

/// What surrounds the samples of a kernel: its fastest variant that is right is built, and what
/// the launches of `sample` leave behind is compared too.
pub(crate) fn around(
    case: &Case,
    bench: &mut Bench,
    sample: impl FnOnce(&mut Bench, &BuiltVariant) -> Result<()>,
) -> Result<()> {
    bench.enter(Stage::Prepare);
    let initial = memory::initial(case);
    memory::allocate(bench.device(), case)?;
    memory::write(bench.device(), case, &initial, false)?;
    if let Some(lent) = case.candidates.first().filter(|c| is_lent(c)) {
        bench.enter(Stage::Verify);
        // Before any launch: a stranger's sizes that do not fit the buffers are refused here.
        expected(case, lent, &initial, bench.policy)?;
    }
    let tried = try_variants(case, bench)?;
    for variant in &tried.fastest_first {
        tried.select(bench, variant)?;
        bench.enter(Stage::Verify);
        let wanted = expected(case, variant.candidate, &initial, bench.policy)?;
        let check = Check { case, initial: &initial, wanted: wanted.as_ref() };
        bench.measurement.forgive();
        if !check.fresh_launch(bench, variant, "first launch")? {
            // The fastest may be so because it is wrong: the next one may be right.
            if tried.fastest_first.len() > 1 {
                bench.measurement.flag(Flag::WrongVariant(variant.candidate.label.clone()));
            }
            continue;
        }
        if !bench.policy.verify_only {
            sample(bench, variant)?;
            bench.enter(Stage::Verify);
            check.timed_launches(bench, variant)?;
        }
        return Ok(());
    }
    Ok(())
}

/// Whether a shipped kernel runs under a user's own parameters and buffer sizes.
fn is_lent(candidate: &Candidate) -> bool {
    matches!(candidate.kernel.origin, Origin::Lent(_))
}
