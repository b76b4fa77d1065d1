//! Statistics of timing samples, tested with invented numbers. `docs/reference/METHODOLOGY.md` states each rule.

mod bootstrap;
mod change_points;
mod clear_best;
mod combine;
mod correlation;
mod location;
mod moderated;
mod most_stable_quantile;
mod multiple;
mod stopping;
mod summary;
pub mod threads;
mod trend;
mod variance_prior;
mod welch;

pub use bootstrap::{FEW_CASES, Level, Noise, Replicates, Stratum, largest_first};
pub use change_points::{change_points, step_scatter};
pub use clear_best::clear_best;
pub use combine::{
    Basis, Overall, Rounds, ends, exceeded_once_in_twenty, geometric_mean, overall, overalls,
};
pub use correlation::spearman;
pub use moderated::{Moderated, Scatter};
pub use most_stable_quantile::most_stable_quantile;
pub use multiple::{adaptive_threshold, benjamini_hochberg, rare_count};
pub use stopping::{Decision, Sampling, WarmUp, converged, is_overdue};
pub use summary::{Summary, median, median_of, quantile, rank_interval, rank_interval_within};
pub use trend::Trend;
pub use welch::{Difference, t_quantile, upper_limit};
