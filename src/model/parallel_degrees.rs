//! Model 5, parallel degrees: how many warps really compute and load at once, and how long does a
//! sequence of compute and memory tasks take then?
//!
//! Source: C13 ch. 3, equations 3.1 to 3.14. All times are cycles. Equation 3.14 prints a maximum
//! of one term; the other is 0.

/// A device as the model sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Device {
    /// Bandwidth of global memory in bytes per cycle, `GPU_bw`.
    pub bandwidth: f64,
    /// Units, `N_SM`.
    pub units: u32,
    /// Most warps resident on a unit, `m`.
    pub warps: u32,
    /// How the compute parallel degree bends; fitted per device.
    pub shape: Shape,
}

/// The empirical constants of the compute parallel degree (3.4 to 3.6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Degree at the bend, `a`.
    pub a: f64,
    /// Active warps at the bend, `b`.
    pub b: f64,
    /// Share of computation at which more warps neither help nor harm, `c`.
    pub c: f64,
    /// How strongly the share of computation lifts the degree, `d`.
    pub d: f64,
}

impl Shape {
    /// The paper's constants for the GeForce GTX 260.
    pub const GTX_260: Self = Self { a: 3.0, b: 11.0, c: 0.5, d: 80.0 };
}

/// A memory access of one warp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Access {
    /// Work-items that take part, `N_thread`.
    pub work_items: f64,
    /// Bytes for each, `D_mem`.
    pub bytes: f64,
    /// Transactions it becomes, `N_trans`.
    pub transactions: f64,
    /// Cycles of one transaction, `t_mem`.
    pub cycles: f64,
}

impl Access {
    /// Bytes per cycle that one warp draws, `Warp_bw` (3.1).
    pub fn warp_bandwidth(self) -> f64 {
        self.work_items * self.bytes / (self.transactions * self.cycles)
    }
}

/// One calculate period: a run of compute instructions, then a run of memory instructions, in
/// cycles of one warp.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Period {
    /// Cycles of computation, `c_i`.
    pub compute: f64,
    /// Cycles of memory access, `m_i`.
    pub memory: f64,
}

impl Device {
    /// How many of `active` warps load at once, MPD (3.2); at least 1.
    pub fn memory_degree(&self, active: u32, access: Access) -> u32 {
        let active = active.max(1);
        let drawn = f64::from(active) * f64::from(self.units) * access.warp_bandwidth();
        let possible = (self.bandwidth / drawn).floor();
        (possible as u32).clamp(1, active)
    }

    /// How many of `active` warps compute at once, CPD: the smaller of 3.4 and 3.5, at least 1.
    /// `share` is the computation's share of one warp's time, `P` (3.3).
    pub fn compute_degree(&self, active: u32, share: f64) -> f64 {
        let Shape { a, b, c, d } = self.shape;
        let (active, most) = (f64::from(active), f64::from(self.warps));
        let straight = (c - share) * (active - b) + a; // 3.4
        let n = d * (share - c).powi(2); // 3.6
        let radius = (most - 1.0).max(1.0);
        let height = (radius.powi(2) - (active - most).powi(2)).max(0.0).sqrt();
        let round = n / radius * height + a; // 3.5
        straight.min(round).max(1.0)
    }

    /// Cycles of one round of `active` warps through `periods`, the first one first.
    pub fn cycles(&self, active: u32, access: Access, periods: &[Period]) -> f64 {
        let before = std::iter::once(Period::default()).chain(periods.iter().copied());
        let steps = before.zip(periods).map(|(last, &now)| Step { last, now, times: 1.0 });
        self.sum(active, access, steps, f64::ceil).iter().sum()
    }

    /// The same of `steps`, as cycles that computing takes and cycles that memory adds to it.
    /// Parts of cycles count too, so that a small change of a constant changes the outcome a
    /// little, as a fit needs it: less than a cycle a period below [`Self::cycles`].
    pub fn round(
        &self,
        active: u32,
        access: Access,
        steps: impl Iterator<Item = Step> + Clone,
    ) -> [f64; 2] {
        self.sum(active, access, steps, |cycles| cycles)
    }

    fn sum(
        &self,
        active: u32,
        access: Access,
        steps: impl Iterator<Item = Step> + Clone,
        whole: fn(f64) -> f64,
    ) -> [f64; 2] {
        let active = active.max(1);
        let (mut compute, mut memory) = (0.0, 0.0);
        for step in steps.clone() {
            compute += step.times * step.now.compute;
            memory += step.times * step.now.memory;
        }
        let share = if compute > 0.0 { compute / (compute + memory) } else { 0.0 }; // 3.3
        let degrees = Degrees {
            active: f64::from(active),
            compute: self.compute_degree(active, share),
            memory: f64::from(self.memory_degree(active, access)),
            whole,
        };
        steps.fold([0.0; 2], |[computing, waiting], step| {
            let [more, wait] = degrees.period(step.last, step.now);
            [computing + step.times * more, waiting + step.times * wait]
        })
    }
}

/// A period after another, so many times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The period before; of the first one, none.
    pub last: Period,
    /// The period.
    pub now: Period,
    /// How often the one follows the other.
    pub times: f64,
}

/// The degrees under which a period's time is computed.
#[derive(Clone, Copy)]
struct Degrees {
    active: f64,
    compute: f64,
    memory: f64,
    /// How parts of cycles count.
    whole: fn(f64) -> f64,
}

impl Degrees {
    /// Cycles of the period `now` after `last` (3.7 to 3.14): of computing, and of waiting beyond it.
    fn period(self, last: Period, now: Period) -> [f64; 2] {
        let others = (self.active - 1.0) * now.compute;
        let computing = (self.whole)(self.active * now.compute / self.compute); // 3.7
        let previous = if last.compute < last.memory {
            let queued = last.memory * (self.active / self.memory - 1.0).floor();
            (queued - others).max(0.0) // 3.10, 3.11
        } else {
            0.0
        };
        let current = if now.compute < now.memory {
            (now.memory - others - previous).max(0.0) // 3.8, 3.9, 3.12 to 3.14
        } else {
            0.0
        };
        [computing, previous + current]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GPU: Device = Device { bandwidth: 90.0, units: 24, warps: 32, shape: Shape::GTX_260 };
    const COALESCED: Access =
        Access { work_items: 32.0, bytes: 4.0, transactions: 2.0, cycles: 200.0 };

    #[test]
    fn warps_share_the_bandwidth() {
        assert_eq!(COALESCED.warp_bandwidth(), 0.32);
        assert_eq!(GPU.memory_degree(1, COALESCED), 1);
        assert_eq!(GPU.memory_degree(2, COALESCED), 2, "5 would be possible, 2 are there");
        assert_eq!(GPU.memory_degree(4, COALESCED), 2, "90 / (4 · 24 · 0.32) = 2.9");
        assert_eq!(GPU.memory_degree(32, COALESCED), 1);
    }

    #[test]
    fn compute_degree_is_the_lower_curve_and_at_least_one() {
        // At the bend both curves start from a.
        assert_eq!(GPU.compute_degree(11, 0.5), 3.0);
        // 3.4: (0.5 − 0.1)(16 − 11) + 3 = 5; 3.5: 80 · 0.16 / 31 · sqrt(31² − 16²) + 3 = 13.96.
        assert!((GPU.compute_degree(16, 0.1) - 5.0).abs() < 1e-12);
        // 3.5 is lower: n = 80 · 0.01; 0.8 / 31 · sqrt(31² − 4²) + 3 = 3.793 < 4.7.
        assert!((GPU.compute_degree(28, 0.4) - 3.793_313).abs() < 1e-6);
        assert_eq!(GPU.compute_degree(32, 0.9), 1.0);
    }

    /// By hand: 4 warps; compute 10 and memory 100 cycles in each of two periods.
    #[test]
    fn periods_add_computing_queued_and_uncovered_latency() {
        let degrees = Degrees { active: 4.0, compute: 2.0, memory: 2.0, whole: f64::ceil };
        let period = Period { compute: 10.0, memory: 100.0 };
        // ceil(4·10/2) + (100 − 3·10)
        assert_eq!(degrees.period(Period::default(), period), [20.0, 70.0]);
        // + (100·floor(4/2 − 1) − 3·10) queued, and nothing uncovered beyond it
        assert_eq!(degrees.period(period, period), [20.0, 70.0]);
        let computing = Period { compute: 100.0, memory: 10.0 };
        assert_eq!(degrees.period(computing, computing), [200.0, 0.0]);
    }

    #[test]
    fn more_periods_take_longer_and_no_period_nothing() {
        let period = Period { compute: 22.0, memory: 200.0 };
        let one = GPU.cycles(8, COALESCED, &[period]);
        let two = GPU.cycles(8, COALESCED, &[period; 2]);
        assert!(one > 0.0 && two > one, "{one} {two}");
        assert_eq!(GPU.cycles(8, COALESCED, &[]), 0.0);
        let steps = [(Period::default(), 1.0), (period, 4.0)];
        let steps = steps.map(|(last, times)| Step { last, now: period, times });
        let five = GPU.round(8, COALESCED, steps.into_iter()).iter().sum::<f64>();
        let whole = GPU.cycles(8, COALESCED, &[period; 5]);
        assert!(five <= whole && five > whole - 5.0, "{five} {whole}");
    }
}
