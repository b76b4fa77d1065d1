//! From quantities to places on an axis, and where its ticks stand.

/// How an axis maps quantities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    /// Evenly.
    Linear(f64, f64),
    /// By logarithm: equal ratios are equal lengths.
    Log(f64, f64),
}

impl Scale {
    /// A logarithmic scale with some room around `values`; `None` where no value is above zero.
    pub(super) fn log(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (low, high) = bounds(values.into_iter().filter(|&v| v > 0.0))?;
        let room = (high / low).powf(0.06).max(1.15);
        Some(Self::Log(low / room, high * room))
    }

    /// A linear scale from zero to a little above the largest of `values`.
    pub(super) fn from_zero(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (_, high) = bounds(values)?;
        (high > 0.0).then_some(Self::Linear(0.0, high * 1.08))
    }

    /// Where `value` lies: 0 at the lower end, 1 at the upper, held within.
    pub(super) fn place(self, value: f64) -> f64 {
        let share = match self {
            Self::Linear(low, high) => (value - low) / (high - low),
            Self::Log(low, high) => (value / low).ln() / (high / low).ln(),
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// Round values along the scale, about `count` of them.
    pub(super) fn ticks(self, count: usize) -> Vec<f64> {
        match self {
            Self::Linear(low, high) => linear_ticks(low, high, count),
            Self::Log(low, high) => log_ticks(low, high, count),
        }
    }
}

fn bounds(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values.into_iter().filter(|v| v.is_finite()).fold(None, |bounds, v| match bounds {
        None => Some((v, v)),
        Some((low, high)) => Some((v.min(low), v.max(high))),
    })
}

fn linear_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    let rough = (high - low) / count.max(1) as f64;
    if !(rough.is_finite() && rough > 0.0) {
        return vec![low];
    }
    let decade = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|s| s * decade).into_iter().find(|&s| s >= rough * 0.999);
    let step = step.unwrap_or(10.0 * decade);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|i| i as f64 * step).collect()
}

fn log_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    let (first, last) = (low.log10().ceil() as i32, high.log10().floor() as i32);
    let decades = (last - first + 1).max(0) as usize;
    if decades >= 3 {
        let stride = decades.div_ceil(count.max(1)).max(1);
        return (first..=last).step_by(stride).map(|d| 10f64.powi(d)).collect();
    }
    let within = |steps: &[f64]| -> Vec<f64> {
        let all = (first - 1..=last).flat_map(|d| steps.iter().map(move |s| s * 10f64.powi(d)));
        all.filter(|v| (low..=high).contains(v)).collect()
    };
    [&[1.0, 3.0][..], &[1.0, 2.0, 5.0]]
        .into_iter()
        .map(within)
        .find(|ticks| ticks.len() >= 3)
        .unwrap_or_else(|| linear_ticks(low, high, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(Scale::Linear(0.0, 1.0).ticks(4), [0.0, 0.5, 1.0]);
        assert_eq!(Scale::Linear(-0.02, 0.05).ticks(4), [-0.02, 0.0, 0.02, 0.04]);
        assert_eq!(Scale::Log(0.9, 1100.0).ticks(5), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(Scale::Log(1e-9, 1e3).ticks(4).len(), 4);
        assert_eq!(Scale::Log(0.9, 6.0).ticks(5), [1.0, 2.0, 5.0]);
    }

    #[test]
    fn places_are_held_within() {
        let scale = Scale::log([1.0, 100.0, f64::NAN, 0.0]).unwrap();
        assert!((scale.place(10.0) - 0.5).abs() < 1e-12);
        assert_eq!((scale.place(0.0), scale.place(f64::INFINITY)), (0.0, 1.0));
        assert_eq!(scale.place(f64::NAN), 0.0);
        assert!(Scale::log([f64::NAN]).is_none() && Scale::from_zero([0.0]).is_none());
    }
}
