//! When commands begin and end: queues, copy engines, waves of groups, and what they share.

use crate::{assert_near, gpu};
use gpubench::backend::sim::{
    Costs, Description, Direction, Grid, Job, Needs, Sim, Transfer, Work, simulate,
};
use gpubench::gpu::{MemoryKind, StepTimes};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

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
    // s s k . : second upload 1–2 during the first kernel; first download 2–3 during the second
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
    // Small groups would fit in with those of the first, but wait until all of it has begun.
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
