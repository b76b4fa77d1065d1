//! Model 6, components: what limits a kernel on each of several devices, and which device is the
//! one to pick?
//!
//! Source: P14 §3.3.4. Counts come from one emulated work-group, scaled by the number of groups.

/// What a kernel does in one launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Instructions by class, in the order of [`Device::throughput`].
    pub instructions: Vec<f64>,
    /// Global memory, reads and writes, after coalescing.
    pub global: Traffic,
    /// Local memory, reads and writes, bank conflicts included.
    pub local: Traffic,
}

impl Counts {
    /// The counts of `groups` groups, of which this is one.
    pub fn scaled(&self, groups: f64) -> Self {
        Self {
            instructions: self.instructions.iter().map(|n| n * groups).collect(),
            global: self.global.scaled(groups),
            local: self.local.scaled(groups),
        }
    }
}

/// Transactions with a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Transactions that read.
    pub reads: f64,
    /// Transactions that write.
    pub writes: f64,
}

impl Traffic {
    fn scaled(self, groups: f64) -> Self {
        Self { reads: self.reads * groups, writes: self.writes * groups }
    }
}

/// What a device can do, from its profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// Instructions of each class per second at the kernel's occupancy.
    pub throughput: Vec<f64>,
    /// Global memory.
    pub global: Memory,
    /// Local memory.
    pub local: Memory,
}

/// A memory's transaction size and its bandwidths against occupancy.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// Bytes of a transaction.
    pub transaction: f64,
    /// Reading.
    pub read: Curve,
    /// Writing.
    pub write: Curve,
}

impl Memory {
    fn seconds(&self, traffic: Traffic, occupancy: f64) -> f64 {
        let part = |count: f64, curve: &Curve| {
            if count > 0.0 { count * self.transaction / curve.at(occupancy) } else { 0.0 }
        };
        part(traffic.reads, &self.read) + part(traffic.writes, &self.write)
    }
}

/// A measured rate (bytes per second) against occupancy (0 to 1), linear between its points and
/// level beyond them.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve(Vec<(f64, f64)>);

impl Curve {
    /// The curve through `points` of (occupancy, rate).
    pub fn new(mut points: Vec<(f64, f64)>) -> Self {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self(points)
    }

    /// The rate at `occupancy`; 0 for a curve without points.
    pub fn at(&self, occupancy: f64) -> f64 {
        let above = self.0.partition_point(|point| point.0 < occupancy);
        match (above.checked_sub(1).and_then(|i| self.0.get(i)), self.0.get(above)) {
            (Some(low), Some(high)) => {
                low.1 + (high.1 - low.1) * (occupancy - low.0) / (high.0 - low.0)
            }
            (Some(end), None) | (None, Some(end)) => end.1,
            (None, None) => 0.0,
        }
    }
}

/// What limits a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// Instructions.
    Compute,
    /// Global memory.
    Global,
    /// Local memory.
    Local,
}

/// Seconds of each component; the kernel takes as long as the longest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projection {
    /// `t_compute`.
    pub compute: f64,
    /// `t_global`.
    pub global: f64,
    /// `t_local`.
    pub local: f64,
}

impl Projection {
    /// `counts` on `device` at `occupancy` (0 to 1).
    pub fn new(counts: &Counts, device: &Device, occupancy: f64) -> Self {
        let compute = counts
            .instructions
            .iter()
            .zip(&device.throughput)
            .filter(|(count, _)| **count > 0.0)
            .map(|(count, rate)| count / rate)
            .sum();
        Self {
            compute,
            global: device.global.seconds(counts.global, occupancy),
            local: device.local.seconds(counts.local, occupancy),
        }
    }

    /// Seconds of the kernel.
    pub fn seconds(&self) -> f64 {
        self.compute.max(self.global).max(self.local)
    }

    /// The longest component.
    pub fn limit(&self) -> Component {
        if self.compute >= self.global.max(self.local) {
            Component::Compute
        } else if self.global >= self.local {
            Component::Global
        } else {
            Component::Local
        }
    }
}

/// Position of the fastest device; `None` without any.
pub fn pick(seconds: &[f64]) -> Option<usize> {
    (0..seconds.len()).min_by(|&a, &b| seconds[a].total_cmp(&seconds[b]))
}

/// What picking by `predicted` costs: how much longer the picked device takes than the best one,
/// as a share of the best one's measured time. `None` without devices.
pub fn penalty(predicted: &[f64], measured: &[f64]) -> Option<f64> {
    let picked = *measured.get(pick(predicted)?)?;
    let best = measured[pick(measured)?];
    Some((picked - best).abs() / best)
}

/// The distance of the *relative* times over the devices, from 0 (same proportions) to 1:
/// `‖v_meas/‖v_meas‖ − v_pred/‖v_pred‖‖ / √2`.
pub fn relative_error(predicted: &[f64], measured: &[f64]) -> f64 {
    let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let (p, m) = (norm(predicted), norm(measured));
    let difference: Vec<f64> = predicted.iter().zip(measured).map(|(x, y)| y / m - x / p).collect();
    norm(&difference) / std::f64::consts::SQRT_2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(transaction: f64, rate: f64) -> Memory {
        let curve = Curve::new(vec![(0.5, rate), (0.0, 0.0)]);
        Memory { transaction, read: curve.clone(), write: curve }
    }

    #[test]
    fn the_longest_component_limits() {
        let device = Device {
            throughput: vec![1e9, 1e8],
            global: memory(64.0, 64e6),
            local: memory(4.0, 4e9),
        };
        let group = Counts {
            instructions: vec![1000.0, 300.0],
            global: Traffic { reads: 3.0, writes: 1.0 },
            local: Traffic { reads: 1000.0, writes: 0.0 },
        };
        let time = Projection::new(&group.scaled(1e3), &device, 1.0);
        let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-12, "{x} {y}");
        near(time.compute, 4e-3);
        near(time.global, 4e-3);
        near(time.local, 1e-3);
        assert_eq!(time.limit(), Component::Compute);
        let starved = Projection::new(&group.scaled(1e3), &device, 0.25);
        near(starved.seconds(), 8e-3);
        assert_eq!(starved.limit(), Component::Global);
    }

    #[test]
    fn curves_are_linear_between_points_and_level_beyond() {
        let curve = Curve::new(vec![(0.25, 10.0), (0.75, 30.0)]);
        assert_eq!(
            [0.0, 0.25, 0.5, 0.75, 1.0].map(|x| curve.at(x)),
            [10.0, 10.0, 20.0, 30.0, 30.0]
        );
        assert_eq!(Curve::new(vec![]).at(0.5), 0.0);
    }

    #[test]
    fn picking_the_second_best_costs_its_distance() {
        assert_eq!(penalty(&[1.0, 2.0], &[3.0, 4.0]), Some(0.0));
        assert_eq!(penalty(&[2.0, 1.0], &[3.0, 4.0]), Some(1.0 / 3.0));
        assert_eq!(penalty(&[], &[]), None);
    }

    #[test]
    fn relative_error_sees_proportions_only() {
        assert!(relative_error(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0]) < 1e-12);
        assert!((relative_error(&[1.0, 0.0], &[0.0, 1.0]) - 1.0).abs() < 1e-12);
    }
}
