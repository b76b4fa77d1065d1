//! Each model gives back the parameters that times obey.

use crate::gpu;
use gpubench::analyse::fit::{Device, End, Launch, Model, OwnRoof, View, evaluate, rules};
use gpubench::backend::Device as _;
use gpubench::backend::sim::{Costs, Description, Launched, SimDevice};
use gpubench::emulate::Rules;
use gpubench::kernel_counts::KernelCounts;
use gpubench::measure::load;
use gpubench::measure::plan;
use gpubench::measure::{Policy, Session, measure};
use gpubench::model::hybrid::Multiples;
use gpubench::plan::{Case, Limits, Planned};
use gpubench::record::Outcome;
use gpubench::report::fit::Report;
use gpubench::stats::Summary;
use gpubench::suite::Suite;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

fn suite() -> Suite {
    load("all").unwrap()
}

fn limits() -> Limits {
    Limits::unbounded(1, 2)
}

/// Kernels of every kind of bound, at every size that the suite has of them.
const KERNELS: [&str; 14] = [
    "black_scholes",
    "gather",
    "linear",
    "matmul_coalesced",
    "matmul_naive",
    "matmul_register_4x4/8x8",
    "matmul_tiled/16x16",
    "permute_213",
    "sepia",
    "stencil_2d_5",
    "stencil_3d_7/strided",
    "stencil_3d_7/blocked_2d",
    "transpose_naive",
    "transpose_tiled",
];

/// Those kernels as a device sees them, counted once, without times.
fn kernels(rules: Rules) -> &'static [Launch] {
    static ALL: OnceLock<Vec<Launch>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut suite = suite();
        suite.workloads.retain(|workload| KERNELS.contains(&workload.name.as_str()));
        let mut kernel_counts = KernelCounts::new(&suite, 1);
        let wanted = kernel_counts.kernels();
        let kernels: Vec<_> = wanted.iter().map(|one| one.kernel.clone()).collect();
        kernel_counts.count(&kernels, &[rules]);
        wanted.iter().map(|one| one.launch(kernel_counts.of(&one.kernel, rules).unwrap())).collect()
    })
}

/// The kernels with the times that `model` predicts at `truth`.
fn obeying(model: Model, truth: &[f64], device: &Device) -> Vec<Launch> {
    let mut launches = kernels(device.rules).to_vec();
    for launch in &mut launches {
        launch.seconds =
            View::new(model, launch, Some(device)).unwrap().seconds(truth, Multiples::ONE);
    }
    launches
}

/// Those of `obeying` whose references take no time, with the times of a simulated GPU that obeys the
/// model, run, verified and measured like any device.
fn measured(obeying: &[Launch], gpu: &Description) -> Vec<Launch> {
    let small = |launch: &&Launch| launch.operations <= 3e8 && launch.bytes <= 4e7;
    let wanted: BTreeMap<String, &Launch> =
        obeying.iter().filter(small).map(|launch| (launch.key.to_string(), launch)).collect();
    let bare = SimDevice::new(gpu.clone(), 0, 0);
    let cases: Vec<Case> = plan(&suite(), bare.info(), &limits())
        .into_iter()
        .filter_map(|planned| match planned {
            Planned::Case(case) if wanted.contains_key(&case.key.to_string()) => Some(*case),
            _ => None,
        })
        .collect();
    let mut times = BTreeMap::new();
    for case in &cases {
        let seconds = wanted[&case.key.to_string()].seconds;
        for candidate in &case.candidates {
            times.insert(
                (candidate.kernel.hash(), candidate.groups, candidate.param_bytes()),
                seconds,
            );
        }
    }
    let cost_model = move |launched: &Launched<'_>| {
        let known = (launched.kernel.hash(), launched.groups, launched.params.to_vec());
        times.get(&known).copied()
    };
    let mut session = Session::new(Box::new(bare.with_cost_model(Arc::new(cost_model))));
    let policy =
        Policy { min_samples: 1, max_samples: 1, warmup: 0.0, seconds: 1e3, ..Policy::default() };
    let launches = cases.iter().map(|case| {
        let record = measure(&mut session, case, &policy, &mut |_| {}).into_record(case, 0, 0);
        assert_eq!(record.outcome, Outcome::Ok, "{}", record.key);
        let seconds = Summary::of(&record.measured.unwrap().samples).unwrap().median;
        Launch { seconds, ..wanted[&case.key.to_string()].clone() }
    });
    launches.collect()
}

/// Each model's parameters are given back by the times that it predicts, at every size, and by those
/// that are measured on a simulated GPU that obeys it, at the smaller ones. The simulator itself knows
/// neither warps' tasks nor banks.
fn recovers(model: Model, truth: &[f64]) {
    let mut gpu = gpu();
    if model == Model::WARP_TIMELINE {
        // Barriers cost where no other group runs.
        gpu.unit.groups = 1;
    }
    let profile = gpu.profile(0);
    let device = Device::new(&profile, End::Middle).unwrap();
    assert_eq!(device.rules, rules(&profile));
    let launches = obeying(model, truth, &device);
    gpu.costs = Costs { submit: 0.0, launch: 0.0, sync: 0.0 }; // they are in the times already
    for launches in [measured(&launches, &gpu), launches] {
        gives_back(model, truth, &launches, &device);
    }
}

fn gives_back(model: Model, truth: &[f64], launches: &[Launch], device: &Device) {
    println!("{}: {} launches", model.name, launches.len());
    let evaluation = evaluate(model, launches, Some(device), 1).unwrap();
    let mut wrong = vec![];
    for (parameter, truth) in evaluation.parameters.iter().zip(truth) {
        println!("{} {}: {:e} for {truth:e}", model.name, parameter.name, parameter.value);
        if (parameter.value / truth - 1.0).abs() > 0.02 {
            wrong.push(format!("{parameter:?} for {truth:e}"));
        }
    }
    assert!(wrong.is_empty(), "{}: {wrong:#?}", model.name);
    assert!(evaluation.seen > 0.99, "{} {}", model.name, evaluation.seen);
    let unseen = evaluation.leave_one_size_out.unwrap();
    assert!(unseen.accuracy > 0.98, "{} {unseen:?}", model.name);
}

#[test]
fn the_smooth_roofline_gives_back_its_parameters() {
    recovers(Model::SMOOTH_ROOFLINE, &[4e-6, 3e12, 2e11, 2.5]);
}

#[test]
fn the_warp_timeline_gives_back_its_parameters() {
    recovers(Model::WARP_TIMELINE, &[4e-6, 1.6, 450e-9, 30e-9, 60e-9]);
}

#[test]
fn the_parallel_degrees_give_back_their_parameters() {
    recovers(Model::PARALLEL_DEGREES, &[4e-6, 260.0, 5.0, 14.0, 0.6, 60.0]);
}

#[test]
fn the_components_give_back_their_parameters() {
    recovers(Model::COMPONENTS, &[4e-6, 1.4, 0.8, 9.0]);
}

/// What the hybrid takes as true: launch, sharpness, cache, then seconds each.
const HYBRID: [f64; 14] =
    [5e-6, 2.0, 3e7, 2e-12, 2e-11, 4e-11, 4e-12, 3e-12, 9e-12, 2e-12, 4e-12, 1e-9, 6e-12, 1e-9];

#[test]
fn costs_that_no_kernel_determines_are_not_identifiable() {
    let profile = gpu().profile(0);
    let device = Device::new(&profile, End::Middle).unwrap();
    let mut launches = obeying(Model::HYBRID, &HYBRID, &device);
    launches.retain(|launch| launch.counted.as_ref().unwrap().group.barriers == 0);
    let evaluation = evaluate(Model::HYBRID, &launches, Some(&device), 1).unwrap();
    let identifiable = |name: &str| {
        let of = evaluation.parameters.iter().find(|parameter| parameter.name == name);
        of.unwrap().is_identifiable()
    };
    assert!(
        !identifiable("barrier") && !identifiable("local access"),
        "{:#?}",
        evaluation.parameters
    );
    assert!(identifiable("launch"), "{:#?}", evaluation.parameters);
    let report = Report {
        device: profile.device,
        profiled: Some(device),
        launches,
        evaluations: vec![evaluation],
        failed: vec![],
    };
    let section = gpubench::report::fit::section(std::slice::from_ref(&report));
    let text = gpubench::report::render::text::section(&section, Some(100));
    let line = text.lines().find(|line| line.trim_start().starts_with("barrier")).unwrap();
    assert!(line.contains("not identifiable") && line.contains("do not determine it"), "{text}");
    let json: Value = serde_json::from_str(&gpubench::report::fit::json(&[report])).unwrap();
    let parameters = json[0]["models"][0]["parameters"].as_array().unwrap();
    let barrier = parameters.iter().find(|parameter| parameter["name"] == "barrier").unwrap();
    assert_eq!(barrier["identifiable"], false);
    assert!(barrier["value"].is_null() && barrier["interval"].is_null(), "{barrier}");
    let launch = parameters.iter().find(|parameter| parameter["name"] == "launch").unwrap();
    assert!(launch["identifiable"] == true && launch["value"].is_f64(), "{launch}");
}

/// A simulated GPU without latencies obeys the roofline: what is measured on it gives back both
/// ceilings.
#[test]
fn the_roofline_gives_back_a_simulated_gpus_ceilings() {
    let mut gpu = gpu();
    gpu.units = 16; // which divides the groups of every kernel here
    gpu.memory.latency = 1e-12;
    gpu.compute.latency = 1e-9;
    gpu.costs = Costs { submit: 0.0, launch: 0.0, sync: 0.0 };
    let truth =
        [f64::from(gpu.units) * gpu.compute.flops_per_cycle * gpu.clock, gpu.memory.bandwidth];
    let mut suite = suite();
    suite
        .workloads
        .retain(|w| ["matmul_naive", "sepia", "transpose_naive"].contains(&w.name.as_str()));
    for workload in &mut suite.workloads {
        workload.sizes.retain(|size| size.iter().all(|(_, n)| *n <= 512));
    }
    let mut session = Session::new(Box::new(SimDevice::new(gpu, 0, 0)));
    let policy =
        Policy { min_samples: 1, max_samples: 1, warmup: 0.0, seconds: 1e3, ..Policy::default() };
    let info = session.device.info().clone();
    let launches = plan(&suite, &info, &limits()).into_iter().filter_map(|planned| {
        let Planned::Case(case) = planned else { return None };
        let record = measure(&mut session, &case, &policy, &mut |_| {}).into_record(&case, 0, 0);
        assert_eq!(record.outcome, Outcome::Ok, "{}", record.key);
        let measured = record.measured?;
        Some(Launch {
            kernel: record.key.workload.clone(),
            key: record.key,
            passes: 1.0,
            operations: measured.flops,
            bytes: measured.bytes,
            buffers: measured.bytes,
            own_roof: OwnRoof::default(),
            counted: Err("it is not emulated here".into()),
            seconds: Summary::of(&measured.samples)?.median,
        })
    });
    let launches: Vec<Launch> = launches.collect();
    assert!(launches.len() >= 4, "{}", launches.len());
    let evaluation = evaluate(Model::ROOFLINE, &launches, None, 1).unwrap();
    for (parameter, truth) in evaluation.parameters.iter().zip(truth) {
        assert!((parameter.value / truth - 1.0).abs() < 0.02, "{parameter:?} for {truth:e}");
    }
}
