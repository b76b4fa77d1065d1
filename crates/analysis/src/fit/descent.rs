//! Least squares of a model's logarithms over samples: where descents begin, and which are followed to
//! the end.

use super::Model;
use super::device::Device;
use super::fitted::{Fitted, For, Sample};
use gpubench_core::error::Result;
use gpubench_model::hybrid::Multiples;
use gpubench_model::least_squares::Problem;
use std::cell::RefCell;

/// Samples on which every start is tried: more would hardly choose others.
const TRIED: usize = 100;
/// Starts that are followed on all samples.
const FOLLOWED: usize = 3;
/// A descent ends where a step gains less than this share: which start leads down farthest shows by
/// then, fits to some of the launches predict the others as well as at the very bottom, and along a
/// valley there would be no end of it. Only the fit to all launches goes on.
const ENOUGH: f64 = 1e-3;

/// `model` with the parameters that suit `samples` best: those near the parameters of a fit to nearly the
/// same samples, where one is given.
pub(super) fn least_squares(
    model: Model,
    samples: &[Sample<'_>],
    device: Option<&Device>,
    what: For,
    near: Option<&Fitted>,
) -> Result<Fitted> {
    let domains = model.domains(device);
    let residuals = residuals(samples.iter().collect());
    let problem = Problem { residuals: &residuals, domains: &domains };
    let mut fitted = Fitted::new(model, descend(&problem, model, samples, device, what, near)?);
    if what.shows_its_parameters() {
        fitted.inflation = problem.inflation(&fitted.parameters, samples.len());
    }
    Ok(fitted)
}

fn descend(
    problem: &Problem<'_>,
    model: Model,
    samples: &[Sample<'_>],
    device: Option<&Device>,
    what: For,
    near: Option<&Fitted>,
) -> Result<Vec<f64>> {
    let Problem { residuals, domains } = problem;
    if let Some(near) = near {
        return problem.refine(&near.parameters, ENOUGH);
    }
    let mut starts = model.starts(samples, device)?;
    if starts.len() > FOLLOWED {
        let some = self::residuals(some(samples));
        let tried = Problem { residuals: &some, domains };
        let ends = starts.iter().filter_map(|start| tried.refine(start, ENOUGH).ok());
        let ends = best(residuals, ends);
        // Where none led anywhere, they are followed as they are.
        starts = if ends.is_empty() { starts } else { ends };
        starts.truncate(FOLLOWED);
    }
    let followed = starts.iter().filter_map(|start| problem.refine(start, ENOUGH).ok());
    match best(residuals, followed).first() {
        Some(end) if what != For::All => Ok(end.clone()),
        // Where no start led anywhere, they will not here, and the reason is reported.
        end => {
            let ends = end.map_or(starts, |end| vec![end.clone()]);
            Ok(problem.solve(&ends)?.values.iter().map(|estimate| estimate.value).collect())
        }
    }
}

/// Logarithms of predicted over measured.
fn residuals<'s>(samples: Vec<&'s Sample<'s>>) -> impl Fn(&[f64]) -> Vec<f64> + 's {
    // What only the second parameter changes, at its last value.
    let waits = RefCell::new((f64::NAN, vec![]));
    move |p| {
        let mut waits = waits.borrow_mut();
        if waits.0 != p[1] {
            *waits = (p[1], samples.iter().map(|sample| sample.view.pass.waiting(p)).collect());
        }
        let error = |(s, wait): (&&Sample<'_>, &f64)| {
            (s.view.pass.seconds_with(p, Multiples::ONE, *wait) / s.seconds()).ln()
        };
        samples.iter().zip(&waits.1).map(error).collect()
    }
}

/// About [`TRIED`] samples, spread over all without any step that sizes could have, too.
fn some<'s>(samples: &'s [Sample<'s>]) -> Vec<&'s Sample<'s>> {
    let golden = 0.618_033_988_749_895;
    let share = TRIED as f64 / samples.len() as f64;
    let chosen = |(i, _): &(usize, &Sample<'_>)| (*i as f64 * golden).fract() < share;
    samples.iter().enumerate().filter(chosen).map(|(_, sample)| sample).collect()
}

/// Parameters, those with the least squares first.
fn best(
    residuals: &dyn Fn(&[f64]) -> Vec<f64>,
    all: impl Iterator<Item = Vec<f64>>,
) -> Vec<Vec<f64>> {
    let squares = |p: &[f64]| residuals(p).iter().map(|r| r * r).sum::<f64>();
    let mut all: Vec<(f64, Vec<f64>)> = all.map(|p| (squares(&p), p)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.into_iter().map(|(_, p)| p).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::hand_computed::{changed, device, launch};
    use crate::fit::{Launch, View};

    fn samples<'a>(model: Model, launches: &'a [Launch], device: &Device) -> Vec<Sample<'a>> {
        let view = |launch| View::new(model, launch, Some(device)).unwrap();
        launches.iter().map(|launch| Sample { launch, view: view(launch) }).collect()
    }

    #[test]
    fn a_residual_is_the_logarithm_of_predicted_over_measured() {
        let model = Model::PARALLEL_DEGREES;
        let of = |groups, seconds| Launch { seconds, passes: 2.0, ..changed(groups, |_| ()) };
        let launches = [of(8.0, 2e-6), of(16.0, 5e-6)];
        let samples = samples(model, &launches, &device());
        let residuals = residuals(samples.iter().collect());
        // What waits for memory changes with the second parameter, and back again.
        for transaction in [200.0, 20.0, 20.0, 200.0] {
            let p = [1e-6, transaction, 2.0, 4.0, 0.5, 60.0];
            let wanted: Vec<f64> = samples
                .iter()
                .map(|sample| {
                    (sample.view.seconds(&p, Multiples::ONE) / sample.launch.seconds).ln()
                })
                .collect();
            for (found, wanted) in residuals(&p).iter().zip(&wanted) {
                assert!((found - wanted).abs() < 1e-12, "{found} is not {wanted}");
            }
            assert_eq!(residuals(&p).len(), 2);
        }
    }

    #[test]
    fn about_a_hundred_samples_are_tried_from_all_over() {
        let launches = vec![launch(); 250];
        let samples = samples(Model::ROOFLINE, &launches, &device());
        let some = some(&samples);
        assert!((98..=102).contains(&some.len()), "{}", some.len());
        let at = |sample: &Sample<'_>| {
            launches.iter().position(|launch| std::ptr::eq(launch, sample.launch)).unwrap()
        };
        let places: Vec<usize> = some.iter().map(|sample| at(sample)).collect();
        assert!(places.windows(2).all(|pair| (1..=4).contains(&(pair[1] - pair[0]))), "{places:?}");
        assert_eq!(super::some(&samples[..100]).len(), 100);
    }

    #[test]
    fn the_least_squares_come_first() {
        let residuals = |p: &[f64]| vec![p[0] - 3.0, 2.0 * (p[0] - 3.0)];
        let all = [0.0, 5.0, 2.5].map(|value| vec![value]);
        assert_eq!(best(&residuals, all.into_iter()), [[2.5], [5.0], [0.0]]);
    }
}
