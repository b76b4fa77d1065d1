//! A kernel that accesses a buffer in strides, against one that transforms the buffer's layout first and then
//! uses it so many times.
//!
//! The transformed buffer never leaves the device: the kernel that uses it must give, within the case's
//! tolerance, what the strided one gives. All times are from the first start to the last end,
//! by the device's clock where it has one. What is compared is timed in turn.

use super::analysis::{MAX_USES, measured, predicted};
use super::plan::{LayoutPlan, transformed_uses};
use crate::autotune::{KERNEL, autotune};
use crate::check::Check;
use crate::expected::expected;
use crate::layout::data::{LayoutTransform, Uses};
use crate::plan::{Candidate, Case, launches};
use crate::timing::{MIN_SAMPLES_IN_TURN, median_seconds, spans_in_turn};
use crate::{Bench, Policy, Stage, memory};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{KernelId, Recording};
use gpubench_core::record::{Detail, Measured};

/// Most launches in one sample of a kernel alone.
const MAX_BATCH: u32 = 1000;
/// Launches in a row from which the time of one use is taken, or fewer where these would keep the device longer than a
/// launch may: the first finds its data out of the caches, the others do not.
const USES_IN_A_ROW: u32 = 8;
/// Numbers of uses are chosen so often, at most: around the prediction, then around what was measured.
const ATTEMPTS: u32 = 3;
/// Of the case's time, what the three kernels alone get, and what each attempt gets.
const SHARE: f64 = 0.25;

/// Measures `case` with `bench`.
pub(super) fn measure(case: &Case, bench: &mut Bench) -> Result<()> {
    let plan: LayoutPlan = case.planned()?;
    let plan = LayoutPlan { by: plan.by.at_place(1), then: plan.then.at_place(2), ..plan };
    bench.enter(Stage::Prepare);
    let initial = memory::set_up(bench.device(), case)?;
    memory::set_up(bench.device(), &plan.by)?;
    memory::set_up(bench.device(), &plan.then)?;
    // The fastest variant of each; the strided kernel last, since the record is that one's.
    let by = autotune(&plan.by, bench)?.candidate;
    let then = autotune(&plan.then, bench)?.candidate;
    let candidate = autotune(case, bench)?.candidate;
    bench.enter(Stage::Verify);
    let wanted = expected(case, candidate, || initial.clone(), bench.policy)?;
    let check = Check { case, initial: &initial, wanted: wanted.as_ref() };
    let mut ways = Ways { bench: bench.lend(), check, plan: &plan, candidate, by, then };
    if !ways.verified()? || ways.bench.policy.verify_only {
        return Ok(());
    }
    ways.poison()?;
    let [strided, transform, contiguous] = ways.alone()?;
    let mut detail = LayoutTransform {
        clock: strided.clock,
        strided: strided.samples.clone(),
        transform: transform.samples,
        contiguous: contiguous.samples,
        uses: vec![],
    };
    ways.uses(&mut detail)?;
    ways.timed_launches()?;
    bench.measurement.measured =
        Some(Measured { flops: candidate.flops, bytes: candidate.bytes, ..strided });
    bench.measurement.detail = Some(Detail::new(&detail));
    bench.measurement.flag_if_not_converged(bench.policy);
    Ok(())
}

/// Both ways to the result.
struct Ways<'a> {
    bench: Bench<'a>,
    check: Check<'a>,
    plan: &'a LayoutPlan,
    candidate: &'a Candidate,
    by: &'a Candidate,
    then: &'a Candidate,
}

impl Ways<'_> {
    fn strided(&self, uses: u32) -> Recording {
        launches(self.check.case, self.candidate, KERNEL, uses)
    }

    fn transforms(&self, count: u32) -> Recording {
        launches(&self.plan.by, self.by, KernelId(1), count)
    }

    /// Uses of the transformed buffer: all but the first step, which transforms it.
    fn contiguous(&self, uses: u32) -> Recording {
        let mut recording = self.transformed(uses);
        recording.steps.remove(0);
        recording
    }

    fn transformed(&self, uses: u32) -> Recording {
        let (by, then) = ((self.by, KernelId(1)), (self.then, KernelId(2)));
        transformed_uses(self.check.case, self.plan, by, then, uses)
    }

    /// Both ways give what is expected, the second through a buffer that was poisoned before.
    fn verified(&mut self) -> Result<bool> {
        self.bench.enter(Stage::Verify);
        let strided = self.strided(1);
        if !self.check.whole(&mut self.bench, &strided, "launch in strides")? {
            return Ok(false);
        }
        let contents = memory::initial(&self.plan.by);
        memory::write(self.bench.device(), &self.plan.by, &contents, true)?;
        let transformed = self.transformed(1);
        self.check.whole(&mut self.bench, &transformed, "launch on the transformed buffer")
    }

    /// Forgets all results, so that those compared in the end are of timed launches.
    fn poison(&mut self) -> Result<()> {
        memory::write(self.bench.device(), self.check.case, self.check.initial, true)
    }

    /// What the timed launches left behind is what is expected, too.
    fn timed_launches(&mut self) -> Result<bool> {
        self.bench.enter(Stage::Verify);
        self.check.results(&mut self.bench, "timed launches")
    }

    /// Launches of each of the three kernels, in batches that the clock can resolve, in turn. Uses are in a row: a
    /// sequence transforms once, and uses what its last use left in the caches.
    fn alone(&mut self) -> Result<[Measured; 3]> {
        let kernels: [fn(&Self, u32) -> Recording; 3] =
            [Self::strided, Self::transforms, Self::contiguous];
        let mut recordings = vec![];
        for (launches, in_a_row) in kernels.into_iter().zip([USES_IN_A_ROW, 1, USES_IN_A_ROW]) {
            let once = launches(self, 1);
            self.bench.device().run(&once)?;
            let seconds = crate::session::span(&self.bench.device().run(&once)?);
            let allowed = (self.bench.policy.longest_launch / seconds).clamp(1.0, in_a_row.into());
            let batch = self.bench.session.batch(seconds, MAX_BATCH).max(allowed as u32);
            recordings.push((launches(self, batch), batch));
        }
        let seconds = SHARE * self.bench.policy.seconds;
        let measured = spans_in_turn(&mut self.bench, &recordings, seconds)?;
        measured.try_into().map_err(|_| Error::Device("a kernel was not timed".into()))
    }

    /// Sequences of uses, in turn, of numbers around the one from which on the transform should pay; then
    /// around the one from which on it did, as long as they do not enclose that.
    fn uses(&mut self, detail: &mut LayoutTransform) -> Result<()> {
        let max_uses = self.max_uses(detail);
        let mut around = predicted(detail).map_or(max_uses, |predicted| predicted.uses);
        for attempt in 0..ATTEMPTS {
            let counts = counts_around(around.min(max_uses));
            let sequences = |ways: &Self, count| [ways.strided(count), ways.transformed(count)];
            let all: Vec<_> = counts.iter().flat_map(|&count| sequences(self, count)).collect();
            let all: Vec<_> = all.into_iter().map(|recording| (recording, 1)).collect();
            let seconds = SHARE * self.bench.policy.seconds;
            let samples = spans_in_turn(&mut self.bench, &all, seconds)?;
            let mut samples = samples.into_iter().map(|measured| measured.samples);
            for &count in &counts {
                let [strided, transformed] = [(); 2].map(|()| samples.next().unwrap_or_default());
                detail.uses.push(Uses { count, strided, transformed, attempt });
            }
            let Some(measured) = measured(&detail.uses) else { return Ok(()) };
            let next = counts_around(measured.uses.min(max_uses));
            let encloses = |uses: f64| uses <= f64::from(counts[counts.len() - 1]);
            let begins = counts[0] == 1 || measured.uses >= f64::from(counts[0]);
            if next == counts || begins && encloses(measured.uses) {
                return Ok(());
            }
            around = measured.uses;
        }
        Ok(())
    }

    /// Around more uses than these a sequence would keep the device too long, or take more than its share of the time.
    fn max_uses(&self, detail: &LayoutTransform) -> f64 {
        let Policy { longest_launch, seconds, .. } = *self.bench.policy;
        let of = |samples: &[f64]| median_seconds(samples).unwrap_or(0.0);
        let (strided, contiguous) = (of(&detail.strided), of(&detail.contiguous));
        // Three sequences each way in a turn, the longest of half as many uses again. Turns may take three times
        // their share.
        let turn = 3.0 * SHARE * seconds / MIN_SAMPLES_IN_TURN as f64;
        let in_turn = (turn / 3.0 - of(&detail.transform)) / (strided + contiguous);
        in_turn.min(longest_launch / 1.5 / strided).clamp(1.0, MAX_USES).floor()
    }
}

/// That number of uses, half as many and half as many again: distinct, and at least one.
fn counts_around(uses: f64) -> Vec<u32> {
    let middle = uses.round().max(1.0) as u32;
    let half = (middle / 2).max(1);
    [middle - half, middle, middle + half].into_iter().filter(|count| *count > 0).collect()
}

#[test]
fn sequences_are_around_the_number_of_uses() {
    assert_eq!(counts_around(0.2), [1, 2]);
    assert_eq!(
        [1.6, 4.4, 33.0].map(counts_around),
        [vec![1, 2, 3], vec![2, 4, 6], vec![17, 33, 49]]
    );
}
