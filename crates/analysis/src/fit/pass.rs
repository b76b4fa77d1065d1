//! What a model sees of one launch on the device: everything but its parameters.

use super::counted::{Task, Tasks, Timeline};
use super::device::Device;
use super::{Launch, Model};
use gpubench_core::error::{Error, Result};
use gpubench_model::components::Projection;
use gpubench_model::hybrid::{Hybrid, Work};
use gpubench_model::parallel_degrees::{self, Access, Period, Shape, Step};
use gpubench_model::roofline::Ceilings;
use gpubench_model::smooth_roofline::SmoothRoofline;
use gpubench_model::warp_timeline::{Barriers, Warp};
use serde::Serialize;

/// The part of a launch that takes longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Instructions.
    Compute,
    /// Global memory: bandwidth.
    Global,
    /// Local memory and barriers.
    Local,
    /// Waiting for memory, which too few warps hide.
    Latency,
    /// Starting the launch and its groups.
    Launch,
}

impl Bound {
    /// In words.
    pub fn label(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Global => "global memory",
            Self::Local => "local memory",
            Self::Latency => "latency",
            Self::Launch => "launch",
        }
    }
}

/// One launch in a model's eyes.
#[derive(Clone, Debug)]
pub enum Pass {
    /// Operations and bytes, for either roofline.
    Amounts {
        /// Operations.
        operations: f64,
        /// Bytes that must be moved.
        bytes: f64,
        /// Whether the corner is sharp and a launch costs nothing.
        sharp: bool,
    },
    /// For model 4.
    Timeline(Timeline),
    /// For model 5, with the device's bandwidth in bytes a cycle and its clock.
    Tasks {
        /// The launch.
        tasks: Tasks,
        /// Bytes a cycle.
        bandwidth: f64,
        /// Cycles a second.
        clock: f64,
        /// Units, and most warps resident on one.
        units: [u32; 2],
    },
    /// For model 6.
    Components(Projection),
    /// For the hybrid.
    Work(Work),
}

impl Pass {
    /// What `model` sees of the mean pass of `launch`.
    ///
    /// # Errors
    /// `Unsupported` where it lacks the launch's counts or the device's profile, or the group does
    /// not fit.
    pub fn new(model: Model, launch: &Launch, device: Option<&Device>) -> Result<Self> {
        let counted = || {
            let missing = |why: &String| {
                Error::Unsupported(format!("the emulator could not count it: {why}"))
            };
            launch.counted.as_ref().map_err(missing)
        };
        let profiled = || {
            let why = "it needs the device's profile: `gpubench run characterise`".to_owned();
            device.ok_or(Error::Unsupported(why))
        };
        let bytes = launch.bytes / launch.passes;
        Ok(match model {
            Model::Roofline | Model::SmoothRoofline => {
                let operations = match &launch.counted {
                    Ok(counted) => counted.operations(),
                    Err(_) => launch.operations / launch.passes,
                };
                Self::Amounts { operations, bytes, sharp: model == Model::Roofline }
            }
            Model::WarpTimeline => Self::Timeline(counted()?.timeline(profiled()?)?),
            Model::ParallelDegrees => {
                let (device, tasks) = (profiled()?, counted()?.tasks(profiled()?)?);
                Self::Tasks {
                    tasks,
                    bandwidth: device.read.at(f64::INFINITY) / device.clock,
                    clock: device.clock,
                    units: [device.unit.units, device.unit.warps],
                }
            }
            Model::Components => Self::Components(counted()?.components(profiled()?)?),
            Model::Hybrid => Self::Work(counted()?.work(bytes, launch.buffers, device)),
        })
    }

    /// Its seconds at the parameters `p`, named as [`Model::parameters`] says; `factor` is what the
    /// kernel takes beyond what the model sees.
    pub fn seconds(&self, p: &[f64], factor: f64) -> f64 {
        self.seconds_with(p, factor, self.waiting(p))
    }

    /// The same where the seconds of waiting are known.
    pub(super) fn seconds_with(&self, p: &[f64], factor: f64, waiting: f64) -> f64 {
        match self {
            Self::Amounts { operations, bytes, sharp: true } => {
                Ceilings { peak: p[0], bandwidth: p[1] }.ideal_seconds(*operations, *bytes)
            }
            Self::Amounts { operations, bytes, sharp: false } => {
                let [launch, peak, bandwidth, sharpness] = [p[0], p[1], p[2], p[3]];
                SmoothRoofline { launch, peak, bandwidth, sharpness }.seconds(*operations, *bytes)
            }
            Self::Timeline(launch) => {
                p[0] + launch.warp(p).seconds(launch.resident, launch.barriers(p))
            }
            Self::Tasks { .. } => p[0] + self.computing(p) + waiting,
            Self::Components(base) => p[0] + scaled(base, p).seconds(),
            Self::Work(work) => Hybrid::of(p).times_of(work, factor),
        }
    }

    /// The parts that the seconds are made of, as far as the model distinguishes them, with the
    /// kernel's factor; they may run side by side. What the hybrid adds up, computing and local
    /// memory, is one part, called after the longer.
    pub fn parts(&self, p: &[f64], factor: f64) -> Vec<(Bound, f64)> {
        match self {
            Self::Amounts { operations, bytes, sharp: true } => {
                vec![(Bound::Compute, operations / p[0]), (Bound::Global, bytes / p[1])]
            }
            Self::Amounts { operations, bytes, sharp: false } => vec![
                (Bound::Launch, p[0]),
                (Bound::Compute, operations / p[1]),
                (Bound::Global, bytes / p[2]),
            ],
            Self::Timeline(launch) => {
                let warp = launch.warp(p);
                let resident = launch.resident;
                let rounds = f64::from(resident.rounds);
                let compute = warp.compute * f64::from(resident.warps) * rounds;
                let all = warp.seconds(resident, launch.barriers(p));
                let parts = [compute, (all - compute).max(0.0)];
                vec![(Bound::Launch, p[0]), (Bound::Compute, parts[0]), (Bound::Latency, parts[1])]
            }
            Self::Tasks { .. } => vec![
                (Bound::Launch, p[0]),
                (Bound::Compute, self.computing(p)),
                (Bound::Latency, self.waiting(p)),
            ],
            Self::Components(base) => {
                let Projection { compute, global, local } = scaled(base, p);
                vec![
                    (Bound::Launch, p[0]),
                    (Bound::Compute, compute),
                    (Bound::Global, global),
                    (Bound::Local, local),
                ]
            }
            Self::Work(work) => {
                let [launch, compute, local, global] = Hybrid::of(p).parts_of(work);
                let longer = if local > compute { Bound::Local } else { Bound::Compute };
                vec![
                    (Bound::Launch, launch),
                    (longer, factor * (compute + local)),
                    (Bound::Global, factor * global),
                ]
            }
        }
    }

    /// Model 5: seconds of computing.
    fn computing(&self, p: &[f64]) -> f64 {
        let Self::Tasks { tasks, clock, .. } = self else { return 0.0 };
        let cycles = self.degrees(p).computing(tasks.resident.warps, tasks.all.period(p[1]));
        cycles * f64::from(tasks.resident.rounds) / clock
    }

    /// Model 5: seconds of waiting for memory beyond those of computing; none by the other models. Of
    /// the parameters only the second, cycles of a transaction, changes them, and they take most of
    /// the work: a fit keeps them while that one stays.
    pub(super) fn waiting(&self, p: &[f64]) -> f64 {
        let Self::Tasks { tasks, clock, .. } = self else { return 0.0 };
        let steps = tasks.steps.iter().map(|&(last, now, times)| Step {
            last: last.period(p[1]),
            now: now.period(p[1]),
            times,
        });
        let access = Access {
            work_items: tasks.work_items,
            bytes: tasks.bytes,
            transactions: tasks.transactions,
            cycles: p[1],
        };
        let cycles = self.degrees(p).waiting(tasks.resident.warps, access, steps);
        cycles * f64::from(tasks.resident.rounds) / clock
    }

    fn degrees(&self, p: &[f64]) -> parallel_degrees::Device {
        let shape = Shape { a: p[2], b: p[3], c: p[4], d: p[5] };
        let (bandwidth, [units, warps]) = match self {
            Self::Tasks { bandwidth, units, .. } => (*bandwidth, *units),
            _ => (0.0, [0; 2]),
        };
        parallel_degrees::Device { bandwidth, units, warps, shape }
    }
}

impl Task {
    /// In cycles, where a transaction takes a given number.
    fn period(self, transaction: f64) -> Period {
        Period { compute: self.compute, memory: self.transactions * transaction }
    }
}

impl Timeline {
    /// Parameters: launch, computing beyond the profile's, latency of an access, of a transaction
    /// beyond the first, of a barrier.
    fn warp(&self, p: &[f64]) -> Warp {
        let each = self.further / self.accesses.max(1.0);
        let last_memory = if self.accesses > 0.0 { p[2] + each * p[3] } else { 0.0 };
        Warp {
            memory: self.accesses * p[2] + self.further * p[3],
            compute: p[1] * self.compute,
            last_memory,
            last_compute: p[1] * self.after,
        }
    }

    fn barriers(&self, p: &[f64]) -> Barriers {
        let warp = self.warp(p);
        let count = self.barriers.max(1.0);
        Barriers {
            count: self.barriers as u32,
            seconds: p[4],
            memory: warp.memory / count,
            compute: warp.compute / count,
        }
    }
}

fn scaled(base: &Projection, p: &[f64]) -> Projection {
    Projection {
        compute: p[1] * base.compute,
        global: p[2] * base.global,
        local: p[3] * base.local,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernels_factor_multiplies_all_parts_but_the_launch() {
        let work = Work { simple: 1e6, footprint: 2e6, groups: 10.0, ..Work::default() };
        let mut parameters = vec![1e-9; 12];
        parameters[0] = 1e-3;
        let parts = Pass::Work(work).parts(&parameters, 3.0);
        let seconds = |wanted: Bound| parts.iter().find(|(b, _)| *b == wanted).map(|(_, s)| *s);
        assert_eq!(seconds(Bound::Launch), Some(1e-3 + 10.0 * 1e-9));
        assert_eq!(seconds(Bound::Compute), Some(3.0 * 1e6 * 1e-9));
        // A byte costs as much beyond a cache of nothing again.
        let global = seconds(Bound::Global).unwrap();
        assert!((global / 12e-3 - 1.0).abs() < 1e-6, "{global}");
    }

    #[test]
    fn computing_and_local_memory_in_sum_rival_global_memory() {
        let work = Work { simple: 2e6, local: 3e6, traffic: 4e6, ..Work::default() };
        let parts = Pass::Work(work).parts(&[1e-9; 12], 1.0);
        let longest = parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        assert_eq!(longest.0, Bound::Local);
        assert!((longest.1 / 5e-3 - 1.0).abs() < 1e-9, "{longest:?}");
    }
}
