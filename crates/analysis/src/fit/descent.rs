//! Least squares of a model's logarithms over samples: where descents begin, and which are followed to
//! the end.

use super::Model;
use super::device::Device;
use super::fitted::{Fitted, For, SCALE, Sample, rates};
use super::pass::Pass;
use gpubench_core::error::{Error, Result};
use gpubench_model::least_squares::{Domain, Problem};
use std::cell::RefCell;

/// Samples on which every start is tried: more would hardly choose others.
const TRIED: usize = 100;
/// Starts that are followed on all samples.
const FOLLOWED: usize = 3;
/// A descent ends where a step gains less than this share: which start leads down farthest shows by
/// then, fits to some of the launches predict the others as well as at the very bottom, and along a
/// valley there would be no end of it. Only the fit to all launches goes on.
const ENOUGH: f64 = 1e-3;

/// The parameters that suit `samples` best: those near the parameters of a fit to nearly the same
/// samples, where one is given.
pub(super) fn descend(
    model: Model,
    samples: &[Sample<'_>],
    device: Option<&Device>,
    what: For,
    near: Option<&Fitted>,
) -> Result<Vec<f64>> {
    let domains = domains(model, samples);
    let residuals = residuals(samples.iter().collect());
    let problem = Problem { residuals: &residuals, domains: &domains };
    if let Some(near) = near {
        return problem.refine(&near.parameters, ENOUGH);
    }
    let mut starts = starts(model, samples, device)?;
    if starts.len() > FOLLOWED {
        let some = self::residuals(some(samples));
        let tried = Problem { residuals: &some, domains: &domains };
        let ends = starts.iter().filter_map(|start| tried.refine(start, ENOUGH).ok());
        let ends = best(&residuals, ends);
        // Where none led anywhere, they are followed as they are.
        starts = if ends.is_empty() { starts } else { ends };
        starts.truncate(FOLLOWED);
    }
    let followed = starts.iter().filter_map(|start| problem.refine(start, ENOUGH).ok());
    match best(&residuals, followed).first() {
        Some(end) if what != For::All => Ok(end.clone()),
        // Where no start led anywhere, they will not here, and the reason is reported.
        end => {
            let ends = end.map_or(starts, |end| vec![end.clone()]);
            Ok(problem.solve(&ends)?.values.iter().map(|estimate| estimate.value).collect())
        }
    }
}

/// How many times each parameter's variance is what it would be if the others were known.
pub(super) fn inflation(model: Model, samples: &[Sample<'_>], parameters: &[f64]) -> Vec<f64> {
    let domains = domains(model, samples);
    let residuals = residuals(samples.iter().collect());
    Problem { residuals: &residuals, domains: &domains }.inflation(parameters, samples.len())
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
            (s.view.pass.seconds_with(p, 1.0, *wait) / s.seconds()).ln()
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
    residuals: &impl Fn(&[f64]) -> Vec<f64>,
    all: impl Iterator<Item = Vec<f64>>,
) -> Vec<Vec<f64>> {
    let squares = |p: &[f64]| residuals(p).iter().map(|r| r * r).sum::<f64>();
    let mut all: Vec<(f64, Vec<f64>)> = all.map(|p| (squares(&p), p)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.into_iter().map(|(_, p)| p).collect()
}

fn domains(model: Model, samples: &[Sample<'_>]) -> Vec<Domain> {
    let positive = Domain::Positive;
    match model {
        Model::SmoothRoofline => vec![positive, positive, positive, Domain::Between(1.0, 16.0)],
        Model::WarpTimeline => vec![positive, SCALE, positive, positive, positive],
        Model::ParallelDegrees => {
            let warps = samples.iter().find_map(|sample| match sample.view.pass {
                Pass::Tasks { units: [_, warps], .. } => Some(f64::from(warps.max(2))),
                _ => None,
            });
            let warps = warps.unwrap_or(2.0);
            let degree = Domain::Between(1.0, 2.0 * warps);
            let bend = Domain::Between(0.0, warps);
            let share = Domain::Between(0.0, 1.0);
            vec![positive, positive, degree, bend, share, Domain::Between(0.1, 1000.0)]
        }
        Model::Components => vec![positive, SCALE, SCALE, SCALE],
        Model::Roofline | Model::Hybrid => vec![],
    }
}

fn starts(model: Model, samples: &[Sample<'_>], device: Option<&Device>) -> Result<Vec<Vec<f64>>> {
    let shortest = samples.iter().map(Sample::seconds).fold(f64::INFINITY, f64::min);
    if model == Model::SmoothRoofline {
        let [peak, bandwidth] = rates(samples);
        let starts = [1.5, 4.0].map(|p| [0.1, 0.9].map(|share| (share * shortest, p)));
        return Ok(starts
            .into_iter()
            .flatten()
            .map(|(launch, p)| vec![launch, peak, bandwidth, p])
            .collect());
    }
    let profiled = device.ok_or_else(|| {
        Error::Unsupported("it needs the device's profile: `gpubench run characterise`".into())
    })?;
    let mut start = model.unfitted(profiled)?.parameters;
    for value in &mut start {
        *value = value.max(1e-12);
    }
    // A launch of the profile may be longer than the shortest kernel, timed otherwise.
    start[0] = start[0].min(0.5 * shortest).max(1e-3 * shortest);
    Ok(match model {
        Model::Components => vec![ceilings(samples, start)],
        Model::ParallelDegrees => bends(&start, f64::from(profiled.unit.warps)),
        _ => {
            let mut other = start.clone();
            other[1] *= 3.0;
            other[2] /= 3.0;
            vec![start, other]
        }
    })
}

/// The scales at which no component takes longer than any launch: what is never the longest part
/// would not be found by a descent from lower ones. A component that no launch has stays as the
/// profile prices it.
fn ceilings(samples: &[Sample<'_>], mut start: Vec<f64>) -> Vec<f64> {
    let Domain::Between(low, high) = SCALE else { return start };
    let mut min_ratio = [f64::INFINITY; 3];
    for sample in samples {
        if let Pass::Components(base) = &sample.view.pass {
            for (min_ratio, part) in
                min_ratio.iter_mut().zip([base.compute, base.global, base.local])
            {
                *min_ratio = min_ratio.min(sample.seconds() / part);
            }
        }
    }
    for (scale, min_ratio) in
        start[1..].iter_mut().zip(min_ratio).filter(|(_, min_ratio)| min_ratio.is_finite())
    {
        *scale = min_ratio.clamp(low, high);
    }
    start
}

/// Bends of the compute parallel degree all over where it may lie, on a device whose units hold so
/// many warps.
fn bends(start: &[f64], warps: f64) -> Vec<Vec<f64>> {
    let mut all = vec![start.to_vec()];
    for a in [2.0, 8.0] {
        for b in [0.25, 0.6] {
            for c in [0.3, 0.5, 0.7] {
                let mut other = start.to_vec();
                other[1] /= 4.0;
                other[2..5].copy_from_slice(&[a, b * warps, c]);
                all.push(other);
            }
        }
    }
    all
}
