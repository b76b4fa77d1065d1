//! Model 7, event-driven form: groups of several kernels are placed as resources free.
//!
//! Beyond Q17, whose closed form ([`super::concurrency`]) knows no end of the first kernel and no
//! shared memory bandwidth (which the paper names as its largest error). Groups are placed in the
//! order of the kernels, each on the unit that holds the fewest; a later kernel's groups wait
//! until all of the earlier ones' are placed (leftover policy).

use super::concurrency::{Device, Kernel};
use std::collections::VecDeque;

/// Each group is placed by a look at all units: more looks than this would take seconds.
const MAX_PLACES: u64 = 1 << 28;

/// A kernel and how its groups run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Its groups.
    pub kernel: Kernel,
    /// Seconds of one group that has all the bandwidth it draws.
    pub group_seconds: f64,
    /// Bytes per second that one group draws then; 0 for a kernel that memory never slows.
    pub bandwidth: f64,
}

/// When a kernel runs, in seconds from the launch of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span {
    /// Its first group is placed.
    pub start: f64,
    /// Its last group ends.
    pub end: f64,
}

impl Span {
    /// Seconds from start to end.
    pub fn seconds(self) -> f64 {
        self.end - self.start
    }
}

/// When each of `loads` runs on `device`, whose memory gives `bandwidth` bytes per second
/// (infinite when it never limits). All are launched at once, in their order.
///
/// `None` when a group of some kernel does not fit a unit even alone, or when there are more groups than can be
/// followed one by one.
pub fn spans(device: &Device, loads: &[Load], bandwidth: f64) -> Option<Vec<Span>> {
    let fits = |load: &Load| load.kernel.groups == 0 || device.capacity(load.kernel.group) > 0;
    let groups: u64 = loads.iter().map(|load| u64::from(load.kernel.groups)).sum();
    if !loads.iter().all(fits) || groups.saturating_mul(device.units.into()) > MAX_PLACES {
        return None;
    }
    let mut simulation = Simulation::new(device, loads, bandwidth);
    simulation.place();
    while simulation.advance() {
        simulation.place();
    }
    Some(simulation.kernels.into_iter().map(|kernel| kernel.span).collect())
}

/// The time of `second` concurrent with `first` over its isolated time; `None` where [`spans`] is.
pub fn slowdown(device: &Device, first: Load, second: Load, bandwidth: f64) -> Option<f64> {
    let concurrent = spans(device, &[first, second], bandwidth)?[1].seconds();
    let isolated = spans(device, &[second], bandwidth)?[0].seconds();
    Some(concurrent / isolated)
}

/// The state of one kernel.
struct State {
    load: Load,
    /// Groups not yet placed.
    waiting: u32,
    /// Seconds that its groups have run, were they never slowed: all of them run at one rate.
    progress: f64,
    /// Of each running group, the progress at which it ends, and its unit; soonest first.
    running: VecDeque<(f64, usize)>,
    span: Span,
}

struct Simulation<'a> {
    device: &'a Device,
    bandwidth: f64,
    now: f64,
    kernels: Vec<State>,
    /// By unit, then kernel: how many groups it holds.
    held: Vec<Vec<u32>>,
}

impl<'a> Simulation<'a> {
    fn new(device: &'a Device, loads: &[Load], bandwidth: f64) -> Self {
        let state = |&load: &Load| State {
            load,
            waiting: load.kernel.groups,
            progress: 0.0,
            running: VecDeque::new(),
            span: Span::default(),
        };
        Self {
            device,
            bandwidth,
            now: 0.0,
            kernels: loads.iter().map(state).collect(),
            held: vec![vec![0; loads.len()]; device.units as usize],
        }
    }

    /// Places groups until the first one waiting fits nowhere.
    fn place(&mut self) {
        for k in 0..self.kernels.len() {
            while self.kernels[k].waiting > 0 {
                let Some(unit) = self.unit_with_room(k) else { return };
                self.held[unit][k] += 1;
                let kernel = &mut self.kernels[k];
                if kernel.waiting == kernel.load.kernel.groups {
                    kernel.span.start = self.now;
                }
                kernel.waiting -= 1;
                kernel.running.push_back((kernel.progress + kernel.load.group_seconds, unit));
            }
        }
    }

    /// Of the units with room for a group of kernel `k`, the one that holds the fewest groups.
    fn unit_with_room(&self, k: usize) -> Option<usize> {
        let group = self.kernels[k].load.kernel.group;
        let mut held = Vec::with_capacity(self.kernels.len());
        let mut room = |unit: usize| {
            held.clear();
            let of = self.kernels.iter().zip(&self.held[unit]);
            held.extend(of.map(|(kernel, &n)| (kernel.load.kernel.group, n)));
            self.device.unit.room(group, &held) > 0
        };
        (0..self.held.len())
            .filter(|&unit| room(unit))
            .min_by_key(|&unit| self.held[unit].iter().sum::<u32>())
    }

    /// Goes on to the next end of a group; false when none is running or none ever ends.
    fn advance(&mut self) -> bool {
        let draw: f64 =
            self.kernels.iter().map(|k| k.load.bandwidth * k.running.len() as f64).sum();
        let slowed = if draw > self.bandwidth { self.bandwidth / draw } else { 1.0 };
        let rate = |kernel: &State| if kernel.load.bandwidth > 0.0 { slowed } else { 1.0 };
        let left = |kernel: &State| {
            let (end, _) = kernel.running.front()?;
            Some(((end - kernel.progress) / rate(kernel)).max(0.0))
        };
        let next = self.kernels.iter().filter_map(left).min_by(f64::total_cmp);
        let Some(step) = next.filter(|step| step.is_finite()) else {
            for kernel in self.kernels.iter_mut().filter(|k| !k.running.is_empty()) {
                kernel.span.end = f64::INFINITY;
            }
            return false;
        };
        self.now += step;
        for (k, kernel) in self.kernels.iter_mut().enumerate() {
            // Ends within rounding of now are now, so that equal groups end together.
            kernel.progress += step * rate(kernel);
            let now = kernel.progress * (1.0 + 1e-12);
            while let Some((_, unit)) = kernel.running.pop_front_if(|(end, _)| *end <= now) {
                self.held[unit][k] -= 1;
                kernel.span.end = self.now;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::occupancy::{Group, Unit};
    use super::*;

    const DEVICE: Device = Device { units: 15, unit: Unit::K40 };

    fn load(groups: u32, size: u32, group_seconds: f64, bandwidth: f64) -> Load {
        let group = Group { size, ..Group::default() };
        Load { kernel: Kernel { groups, group }, group_seconds, bandwidth }
    }

    fn run(loads: &[Load], bandwidth: f64) -> Vec<(f64, f64)> {
        let spans = spans(&DEVICE, loads, bandwidth).unwrap();
        spans.into_iter().map(|span| (span.start, span.end)).collect()
    }

    #[test]
    fn a_kernel_alone_runs_in_waves() {
        let time = |groups| run(&[load(groups, 256, 2.0, 0.0)], f64::INFINITY)[0];
        assert_eq!([0, 1, 120, 121, 360].map(time).map(|t| t.1), [0.0, 2.0, 2.0, 4.0, 6.0]);
    }

    #[test]
    fn the_second_kernel_takes_what_the_first_leaves_and_all_once_it_is_done() {
        // 110 groups leave one group's room on 10 units until 5 s; 450 groups: 50 by then, then 120
        // a second.
        let long = load(110, 256, 5.0, 0.0);
        let second = load(450, 256, 1.0, 0.0);
        assert_eq!(run(&[long, second], f64::INFINITY), [(0.0, 5.0), (0.0, 9.0)]);
    }

    #[test]
    fn a_later_kernel_waits_until_all_groups_of_the_earlier_are_placed() {
        // One group of 1536 leaves room for 512 on every unit, yet the 16th waits.
        let first = load(16, 1536, 1.0, 0.0);
        let second = load(15, 256, 1.0, 0.0);
        assert_eq!(run(&[first, second], f64::INFINITY), [(0.0, 2.0), (1.0, 2.0)]);
    }

    #[test]
    fn shared_bandwidth_slows_those_who_draw_it() {
        let memory = load(60, 256, 1.0, 1e9);
        let compute = load(60, 256, 1.0, 0.0);
        assert_eq!(run(&[memory], 60e9), [(0.0, 1.0)]);
        assert_eq!(run(&[memory], 30e9), [(0.0, 2.0)]);
        assert_eq!(run(&[memory, compute], 30e9), [(0.0, 2.0), (0.0, 1.0)]);
        let pair = slowdown(&DEVICE, memory, memory, 60e9).unwrap();
        assert!((pair - 2.0).abs() < 1e-12, "{pair}");
        assert_eq!(slowdown(&DEVICE, load(1, 4096, 1.0, 0.0), memory, 1.0), None);
    }

    /// A file may say that a kernel has any number of groups, and a device any number of units.
    #[test]
    fn what_would_take_minutes_is_not_followed() {
        let all = load(u32::MAX, 256, 1.0, 0.0);
        assert_eq!(spans(&DEVICE, &[all, load(1, 256, 1.0, 0.0)], f64::INFINITY), None);
        let wide = Device { units: u32::MAX, ..DEVICE };
        assert_eq!(spans(&wide, &[load(1000, 256, 1.0, 0.0)], f64::INFINITY), None);
    }

    #[test]
    fn a_kernel_that_waits_is_not_slowed_by_its_waiting() {
        // As above, the second starts at 1 s; now it takes 2 s, isolated or not.
        let (first, second) = (load(16, 1536, 1.0, 0.0), load(15, 256, 2.0, 0.0));
        assert_eq!(run(&[first, second], f64::INFINITY)[1], (1.0, 3.0));
        assert_eq!(slowdown(&DEVICE, first, second, f64::INFINITY), Some(1.0));
    }
}
