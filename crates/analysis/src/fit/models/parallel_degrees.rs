//! Model 5, parallel degrees (C13 ch. 3), of counted launches.

use super::{KernelModel, profiled, profiled_start};
use crate::fit::counted::Counted;
use crate::fit::device::Device;
use crate::fit::fitted::Sample;
use crate::fit::pass::{Bound, Pass};
use crate::fit::{Launch, Model};
use gpubench_core::error::Result;
use gpubench_emulator as emulator;
use gpubench_model::hybrid::Multiples;
use gpubench_model::least_squares::Domain;
use gpubench_model::parallel_degrees::{self as model, Access, Period, Shape, Step};
use gpubench_model::warp_timeline::Residency;
use std::sync::Arc;

/// The model.
pub(super) const MODEL: Model = Model {
    id: "parallel-degrees",
    name: "parallel degrees",
    parameters: &["launch", "transaction cycles", "a", "b", "c", "d"],
    needs_profile: true,
    about: Some("Model 5: how many warps compute and load at once"),
    rules: &ParallelDegrees,
};

/// Its rules.
struct ParallelDegrees;

/// A run of computing, then a run of accesses, of one warp.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Task {
    /// Cycles of computing, as the profile prices them.
    compute: f64,
    /// Transactions of the accesses.
    transactions: f64,
}

/// What it sees of a launch.
#[derive(Clone, Debug, PartialEq)]
struct Tasks {
    /// What is resident on a unit.
    resident: Residency,
    /// All tasks together.
    all: Task,
    /// A task after another, and how often.
    steps: Vec<(Task, Task, f64)>,
    /// Work-items that take part in an access, in the mean.
    work_items: f64,
    /// Bytes of one work-item's access, in the mean.
    bytes: f64,
    /// Transactions of an access, in the mean.
    transactions: f64,
    /// Bytes a cycle of the device.
    bandwidth: f64,
    /// Cycles a second.
    clock: f64,
    /// Units, and most warps resident on one.
    units: [u32; 2],
}

impl KernelModel for ParallelDegrees {
    fn pass(&self, launch: &Launch, device: Option<&Device>) -> Result<Arc<dyn Pass>> {
        Ok(Arc::new(tasks(launch.counted()?, profiled(device)?)?))
    }

    fn unfitted(&self, device: &Device) -> Result<Vec<f64>> {
        let Shape { a, b, c, d } = Shape::GTX_260;
        Ok(vec![device.launch, device.memory_latency()? * device.clock, a, b, c, d])
    }

    fn domains(&self, device: Option<&Device>) -> Vec<Domain> {
        let warps = device.map_or(2.0, |device| f64::from(device.unit.warps.max(2)));
        let degree = Domain::Between(1.0, 2.0 * warps);
        let bend = Domain::Between(0.0, warps);
        let share = Domain::Between(0.0, 1.0);
        let positive = Domain::Positive;
        vec![positive, positive, degree, bend, share, Domain::Between(0.1, 1000.0)]
    }

    /// Bends of the compute parallel degree all over where it may lie.
    fn starts(&self, samples: &[Sample<'_>], device: Option<&Device>) -> Result<Vec<Vec<f64>>> {
        let warps = f64::from(profiled(device)?.unit.warps);
        let start = profiled_start(self, samples, device)?;
        let mut all = vec![start.clone()];
        for a in [2.0, 8.0] {
            for b in [0.25, 0.6] {
                for c in [0.3, 0.5, 0.7] {
                    let mut other = start.clone();
                    other[1] /= 4.0;
                    other[2..5].copy_from_slice(&[a, b * warps, c]);
                    all.push(other);
                }
            }
        }
        Ok(all)
    }
}

fn tasks(counted: &Counted, device: &Device) -> Result<Tasks> {
    let counts = &counted.group;
    let resident = device.resident(counts, counted.groups)?;
    let task = |period: &emulator::Period| Task {
        compute: period
            .compute
            .iter()
            .map(|&(class, n)| n as f64 * device.latency(class) * device.clock)
            .sum(),
        transactions: period.transactions as f64,
    };
    let mut steps: Vec<(Task, Task, f64)> = vec![];
    let mut add = |last: Task, now: Task, times: u64| match steps
        .iter_mut()
        .find(|step| step.0 == last && step.1 == now)
    {
        _ if times == 0 => {}
        Some(step) => step.2 += times as f64,
        None => steps.push((last, now, times as f64)),
    };
    let mut last = Task::default();
    for period in &counts.periods {
        let now = task(period);
        add(last, now, 1);
        add(now, now, period.times - 1);
        last = now;
    }
    let sum = |f: fn(&emulator::Period) -> u64| -> f64 {
        counts.periods.iter().map(|p| (f(p) * p.times) as f64).sum()
    };
    let accesses = sum(|p| p.reads + p.writes).max(1.0);
    let lanes = sum(|p| p.lanes);
    Ok(Tasks {
        resident,
        all: steps.iter().fold(Task::default(), |all, &(_, now, times)| Task {
            compute: all.compute + times * now.compute,
            transactions: all.transactions + times * now.transactions,
        }),
        steps,
        work_items: lanes / accesses,
        bytes: sum(|p| p.bytes) / lanes.max(1.0),
        transactions: sum(|p| p.transactions) / accesses,
        bandwidth: device.read.at(f64::INFINITY) / device.clock,
        clock: device.clock,
        units: [device.unit.units, device.unit.warps],
    })
}

impl Task {
    /// In cycles, where a transaction takes a given number.
    fn period(self, transaction: f64) -> Period {
        Period { compute: self.compute, memory: self.transactions * transaction }
    }
}

impl Tasks {
    /// Seconds of computing.
    fn computing(&self, p: &[f64]) -> f64 {
        let cycles = self.degrees(p).computing(self.resident.warps, self.all.period(p[1]));
        cycles * f64::from(self.resident.rounds) / self.clock
    }

    fn degrees(&self, p: &[f64]) -> model::Device {
        let (shape, [units, warps]) = (Shape { a: p[2], b: p[3], c: p[4], d: p[5] }, self.units);
        model::Device { bandwidth: self.bandwidth, units, warps, shape }
    }
}

impl Pass for Tasks {
    fn seconds_with(&self, p: &[f64], _: Multiples, waiting: f64) -> f64 {
        p[0] + self.computing(p) + waiting
    }

    fn waiting(&self, p: &[f64]) -> f64 {
        let steps = self.steps.iter().map(|&(last, now, times)| Step {
            last: last.period(p[1]),
            now: now.period(p[1]),
            times,
        });
        let access = Access {
            work_items: self.work_items,
            bytes: self.bytes,
            transactions: self.transactions,
            cycles: p[1],
        };
        let cycles = self.degrees(p).waiting(self.resident.warps, access, steps);
        cycles * f64::from(self.resident.rounds) / self.clock
    }

    fn parts(&self, p: &[f64], _: Multiples) -> Vec<(Bound, f64)> {
        vec![
            (Bound::Launch, p[0]),
            (Bound::Compute, self.computing(p)),
            (Bound::Latency, self.waiting(p)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::hand_computed::{changed, device};

    /// Two accesses and one of writing, thrice; then 3 additions. That twice over.
    #[test]
    fn periods_that_follow_each_other_alike_are_one_step() {
        let launch = changed(8.0, |group| {
            group.periods[0].times = 3;
            group.periods[1].times = 2;
            group.periods.extend(group.periods.clone());
        });
        let found = tasks(&launch.counted.unwrap(), &device()).unwrap();
        // 10·4 + 5·8 cycles and 5 transactions; 3·4 cycles.
        let loading = Task { compute: 80.0, transactions: 5.0 };
        let adding = Task { compute: 12.0, transactions: 0.0 };
        let wanted = [
            (Task::default(), loading, 1.0),
            (loading, loading, 4.0),
            (loading, adding, 2.0),
            (adding, adding, 2.0),
            (adding, loading, 1.0),
        ];
        let near = |one: Task, other: Task| {
            (one.compute - other.compute).abs() < 1e-9 && one.transactions == other.transactions
        };
        assert_eq!(found.steps.len(), wanted.len(), "{:?}", found.steps);
        for (step, (last, now, times)) in found.steps.iter().zip(wanted) {
            let same = near(step.0, last) && near(step.1, now) && step.2 == times;
            assert!(same, "{:?}", found.steps);
        }
        assert!(near(found.all, Task { compute: 6.0 * 80.0 + 4.0 * 12.0, transactions: 30.0 }));
        assert_eq!((found.work_items, found.bytes, found.transactions), (32.0, 4.0, 5.0 / 3.0));
        assert_eq!((found.bandwidth, found.clock, found.units), (64.0, 1e9, [2, 8]));
    }

    /// 3 accesses of 32 lanes, thrice, and 5 of 8 lanes.
    #[test]
    fn an_access_is_the_mean_of_all() {
        let launch = changed(8.0, |group| {
            group.periods[0].times = 3;
            let other = &mut group.periods[1];
            (other.reads, other.writes, other.lanes, other.bytes) = (5, 0, 40, 640);
            other.transactions = 9;
        });
        let found = tasks(&launch.counted.unwrap(), &device()).unwrap();
        let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-12, "{x} is not {y}");
        near(found.work_items, (3.0 * 96.0 + 40.0) / 14.0);
        near(found.bytes, (3.0 * 384.0 + 640.0) / (3.0 * 96.0 + 40.0));
        near(found.transactions, (3.0 * 5.0 + 9.0) / 14.0);
    }
}
