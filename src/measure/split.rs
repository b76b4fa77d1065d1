//! One workload on several devices at once, again and again: dealt in blocks, the first by what
//! each device did alone, every later one by what the last showed; where that is slower than the
//! fastest device alone, the rest is left to it.

use super::check::Check;
use super::choose::{Chosen, KERNEL};
use super::chunks::set_up;
use super::deal::{deal, in_balance, lost, speed};
use super::expected::expected;
use super::timing::time;
use super::{Finding, Policy, Stage, Team, memory};
use crate::error::{Error, Result};
use crate::gpu::{Access, Clock, Recording};
use crate::model::load_balance::Balancer;
use crate::plan::{Case, bytes_of, dealt, host_twin, push_block};
use crate::record::{Block, Detail, Split};
use crate::reference::Data;
use crate::stats::median_of;
use std::ops::Range;
use std::time::Instant;

/// Seconds that a block should take.
const BLOCK_SECONDS: f64 = 0.02;
/// Blocks after which it is decided whether to go on.
const TRIAL: usize = 5;
/// A block whose devices, brought into balance, would reach less than this share of the fastest
/// alone ends the trial at once: no dealing can mend that.
const HOPELESS: f64 = 0.5;
/// Splitting may lose this share of all the time, not more: one device alone makes up for the rest.
const LOSS: f64 = 0.03;
/// For that, the work may take this many times as long as was asked for.
const PATIENCE: f64 = 10.0;
/// Of the time, each device alone gets an equal part of this share; the blocks get the rest.
const ALONE_SHARE: f64 = 0.4;

/// What the reference computes, and how close a result must come.
type Wanted = (Vec<(usize, Data)>, crate::workload::Comparison);

/// Measures the team into `finding`.
pub(super) fn measure(
    team: &mut Team,
    cases: &[Case],
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    finding: &mut Finding,
) -> Result<()> {
    let rows = dealt(&cases[0])?.rows;
    cases.iter().try_for_each(|case| dealt(case).map(drop))?;
    stage(Stage::Prepare);
    let initial = memory::initial(&cases[0]);
    let mut chosen = vec![];
    let mut kinds = vec![];
    for (member, case) in team.members.iter_mut().zip(cases) {
        let (form, kind) = set_up(member, case, &initial, policy, stage, finding)?;
        chosen.push(form);
        kinds.push(kind);
    }
    stage(Stage::Verify);
    let wanted = expected(&cases[0], chosen[0].candidate, &initial, policy)?;
    let owners = vec![];
    let mut dealer = Dealer { team, cases, chosen, rows, owners, busy: 0.0 };
    dealer.poison(&initial)?;
    dealer.equally()?;
    if !dealer.right(&initial, wanted.as_ref(), "first blocks", finding)? || policy.verify_only {
        return Ok(());
    }
    dealer.poison(&initial)?;
    let mut alone = dealer.alone(policy, stage)?;
    if !dealer.each_right(&initial, wanted.as_ref(), stage, finding)? {
        return Ok(());
    }
    dealer.poison(&initial)?;
    let seconds = (1.0 - ALONE_SHARE) * policy.seconds;
    let stream = dealer.stream(&alone, seconds, stage)?;
    stage(Stage::Verify);
    if !dealer.right(&initial, wanted.as_ref(), "timed blocks", finding)? {
        return Ok(());
    }
    // Before and after: what else the machine does must not be taken for a gain or a loss.
    dealer.poison(&initial)?;
    for (samples, after) in alone.iter_mut().zip(dealer.alone(policy, stage)?) {
        samples.extend(after);
    }
    if !dealer.each_right(&initial, wanted.as_ref(), stage, finding)? {
        return Ok(());
    }
    finding.wall.busy += dealer.busy;
    let (clock, devices) = (dealer.team.clock(), dealer.team.names());
    let Stream { times, blocks, left_to, total } = stream;
    let host_memory = kinds[0];
    finding.detail = Some(Detail::Split(Split {
        clock,
        host_memory,
        devices,
        rows,
        times,
        alone,
        blocks,
        left_to,
        total,
    }));
    Ok(())
}

/// What came of the whole stream of work.
struct Stream {
    times: u64,
    blocks: Vec<Block>,
    left_to: Option<usize>,
    total: f64,
}

/// Deals rows to the devices of a team.
struct Dealer<'a> {
    team: &'a mut Team,
    cases: &'a [Case],
    chosen: Vec<Chosen<'a>>,
    rows: u64,
    /// Who has computed which rows last.
    owners: Vec<(Range<u64>, usize)>,
    busy: f64,
}

impl Dealer<'_> {
    /// Seconds of the whole problem on each device, sample by sample; half of the time for that.
    fn alone(&mut self, policy: &Policy, stage: &mut dyn FnMut(Stage)) -> Result<Vec<Vec<f64>>> {
        let seconds = 0.5 * ALONE_SHARE * policy.seconds / self.cases.len() as f64;
        let mut alone = vec![];
        for member in 0..self.cases.len() {
            stage(Stage::Measure);
            let whole = self.work(member, &(0..self.rows), 1, true)?;
            let session = &mut self.team.members[member];
            let (timed, _) = time(session, &whole, policy, seconds, |_| String::new())?;
            self.busy += timed.walls.iter().sum::<f64>();
            alone.push(timed.walls);
        }
        Ok(alone)
    }

    /// The problem as often as fits `seconds`, in blocks.
    fn stream(
        &mut self,
        alone: &[Vec<f64>],
        seconds: f64,
        stage: &mut dyn FnMut(Stage),
    ) -> Result<Stream> {
        let speeds: Vec<f64> =
            alone.iter().map(|samples| self.rows as f64 / middle(samples)).collect();
        let fastest = (0..speeds.len()).max_by(|&a, &b| speeds[a].total_cmp(&speeds[b]));
        let fastest = fastest.ok_or_else(|| Error::Unsupported("there is no device".into()))?;
        let once = self.rows as f64 / speeds.iter().sum::<f64>();
        let repeats = (BLOCK_SECONDS / once).floor().clamp(1.0, 1e4) as u64;
        let mut balancer = Balancer::new(speeds.clone(), BLOCK_SECONDS);
        let (mut blocks, mut left_to, mut times) = (vec![], None, 0);
        let (begun, mut simulated) = (Instant::now(), 0.0);
        loop {
            stage(Stage::Measure);
            let mut first = 0;
            self.owners.clear();
            let mut shared = vec![true; speeds.len()];
            while first < self.rows {
                if let Some(member) = left_to {
                    simulated += self.rest(member, first, repeats, shared[member])?;
                    first = self.rows;
                    continue;
                }
                let parts = deal(&balancer.next(f64::MAX), self.rows - first, repeats > 1);
                let block = self.block(first, &parts, repeats, &mut shared)?;
                let done = block.rows.iter().zip(&block.seconds);
                let done: Vec<_> = done.map(|(r, s)| ((r * repeats) as f64, *s)).collect();
                balancer.learn(&done);
                first += block.rows.iter().sum::<u64>();
                simulated += block.wall();
                blocks.push(block);
                left_to = not_worth_it(&blocks, speeds[fastest]).then_some(fastest);
            }
            times += repeats;
            let total = match self.team.clock() {
                Clock::Simulated => simulated,
                _ => begun.elapsed().as_secs_f64(),
            };
            if total < seconds || (left_to.is_none() && blocks.len() < 2 * TRIAL) {
                continue;
            }
            if lost(&blocks, speeds[fastest]) <= LOSS * total || total >= PATIENCE * seconds {
                self.busy += total;
                return Ok(Stream { times, blocks, left_to, total });
            }
            left_to = Some(fastest);
        }
    }

    /// Every device computes its part of the rows from `first` on.
    fn block(
        &mut self,
        first: u64,
        parts: &[u64],
        repeats: u64,
        shared: &mut [bool],
    ) -> Result<Block> {
        let mut from = first;
        let mut recordings = vec![];
        for (member, &rows) in parts.iter().enumerate() {
            let range = from..from + rows;
            recordings.push(self.work(member, &range, repeats, shared[member])?);
            if rows > 0 {
                shared[member] = false;
                self.owners.push((range.clone(), member));
            }
            from = range.end;
        }
        let done = self.team.run(&recordings)?;
        let seconds = done.iter().map(|part| part.ended).collect();
        Ok(Block { rows: parts.to_vec(), repeats, seconds })
    }

    /// One device computes all rows from `first` on; its seconds.
    fn rest(&mut self, member: usize, first: u64, repeats: u64, shared: bool) -> Result<f64> {
        let range = first..self.rows;
        let work = self.work(member, &range, repeats, shared)?;
        self.owners.push((range, member));
        Ok(self.team.members[member].device.run(&work)?.wall)
    }

    /// A device's part of the problem, so many times; nothing for no rows. With `shared`, what
    /// every part reads is sent too.
    fn work(
        &self,
        member: usize,
        range: &Range<u64>,
        repeats: u64,
        shared: bool,
    ) -> Result<Recording> {
        let (case, candidate) = (&self.cases[member], self.chosen[member].candidate);
        let mut recording = Recording::default();
        if !range.is_empty() {
            for repeat in 0..repeats {
                // Every repeat stands for a problem of its own, which is sent whole.
                let shared = shared || repeat > 0;
                push_block(&mut recording, case, candidate, KERNEL, range, shared)?;
            }
        }
        Ok(recording)
    }

    /// One pass in equal parts.
    fn equally(&mut self) -> Result<()> {
        self.owners.clear();
        let parts = deal(&vec![1.0; self.cases.len()], self.rows, true);
        self.block(0, &parts, 1, &mut vec![true; self.cases.len()]).map(drop)
    }

    /// Poisons everything on the devices and all outputs on the host: what is not sent and
    /// computed anew is not right.
    fn poison(&mut self, initial: &[Data]) -> Result<()> {
        for (member, case) in self.team.members.iter_mut().zip(self.cases) {
            memory::poison(member.device.as_mut(), case)?;
            for (i, buffer) in case.buffers.iter().enumerate() {
                if buffer.access == Access::Write {
                    member.device.write(host_twin(case, i), initial[i].as_bytes())?;
                }
            }
        }
        Ok(())
    }

    /// Whether each device computed the whole problem, alone, as it must be.
    fn each_right(
        &mut self,
        initial: &[Data],
        wanted: Option<&Wanted>,
        stage: &mut dyn FnMut(Stage),
        finding: &mut Finding,
    ) -> Result<bool> {
        stage(Stage::Verify);
        for member in 0..self.cases.len() {
            self.owners = vec![(0..self.rows, member)];
            let when = format!("alone on {}", self.team.names()[member]);
            if !self.right(initial, wanted, &when, finding)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Puts the result together from all who computed a part of it, and compares.
    fn right(
        &mut self,
        initial: &[Data],
        wanted: Option<&Wanted>,
        when: &str,
        finding: &mut Finding,
    ) -> Result<bool> {
        let case = &self.cases[0];
        let check = Check { case, initial, wanted };
        for member in &mut self.team.members {
            if !check.guards(member, when, finding)? {
                return Ok(false);
            }
        }
        let division = dealt(case)?;
        check.all(finding, when, |i| {
            let mut whole = vec![0xff; case.buffers[i].bytes().as_usize()];
            for (member, session) in self.team.members.iter_mut().enumerate() {
                let found = session.device.read(host_twin(case, i))?;
                for (range, _) in self.owners.iter().filter(|(_, owner)| *owner == member) {
                    let bytes = bytes_of(case, i, division, range);
                    whole[bytes.clone()].copy_from_slice(&found[bytes]);
                }
            }
            Ok(Data::from_bytes(case.buffers[i].element.scalar, &whole))
        })
    }
}

/// Whether one device of this `alone` speed does better than the blocks so far.
fn not_worth_it(blocks: &[Block], alone: f64) -> bool {
    let hopeless = blocks.last().is_some_and(|last| in_balance(last) < HOPELESS * alone);
    // Every trial is judged by its later blocks, which are balanced.
    let trial = &blocks[blocks.len().saturating_sub(TRIAL.div_ceil(2))..];
    hopeless || blocks.len().is_multiple_of(TRIAL) && speed(trial) < alone
}

fn middle(samples: &[f64]) -> f64 {
    median_of(samples.iter().copied()).unwrap_or(f64::NAN).max(1e-9)
}
