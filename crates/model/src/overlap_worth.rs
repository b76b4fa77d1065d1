//! Model 2, overlap worth: is it worth the effort to overlap computation and communication?
//!
//! Source: V13 §5.2.1 and §5.4.3.

/// The share of the total time that perfect overlap would save: the shorter of the two
/// activities, in seconds, over the total. 0 for a total that is not positive.
pub fn potential(computation: f64, communication: f64, total: f64) -> f64 {
    if total > 0.0 { computation.min(communication) / total } else { 0.0 }
}

/// The share of the total time that overlap really saves: of the `potential`, that `quality`
/// (0 to 1) which the device can hide.
pub fn gain(potential: f64, quality: f64) -> f64 {
    potential * quality
}

/// Runs after which overlap, by which each is shorter by `gained`, has paid for its development, both in seconds of the
/// machine; infinite where it gains nothing. Ours: V13's equations end with the gain.
pub fn runs_to_pay(development: f64, gained: f64) -> f64 {
    match development {
        cost if cost <= 0.0 => 0.0,
        _ if gained <= 0.0 => f64::INFINITY,
        cost => (cost / gained).ceil(),
    }
}

/// How an iteration combines computation, host–device transfer and communication between nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// One after the other.
    Synchronous,
    /// Communication concurrent with computation; the transfer apart.
    Native,
    /// Transfer and communication concurrent with computation.
    Total,
}

impl Strategy {
    /// Seconds of one iteration with ideal overlap (quality 1).
    pub fn seconds(self, computation: f64, transfer: f64, communication: f64) -> f64 {
        match self {
            Self::Synchronous => computation + transfer + communication,
            Self::Native => transfer + computation.max(communication),
            Self::Total => computation.max(transfer + communication),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_48_and_46_percent_at_quality_10_percent_gain_4_6_percent() {
        assert!((gain(potential(0.48, 0.46, 1.0), 0.10) - 0.046).abs() < 1e-12);
    }

    #[test]
    fn strategies_hide_more_and_more() {
        let seconds = |s: Strategy| s.seconds(5.0, 1.0, 3.0);
        assert_eq!(seconds(Strategy::Synchronous), 9.0);
        assert_eq!(seconds(Strategy::Native), 6.0);
        assert_eq!(seconds(Strategy::Total), 5.0);
        assert_eq!(Strategy::Total.seconds(2.0, 1.0, 3.0), 4.0);
    }

    #[test]
    fn a_gain_pays_for_its_development_after_some_runs() {
        // 4.6 % of 100 s; an hour is 782.6 times as much.
        assert_eq!(runs_to_pay(3600.0, 4.6), 783.0);
        assert_eq!(runs_to_pay(9.2, 4.6), 2.0);
        assert_eq!(runs_to_pay(0.0, 0.0), 0.0);
        assert_eq!(runs_to_pay(1.0, 0.0), f64::INFINITY);
    }

    #[test]
    fn no_time_has_no_potential() {
        assert_eq!(potential(1.0, 1.0, 0.0), 0.0);
        assert_eq!(potential(2.0, 3.0, 8.0), 0.25);
    }
}
