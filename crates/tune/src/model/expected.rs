//! What is expected of each variant before anything is measured.

/// Seconds that each variant is expected to take, by its position in the space; `None` where nothing is known of it.
/// Empty where nothing is known of any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expected(pub Vec<Option<f64>>);

impl Expected {
    /// The logs of the times over their geometric mean; 0 for what is not known, or cannot be a time.
    pub(super) fn log_slowdowns(&self) -> Vec<f64> {
        let log = |seconds: &Option<f64>| seconds.map(f64::ln).filter(|log: &f64| log.is_finite());
        let logs: Vec<Option<f64>> = self.0.iter().map(log).collect();
        let known: Vec<f64> = logs.iter().copied().flatten().collect();
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        logs.into_iter().map(|log| log.map_or(0.0, |log| log - mean)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_expected_is_above_or_below_the_usual_and_what_is_not_known_is_as_usual() {
        let seconds = [Some(1.0), None, Some(4.0), Some(f64::INFINITY), Some(0.0), Some(-1.0)];
        let found = Expected(seconds.to_vec()).log_slowdowns();
        let half = 2f64.ln();
        assert_eq!(found, [-half, 0.0, half, 0.0, 0.0, 0.0]);
        assert!(Expected::default().log_slowdowns().is_empty());
        assert_eq!(Expected(vec![None; 3]).log_slowdowns(), [0.0; 3]);
    }
}
