//! Time of every form of a kernel against its number of groups: forms that differ in one repeated
//! instruction or access differ in its cost.
//!
//! All forms are built. Each is launched with one, two, four … groups as far as launches stay
//! affordable, and all that again and again, so that what drifts meanwhile meets every form alike.
//! Then each is verified.

use super::check::Check;
use super::choose::built;
use super::expected::expected;
use super::loops::Sample;
use super::{Finding, Policy, Session, Stage, memory};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Clock, DeviceKind, HOST_RESOLUTION, KernelId, Op, Recording};
use gpubench_core::record::{Characterised, Detail, FormTimes, Measured};
use gpubench_core::workload::Split;
use gpubench_plan::{Candidate, Case, launches, line_launch, most_in_line};
use gpubench_reference::Data;
use std::collections::BTreeMap;
use std::time::Instant;

/// How often every form is visited.
const VISITS: usize = 3;
/// Launches of each number of groups in a visit: fewest and most.
const LAUNCHES: [usize; 2] = [3, 8];
/// Seconds of launches before the first that counts, so that clocks have risen.
const WARM_UP: f64 = 0.05;
/// Longest launch of the whole grid, in seconds, that is worth its wait for being verified.
const WHOLE: f64 = 0.25;
/// Most launches in one sample.
const BATCH: u32 = 64;

/// Measures `case` into `finding`.
pub(super) fn measure(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    finding: &mut Finding,
) -> Result<()> {
    let forms = forms(case)?;
    stage(Stage::Prepare);
    let initial = memory::initial(case);
    memory::allocate(session.device.as_mut(), case)?;
    memory::write(session.device.as_mut(), case, &initial, false)?;
    for form in &forms {
        stage(Stage::Build);
        let report = session.device.build(form.id, &form.candidate.kernel)?;
        finding.kernel.get_or_insert(built(form.candidate, report));
    }
    let mut bench = Bench {
        session,
        case,
        policy,
        clock: None,
        dropped: 0,
        launches: 0,
        batches: BTreeMap::new(),
    };
    let times = bench.all(&forms, stage)?;
    let Bench { clock, dropped, batches, .. } = bench;
    let clock = clock.unwrap_or((Clock::Host, HOST_RESOLUTION));
    for (form, times) in forms.iter().zip(&times) {
        stage(Stage::Verify);
        if !verified(session, case, policy, (form, times), &initial, finding)? {
            return Ok(());
        }
    }
    if policy.verify_only {
        return Ok(());
    }
    finding.wall.busy += times.iter().flat_map(|t| t.points.values().flatten()).sum::<f64>();
    finding.measured = largest(&times, &batches, clock, dropped);
    let forms = forms.iter().zip(times).map(|(form, times)| form.times(times)).collect();
    finding.detail =
        Some(Detail::Characterised(Characterised { clock: clock.0, resolution: clock.1, forms }));
    Ok(())
}

/// Compares what a launch of the whole grid leaves behind or, where that would take too long, one
/// of the most groups that were measured.
fn verified(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    (form, times): (&Form, &Times),
    initial: &[Data],
    finding: &mut Finding,
) -> Result<bool> {
    // Forms have results of their own, which the cache would mistake for each other's.
    let uncached = Policy { cache: None, ..policy.clone() };
    let wanted = expected(case, form.candidate, initial, &uncached)?;
    let check = Check { case, initial, wanted: wanted.as_ref() };
    let Some((&groups, samples)) = times.points.last_key_value() else { return Ok(true) };
    let fastest = samples.iter().copied().fold(f64::INFINITY, f64::min);
    let [x, y, z] = form.candidate.groups.map(f64::from);
    // What changes in place depends on all groups: a part of them cannot be judged.
    if check.in_place() || fastest * x * y * z / f64::from(groups) <= WHOLE {
        let once = launches(case, form.candidate, form.id, 1);
        return check.whole(session, &once, &format!("launch of {}", form.name()), finding);
    }
    check.part(session, &line_launch(case, form.candidate, form.id, groups), groups, finding)
}

/// A form and the number of its kernel.
struct Form<'a> {
    candidate: &'a Candidate,
    id: KernelId,
}

fn forms(case: &Case) -> Result<Vec<Form<'_>>> {
    let number = |i: usize| KernelId(u32::try_from(i).unwrap_or(u32::MAX));
    let forms = case.candidates.iter().enumerate();
    let forms: Vec<_> = forms.map(|(i, candidate)| Form { candidate, id: number(i) }).collect();
    match forms.is_empty() {
        true => Err(Error::Unsupported("the case has no kernel".into())),
        false => Ok(forms),
    }
}

impl Form<'_> {
    fn name(&self) -> &str {
        if self.candidate.label.is_empty() { "the kernel" } else { &self.candidate.label }
    }

    fn times(&self, times: Times) -> FormTimes {
        let kernel = &self.candidate.kernel;
        let constants = kernel.constants.iter().map(|(name, c)| (name.clone(), c.number()));
        let params = self.candidate.params.iter().map(|(name, value, _)| (name.clone(), *value));
        FormTimes {
            numbers: constants.chain(params).collect(),
            group_size: u32::try_from(kernel.group_size()).unwrap_or(u32::MAX),
            points: times.points.into_iter().collect(),
        }
    }
}

/// What was measured of one form.
#[derive(Default)]
struct Times {
    /// Seconds of a launch by number of groups.
    points: BTreeMap<u32, Vec<f64>>,
}

struct Bench<'a> {
    session: &'a mut Session,
    case: &'a Case,
    policy: &'a Policy,
    /// The clock of the samples and its resolution: samples of another are dropped.
    clock: Option<(Clock, f64)>,
    dropped: u32,
    /// Launches so far.
    launches: u64,
    /// Launches in a sample, by number of groups: the same for all forms, so that each bears the
    /// same share of what lies between launches.
    batches: BTreeMap<u32, u32>,
}

impl Bench<'_> {
    fn all(&mut self, forms: &[Form], stage: &mut dyn FnMut(Stage)) -> Result<Vec<Times>> {
        let mut times: Vec<Times> = forms.iter().map(|_| Times::default()).collect();
        let share = self.policy.seconds / VISITS as f64 / forms.len() as f64;
        let visits = if self.policy.verify_only { 1 } else { VISITS.min(self.policy.most) };
        for visit in 0..visits {
            for (form, times) in forms.iter().zip(&mut times) {
                stage(Stage::Measure);
                self.warm_up(form)?;
                if visit == 0 {
                    self.climb(form, times, share, stage)?;
                } else {
                    let groups: Vec<u32> = times.points.keys().copied().collect();
                    for groups in groups {
                        stage(Stage::Measure);
                        self.samples(form, times, groups, share)?;
                    }
                }
            }
        }
        Ok(times)
    }

    /// One, two, four … groups: up to all of them, or until a launch takes a good part of the
    /// form's share of the time.
    fn climb(
        &mut self,
        form: &Form,
        times: &mut Times,
        share: f64,
        stage: &mut dyn FnMut(Stage),
    ) -> Result<()> {
        let most = most_in_line(form.candidate);
        let longest = self.policy.longest_launch.min(share / 8.0);
        let mut groups = 1;
        loop {
            stage(Stage::Measure);
            if !self.batches.contains_key(&groups) {
                let first = self.launch(form, groups, 1)?.map_or(longest, |sample| sample.seconds);
                let batch = self.session.batch(first, BATCH);
                self.batches.insert(groups, batch);
            }
            let fastest = self.samples(form, times, groups, share)?;
            if groups == most || 2.0 * fastest > longest {
                return Ok(());
            }
            groups = groups.saturating_mul(2).min(most);
        }
    }

    fn warm_up(&mut self, form: &Form) -> Result<()> {
        let start = Instant::now();
        for launch in 0.. {
            // A simulated clock never rises.
            let sample = self.launch(form, 1, 1)?;
            let simulated = sample.is_some_and(|sample| sample.clock == Clock::Simulated);
            if simulated || launch > 1 && start.elapsed().as_secs_f64() > WARM_UP / 4.0 {
                break;
            }
        }
        Ok(())
    }

    /// Samples with so many groups; the fastest of them.
    fn samples(&mut self, form: &Form, times: &mut Times, groups: u32, share: f64) -> Result<f64> {
        let start = Instant::now();
        let batch = self.batches.get(&groups).copied().unwrap_or(1);
        let points = times.points.entry(groups).or_default();
        let (mut fastest, mut taken, mut tries) = (f64::INFINITY, 0, 0);
        let [least, most] = LAUNCHES.map(|launches| launches.min(self.policy.most));
        while taken < most && tries < 2 * most {
            if taken >= least && start.elapsed().as_secs_f64() > share / 12.0 {
                break;
            }
            tries += 1;
            if let Some(sample) = self.launch(form, groups, batch)? {
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
    fn move_on(&mut self, form: &Form, groups: u32, recording: &mut Recording) {
        let most = u64::from(most_in_line(form.candidate));
        let parts = (most / u64::from(groups)).max(1);
        for step in &mut recording.steps {
            let Op::Dispatch { buffers, .. } = &mut step.op else { continue };
            self.launches += 1;
            for (slice, buffer) in buffers.iter_mut().zip(&self.case.buffers) {
                let each = slice.len.0 / most;
                let aligned = each.is_multiple_of(self.session.device.info().offset_alignment.0);
                if matches!(buffer.split, Split::Rows { .. }) && parts > 1 && aligned {
                    let len = each * u64::from(groups);
                    slice.offset.0 += self.launches % parts * len;
                    slice.len.0 = len;
                }
            }
        }
    }

    /// A sample of `batch` launches; `None` where its clock is not that of the others.
    fn launch(&mut self, form: &Form, groups: u32, batch: u32) -> Result<Option<Sample>> {
        let mut recording = line_launch(self.case, form.candidate, form.id, groups);
        for _ in 1..batch {
            let step = recording.steps[0].clone();
            recording.steps.push(step);
        }
        if self.session.device.info().kind != DeviceKind::Simulated {
            self.move_on(form, groups, &mut recording);
        }
        let sample = Sample::of_batch(self.session.device.run(&recording)?, batch);
        let (clock, _) = *self.clock.get_or_insert((sample.clock, sample.resolution));
        if sample.clock != clock {
            self.dropped += 1;
            return Ok(None);
        }
        Ok(Some(sample))
    }
}

/// The last form's launch of the most groups stands for the case in tables.
fn largest(
    times: &[Times],
    batches: &BTreeMap<u32, u32>,
    (clock, resolution): (Clock, f64),
    dropped: u32,
) -> Option<Measured> {
    let (groups, samples) = times.last()?.points.last_key_value()?;
    Some(Measured {
        samples: samples.clone(),
        batch: batches.get(groups).copied().unwrap_or(1),
        clock,
        resolution,
        flops: 0.0,
        bytes: 0.0,
        warmup: WARM_UP,
        dropped,
    })
}
