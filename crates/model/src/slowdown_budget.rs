//! Model 10, whether to go on splitting: how much of a job may several devices try together, when
//! all of it must not take more than 3 % longer than the fastest of them takes alone?
//!
//! How much devices disturb each other nobody knows before they have worked at once. A calibration
//! shows; but what it showed may have been chance, or over by now, so that a split begins with a block
//! that may fail and earns longer ones. With the job's work `W`, the fastest device's speed alone `v`, and
//! `w` done in `t` so far, it has lost `ℓ = t − w/v` (less than nothing where it has gained). A block
//! of `b` done at `σ·v` loses `b/v·(1/σ − 1)` more, and all of it may lose `λ·W/v`:
//!
//! ```text
//! b = v·(λ·W/v − ℓ) / (1/σ − 1)     σ = min(1, S/v)/2
//! ```
//!
//! `S` is the speed that the devices of the last block reach when all end at once; before the first
//! one it is at least `v`, or no split would be begun. As long as no block is slower than this `σ`, no
//! split loses more than `λ`. It ends where the budget buys less than a quarter of the first block, or
//! with the third block in a row of which `S < v`: then no partition would gain.

/// The share of the time of the fastest device alone that trying may cost, `λ`.
pub const MAX_SLOWDOWN: f64 = 0.03;
/// The speed of a block over what the one before showed, at worst.
const WORST_SPEED_RATIO: f64 = 0.5;
/// A block over the first one, at least: a shorter one shows little.
const MIN_BLOCK_RATIO: f64 = 0.25;
/// Blocks in a row without a gain that end it.
const MAX_BLOCKS_WITHOUT_SPEEDUP: u32 = 3;

/// What a split may still cost.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowdownBudget {
    /// Work per second of the fastest device alone.
    fastest_speed: f64,
    /// Seconds that all of it may cost.
    allowed: f64,
    /// Speed of the next block over `fastest_speed`, at worst.
    worst: f64,
    /// Work of the first block, as it was allowed.
    first: Option<f64>,
    /// Blocks in a row that showed no gain.
    blocks_without_speedup: u32,
}

impl SlowdownBudget {
    /// For so much `work`, of which the fastest device does `fastest_speed` per second, and all devices did as
    /// much or more in a calibration.
    pub fn new(work: f64, fastest_speed: f64) -> Self {
        let allowed = MAX_SLOWDOWN * work / fastest_speed;
        Self {
            fastest_speed,
            allowed,
            worst: WORST_SPEED_RATIO,
            first: None,
            blocks_without_speedup: 0,
        }
    }

    /// Most work that the next block may hold, where `done` took `seconds` so far; `None`
    /// where the rest is better left to the fastest device.
    pub fn next(&mut self, done: f64, seconds: f64) -> Option<f64> {
        let left = self.allowed - (seconds - done / self.fastest_speed);
        let work = self.fastest_speed * left / (1.0 / self.worst - 1.0);
        let enough = work >= MIN_BLOCK_RATIO * *self.first.get_or_insert(work);
        (enough && self.blocks_without_speedup < MAX_BLOCKS_WITHOUT_SPEEDUP).then_some(work)
    }

    /// Learns from a block whose devices would do `combined_speed` per second if all ended at once.
    pub fn learn(&mut self, combined_speed: f64) {
        let speed = combined_speed / self.fastest_speed;
        self.worst = WORST_SPEED_RATIO * speed.min(1.0);
        self.blocks_without_speedup = if speed < 1.0 { self.blocks_without_speedup + 1 } else { 0 };
    }
}

/// The most that devices of these `speeds` gain at once over the fastest of them, at best: when none
/// disturbs another.
pub fn max_speedup(speeds: &[f64]) -> f64 {
    speeds.iter().sum::<f64>() / speeds.iter().copied().fold(0.0, f64::max)
}

/// Whether a split of devices that gain so much at best can save more than trying it may lose.
pub fn worth_trying(max_speedup: f64) -> bool {
    1.0 - 1.0 / max_speedup > MAX_SLOWDOWN
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits 100 s of work over devices that reach `speed` of the fastest alone, block by block, after
    /// a calibration without gain or loss; the blocks, and how long all of it took.
    fn run(speed: impl Fn(usize) -> f64) -> (Vec<f64>, f64) {
        let (work, alone) = (1000.0, 10.0);
        let mut budget = SlowdownBudget::new(work, alone);
        let (mut done, mut seconds, mut blocks) = (0.0, 0.0, vec![]);
        while let Some(max_work) = budget.next(done, seconds) {
            // As long as two seconds, as blocks of a real split are limited.
            let speed = speed(blocks.len());
            let block = max_work.min(2.0 * speed * alone).min(work - done);
            if block <= 0.0 {
                break;
            }
            done += block;
            seconds += block / (speed * alone);
            budget.learn(speed * alone);
            blocks.push(block);
        }
        (blocks, seconds + (work - done) / alone)
    }

    #[test]
    fn a_split_never_loses_more_than_its_budget() {
        for speed in [0.5, 0.6, 0.75, 0.9, 0.99, 1.0, 1.5, 2.0] {
            let (blocks, seconds) = run(|_| speed);
            println!("{speed}: {} blocks, {seconds} s", blocks.len());
            assert!(seconds <= 103.0 + 1e-9, "{speed}: {seconds} s");
        }
        // Speeds that fall to half of what was seen, block after block, and rise again.
        for fall in 1..20 {
            let (blocks, seconds) = run(|block| [1.9, 0.95, 0.475][block % fall % 3]);
            assert!(seconds <= 103.0 + 1e-9, "{fall}: {seconds} s, {blocks:?}");
        }
    }

    #[test]
    fn a_speedup_is_kept_and_a_slowdown_is_seen_soon() {
        let (blocks, seconds) = run(|_| 1.9);
        assert!((blocks[0] - 30.0).abs() < 1e-9, "3 % of the work first");
        assert!(seconds < 100.0 / 1.8, "{seconds} s");
        assert_eq!(run(|_| 0.5).0.len(), 1, "nothing is left for a second one");
        assert_eq!(run(|_| 0.97).0.len(), 3, "no gain at any length");
        let (blocks, seconds) = run(|block| if block == 0 { 0.75 } else { 1.9 });
        assert!(blocks.len() > 10 && seconds < 100.0 / 1.75, "a slow start is forgiven");
        let (blocks, seconds) = run(|block| if block < 20 { 1.9 } else { 0.9 });
        assert!(blocks.len() == 23 && seconds < 100.0, "what was gained is not lost again");
    }

    #[test]
    fn too_little_help_is_not_tried() {
        assert_eq!(max_speedup(&[3.0, 1.0]), 4.0 / 3.0);
        assert!(worth_trying(max_speedup(&[10.0, 1.0])));
        assert!(!worth_trying(max_speedup(&[50.0, 1.0])), "2 % at best");
        assert!(!worth_trying(max_speedup(&[1.0])));
    }
}
