//! Simulated runs whose truth is known.

use gpubench_analysis::{CaseResult, DeviceCases, DeviceSpeed};
use gpubench_core::record::{Outcome, sample};
use gpubench_core::workload::CaseKey;
use gpubench_stats::median;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Samples a round, each with 1 % noise.
pub const SAMPLES: usize = 15;
const WITHIN: f64 = 0.01;

/// How rounds scatter from case to case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scatter {
    /// All alike.
    Alike,
    /// A fifth of the cases five times as much as the rest.
    Fifth,
    /// Log-normally, with a factor of 2 for one deviation.
    Spread,
    /// All alike, half of the variance common to all cases of a round.
    Common,
    /// Log-normally, and one round of seven takes 1.2 to 1.8 times as long.
    Disturbed,
}

impl Scatter {
    /// By what one of these rounds takes longer, in the logarithm.
    pub fn disturbance(self, rng: &mut Pcg64Mcg) -> f64 {
        match self {
            Self::Disturbed if rng.random_ratio(1, 7) => rng.random_range(1.2..1.8f64).ln(),
            _ => 0.0,
        }
    }
}

/// What runs are like.
#[derive(Clone, Copy, Debug)]
pub struct World {
    pub cases: usize,
    pub rounds: usize,
    /// Deviation between rounds, in the logarithm.
    pub between: f64,
    pub scatter: Scatter,
}

/// Both runs of a machine, in which the first `slowed` cases then take 5 % longer; and which cases
/// scatter five times as much.
pub struct Pair {
    pub old: DeviceCases,
    pub new: DeviceCases,
    pub restless: Vec<bool>,
}

pub fn rng(seed: u64) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed)
}

pub fn pair(rng: &mut Pcg64Mcg, world: World, slowed: usize) -> Pair {
    let (deviations, restless) = deviations(rng, world);
    let truths = |slowed| move |i: usize| if i < slowed { 1.05 } else { 1.0 };
    let old = run(rng, world, &deviations, truths(0));
    let new = run(rng, world, &deviations, truths(slowed));
    Pair { old, new, restless }
}

/// How much the rounds of each case scatter, and which cases do so five times as much as the rest: every
/// fifth, so that one of five that are slowed is among them.
pub fn deviations(rng: &mut Pcg64Mcg, world: World) -> (Vec<f64>, Vec<bool>) {
    let first = rng.random_range(0..5);
    let is_restless = |i: usize| world.scatter == Scatter::Fifth && i % 5 == first;
    let restless: Vec<bool> = (0..world.cases).map(is_restless).collect();
    let of = |restless: &bool| match world.scatter {
        Scatter::Spread | Scatter::Disturbed => world.between * (2f64.ln() * normal(rng)).exp(),
        _ if *restless => 5.0 * world.between,
        _ => world.between,
    };
    (restless.iter().map(of).collect(), restless)
}

fn run(
    rng: &mut Pcg64Mcg,
    world: World,
    deviations: &[f64],
    truth: impl Fn(usize) -> f64,
) -> DeviceCases {
    let share = if world.scatter == Scatter::Common { 0.5f64 } else { 0.0 };
    let common: Vec<f64> = (0..world.rounds).map(|_| share.sqrt() * normal(rng)).collect();
    let cases = deviations.iter().enumerate().map(|(i, deviation)| {
        let rounds = common.iter().map(|common| {
            let own = (1.0 - share).sqrt() * normal(rng);
            let disturbance = world.scatter.disturbance(rng);
            let round = truth(i) * (deviation * (common + own) + disturbance).exp();
            let mut samples = samples(rng, round);
            samples.sort_by(f64::total_cmp);
            median(&samples)
        });
        (key(i), result(rounds.collect()))
    });
    let cases = cases.collect();
    DeviceCases { device: sample::device("sim"), cases, speed: DeviceSpeed::default() }
}

/// A round's samples around its true value.
pub fn samples(rng: &mut Pcg64Mcg, round: f64) -> Vec<f64> {
    (0..SAMPLES).map(|_| round * (WITHIN * normal(rng)).exp()).collect()
}

pub fn result(medians: Vec<f64>) -> CaseResult {
    CaseResult {
        outcome: Outcome::Ok,
        rounds: (0..).take(medians.len()).collect(),
        medians,
        family: "compute".into(),
        flops: 1.0,
        bytes: 1.0,
        kernel_hash: None,
        bounds_checks: None,
        flags: vec![],
        grade: None,
    }
}

pub fn key(i: usize) -> CaseKey {
    sample::key(&format!("case{i:03}"), 1)
}

/// Box and Muller's normal deviate.
pub fn normal(rng: &mut Pcg64Mcg) -> f64 {
    let (u, v): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}
