//! Model 6, components: what limits a kernel on each of several devices, and which device is the
//! one to pick?
//!
//! Source: P14 §3.3.4. Counts come from one emulated work-group, scaled by the number of groups.

/// A measured rate (bytes per second) against work-items at work, linear between its points and
/// level beyond them.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve(Vec<(f64, f64)>);

impl Curve {
    /// The curve through `points` of (work-items, rate).
    pub fn new(mut points: Vec<(f64, f64)>) -> Self {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self(points)
    }

    /// The rate with so many work-items; 0 for a curve without points.
    pub fn at(&self, items: f64) -> f64 {
        let above = self.0.partition_point(|point| point.0 < items);
        match (above.checked_sub(1).and_then(|i| self.0.get(i)), self.0.get(above)) {
            (Some(low), Some(high)) => {
                low.1 + (high.1 - low.1) * (items - low.0) / (high.0 - low.0)
            }
            (Some(end), None) | (None, Some(end)) => end.1,
            (None, None) => 0.0,
        }
    }
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
    /// Seconds of the kernel.
    pub fn seconds(&self) -> f64 {
        self.compute.max(self.global).max(self.local)
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

    #[test]
    fn the_longest_component_counts() {
        let time = Projection { compute: 1.0, global: 3.0, local: 2.0 };
        assert_eq!(time.seconds(), 3.0);
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
