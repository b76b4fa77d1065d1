//! The first variants: likely good ones by the prior, far from each other.

use super::features::Features;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

/// How many are drawn for the start to be chosen from.
const POOL: usize = 300;

/// Draws a pool, likelier where the prior is good, and takes from it one after the other the variant that is
/// farthest from those taken. At a log slow-down of `temperature`, a variant is e times less likely drawn.
pub fn start(
    features: &Features,
    prior: &[f64],
    (count, temperature): (usize, f64),
    random: &mut Pcg64Mcg,
) -> Vec<usize> {
    // Gumbel noise makes the order of the sums a draw without replacement.
    let key = |log: &f64| -log / temperature - (-(1.0 - random.random::<f64>()).ln()).ln();
    let mut pool: Vec<(f64, usize)> = prior.iter().map(key).zip(0..).collect();
    pool.sort_by(|a, b| b.0.total_cmp(&a.0));
    let pool: Vec<usize> = pool.into_iter().take(POOL).map(|(_, variant)| variant).collect();
    let Some(first) = pool.first().filter(|_| count > 0) else { return vec![] };
    let mut taken = vec![*first];
    let mut nearest = vec![f64::INFINITY; pool.len()];
    while taken.len() < count.min(pool.len()) {
        let last = features.row(taken[taken.len() - 1]);
        for (variant, nearest) in pool.iter().zip(&mut nearest) {
            let gap = features.row(*variant).iter().zip(last).map(|(a, b)| (a - b).powi(2)).sum();
            *nearest = nearest.min(gap);
        }
        // What was taken, or is just the same, is at distance 0.
        let free = (0..pool.len()).filter(|at| !taken.contains(&pool[*at]));
        let Some(at) = free.max_by(|a, b| nearest[*a].total_cmp(&nearest[*b])) else { break };
        taken.push(pool[at]);
    }
    taken
}
