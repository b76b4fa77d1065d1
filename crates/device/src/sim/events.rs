//! The simulation itself: steps become ready, wait for an engine or for room, run, and end.

use super::link::{Link, Transfer};
use super::units::{Kernel, Units};
use super::{Description, Grid};
use gpubench_core::gpu::StepTimes;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A step of a recording, priced.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its in-order queue.
    pub queue: u32,
    /// Earlier steps that must have ended.
    pub after: Vec<usize>,
    /// What it does.
    pub work: Work,
    /// How many times longer than described its work takes.
    pub noise: f64,
    /// How many times longer than described its launch takes.
    pub launch_noise: f64,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Work {
    /// Runs a kernel on the compute units.
    Kernel(Grid),
    /// Copies between host and device.
    Transfer(Transfer),
}

/// When each step runs on the described GPU, on which every group must fit and `after` names
/// only earlier steps. Pure: equal jobs, equal times.
pub fn simulate(gpu: &Description, jobs: &[Job]) -> Vec<StepTimes> {
    let free = |doing: &[[bool; 2]]| vec![[f64::INFINITY; 2]; doing.len()];
    simulate_multi_device(&[(gpu, jobs)], &free).swap_remove(0)
}

/// How many bytes a second may be uploaded to and downloaded from each GPU while they all do what is requested (upload,
/// download).
pub type HostLimits<'a> = dyn Fn(&[[bool; 2]]) -> Vec<[f64; 2]> + 'a;

/// When each step runs on several GPUs that begin at the same moment, each with its jobs.
pub fn simulate_multi_device(
    gpus: &[(&Description, &[Job])],
    limits: &HostLimits,
) -> Vec<Vec<StepTimes>> {
    let mut worlds: Vec<World> = gpus.iter().map(|(gpu, jobs)| World::new(gpu, jobs)).collect();
    loop {
        worlds.iter_mut().for_each(World::settle);
        let doing: Vec<[bool; 2]> = worlds.iter().map(|world| world.link.moving()).collect();
        for (world, limits) in worlds.iter_mut().zip(limits(&doing)) {
            world.link.limit(limits);
        }
        let Some(dt) = worlds.iter().filter_map(World::next).min_by(f64::total_cmp) else { break };
        worlds.iter_mut().for_each(|world| world.advance(dt));
    }
    worlds.into_iter().map(|world| world.times).collect()
}

/// A step that has become ready: it joins its queue at a time, earlier steps first.
#[derive(Clone, Copy, PartialEq)]
struct Timer {
    at: f64,
    step: usize,
}

impl Eq for Timer {}

impl Ord for Timer {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.total_cmp(&other.at).then(self.step.cmp(&other.step))
    }
}

impl PartialOrd for Timer {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// What keeps a step from becoming ready, and which steps it keeps.
#[derive(Clone, Default)]
struct Waiting {
    missing: usize,
    ready: f64,
    dependents: Vec<usize>,
}

/// A kernel with groups begun, or about to begin.
struct Running {
    step: usize,
    unplaced: u64,
}

struct World<'a> {
    gpu: &'a Description,
    jobs: &'a [Job],
    now: f64,
    times: Vec<StepTimes>,
    waiting: Vec<Waiting>,
    timers: BinaryHeap<Reverse<Timer>>,
    /// Kernels in the order in which they arrived; without copy engines copies too.
    arrived: VecDeque<usize>,
    running: Vec<Running>,
    units: Units,
    link: Link,
    /// Whether groups have come or gone since the units' rates were set.
    changed: bool,
}

impl<'a> World<'a> {
    fn new(gpu: &'a Description, jobs: &'a [Job]) -> Self {
        let submit = gpu.costs.submit;
        let times = (0..jobs.len()).map(|i| {
            let (queued, submitted) = (i as f64 * submit, (i + 1) as f64 * submit);
            StepTimes { queued, submitted, started: submitted, ended: submitted }
        });
        let mut world = Self {
            gpu,
            jobs,
            now: 0.0,
            times: times.collect(),
            waiting: dependencies(jobs),
            timers: BinaryHeap::new(),
            arrived: VecDeque::new(),
            running: vec![],
            units: Units::new(gpu),
            link: Link::new(gpu.link.engines),
            changed: false,
        };
        for step in 0..jobs.len() {
            world.waiting[step].ready = world.times[step].submitted;
            if world.waiting[step].missing == 0 {
                world.ready(step);
            }
        }
        world
    }

    /// Begins what can begin now.
    fn settle(&mut self) {
        self.arrive();
        self.changed |= self.begin();
        self.start_copies();
        if self.changed {
            self.units.set_rates();
        }
    }

    /// Lets `dt` seconds pass, in which nothing ends but at their end.
    fn advance(&mut self, dt: f64) {
        self.now += dt;
        for step in self.link.advance(dt) {
            self.end(step);
        }
        self.changed = self.units.advance(dt);
        if self.changed {
            self.end_kernels();
        }
    }

    /// Everything that `step` waited for has ended: it will join its queue.
    fn ready(&mut self, step: usize) {
        let job = &self.jobs[step];
        let launch = match job.work {
            Work::Kernel(_) => self.gpu.costs.launch * job.launch_noise,
            Work::Transfer(_) => 0.0,
        };
        self.timers.push(Reverse(Timer { at: self.waiting[step].ready + launch, step }));
    }

    /// Steps whose time has come join their queues.
    fn arrive(&mut self) {
        while let Some(&Reverse(Timer { at, step })) = self.timers.peek() {
            if !super::is_over(at - self.now, 0.0) {
                break;
            }
            self.timers.pop();
            match self.jobs[step].work {
                Work::Transfer(transfer) if self.gpu.link.engines > 0 => {
                    self.link.queue(step, transfer, self.jobs[step].noise);
                }
                _ => self.arrived.push_back(step),
            }
        }
    }

    /// Begins what the compute units can take, strictly in the order of arrival: a later kernel
    /// gets what is left when all groups of the earlier ones have begun.
    fn begin(&mut self) -> bool {
        let mut begun = false;
        while let Some(&step) = self.arrived.front() {
            let wholly = match self.jobs[step].work {
                Work::Kernel(grid) => self.begin_groups(step, grid, &mut begun),
                Work::Transfer(transfer) => self.begin_alone(step, transfer),
            };
            if !wholly {
                break;
            }
            self.arrived.pop_front();
        }
        begun
    }

    /// Begins the groups of a kernel that fit; whether all have begun.
    fn begin_groups(&mut self, step: usize, grid: Grid, begun: &mut bool) -> bool {
        let copy_first = self.gpu.link.engines == 0 && !self.link.is_idle();
        let known = self.running.iter().position(|running| running.step == step);
        let full = self.running.len() >= self.gpu.concurrent_kernels as usize;
        if copy_first || (known.is_none() && full) {
            return false;
        }
        let unplaced = known.map_or(grid.groups, |at| self.running[at].unplaced);
        let kernel = Kernel { step, grid, noise: self.jobs[step].noise };
        let placed = if unplaced > 0 { self.units.place(&kernel, unplaced) } else { 0 };
        *begun |= placed > 0;
        match known {
            Some(at) => self.running[at].unplaced -= placed,
            None if grid.groups == 0 => {
                self.times[step].started = self.now;
                self.end(step);
            }
            None if placed > 0 => {
                self.times[step].started = self.now;
                self.running.push(Running { step, unplaced: unplaced - placed });
            }
            None => {}
        }
        placed == unplaced
    }

    /// Without copy engines a copy has the whole device for itself.
    fn begin_alone(&mut self, step: usize, transfer: Transfer) -> bool {
        let alone = self.running.is_empty() && self.link.is_idle();
        if alone {
            self.link.queue(step, transfer, self.jobs[step].noise);
        }
        alone
    }

    fn start_copies(&mut self) {
        for step in self.link.begin() {
            self.times[step].started = self.now;
        }
    }

    /// Seconds until the next event, if there is one.
    fn next(&self) -> Option<f64> {
        let timer = self.timers.peek().map(|Reverse(timer)| (timer.at - self.now).max(0.0));
        [timer, self.units.next(), self.link.next()].into_iter().flatten().min_by(f64::total_cmp)
    }

    fn end_kernels(&mut self) {
        let has_ended =
            |running: &mut Running| running.unplaced == 0 && !self.units.hold(running.step);
        let ended: Vec<_> = self.running.extract_if(.., has_ended).collect();
        ended.into_iter().for_each(|running| self.end(running.step));
    }

    fn end(&mut self, step: usize) {
        self.times[step].ended = self.now;
        for dependent in std::mem::take(&mut self.waiting[step].dependents) {
            let other_queue = self.jobs[dependent].queue != self.jobs[step].queue;
            let seen = self.now + if other_queue { self.gpu.costs.sync } else { 0.0 };
            let waiting = &mut self.waiting[dependent];
            waiting.ready = waiting.ready.max(seen);
            waiting.missing -= 1;
            if waiting.missing == 0 {
                self.ready(dependent);
            }
        }
    }
}

/// For each step what it waits for: the one before it on its queue, and those it names.
fn dependencies(jobs: &[Job]) -> Vec<Waiting> {
    let mut waiting = vec![Waiting::default(); jobs.len()];
    let mut last = std::collections::HashMap::new();
    for (step, job) in jobs.iter().enumerate() {
        let before = last.insert(job.queue, step);
        for &earlier in job.after.iter().chain(before.iter()) {
            waiting[earlier].dependents.push(step);
            waiting[step].missing += 1;
        }
    }
    waiting
}
