//! A kernel that accesses a buffer in strides, against one that transforms the buffer's layout first and then
//! uses it so many times.
//!
//! The transformed buffer never leaves the device: the kernel that uses it must give, within the case's
//! tolerance, what the strided one gives. All times are from the first start to the last end,
//! by the device's clock where it has one.

use super::plan::{LayoutPlan, transformed_uses};
use crate::autotune::{KERNEL, autotune};
use crate::check::Check;
use crate::expected::expected;
use crate::layout::data::{LayoutTransform, Uses};
use crate::loops::{Sample, warm_up_and_sample};
use crate::plan::{Candidate, Case, launches};
use crate::{Bench, Measurement, Policy, Stage, memory};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{KernelId, Recording};
use gpubench_core::record::{Detail, Measured};

/// Most uses that are tried.
const MAX_USES: u32 = 128;
/// Most launches in one sample of a kernel alone.
const MAX_BATCH: u32 = 1000;
/// Recordings among which the case's time is shared, about: three alone, and two for each number of
/// uses, doubled seven times and halved as often.
const SHARES: f64 = 31.0;
/// Samples of each, at least.
const MIN_SAMPLES: usize = 7;

/// Measures `case` with `bench`.
pub(super) fn measure(case: &Case, bench: &mut Bench) -> Result<()> {
    let plan: LayoutPlan = case.planned()?;
    let plan = LayoutPlan { by: plan.by.at_place(1), then: plan.then.at_place(2), ..plan };
    bench.enter(Stage::Prepare);
    let initial = memory::initial(case);
    for case in [case, &plan.by, &plan.then] {
        memory::allocate(bench.device(), case)?;
        memory::write(bench.device(), case, &memory::initial(case), false)?;
    }
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
    let strided = ways.alone(|ways, count| ways.strided(count))?;
    let transform =
        ways.alone(|ways, count| launches(&ways.plan.by, ways.by, KernelId(1), count))?;
    let contiguous = ways.contiguous()?;
    let uses = ways.uses()?;
    ways.timed_launches()?;
    let detail = LayoutTransform {
        clock: strided.clock,
        strided: strided.samples.clone(),
        transform: transform.samples,
        contiguous,
        uses,
    };
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

    /// Launches of one kernel, in batches that the clock can resolve.
    fn alone(&mut self, launches: impl Fn(&Self, u32) -> Recording) -> Result<Measured> {
        let once = launches(self, 1);
        self.bench.device().run(&once)?;
        let seconds = crate::session::span(&self.bench.device().run(&once)?);
        let batch = self.bench.session.batch(seconds, MAX_BATCH);
        let recording = launches(self, batch);
        self.sampled(&recording, batch)
    }

    /// The kernel on the transformed buffer: what a batch of uses takes beyond the transform cannot be
    /// distinguished in one recording, so the first step is left out of it.
    fn contiguous(&mut self) -> Result<Vec<f64>> {
        let measured = self.alone(|ways, count| {
            let mut recording = ways.transformed(count);
            recording.steps.remove(0);
            recording
        })?;
        Ok(measured.samples)
    }

    /// Growing numbers of uses until the transform pays, and then halves of what lies between.
    fn uses(&mut self) -> Result<Vec<Uses>> {
        let mut all: Vec<Uses> = vec![];
        let (mut lost, mut paid) = (0, None);
        let mut next = 1;
        while next <= MAX_USES && next > lost {
            let (strided, transformed) = (self.strided(next), self.transformed(next));
            let strided = self.sampled(&strided, 1)?.samples;
            let transformed = self.sampled(&transformed, 1)?.samples;
            let uses = Uses { count: next, strided, transformed };
            let (middle, long) = (middle(&uses.strided), self.bench.policy.longest_launch);
            if middle_is_less(&uses) {
                paid = Some(next)
            } else {
                lost = next
            }
            all.push(uses);
            next = match paid {
                Some(paid) => lost + (paid - lost) / 2,
                // Twice as many would keep the device too long.
                None if 2.0 * middle > long => break,
                None => 2 * next,
            };
        }
        all.sort_by_key(|uses| uses.count);
        Ok(all)
    }

    fn sampled(&mut self, recording: &Recording, batch: u32) -> Result<Measured> {
        self.bench.enter(Stage::Measure);
        let seconds = self.bench.policy.seconds / SHARES;
        let warmup = self.bench.policy.warmup.min(seconds);
        let policy = Policy {
            min_samples: self.bench.policy.min_samples.min(MIN_SAMPLES),
            seconds,
            warmup,
            ..self.bench.policy.clone()
        };
        let mut scratch = Measurement::default();
        warm_up_and_sample(&policy, batch, &mut scratch, || {
            Ok(Sample::of_batch(self.bench.device().run(recording)?, batch))
        })?;
        self.bench.measurement.wall.busy += scratch.wall.busy;
        scratch.measured.ok_or_else(|| Error::Device("there are no samples".into()))
    }
}

fn middle_is_less(uses: &Uses) -> bool {
    middle(&uses.transformed) < middle(&uses.strided)
}

fn middle(samples: &[f64]) -> f64 {
    gpubench_stats::Summary::of(samples).map_or(f64::INFINITY, |summary| summary.median)
}
