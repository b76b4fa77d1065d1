//! Whether one launch takes longer than it may, found out from parts of its grid.
//!
//! The first part is 1/1024 of the grid, the next 1/128. Two parts tell whether the time grows with
//! the grid at all: the work-items of a grid-stride loop share all of the work however few they are,
//! so that a part of the grid takes as long as the whole, or longer. Where the time does not grow,
//! the part is believed.
//!
//! What one kernel of a program takes says nothing of its others: each is found out about at its first
//! launch, and the launches before it are run, since it may read what they write.

use super::session::span;
use crate::Policy;
use crate::plan::{
    Candidate, Case, Pass, max_groups_in_line, partial_launch, program_kernel, recording_of,
};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::KernelId;
use gpubench_core::reason::Reason;
use gpubench_device::Device;

/// A launch this long, in seconds, is mostly the kernel's own time; shorter ones are mostly the
/// cost of launching.
pub const KERNEL_DOMINATED_SECONDS: f64 = 2e-3;

/// The first part is the grid divided by this.
const FIRST: u32 = 1024;
/// The last part is, where none takes long: the grid divided by this.
const LAST: u32 = 16;
/// So many times larger is each part than the one before it, at most.
const STEP: f64 = 8.0;
/// A part that takes less than so many times the seconds of the one before, of at most half its
/// groups, does not show that the time grows with the grid.
const GROWS: f64 = 1.25;

/// A part of the first launch's grid, and what it took.
#[derive(Clone, Copy, Debug)]
struct Part {
    share: f64,
    seconds: f64,
}

impl Part {
    /// Seconds of the whole, were its time in proportion to the grid.
    fn in_proportion(self) -> f64 {
        self.seconds / self.share
    }

    /// Seconds of the whole, were its time a straight line through this and the smaller part `before`.
    fn in_line(self, before: Self) -> f64 {
        let slope = (self.seconds - before.seconds) / (self.share - before.share);
        self.seconds + slope.max(0.0) * (1.0 - self.share)
    }
}

/// Runs growing parts before the whole: a launch that would take longer than the policy affords is
/// refused before it can block the device (or trip its watchdog). `kernel` is the number that the candidate was
/// built under; a program is under its case's.
///
/// # Errors
/// `OverBudget` where it would; whatever running a part says.
pub(super) fn check_duration(
    device: &mut dyn Device,
    case: &Case,
    (candidate, kernel): (&Candidate, KernelId),
    policy: &Policy,
) -> Result<()> {
    match candidate.is_program() {
        true => check_program(device, case, candidate, policy),
        false => check_grid(device, case, (candidate, kernel), policy),
    }
}

/// Runs a program in growing blocks of its passes. One whose kernel was not yet launched with half as many
/// groups is a block by itself, behind parts of its grid.
fn check_program(
    device: &mut dyn Device,
    case: &Case,
    candidate: &Candidate,
    policy: &Policy,
) -> Result<()> {
    let (affordable, passes) = (policy.affordable_launch(), candidate.passes());
    let groups = |pass: &Pass| pass.groups.map(f64::from).iter().product::<f64>();
    let mut largest: Vec<f64> = candidate.kernels().map(|_| 0.0).collect();
    let (mut done, mut seconds) = (0, 0.0);
    while let Some(next) = passes.get(done) {
        let is_known = |pass: &&Pass| groups(pass) <= 2.0 * largest[pass.kernel as usize];
        let known = passes[done..].iter().take(done).take_while(is_known).count();
        if known == 0 {
            let kernel = program_kernel(case.kernel(), next.kernel);
            check_grid(device, case, (&alone(candidate, next), kernel), policy)?;
            largest[next.kernel as usize] = groups(next);
        }
        let block = &passes[done..done + known.max(1)];
        seconds += span(&device.run(&recording_of(case, case.kernel(), block))?);
        done += block.len();
        if seconds > affordable {
            let needed = seconds * passes.len() as f64 / done as f64;
            return Err(over_budget(needed, affordable));
        }
    }
    Ok(())
}

/// A pass of a program as a candidate of its own.
fn alone(candidate: &Candidate, pass: &Pass) -> Candidate {
    let Pass { groups, params, values, order, .. } = pass.clone();
    let later = vec![];
    Candidate { groups, params, values, order, later, ..candidate.clone() }
}

/// Runs growing parts of the first launch's grid before the whole; `kernel` is the number of its kernel.
fn check_grid(
    device: &mut dyn Device,
    case: &Case,
    (candidate, kernel): (&Candidate, KernelId),
    policy: &Policy,
) -> Result<()> {
    let affordable = policy.affordable_launch();
    let longest = affordable.max(policy.longest_launch);
    // Several passes take their times one after the other, whether or not each grows with its grid.
    let passes = candidate.all_groups() / candidate.groups.map(f64::from).iter().product::<f64>();
    let line = max_groups_in_line(candidate);
    let (mut groups, enough) = (line.div_ceil(FIRST), (line / LAST).max(1));
    let mut before: Option<Part> = None;
    loop {
        let recording = partial_launch(case, candidate, kernel, groups);
        let share = f64::from(groups) / f64::from(line);
        let mut part = Part { share, seconds: span(&device.run(&recording)?) };
        let is_fine = |part: Part| {
            part.seconds <= KERNEL_DOMINATED_SECONDS || passes * part.in_proportion() <= affordable
        };
        if !is_fine(part) {
            // It may have paid for what the driver put off, such as compiling: once more.
            part.seconds = part.seconds.min(span(&device.run(&recording)?));
        }
        let step = if is_fine(part) {
            if groups >= enough {
                return Ok(());
            }
            f64::from(enough) / f64::from(groups)
        } else {
            if let Some(needed) = too_long(before, part, [affordable, longest], passes) {
                return Err(over_budget(needed, affordable));
            }
            // Even if its time grows with the grid after all, the next part is bearable.
            (longest / part.seconds).max(2.0)
        };
        before = Some(part);
        let next = f64::from(groups) * step.min(STEP);
        groups = (next as u32).clamp(groups + 1, line);
    }
}

/// Seconds that the whole needs, where they are too many; `None` where another part must tell.
/// `bounds` are the seconds that are affordable, and those that no part may take.
fn too_long(before: Option<Part>, part: Part, bounds: [f64; 2], passes: f64) -> Option<f64> {
    let [affordable, longest] = bounds;
    let in_proportion = passes * part.in_proportion();
    let Some(before) = before else {
        // Twice as many groups are the least that would tell more.
        let alone = part.share >= 1.0 || 2.0 * part.seconds > longest;
        return alone.then_some(in_proportion);
    };
    if part.share >= 1.0 {
        return Some(in_proportion);
    }
    let in_line = passes * part.in_line(before);
    let grows = part.seconds > GROWS * before.seconds;
    // A single pass that does not grow is believed; many of them may be too long all the same.
    let known = grows || passes * part.seconds > affordable;
    (known && in_line > affordable).then_some(in_line)
}

fn over_budget(needed: f64, available: f64) -> Error {
    Error::OverBudget(Reason::OverBudget {
        what: "one launch".into(),
        needed,
        available,
        option: Some("--longest-launch SECONDS".into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Limits, Planned};
    use gpubench_core::gpu::{Constant, DeviceInfo};
    use gpubench_device::sim::{Description, Launched, SimDevice};
    use std::sync::{Arc, Mutex};

    /// The K40c, whose kernels take `seconds`; what each launch took.
    fn device(
        seconds: impl Fn(&Launched<'_>) -> f64 + Send + Sync + 'static,
    ) -> (SimDevice, Arc<Mutex<Vec<f64>>>) {
        let text = include_str!("../../device/src/sim/devices/tesla-k40c.yaml");
        let gpu = Description::parse("k40c.yaml", text).unwrap();
        let launched = Arc::new(Mutex::new(vec![]));
        let all = launched.clone();
        let cost_model = move |launch: &Launched<'_>| {
            let took = seconds(launch);
            all.lock().unwrap().push(took);
            Some(took)
        };
        (SimDevice::new(gpu, 0, 0).with_cost_model(Arc::new(cost_model)), launched)
    }

    fn number_of_groups(launch: &Launched<'_>) -> f64 {
        launch.groups.map(f64::from).iter().product()
    }

    /// The smallest launch of an otherwise empty kernel, as one of many groups and passes.
    fn case(info: &DeviceInfo, groups: u32, passes: usize) -> Case {
        let suite = crate::load("micro").unwrap();
        let limits = Limits { memory: None, seconds: 5.0, seed: 1, cores: 1, host_memory: None };
        let mut cases =
            crate::plan(&suite, info, &limits).into_iter().filter_map(|planned| match planned {
                Planned::Case(case) if !case.candidates.is_empty() => Some(*case),
                _ => None,
            });
        let mut case = cases.next().unwrap();
        case.candidates.truncate(1);
        let candidate = &mut case.candidates[0];
        candidate.groups = [groups, 1, 1];
        let pass = candidate.passes().remove(0);
        candidate.later = vec![pass; passes - 1];
        case
    }

    /// The seconds that a launch would need where it is refused, and the longest part that was run.
    fn rejected(
        groups: u32,
        passes: usize,
        policy: &Policy,
        seconds: impl Fn(f64) -> f64 + Send + Sync + 'static,
    ) -> (Option<f64>, f64) {
        let (device, launched) = device(move |launch| seconds(number_of_groups(launch)));
        let case = case(device.info(), groups, passes);
        rejected_case(device, &launched, &case, policy)
    }

    fn rejected_case(
        mut device: SimDevice,
        launched: &Mutex<Vec<f64>>,
        case: &Case,
        policy: &Policy,
    ) -> (Option<f64>, f64) {
        crate::memory::allocate(&mut device, case).unwrap();
        let candidate = &case.candidates[0];
        crate::autotune::build_on(&mut device, case.kernel(), candidate).unwrap();
        let needed = match check_duration(&mut device, case, (candidate, case.kernel()), policy) {
            Ok(()) => None,
            Err(Error::OverBudget(Reason::OverBudget { needed, available, option, .. })) => {
                assert_eq!(available, policy.affordable_launch());
                assert_eq!(option.as_deref(), Some("--longest-launch SECONDS"));
                Some(needed)
            }
            Err(error) => panic!("{error}"),
        };
        let longest = launched.lock().unwrap().iter().copied().fold(0.0, f64::max);
        (needed, longest)
    }

    #[track_caller]
    fn assert_near(found: Option<f64>, expected: f64) {
        let found = found.expect("it is refused");
        assert!((found / expected - 1.0).abs() < 0.1, "{found}, not {expected}");
    }

    const GROUPS: u32 = 8192;

    #[test]
    fn a_time_that_grows_with_the_grid_is_extrapolated() {
        let policy = Policy::default();
        let (needed, longest) = rejected(GROUPS, 1, &policy, |groups| groups * 4.0 / 8192.0);
        assert_near(needed, 4.0);
        assert!(longest < 0.04, "the second part is enough: {longest}");
        let (needed, _) = rejected(GROUPS, 1, &policy, |groups| groups * 0.5 / 8192.0);
        assert_eq!(needed, None);
        // With a cost of its own, which does not grow, the launch is affordable.
        let (needed, _) = rejected(GROUPS, 1, &policy, |groups| 0.1 + groups * 0.4 / 8192.0);
        assert_eq!(needed, None);
    }

    #[test]
    fn a_grid_stride_loop_takes_what_a_part_takes() {
        let policy = Policy::default();
        assert_eq!(rejected(GROUPS, 1, &policy, |_| 5.85e-3).0, None);
        // Eight groups cannot fill the device, so that these take longer than all.
        let falling = |groups: f64| 5.85e-3 * (240.0 / groups).max(1.0);
        assert_eq!(rejected(GROUPS, 1, &policy, falling).0, None);
        // One that is too long is refused for what it takes, not for a thousand times as much.
        let (needed, longest) = rejected(GROUPS, 1, &policy, |_| 0.9);
        assert_near(needed, 0.9);
        assert!(longest <= 0.91);
        // Each of many passes takes its own time.
        let (needed, _) = rejected(GROUPS, 1000, &policy, |_| 5.85e-3);
        assert_near(needed, 5.85);
    }

    /// Parts that leave most of a large device idle take the same time, too.
    #[test]
    fn a_large_device_that_the_parts_do_not_fill_is_filled_before_the_whole() {
        let waves = |seconds: f64| move |groups: f64| seconds * (groups / 960.0).ceil();
        let policy = Policy::default();
        let (needed, longest) = rejected(96_000, 1, &policy, waves(0.05));
        assert_near(needed, 5.0);
        assert!(longest <= policy.longest_launch, "{longest}");
        assert_eq!(rejected(96_000, 1, &policy, waves(0.005)).0, None);
    }

    #[test]
    fn no_part_is_longer_than_a_launch_may_be() {
        let policy = Policy::default();
        // Nothing can be compared where already the first part is nearly too long.
        let (needed, longest) = rejected(GROUPS, 1, &policy, |groups| groups * 1.2 / 8.0);
        assert_near(needed, 1.2 * 1024.0);
        assert!(longest < 1.3, "{longest}");
        let (needed, longest) = rejected(GROUPS, 1, &policy, |groups| groups * 0.9 / 8.0);
        assert_near(needed, 0.9 * 1024.0);
        assert!(longest <= policy.longest_launch, "{longest}");
        let (needed, _) = rejected(1, 1, &policy, |_| 1.0);
        assert_near(needed, 1.0);
    }

    #[test]
    fn what_the_user_allows_is_launched() {
        let linear = |groups: f64| groups * 4.0 / 8192.0;
        let allowed = |seconds| Policy { allowed_launch: Some(seconds), ..Policy::default() };
        assert_near(rejected(GROUPS, 1, &allowed(3.0), linear).0, 4.0);
        assert_eq!(rejected(GROUPS, 1, &allowed(5.0), linear).0, None);
        let checked = Policy { verify_only: true, ..allowed(5.0) };
        assert_eq!(rejected(GROUPS, 1, &checked, linear).0, None);
    }

    /// As [`rejected`], of a program that launches one group of its first kernel and then `groups` of its
    /// second, over and over; `seconds` are those of either.
    fn rejected_program(
        groups: u32,
        repeats: usize,
        seconds: impl Fn(bool, f64) -> f64 + Send + Sync + 'static,
    ) -> (Option<f64>, f64) {
        let is_second =
            |launch: &Launched<'_>| launch.kernel.constants.last().unwrap().0 == "SECOND";
        let (device, launched) =
            device(move |launch| seconds(is_second(launch), number_of_groups(launch)));
        let mut case = case(device.info(), 1, 1);
        let candidate = &mut case.candidates[0];
        let mut second = candidate.kernel.clone();
        second.constants.push(("SECOND".into(), Constant::Int(1)));
        candidate.others = vec![second];
        let first = candidate.passes().remove(0);
        let second = Pass { kernel: 1, groups: [groups, 1, 1], ..first.clone() };
        candidate.later = std::iter::repeat_n([second, first], repeats).flatten().collect();
        rejected_case(device, &launched, &case, &Policy::default())
    }

    #[test]
    fn every_kernel_of_a_program_is_found_out_about() {
        let (short, long) = (1e-4, 3e-3);
        // A first kernel of a single slow group says nothing of a second one of many quick ones.
        let slow_group = move |second: bool, _: f64| if second { short } else { long };
        assert_eq!(rejected_program(GROUPS, 100, slow_group).0, None);
        assert_near(rejected_program(GROUPS, 400, slow_group).0, 401.0 * long + 400.0 * short);
        // Nor does a quick first kernel of a second one that would block the device.
        let (needed, longest) = rejected_program(GROUPS, 2, move |second, groups| match second {
            true => groups * 4.0 / 8192.0,
            false => short,
        });
        assert_near(needed, 4.0);
        assert!(longest < 0.04, "{longest}");
    }
}
