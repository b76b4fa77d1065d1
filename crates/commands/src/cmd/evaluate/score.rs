//! How good predictions of a space are.

use gpubench_stats::spearman;
use serde::Serialize;

/// What predictions are worth, or the mean over several draws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Score {
    /// Spearman's ρ between predicted and measured times.
    pub spearman: f64,
    /// Time of the variant that is called best over the best of all.
    pub pick: f64,
    /// Median of |predicted − measured| / measured; infinite where fewer than half are predicted.
    pub error: f64,
}

/// A mean score, and between which values nine of ten draws lie.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluated {
    /// The mean.
    #[serde(flatten)]
    pub mean: Score,
    /// The 5 % and 95 % quantiles of ρ.
    pub spearman_interval: [f64; 2],
    /// Likewise of the pick.
    pub pick_interval: [f64; 2],
    /// Likewise of the error.
    pub error_interval: [f64; 2],
}

impl Score {
    /// Of predictions; `None` without any. What is not predicted counts as infinitely slow.
    pub fn of(predicted: &[Option<f64>], measured: &[f64]) -> Option<Self> {
        let predicted: Vec<f64> =
            predicted.iter().map(|one| one.unwrap_or(f64::INFINITY)).collect();
        let best = measured.iter().copied().fold(f64::INFINITY, f64::min);
        let pick = (0..measured.len()).min_by(|&a, &b| predicted[a].total_cmp(&predicted[b]))?;
        let errors = predicted.iter().zip(measured).map(|(p, m)| (p - m).abs() / m);
        let mut errors: Vec<f64> = errors.collect();
        errors.sort_by(f64::total_cmp);
        errors.first().filter(|error| error.is_finite())?;
        let error = errors[errors.len() / 2];
        let spearman = spearman(&predicted, measured);
        Some(Self { spearman, pick: measured[pick] / best, error })
    }
}

impl Evaluated {
    /// Of the scores of several draws; `None` without any.
    pub fn of(scores: &[Score]) -> Option<Self> {
        let count = scores.len() as f64;
        let mean = |of: fn(&Score) -> f64| scores.iter().map(of).sum::<f64>() / count;
        let interval = |of: fn(&Score) -> f64| {
            let mut all: Vec<f64> = scores.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            [0.05, 0.95].map(|q| gpubench_stats::quantile(&all, q))
        };
        let parts: [fn(&Score) -> f64; 3] = [|s| s.spearman, |s| s.pick, |s| s.error];
        let [spearman, pick, error] = parts;
        (!scores.is_empty()).then(|| Self {
            mean: Score { spearman: mean(spearman), pick: mean(pick), error: mean(error) },
            spearman_interval: interval(spearman),
            pick_interval: interval(pick),
            error_interval: interval(error),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_pick_and_error_are_apart() {
        let measured = [1.0, 2.0, 4.0, 3.0];
        let score = Score::of(&[2.0, 4.0, 8.0, 6.0].map(Some), &measured).unwrap();
        assert_eq!(score, Score { spearman: 1.0, pick: 1.0, error: 1.0 });
        let worst = Score::of(&[4.0, 3.0, 1.0, 2.0].map(Some), &measured).unwrap();
        assert_eq!((worst.spearman, worst.pick), (-1.0, 4.0));
        let flat = Score::of(&[Some(1.0); 4], &measured).unwrap();
        assert_eq!((flat.spearman, flat.pick), (0.0, 1.0));
        assert!(Score::of(&[None; 4], &measured).is_none());
        // Of one in four the error says nothing.
        let one = Score::of(&[Some(1.0), None, None, None], &measured).unwrap();
        assert!(one.error.is_infinite());
        // Ties share ranks: ρ of (0, 1.5, 1.5, 3) with (0, 1, 3, 2).
        let tied = Score::of(&[1.0, 2.0, 2.0, 3.0].map(Some), &measured).unwrap();
        assert!((tied.spearman - 3.0 / (4.5f64 * 5.0).sqrt()).abs() < 1e-12, "{tied:?}");
    }

    #[test]
    fn draws_are_averaged_with_their_spread() {
        let score = |pick| Score { spearman: 0.5, pick, error: 0.1 };
        let evaluated = Evaluated::of(&[score(1.0), score(3.0)]).unwrap();
        assert_eq!((evaluated.mean.pick, evaluated.spearman_interval), (2.0, [0.5, 0.5]));
        assert!(evaluated.pick_interval[0] < 1.2 && evaluated.pick_interval[1] > 2.8);
        assert!(Evaluated::of(&[]).is_none());
    }
}
