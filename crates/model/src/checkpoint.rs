//! Model 12, checkpoint: on how many nodes, and how often saved, does a computation survive best?
//!
//! Source: L14 §3.2 and ch. 5. Failures follow a Weibull distribution whose shape is above 1 where
//! nodes wear out. One slip is corrected: 5.26 prints `T_P^(1−c)/(kλ)·e^(−y)` as its second term,
//! which is not the integral of 5.25; partial integration gives `T_P·e^(−y)`.

use gpubench_core::error::{Error, Result};
use gpubench_core::units::quoted;
use statrs::function::gamma::{gamma, gamma_li};

/// How nodes fail: each survives a time `t` with probability `exp(−λ·t^c)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failures {
    rate: f64,
    shape: f64,
}

/// A computation on one node: how much of it can be divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Seconds that divide by the number of nodes, `p`.
    pub parallel: f64,
    /// Seconds that do not, `s`.
    pub serial: f64,
}

impl Work {
    /// Seconds on `nodes` nodes, `T_P = p/k + s`.
    pub fn seconds(self, nodes: f64) -> f64 {
        self.parallel / nodes + self.serial
    }

    /// Nodes on which the computation takes a wanted share less than on one,
    /// `k = p/(T_S(1 − P_r) − s)` (5.9), with `T_S = p + s`. `None` where no number of nodes gains as
    /// much, since what is serial takes longer.
    pub fn nodes_for_gain(self, gain: f64) -> Option<f64> {
        /// Of one node's time, what is rounding.
        const ROUNDING: f64 = 1e-12;
        let one_node = self.parallel + self.serial;
        let parallel_left = one_node * (1.0 - gain) - self.serial;
        (parallel_left > ROUNDING * one_node).then(|| self.parallel / parallel_left)
    }

    /// The same for a problem that grows with the nodes, whose parallel part takes `p` on each of
    /// them, `k = ((p + s)/(1 − P_r) − s + T_PO)/p` (5.10); `overhead`, `T_PO`, is what dividing costs.
    pub fn nodes_for_scaled_gain(self, gain: f64, overhead: f64) -> f64 {
        ((self.parallel + self.serial) / (1.0 - gain) - self.serial + overhead) / self.parallel
    }
}

/// Seconds of one checkpointed kernel, `T_S = T_k + T_hd + T_dh + T_c`: kernel, both copies,
/// checkpoint.
pub fn checkpointed_seconds(kernel: f64, upload: f64, download: f64, checkpoint: f64) -> f64 {
    kernel + upload + download + checkpoint
}

/// What saving a state once takes, each part alone, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Save {
    /// Copying it on the device.
    pub snapshot: f64,
    /// Copying it to the host, `T_dh`.
    pub download: f64,
    /// Writing it to a file, `T_c`; 0 where it stays in memory.
    pub write: f64,
}

impl Save {
    /// Seconds that an iteration is held up by a save that it waits for: all of it but the copy on
    /// the device, which is not needed then.
    pub fn cost_in_turn(self) -> f64 {
        checkpointed_seconds(0.0, 0.0, self.download, self.write)
    }

    /// Seconds that an iteration is held up by a save during which it goes on for `interval` seconds
    /// until the next: it waits for the copy on the device, and for what of downloading and of writing
    /// does not fit the interval, each of which has one to itself. Our own, from the order in which
    /// the steps are queued; L14 measures this and gives no formula.
    pub fn concurrent_cost(self, interval: f64) -> f64 {
        let period = self.snapshot + interval.max(self.download);
        period.max(self.write) - interval
    }
}

impl Failures {
    /// Failures of `rate` λ (per second to the power of the shape) and `shape` c.
    ///
    /// # Errors
    /// [`Error::Usage`] when the rate is not above 0, or the shape not above 1: with a shape of 1
    /// or less the failures become rarer as time goes on, so that spreading work over more nodes
    /// never pays (5.8) and the intervals between checkpoints need not shrink (5.23).
    pub fn new(rate: f64, shape: f64) -> Result<Self> {
        if !(rate.is_finite() && rate > 0.0) {
            return Err(Error::Usage(format!(
                "a failure rate must be above 0, not {}",
                quoted(rate)
            )));
        }
        if !(shape.is_finite() && shape > 1.0) {
            return Err(Error::Usage(format!(
                "a Weibull shape must be above 1, not {}: with 1 or less failures do not \
                 become more frequent, and neither the number of nodes nor the placement of \
                 checkpoints has a best value",
                quoted(shape)
            )));
        }
        Ok(Self { rate, shape })
    }

    /// λ, per second to the power of the shape.
    pub fn rate(self) -> f64 {
        self.rate
    }

    /// c, above 1.
    pub fn shape(self) -> f64 {
        self.shape
    }

    /// The exponent `y = kλt^c`.
    fn exponent(self, nodes: f64, seconds: f64) -> f64 {
        nodes * self.rate * seconds.powf(self.shape)
    }

    /// Probability that all of `nodes` survive so long (5.4).
    pub fn survival(self, nodes: f64, seconds: f64) -> f64 {
        (-self.exponent(nodes, seconds)).exp()
    }

    /// The number of nodes on which `work` survives most probably, `k = (c − 1)p/s` (5.8);
    /// infinite when nothing is serial.
    pub fn best_nodes(self, work: Work) -> f64 {
        (self.shape - 1.0) * work.parallel / work.serial
    }

    /// When to take the `m`-th checkpoint (from 1) that costs `cost` seconds (5.23), in seconds
    /// from the start. `phi` is the share of the time since a checkpoint that a failure loses on
    /// average, φ (one half when it strikes anywhere alike).
    pub fn placement(self, nodes: f64, cost: f64, phi: f64, m: u32) -> f64 {
        let c = self.shape;
        let root = (cost / (nodes * self.rate * c * phi)).sqrt();
        (f64::from(m) * (c + 1.0) / 2.0 * root).powf(2.0 / (c + 1.0))
    }

    /// Seconds wasted until a failure, in expectation, with checkpoints of `cost` seconds at their
    /// best places and a recovery of `recovery` seconds (5.31).
    pub fn expected_waste(self, nodes: f64, cost: f64, phi: f64, recovery: f64) -> f64 {
        let c = self.shape;
        let scale = (nodes * self.rate).powf(1.0 / (2.0 * c));
        2.0 / scale * (cost * phi / c).sqrt() * gamma((c + 1.0) / (2.0 * c)) + recovery
    }

    /// Seconds to compute again, in expectation, after a failure within `seconds` without a
    /// checkpoint: the mean time of that failure (5.25). 0 for no time.
    pub fn expected_recomputation(self, nodes: f64, seconds: f64) -> f64 {
        let (y, c) = (self.exponent(nodes, seconds), self.shape);
        if y < 1.0 {
            return seconds * share_until_rare_failure(1.0 / c, y);
        }
        let scale = (nodes * self.rate).powf(-1.0 / c);
        let until = scale / c * lower_gamma(1.0 / c, y) - seconds * (-y).exp();
        until / -(-y).exp_m1()
    }
}

/// The same as a share of the time, where a failure is improbable: y below 1, a = 1/c. Both differences of 5.25 as their
/// series, `Σ n/(a + n)·(−y)ⁿ/n!` over `Σ (−y)ⁿ/n!` from n = 1 on: of nearly equal numbers they would be rounding.
fn share_until_rare_failure(a: f64, y: f64) -> f64 {
    const TERMS: i32 = 20;
    let (mut until, mut failed, mut term) = (0.0, 0.0, 1.0);
    for n in (1..=TERMS).map(f64::from) {
        until += n / (a + n) * term;
        failed += term;
        term *= -y / (n + 1.0);
    }
    until / failed
}

/// The lower incomplete gamma function, from nothing to everything.
fn lower_gamma(a: f64, y: f64) -> f64 {
    match y {
        ..=0.0 => 0.0,
        f64::INFINITY => gamma(a),
        _ => gamma_li(a, y),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: f64 = 64.0;

    fn failures() -> Failures {
        Failures::new(1e-6, 1.5).unwrap()
    }

    fn near(value: f64, printed: f64, half_digit: f64) {
        assert!((value - printed).abs() <= half_digit, "{value} is not {printed}");
    }

    #[test]
    fn recomputation_within_300_s_is_172_49_s_by_5_25_and_not_what_5_26_prints() {
        let closed = failures().expected_recomputation(NODES, 300.0);
        near(closed, 172.49, 5e-3);
        // 5.25 itself: the mean of t under the density of failure, over those within 300 s.
        let (rate, shape, steps) = (NODES * 1e-6, 1.5, 100_000);
        let density = |t: f64| rate * shape * t.powf(shape - 1.0) * (-rate * t.powf(shape)).exp();
        let (mut mean, mut mass) = (0.0, 0.0);
        for i in 0..steps {
            let t = (f64::from(i) + 0.5) * 300.0 / f64::from(steps);
            mean += t * density(t);
            mass += density(t);
        }
        near(closed, mean / mass, 1e-4);
        // 5.26 as printed: its second term has another unit.
        let y = rate * 300f64.powf(shape);
        let printed = (rate.powf(-1.0 / shape) / shape * lower_gamma(1.0 / shape, y)
            - 300f64.powf(1.0 - shape) / rate * (-y).exp())
            / (1.0 - (-y).exp());
        assert!((printed - closed).abs() > 100.0, "{printed}");
    }

    /// The rarer a failure, the nearer its mean time to that of a hazard which rises as t^(c − 1): T·c/(c + 1).
    #[test]
    fn a_rare_failure_comes_when_its_hazard_says() {
        for (rate, shape, seconds, nodes) in [
            (8.914e-18, 1.58, 1.967, 100.0),
            (2.627e-23, 1.88, 295.0, 1000.0),
            (6.278e-11, 18.7, 1.698e-4, 1e6),
            (1e-21, 1.5, 10_000.0, 1.0),
            (1e-320, 1.5, 1e-9, 1.0),
        ] {
            let mean = Failures::new(rate, shape).unwrap().expected_recomputation(nodes, seconds);
            near(mean / seconds, shape / (shape + 1.0), 1e-12);
        }
        // Both ways to it meet, and lie between that and what always fails late.
        let at = |y: f64| {
            let seconds = (y / (NODES * 1e-6)).powf(1.0 / 1.5);
            failures().expected_recomputation(NODES, seconds) / seconds
        };
        near(at(1.0 - 1e-9), at(1.0 + 1e-9), 1e-8);
        assert!(at(0.99) < at(0.01) && at(0.01) < 0.6, "{} {}", at(0.99), at(0.01));
    }

    #[test]
    fn sooner_or_later_all_nodes_have_failed() {
        let late = Failures::new(1e-6, 1000.0).unwrap().expected_recomputation(NODES, 1e9);
        near(late, 1.0, 0.02);
        near(lower_gamma(0.5, f64::INFINITY), std::f64::consts::PI.sqrt(), 1e-9);
        assert_eq!(lower_gamma(0.5, 0.0), 0.0);
    }

    #[test]
    fn checkpoints_are_placed_at_19_33_and_46_seconds() {
        // The last is printed as 46.379; to five digits behind the point it is 46.37848.
        for (m, printed) in [(1, 19.258), (2, 33.531), (3, 46.379)] {
            near(failures().placement(NODES, 0.05, 0.5, m), printed, 6e-4);
        }
        near(failures().placement(NODES, 0.05, 0.5, 3), 46.37848, 5e-6);
    }

    #[test]
    fn best_survival_is_on_11_875_nodes() {
        let work = Work { parallel: 0.95, serial: 0.04 };
        let best = failures().best_nodes(work);
        near(best, 11.875, 1e-9);
        let survival = |k: f64| failures().survival(k, work.seconds(k));
        assert!(survival(best) >= survival(best * 0.9).max(survival(best * 1.1)));
    }

    #[test]
    fn nodes_for_a_gain_take_as_much_less_as_wanted() {
        let work = Work { parallel: 95.0, serial: 5.0 };
        let nodes = work.nodes_for_gain(0.8).unwrap();
        near(nodes, 95.0 / 15.0, 1e-12);
        near(work.seconds(nodes), 20.0, 1e-12);
        assert_eq!(work.nodes_for_gain(0.95), None, "5 s are serial");
        // Scaled: one node takes k·p + s, and k nodes p + s: a fifth of that, less the overhead.
        let nodes = work.nodes_for_scaled_gain(0.8, 10.0);
        near(nodes, (500.0 - 5.0 + 10.0) / 95.0, 1e-12);
        near((95.0 + 5.0) / (95.0 * nodes + 5.0 - 10.0), 1.0 - 0.8, 1e-12);
    }

    #[test]
    fn expected_waste_is_the_sum_of_checkpoints_and_lost_time() {
        // Numerically: checkpoints at rate n(t) cost C each, and φ/n(t) is lost, until failure at t.
        let (rate, shape, cost, phi) = (NODES * 1e-6, 1.5, 0.05, 0.5);
        let hazard = |t: f64| rate * shape * t.powf(shape - 1.0);
        let frequency = |t: f64| (phi * hazard(t) / cost).sqrt();
        let (steps, end) = (200_000, 5000.0);
        let h = end / f64::from(steps);
        let (mut taken, mut waste) = (0.0, 0.0);
        for i in 0..steps {
            let t = (f64::from(i) + 0.5) * h;
            taken += cost * frequency(t) * h;
            let density = hazard(t) * (-rate * t.powf(shape)).exp();
            waste += (taken + phi / frequency(t)) * density * h;
        }
        let closed = failures().expected_waste(NODES, cost, phi, 3.0);
        near(closed, waste + 3.0, 0.02);
    }

    #[test]
    fn a_checkpointed_kernel_takes_the_sum_of_its_parts() {
        assert_eq!(checkpointed_seconds(1.0, 2.0, 3.0, 4.0), 10.0);
    }

    #[test]
    fn a_concurrent_save_costs_the_copy_and_what_does_not_fit() {
        let save = Save { snapshot: 0.1, download: 2.0, write: 3.0 };
        assert_eq!(save.cost_in_turn(), 5.0);
        near(save.concurrent_cost(10.0), 0.1, 1e-12);
        near(save.concurrent_cost(1.5), 1.5, 1e-12);
        near(Save { write: 0.0, ..save }.concurrent_cost(1.5), 0.6, 1e-12);
    }

    #[test]
    fn a_shape_of_one_or_less_is_rejected_with_the_reason() {
        for shape in [1.0, 0.5, -1.0, f64::NAN, f64::INFINITY] {
            let message = Failures::new(1e-6, shape).unwrap_err().to_string();
            assert!(message.contains("do not become more frequent"), "{message}");
        }
        assert!(Failures::new(0.0, 1.5).is_err());
        assert_eq!(failures().expected_recomputation(NODES, 0.0), 0.0);
        assert_eq!(failures().survival(NODES, 0.0), 1.0);
    }
}
