//! Models fitted to what a device was measured at, and evaluated on launches that the fit never saw:
//! each size of a workload in turn, then each workload in turn.

mod counted;
mod data_sheet;
mod descent;
mod device;
mod fitted;
mod folds;
#[cfg(test)]
mod hand_computed;
mod models;
mod own_roof;
mod pass;
mod picks;
mod profiled;
mod score;
mod space;
mod unseen;
mod view;

pub use counted::Counted;
pub use data_sheet::DataSheet;
pub use device::{Device, End, rules};
pub use fitted::Fitted;
pub use models::Model;
pub use own_roof::{OwnRoof, OwnRoofs};
pub use pass::Bound;
pub use picks::Picks;
pub use profiled::{PredictedTime, Profiled};
pub use score::{Parameter, Prediction, Residual, Score};
pub use space::SpacePredictor;
pub use view::View;

use fitted::{For, Sample};
use gpubench_core::error::{Error, Result};
use gpubench_core::workload::CaseKey;
use gpubench_model::accuracy;
use score::Evaluator;

/// One kernel at one size.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The case.
    pub key: CaseKey,
    /// What it runs, by a name that other sizes and workloads share which run the same.
    pub kernel: String,
    /// Launches that make its result.
    pub passes: f64,
    /// Operations of all passes, as the suite says.
    pub operations: f64,
    /// Bytes of all passes, as the suite says.
    pub bytes: f64,
    /// Bytes of the buffers that it is given.
    pub buffers: f64,
    /// The roof that it stands under.
    pub own_roof: OwnRoof,
    /// What its mean pass does, as counted; or why it could not be: the construct and its place.
    pub counted: std::result::Result<Counted, String>,
    /// Seconds measured, of all passes.
    pub seconds: f64,
}

impl Launch {
    /// What its mean pass does.
    fn counted(&self) -> Result<&Counted> {
        let missing =
            |why: &String| Error::Unsupported(format!("the emulator could not count it: {why}"));
        self.counted.as_ref().map_err(missing)
    }
}

/// A model on a device.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// Which.
    pub model: Model,
    /// Fitted to all launches.
    pub fitted: Fitted,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Mean accuracy on the launches that it was fitted to.
    pub seen: f64,
    /// Each size predicted from all else; of workloads measured at two sizes or more.
    pub leave_one_size_out: Option<Score>,
    /// Each workload predicted from the others.
    pub leave_one_workload_out: Option<Score>,
}

/// The most times that one part is reported to take longer than another, which may take next to nothing.
const MAX_TIMES: f64 = 1e6;

impl Evaluation {
    /// What bounds a launch by this model, and how many times longer that takes than the next
    /// longest part, up to a million; `None` where the model does not see the launch, and where another part would be the
    /// longest at some values that the launches allow of the parameters which they do not identify.
    pub fn bound(&self, launch: &Launch, device: Option<&Device>) -> Option<(Bound, f64)> {
        let view = View::new(self.model, launch, device).ok()?;
        let (parameters, multiples) = self.fitted.of(&launch.kernel, &view);
        let parts = view.parts(parameters, multiples);
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by(|&a, &b| parts[b].1.total_cmp(&parts[a].1));
        let [longest, next, ..] = order[..] else { return None };
        // Each part between its shortest and its longest seconds.
        let mut ranges: Vec<[f64; 2]> = parts.iter().map(|part| [part.1; 2]).collect();
        let unknown = self.parameters.iter().enumerate();
        for (place, parameter) in unknown.filter(|(_, parameter)| !parameter.is_identifiable()) {
            for end in parameter.interval {
                let mut other = parameters.to_vec();
                *other.get_mut(place)? = end.clamp(1e-150, 1e150);
                let then = view.parts(&other, multiples);
                if then[longest].0 != parts[longest].0 {
                    return None;
                }
                for ([low, high], (_, seconds)) in ranges.iter_mut().zip(then) {
                    (*low, *high) = (low.min(seconds), high.max(seconds));
                }
            }
        }
        let is_sure = |other: &usize| ranges[*other][1] <= ranges[longest][0];
        let times = (parts[longest].1 / parts[next].1.max(f64::MIN_POSITIVE)).min(MAX_TIMES);
        order[1..].iter().all(is_sure).then_some((parts[longest].0, times))
    }
}

/// Fits and evaluates a model on a device, whose profile models 4 to 6 need.
///
/// # Errors
/// `Unsupported` where the launches are too few, with how many more are needed; or where the
/// model cannot see any of them, with the reason.
pub fn evaluate(
    model: Model,
    launches: &[Launch],
    device: Option<&Device>,
    seed: u64,
) -> Result<Evaluation> {
    let mut samples = vec![];
    let mut failed = None;
    for launch in launches {
        match View::new(model, launch, device) {
            Ok(view) => samples.push(Sample { launch, view }),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    if samples.is_empty() {
        let none = || Error::Unsupported("no kernel was measured".into());
        return Err(failed.unwrap_or_else(none));
    }
    let fitted = model.fit(&samples, device, For::All, None)?;
    let evaluator = Evaluator { model, samples: &samples, device, all: &fitted };
    let (leave_one_size_out, leave_one_workload_out) =
        (evaluator.leave_one_size_out(), evaluator.leave_one_workload_out());
    let parameters = evaluator.parameters(seed);
    let seen = samples.iter().map(|sample| {
        let predicted = fitted.seconds(&sample.launch.kernel, &sample.view);
        accuracy(predicted, sample.launch.seconds)
    });
    let seen = seen.sum::<f64>() / samples.len() as f64;
    Ok(Evaluation { model, parameters, seen, leave_one_size_out, leave_one_workload_out, fitted })
}

/// The model that predicts sizes it never saw best; `None` where none was evaluated on such.
pub fn best(evaluations: &[Evaluation]) -> Option<&Evaluation> {
    let scored =
        evaluations.iter().filter_map(|one| Some((one, one.leave_one_size_out.as_ref()?.accuracy)));
    Some(scored.max_by(|a, b| a.1.total_cmp(&b.1))?.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::workload::Kind;

    fn launch(workload: &str, n: i32, operations: f64, bytes: f64, start: f64) -> Launch {
        let size = vec![("n".to_owned(), n.into())];
        let kernel = workload.to_owned();
        let key = CaseKey {
            workload: workload.to_owned(),
            size,
            measure: Kind::KERNEL,
            host_memory: None,
        };
        let seconds = start + (operations / 1e12_f64).max(bytes / 1e11);
        let counted = Err("matrices".into());
        let own_roof = OwnRoof::default();
        let buffers = bytes;
        Launch { key, kernel, passes: 1.0, operations, bytes, buffers, own_roof, counted, seconds }
    }

    /// Two workloads at so many sizes on a device without launch cost.
    fn launches(sizes: i32) -> Vec<Launch> {
        let both = |n: i32| {
            let x = 1e7 * 4f64.powi(n);
            [launch("many", n, 100.0 * x, x, 0.0), launch("few", n, x, x, 0.0)]
        };
        (1..=sizes).flat_map(both).collect()
    }

    #[test]
    fn parameters_only_the_held_out_workload_determines_are_not_predicted() {
        let evaluation = evaluate(Model::SMOOTH_ROOFLINE, &launches(6), None, 1).unwrap();
        assert!(evaluation.seen > 0.99 && evaluation.leave_one_size_out.unwrap().accuracy > 0.9);
        let unseen = evaluation.leave_one_workload_out.unwrap();
        assert_eq!(unseen.launches, 12);
        assert!(unseen.accuracy < 0.5, "{unseen:?}");
        // Two workloads are too few to say between what bounds a parameter lies.
        assert!(evaluation.parameters.iter().all(|parameter| !parameter.is_identifiable()));
    }

    #[test]
    fn what_is_only_known_in_sum_is_not_identifiable() {
        let names = ["a", "b", "c", "d", "e"];
        let of = |name: &&str, n: i32| {
            let x = 1e6 * f64::from(name.as_bytes()[0] - 96) * 4f64.powi(n);
            launch(name, n, 10.0 * x, x, 1e-4)
        };
        let launches: Vec<Launch> =
            names.iter().flat_map(|name| (0..5).map(move |n| of(name, n))).collect();
        let evaluation = evaluate(Model::SMOOTH_ROOFLINE, &launches, None, 1).unwrap();
        let identifiable: Vec<bool> =
            evaluation.parameters.iter().map(Parameter::is_identifiable).collect();
        assert_eq!(identifiable, [true, false, false, false], "{:#?}", evaluation.parameters);
        assert!((evaluation.parameters[0].value / 1e-4 - 1.0).abs() < 1e-3);
    }

    fn evaluation(parameters: [Parameter; 2], accuracy: Option<f64>) -> Evaluation {
        Evaluation {
            model: Model::ROOFLINE,
            fitted: Fitted::new(Model::ROOFLINE, parameters.map(|one| one.value).to_vec()),
            parameters: parameters.to_vec(),
            seen: 1.0,
            leave_one_size_out: accuracy.map(|accuracy| Score { accuracy, ..Score::default() }),
            leave_one_workload_out: None,
        }
    }

    fn parameter(value: f64, interval: [f64; 2]) -> Parameter {
        Parameter { name: "peak", value, interval, inflation: 1.0 }
    }

    /// Two rates that may be four times as high or as low: that matters where one part takes ten times as long as
    /// the other, and not where it takes a hundred times.
    #[test]
    fn what_bounds_is_not_said_where_rates_that_nobody_knows_decide() {
        let bound = |operations: f64, between: f64| {
            let around = |value: f64| parameter(value, [value / between, value * between]);
            let parameters = [around(1e12), around(1e11)];
            evaluation(parameters, None).bound(&launch("a", 1, operations, 1e10, 0.0), None)
        };
        let is_compute = |found: Option<(Bound, f64)>, by: f64| {
            found.is_some_and(|(part, times)| {
                part == Bound::Compute && (times / by - 1.0).abs() < 1e-9
            })
        };
        assert!(is_compute(bound(1e12, 1.1), 10.0), "both rates are known");
        assert_eq!(bound(1e12, 4.0), None, "neither alone makes up for ten, both do");
        assert!(is_compute(bound(1e13, 4.0), 100.0));
    }

    /// A second of operations and half of one of bytes.
    #[test]
    fn what_bounds_a_launch_is_its_longest_part_wherever_the_parameters_lie() {
        let launch = launch("a", 1, 1e12, 5e10, 0.0);
        let bound = |peak, bandwidth| {
            let parameters = [parameter(1e12, peak), parameter(1e11, bandwidth)];
            evaluation(parameters, None).bound(&launch, None)
        };
        let known = [0.9e12, 1.1e12];
        assert_eq!(bound(known, [0.9e11, 1.1e11]), Some((Bound::Compute, 2.0)));
        // What is known within ten times is taken as it is.
        assert_eq!(bound([0.5e12, 4e12], [0.9e11, 1.1e11]), Some((Bound::Compute, 2.0)));
        // Between 10 s and 0.67 s of operations, and then 0.4 s.
        assert_eq!(bound([1e11, 1.5e12], [0.9e11, 1.1e11]), Some((Bound::Compute, 2.0)));
        assert_eq!(bound([1e11, 2.5e12], [0.9e11, 1.1e11]), None);
        assert_eq!(bound([0.0, f64::INFINITY], [0.9e11, 1.1e11]), None);
        assert_eq!(bound(known, [0.0, f64::INFINITY]), None);
        assert_eq!(bound(known, [0.6e11, f64::INFINITY]), Some((Bound::Compute, 2.0)));
    }

    #[test]
    fn a_launch_that_the_model_does_not_see_is_bound_by_nothing_known() {
        let parameters = [parameter(1e12, [1e12; 2]), parameter(1e11, [1e11; 2])];
        let evaluation = Evaluation { model: Model::HYBRID, ..evaluation(parameters, None) };
        assert_eq!(evaluation.bound(&launch("a", 1, 1e12, 5e10, 0.0), None), None);
    }

    #[test]
    fn the_best_model_is_most_accurate_about_sizes_it_never_saw() {
        let of = |accuracy| evaluation([parameter(1.0, [1.0; 2]); 2], accuracy);
        let all = [of(Some(0.5)), of(Some(0.9)), of(None), of(Some(0.7))];
        assert!(std::ptr::eq(best(&all).unwrap(), &all[1]));
    }

    #[test]
    fn a_model_that_was_never_evaluated_is_not_best() {
        let once: Vec<Launch> = ["a", "b", "c", "d", "e", "f"]
            .into_iter()
            .zip(1..)
            .map(|(name, n)| launch(name, n, 1e9 * f64::from(n), 1e8, 0.0))
            .collect();
        let evaluation = evaluate(Model::ROOFLINE, &once, None, 1).unwrap();
        assert!(evaluation.leave_one_size_out.is_none() && best(&[evaluation]).is_none());
    }

    #[test]
    fn a_roofline_that_holds_is_right_about_what_it_never_saw() {
        let evaluation = evaluate(Model::ROOFLINE, &launches(4), None, 1).unwrap();
        let score = evaluation.leave_one_size_out.unwrap();
        assert_eq!((score.launches, score.workloads.len()), (8, 2));
        assert!(score.accuracy > 0.999, "{score:?}");
        // Without the other workload one of the ceilings is not known.
        assert!(evaluation.leave_one_workload_out.unwrap().accuracy < 0.9);
        assert!((evaluation.parameters[0].value / 1e12 - 1.0).abs() < 1e-9);
        assert!(evaluation.seen > 0.999 && evaluation.seen <= 1.0, "{}", evaluation.seen);
    }

    /// Only one workload reaches the peak; without it the next one's rate is the highest.
    #[test]
    fn a_peak_lies_between_what_draws_with_and_without_its_workload_find() {
        let of = |names: &[&str]| {
            let one = |(name, n): (&&str, i32)| {
                let rate = if *name == "a" { 1.0 } else { 0.8 };
                let seconds = 1e-2 * f64::from(n);
                let launch = launch(name, n, 1e12 * rate * seconds, 1e11 * seconds, 0.0);
                Launch { seconds, ..launch }
            };
            let both = names.iter().flat_map(|name| (1..3).map(move |n| (name, n)));
            let launches: Vec<Launch> = both.map(one).collect();
            evaluate(Model::ROOFLINE, &launches, None, 1).unwrap().parameters[0]
        };
        let peak = of(&["a", "b", "c", "d"]);
        let [low, high] = peak.interval.map(|end| end / 1e12);
        assert!((low - 0.8).abs() < 1e-9 && (high - 1.0).abs() < 1e-9, "{peak:?}");
        // Draws of three hardly differ.
        assert_eq!(of(&["a", "b", "c"]).interval, [0.0, f64::INFINITY]);
    }

    /// Half of each workload's launches computes in a type that is a third as fast, and is served by a cache
    /// that is five times as fast.
    #[test]
    fn each_launch_stands_under_its_own_roof() {
        let mut launches = launches(6);
        for (_, launch) in launches.iter_mut().enumerate().filter(|(i, _)| i / 2 % 2 == 0) {
            launch.own_roof = OwnRoof { peak: 1.0 / 3.0, bandwidth: 5.0 };
            launch.seconds = (3.0 * launch.operations / 1e12).max(launch.bytes / 5e11);
        }
        let score = |launches: &[Launch]| {
            let evaluation = evaluate(Model::ROOFLINE, launches, None, 1).unwrap();
            evaluation.leave_one_size_out.unwrap().accuracy
        };
        assert!(score(&launches) > 0.999, "{}", score(&launches));
        launches.iter_mut().for_each(|launch| launch.own_roof = OwnRoof::default());
        assert!(score(&launches) < 0.9, "{}", score(&launches));
    }

    #[test]
    fn what_a_model_lacks_is_said() {
        let why = |model, launches: &[Launch]| {
            evaluate(model, launches, None, 1).unwrap_err().to_string()
        };
        let all = launches(4);
        assert!(
            why(Model::HYBRID, &all).contains("could not count it: matrices"),
            "{}",
            why(Model::HYBRID, &all)
        );
        assert!(why(Model::COMPONENTS, &all).contains("could not count"));
        let few = why(Model::SMOOTH_ROOFLINE, &all[..3]);
        assert!(few.contains("at least 5") && few.contains("3 were measured: 2 more"), "{few}");
        assert!(why(Model::ROOFLINE, &[]).contains("no kernel"));
    }
}
