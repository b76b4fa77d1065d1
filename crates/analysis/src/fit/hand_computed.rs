//! One launch by models 4, 5 and 6, computed by hand from its counts and a device's costs: what the
//! fits feed the pure models with has the right units.

use super::pass::Bound;
use super::{Counted, Device, End, Launch, Model, OwnRoof, View};
use gpubench_core::record::profile::{
    Atomics, Bandwidth, Footprint, Instruction, Local as LocalMemory, Profile, Residency, Stream,
    Traffic, VERSION, Value,
};
use gpubench_core::record::sample;
use gpubench_emulator::{Branches, Class, Counts, Global, Instructions, Local, Period, Rules};
use gpubench_model::hybrid::Multiples;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn exact(value: f64) -> Value {
    Value { value, interval: [value; 2] }
}

/// Two units of 1 GHz, each with up to 4 groups and 8 warps of 32. An addition: 4 cycles, 1 ns for a
/// warp on each unit; a product twice that. 64 GB/s of reads, 32 of writes, 256 of local memory.
pub(super) fn device() -> Device {
    Device::new(&profile(), End::Middle).unwrap()
}

pub(super) fn profile() -> Profile {
    let instruction = |class, latency, rate| Instruction {
        class,
        latency: Some(exact(latency)),
        throughput: Some(exact(rate)),
    };
    let latency =
        |class, latency| Instruction { class, latency: Some(exact(latency)), throughput: None };
    let stream = |traffic, rate| Stream {
        traffic,
        width: 4,
        group_size: 64,
        points: vec![Bandwidth { groups: 4, bandwidth: exact(rate) }],
    };
    Profile {
        version: VERSION,
        device: sample::device("opencl"),
        gpubench: "0.1.0".into(),
        started: "2026-01-01T00:00:00Z".into(),
        launch: None,
        instructions: vec![
            instruction(Class::IntAdd, 4e-9, 64e9),
            instruction(Class::FloatMul, 8e-9, 32e9),
            latency(Class::Logic, 4e-9),
            latency(Class::IntDiv, 16e-9),
        ],
        streams: vec![stream(Traffic::Read, 64e9), stream(Traffic::Write, 32e9)],
        chase: vec![Footprint { bytes: 1 << 30, latency: exact(400e-9) }],
        strides: None,
        local: Some(LocalMemory {
            latency: None,
            bandwidth: Some(exact(256e9)),
            strides: vec![],
            banks: Some(32),
        }),
        barriers: vec![],
        atomics: None,
        residency: Some(Residency { units: 2, groups: 4, work_items: 256, local_memory: 0 }),
    }
}

/// Eight groups of two warps. A warp: 10 additions and 5 products, 2 reads, a write, of 5 transactions
/// together; 2 rounds of local memory; then 3 of the additions.
pub(super) fn launch() -> Launch {
    let instructions = |items, warps| Instructions { items, warps };
    let period = |compute: &[(Class, u64)], accesses: [u64; 2], transactions| Period {
        compute: compute.to_vec(),
        reads: accesses[0],
        writes: accesses[1],
        lanes: 32 * (accesses[0] + accesses[1]),
        bytes: 128 * (accesses[0] + accesses[1]),
        transactions,
        times: 1,
    };
    let group = Counts {
        rules: Rules::default(),
        groups: 1,
        group_size: 64,
        instructions: BTreeMap::from([
            (Class::IntAdd, instructions(640, 20)),
            (Class::FloatMul, instructions(320, 10)),
            (Class::GlobalRead, instructions(128, 4)),
            (Class::GlobalWrite, instructions(64, 2)),
        ]),
        idle: 0.0,
        branches: Branches::default(),
        global_reads: Global { items: 128, warps: 4, bytes: 512, transactions: 8 },
        global_writes: Global { items: 64, warps: 2, bytes: 256, transactions: 2 },
        local_reads: Local { rounds: 4, ..Local::default() },
        local_writes: Local::default(),
        barriers: 0,
        local_bytes: 0,
        live_values: 0,
        compiled: BTreeMap::from([(Class::IntAdd, 20), (Class::FloatMul, 10)]),
        bundles: 0.0,
        periods: vec![
            period(&[(Class::IntAdd, 10), (Class::FloatMul, 5)], [2, 1], 5),
            period(&[(Class::IntAdd, 3)], [0, 0], 0),
        ],
        lines: vec![],
        reuse: BTreeMap::new(),
    };
    Launch {
        key: sample::key("made_up", 1),
        kernel: "made_up".into(),
        passes: 1.0,
        operations: 0.0,
        bytes: 0.0,
        buffers: 0.0,
        own_roof: OwnRoof::default(),
        counted: Ok(Counted { group: Arc::new(group), groups: 8.0 }),
        seconds: f64::NAN,
    }
}

fn takes(model: Model, parameters: &[f64], seconds: f64) {
    launch_takes(&launch(), model, parameters, seconds);
}

fn launch_takes(launch: &Launch, model: Model, parameters: &[f64], seconds: f64) {
    takes_on(&device(), launch, model, parameters, seconds);
}

fn takes_on(device: &Device, launch: &Launch, model: Model, parameters: &[f64], seconds: f64) {
    let view = View::new(model, launch, Some(device)).unwrap();
    let predicted = view.seconds(parameters, Multiples::ONE);
    assert!((predicted / seconds - 1.0).abs() < 1e-9, "{}: {predicted:e}, {seconds:e}", model.name);
}

#[test]
fn an_unknown_throughput_is_no_less_than_that_of_slower_classes_or_of_one_group_a_unit() {
    let device = device();
    assert_eq!(device.rate(Class::Logic), 64e9, "an addition takes as long");
    assert_eq!(device.rate(Class::IntDiv), 2.0 * 64.0 / 16e-9, "nothing takes as long");
}

#[test]
fn model_4_hides_latency_behind_enough_warps() {
    // 8 warps on a unit. A warp computes 10·1 + 5·2 ns, and 2 rounds of 128 B by 64 lanes' 1 ns.
    // T_M = 3·400 + 2·10, T_ML = 400 + 2/3·10, T_CL = 3: ceil(813.3/19) + 1 = 44 warps would hide it.
    let seen = (3.0 * 400.0 + 2.0 * 10.0) + 22.0 + 3.0 * 7.0;
    takes(Model::WARP_TIMELINE, &[1e-6, 1.0, 400e-9, 10e-9, 0.0], 1e-6 + seen * 1e-9);
    // T_M = 60, T_ML = 20: ceil(40/19) + 1 = 4 warps hide it.
    let hidden = 20.0 + 22.0 * 8.0;
    takes(Model::WARP_TIMELINE, &[1e-6, 1.0, 20e-9, 0.0, 0.0], 1e-6 + hidden * 1e-9);
    // T_M = 3·20 + 2·6, T_ML = 20 + 2/3·6: ceil(48/19) + 1 = 4.
    let hidden = 24.0 + 22.0 * 8.0;
    takes(Model::WARP_TIMELINE, &[1e-6, 1.0, 20e-9, 6e-9, 0.0], 1e-6 + hidden * 1e-9);
}

#[test]
fn model_5_adds_computing_and_uncovered_latency() {
    // Periods of 10·4 + 5·8 and of 3·4 cycles; 5 transactions of 200 cycles. P = 92/1092.
    // Warp_bw = 32·4/(5/3·200) = 0.384 B a cycle: 64/(8·2·0.384) > 8, so all warps load at once.
    let degree = 2.0 + 4.0 * (0.5 - 92.0 / 1092.0);
    let computing = 8.0 * (80.0 + 12.0) / degree;
    let waiting = 1000.0 - 7.0 * 80.0;
    let seconds = 1e-6 + (computing + waiting) * 1e-9;
    takes(Model::PARALLEL_DEGREES, &[1e-6, 200.0, 2.0, 4.0, 0.5, 60.0], seconds);
}

#[test]
fn model_6_takes_as_long_as_its_longest_component() {
    // All 512 work-items are at work: neither latency nor few of them hold anything back.
    let compute = 8.0 * (640.0 / 64e9 + 320.0 / 32e9);
    let global = 8.0 * 128.0 * (8.0 / 64e9 + 2.0 / 32e9);
    let local = 8.0 * 4.0 * 128.0 / 256e9;
    takes(Model::COMPONENTS, &[1e-6, 1.0, 1.0, 1.0], 1e-6 + global);
    takes(Model::COMPONENTS, &[1e-6, 2.0, 1.0, 1.0], 1e-6 + 2.0 * compute);
    takes(Model::COMPONENTS, &[1e-6, 1.0, 1.0, 50.0], 1e-6 + 50.0 * local);
}

/// The launch, with its counts changed.
pub(super) fn changed(groups: f64, change: impl Fn(&mut Counts)) -> Launch {
    let mut launch = launch();
    let mut group = Counts::clone(&launch.counted.unwrap().group);
    change(&mut group);
    launch.counted = Ok(Counted { group: Arc::new(group), groups });
    launch
}

#[test]
fn model_4_waits_at_barriers_where_one_group_is_alone() {
    let alone = changed(2.0, |group| group.barriers = 4);
    // Of two warps: 1220 + 22 + 3, and at each barrier 5 ns and a quarter of the other's 22.
    let seen = 1245.0 + 4.0 * (5.0 + 22.0 / 4.0);
    let p = [1e-6, 1.0, 400e-9, 10e-9, 5e-9];
    launch_takes(&alone, Model::WARP_TIMELINE, &p, 1e-6 + seen * 1e-9);
    // T_M = 24, T_ML = 8: two hide it, but for the quarter of 24 before a barrier.
    let hidden = 8.0 + 2.0 * 22.0 + 4.0 * (5.0 + 24.0 / 4.0);
    launch_takes(&alone, Model::WARP_TIMELINE, &[1e-6, 1.0, 8e-9, 0.0, 5e-9], 1e-6 + hidden * 1e-9);
}

#[test]
fn model_5_takes_a_period_as_often_as_it_comes() {
    let repeated = changed(8.0, |group| group.periods[0].times = 3);
    let degree = 2.0 + 4.0 * (0.5 - 252.0 / 3252.0);
    let seen = 8.0 * 252.0 / degree + 3.0 * (1000.0 - 7.0 * 80.0);
    let p = [1e-6, 200.0, 2.0, 4.0, 0.5, 60.0];
    launch_takes(&repeated, Model::PARALLEL_DEGREES, &p, 1e-6 + seen * 1e-9);
}

fn parts_are(launch: &Launch, model: Model, parameters: &[f64], wanted: &[(Bound, f64)]) {
    let view = View::new(model, launch, Some(&device())).unwrap();
    let parts = view.parts(parameters, Multiples::ONE);
    assert_eq!(parts.len(), wanted.len());
    for (found, wanted) in parts.iter().zip(wanted) {
        assert_eq!(found.0, wanted.0);
        assert!((found.1 / wanted.1 - 1.0).abs() < 1e-9, "{}: {parts:?}", model.name);
    }
}

#[test]
fn the_parts_of_a_launch_are_those_that_it_takes() {
    let parts = |model, parameters: &[f64], wanted: &[(Bound, f64)]| {
        parts_are(&launch(), model, parameters, wanted);
    };
    let begin = (Bound::Launch, 1e-6);
    // Eight warps compute 22 ns each, of 1263.
    let of_4 = [begin, (Bound::Compute, 176e-9), (Bound::Latency, 1087e-9)];
    parts(Model::WARP_TIMELINE, &[1e-6, 1.0, 400e-9, 10e-9, 0.0], &of_4);
    let computing = 8.0 * 92.0 / (2.0 + 4.0 * (0.5 - 92.0 / 1092.0));
    let of_5 = [begin, (Bound::Compute, computing * 1e-9), (Bound::Latency, 440e-9)];
    parts(Model::PARALLEL_DEGREES, &[1e-6, 200.0, 2.0, 4.0, 0.5, 60.0], &of_5);
    let (compute, global, local) = (160e-9, 8.0 * 128.0 * (8.0 / 64e9 + 2.0 / 32e9), 16e-9);
    let scaled = [2.0 * compute, 3.0 * global, 5.0 * local];
    let of_6 =
        [begin, (Bound::Compute, scaled[0]), (Bound::Global, scaled[1]), (Bound::Local, scaled[2])];
    parts(Model::COMPONENTS, &[1e-6, 2.0, 3.0, 5.0], &of_6);
}

#[test]
fn a_profile_alone_gives_parameters() {
    // A transaction of 128 B on each of two units at 64 GB/s; 400 ns at 1 GHz.
    for (model, wanted) in [
        (Model::WARP_TIMELINE, &[0.0, 1.0, 400e-9, 4e-9, 0.0][..]),
        (Model::PARALLEL_DEGREES, &[0.0, 400.0, 3.0, 11.0, 0.5, 80.0]),
        (Model::COMPONENTS, &[0.0, 1.0, 1.0, 1.0]),
    ] {
        let found = model.unfitted(&device()).unwrap().parameters;
        assert_eq!(found.len(), wanted.len());
        let near = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-9 * y.abs();
        assert!(found.iter().zip(wanted).all(near), "{}: {found:?}", model.name);
    }
}

#[test]
fn kernels_are_counted_by_the_warps_and_banks_that_a_profile_knows() {
    let mut profile = profile();
    profile.device.subgroup = Some([16, 64]);
    let rules = super::device::rules(&profile);
    assert_eq!((rules.warp, rules.banks), (64, 32));
}

/// Sixteen groups, of which two units hold eight.
#[test]
fn a_second_round_of_groups_takes_as_long_again() {
    let more = changed(16.0, |_| ());
    let of_4 = [1e-6, 1.0, 400e-9, 10e-9, 0.0];
    launch_takes(&more, Model::WARP_TIMELINE, &of_4, 1e-6 + 2.0 * 1263e-9);
    let begin = (Bound::Launch, 1e-6);
    let parts = [begin, (Bound::Compute, 2.0 * 176e-9), (Bound::Latency, 2.0 * 1087e-9)];
    parts_are(&more, Model::WARP_TIMELINE, &of_4, &parts);
    let of_5 = [1e-6, 200.0, 2.0, 4.0, 0.5, 60.0];
    let computing = 2e-9 * 8.0 * 92.0 / (2.0 + 4.0 * (0.5 - 92.0 / 1092.0));
    launch_takes(&more, Model::PARALLEL_DEGREES, &of_5, 1e-6 + computing + 880e-9);
    let parts = [begin, (Bound::Compute, computing), (Bound::Latency, 880e-9)];
    parts_are(&more, Model::PARALLEL_DEGREES, &of_5, &parts);
}

#[test]
fn model_4_sees_a_launch_with_fewer_of_everything() {
    let p = [1e-6, 1.0, 400e-9, 10e-9, 0.0];
    let seen = |ns: f64, change: &dyn Fn(&mut Counts)| {
        launch_takes(&changed(8.0, change), Model::WARP_TIMELINE, &p, 1e-6 + ns * 1e-9);
    };
    // An atomic operation more: 4·400 + 10, of which the last 400 + 10/4.
    seen(1610.0 + 22.0 + 21.0, &|group| {
        group.instructions.insert(Class::Atomic, Instructions { items: 64, warps: 2 });
    });
    // Without any access nothing is waited for.
    seen(8.0 * 22.0, &|group| {
        let accesses = [Class::GlobalRead, Class::GlobalWrite];
        group.instructions.retain(|class, _| !accesses.contains(class));
        (group.global_reads, group.global_writes) = (Global::default(), Global::default());
    });
    // The last period ends with accesses: nothing is computed behind them.
    seen(1220.0 + 22.0, &|group| group.periods[1].lanes = 32);
    // A transaction serves several accesses, and none comes on top.
    seen(1200.0 + 22.0 + 21.0, &|group| group.global_reads.transactions = 2);
}

#[test]
fn model_5_has_no_more_warps_load_than_the_bandwidth_allows() {
    // At 64 cycles a transaction a warp draws 32·4/(5/3·64) = 1.2 B a cycle, and two units of eight 19.2 of 64: three load
    // at once, and the others take floor(8/3 − 1) turns. 320 cycles of them but 7·12 of computing are waited for.
    let degree = 2.0 + 4.0 * (0.5 - 92.0 / 412.0);
    let seconds = 1e-6 + (8.0 * 92.0 / degree + 320.0 - 84.0) * 1e-9;
    takes(Model::PARALLEL_DEGREES, &[1e-6, 64.0, 2.0, 4.0, 0.5, 60.0], seconds);
    // At 20 cycles one at a time, and seven turns. Here the round curve (3.5) is the lower one.
    let degree = 2.0 + 60.0 * (0.5f64 - 92.0 / 192.0).powi(2);
    let seconds = 1e-6 + (8.0 * 92.0 / degree + 700.0 - 84.0) * 1e-9;
    takes(Model::PARALLEL_DEGREES, &[1e-6, 20.0, 2.0, 4.0, 0.5, 60.0], seconds);
}

#[test]
fn model_6_has_few_work_items_reach_less() {
    let half = [1e-6, 0.5, 1.0, 1.0];
    // One group: an addition every 4 ns by each of 64 work-items, and a product every 8.
    let one = changed(1.0, |_| ());
    let compute = 640.0 * 4e-9 / 64.0 + 320.0 * 8e-9 / 64.0;
    launch_takes(&one, Model::COMPONENTS, &[1e-6, 1.0, 1.0, 1.0], 1e-6 + compute);
    // Eight groups where a unit holds one: 128 work-items at once.
    let mut profile = profile();
    profile.residency = profile.residency.map(|held| Residency { groups: 1, ..held });
    let narrow = Device::new(&profile, End::Middle).unwrap();
    let compute = 8.0 * (640.0 * 4e-9 + 320.0 * 8e-9) / 128.0;
    takes_on(&narrow, &launch(), Model::COMPONENTS, &[1e-6, 1.0, 1.0, 1.0], 1e-6 + compute);
    // One group draws a quarter of the bandwidth of reading.
    let point = |groups, rate| Bandwidth { groups, bandwidth: exact(rate) };
    profile.streams[0].points = vec![point(1, 16e9), point(4, 64e9)];
    let slow = Device::new(&profile, End::Middle).unwrap();
    let global = 128.0 * (8.0 / 16e9 + 2.0 / 32e9);
    takes_on(&slow, &one, Model::COMPONENTS, &half, 1e-6 + global);
}

#[test]
fn model_6_prices_atomic_operations_and_conflicts() {
    let launch = changed(8.0, |group| {
        group.instructions.insert(Class::Atomic, Instructions { items: 64, warps: 2 });
        group.local_reads.conflicts = 1;
        group.local_writes = Local { rounds: 6, conflicts: 1, ..Local::default() };
    });
    let mut profile = profile();
    profile.atomics = Some(Atomics { contended: None, apart: Some(exact(1e9)) });
    let priced = Device::new(&profile, End::Middle).unwrap();
    let global = 8.0 * 128.0 * (8.0 / 64e9 + 2.0 / 32e9);
    let p = [1e-6, 1.0, 1.0, 1.0];
    takes_on(&priced, &launch, Model::COMPONENTS, &p, 1e-6 + global + 8.0 * 64.0 / 1e9);
    // Ten rounds a group, of which two are conflicts.
    let local = |rounds: f64| 1e-6 + 50.0 * 8.0 * rounds * 128.0 / 256e9;
    launch_takes(&launch, Model::COMPONENTS, &[1e-6, 1.0, 1.0, 50.0], local(10.0));
    profile.atomics = None;
    profile.local.as_mut().unwrap().banks = Some(1);
    let without = Device::new(&profile, End::Middle).unwrap();
    takes_on(&without, &launch, Model::COMPONENTS, &[1e-6, 1.0, 1.0, 50.0], local(8.0));
}
