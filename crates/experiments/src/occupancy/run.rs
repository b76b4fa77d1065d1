//! Time of one launch against its number of groups: where it steps, the device is full.
//!
//! Each launch covers the first groups of the workload's grid, so that its largest size
//! bounds the sweep. Times are the device's where it has timestamps, else the host's.

use super::analysis::OccupancySearch;
use crate::autotune::{KERNEL, build_first_variant};
use crate::check::Check;
use crate::expected::expected;
use crate::loops::Sample;
use crate::occupancy::data::OccupancySweep;
use crate::plan::{Candidate, Case, line_launch, max_groups_in_line};
use crate::{Bench, Stage, memory};
use gpubench_core::error::Result;
use gpubench_core::gpu::{Clock, DeviceInfo, DeviceKind, HOST_RESOLUTION, Language};
use gpubench_core::record::{Detail, Measured};
use gpubench_device::Device;
use std::collections::BTreeMap;
use std::time::Instant;

/// Launches of each number of groups and visit.
const LAUNCHES: usize = 5;
/// Numbers of groups that a sweep visits, about: shares the case's time among them.
const VISITS: f64 = 40.0;
/// Seconds of launches before the first that counts, so that clocks have risen.
const WARM_UP: f64 = 0.1;

/// Seconds that a group takes at least on a processor: an operating system takes up to a tick of
/// its scheduler (4 ms) to give a second thread a core of its own, so that two shorter groups may
/// share one.
const TICK: f64 = 4e-3;
/// The parameter to which a group's time is proportional, where the kernel has it.
const LENGTH: &str = "passes";

/// Measures `case` with `bench`.
pub(super) fn measure(case: &Case, bench: &mut Bench) -> Result<()> {
    bench.enter(Stage::Prepare);
    let initial = memory::set_up(bench.device(), case)?;
    let mut candidate = build_first_variant(case, bench)?.clone();
    bench.enter(Stage::Measure);
    let policy = bench.policy;
    if may_lengthen(bench.device().info()) && !policy.verify_only {
        lengthen(bench.device(), case, &mut candidate)?;
    }
    let candidate = &candidate;
    let mut sweep = Sweep { bench: bench.lend(), case, candidate, clock: None, dropped: 0 };
    let max_groups = if policy.verify_only { 2 } else { max_groups_in_line(candidate) };
    let points = sweep.run(max_groups)?;
    let (clock, dropped) = (sweep.clock.unwrap_or((Clock::Host, HOST_RESOLUTION)), sweep.dropped);
    bench.enter(Stage::Verify);
    let wanted = expected(case, candidate, || initial.clone(), policy)?;
    let check = Check { case, initial: &initial, wanted: wanted.as_ref() };
    let largest = points.keys().last().copied().unwrap_or(1);
    let launch = line_launch(case, candidate, KERNEL, largest);
    if !check.part(bench, &launch, largest)? || policy.verify_only {
        return Ok(());
    }
    bench.measurement.wall.busy += points.values().flatten().sum::<f64>();
    bench.measurement.measured = Some(one_group(&points, clock, dropped));
    let kernel = bench.measurement.kernel.as_ref();
    bench.measurement.detail = Some(Detail::new(&OccupancySweep {
        clock: clock.0,
        group_size: u32::try_from(candidate.kernel.group_size()).unwrap_or(u32::MAX),
        local_bytes: kernel.and_then(|kernel| kernel.report.local_bytes).unwrap_or(0),
        points: points.into_iter().collect(),
    }));
    Ok(())
}

/// Whether groups may last longer than the suite says. Not over Vulkan: lavapipe leaves all loops
/// of an invocation after 65,535 turns together, of which the shipped occupancy sweeps take 65,000.
fn may_lengthen(info: &DeviceInfo) -> bool {
    info.kind == DeviceKind::Cpu && info.language == Language::Opencl
}

/// Makes a group last at least [`TICK`].
fn lengthen(device: &mut dyn Device, case: &Case, candidate: &mut Candidate) -> Result<()> {
    let recording = line_launch(case, candidate, KERNEL, 1);
    let mut fastest = f64::INFINITY;
    for _ in 0..LAUNCHES {
        fastest = fastest.min(Sample::of_batch(device.run(&recording)?, 1).seconds);
    }
    let factor = (TICK / fastest).ceil();
    if factor > 1.0 && factor.is_finite() {
        let length = candidate.params.iter_mut().filter(|(name, ..)| name == LENGTH);
        length.for_each(|(_, passes, _)| *passes *= factor);
    }
    Ok(())
}

/// Seconds of each launch by number of groups.
type Points = BTreeMap<u32, Vec<f64>>;

struct Sweep<'a> {
    bench: Bench<'a>,
    case: &'a Case,
    candidate: &'a Candidate,
    /// The clock of the samples and its resolution.
    clock: Option<(Clock, f64)>,
    /// Samples of another clock than the first one's.
    dropped: u32,
}

impl Sweep<'_> {
    /// Measures up to `max_groups` groups, as far as launches stay affordable.
    fn run(&mut self, max_groups: u32) -> Result<Points> {
        self.warm_up()?;
        let longest = self.bench.policy.longest_launch.min(self.bench.policy.seconds);
        let mut search = OccupancySearch::new(max_groups);
        let mut points = Points::new();
        while let Some(groups) = search.next() {
            self.bench.enter(Stage::Measure);
            let samples = self.samples(groups)?;
            let fastest = samples.iter().copied().fold(f64::INFINITY, f64::min);
            if 2.0 * fastest > longest {
                search.limit_groups(groups);
            }
            search.note(groups, fastest);
            points.entry(groups).or_default().extend(samples);
        }
        Ok(points)
    }

    fn warm_up(&mut self) -> Result<()> {
        let start = Instant::now();
        for launch in 0.. {
            // A simulated clock never rises.
            let simulated = self.launch(1)?.clock == Clock::Simulated;
            if simulated || launch > 2 && start.elapsed().as_secs_f64() > WARM_UP {
                break;
            }
        }
        Ok(())
    }

    fn samples(&mut self, groups: u32) -> Result<Vec<f64>> {
        let start = Instant::now();
        let mut samples = vec![];
        let mut tries = 0;
        // At least two, so that one disturbance is not the only word.
        while samples.len() < LAUNCHES && tries < 2 * LAUNCHES {
            let late = start.elapsed().as_secs_f64() > self.bench.policy.seconds / VISITS;
            if samples.len() >= 2 && late {
                break;
            }
            tries += 1;
            let sample = self.launch(groups)?;
            let (clock, _) = *self.clock.get_or_insert((sample.clock, sample.resolution));
            if sample.clock == clock {
                samples.push(sample.seconds);
            } else {
                self.dropped += 1;
            }
        }
        Ok(samples)
    }

    fn launch(&mut self, groups: u32) -> Result<Sample> {
        let recording = line_launch(self.case, self.candidate, KERNEL, groups);
        Ok(Sample::of_batch(self.bench.device().run(&recording)?, 1))
    }
}

/// A launch of one group stands for the case in tables: the height of the first step.
fn one_group(points: &Points, (clock, resolution): (Clock, f64), dropped: u32) -> Measured {
    let samples = points.values().next().cloned().unwrap_or_default();
    Measured { warmup: WARM_UP, dropped, ..Measured::of(samples, clock, resolution) }
}
