//! One workload on several devices at once: a work that is dealt in blocks, the first by what each
//! device did alone, every later one by what those before showed.
//!
//! Ten blocks are a rehearsal: they tell how soon devices are in balance, and whether they gain together.
//! If so, the work is done in turn by the fastest device alone and by all of them, each time anew, so
//! that what else the machine does falls on both; for as long as the loss that this may bring fits
//! its budget. The rest is left to the fastest device.

mod course;
mod deal;
mod dealer;

use super::chunks::set_up;
use super::expected::expected;
use super::{Finding, Policy, Stage, Team, memory};
use course::Course;
use dealer::{Dealer, Wanted};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::Clock;
use gpubench_core::record::{Detail, Split, Work};
use gpubench_model::load_balance::Balancer;
use gpubench_model::loss_budget::{LOSS, LossBudget, best_gain, worth_trying};
use gpubench_plan::{Case, dealt};
use gpubench_reference::Data;
use gpubench_stats::{Decision, Sampling, median_of};

/// Of the time, the devices alone get this share; what they do in turn gets the rest.
const ALONE_SHARE: f64 = 0.2;
/// Samples of a device alone, at least, and works in turn: six tell an interval with 95 % confidence.
const LEAST: usize = 6;
/// Seconds of a work on the fastest device alone, at least: 3 % of a shorter one buys no block that
/// could be told from the cost of starting it.
const LEAST_SECONDS: f64 = 1.0;
/// The same on simulated devices, where starting costs nothing that is not described, and every second
/// costs the host many.
const LEAST_SIMULATED: f64 = 0.1;
/// Work-groups of every device that the first block of a work holds, at least: with fewer it could
/// not be shared as the devices' speeds change.
const GROUPS: f64 = 2.0;
/// Times as long as the least that a work may take for that.
const LONGEST: f64 = 4.0;
/// Blocks of a rehearsal.
const BLOCKS: usize = 10;

/// Measures the team into `finding`.
pub(super) fn measure(
    team: &mut Team,
    cases: &[Case],
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    finding: &mut Finding,
) -> Result<()> {
    cases.iter().try_for_each(|case| dealt(case).map(drop))?;
    stage(Stage::Prepare);
    let initial = memory::initial(&cases[0]);
    let (clock, devices) = (team.clock(), team.names());
    let (mut chosen, mut host_memory) = (vec![], vec![]);
    for ((member, case), name) in team.members.iter_mut().zip(cases).zip(&devices) {
        let (form, kind) = set_up(member, case, &initial, policy, stage, finding)
            .map_err(|error| of_device(error, name))?;
        chosen.push(form);
        host_memory.push(kind);
    }
    stage(Stage::Verify);
    let wanted = expected(&cases[0], chosen[0].candidate, &initial, policy)?;
    let dealer = Dealer::new(team, cases, chosen)?;
    let rows = dealer.rows;
    let mut bench = Bench { dealer, initial, wanted, policy, stage, finding };
    let first = bench.right("first blocks", |dealer, _| dealer.equally())?;
    if first.is_none() || policy.verify_only {
        return Ok(());
    }
    let Some(alone) = bench.alone()? else { return Ok(()) };
    let middle = |samples: &Vec<f64>| median_of(samples.iter().copied()).unwrap_or(f64::NAN);
    let least = if clock == Clock::Simulated { LEAST_SIMULATED } else { LEAST_SECONDS };
    let least = least.max((1.0 - ALONE_SHARE) * policy.seconds / (2 * LEAST) as f64);
    let plan = Plan::new(alone.iter().map(middle).collect(), &bench.dealer, least);
    let rehearsed = bench.right("rehearsed blocks", |dealer, stage| {
        let balancer = dealer.balancer(&plan.speeds);
        Course::new(dealer, balancer, u64::MAX).rehearse(BLOCKS, plan.fastest, stage)
    })?;
    let Some((blocks, balancer)) = rehearsed else { return Ok(()) };
    let together = Split::together(&blocks).unwrap_or(0.0);
    let gains = together >= plan.speeds[plan.fastest] && worth_trying(best_gain(&plan.speeds));
    let works = match gains {
        true => bench.in_turn(&plan, &balancer, together)?,
        false => Some((vec![], vec![])),
    };
    let Some((works, against)) = works else { return Ok(()) };
    let Plan { fastest, times, .. } = plan;
    finding.wall.busy += bench.dealer.busy;
    finding.detail = Some(Detail::Split(Split {
        clock,
        devices,
        host_memory,
        rows,
        alone,
        fastest,
        times,
        works,
        against,
        blocks,
    }));
    Ok(())
}

/// Says which device it is that takes too long.
fn of_device(error: Error, name: &str) -> Error {
    match error {
        Error::OverBudget(why) => Error::OverBudget(format!("{name}: {why}")),
        other => other,
    }
}

/// What is done in turn.
struct Plan {
    /// Rows a second of each device alone.
    speeds: Vec<f64>,
    fastest: usize,
    /// How often a work has the whole problem computed.
    times: u64,
    /// Rows of a work.
    work: f64,
}

impl Plan {
    /// For devices that take `alone` seconds for all rows, of which a work takes `least` seconds at
    /// least, and within [`LONGEST`] as long as its first block needs to have work-groups for every device.
    fn new(alone: Vec<f64>, dealer: &Dealer, least: f64) -> Self {
        let rows = dealer.rows as f64;
        let alone: Vec<f64> = alone.into_iter().map(|seconds| seconds.max(1e-9)).collect();
        let shortest = |&a: &usize, &b: &usize| alone[a].total_cmp(&alone[b]);
        let fastest = (0..alone.len()).min_by(shortest).unwrap_or(0);
        let speeds: Vec<f64> = alone.iter().map(|seconds| rows / seconds).collect();
        let groups = dealer.grain.iter().zip(&speeds).map(|(&grain, s)| GROUPS * grain as f64 / s);
        let first = groups.fold(0.0, f64::max) * speeds.iter().sum::<f64>();
        let seconds = (first / LOSS / speeds[fastest]).clamp(least, LONGEST * least);
        let times = (seconds / alone[fastest]).ceil().max(1.0);
        Self { speeds, fastest, times: times as u64, work: times * rows }
    }
}

/// A dealer whose works are verified.
struct Bench<'a, 'd> {
    dealer: Dealer<'a>,
    initial: Vec<Data>,
    wanted: Option<Wanted>,
    policy: &'a Policy,
    stage: &'d mut dyn FnMut(Stage),
    finding: &'d mut Finding,
}

impl<'a> Bench<'a, '_> {
    /// What `work` gives, done over poison; `None` where what it leaves is wrong.
    fn right<T>(
        &mut self,
        when: &str,
        work: impl FnOnce(&mut Dealer<'a>, &mut dyn FnMut(Stage)) -> Result<T>,
    ) -> Result<Option<T>> {
        let Self { dealer, initial, wanted, stage, finding, .. } = self;
        dealer.poison(initial)?;
        let given = work(dealer, stage)?;
        stage(Stage::Verify);
        let right = dealer.right(initial, wanted.as_ref(), when, finding)?;
        Ok(right.then_some(given))
    }

    /// Seconds of the whole problem on each device alone, sample by sample.
    fn alone(&mut self) -> Result<Option<Vec<Vec<f64>>>> {
        let members = self.dealer.members();
        let policy = Policy { least: self.policy.least.min(LEAST), ..self.policy.clone() };
        let seconds = ALONE_SHARE * policy.seconds / members as f64;
        let mut alone = vec![];
        for member in 0..members {
            let when = self.dealer.when_alone(member);
            let samples = self.right(&when, |dealer, stage| {
                stage(Stage::Measure);
                dealer.alone(member, &policy, seconds)
            })?;
            let Some(samples) = samples else { return Ok(None) };
            alone.push(samples);
        }
        Ok(Some(alone))
    }

    /// The work on all devices, dealt as the rehearsal taught, in which they did so many rows a second
    /// `together`, and the seconds of the same on the fastest alone, in turn.
    fn in_turn(
        &mut self,
        plan: &Plan,
        rehearsed: &Balancer,
        together: f64,
    ) -> Result<Option<(Vec<Work>, Vec<f64>)>> {
        let (mut works, mut against) = (vec![], vec![]);
        let Policy { target, most, seconds, .. } = *self.policy;
        let seconds = (1.0 - ALONE_SHARE) * seconds;
        let mut ratios = Sampling::new(target, LEAST, most.max(LEAST), seconds);
        loop {
            let when = self.dealer.when_alone(plan.fastest);
            let Some(alone) = self.right(&when, |dealer, stage| {
                Course::new(dealer, rehearsed.clone(), plan.times).run(None, plan.fastest, stage)
            })?
            else {
                return Ok(None);
            };
            against.push(alone.seconds);
            // What it has taken for the work so far, rather than for single problems.
            let middle = median_of(against.iter().copied()).unwrap_or(alone.seconds);
            let fastest = plan.work / middle.max(1e-9);
            // What it took before the rehearsal may have been disturbed: it is asked again.
            let budget = (together >= fastest).then(|| LossBudget::new(plan.work, fastest));
            let Some(work) = self.right("timed works", |dealer, stage| {
                let course = Course::new(dealer, rehearsed.clone(), plan.times);
                course.run(budget, plan.fastest, stage)
            })?
            else {
                return Ok(None);
            };
            let ratio = alone.seconds / work.seconds.max(1e-12);
            let took = alone.seconds + work.seconds;
            works.push(work);
            if ratios.feed(ratio, took) != Decision::Continue {
                return Ok(Some((works, against)));
            }
        }
    }
}
