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
/// A case is measured for at least so many times as long as building, preparing and verifying it take, in its last round;
/// before that for a part, so that the others have time.
const TIMES_OVERHEAD: f64 = 2.0;

/// A case waits for the others when its turn would take as long as so many fair ones.
const LONG: f64 = 8.0;

/// The time of one device, or of several that are measured as one, and how much of it is spent.
#[derive(Clone, Debug)]
pub struct TimeBudget {
    /// Seconds of the device in this run.
    total: Option<f64>,
    /// Most seconds of sampling for one case.
    max_seconds: f64,
    /// Least seconds of warm-up and sampling for the smallest size of a workload.
    smallest: f64,
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
        Self { total, max_seconds, smallest, spent: 0.0, turn: None, overheads, pauses }
    }

    /// The same with pauses between cases, on a device of this kind.
    pub fn with_pauses(self, asked: Option<CoolDown>, kind: DeviceKind) -> Self {
        let is_simulated = kind == DeviceKind::Simulated;
        Self { pauses: Pauses { asked, is_simulated, ..self.pauses }, ..self }
    }

    /// How the device cools down before the next case.
    pub fn cool_down(&self) -> Option<CoolDown> {
        let asked = self.pauses.next()?;
        Some(self.left().map_or(asked, |left| asked.within(left)))
    }

    /// Whether the device has run a case, after which it may be warm.
    pub fn is_warm(&self) -> bool {
        self.pauses.is_warm
    }

    /// Another suite, which is measured in turn with this one, has run a case.
    pub fn warm(&mut self) {
        self.pauses.is_warm = true;
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
        format!("the device's time budget of {total} is used up; `--budget SECONDS` gives more")
    }

    /// The time for `case`, where so many turns are left over all rounds, and of its own rounds so many, this one
    /// counted. It is its workload's smallest or not. `None` when the budget is used up.
    pub fn share(&self, case: &Case, left: (u64, u32), smallest: bool) -> Option<Share> {
        self.share_at(self.spent(), self.overheads.of(case), left, smallest)
    }

    fn share_at(
        &self,
        spent: f64,
        overhead: f64,
        (left, rounds): (u64, u32),
        smallest: bool,
    ) -> Option<Share> {
        let Some(total) = self.total else {
            let seconds = self.max_seconds;
            return Some(Share { seconds, warmup: seconds.min(LONGEST_WARMUP) });
        };
        let pause = self.pauses.seconds();
        let remaining = total - spent - pause;
        if remaining <= 0.0 {
            return None;
        }
        // Those of the others come later.
        let fair = (total - spent) / left.max(1) as f64 - pause - overhead;
        let min_seconds = if smallest { SHORTEST.max(self.smallest) } else { SHORTEST };
        let min_seconds = min_seconds.max(TIMES_OVERHEAD * overhead / f64::from(rounds.max(1)));
        // The last case must not take more than there is; where there is next to nothing, next to that.
        let rest = (remaining - overhead).max(SHORTEST);
        Some(self.divided(fair.max(min_seconds).min(rest)))
    }

    /// So many seconds of warm-up and sampling.
    fn divided(&self, measuring: f64) -> Share {
        let seconds = (measuring / (1.0 + WARMUP)).min(self.max_seconds);
        Share { seconds, warmup: (WARMUP * seconds).min(LONGEST_WARMUP) }
    }

    /// Whether a turn of `case`, the next of `left` ones, would take the time of [`LONG`] of them.
    pub fn is_long(&self, case: &Case, left: u64) -> bool {
        self.is_long_at(self.spent(), self.overheads.of(case), left)
    }

    fn is_long_at(&self, spent: f64, overhead: f64, left: u64) -> bool {
        let fair = |total: f64| (total - spent).max(0.0) / left.max(1) as f64;
        self.total.is_some_and(|total| (1.0 + TIMES_OVERHEAD) * overhead > LONG * fair(total))
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
mod tests {
    use super::*;
    use gpubench_core::record::CooledDown;
    use gpubench_core::record::sample::{key, record};

    fn seconds(budget: &TimeBudget, spent: f64, left: u64, smallest: bool) -> Option<f64> {
        budget.share_at(spent, 0.0, (left, 1), smallest).map(|share| share.seconds)
    }

    #[test]
    fn without_a_budget_every_case_has_max_seconds() {
        let time_budget = TimeBudget::new(None, 7.0, 10);
        let share = time_budget.share_at(1e6, 3.0, (1000, 1), false);
        assert_eq!(share, Some(Share { seconds: 7.0, warmup: 5.0 }));
    }

    #[test]
    fn what_is_left_is_shared() {
        let time_budget = TimeBudget::new(Some(100.0), 5.0, 25);
        assert_eq!(seconds(&time_budget, 0.0, 10, false), Some(5.0));
        assert_eq!(seconds(&time_budget, 0.0, 50, false), Some(2.0 / 1.5));
        assert_eq!(seconds(&time_budget, 50.0, 50, false), Some(1.0 / 1.5));
        assert_eq!(seconds(&time_budget, 99.0, 1000, false), Some(SHORTEST / 1.5));
        assert_eq!(seconds(&time_budget, 100.0, 1, false), None);
        assert_eq!(seconds(&time_budget, 50.0, 1000, true), Some(2.0 / 1.5));
        let share = |rounds| time_budget.share_at(50.0, 0.9, (50, rounds), false);
        assert_eq!(share(1).map(|s| s.seconds), Some(1.8 / 1.5), "twice what surrounds it takes");
        assert_eq!(
            share(3).map(|s| s.seconds),
            Some(0.6 / 1.5),
            "a third of it where two more follow"
        );
    }

    #[test]
    fn the_last_case_does_not_take_more_than_there_is() {
        let time_budget = TimeBudget::new(Some(10.0), 5.0, 1);
        for left in [0.2, 1.0, 3.0, 9.0] {
            let share = time_budget.share_at(10.0 - left, 0.1, (1, 1), true).unwrap();
            let all = 0.1 + share.seconds + share.warmup;
            assert!(all <= left + 1e-9, "{all} s of {left} s");
        }
    }

    #[test]
    fn pauses_take_their_share_from_the_second_case_on() {
        let below = CoolDown::Below { celsius: 50.0, max_seconds: 20.0 };
        let new = |kind| TimeBudget::new(Some(100.0), 50.0, 1).with_pauses(Some(below), kind);
        let mut budget = new(DeviceKind::Discrete);
        let share = |budget: &TimeBudget, spent| seconds(budget, spent, 4, false);
        assert_eq!((budget.cool_down(), share(&budget, 0.0)), (None, Some(25.0 / 1.5)));
        let mut record = record(key("a", 1), 1e-3);
        let mut simulated = new(DeviceKind::Simulated);
        [&mut budget, &mut simulated].into_iter().for_each(|one| one.pauses.learn(&record));
        assert_eq!([budget.cool_down(), simulated.cool_down()], [Some(below); 2]);
        assert_eq!(share(&simulated, 0.0), Some(25.0 / 1.5), "its pauses take no time");
        assert_eq!(share(&budget, 0.0), Some(25.0 / 1.5), "how long it lasts, nobody knows yet");
        budget.spent = 95.0;
        assert_eq!(budget.cool_down().map(CoolDown::max_seconds), Some(5.0), "all that is left");
        budget.spent = 0.0;
        record.monitor.cool_down = Some(CooledDown { seconds: 5.0, celsius: Some(49.0) });
        record.wall.cool_down = 5.0;
        budget.pauses.learn(&record);
        assert_eq!(share(&budget, 0.0), Some(20.0 / 1.5), "it is expected to last 5 s");
        assert_eq!(share(&budget, 96.0), None, "there is no time for a pause and a case");
        let last = budget.share_at(94.0, 0.0, (1, 1), false).unwrap();
        assert!((last.seconds + last.warmup - 1.0).abs() < 1e-9, "{last:?}");
    }

    #[test]
    fn a_case_is_long_by_what_a_turn_may_take() {
        let time_budget = TimeBudget::new(Some(100.0), 5.0, 1);
        // Of 100 turns each may take a second, so 8 s are long, and 8/3 s besides measuring.
        assert!(!time_budget.is_long_at(0.0, 2.6, 100));
        assert!(time_budget.is_long_at(0.0, 2.7, 100));
        assert!(time_budget.is_long_at(50.0, 1.4, 100), "half is spent");
        assert!(!TimeBudget::new(None, 5.0, 1).is_long_at(0.0, 1e3, 100), "nothing is short");
    }

    #[test]
    fn time_passes_only_in_the_devices_turns() {
        let mut time_budget = TimeBudget::new(Some(10.0), 5.0, 1);
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert_eq!(time_budget.spent(), 0.0);
        time_budget.begin();
        std::thread::sleep(std::time::Duration::from_millis(20));
        time_budget.end();
        let spent = time_budget.spent();
        assert!((0.02..5.0).contains(&spent), "{spent}");
        assert_eq!(time_budget.spent(), spent);
    }
}
