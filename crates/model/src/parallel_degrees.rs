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

impl Period {
    /// Several as one.
    pub fn sum(periods: &[Self]) -> Self {
        periods.iter().fold(Self::default(), |all, period| Self {
            compute: all.compute + period.compute,
            memory: all.memory + period.memory,
        })
    }

    /// The computation's share of its time, `P` (3.3).
    pub fn share(self) -> f64 {
        if self.compute > 0.0 { self.compute / (self.compute + self.memory) } else { 0.0 }
    }
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
        let (active, max_warps) = (f64::from(active), f64::from(self.warps));
        let straight = (c - share) * (active - b) + a; // 3.4
        let n = d * (share - c).powi(2); // 3.6
        let radius = (max_warps - 1.0).max(1.0);
        let height = (radius.powi(2) - (active - max_warps).powi(2)).max(0.0).sqrt();
        let round = n / radius * height + a; // 3.5
        straight.min(round).max(1.0)
    }

    /// Cycles of one round of `active` warps through `periods`, the first one first.
    pub fn cycles(&self, active: u32, access: Access, periods: &[Period]) -> f64 {
        let all = Period::sum(periods);
        let degree = self.compute_degree(active.max(1), all.share());
        let active_warps = f64::from(active.max(1));
        let computing = periods.iter().map(|now| (active_warps * now.compute / degree).ceil()); // 3.7
        let before = std::iter::once(Period::default()).chain(periods.iter().copied());
        let steps = before.zip(periods).map(|(last, &now)| Step { last, now, times: 1.0 });
        computing.sum::<f64>() + self.waiting(active, access, steps)
    }

    /// Cycles of computing in a round of `active` warps whose periods are `all` together (3.7). Parts
    /// of cycles count too, so that a small change of a constant changes the outcome a little, as a
    /// fit needs it: less than a cycle a period below what [`Self::cycles`] counts.
    pub fn computing(&self, active: u32, all: Period) -> f64 {
        let active = active.max(1);
        f64::from(active) * all.compute / self.compute_degree(active, all.share())
    }

    /// Cycles that memory adds to those of computing in a round of `active` warps (3.8 to 3.14). The
    /// shape of the compute degree does not change them.
    pub fn waiting(&self, active: u32, access: Access, steps: impl Iterator<Item = Step>) -> f64 {
        let active = active.max(1);
        let degree = f64::from(self.memory_degree(active, access));
        let active = f64::from(active);
        let queue = (active / degree - 1.0).floor();
        steps.map(|step| step.times * wait(active, queue, step.last, step.now)).sum()
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

/// Cycles of the period `now` after `last` beyond those of computing (3.8 to 3.14), of `active` warps
/// that load so many times one after the other, beyond the first time.
fn wait(active: f64, queue: f64, last: Period, now: Period) -> f64 {
    let others = (active - 1.0) * now.compute;
    let previous = if last.compute < last.memory {
        (last.memory * queue - others).max(0.0) // 3.10, 3.11
    } else {
        0.0
    };
    let current = if now.compute < now.memory {
        (now.memory - others - previous).max(0.0) // 3.8, 3.9, 3.12 to 3.14
    } else {
        0.0
    };
    previous + current
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

    /// By hand: 4 warps, of which 2 load at once; compute 10 and memory 100 cycles in each period.
    #[test]
    fn queued_and_uncovered_latency_are_waited_for() {
        let period = Period { compute: 10.0, memory: 100.0 };
        let queue = f64::floor(4.0 / 2.0 - 1.0);
        // 100 − 3·10
        assert_eq!(wait(4.0, queue, Period::default(), period), 70.0);
        // 100·1 − 3·10 queued, and nothing uncovered beyond it
        assert_eq!(wait(4.0, queue, period, period), 70.0);
        let computing = Period { compute: 100.0, memory: 10.0 };
        assert_eq!(wait(4.0, queue, computing, computing), 0.0);
    }

    #[test]
    fn warps_compute_as_many_at_once_as_the_degree_says() {
        // At the bend, half of the time computing: 3 at once.
        let half = Period { compute: 30.0, memory: 30.0 };
        assert_eq!(GPU.computing(11, half), 110.0);
        // 11·10/3 is 36.7 and counts as 37; memory is hidden by the ten others.
        let period = Period { compute: 10.0, memory: 10.0 };
        assert_eq!(GPU.cycles(11, COALESCED, &[period; 3]), 111.0);
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
        let all = Period { compute: 5.0 * period.compute, memory: 5.0 * period.memory };
        let five = GPU.computing(8, all) + GPU.waiting(8, COALESCED, steps.into_iter());
        let whole = GPU.cycles(8, COALESCED, &[period; 5]);
        assert!(five <= whole && five > whole - 5.0, "{five} {whole}");
    }

    #[test]
    fn shares_and_rounds_are_those_of_the_equations() {
        let period = |compute, memory| Period { compute, memory };
        let shares = [period(10.0, 30.0), period(0.0, 5.0), Period::default()].map(Period::share);
        assert_eq!(shares, [0.25, 0.0, 0.0]);
        // Two of four load at once, so that all load twice: 100 − 3·10 each time.
        let step = |last, times| Step { last, now: period(10.0, 100.0), times };
        let steps = [step(Period::default(), 1.0), step(period(10.0, 100.0), 2.0)];
        assert_eq!(GPU.waiting(4, COALESCED, steps.into_iter()), 210.0);
        // Two times the last memory's 100 cycles, less what three others compute.
        assert_eq!(wait(4.0, 2.0, period(10.0, 100.0), period(20.0, 50.0)), 140.0);
        assert_eq!(wait(4.0, 2.0, period(50.0, 50.0), period(20.0, 50.0)), 0.0, "all hidden");
        assert_eq!(wait(1.0, 0.0, Period::default(), period(50.0, 50.0)), 0.0);
    }
}
