//! The simulated GPU obeys the laws that it is described by.
#![expect(clippy::unwrap_used, reason = "a helper of tests panics as tests do")]

use gpubench::backend::sim::{
    Compute, Costs, Description, Direction, Grid, Job, Link, Memory, Needs, Noise, Rates, Sim,
    SimDevice, Transfer, Unit, Work, simulate,
};
use gpubench::backend::{Backend, Device};
use gpubench::error::Error;
use gpubench::gpu::{
    Access, Binding, BufferId, Clock, Constant, DeviceKind, Element, KernelId, KernelSource,
    Language, Meaning, MemoryKind, Op, Origin, Queue, Recording, Scalar, Slice, StepId, StepTimes,
};
use gpubench::units::Bytes;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// 16 units as in model 7's worked example; every command is free, so that times are those of
/// the work alone.
fn gpu() -> Description {
    let rates = Rates {
        latency: 0.0,
        upload: 8.0,
        download: 6.0,
        upload_bidirectional: 4.0,
        download_bidirectional: 3.0,
    };
    Description {
        name: "test".into(),
        vendor: "none".into(),
        bindings: None,
        kernels: Default::default(),
        counted: None,
        units: 16,
        warp: 32,
        clock: 1e9,
        queues: 4,
        concurrent_kernels: 16,
        unit: Unit {
            groups: 8,
            threads: 1024,
            registers: 32768,
            local: 4096,
            group_local: 4096,
            local_piece: 1,
            banks: 32,
            group_threads: 1024,
            max_groups: [65535; 3],
        },
        compute: Compute {
            flops_per_cycle: 64.0,
            f64_flops_per_cycle: None,
            flops_per_instruction: 2.0,
            latency: 32.0,
            instructions: Default::default(),
        },
        memory: Memory {
            size: 1 << 30,
            largest_buffer: 1 << 28,
            bandwidth: 1e11,
            latency: 5e-7,
            transaction: 128,
            in_flight: 4.0,
            caches: vec![],
            atomics: None,
            unified: false,
        },
        local: Default::default(),
        link: Link { engines: 2, host: [(MemoryKind::Pinned, rates)].into() },
        costs: Costs { submit: 0.0, launch: 0.0, sync: 0.0 },
        noise: Noise::default(),
        resolution: 1e-9,
        features: vec![],
    }
}

fn job(queue: u32, after: &[usize], work: Work) -> Job {
    Job { queue, after: after.to_vec(), work, noise: 1.0, launch_noise: 1.0 }
}

/// A kernel of `groups` groups of a second each that fill a unit.
fn kernel(groups: u64) -> Work {
    let needs = Needs { threads: 1024, registers: 0, local: 0 };
    Work::Kernel(Grid { groups, needs, seconds: 1.0, flops: 0.0, bytes: 0.0 })
}

/// A copy of a given number of bytes.
fn copy(direction: Direction, bytes: f64) -> Work {
    let rates = gpu().link.host[&MemoryKind::Pinned];
    Work::Transfer(Transfer { direction, bytes, rates })
}

fn upload(bytes: f64) -> Work {
    copy(Direction::Upload, bytes)
}

fn download(bytes: f64) -> Work {
    copy(Direction::Download, bytes)
}

fn wall(times: &[StepTimes]) -> f64 {
    times.iter().map(|t| t.ended).fold(0.0, f64::max)
}

#[track_caller]
fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-8 * expected.abs().max(1e-6), "{found}, not {expected}");
}

#[test]
fn a_queue_is_in_order() {
    let jobs = [job(0, &[], upload(8.0)), job(0, &[], kernel(16)), job(0, &[], download(6.0))];
    let times = simulate(&gpu(), &jobs);
    for (i, t) in times.iter().enumerate() {
        assert_near(t.started, i as f64);
        assert_near(t.ended, i as f64 + 1.0);
    }
}

#[test]
fn a_step_waits_for_those_it_names() {
    let mut gpu = gpu();
    gpu.costs.sync = 0.25;
    let jobs = [job(0, &[], upload(8.0)), job(1, &[0], kernel(16)), job(2, &[], kernel(16))];
    let times = simulate(&gpu, &jobs);
    assert_near(times[2].started, 0.0);
    assert_near(times[1].started, 1.25);
}

#[test]
fn commands_cost_what_is_described() {
    let mut gpu = gpu();
    gpu.costs = Costs { submit: 0.5, launch: 0.125, sync: 0.0 };
    let times = simulate(&gpu, &[job(0, &[], kernel(16)), job(0, &[], kernel(16))]);
    assert_near(times[1].queued, 0.5);
    assert_near(times[0].submitted, 0.5);
    assert_near(times[0].started, 0.625);
    // The second is queued while the first runs, and launched when that has ended.
    assert_near(times[1].started, 1.75);
}

/// Two chunks, each uploaded (1 s), computed (1 s) and downloaded (1 s), on three queues.
fn pipeline(engines: u8) -> f64 {
    let mut gpu = gpu();
    gpu.link.engines = engines;
    let jobs = [
        job(0, &[], upload(8.0)),
        job(1, &[0], kernel(16)),
        job(2, &[1], download(6.0)),
        job(0, &[], upload(8.0)),
        job(1, &[3], kernel(16)),
        job(2, &[4], download(6.0)),
    ];
    wall(&simulate(&gpu, &jobs))
}

#[test]
fn two_engines_overlap_all_three_stages() {
    // s s k . : second upload 1–2 beside the first kernel; first download 2–3 beside the second
    // kernel; second download 3–4.
    assert_near(pipeline(2), 4.0);
}

#[test]
fn one_engine_serves_the_first_that_is_ready() {
    // Uploads 0–1, 1–2; kernels 1–2, 2–3; downloads 2–3, 3–4: the engine never has two at once.
    assert_near(pipeline(1), 4.0);
    let mut gpu = gpu();
    gpu.link.engines = 1;
    // A download that becomes ready at 0.5, before the second upload (1.0), goes first.
    let jobs = [
        job(0, &[], upload(8.0)),
        job(0, &[], upload(8.0)),
        job(1, &[], Work::Kernel(Grid { seconds: 0.5, ..grid(1, 32, 0, 0) })),
        job(1, &[], download(6.0)),
    ];
    let times = simulate(&gpu, &jobs);
    assert_near(times[3].started, 1.0);
    assert_near(times[1].started, 2.0);
}

#[test]
fn without_engines_copies_and_kernels_take_turns() {
    assert_near(pipeline(0), 6.0);
}

#[test]
fn both_directions_at_once_follow_model_8() {
    // Uploading 8 at 4 takes 2 s, in which 6 of 12 are downloaded at 3; the rest at 6 takes 1 s.
    let jobs = [job(0, &[], upload(8.0)), job(1, &[], download(12.0))];
    let times = simulate(&gpu(), &jobs);
    assert_near(times[0].ended, 2.0);
    assert_near(times[1].ended, 3.0);
}

fn grid(groups: u64, threads: u64, registers: u64, local: u64) -> Grid {
    let needs = Needs { threads, registers, local };
    Grid { groups, needs, seconds: 1.0, flops: 0.0, bytes: 0.0 }
}

#[test]
fn leftover_policy_gives_model_7s_worked_example() {
    let k2 = Work::Kernel(grid(256, 256, 256, 1024));
    let alone = wall(&simulate(&gpu(), &[job(0, &[], k2)]));
    assert_near(alone, 4.0);
    // k1 holds one group a unit for longer than k2 takes: k2 finds room for two a unit.
    let k1 = Work::Kernel(Grid { seconds: 100.0, ..grid(16, 512, 512, 1024) });
    let times = simulate(&gpu(), &[job(0, &[], k1), job(1, &[], k2)]);
    assert_near(times[1].duration() / alone, 2.0);
}

#[test]
fn a_kernel_that_fills_the_device_keeps_others_out_until_its_last_wave() {
    // Two waves and a half of the first; groups of the second fit next to none.
    let times = simulate(&gpu(), &[job(0, &[], kernel(40)), job(1, &[], kernel(4))]);
    assert_near(times[1].started, 2.0);
    assert_near(wall(&times), 3.0);
    // Small groups would fit beside those of the first, but not before all of it has begun.
    let big = Work::Kernel(grid(33, 700, 0, 0));
    let small = Work::Kernel(grid(16, 32, 0, 0));
    let times = simulate(&gpu(), &[job(0, &[], big), job(1, &[], small)]);
    assert_near(times[1].started, 2.0);
}

#[test]
fn groups_are_assigned_to_the_emptiest_units() {
    // Eight groups of each: together they take one of 16 units each, alone or not.
    let half = || Work::Kernel(grid(8, 1024, 0, 0));
    let times = simulate(&gpu(), &[job(0, &[], half()), job(1, &[], half())]);
    assert_near(wall(&times), 1.0);
    // 20 groups: four units hold two; of the other twelve each has room for one more.
    let times = simulate(
        &gpu(),
        &[
            job(0, &[], Work::Kernel(Grid { seconds: 9.0, ..grid(20, 512, 0, 0) })),
            job(1, &[], Work::Kernel(grid(24, 512, 0, 0))),
        ],
    );
    assert_near(times[1].duration(), 2.0);
}

/// The leftover policy played group by group, without any of the simulation's short cuts: when
/// each kernel ends. All are launched at once.
fn played_group_by_group(gpu: &Description, grids: &[Grid]) -> Vec<f64> {
    let mut held: Vec<Vec<(f64, usize)>> = vec![vec![]; gpu.units as usize];
    let mut left: Vec<u64> = grids.iter().map(|grid| grid.groups).collect();
    let mut ends = vec![0.0; grids.len()];
    let mut now = 0.0;
    loop {
        while let Some(k) = left.iter().position(|&n| n > 0) {
            let used = |unit: &Vec<(f64, usize)>, of: fn(&Needs) -> u64| -> u64 {
                unit.iter().map(|&(_, held)| of(&grids[held].needs)).sum()
            };
            let fits = |unit: &Vec<(f64, usize)>| {
                let needs = &grids[k].needs;
                unit.len() < gpu.unit.groups as usize
                    && used(unit, |n| n.threads) + needs.threads <= gpu.unit.threads.into()
                    && used(unit, |n| n.local) + needs.local <= gpu.unit.local.into()
            };
            let free = (0..held.len()).filter(|&u| fits(&held[u]));
            let Some(unit) = free.min_by_key(|&u| (held[u].len(), used(&held[u], |n| n.threads)))
            else {
                break;
            };
            held[unit].push((now + grids[k].seconds, k));
            left[k] -= 1;
        }
        let all = held.iter().flatten();
        let Some(next) = all.map(|&(end, _)| end).min_by(f64::total_cmp) else { return ends };
        now = next;
        for unit in &mut held {
            unit.retain(|&(end, k)| {
                let over = end <= now * (1.0 + 1e-9);
                if over {
                    ends[k] = now;
                }
                !over
            });
        }
    }
}

#[test]
fn short_cuts_change_nothing() {
    let mut gpu = gpu();
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut differing = 0;
    for case in 0..300 {
        gpu.units = random.random_range(1..20);
        let kernels = random.random_range(1..5);
        let grids: Vec<Grid> = (0..kernels)
            .map(|_| Grid {
                seconds: random.random_range(1..20) as f64,
                ..grid(
                    random.random_range(1..300),
                    32 * random.random_range(1..33),
                    0,
                    random.random_range(0..4096),
                )
            })
            .collect();
        let jobs: Vec<Job> =
            (0..).zip(&grids).map(|(queue, &grid)| job(queue, &[], Work::Kernel(grid))).collect();
        let found: Vec<f64> = simulate(&gpu, &jobs).iter().map(|t| t.ended).collect();
        let expected = played_group_by_group(&gpu, &grids);
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-6 * b;
        if !found.iter().zip(&expected).all(close) {
            eprintln!("{case}: {found:?} {expected:?} {}", gpu.units);
            differing += 1;
        }
    }
    assert_eq!(differing, 0);
}

#[test]
fn time_steps_at_full_waves() {
    // 512 work-items a group: two a unit, 32 on the device.
    for groups in [1, 31, 32, 33, 64, 65, 320, 321] {
        let time = wall(&simulate(&gpu(), &[job(0, &[], Work::Kernel(grid(groups, 512, 0, 0)))]));
        assert_near(time, groups.div_ceil(32) as f64);
    }
}

#[test]
fn many_kernels_run_at_once_up_to_the_limit() {
    let mut gpu = gpu();
    gpu.concurrent_kernels = 3;
    let jobs: Vec<Job> =
        (0..8).map(|queue| job(queue, &[], Work::Kernel(grid(1, 32, 0, 0)))).collect();
    assert_near(wall(&simulate(&gpu, &jobs)), 3.0);
}

#[test]
fn bandwidth_and_operations_are_shared() {
    let gpu = gpu();
    let needs = Needs::new(&gpu, 256, 0, 0);
    // 4 MiB a group on 64 groups: far above what latency allows, so bound by bandwidth.
    let bytes = f64::from(1 << 22);
    let one = Work::Kernel(Grid::priced(&gpu, 64, needs, 0.0, bytes));
    let alone = wall(&simulate(&gpu, &[job(0, &[], one)]));
    assert!(alone >= 64.0 * bytes / gpu.memory.bandwidth);
    let memory = Work::Kernel(Grid { seconds: 1e-3, ..Grid::priced(&gpu, 32, needs, 0.0, bytes) });
    let half = 32.0 * bytes / gpu.memory.bandwidth;
    assert_near(wall(&simulate(&gpu, &[job(0, &[], memory)])), half.max(1e-3));
    assert_near(wall(&simulate(&gpu, &[job(0, &[], memory), job(1, &[], memory)])), 2.0 * half);
    // A kernel that only computes is not slowed by one that only moves bytes.
    let compute = Work::Kernel(Grid::priced(&gpu, 16, needs, 1e6, 0.0));
    let times = simulate(&gpu, &[job(0, &[], memory), job(1, &[], compute)]);
    let undisturbed = simulate(&gpu, &[job(0, &[], compute)])[0].duration();
    assert_near(times[1].duration(), undisturbed);
    // Enough groups reach the unit's peak and no more.
    let full = Grid::priced(&gpu, 64 * 16, needs, 1e6, 0.0);
    let peak = gpu.compute.flops_per_cycle * gpu.clock * f64::from(gpu.units);
    assert_near(wall(&simulate(&gpu, &[job(0, &[], Work::Kernel(full))])), 1024e6 / peak);
}

fn slice(buffer: u32, len: u64) -> Slice {
    Slice { buffer: BufferId(buffer), offset: Bytes(0), len: Bytes(len) }
}

/// A device with a host buffer 0 and device buffers 1 and 2 of 4 bytes each.
fn device(gpu: Description) -> SimDevice {
    let mut device = SimDevice::new(gpu, 0, 0);
    device.alloc(BufferId(0), Bytes(4), MemoryKind::Pinned).unwrap();
    for id in [1, 2] {
        device.alloc(BufferId(id), Bytes(4), MemoryKind::Device).unwrap();
    }
    device
}

fn there_and_back(after: Vec<StepId>) -> Recording {
    let mut recording = Recording::default();
    recording.push(Queue(0), vec![], Op::Upload { from: slice(0, 4), to: slice(1, 4) });
    recording.push(Queue(1), after, Op::Copy { from: slice(1, 4), to: slice(2, 4) });
    recording
}

#[test]
fn a_recording_moves_data_as_its_dependencies_say() {
    let mut device = device(gpu());
    device.write(BufferId(0), &[1, 2, 3, 4]).unwrap();
    let timeline = device.run(&there_and_back(vec![StepId(0)])).unwrap();
    assert_eq!(device.read(BufferId(2)).unwrap(), [1, 2, 3, 4]);
    assert_eq!(timeline.clock, Clock::Simulated);
    assert_eq!(timeline.wall, timeline.steps[1].ended);
    // Without the dependency the copy starts before the upload has ended, and copies what was there.
    device.write(BufferId(0), &[9; 4]).unwrap();
    device.run(&there_and_back(vec![])).unwrap();
    assert_eq!(device.read(BufferId(2)).unwrap(), [1, 2, 3, 4]);
}

#[test]
fn what_cannot_be_done_is_rejected() {
    let mut device = device(gpu());
    let mut recording = Recording::default();
    recording.push(Queue(4), vec![], Op::Copy { from: slice(1, 4), to: slice(2, 4) });
    assert!(matches!(device.run(&recording), Err(Error::Unsupported(_))));
    for op in [
        Op::Upload { from: slice(1, 4), to: slice(2, 4) },
        Op::Upload { from: slice(0, 4), to: slice(1, 3) },
        Op::Download { from: slice(1, 8), to: slice(0, 8) },
        Op::Copy { from: slice(1, 4), to: slice(7, 4) },
    ] {
        let mut recording = Recording::default();
        recording.push(Queue(0), vec![], op);
        assert!(matches!(device.run(&recording), Err(Error::Usage(_))));
    }
    let mut recording = Recording::default();
    recording.push(Queue(0), vec![StepId(0)], Op::Copy { from: slice(1, 4), to: slice(2, 4) });
    assert!(matches!(device.run(&recording), Err(Error::Usage(_))));
    let pageable = device.alloc(BufferId(9), Bytes(4), MemoryKind::Pageable);
    assert!(matches!(pageable, Err(Error::Unsupported(_))));
    let huge = device.alloc(BufferId(9), Bytes((1 << 28) + 1), MemoryKind::Device);
    assert!(matches!(huge, Err(Error::OutOfMemory(_))));
}

/// The shipped `copy` over `n` scalars in groups of 64.
fn copy_kernel(n: u64) -> KernelSource {
    let binding = |name: &str, access| Binding {
        name: name.into(),
        element: Element::scalar(Scalar::F32),
        access,
        image: None,
    };
    KernelSource {
        language: Language::Wgsl,
        text: include_str!("../shaders/micro/copy.wgsl").into(),
        entry: "copy".into(),
        origin: Origin::Shipped("micro/copy.wgsl".into()),
        group: [64, 1, 1],
        constants: vec![
            ("ITEMS".into(), Constant::Int(1)),
            ("V".into(), Constant::Type(Element { scalar: Scalar::F32, width: 1 })),
        ],
        bindings: vec![binding("a", Access::Read), binding("out", Access::Write)],
        params_bytes: 4,
        args: None,
        settings: Default::default(),
        meaning: Some(Meaning {
            reference: "copy".into(),
            params: vec![("n".into(), Scalar::U32)],
            sizes: vec![("n".into(), 1)],
            flops: 0.0,
            double: 0.0,
            bytes: (8 * n) as f64,
            groups: n.div_ceil(64),
            rows: None,
        }),
    }
}

/// Copies scalars `from..to` by a kernel on `queue`.
fn copy_range(queue: u32, after: Vec<StepId>, from: u64, to: u64) -> impl Fn(&mut Recording) {
    let part = |buffer| Slice {
        buffer: BufferId(buffer),
        offset: Bytes(4 * from),
        len: Bytes(4 * (to - from)),
    };
    let op = Op::Dispatch {
        kernel: KernelId(0),
        groups: [u32::try_from((to - from).div_ceil(64)).unwrap(), 1, 1],
        buffers: vec![part(1), part(2)],
        params: u32::try_from(to - from).unwrap().to_ne_bytes().to_vec(),
    };
    move |recording| {
        recording.push(Queue(queue), after.clone(), op.clone());
    }
}

#[test]
fn kernels_compute_through_their_reference() {
    const N: u64 = 1000;
    let mut device = SimDevice::new(gpu(), 0, 0);
    device.build(KernelId(0), &copy_kernel(N)).unwrap();
    for id in [1, 2] {
        device.alloc(BufferId(id), Bytes(4 * N), MemoryKind::Device).unwrap();
    }
    let numbers = |start: u16| -> Vec<u8> {
        (0..1000).flat_map(|i| f32::from(start + i).to_ne_bytes()).collect()
    };
    // The parameter block's n, not the size of that name, says how much is computed.
    device.write(BufferId(1), &numbers(1)).unwrap();
    let mut half = Recording::default();
    copy_range(0, vec![], 0, 500)(&mut half);
    let time = device.run(&half).unwrap().wall;
    let result = device.read(BufferId(2)).unwrap();
    assert_eq!(result[..2000], numbers(1)[..2000]);
    assert_eq!(result[2000..], [0; 2000]);
    // The other half, twice, on a queue of its own; then from changed input.
    let mut rest = half.clone();
    copy_range(1, vec![], 500, N)(&mut rest);
    copy_range(1, vec![], 500, N)(&mut rest);
    for start in [1, 7, 7] {
        device.write(BufferId(1), &numbers(start)).unwrap();
        let timeline = device.run(&rest).unwrap();
        assert_eq!(device.read(BufferId(2)).unwrap(), numbers(start));
        // Far from any limit, halves on two queues take as long as one.
        assert_near(timeline.steps[1].ended, time);
    }
    // What a batch need not compute again, it must when its output was overwritten.
    device.write(BufferId(2), &vec![0xff; 4 * N as usize]).unwrap();
    device.run(&rest).unwrap();
    assert_eq!(device.read(BufferId(2)).unwrap(), numbers(7));
}

#[test]
fn a_kernels_local_memory_limits_how_many_groups_a_unit_holds() {
    // A unit has 4096 bytes, so that it holds two groups of 2048 but eight that use none.
    let staged = "var<workgroup> tile: array<f32, 512>;";
    let mut text =
        copy_kernel(1).text.replace("    let vectors", "    tile[0] = 1.0;\n    let vectors");
    text.push_str(staged);
    let mut waves = vec![];
    for source in [copy_kernel(64 * 128), KernelSource { text, ..copy_kernel(64 * 128) }] {
        let mut device = SimDevice::new(gpu(), 0, 0);
        let local = device.build(KernelId(0), &source).unwrap().local_bytes;
        for id in [1, 2] {
            device.alloc(BufferId(id), Bytes(4 * 64 * 128), MemoryKind::Device).unwrap();
        }
        let mut recording = Recording::default();
        copy_range(0, vec![], 0, 64 * 128)(&mut recording);
        waves.push((local, device.run(&recording).unwrap().wall));
    }
    assert_eq!((waves[0].0, waves[1].0), (Some(0), Some(2048)));
    assert_near(waves[1].1 / waves[0].1, 4.0);
}

#[test]
fn a_kernels_mistake_is_found_in_its_text() {
    let mut device = SimDevice::new(gpu(), 0, 0);
    let wrong = copy_kernel(1).text.replace("out[i] = a[i]", "out[i] = b[i]");
    let Err(Error::Build { log, .. }) =
        device.build(KernelId(0), &KernelSource { text: wrong, ..copy_kernel(1) })
    else {
        panic!("a kernel that names an unknown variable was built");
    };
    assert!(log.contains("micro/copy.wgsl:19:"), "{log}");
}

#[test]
fn kernels_without_a_meaning_or_room_are_rejected() {
    let mut device = SimDevice::new(gpu(), 0, 0);
    let rejection =
        |source: &KernelSource, device: &mut SimDevice| match device.build(KernelId(0), source) {
            Err(Error::Unsupported(reason)) => reason,
            other => panic!("{other:?}"),
        };
    let nameless = KernelSource { meaning: None, ..copy_kernel(1) };
    assert!(rejection(&nameless, &mut device).contains("`copy` names none"));
    let mut unknown = copy_kernel(1);
    unknown.meaning.as_mut().unwrap().reference = "nonsense".into();
    assert!(rejection(&unknown, &mut device).contains("no reference called `nonsense`"));
    let large = KernelSource { group: [64, 32, 1], ..copy_kernel(1) };
    assert!(rejection(&large, &mut device).contains("2048 work-items"));
    // Not built, so not run.
    let mut recording = Recording::default();
    copy_range(0, vec![], 0, 64)(&mut recording);
    assert!(matches!(device.run(&recording), Err(Error::Usage(_))));
}

/// Simulates `jobs` and says on stderr how long that took: 10,000 steps are to take 50 ms at most
/// in a release build, but no test fails by the clock.
fn simulated(gpu: &Description, jobs: &[Job]) -> Vec<StepTimes> {
    let begun = std::time::Instant::now();
    let times = simulate(gpu, jobs);
    eprintln!("{} steps simulated in {:?}", jobs.len(), begun.elapsed());
    times
}

#[test]
fn ten_thousand_steps_in_a_pipeline() {
    let jobs: Vec<Job> = (0..10_000)
        .map(|i| {
            let before: &[usize] = if i % 3 > 0 { &[i - 1] } else { &[] };
            let work = [upload(8.0), kernel(1000), download(6.0)][i % 3];
            job((i % 3) as u32, before, work)
        })
        .collect();
    // 63 waves a kernel hide all copies but the first upload and the last download.
    assert_near(wall(&simulated(&gpu(), &jobs)), 1.0 + 3333.0 * 63.0 + 1.0);
}

#[test]
fn kernels_on_many_queues_keep_to_the_roofline() {
    let descriptions = Sim::default().descriptions().unwrap();
    let gpu = Description {
        queues: 32,
        ..descriptions.into_iter().find(|gpu| gpu.name == "Tesla K40c").unwrap()
    };
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let needs = Needs::new(&gpu, 256, 0, 0);
    let (mut flops, mut bytes, mut alone) = (0.0, 0.0, 0.0);
    let jobs: Vec<Job> = (0..300)
        .map(|i| {
            let intensity = random.random_range(0.0..40.0);
            let groups = random.random_range(100..600);
            let grid = Grid::priced(&gpu, groups, needs, 256.0 * 64.0 * intensity, 256.0 * 64.0);
            flops += grid.flops * groups as f64;
            bytes += grid.bytes * groups as f64;
            alone += wall(&simulate(&gpu, &[job(0, &[], Work::Kernel(grid))]));
            job(i % 32, &[], Work::Kernel(grid))
        })
        .collect();
    let found = wall(&simulated(&gpu, &jobs));
    let peak = gpu.compute.flops_per_cycle * gpu.clock * f64::from(gpu.units);
    let min_seconds = (flops / peak).max(bytes / gpu.memory.bandwidth);
    assert!(
        (min_seconds..alone).contains(&found),
        "{found} s, between {min_seconds} and {alone} s"
    );
}

#[test]
fn noise_is_seeded() {
    let mut noisy = gpu();
    noisy.noise = Noise { relative: 0.1, seed: 3 };
    let walls = |seed: u64| -> Vec<f64> {
        let mut device = SimDevice::new(noisy.clone(), 0, seed);
        for (id, kind) in [(0, MemoryKind::Pinned), (1, MemoryKind::Device)] {
            device.alloc(BufferId(id), Bytes(8), kind).unwrap();
        }
        let mut recording = Recording::default();
        recording.push(Queue(0), vec![], Op::Upload { from: slice(0, 8), to: slice(1, 8) });
        (0..1001).map(|_| device.run(&recording).unwrap().wall).collect()
    };
    let mut first = walls(0);
    assert_eq!(first, walls(0));
    assert_ne!(first, walls(1));
    first.sort_by(f64::total_cmp);
    // 8 bytes at 8 a second; the median of 1001 lognormal times of 10 % stays within 2 %.
    assert!((first[500] - 1.0).abs() < 0.02, "{}", first[500]);
    let share = first.iter().filter(|t| (t.ln()).abs() < 0.1).count() as f64 / 1001.0;
    assert!((0.63..0.74).contains(&share), "{share} within one standard deviation");
}

#[test]
fn shipped_descriptions_agree_with_the_table() {
    let descriptions = Sim::default().descriptions().unwrap();
    let mut rows = include_str!("data/papers/devices.csv").lines();
    let header: Vec<&str> = rows.next().unwrap().split(',').collect();
    let mut seen = 0;
    for row in rows {
        let field = |name: &str| {
            let at = header.iter().position(|h| *h == name).unwrap();
            row.split(',').nth(at).unwrap()
        };
        let number = |name: &str| field(name).parse::<f64>().ok();
        let gpu = descriptions.iter().find(|gpu| gpu.name == field("name")).unwrap();
        let peak = gpu.compute.flops_per_cycle * gpu.clock * f64::from(gpu.units) / 1e9;
        for (column, described, tolerance) in [
            ("compute_units", gpu.units.into(), 0.0),
            ("clock_mhz", gpu.clock / 1e6, 1e-9),
            ("peak_gflops_f32", peak, 0.01),
            ("memory_gb_s", gpu.memory.bandwidth / 1e9, 1e-9),
            ("memory_mib", gpu.memory.size as f64 / (1 << 20) as f64, 0.0),
            ("transaction_bytes", gpu.memory.transaction.into(), 0.0),
            ("local_banks", gpu.unit.banks.into(), 0.0),
            ("copy_engines", gpu.link.engines.into(), 0.0),
            ("warp", gpu.warp.into(), 0.0),
        ] {
            if let Some(listed) = number(column) {
                let off = (described - listed).abs() / listed;
                assert!(off <= tolerance, "{}: {column} {described}, not {listed}", gpu.name);
            }
        }
        assert_eq!(gpu.vendor, field("vendor"));
        seen += 1;
    }
    assert_eq!(seen, descriptions.len());
    for info in Sim::default().devices().unwrap() {
        assert_eq!(info.kind, DeviceKind::Simulated);
        assert_eq!(Sim::default().open(info.index).unwrap().info(), &info);
    }
}

#[test]
fn a_users_description_comes_behind_the_shipped_ones() {
    let folder = tempfile::tempdir().unwrap();
    let good = folder.path().join("good.yaml");
    let shipped = include_str!("../crates/device/src/sim/devices/tesla-c2075.yaml");
    std::fs::write(&good, shipped.replace("Tesla C2075", "Mine")).unwrap();
    let devices = Sim::new(vec![good], 0).devices().unwrap();
    assert_eq!(devices.last().unwrap().name, "Mine");
    let bad = folder.path().join("bad.yaml");
    std::fs::write(&bad, shipped.replace("units: 14", "units: 0 ")).unwrap();
    let Err(Error::Suite(mistakes)) = Sim::new(vec![bad], 0).devices() else {
        panic!("zero units were accepted");
    };
    assert_eq!(mistakes[0].line_column(), (5, 8));
    assert!(mistakes[0].file.ends_with("bad.yaml"));
    let missing = Sim::new(vec![folder.path().join("none.yaml")], 0).devices();
    assert!(missing.unwrap_err().to_string().contains("none.yaml"));
}
