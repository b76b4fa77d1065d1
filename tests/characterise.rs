//! The suite `characterise`: what a simulated GPU is described to cost is found again, and on each
//! device of this machine every kernel is right and a profile comes of it.
#![expect(clippy::unwrap_used, reason = "a helper of tests panics as tests do")]

use gpubench::backend::sim::{Cache, Description, Local, Noise, Price, Sim, SimDevice};
use gpubench::backend::{self};
use gpubench::emulate::Class;
use gpubench::measure::load;
use gpubench::measure::plan;
use gpubench::measure::registry::profile;
use gpubench::measure::{Policy, Session, measure};
use gpubench::model::memory_levels::{Cache as FoundCache, Point, find};
use gpubench::plan::{Limits, Planned};
use gpubench::record::profile::{Footprint, Profile, Traffic, Value};
use gpubench::record::{Header, Outcome, Record, sample};
use gpubench::suite::{Expr, Suite};
use gpubench::units::Bytes;
use gpubench::workload::Kind;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

fn suite() -> Suite {
    let suite = load("characterise");
    suite.unwrap_or_else(|error| panic!("{error}"))
}

/// The suite with less to compute for the host: a simulated clock does not care.
fn small() -> Suite {
    let mut suite = suite();
    // Occupancy sweeps have a test of their own, with `truth`.
    suite.workloads.retain(|workload| !workload.name.starts_with("occupancy"));
    for workload in &mut suite.workloads {
        let kind = workload.name.split('/').next().unwrap();
        for size in &mut workload.sizes {
            for (name, value) in size {
                *value = match (kind, name.as_str()) {
                    ("stride", "n") => 1 << 17,
                    ("stride", "words") => 1 << 20,
                    ("stream", "n") => 512 * 12_288,
                    _ => *value,
                };
            }
        }
        if kind == "chase" {
            workload.sizes.retain(|size| [1 << 10, 1 << 16, 1 << 20].contains(&size[0].1));
        }
    }
    suite
}

fn limits() -> Limits {
    Limits { memory: None, seconds: 1e3, seed: 3, cores: 2, host_memory: None }
}

/// Everything that the suite asks of a device, as records.
fn records(suite: &Suite, session: &mut Session, policy: &Policy) -> (Header, Vec<Record>) {
    let info = session.device.info().clone();
    let planned = plan(suite, &info, &limits());
    let records = planned.into_iter().map(|planned| match planned {
        Planned::Case(case) => {
            measure(session, &case, policy, &mut |_| {}).into_record(&case, 0, 0)
        }
        Planned::Skipped(skip) => Record::skipped(skip, 0),
    });
    let records = records.collect();
    let header = Header {
        suite: suite.name.clone(),
        suite_hash: suite.hash.clone(),
        seed: 3,
        ..sample::header(vec![info])
    };
    (header, records)
}

fn simulated(suite: &Suite, gpu: &Description) -> Profile {
    let mut session = Session::new(Box::new(SimDevice::new(gpu.clone(), 0, 0)));
    // Without noise one sample says all.
    let policy =
        Policy { min_samples: 1, max_samples: 1, warmup: 0.0, seconds: 1e3, ..Policy::default() };
    let (header, records) = records(suite, &mut session, &policy);
    for record in &records {
        assert_eq!(record.outcome, Outcome::Ok, "{} on {}", record.key, gpu.name);
    }
    profile(&header, &records, 0).unwrap()
}

/// What is found beside what was described.
struct Found {
    what: String,
    value: f64,
    truth: f64,
}

fn found(profile: &Profile, gpu: &Description) -> Vec<Found> {
    let mut all = vec![];
    let mut note = |what: String, value: Option<Value>, truth: f64| {
        let value = value.map_or(f64::NAN, |value| value.value);
        all.push(Found { what, value, truth });
    };
    let (clock, units) = (gpu.clock, f64::from(gpu.units));
    for class in Class::priced() {
        let price = gpu.price(class);
        let instruction = profile.instruction(class);
        // A group of 64 may be more than a unit runs within an instruction's latency.
        let issue = 64.0 / price.per_cycle;
        let latency = price.latency.max(issue) / clock;
        note(format!("{} latency", class.name()), instruction.and_then(|t| t.latency), latency);
        let rate = units * price.per_cycle * clock;
        note(format!("{} throughput", class.name()), instruction.and_then(|t| t.throughput), rate);
    }
    for traffic in [Traffic::Read, Traffic::Write, Traffic::Copy] {
        note(format!("{traffic:?}"), profile.bandwidth(traffic), gpu.memory.bandwidth);
    }
    let launch = profile.launch.unwrap();
    note("launch".into(), launch.latency, gpu.costs.submit + gpu.costs.launch);
    // Between two launches lies one, and the work-items' one instruction and write.
    let empty =
        gpu.compute.latency / clock + (4.0 / gpu.memory.in_flight).ceil() * gpu.memory.latency;
    note("each launch".into(), launch.each, gpu.costs.submit.max(gpu.costs.launch + empty));
    for footprint in &profile.chase {
        let truth = gpu.load_latency(footprint.bytes);
        note(format!("load within {}", Bytes(footprint.bytes)), Some(footprint.latency), truth);
    }
    let local = profile.local.as_ref().unwrap();
    note("local latency".into(), local.latency, gpu.local_latency());
    let lanes = f64::from(gpu.unit.banks.min(gpu.warp));
    note("local bandwidth".into(), local.bandwidth, units * lanes * 4.0 * clock);
    for barrier in &profile.barriers {
        let what = format!("barrier of {}", barrier.group_size);
        note(what, profile.barrier(barrier), gpu.barrier());
    }
    let atomics = profile.atomics.unwrap();
    let [contended, apart] = gpu.atomics();
    note("atomics, contended".into(), atomics.contended, contended);
    note("atomics, apart".into(), atomics.apart, apart);
    let count = |n: Option<u32>| n.map_or(f64::NAN, f64::from);
    let exact = |what: &str, value: Option<u32>, truth: u32| Found {
        what: what.into(),
        value: count(value),
        truth: truth.into(),
    };
    let strides = profile.strides.as_ref().unwrap();
    all.push(exact("transaction", strides.transaction, gpu.memory.transaction));
    all.push(exact("banks", local.banks, gpu.unit.banks.min(32)));
    all
}

/// A device such as there may be, with costs of its own for every class.
fn random(number: u64) -> Description {
    let mut random = Pcg64Mcg::seed_from_u64(number);
    let shipped = Sim::default().descriptions().unwrap();
    let mut gpu = shipped[number as usize % shipped.len()].clone();
    let mut draw = |low: f64, high: f64| low * (high / low).powf(random.random_range(0.0..1.0));
    gpu.name = format!("random {number}");
    gpu.units = draw(2.0, 60.0) as u32;
    gpu.clock = draw(0.5e9, 2e9);
    gpu.memory.bandwidth = f64::from(gpu.units) * draw(5e9, 10e9);
    gpu.memory.latency = draw(300e-9, 800e-9);
    gpu.memory.transaction = [32, 64, 128][number as usize % 3];
    gpu.memory.in_flight = 16.0;
    gpu.costs.submit = draw(0.3e-6, 4e-6);
    gpu.costs.launch = draw(2e-6, 20e-6);
    for class in Class::priced() {
        let latency = draw(8.0, 60.0);
        // No more than the four chains of each work-item of a full unit can keep at work.
        let resident = f64::from(gpu.unit.threads.min(64 * gpu.unit.groups));
        let per_cycle = draw(4.0, 128.0).min(4.0 * resident / latency / 1.5);
        let price = Price { latency, per_cycle };
        gpu.compute.instructions.insert(class, price);
    }
    gpu.unit.local = 98304;
    gpu.local = Local { latency: Some(draw(8.0, 24.0)), barrier: Some(draw(10.0, 60.0)) };
    gpu.memory.caches = vec![
        Cache { size: 16 << 10, latency: draw(30e-9, 60e-9) },
        Cache { size: 1 << 20, latency: draw(100e-9, 200e-9) },
    ];
    gpu.memory.atomics = Some([draw(1e8, 2e9), draw(1e9, 1e10)]);
    gpu
}

#[test]
fn every_cost_of_a_description_is_found_within_3_percent() {
    let suite = small();
    let mut devices: Vec<_> =
        Sim::default().descriptions().unwrap().into_iter().step_by(9).collect();
    devices.extend((0..2).map(random));
    let mut wrong = vec![];
    for mut gpu in devices {
        gpu.noise = Noise::default();
        let profile = simulated(&suite, &gpu);
        let mut all = found(&profile, &gpu);
        // What `predict` takes of a description is what characterising finds.
        all.extend(found(&gpu.profile(0), &gpu));
        assert!(all.len() > 90, "{}", all.len());
        let off = |found: &Found| (found.value / found.truth - 1.0).abs();
        let worst = all.iter().map(off).fold(0.0, f64::max);
        println!("{}: {} costs, off by {:.2} % at most", gpu.name, all.len(), 100.0 * worst);
        wrong.extend(all.iter().filter(|found| off(found).is_nan() || off(found) > 0.03).map(
            |found| {
                format!("{}: {} {:e}, not {:e}", gpu.name, found.what, found.value, found.truth)
            },
        ));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Bytes, a fourth of the largest working set of the test: what lies behind a cache must be seen, too.
const LARGEST_CACHE: f64 = 1e6;

/// A device with one to three caches, each at least 6 times as large and 1.8 times as slow as the one before.
fn cached(number: u64) -> Description {
    let mut gpu = random(number);
    let mut random = Pcg64Mcg::seed_from_u64(number);
    let mut draw = |low: f64, high: f64| low * (high / low).powf(random.random_range(0.0..1.0));
    let (mut size, mut latency) = (draw(12e3, 100e3), draw(1e-9, 40e-9));
    gpu.memory.caches.clear();
    for _ in 0..draw(1.0, 4.0) as usize {
        if size < LARGEST_CACHE {
            gpu.memory.caches.push(Cache { size: size as u64, latency });
            latency *= draw(1.8, 5.0);
            size *= draw(6.0, 32.0);
        }
    }
    gpu.memory.latency = latency;
    gpu.noise = Noise { relative: 0.01, seed: number };
    gpu
}

/// The caches that a device has, and those that measuring it finds.
fn described_and_found(suite: &Suite, number: u64) -> (Vec<Cache>, Vec<FoundCache>) {
    let gpu = cached(number);
    let mut session = Session::new(Box::new(SimDevice::new(gpu.clone(), 0, 0)));
    let policy = Policy { min_samples: 1, max_samples: 1, warmup: 0.0, ..Policy::default() };
    let (header, records) = records(suite, &mut session, &policy);
    let chase = profile(&header, &records, 0).unwrap().chase;
    let point = |f: &Footprint| Point { bytes: f.bytes as f64, seconds: f.latency.value };
    let found = find(&chase.iter().map(point).collect::<Vec<_>>());
    (gpu.memory.caches, found.map_or_else(Vec::new, |levels| levels.caches))
}

#[test]
fn caches_of_200_devices_are_found_by_measuring_them() {
    let mut suite = load("ceilings").unwrap();
    suite.workloads.retain(|workload| workload.name == "chase");
    let chase = &mut suite.workloads[0];
    chase.sizes.retain(|size| size[0].1 <= 1 << 20);
    // What takes a simulated device longer takes the host longer, too.
    let passes = chase.params.iter_mut().find(|(name, ..)| name == "passes").unwrap();
    passes.1 = Expr::parse("min(1024, max(256, words/16))").unwrap();
    let of = |number| described_and_found(&suite, number);
    let half = |first: u64| (first..200).step_by(2).map(of).collect::<Vec<_>>();
    let devices = std::thread::scope(|scope| {
        let odd = scope.spawn(|| half(1));
        [half(0), odd.join().unwrap()].concat()
    });
    let right: Vec<_> =
        devices.iter().filter(|(truth, found)| truth.len() == found.len()).collect();
    assert!(right.len() >= 190, "the number of caches is right for {} of 200", right.len());
    let (mut held, mut caches) = (0, 0);
    for (found, truth) in right.iter().flat_map(|(truth, found)| found.iter().zip(truth)) {
        let ([low, high], truth) = (found.capacity.interval(), truth.size as f64);
        assert!((found.capacity.value / truth - 1.0).abs() < 0.2, "{found:?} is not {truth}");
        caches += 1;
        held += usize::from((low..=high).contains(&truth));
    }
    println!("of 200 devices {} right, {held} of {caches} held", right.len());
    assert!(held * 10 >= caches * 9, "intervals of 95 % hold {held} of {caches} capacities");
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn a_profile_comes_of_every_device_by_opencl() {
    characterised("opencl");
}

#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn a_profile_comes_of_every_device_by_vulkan() {
    characterised("vulkan");
}

#[test]
#[cfg_attr(not(feature = "require-wgpu"), ignore = "needs a wgpu driver")]
fn a_profile_comes_of_every_device_by_wgpu() {
    characterised("wgpu");
}

/// The suite with so little to measure that its figures mean nothing.
fn brief() -> Suite {
    let mut suite = suite();
    suite.workloads.retain(|workload| {
        workload.measures(Kind::new("characterise")) || workload.name.starts_with("launch")
    });
    for workload in &mut suite.workloads {
        for (name, value) in workload.sizes.iter_mut().flatten() {
            match name.as_str() {
                "n" => *value = (*value / 64).max(64),
                "words" => *value = (*value).min(1 << 20),
                _ => {}
            }
        }
        if workload.name == "chase" {
            workload.sizes.retain(|size| size[0].1 <= 1 << 18);
        }
    }
    suite
}

/// Every kernel is right on each device of an API, and the profile knows throughputs.
fn characterised(backend: &str) {
    let suite = brief();
    let backend = backend::by_name(backend).unwrap();
    let found = backend.devices().unwrap();
    assert!(!found.is_empty(), "no device");
    for info in found {
        let mut session = Session::new(backend.open(info.index).unwrap());
        let policy = Policy { seconds: 0.03, warmup: 0.03, min_samples: 3, ..Policy::default() };
        let (header, records) = records(&suite, &mut session, &policy);
        for record in &records {
            assert_eq!(record.outcome, Outcome::Ok, "{} on {}", record.key, info.name);
        }
        let profile = profile(&header, &records, 0).unwrap();
        assert!(!profile.is_bare(), "{}", info.name);
        let json = serde_json::to_string(&profile).unwrap();
        assert_eq!(Profile::parse("profile.json", &json).unwrap(), profile);
        let known = profile.instructions.iter().filter(|i| i.throughput.is_some()).count();
        let classes = Class::priced().count();
        eprintln!("{}: throughput of {known} of {classes} classes", info.name);
    }
}
