//! What many cases, each seen a few times, say of the variance of each: the prior of `moderated.rs`, averaged over.

use super::Scatter;

/// Step of the lattice in the logarithm of the variance.
const STEP: f64 = 0.25;
/// How far the lattice reaches below the smallest and above the largest estimate: one with a single
/// degree of freedom is a hundredth of the truth now and then, hardly ever ten times it.
const BELOW: f64 = 2.0;
const ABOVE: f64 = 10.0;
/// Estimates below this share of their median are luck or a coarse clock, and raised to it.
const FLOOR: f64 = 1e-4;
/// Below this no variance of a logarithm of seconds is believed.
const MIN_VARIANCE: f64 = 1e-18;

/// Prior degrees of freedom, and how probable each is beforehand.
const FREEDOMS: [(f64, f64); 3] = [(f64::INFINITY, 0.8), (8.0, 0.1), (2.0, 0.1)];
/// How probable it is beforehand that no case scatters more than the prior says.
const PURE: f64 = 0.5;
/// Else, shares of such cases, and the steps on the lattice by which they scatter more: about 9, 26
/// and 90 times the variance, 3 to 9.5 times the deviation. All are equally probable.
const SHARES: [f64; 4] = [0.05, 0.1, 0.2, 0.3];
const RAISES: [usize; 3] = [9, 13, 18];

/// A kind of noise that all cases may have.
pub(super) struct Noise {
    /// How probable it is beforehand.
    pub probability: f64,
    /// For each case how probable what was seen of it is, for each variance on the lattice; but for a factor that is the
    /// case's, whatever the noise.
    pub likelihoods: Vec<Vec<f64>>,
}

/// A hypothesis of the prior but for its s₀², which is every point of the lattice in turn.
#[derive(Clone, Copy)]
struct Hypothesis {
    /// Which kind of noise.
    noise: usize,
    /// Which of [`FREEDOMS`].
    prior: usize,
    /// Share of the cases whose variance is raised, and the steps by which.
    raised: Option<(f64, usize)>,
    /// Logarithm of its probability beforehand.
    log_prior: f64,
}

/// For each kind of noise and each case, how probable that noise with each variance on the lattice is; over all kinds
/// and variances the sum is 1.
pub(super) fn posteriors(noises: &[Noise], lattice: &[f64]) -> Vec<Vec<Vec<f64>>> {
    let priors = FREEDOMS.map(|(freedom, _)| prior(freedom, lattice));
    // By noise, prior, case and s₀²: how probable what was seen of the case is.
    let of = |noise: &Noise| -> Vec<Vec<Vec<f64>>> {
        let cases = |prior: &Vec<Vec<f64>>| {
            noise.likelihoods.iter().map(|case| product(prior, case)).collect()
        };
        priors.iter().map(cases).collect()
    };
    let marginals: Vec<Vec<Vec<Vec<f64>>>> = noises.iter().map(of).collect();
    let weights = weights(noises, &marginals, lattice.len());
    let posterior = |noise: usize, case: usize| {
        let mut posterior = vec![0.0; lattice.len()];
        for (which, prior) in priors.iter().enumerate() {
            let mixed = mixed((noise, which), &marginals[noise][which][case], &weights);
            for (row, weight) in prior.iter().zip(mixed).filter(|(_, weight)| *weight > 0.0) {
                posterior.iter_mut().zip(row).for_each(|(sum, p)| *sum += weight * p);
            }
        }
        posterior.iter_mut().zip(&noises[noise].likelihoods[case]).for_each(|(p, l)| *p *= l);
        posterior
    };
    let cases = noises.first().map_or(0, |noise| noise.likelihoods.len());
    let mut all: Vec<Vec<Vec<f64>>> = (0..noises.len())
        .map(|noise| (0..cases).map(|case| posterior(noise, case)).collect())
        .collect();
    for case in 0..cases {
        let sum: f64 = all.iter().flat_map(|noise| &noise[case]).sum();
        all.iter_mut().flat_map(|noise| &mut noise[case]).for_each(|p| *p /= sum);
    }
    all
}

/// The estimates, with none too small to be believed.
pub(super) fn floored(cases: &[Scatter]) -> Vec<Scatter> {
    let known = cases.iter().filter(|case| case.freedom > 0.0).map(|case| case.variance);
    let floor = FLOOR * crate::median_of(known).unwrap_or_default();
    let raised = |case: &Scatter| case.variance.max(floor).max(MIN_VARIANCE);
    cases.iter().map(|case| Scatter { variance: raised(case), ..*case }).collect()
}

/// Logarithms of the variances that are thought possible.
pub(super) fn lattice(estimates: &[Scatter]) -> Vec<f64> {
    let known = estimates.iter().filter(|case| case.freedom > 0.0);
    let logs: Vec<f64> = known.map(|case| case.variance.ln()).collect();
    let low = logs.iter().copied().fold(f64::INFINITY, f64::min) - BELOW;
    let high = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max) + ABOVE;
    if logs.is_empty() {
        return vec![MIN_VARIANCE.ln()];
    }
    // Rounding must not decide how many there are.
    let points = ((high - low) / STEP - 1e-6).ceil() as usize + 1;
    (0..points).map(|i| low + STEP * i as f64).collect()
}

/// How probable each true variance is (inner) for each s₀² (outer): of inverse χ² with so many degrees
/// of freedom, or s₀² itself where they are infinite.
pub(super) fn prior(freedom: f64, lattice: &[f64]) -> Vec<Vec<f64>> {
    let of = |(at, center): (usize, &f64)| {
        let density = |(i, log): (usize, &f64)| match freedom.is_infinite() {
            true => f64::from(u8::from(i == at)),
            false => {
                let ratio = center - log;
                (freedom / 2.0 * (ratio - ratio.exp() + 1.0)).exp()
            }
        };
        normalised(lattice.iter().enumerate().map(density).collect())
    };
    lattice.iter().enumerate().map(of).collect()
}

/// How probable what was seen of a case is for each s₀².
fn product(prior: &[Vec<f64>], likelihood: &[f64]) -> Vec<f64> {
    let sum = |row: &Vec<f64>| row.iter().zip(likelihood).map(|(p, l)| p * l).sum::<f64>();
    prior.iter().map(|row| sum(row).max(f64::MIN_POSITIVE)).collect()
}

/// Every hypothesis.
fn hypotheses(noises: &[Noise]) -> Vec<Hypothesis> {
    let each = ((1.0 - PURE) / (SHARES.len() * RAISES.len()) as f64).ln();
    let raised = SHARES.iter().flat_map(|share| RAISES.map(|raise| (Some((*share, raise)), each)));
    let kinds: Vec<_> = std::iter::once((None, PURE.ln())).chain(raised).collect();
    let mut all = vec![];
    for (noise, of) in noises.iter().enumerate() {
        for (prior, (_, probability)) in FREEDOMS.iter().enumerate() {
            let log = of.probability.ln() + probability.ln();
            let with = |(raised, kind): &_| {
                let (raised, log_prior): (_, f64) = (*raised, log + kind);
                Hypothesis { noise, prior, raised, log_prior }
            };
            all.extend(kinds.iter().map(with));
        }
    }
    all
}

/// How probable what was seen of a case is under a hypothesis, for the s₀² at `at`.
fn marginal(hypothesis: &Hypothesis, by_center: &[f64], at: usize) -> f64 {
    match hypothesis.raised {
        None => by_center[at],
        Some((share, raise)) => {
            let above = by_center[(at + raise).min(by_center.len() - 1)];
            (1.0 - share) * by_center[at] + share * above
        }
    }
}

/// The hypotheses with the probability, by s₀², that what was seen gives each.
fn weights(
    noises: &[Noise],
    marginals: &[Vec<Vec<Vec<f64>>>],
    points: usize,
) -> Vec<(Hypothesis, Vec<f64>)> {
    let logs = |hypothesis: &Hypothesis| -> Vec<f64> {
        let cases = &marginals[hypothesis.noise][hypothesis.prior];
        let log = |at| cases.iter().map(|case| marginal(hypothesis, case, at).ln()).sum::<f64>();
        (0..points).map(|at| log(at) + hypothesis.log_prior).collect()
    };
    let all: Vec<_> = hypotheses(noises).into_iter().map(|h| (h, logs(&h))).collect();
    let top = all.iter().flat_map(|(_, logs)| logs).copied().fold(f64::NEG_INFINITY, f64::max);
    let likely = |(hypothesis, logs): (Hypothesis, Vec<f64>)| {
        let weights: Vec<f64> = logs.iter().map(|log| (log - top).exp()).collect();
        weights.iter().any(|weight| *weight > 1e-9).then_some((hypothesis, weights))
    };
    all.into_iter().filter_map(likely).collect()
}

/// For one case, kind of noise and prior: the weight of each s₀², those of raised cases at the raised one.
fn mixed(
    (noise, prior): (usize, usize),
    by_center: &[f64],
    weights: &[(Hypothesis, Vec<f64>)],
) -> Vec<f64> {
    let points = by_center.len();
    let mut mixed = vec![0.0; points];
    let is_of = |hypothesis: &Hypothesis| hypothesis.noise == noise && hypothesis.prior == prior;
    for (hypothesis, weights) in weights.iter().filter(|(hypothesis, _)| is_of(hypothesis)) {
        for (at, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 1e-12) {
            let weight = weight / marginal(hypothesis, by_center, at);
            let (share, raise) = hypothesis.raised.unwrap_or_default();
            mixed[at] += (1.0 - share) * weight;
            mixed[(at + raise).min(points - 1)] += share * weight;
        }
    }
    mixed
}

/// The same, with sum 1.
pub(super) fn normalised(mut weights: Vec<f64>) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scatter(variance: f64, freedom: f64) -> Scatter {
        Scatter { variance, freedom }
    }

    #[test]
    fn estimates_far_below_the_median_of_those_known_are_raised() {
        let cases = [(1.0, 2.0), (1.0, 2.0), (1e-9, 2.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)];
        let found = floored(&cases.map(|(variance, freedom)| scatter(variance, freedom)));
        let found: Vec<f64> = found.iter().map(|case| case.variance).collect();
        assert_eq!(found, [1.0, 1.0, 1e-4, 1e-4, 1e-4, 1e-4]);
    }

    #[test]
    fn the_lattice_reaches_from_below_the_smallest_to_above_the_largest() {
        let found = lattice(&[scatter(1.0, 2.0), scatter(9.0, 0.0)]);
        assert_eq!((found.len(), found[0], found[48]), (49, -2.0, 10.0));
    }

    #[test]
    fn a_noise_under_which_all_cases_are_twice_as_probable_is_probable_by_the_power() {
        let lattice = lattice(&[scatter(1.0, 2.0)]);
        let noise =
            |of: f64| Noise { probability: 0.5, likelihoods: vec![vec![of; lattice.len()]; 3] };
        let found = posteriors(&[noise(0.1), noise(0.2)], &lattice);
        for (noise, wanted) in found.iter().zip([1.0 / 9.0, 8.0 / 9.0]) {
            let sums = noise.iter().map(|case| case.iter().sum::<f64>());
            assert!(sums.into_iter().all(|sum| (sum - wanted).abs() < 1e-9));
        }
    }
}
