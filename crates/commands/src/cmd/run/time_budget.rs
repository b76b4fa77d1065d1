//! How long each case of a device may take, so that all of them fit the device's time budget.

use super::overhead::Overheads;
use gpubench_core::gpu::DeviceKind;
use gpubench_core::record::{CoolDown, Record};
use gpubench_core::units;
use gpubench_experiments::plan::Case;
use std::time::Instant;

/// The shortest time worth measuring for, in seconds.
const SHORTEST: f64 = 0.1;
/// The longest warm-up, in seconds, and as a share of the time for sampling.
const LONGEST_WARMUP: f64 = 5.0;
const WARMUP: f64 = 0.5;
/// A case is measured for at least so many times as long as building, preparing and verifying it take, in its last round:
/// before that the others come first.
const TIMES_OVERHEAD: f64 = 2.0;

/// The share of the time that measuring gets, however long what surrounds it: that is only expected.
const MIN_MEASURING: f64 = 0.25;

/// The share of the total that later rounds leave to the cases that wait.
const OF_DEFERRED: f64 = 0.1;

/// The time of one device, or of several that are measured as one, and how much of it is spent.
#[derive(Clone, Debug)]
pub struct TimeBudget {
    /// Seconds of the device in this run.
    total: Option<f64>,
    /// Most seconds of sampling for one case.
    max_seconds: f64,
    /// Least seconds of warm-up and sampling for the smallest size of a workload.
    smallest: f64,
    /// Seconds of the total that are kept for cases that wait.
    kept: f64,
    /// Seconds of the turns that have ended.
    spent: f64,
    /// When the turn at hand began.
    turn: Option<Instant>,
    /// What cases need besides measuring.
    overheads: Overheads,
    pauses: Pauses,
}

/// Pauses in which the device cools down.
#[derive(Clone, Debug, Default)]
struct Pauses {
    asked: Option<CoolDown>,
    /// Whether they take no time: those of a simulated device.
    is_simulated: bool,
    /// How many there were, and their seconds.
    made: (u32, f64),
    /// Whether the device has run a case, after which it may be warm.
    is_warm: bool,
}

impl Pauses {
    /// Before the next case.
    fn next(&self) -> Option<CoolDown> {
        self.asked.filter(|_| self.is_warm)
    }

    /// Seconds that it is expected to last.
    fn seconds(&self) -> f64 {
        let asked = self.next().filter(|_| !self.is_simulated);
        asked.map_or(0.0, |asked| asked.expected(self.made))
    }

    fn learn(&mut self, record: &Record) {
        self.is_warm = true;
        self.recall(record);
    }

    fn recall(&mut self, record: &Record) {
        if record.monitor.cool_down.is_some() {
            self.made = (self.made.0 + 1, self.made.1 + record.wall.cool_down);
        }
    }
}

/// What is still to come on a device, the turn at hand among it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ToCome {
    /// Turns.
    pub turns: u64,
    /// Seconds of all besides measuring.
    pub overhead: f64,
}

/// What a turn is given at least, as far as there is time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AtLeast {
    /// As much as makes it worth what surrounds it: in the case's last planned round, in any that follows, and where it
    /// waited.
    pub is_last: bool,
    /// The share of its workload's smallest case.
    pub is_smallest: bool,
    /// Seconds of sampling.
    pub sampling: f64,
}

/// The time for one case, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Of sampling.
    pub seconds: f64,
    /// Of warm-up, at most.
    pub warmup: f64,
}

impl TimeBudget {
    /// `total` seconds for the device, where they are limited; at most `max_seconds` of sampling a case.
    /// The smallest case of a workload, of which there are `smallest` over all rounds, gets at least its
    /// share of half of the total.
    pub fn new(total: Option<f64>, max_seconds: f64, smallest: u64) -> Self {
        let min_share = total.map_or(0.0, |total| 0.5 * total / smallest.max(1) as f64);
        let smallest = min_share.min(max_seconds);
        let (overheads, pauses) = (Overheads::default(), Pauses::default());
        let (kept, spent, turn) = (0.0, 0.0, None);
        Self { total, max_seconds, smallest, kept, spent, turn, overheads, pauses }
    }

    /// The same with pauses between cases, on a device of this kind.
    pub fn with_pauses(self, asked: Option<CoolDown>, kind: DeviceKind) -> Self {
        let is_simulated = kind == DeviceKind::Simulated;
        Self { pauses: Pauses { asked, is_simulated, ..self.pauses }, ..self }
    }

    /// How the device cools down before the next case.
    pub fn cool_down(&self) -> Option<CoolDown> {
        let asked = self.pauses.next()?;
        Some(self.left().map_or(asked, |left| asked.within((left - self.kept).max(0.0))))
    }

    /// Whether the device has run a case, after which it may be warm.
    pub fn is_warm(&self) -> bool {
        self.pauses.is_warm
    }

    /// Another suite, which is measured in turn with this one, has run a case.
    pub fn warm(&mut self) {
        self.pauses.is_warm = true;
    }

    /// From now on a share of the total is kept for cases that wait, or not.
    pub fn keep_for_deferred(&mut self, is_kept: bool) {
        self.kept = if is_kept { OF_DEFERRED * self.total.unwrap_or(0.0) } else { 0.0 };
    }

    /// The device's turn begins: only in its turns its time passes.
    pub fn begin(&mut self) {
        self.turn = Some(Instant::now());
    }

    /// The device's turn ends.
    pub fn end(&mut self) {
        self.spent = self.spent();
        self.turn = None;
    }

    /// Seconds that a record of an earlier invocation took are spent, and what it needed is known.
    pub fn recall(&mut self, record: &Record) {
        self.spent += record.wall.total();
        self.overheads.recall(record);
        self.pauses.recall(record);
    }

    /// Seconds spent so far.
    pub fn spent(&self) -> f64 {
        self.spent + self.turn.map_or(0.0, |turn| turn.elapsed().as_secs_f64())
    }

    /// Why the next case gets no time.
    pub fn used_up(&self) -> String {
        let total = units::seconds(self.total.unwrap_or_default());
        let kept = match self.kept > 0.0 {
            true => " but for what is kept for cases with long launches",
            false => "",
        };
        format!(
            "the device's time budget of {total} is used up{kept}; `--budget SECONDS` gives more"
        )
    }

    /// The turns of `next`, and behind them those of `later`, in which a case may stand several times.
    pub fn to_come<'c>(
        &self,
        next: impl Iterator<Item = &'c Case>,
        later: impl Iterator<Item = &'c Case>,
    ) -> ToCome {
        let next = next.map(|case| self.overheads.of(case));
        let all = next.chain(later.map(|case| self.overheads.later(case)));
        all.fold(ToCome::default(), |all, overhead| ToCome {
            turns: all.turns + 1,
            overhead: all.overhead + overhead,
        })
    }

    /// The time for `case`, whose turn is the first of those to come. `None` when the budget is used up.
    pub fn share(&self, case: &Case, to_come: ToCome, at_least: AtLeast) -> Option<Share> {
        self.share_with(self.overheads.of(case), to_come, at_least)
    }

    /// The same, where it needs `overhead` seconds besides measuring.
    fn share_with(&self, overhead: f64, to_come: ToCome, at_least: AtLeast) -> Option<Share> {
        let Some(total) = self.total else {
            let seconds = self.max_seconds;
            return Some(Share { seconds, warmup: seconds.min(LONGEST_WARMUP) });
        };
        let pause = self.pauses.seconds();
        let (total, spent) = (total - self.kept, self.spent());
        let remaining = total - spent - pause;
        if remaining <= 0.0 {
            return None;
        }
        let fair = self.fair(total - spent, overhead, to_come);
        let AtLeast { is_last, is_smallest, sampling } = at_least;
        // Where the time is short, none measures longer than others need to be measured at all.
        let left = total - spent - to_come.turns as f64 * pause;
        let is_short = to_come.overhead > (1.0 - MIN_MEASURING) * left;
        let min_seconds = SHORTEST
            .max(if is_smallest { self.smallest } else { 0.0 })
            .max(if is_last && !is_short { TIMES_OVERHEAD * overhead } else { 0.0 })
            .max((1.0 + WARMUP) * sampling);
        // The last case must not take more than there is; where there is next to nothing, next to that.
        let rest = (remaining - overhead).max(SHORTEST);
        Some(self.divided(fair.max(min_seconds).min(rest)))
    }

    /// Seconds of measuring for a case with this overhead when `left` are shared by all that is to come: one half
    /// equally, the other by what surrounds it, so that a case that takes long to prepare is worth that.
    fn fair(&self, left: f64, overhead: f64, to_come: ToCome) -> f64 {
        let turns = to_come.turns.max(1) as f64;
        let around = to_come.overhead.max(overhead);
        let without_pauses = left - turns * self.pauses.seconds();
        let measuring = (without_pauses - around).max(MIN_MEASURING * without_pauses).max(0.0);
        let part = if around > 0.0 { overhead / around } else { 1.0 / turns };
        0.5 * measuring * (1.0 / turns + part)
    }

    /// So many seconds of warm-up and sampling.
    fn divided(&self, measuring: f64) -> Share {
        let seconds = (measuring / (1.0 + WARMUP)).min(self.max_seconds);
        Share { seconds, warmup: (WARMUP * seconds).min(LONGEST_WARMUP) }
    }

    /// Whether the turns of `case` in this many rounds, the first of them the next to come, would take more than as many
    /// equal ones.
    pub fn is_long(&self, case: &Case, rounds: u32, to_come: ToCome) -> bool {
        let overheads = [self.overheads.of(case), self.overheads.later(case)];
        self.is_long_with(overheads, rounds, to_come)
    }

    /// The same, where its next turn needs `next` seconds besides measuring and each that follows `later`.
    fn is_long_with(&self, [next, later]: [f64; 2], rounds: u32, to_come: ToCome) -> bool {
        let rounds = f64::from(rounds.max(1));
        // The last round measures for what makes it worth what surrounds it then.
        let last = if rounds > 1.0 { later } else { next };
        let turns = next + (rounds - 1.0) * later + TIMES_OVERHEAD * last;
        let equal = |total: f64| (total - self.spent()).max(0.0) / to_come.turns.max(1) as f64;
        self.total.is_some_and(|total| turns > rounds * equal(total))
    }

    /// Seconds of a single turn of `case`: with so many of sampling, else measured as long as is worth what surrounds it.
    pub fn turn_seconds(&self, case: &Case, sampling: Option<f64>) -> f64 {
        let overhead = self.overheads.of(case);
        overhead + sampling.map_or(TIMES_OVERHEAD * overhead, |seconds| (1.0 + WARMUP) * seconds)
    }

    /// Whether `case` and what surrounds it may still fit.
    pub fn fits(&self, case: &Case) -> bool {
        let around = self.overheads.of(case) + self.pauses.seconds();
        self.left().is_none_or(|left| left > around + SHORTEST)
    }

    /// Learns what `case` needed besides measuring.
    pub fn learn(&mut self, case: &Case, record: &Record) {
        self.pauses.learn(record);
        self.overheads.learn(case, record);
    }

    /// Seconds that are left, where they are limited.
    pub fn left(&self) -> Option<f64> {
        Some((self.total? - self.spent()).max(0.0))
    }

    /// Seconds of the device in this run, where they are limited.
    pub fn total(&self) -> Option<f64> {
        self.total
    }
}

#[cfg(test)]
mod tests;
