//! Model 10, whether to go on splitting: how much of a work may several devices try together, when
//! all of it must not take more than 3 % longer than the fastest of them takes alone?
//!
//! How much devices disturb each other nobody knows before they have worked together. A rehearsal
//! tells; but what it told may have been chance, or over by now, so that a split begins with a block
//! that may fail and earns longer ones. With the work `W`, the fastest device's speed alone `v`, and
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
//! with the third block in a row of which `S < v`: then no dealing would gain.

/// The share of the time of the fastest device alone that trying may lose, `λ`.
pub const LOSS: f64 = 0.03;
/// The speed of a block over what the one before showed, at worst.
const WORST: f64 = 0.5;
/// A block over the first one, at least: a shorter one tells little.
const SHORTEST: f64 = 0.25;
/// Blocks in a row without a gain that end it.
const IN_VAIN: u32 = 3;

/// What a split may still lose.
#[derive(Clone, Debug, PartialEq)]
pub struct LossBudget {
    /// Work per second of the fastest device alone.
    alone: f64,
    /// Seconds that all of it may lose.
    allowed: f64,
    /// Speed of the next block over `alone`, at worst.
    worst: f64,
    /// Work of the first block, as it was allowed.
    first: Option<f64>,
    /// Blocks in a row that showed no gain.
    in_vain: u32,
}

impl LossBudget {
    /// For so much `work`, of which the fastest device does `alone` per second, and all devices did as
    /// much or more in a rehearsal.
    pub fn new(work: f64, alone: f64) -> Self {
        let allowed = LOSS * work / alone;
        Self { alone, allowed, worst: WORST, first: None, in_vain: 0 }
    }

    /// Most work that the next block may hold, where `done` took so many `seconds` so far; `None`
    /// where the rest is better left to the fastest device.
    pub fn next(&mut self, done: f64, seconds: f64) -> Option<f64> {
        let left = self.allowed - (seconds - done / self.alone);
        let work = self.alone * left / (1.0 / self.worst - 1.0);
        let enough = work >= SHORTEST * *self.first.get_or_insert(work);
        (enough && self.in_vain < IN_VAIN).then_some(work)
    }

    /// Learns from a block whose devices would do `together` per second if all ended at once.
    pub fn learn(&mut self, together: f64) {
        let speed = together / self.alone;
        self.worst = WORST * speed.min(1.0);
        self.in_vain = if speed < 1.0 { self.in_vain + 1 } else { 0 };
    }
}

/// The most that devices of these `speeds` gain together over the fastest of them, at best: when none
/// disturbs another.
pub fn best_gain(speeds: &[f64]) -> f64 {
    speeds.iter().sum::<f64>() / speeds.iter().copied().fold(0.0, f64::max)
}

/// Whether a split of devices that gain so much at best can save more than trying it may lose.
pub fn worth_trying(best_gain: f64) -> bool {
    1.0 - 1.0 / best_gain > LOSS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits 100 s of work over devices that reach `speed` of the fastest alone, block by block, after
    /// a rehearsal without gain or loss; the blocks, and how long all of it took.
    fn run(speed: impl Fn(usize) -> f64) -> (Vec<f64>, f64) {
        let (work, alone) = (1000.0, 10.0);
        let mut budget = LossBudget::new(work, alone);
        let (mut done, mut seconds, mut blocks) = (0.0, 0.0, vec![]);
        while let Some(most) = budget.next(done, seconds) {
            // As long as two seconds, as blocks of a real split are limited.
            let speed = speed(blocks.len());
            let block = most.min(2.0 * speed * alone).min(work - done);
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
    fn a_gain_is_kept_and_a_loss_is_seen_soon() {
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
        assert_eq!(best_gain(&[3.0, 1.0]), 4.0 / 3.0);
        assert!(worth_trying(best_gain(&[10.0, 1.0])));
        assert!(!worth_trying(best_gain(&[50.0, 1.0])), "2 % at best");
        assert!(!worth_trying(best_gain(&[1.0])));
    }
}
