//! Successive halving: what looks slow after few launches gets no more of them (Jamieson and Talwalkar,
//! *Non-stochastic best arm identification and hyperparameter optimization*, AISTATS 2016).

/// Launches of each variant that is left, when they are first measured again.
const FIRST: u32 = 2;

/// Ranks variants by cost, the least first. `costs` are those of a first try each. The better half is then
/// measured again, in turn, so that a device whose speed changes meets all of them alike; the better half of
/// these for twice as long; and so on until one is left. `again` launches a variant once more and says what it
/// cost, or `None` where the time is up. The least cost of a variant counts, and is left in `costs`.
///
/// # Errors
/// Those of `again`.
pub fn halve<E>(
    costs: &mut [f64],
    mut again: impl FnMut(usize) -> Result<Option<f64>, E>,
) -> Result<Vec<usize>, E> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    sort(&mut order, costs);
    // Of two or three, all: half of them would be one that nothing was ever held against.
    let (mut left, mut launches) = (order.len().div_ceil(2).max(3).min(order.len()), FIRST);
    while left > 1 {
        for _ in 0..launches {
            for &variant in &order[..left] {
                let Some(cost) = again(variant)? else {
                    sort(&mut order[..left], costs);
                    return Ok(order);
                };
                costs[variant] = costs[variant].min(cost);
            }
        }
        sort(&mut order[..left], costs);
        left = if left == 2 { 1 } else { left.div_ceil(2) };
        launches *= 2;
    }
    Ok(order)
}

fn sort(order: &mut [usize], costs: &[f64]) {
    order.sort_by(|a, b| costs[*a].total_cmp(&costs[*b]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;
    use std::convert::Infallible;

    #[test]
    fn the_best_of_many_is_found_under_noise_and_most_launches_are_its_own() {
        let mut random = Pcg64Mcg::seed_from_u64(7);
        let mut wrong = 0;
        for _ in 0..100 {
            let truth: Vec<f64> = (0..200).map(|i| 1.0 + 0.01 * f64::from(i)).collect();
            // Other programs make some launches longer; nothing makes one shorter.
            let mut launch =
                |variant: usize| truth[variant] * (1.0 + random.random_range(0.0f64..0.6).powi(3));
            let mut costs: Vec<f64> = (0..truth.len()).map(&mut launch).collect();
            let mut launches = vec![0; truth.len()];
            let order = halve(&mut costs, |variant| {
                launches[variant] += 1;
                Ok::<_, Infallible>(Some(launch(variant)))
            })
            .unwrap();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..truth.len()), "each once");
            assert_eq!(launches.iter().max(), launches.iter().filter(|n| **n > 100).max());
            assert!(launches.iter().sum::<i32>() < 2000);
            wrong += i32::from(truth[order[0]] > 1.03);
        }
        assert_eq!(wrong, 0, "of 100 searches");
    }

    #[test]
    fn one_is_not_measured_again_and_two_are() {
        let ranked = |mut costs: Vec<f64>| {
            let mut seen = vec![];
            let order = halve(&mut costs, |variant| {
                seen.push(variant);
                Ok::<_, Infallible>(Some(0.5))
            });
            (order.unwrap(), seen, costs)
        };
        assert_eq!(ranked(vec![1.0]), (vec![0], vec![], vec![1.0]));
        assert_eq!(ranked(vec![2.0, 1.0]), (vec![1, 0], vec![1, 0, 1, 0], vec![0.5, 0.5]));
        assert_eq!(ranked(vec![]).0, [] as [usize; 0]);
    }

    #[test]
    fn when_the_time_is_up_what_is_known_decides() {
        let mut left = 3;
        let order = halve(&mut [4.0, 3.0, 2.0, 1.0], |variant| {
            left -= 1;
            Ok::<_, Infallible>((left >= 0).then_some(if variant == 1 { 0.1 } else { 9.0 }))
        });
        assert_eq!(order, Ok(vec![1, 3, 2, 0]));
        assert_eq!(halve(&mut [2.0, 1.0], |_| Err::<Option<f64>, _>("gone")), Err("gone"));
    }
}
