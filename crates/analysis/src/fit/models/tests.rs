//! What the models are called, where their fits begin, and between what bounds they stay.

use super::*;
use crate::fit::hand_computed::{changed, device, launch, profile};
use crate::fit::{End, View, evaluate};
use gpubench_core::record::profile::{Launch as LaunchCost, Value};
use gpubench_emulator::Class;
use gpubench_model::hybrid::Multiples;

#[test]
fn models_are_called_as_reports_know_them() {
    let named = Model::ALL.map(|model| (model.id, model.name, model.parameters.len()));
    let wanted = [
        ("roofline", "roofline", 2),
        ("smooth-roofline", "smooth roofline", 4),
        ("warp-timeline", "warp timeline", 5),
        ("parallel-degrees", "parallel degrees", 6),
        ("components", "components", 4),
        ("hybrid", "hybrid", 14),
    ];
    assert_eq!(named, wanted);
    let numbers = Model::ALL.map(|model| model.about.map(|about| &about[..about.len().min(7)]));
    let three = [Some("Model 3"), None, Some("Model 4"), Some("Model 5"), Some("Model 6"), None];
    assert_eq!(numbers, three);
    let profiled = Model::ALL.map(|model| model.needs_profile);
    assert_eq!(profiled, [false, false, true, true, true, false]);
    let samples = Model::ALL.map(|model| model.min_samples(model.parameters.len()));
    assert_eq!(samples, [1, 5, 6, 7, 5, 15]);
    assert_eq!(format!("{:?}", Model::WARP_TIMELINE), "warp-timeline");
    assert!(Model::HYBRID == Model::HYBRID && Model::HYBRID != Model::ROOFLINE);
}

#[test]
fn only_kernels_determine_some_parameters() {
    let why = Model::HYBRID.unfitted(&device()).unwrap_err().to_string();
    assert!(
        why.contains("hybrid: it has parameters that only measured kernels determine"),
        "{why}"
    );
    let mut profile = profile();
    profile.chase.clear();
    let device = Device::new(&profile, End::Middle).unwrap();
    let why = Model::WARP_TIMELINE.unfitted(&device).unwrap_err().to_string();
    assert!(why.contains("warp timeline: the device's profile lacks"), "{why}");
    let why = View::new(Model::COMPONENTS, &launch(), None).unwrap_err().to_string();
    assert!(why.contains("it needs the device's profile"), "{why}");
}

#[test]
fn rooflines_of_a_profile_have_its_products_and_its_reads() {
    // No multiply-add is priced: one takes as long as a product, and is two operations.
    let rates = [2.0 * 32e9, 64e9];
    assert_eq!(Model::ROOFLINE.unfitted(&device()).unwrap().parameters, rates);
    let smooth = Model::SMOOTH_ROOFLINE.unfitted(&device()).unwrap().parameters;
    assert_eq!(smooth, [0.0, rates[0], rates[1], 4.0]);
}

#[test]
fn parameters_stay_within_their_bounds() {
    use Domain::{Between, Positive};
    let scale = Between(0.02, 50.0);
    let of = |model: Model| model.domains(Some(&device()));
    assert!(of(Model::ROOFLINE).is_empty() && of(Model::HYBRID).is_empty());
    let sharpness = Between(1.0, 16.0);
    assert_eq!(of(Model::SMOOTH_ROOFLINE), [Positive, Positive, Positive, sharpness]);
    assert_eq!(of(Model::WARP_TIMELINE), [Positive, scale, Positive, Positive, Positive]);
    assert_eq!(of(Model::COMPONENTS), [Positive, scale, scale, scale]);
    // A unit holds eight warps; two at least are taken for any.
    let degrees = |warps: f64| {
        let (degree, bend) = (Between(1.0, 2.0 * warps), Between(0.0, warps));
        [Positive, Positive, degree, bend, Between(0.0, 1.0), Between(0.1, 1000.0)]
    };
    assert_eq!(of(Model::PARALLEL_DEGREES), degrees(8.0));
    assert_eq!(Model::PARALLEL_DEGREES.domains(None), degrees(2.0));
}

/// Where fits to the launches begin, whose mean passes take so long.
fn starts(model: Model, launches: &[(Launch, f64)], device: &Device) -> Vec<Vec<f64>> {
    let launches: Vec<Launch> = launches
        .iter()
        .map(|(launch, seconds)| Launch { seconds: seconds * launch.passes, ..launch.clone() })
        .collect();
    let sample = |launch| Sample { launch, view: View::new(model, launch, Some(device)).unwrap() };
    let samples: Vec<Sample<'_>> = launches.iter().map(sample).collect();
    model.starts(&samples, Some(device)).unwrap()
}

fn near(found: &[Vec<f64>], wanted: &[&[f64]]) {
    assert_eq!(found.len(), wanted.len(), "{found:?}");
    for (found, wanted) in found.iter().zip(wanted) {
        assert_eq!(found.len(), wanted.len());
        let close = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-9 * y.abs();
        assert!(found.iter().zip(*wanted).all(close), "{found:?} is not {wanted:?}");
    }
}

/// The profile has no cost of a launch: a thousandth of the shortest kernel.
#[test]
fn descents_begin_at_the_profile() {
    let passes = Launch { passes: 3.0, ..launch() };
    let two = [(passes, 2e-6), (launch(), 5e-6)];
    let of_4 = starts(Model::WARP_TIMELINE, &two, &device());
    let profiled = [2e-9, 1.0, 400e-9, 4e-9, 1e-12];
    near(&of_4, &[&profiled, &[2e-9, 3.0, 400e-9 / 3.0, 4e-9, 1e-12]]);
    let of_5 = starts(Model::PARALLEL_DEGREES, &two, &device());
    assert_eq!(of_5.len(), 13);
    near(&of_5[..2], &[&[2e-9, 400.0, 3.0, 11.0, 0.5, 80.0], &[2e-9, 100.0, 2.0, 2.0, 0.3, 80.0]]);
    near(&of_5[12..], &[&[2e-9, 100.0, 8.0, 4.8, 0.7, 80.0]]);
    // A launch of 1 ms is longer than any kernel: half of the shortest.
    let mut profile = profile();
    let each = Some(Value { value: 1e-3, interval: [1e-3; 2] });
    profile.launch = Some(LaunchCost { latency: None, each });
    let slow = Device::new(&profile, End::Middle).unwrap();
    assert_eq!(starts(Model::WARP_TIMELINE, &two, &slow)[0][0], 1e-6);
    // One of 1 µs is taken as it is where kernels take longer than twice that.
    profile.launch = profile.launch.map(|launch| LaunchCost {
        each: Some(Value { value: 1e-6, interval: [1e-6; 2] }),
        ..launch
    });
    let quick = Device::new(&profile, End::Middle).unwrap();
    let long = [(launch(), 5e-6), (launch(), 9e-6)];
    assert_eq!(starts(Model::WARP_TIMELINE, &long, &quick)[0][0], 1e-6);
}

/// 160 ns of computing, 192 of global and 16 of local memory, of 800 and of 2000 ns.
#[test]
fn no_component_begins_longer_than_any_launch() {
    let two = [(launch(), 800e-9), (launch(), 2e-6)];
    near(&starts(Model::COMPONENTS, &two, &device()), &[&[0.8e-9, 5.0, 800.0 / 192.0, 50.0]]);
    let none = changed(8.0, |group| group.local_reads = gpubench_emulator::Local::default());
    let without = starts(Model::COMPONENTS, &[(none, 800e-9)], &device());
    near(&without, &[&[0.8e-9, 5.0, 800.0 / 192.0, 1.0]]);
}

#[test]
fn a_rounded_corner_begins_at_the_best_rates() {
    // 7680 operations, and bytes of which two passes have half each.
    let of = |bytes, passes| Launch { bytes, passes, ..launch() };
    let two = [(of(8e3, 2.0), 2e-6), (of(1e3, 1.0), 1e-6)];
    let found = starts(Model::SMOOTH_ROOFLINE, &two, &device());
    let start = |launch: f64, sharpness: f64| [launch, 7680.0 / 1e-6, 4e3 / 2e-6, sharpness];
    let wanted = [start(1e-7, 1.5), start(9e-7, 1.5), start(1e-7, 4.0), start(9e-7, 4.0)];
    near(&found, &wanted.each_ref().map(|start| &start[..]));
}

/// Launches of four kernels at several sizes that take what the model says they do.
fn that_take(model: Model, p: &[f64], device: &Device) -> Vec<Launch> {
    let one = |kernel: u64, n: u64| {
        let mut launch = changed((4 << n) as f64, |group| {
            let additions = group.instructions.get_mut(&Class::IntAdd).unwrap();
            (additions.items, additions.warps) = (640 * kernel * kernel, 20 * kernel * kernel);
            group.periods[0].compute[0].1 = 10 * kernel * kernel - 3;
            group.local_reads.rounds = 40 * (kernel % 3);
            group.periods[0].transactions = 5 + kernel;
            group.global_reads.transactions = 8 + 2 * kernel;
        });
        let name = format!("kernel {kernel}");
        launch.key = gpubench_core::record::sample::key(&name, n as i64);
        launch.kernel = name;
        launch.seconds =
            View::new(model, &launch, Some(device)).unwrap().seconds(p, Multiples::ONE);
        launch
    };
    (1..6).flat_map(|kernel| (0..6).map(move |n| one(kernel, n))).collect()
}

/// Whatever parameters a fit finds, they predict what the true ones do.
#[test]
fn a_fit_finds_what_launches_take_that_the_model_describes() {
    let device = device();
    for (model, p) in [
        (Model::SMOOTH_ROOFLINE, &[2e-7, 90e9, 1.0, 4.0][..]),
        (Model::WARP_TIMELINE, &[2e-7, 1.3, 300e-9, 6e-9, 1e-12]),
        (Model::PARALLEL_DEGREES, &[2e-7, 150.0, 3.0, 4.0, 0.5, 80.0]),
        (Model::COMPONENTS, &[2e-7, 1.5, 0.8, 1.2]),
    ] {
        let launches = that_take(model, p, &device);
        let found = evaluate(model, &launches, Some(&device), 1).unwrap();
        assert!(found.seen > 0.995, "{}: {} {:?}", model.name, found.seen, found.fitted.parameters);
    }
}
