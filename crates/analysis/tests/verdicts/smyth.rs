//! The rival: the plain moderated t of Smyth (2004), as limma has it, with Benjamini and Hochberg's rule.

use gpubench_analysis::DeviceCases;
use gpubench_stats::{Difference, benjamini_hochberg};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::gamma::digamma;

/// Prior degrees of freedom and variance.
#[derive(Clone, Copy, Debug)]
pub struct Prior {
    pub freedom: f64,
    pub variance: f64,
}

/// Which cases it calls changed by more than 1 %, at a false discovery rate of 5 %.
pub fn changed(old: &DeviceCases, new: &DeviceCases) -> Vec<bool> {
    let logs = |medians: &[f64]| medians.iter().map(|m| m.ln()).collect::<Vec<f64>>();
    let differences: Vec<Difference> = old
        .cases
        .values()
        .zip(new.cases.values())
        .filter_map(|(old, new)| Difference::between(&logs(&old.medians), &logs(&new.medians)))
        .collect();
    let freedom = differences[0].rounds.iter().sum::<f64>() - 2.0;
    let variances: Vec<f64> = differences.iter().map(|d| d.scatter * d.scatter).collect();
    let prior = prior(&variances, freedom);
    let p_values: Vec<f64> = differences.iter().map(|d| p_value(d, freedom, prior)).collect();
    let found = benjamini_hochberg(&p_values, 0.05).into_iter().zip(differences);
    found.map(|(found, d)| found && d.difference.abs() > 0.01f64.ln_1p()).collect()
}

/// The prior by the moments of log s² (his §6.2).
fn prior(variances: &[f64], freedom: f64) -> Prior {
    let n = variances.len() as f64;
    let half = freedom / 2.0;
    let logs: Vec<f64> = variances.iter().map(|s| s.ln() - digamma(half) + half.ln()).collect();
    let mean = logs.iter().sum::<f64>() / n;
    let spread = logs.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let excess = spread - trigamma(half);
    if excess <= 0.0 {
        return Prior { freedom: f64::INFINITY, variance: mean.exp() };
    }
    let half = trigamma_inverse(excess);
    Prior { freedom: 2.0 * half, variance: (mean + digamma(half) - half.ln()).exp() }
}

fn p_value(d: &Difference, freedom: f64, prior: Prior) -> f64 {
    let factor = d.factor();
    if prior.freedom.is_infinite() {
        return 2.0 * Normal::standard().sf(d.difference.abs() / (factor * prior.variance).sqrt());
    }
    let all = prior.freedom + freedom;
    let variance = (prior.freedom * prior.variance + freedom * d.scatter.powi(2)) / all;
    let t = StudentsT::new(0.0, 1.0, all).expect("positive degrees of freedom");
    2.0 * t.sf(d.difference.abs() / (factor * variance).sqrt())
}

/// ψ′: the recurrence up to 10, then the asymptotic series (Abramowitz and Stegun, 6.4.12).
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    sum + 1.0 / x + y / 2.0 + y / x * (1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y / 30.0)))
}

/// Its inverse by Newton's method on 1/ψ′ (Smyth's appendix).
fn trigamma_inverse(x: f64) -> f64 {
    let mut y = 0.5 + 1.0 / x;
    for _ in 0..50 {
        let now = trigamma(y);
        let slope = (trigamma(y * (1.0 + 1e-5)) - trigamma(y * (1.0 - 1e-5))) / (2e-5 * y);
        let step = now * (1.0 - now / x) / slope;
        y += step;
        if step.abs() < 1e-9 * y {
            break;
        }
    }
    y
}

#[test]
fn trigamma_and_its_inverse_have_their_known_values() {
    let square = std::f64::consts::PI.powi(2);
    // Abramowitz and Stegun 6.4.2 and 6.4.4: ψ′(1) = π²/6, ψ′(1/2) = π²/2, ψ′(2) = π²/6 − 1.
    for (x, value) in [(1.0, square / 6.0), (0.5, square / 2.0), (2.0, square / 6.0 - 1.0)] {
        assert!((trigamma(x) - value).abs() < 1e-12, "{x}: {}", trigamma(x));
        assert!((trigamma_inverse(value) - x).abs() < 1e-6, "{value}: {}", trigamma_inverse(value));
    }
}

#[test]
fn the_prior_of_a_small_example_is_what_its_moments_say() {
    // Variances e^{−2}, e^{−1} … e², d = 4: log s² has the variance 2.5; ψ′(2) = 0.644934, so
    // ψ′(d₀/2) = 1.855066. With ψ(2) = 0.422784 the mean of e is 0.270363.
    let variances: Vec<f64> = (-2..=2).map(|i| f64::from(i).exp()).collect();
    let found = prior(&variances, 4.0);
    assert!((trigamma(found.freedom / 2.0) - 1.855_066).abs() < 1e-5, "{found:?}");
    let half = found.freedom / 2.0;
    let mean = found.variance.ln() - digamma(half) + half.ln();
    assert!((mean - 0.270_363).abs() < 1e-5, "{mean}");
    assert!(prior(&[1.0, 1.01, 0.99], 4.0).freedom.is_infinite());
}
