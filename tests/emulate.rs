//! The emulator against everything else that knows the shipped kernels' results: the references,
//! and every device of this machine.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::requested;
use gpubench::backend;
use gpubench::emulate::{Emulator, Groups, Instrumentation, Rules};
use gpubench::gpu::DeviceInfo;
use gpubench::measure::load;
use gpubench::measure::plan;
use gpubench::measure::{Policy, Session, compare, initial, measure};
use gpubench::plan::{
    Candidate, Case, Limits, Planned, emulated_device, emulated_launch, emulated_results,
    enter_pass, track_outputs,
};
use gpubench::record::Outcome;
use gpubench::reference::{self, Data, Problem};
use gpubench::suite::{Fallback, Suite, Workload};
use gpubench::units::Bytes;
use gpubench::workload::{Comparison, Kind, Size, Verify};
use std::path::Path;

/// The first value of every size of a workload: less than a group, and just beyond some.
const AWKWARD: [i64; 3] = [1, 17, 70];
const MEMORY: Bytes = Bytes(16 << 20);

/// What `seismic-media` has beyond `seismic`.
const MEDIA: [&str; 2] = ["elastic_layered", "elastic_pml"];

/// All shipped workloads with a kernel, at small sizes.
fn small() -> Suite {
    let mut suite = load("all").unwrap();
    let timed = |w: &Workload| [Kind::KERNEL, Kind::new("halo")].iter().any(|m| w.measures(*m));
    suite.workloads.retain(timed);
    for other in ["streams", "layout", "tuned"] {
        let other = load(other).unwrap();
        suite.workloads.extend(other.workloads);
    }
    let media = load("seismic-media").unwrap().workloads.into_iter();
    suite.workloads.extend(media.filter(|w| MEDIA.iter().any(|name| w.name.starts_with(name))));
    let ceilings = load("ceilings").unwrap().workloads.into_iter();
    suite.workloads.extend(ceilings.filter(|w| w.name.starts_with("arithmetic/")));
    for workload in &mut suite.workloads {
        workload.sizes = sizes(workload);
        workload.measure = vec![requested(Kind::KERNEL)];
    }
    suite
}

/// Workloads whose sizes are not free, as they are shipped, but of few groups.
fn fixed() -> Vec<Workload> {
    let named = |suite: &str, names: &[&str]| {
        let mut suite = load(suite).expect("is shipped");
        suite.workloads.retain(|w| names.contains(&w.name.as_str()));
        suite.workloads
    };
    let synthetic = ["pair_one_group", "occupancy/64", "occupancy/local_10k"];
    let mut costs = load("characterise").expect("is shipped").workloads;
    costs.retain(|w| w.measures(Kind::new("characterise")));
    costs.iter_mut().for_each(|w| w.sizes.truncate(1));
    let mut blocked = named("tune", &["matmul_blocked"]);
    blocked.iter_mut().for_each(|w| w.sizes = vec![vec![("n".into(), 64)]]);
    let words = ["word/read_4", "word/read_8", "word/write_4", "word/write_16"];
    let tables = ["constant", "constant_apart", "buffer", "buffer_apart"];
    let tables = tables.map(|variant| format!("table/{variant}"));
    let mut others = vec!["write", "read_runs", "scattered", "atomic_f32/one", "atomic_f32/apart"];
    others.extend(tables.iter().map(String::as_str));
    let exchanges = ["local_exchange/reduce", "local_exchange/shuffle", "local_exchange/ballot"];
    others.extend(exchanges);
    let images = ["image/buffer", "image/buffer_linear"];
    others.extend(images);
    let mut ceilings = [named("ceilings", &others), named("word-latency", &words)].concat();
    ceilings.iter_mut().for_each(|w| w.sizes.truncate(1));
    named_size(&mut ceilings, "read_runs", 2_097_152);
    // Several blocks, the last of them not full.
    named_size(&mut ceilings, "write", 20_000);
    exchanges.iter().for_each(|exchange| named_size(&mut ceilings, exchange, 256));
    tables.iter().for_each(|table| named_size(&mut ceilings, table, 4096));
    // No multiple of a group's side.
    images.iter().for_each(|image| named_size(&mut ceilings, image, 37));
    words.iter().for_each(|word| named_size(&mut ceilings, word, 4096));
    let launch = named("all", &["launch"]);
    let mut workloads =
        [launch, named("concurrency", &synthetic), blocked, costs, ceilings].concat();
    for workload in &mut workloads {
        workload.measure = vec![requested(Kind::KERNEL)];
        let groups = workload.sizes.iter_mut().flatten().filter(|(name, _)| name == "groups");
        groups.for_each(|(_, value)| *value = 2);
    }
    assert!(workloads.len() > 4);
    workloads
}

/// Gives a workload's only size this value.
fn named_size(workloads: &mut [Workload], name: &str, value: i64) {
    let sizes = workloads.iter_mut().filter(|w| w.name == name).flat_map(|w| &mut w.sizes);
    sizes.flatten().for_each(|(_, size)| *size = value);
}

/// Every size a little larger than the one before, so that no two can be mistaken for each other.
fn sizes(workload: &Workload) -> Vec<Size> {
    let names = &workload.sizes[0];
    let awkward =
        |value: i64| names.iter().zip(value..).map(|((n, _), v)| (n.clone(), v)).collect();
    AWKWARD.into_iter().map(awkward).collect()
}

fn cases(suite: &Suite, device: &DeviceInfo) -> Vec<Case> {
    let limits =
        Limits { memory: Some(MEMORY), seconds: 60.0, seed: 20, cores: 2, host_memory: None };
    let planned = plan(suite, device, &limits).into_iter();
    planned
        .filter_map(|planned| match planned {
            Planned::Case(case) => Some(*case),
            Planned::Skipped(_) => None,
        })
        .collect()
}

#[test]
fn every_shipped_kernel_gives_what_its_reference_gives() {
    let mut suite = small();
    suite.workloads.extend(fixed());
    let cases = cases(&suite, &emulated_device());
    let mut checked = std::collections::BTreeSet::new();
    for case in &cases {
        let contents = initial(case);
        for candidate in &case.candidates {
            let what = format!("{} {}", case.key, candidate.label);
            // WGSL has no vectors of 8.
            if steps(candidate) > 2e7 || candidate.kernel.wgsl().is_err() {
                continue;
            }
            match right(case, candidate, &contents) {
                // A kernel says itself which values of a search its language lacks.
                Err(why) if why.contains("`const_assert` failure") => continue,
                Err(why)
                    if ["`i64`", "`i16`"]
                        .iter()
                        .any(|n| why.contains(&format!("does not know {n}"))) =>
                {
                    continue;
                }
                found => found.unwrap_or_else(|e| panic!("{what}: {e}")),
            }
            checked.insert(candidate.kernel.origin.file().to_owned());
        }
    }
    // No other shipped kernel is left out.
    let mut shipped: Vec<String> =
        gpubench::suite::kernels().iter().map(|kernel| format!("{kernel}.wgsl")).collect();
    shipped.retain(|file| !NOT_EMULATED.contains(&file.as_str()));
    // A module is nothing that it reads.
    shipped
        .retain(|file| Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders").join(file).exists());
    shipped.retain(|file| !checked.iter().any(|origin: &String| origin.ends_with(file.as_str())));
    assert_eq!(shipped, [] as [String; 0]);
}

/// The same workload with each fallback in its group's place.
fn with_fallbacks(workload: &Workload) -> Vec<Workload> {
    let fallbacks = workload.kernel.iter().flat_map(|kernel| kernel.fallback.clone());
    let with = |fallback: Fallback| {
        let mut workload = workload.clone();
        let kernel = workload.kernel.as_mut().unwrap();
        kernel.group = fallback.group;
        kernel.constants.retain(|(name, _)| fallback.constants.iter().all(|(n, _)| n != name));
        kernel.constants.extend(fallback.constants);
        workload
    };
    fallbacks.map(with).collect()
}

#[test]
fn every_fallback_gives_what_the_reference_gives() {
    let mut suite = small();
    suite.workloads = suite.workloads.iter().flat_map(with_fallbacks).collect();
    assert!(suite.workloads.len() > 50);
    for case in &cases(&suite, &emulated_device()) {
        let contents = initial(case);
        for candidate in &case.candidates {
            let what = format!("{} with {:?}", case.key, candidate.kernel.group);
            right(case, candidate, &contents).unwrap_or_else(|e| panic!("{what}: {e}"));
        }
    }
}

/// Kernels of the suites `ceilings` and `characterise` whose shipped sizes are too long to be emulated here, or
/// that need what the emulated device lacks (f16, f64, atomics of 64 bits, subgroups); the simulator's and the devices'
/// tests hold them to their references. Matrix units it lacks altogether.
const NOT_EMULATED: [&str; 13] = [
    "ceilings/atomic_f32_add.wgsl",
    "ceilings/atomic_u64.wgsl",
    "ceilings/float_chains.wgsl",
    "ceilings/image_samples.wgsl",
    "ceilings/image_texels.wgsl",
    "ceilings/matrix_chains.wgsl",
    "ceilings/read_again.wgsl",
    "ceilings/subgroup_chain.wgsl",
    "characterise/convert_chain.wgsl",
    "characterise/float_chain.wgsl",
    "characterise/int_chain.wgsl",
    "characterise/stream.wgsl",
    "characterise/stride.wgsl",
];

/// About how much a candidate has to be emulated.
fn steps(candidate: &Candidate) -> f64 {
    candidate.flops.max(candidate.bytes)
}

/// Emulates the whole grid and compares every written buffer; what is wrong.
fn right(case: &Case, candidate: &Candidate, contents: &[Data]) -> Result<(), String> {
    let Verify::Reference(name, allowed) = &case.verify else { return Err("no reference".into()) };
    let emulator = Emulator::new(candidate.wgsl().unwrap()).map_err(|e| e.to_string())?;
    let mut launch = emulated_launch(candidate, contents);
    track_outputs(case, &mut launch);
    let instrumentation = Instrumentation {
        counts: Some(Rules::default()),
        races: true,
        ..Instrumentation::default()
    };
    for pass in candidate.passes() {
        enter_pass(&mut launch, &pass);
        let seen =
            emulator.run(&mut launch, Groups::All, instrumentation).map_err(|e| e.to_string())?;
        if let Some(fault) = seen.faults.first() {
            return Err(fault.to_string());
        }
    }
    if let Some(fault) = emulator.never_written(&launch).first() {
        return Err(fault.to_string());
    }
    let results = emulated_results(case, launch);
    for (buffer, expected) in expected(name, case, candidate, contents) {
        let i = case.buffers.iter().position(|b| b.name == buffer).unwrap();
        let (_, mismatch) = compare(&buffer, &expected, &results[i], *allowed, "emulation");
        if let Some(mismatch) = mismatch {
            return Err(format!("{mismatch:?}"));
        }
    }
    Ok(())
}

fn expected(
    name: &str,
    case: &Case,
    candidate: &Candidate,
    contents: &[Data],
) -> Vec<(String, Data)> {
    let sizes = || case.size.iter().map(|(name, value)| (name.clone(), *value as f64));
    let constants = || candidate.kernel.constants.iter().map(|(n, c)| (n.clone(), c.number()));
    let named = |(b, data): (&gpubench::plan::BufferPlan, &Data)| (b.name.clone(), data.clone());
    let mut buffers: Vec<_> = case.buffers.iter().zip(contents).map(named).collect();
    let mut results = vec![];
    for pass in candidate.passes() {
        let params = pass.params.iter().map(|(name, value, _)| (name.clone(), *value));
        let numbers = sizes().chain(constants()).chain(params).collect();
        let problem = Problem::new(numbers, buffers.clone());
        let computed = reference::find(name).expect("the suite names a reference")(&problem);
        let computed = computed.expect("the reference takes the problem").into_iter();
        results = computed.map(|(name, data)| (name.to_owned(), data)).collect::<Vec<_>>();
        for (buffer, data) in &mut buffers {
            if let Some((_, result)) = results.iter().find(|(name, _)| name == buffer) {
                data.clone_from(result);
            }
        }
    }
    results
}

/// The same workloads, verified by what the emulator computes.
fn against_the_emulator() -> Suite {
    let mut suite = small();
    // The first of its variants is for devices with an instruction that others lack.
    suite.workloads.retain(|workload| workload.name != "arithmetic/dot_i8");
    for workload in &mut suite.workloads {
        if let Verify::Reference(_, allowed) = workload.verify {
            // Both sides may be off by as much.
            let twice = |x: f64| 2.0 * x;
            workload.verify = Verify::Emulator(Comparison {
                relative: twice(allowed.relative),
                absolute: twice(allowed.absolute),
            });
        }
        workload.sizes.retain(|size| size[0].1 == AWKWARD[1]);
    }
    suite
}

#[test]
#[cfg_attr(
    not(all(feature = "require-opencl", feature = "require-wgpu")),
    ignore = "needs an OpenCL driver and a wgpu driver"
)]
fn every_device_gives_what_the_emulator_gives() {
    let suite = against_the_emulator();
    let policy =
        Policy { verify_only: true, seconds: 60.0, longest_launch: 60.0, ..Policy::default() };
    for backend in backend::all().into_iter().filter(|b| b.name() != "sim") {
        let found = backend.devices().unwrap();
        assert!(!found.is_empty(), "no device through {}", backend.name());
        for info in found {
            let mut session = Session::new(backend.open(info.index).unwrap());
            let mut right = 0;
            for mut case in cases(&suite, &info) {
                case.candidates.truncate(1);
                if steps(&case.candidates[0]) > 2e7 {
                    continue;
                }
                match measure(&mut session, &case, &policy, &mut |_| {}).outcome {
                    Some(Outcome::Ok) => right += 1,
                    Some(Outcome::Unsupported(_)) => {}
                    outcome => panic!("{} {}: {outcome:?}", info.backend, case.key),
                }
            }
            eprintln!("{} ({}): {right} as emulated", info.name, info.backend);
            assert!(right > 20, "most shipped kernels must be compared");
        }
    }
}
