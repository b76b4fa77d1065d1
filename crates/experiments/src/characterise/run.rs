//! Time of every variant of a kernel against its number of groups: variants that differ in one repeated
//! instruction or access differ in its cost.
//!
//! All variants are built. Each is launched with one, two, four … groups as far as launches stay
//! affordable, and all that again and again, so that what drifts meanwhile meets every variant alike.
//! Then each is verified.

use crate::autotune::built;
use crate::characterise::data::{Characterised, VariantTimes};
use crate::check::Check;
use crate::expected::expected;
use crate::loops::Sample;
use crate::plan::{Candidate, Case, launches, line_launch, max_groups_in_line};
use crate::{Bench, Policy, Stage, memory};
use gpubench_core::error::Result;
use gpubench_core::gpu::{Clock, DeviceKind, HOST_RESOLUTION, KernelId, Op, Recording};
use gpubench_core::record::{Detail, Measured};
use gpubench_core::workload::Split;
use gpubench_reference::Data;
use std::collections::BTreeMap;
use std::time::Instant;

/// How often every variant is visited.
const VISITS: usize = 3;
/// Launches of each number of groups in a visit: fewest and most.
const LAUNCHES: [usize; 2] = [3, 8];
/// Seconds of launches before the first that counts, so that clocks have risen.
const WARM_UP: f64 = 0.05;
/// Longest launch of the whole grid, in seconds, that is worth its wait for being verified.
const WHOLE: f64 = 0.25;
/// Most launches in one sample.
const BATCH: u32 = 64;

/// Measures `case` with `bench`.
pub(super) fn measure(case: &Case, bench: &mut Bench) -> Result<()> {
    case.first_variant()?;
    let variants = (0..).map(KernelId).zip(&case.candidates);
    let variants: Vec<_> = variants.map(|(id, candidate)| Variant { candidate, id }).collect();
    bench.enter(Stage::Prepare);
    let initial = memory::set_up(bench.device(), case)?;
    for variant in &variants {
        bench.enter(Stage::Build);
        let report = bench.device().build(variant.id, &variant.candidate.kernel)?;
        bench.measurement.kernel.get_or_insert(built(variant.candidate, report));
    }
    let mut sweeps = Sweeps {
        bench: bench.lend(),
        case,
        clock: None,
        dropped: 0,
        launches: 0,
        batches: BTreeMap::new(),
    };
    let times = sweeps.all(&variants)?;
    let Sweeps { clock, dropped, batches, .. } = sweeps;
    let clock = clock.unwrap_or((Clock::Host, HOST_RESOLUTION));
    for (variant, times) in variants.iter().zip(&times) {
        bench.enter(Stage::Verify);
        if !verified(case, (variant, times), &initial, bench)? {
            return Ok(());
        }
    }
    if bench.policy.verify_only {
        return Ok(());
    }
    bench.measurement.wall.busy += times.iter().flat_map(|t| t.values().flatten()).sum::<f64>();
    bench.measurement.measured = largest(&times, &batches, clock, dropped);
    let variants = variants
        .iter()
        .zip(times)
        .map(|(variant, times)| times_of(variant.candidate, times))
        .collect();
    bench.measurement.detail =
        Some(Detail::new(&Characterised { clock: clock.0, resolution: clock.1, variants }));
    Ok(())
}

/// Compares what a launch of the whole grid leaves behind or, where that would take too long, one
/// of the most groups that were measured.
fn verified(
    case: &Case,
    (variant, times): (&Variant, &Times),
    initial: &[Data],
    bench: &mut Bench,
) -> Result<bool> {
    // Variants have results of their own, which the cache would mistake for each other's.
    let uncached = Policy { cache: None, ..bench.policy.clone() };
    let wanted = expected(case, variant.candidate, || initial.to_vec(), &uncached)?;
    let check = Check { case, initial, wanted: wanted.as_ref() };
    let Some((&groups, samples)) = times.last_key_value() else { return Ok(true) };
    let fastest = samples.iter().copied().fold(f64::INFINITY, f64::min);
    let [x, y, z] = variant.candidate.groups.map(f64::from);
    // What changes in place depends on all groups: a part of them cannot be verified.
    if check.in_place() || fastest * x * y * z / f64::from(groups) <= WHOLE {
        let once = launches(case, variant.candidate, variant.id, 1);
        let label = &variant.candidate.label;
        let name = if label.is_empty() { "the kernel" } else { label };
        return check.whole(bench, &once, &format!("launch of {name}"));
    }
    check.part(bench, &line_launch(case, variant.candidate, variant.id, groups), groups)
}

/// A variant and the number of its kernel.
struct Variant<'a> {
    candidate: &'a Candidate,
    id: KernelId,
}

/// Seconds of a variant's launches, by number of groups.
type Times = BTreeMap<u32, Vec<f64>>;

fn times_of(variant: &Candidate, times: Times) -> VariantTimes {
    let kernel = &variant.kernel;
    let constants = kernel.constants.iter().flat_map(|(name, value)| value.numbers(name));
    let params = variant.params.iter().map(|(name, value, _)| (name.clone(), *value));
    VariantTimes {
        numbers: constants.chain(params).collect(),
        group_size: u32::try_from(kernel.group_size()).unwrap_or(u32::MAX),
        points: times.into_iter().collect(),
    }
}

/// Launches of growing numbers of groups, of every variant.
struct Sweeps<'a> {
    bench: Bench<'a>,
    case: &'a Case,
    /// The clock of the samples and its resolution: samples of another are dropped.
    clock: Option<(Clock, f64)>,
    dropped: u32,
    /// Launches so far.
    launches: u64,
    /// Launches in a sample, by number of groups: the same for all variants, so that each bears the
    /// same share of what lies between launches.
    batches: BTreeMap<u32, u32>,
}

impl Sweeps<'_> {
    fn all(&mut self, variants: &[Variant]) -> Result<Vec<Times>> {
        let mut times = vec![Times::new(); variants.len()];
        let share = self.bench.policy.seconds / VISITS as f64 / variants.len() as f64;
        let visits = if self.bench.policy.verify_only {
            1
        } else {
            VISITS.min(self.bench.policy.max_samples)
        };
        for visit in 0..visits {
            for (variant, times) in variants.iter().zip(&mut times) {
                self.bench.enter(Stage::Measure);
                self.warm_up(variant)?;
                if visit == 0 {
                    self.sweep_groups(variant, times, share)?;
                } else {
                    let groups: Vec<u32> = times.keys().copied().collect();
                    for groups in groups {
                        self.bench.enter(Stage::Measure);
                        self.samples(variant, times, groups, share)?;
                    }
                }
            }
        }
        Ok(times)
    }

    /// One, two, four … groups: up to all of them, or until a launch takes a good part of the
    /// variant's share of the time.
    fn sweep_groups(&mut self, variant: &Variant, times: &mut Times, share: f64) -> Result<()> {
        let max_groups = max_groups_in_line(variant.candidate);
        let longest = self.bench.policy.longest_launch.min(share / 8.0);
        let mut groups = 1;
        loop {
            self.bench.enter(Stage::Measure);
            if !self.batches.contains_key(&groups) {
                let first =
                    self.launch(variant, groups, 1)?.map_or(longest, |sample| sample.seconds);
                let batch = self.bench.session.batch(first, BATCH);
                self.batches.insert(groups, batch);
            }
            let fastest = self.samples(variant, times, groups, share)?;
            if groups == max_groups || 2.0 * fastest > longest {
                return Ok(());
            }
            groups = groups.saturating_mul(2).min(max_groups);
        }
    }

    fn warm_up(&mut self, variant: &Variant) -> Result<()> {
        let start = Instant::now();
        for launch in 0.. {
            // A simulated clock never rises.
            let sample = self.launch(variant, 1, 1)?;
            let simulated = sample.is_some_and(|sample| sample.clock == Clock::Simulated);
            if simulated || launch > 1 && start.elapsed().as_secs_f64() > WARM_UP / 4.0 {
                break;
            }
        }
        Ok(())
    }

    /// Samples with so many groups; the fastest of them.
    fn samples(
        &mut self,
        variant: &Variant,
        times: &mut Times,
        groups: u32,
        share: f64,
    ) -> Result<f64> {
        let start = Instant::now();
        let batch = self.batches.get(&groups).copied().unwrap_or(1);
        let points = times.entry(groups).or_default();
        let (mut fastest, mut taken, mut tries) = (f64::INFINITY, 0, 0);
        let [min_launches, max_launches] =
            LAUNCHES.map(|launches| launches.min(self.bench.policy.max_samples));
        while taken < max_launches && tries < 2 * max_launches {
            if taken >= min_launches && start.elapsed().as_secs_f64() > share / 12.0 {
                break;
            }
            tries += 1;
            if let Some(sample) = self.launch(variant, groups, batch)? {
                fastest = fastest.min(sample.seconds);
                points.push(sample.seconds);
                taken += 1;
            }
        }
        Ok(fastest)
    }

    /// Lets every launch of a part of the groups see another part of those buffers of which each
    /// group has its share: the caches hold what the launch before has touched. A simulated GPU
    /// has none in front of such traffic.
    fn move_on(&mut self, variant: &Variant, groups: u32, recording: &mut Recording) {
        let max_groups = u64::from(max_groups_in_line(variant.candidate));
        let parts = (max_groups / u64::from(groups)).max(1);
        for step in &mut recording.steps {
            let Op::Dispatch { buffers, .. } = &mut step.op else { continue };
            self.launches += 1;
            for (slice, buffer) in buffers.iter_mut().zip(&self.case.buffers) {
                let each = slice.len.0 / max_groups;
                let aligned = each.is_multiple_of(self.bench.device().info().offset_alignment.0);
                if matches!(buffer.split, Split::Rows { .. }) && parts > 1 && aligned {
                    let len = each * u64::from(groups);
                    slice.offset.0 += self.launches % parts * len;
                    slice.len.0 = len;
                }
            }
        }
    }

    /// A sample of `batch` launches; `None` where its clock is not that of the others.
    fn launch(&mut self, variant: &Variant, groups: u32, batch: u32) -> Result<Option<Sample>> {
        let mut recording = line_launch(self.case, variant.candidate, variant.id, groups);
        for _ in 1..batch {
            let step = recording.steps[0].clone();
            recording.steps.push(step);
        }
        if self.bench.device().info().kind != DeviceKind::Simulated {
            self.move_on(variant, groups, &mut recording);
        }
        let sample = Sample::of_batch(self.bench.device().run(&recording)?, batch);
        let (clock, _) = *self.clock.get_or_insert((sample.clock, sample.resolution));
        if sample.clock != clock {
            self.dropped += 1;
            return Ok(None);
        }
        Ok(Some(sample))
    }
}

/// The last variant's launch of the most groups stands for the case in tables.
fn largest(
    times: &[Times],
    batches: &BTreeMap<u32, u32>,
    (clock, resolution): (Clock, f64),
    dropped: u32,
) -> Option<Measured> {
    let (groups, samples) = times.last()?.last_key_value()?;
    let batch = batches.get(groups).copied().unwrap_or(1);
    let measured = Measured::of(samples.clone(), clock, resolution);
    Some(Measured { batch, warmup: WARM_UP, dropped, ..measured })
}
