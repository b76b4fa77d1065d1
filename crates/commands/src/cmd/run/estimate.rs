//! How long a run will take, said before it begins.
//!
//! It is added up case by case, and round by round as the session makes them: where a time budget is left,
//! further rounds use it up.

use super::cases::Cases;
use super::multi_device::MultiDeviceCase;
use super::rounds::Rounds;
use gpubench_core::gpu::{DeviceInfo, DeviceKind};
use gpubench_core::workload::CaseKey;
use gpubench_experiments::Policy;
use gpubench_experiments::plan::{Case, estimate};
use gpubench_experiments::registry::seconds;
use std::collections::BTreeSet;

/// Seconds of what is measured one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Of each device, in the share's order.
    pub devices: Vec<f64>,
    /// Of what is measured over several devices.
    pub multi_device: f64,
}

/// What the time of a run depends on, besides its cases.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Seconds of each device, where they are limited.
    pub total: Option<f64>,
    /// Its rounds.
    pub rounds: Rounds,
    /// Most seconds of sampling for one case.
    pub max_seconds: f64,
    /// Whether results are checked only.
    pub verify_only: bool,
    /// Cores of the host.
    pub cores: u32,
    /// Seconds of a pause before each case but the first, at most.
    pub pause: f64,
}

/// Seconds to start a worker and close its device, about.
const WORKER: f64 = 0.3;
/// Seconds that a simulated case takes the host, and a worker that simulates, about.
const SIMULATED: f64 = 0.007;
const SIMULATING: f64 = 0.02;
/// How many times as long as at the best that such a device could reach a launch takes: each is as likely, since
/// nobody knows before it ran. In the middle eight tenths of the shipped kernels it was 2 to 71 times on PoCL and 80 to
/// 1300 times on lavapipe (docs/results/2026-11-24-verdicts.md).
const BELOW_BEST: [f64; 6] = [1.8, 5.6, 18.0, 56.0, 180.0, 560.0];

/// Seconds of the whole run: its machines at the same time.
pub fn total(machines: &[Estimate]) -> f64 {
    machines.iter().map(Estimate::total).fold(0.0, f64::max)
}

impl Estimate {
    /// Of those of `cases` that are on a machine's `own` devices.
    pub fn new(
        (devices, own): (&[DeviceInfo], &[usize]),
        cases: &[Cases],
        multi_device_cases: &[MultiDeviceCase],
        extent: &Extent,
    ) -> Self {
        // What is expected of a case is computed by the first device that runs it; where that takes long, for all.
        let mut references = BTreeSet::new();
        let mut each = vec![];
        for &device in own {
            let cases = &cases[device].run;
            each.push(of_device(&devices[device], cases, extent, &mut references));
        }
        let theirs = multi_device_cases.iter().filter(|case| own.contains(&case.first()));
        let longest = theirs.map(|case| {
            let own = seconds(&case.cases[0]).unwrap_or(0.0);
            f64::from(extent.rounds.planned) * (WORKER + own.max(2.0 * extent.max_seconds))
        });
        let multi_device = longest.sum::<f64>().min(extent.total.unwrap_or(f64::INFINITY));
        Self { devices: each, multi_device }
    }

    /// Seconds of all: one device after the other.
    fn total(&self) -> f64 {
        self.devices.iter().sum::<f64>() + self.multi_device
    }
}

fn of_device<'a>(
    device: &DeviceInfo,
    cases: &'a [Case],
    extent: &Extent,
    references: &mut BTreeSet<&'a CaseKey>,
) -> f64 {
    if cases.is_empty() {
        return 0.0;
    }
    let simulated = device.kind == DeviceKind::Simulated;
    let (mut spent, mut each) = (0.0, if simulated { SIMULATING } else { WORKER });
    let pauses = |cases: usize| if simulated { 0.0 } else { extent.pause * cases as f64 };
    each += pauses(cases.len());
    // Before the first case there is none.
    spent -= pauses(1);
    for case in cases {
        let estimate = estimate(case, device, extent.cores);
        if references.insert(&case.key) {
            spent += estimate.reference;
        }
        let best = estimate.measure / 15.0;
        each += match (simulated, extent.verify_only) {
            (true, _) => SIMULATED + estimate.prepare,
            (false, true) => estimate.prepare + estimate.build + likely(|times| times * best),
            (false, false) => {
                let own = seconds(case).unwrap_or(0.0);
                // Written and read twice when it is verified.
                2.0 * estimate.prepare
                    + estimate.build
                    + own.max(likely(|times| measuring(times * best, extent.max_seconds)))
            }
        };
    }
    for round in extent.rounds.all() {
        let time = extent.total.map(|total| (total - spent, total));
        if extent.rounds.is_worth(round, device.kind, time) {
            spent += each;
        }
    }
    spent.max(0.0).min(extent.total.unwrap_or(f64::INFINITY))
}

/// The mean of what follows from how far a launch is below the best.
fn likely(seconds: impl Fn(f64) -> f64) -> f64 {
    BELOW_BEST.into_iter().map(seconds).sum::<f64>() / BELOW_BEST.len() as f64
}

/// Seconds of warm-up and samples of launches this long: most cases end at the largest number of
/// samples, or when their time is used up.
fn measuring(launch: f64, max_seconds: f64) -> f64 {
    let policy = Policy::default();
    let sampling = (launch * policy.max_samples as f64).max(0.1).min(max_seconds);
    sampling + sampling.min(policy.warmup).min(0.2 * max_seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample::device;
    use gpubench_experiments::plan::sample::case;

    /// The estimate for three cases on a GPU with so many seconds.
    fn estimated(total: Option<f64>, planned: u32, may_follow: bool) -> f64 {
        with_pauses(0.0, total, Rounds { planned, may_follow }, "opencl")
    }

    fn with_pauses(pause: f64, total: Option<f64>, rounds: Rounds, backend: &str) -> f64 {
        let max_seconds = 0.5;
        let extent = Extent { total, rounds, max_seconds, verify_only: false, cores: 2, pause };
        let run = [10, 20, 30].map(|n| case("memory", "copy", n)).to_vec();
        let cases = [Cases { run, skipped: vec![] }];
        let mut device = device(backend);
        if backend == "sim" {
            device.kind = DeviceKind::Simulated;
        }
        Estimate::new((&[device], &[0]), &cases, &[], &extent).total()
    }

    #[test]
    fn pauses_are_before_all_cases_but_the_first() {
        let rounds = Rounds { planned: 2, may_follow: false };
        let [without, with] = [0.0, 30.0].map(|pause| with_pauses(pause, None, rounds, "opencl"));
        assert!((with - without - 5.0 * 30.0).abs() < 1e-9, "{with} {without}");
        assert_eq!(with_pauses(30.0, Some(60.0), rounds, "opencl"), 60.0, "no longer than it may");
        let [without, with] = [0.0, 30.0].map(|pause| with_pauses(pause, None, rounds, "sim"));
        assert_eq!(with, without, "a simulated device's pauses take no time");
    }

    #[test]
    fn machines_take_as_long_as_the_longest_and_devices_of_one_their_sum() {
        let rounds = Rounds { planned: 1, may_follow: false };
        let extent = Extent {
            total: None,
            rounds,
            max_seconds: 0.5,
            verify_only: false,
            cores: 2,
            pause: 0.0,
        };
        let devices = ["opencl"; 3].map(device);
        let run = |count| Cases {
            run: (0..count).map(|i| case("memory", "copy", 10 + i)).collect(),
            skipped: vec![],
        };
        let cases = [1, 2, 4].map(run);
        let total = |shares: &[Vec<usize>]| {
            let of = |own: &Vec<usize>| Estimate::new((&devices, own), &cases, &[], &extent);
            total(&shares.iter().map(of).collect::<Vec<_>>())
        };
        let [first, second, third] = [0, 1, 2].map(|device| total(&[vec![device]]));
        assert!(first < second && second < third, "{first} {second} {third}");
        assert_eq!(total(&[vec![0], vec![1], vec![2]]), third);
        let turns = total(&[vec![0, 2], vec![1]]);
        assert!(third < turns && turns <= first + third, "{turns}");
    }

    #[test]
    fn further_rounds_are_counted_as_the_session_makes_them() {
        let three = estimated(None, 3, true);
        assert_eq!(estimated(Some(2.5 * three), 3, true), 2.5 * three, "the budget is used up");
        assert_eq!(estimated(Some(2.5 * three), 3, false), three, "exactly three");
        assert_eq!(estimated(Some(0.5 * three), 3, true), 0.5 * three);
        let longest = estimated(None, 23, false);
        assert_eq!(estimated(Some(1e6), 3, true), longest, "no more than twenty follow");
        let next_to_nothing_left = 1.02 * three;
        assert_eq!(estimated(Some(next_to_nothing_left), 3, true), three, "not worth a round");
    }

    /// Six factors, of which 200 samples of half a millisecond each take from 0.18 s to all of a second.
    #[test]
    fn how_far_a_launch_is_below_the_best_is_unknown() {
        let all = likely(|times| measuring(times * 5e-4, 1.0));
        // 1.8 and 5.6 times: 0.18 s and 0.56 s, and as long to warm up, but 0.2 s at most; of the others 1.2 s.
        assert!((all - (0.36 + 0.76 + 4.0 * 1.2) / 6.0).abs() < 1e-9, "{all}");
        assert_eq!(likely(|_| 7.0), 7.0);
    }

    #[test]
    fn a_case_is_measured_for_no_longer_than_its_time_and_the_warm_up() {
        assert!((measuring(1.0, 5.0) - 6.0).abs() < 1e-9);
        assert!((measuring(1e-6, 5.0) - 0.2).abs() < 1e-9);
        assert!(measuring(1e-3, 5.0) < measuring(1e-2, 5.0));
        assert!(
            (measuring(1.0, 0.02) - 0.024).abs() < 1e-9,
            "a suite may give a case a millisecond"
        );
    }
}
