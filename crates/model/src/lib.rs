//! The models: each answers one question about a device or a kernel from a few numbers.
//!
//! Pure arithmetic: no device, no file, no clock. Times are seconds, sizes bytes and rates per
//! second unless a field says otherwise. Equation numbers are those of the paper that the file
//! names; where a printed equation is wrong, the file says so and computes the right one.
//! `docs/reference/MODELS.md` explains each model, its check numbers and how gpubench uses it.
//!
//! - **L14** S. Laosooksathit, *Performance modeling and optimization techniques for heterogeneous
//!   computing*, dissertation, Louisiana Tech, 2014.
//! - **Q17** R. A. Quintanilla Cruz, *Analyzing and estimating the performance of concurrent kernels
//!   execution in GPUs*, MSc, UFF, 2017.
//! - **P14** L. S. Panwar, *Performance modeling, optimization, and characterization on
//!   heterogeneous architectures*, MSc, Virginia Tech, 2014.
//! - **V13** S. Vialle, S. Contassot-Vivier, *Optimization methodology for parallel programming of
//!   homogeneous or hybrid clusters*, book chapter, 2013.
//! - **C13** C. Luo, *Performance optimization methods based on performance analytical modeling and
//!   communication latency hiding in GPU*, PhD, Univ. of Tokyo, 2013.

pub mod aged_failures;
pub mod checkpoint;
pub mod components;
pub mod concurrency;
pub mod contention;
pub mod equal_devices;
pub mod event_driven;
pub mod failure_simulation;
pub mod hybrid;
mod hybrid_factor;
mod hybrid_fit;
pub mod intensity_roofline;
pub mod layout_transform;
pub mod least_squares;
pub mod load_balance;
pub mod memory_levels;
pub mod occupancy;
pub mod overlap_worth;
pub mod parallel_degrees;
pub mod pipeline;
pub mod pipeline_fit;
pub mod roofline;
pub mod saturation;
pub mod schedule;
pub mod schedule_rules;
pub mod schedule_search;
pub mod slowdown_budget;
pub mod smooth_roofline;
pub mod streams;
pub mod transfer;
pub mod transfer_states;
pub mod transfer_symmetry;
pub mod variant;
pub mod warp_timeline;

/// How near a prediction is to a measurement: the smaller over the larger, 1 when equal
/// (C13 eq. 3.15). 0 when either is not a positive number.
pub fn accuracy(predicted: f64, measured: f64) -> f64 {
    let good = |x: f64| x.is_finite() && x > 0.0;
    if good(predicted) && good(measured) {
        predicted.min(measured) / predicted.max(measured)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accuracy_is_symmetric_and_zero_for_nonsense() {
        assert_eq!(accuracy(2.0, 4.0), 0.5);
        assert_eq!(accuracy(4.0, 2.0), 0.5);
        assert_eq!(accuracy(3.0, 3.0), 1.0);
        assert_eq!(accuracy(0.0, 0.0), 0.0);
        assert_eq!(accuracy(f64::NAN, 1.0), 0.0);
    }
}
