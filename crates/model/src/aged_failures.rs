//! Model 12, aged failures: the same of nodes that have run for a while already.
//!
//! Ours: L14 treats the excess Weibull distribution (5.35 to 5.42), and we have none of these
//! equations. That nodes which survived `a` seconds survive `t` more follows from 5.4: with the
//! probability `exp(−kλ((a + t)^c − a^c))`; the rest follows from that as 5.23, 5.25 and 5.31 do from 5.4.
//! New nodes, `a = 0`, get the closed forms of [`super::checkpoint`].

use super::checkpoint::Failures;

/// Beyond this exponent nobody survives: `exp(−42)` is less than what a sum of doubles resolves.
const LAST_EXPONENT: f64 = 42.0;
/// Steps of an integral, an even number; twice as many change no result by a millionth.
const STEPS: u32 = 4000;

/// Failures of nodes that have run for so many seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgedFailures {
    failures: Failures,
    age: f64,
}

impl Failures {
    /// The same of nodes that have run for `age` seconds (at least 0) without a failure.
    pub fn aged(self, age: f64) -> AgedFailures {
        AgedFailures { failures: self, age }
    }
}

impl AgedFailures {
    /// The same of new nodes.
    pub fn renewed(self) -> Self {
        Self { age: 0.0, ..self }
    }

    /// The exponent of the survival of `nodes` for so many seconds more.
    fn exponent(self, nodes: f64, seconds: f64) -> f64 {
        let c = self.failures.shape();
        let grown = match self.age > 0.0 {
            // Of old nodes and little time both powers are nearly equal.
            true => self.age.powf(c) * (c * (seconds / self.age).ln_1p()).exp_m1(),
            false => seconds.powf(c),
        };
        nodes * self.failures.rate() * grown
    }

    /// When the exponent of `nodes` nodes reaches `exponent`: the other way round.
    pub fn seconds_at(self, nodes: f64, exponent: f64) -> f64 {
        let c = self.failures.shape();
        let reached = self.age.powf(c) + exponent / (nodes * self.failures.rate());
        (reached.powf(1.0 / c) - self.age).max(0.0)
    }

    /// Probability that all of `nodes` survive so many seconds more.
    pub fn survival(self, nodes: f64, seconds: f64) -> f64 {
        (-self.exponent(nodes, seconds)).exp()
    }

    /// When to take the `m`-th checkpoint, as [`Failures::placement`].
    pub fn placement(self, nodes: f64, cost: f64, phi: f64, m: u32) -> f64 {
        let power = f64::midpoint(self.failures.shape(), 1.0);
        let new = self.failures.placement(nodes, cost, phi, m);
        (new.powf(power) + self.age.powf(power)).powf(1.0 / power) - self.age
    }

    /// Seconds to compute again after a failure, as [`Failures::expected_recomputation`].
    pub fn expected_recomputation(self, nodes: f64, seconds: f64) -> f64 {
        if self.age <= 0.0 {
            return self.failures.expected_recomputation(nodes, seconds);
        }
        let last = self.exponent(nodes, seconds);
        if last <= 0.0 {
            return 0.0;
        }
        // The mean of t below T is ∫ (S(t) − S(T)) dt / (1 − S(T)), without a difference of near numbers.
        let above_last = |t: f64| {
            let y = self.exponent(nodes, t);
            -(-y).exp() * (y - last).exp_m1()
        };
        let end = seconds.min(self.seconds_at(nodes, LAST_EXPONENT));
        integral(above_last, end) / -(-last).exp_m1()
    }

    /// Seconds wasted until a failure, as [`Failures::expected_waste`].
    pub fn expected_waste(self, nodes: f64, cost: f64, phi: f64, recovery: f64) -> f64 {
        if self.age <= 0.0 {
            return self.failures.expected_waste(nodes, cost, phi, recovery);
        }
        let c = self.failures.shape();
        let power = f64::midpoint(c, 1.0);
        // Checkpoints per second where the hazard of the nodes is that of their age.
        let scale = (phi * nodes * self.failures.rate() * c / cost).sqrt();
        let waste_at = |t: f64| {
            let age = self.age + t;
            let taken = scale * (age.powf(power) - self.age.powf(power)) / power;
            cost * taken + phi / (scale * age.powf(power - 1.0))
        };
        // Over the exponent y = z⁴, which leaves nothing steep at the start of nearly new nodes.
        let over_exponent = |z: f64| {
            let y = z.powi(4);
            waste_at(self.seconds_at(nodes, y)) * (-y).exp() * 4.0 * z.powi(3)
        };
        integral(over_exponent, LAST_EXPONENT.powf(0.25)) + recovery
    }
}

/// The integral of `f` from 0 to `end`, by Simpson's rule.
fn integral(f: impl Fn(f64) -> f64, end: f64) -> f64 {
    let h = end / f64::from(STEPS);
    let weighted = (0..=STEPS).map(|i| {
        let weight = match i {
            0 | STEPS => 1.0,
            _ if i % 2 == 1 => 4.0,
            _ => 2.0,
        };
        weight * f(f64::from(i) * h)
    });
    weighted.sum::<f64>() * h / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: f64 = 64.0;

    fn failures() -> Failures {
        Failures::new(1e-6, 1.5).unwrap()
    }

    fn near(value: f64, wanted: f64, half_digit: f64) {
        assert!((value - wanted).abs() <= half_digit, "{value} is not {wanted}");
    }

    #[test]
    fn new_nodes_are_those_of_the_paper() {
        let (new, paper) = (failures().aged(0.0), failures());
        assert_eq!(new.survival(NODES, 300.0), paper.survival(NODES, 300.0));
        near(new.placement(NODES, 0.05, 0.5, 3), paper.placement(NODES, 0.05, 0.5, 3), 1e-9);
        // Nearly new ones, by the integrals instead of the closed forms.
        let nearly = failures().aged(1e-9);
        near(
            nearly.expected_recomputation(NODES, 300.0),
            paper.expected_recomputation(NODES, 300.0),
            1e-4,
        );
        near(
            nearly.expected_waste(NODES, 0.05, 0.5, 3.0),
            paper.expected_waste(NODES, 0.05, 0.5, 3.0),
            1e-4,
        );
    }

    /// Numbers of another program, in another language: sums of the density of failure over 400,000 steps,
    /// and checkpoints counted off the frequency `sqrt(φ·h(t)/C)` in steps of 10 µs.
    #[test]
    fn nodes_that_ran_for_2000_s_fail_as_an_independent_sum_says() {
        let aged = failures().aged(2000.0);
        near(aged.survival(NODES, 300.0), 0.263_123_972, 5e-10);
        near(aged.expected_recomputation(NODES, 300.0), 119.278_998, 5e-7);
        for (m, counted) in [(1, 4.824_77), (2, 9.646_63), (3, 14.465_6)] {
            near(aged.placement(NODES, 0.05, 0.5, m), counted, 1.5e-5);
        }
        near(aged.expected_waste(NODES, 0.05, 0.5, 0.0), 4.707_106, 5e-6);
    }

    #[test]
    fn the_exponent_and_its_time_are_inverse() {
        let aged = failures().aged(1000.0);
        near(aged.seconds_at(NODES, aged.exponent(NODES, 300.0)), 300.0, 1e-6);
        assert_eq!(aged.expected_recomputation(NODES, 0.0), 0.0);
        // No difference of near numbers: hardly any failure, and half of the time until it.
        let rare = Failures::new(1e-20, 1.5).unwrap().aged(1e6);
        near(rare.expected_recomputation(1.0, 10.0), 5.0, 1e-3);
    }
}
