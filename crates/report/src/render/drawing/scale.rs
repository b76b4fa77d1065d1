//! From quantities to places on an axis, and where its ticks stand.

use gpubench_document::Scale;

/// No axis reaches further from zero.
const FARTHEST: f64 = 1e300;
/// No logarithmic axis spans more decades: what lies below is drawn at its lower end.
const DECADES: i32 = 15;

/// What an axis spans.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Range {
    /// Evenly.
    Linear(f64, f64),
    /// By logarithm, with ticks at powers of the base.
    Log(f64, f64, f64),
}

impl Range {
    /// Some room around `values`; a linear range reaches to zero. `None` where no value can be
    /// drawn.
    pub(crate) fn around(scale: Scale, values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let base = match scale {
            Scale::Linear => return Self::linear(values),
            Scale::Log2 => 2.0,
            Scale::Log10 => 10.0,
        };
        let (low, high) = bounds(values.into_iter().filter(|&v| v > 0.0))?;
        let high = high.clamp(1e-280, FARTHEST);
        let low = low.clamp(high * 10f64.powi(-DECADES), high);
        let room = (high / low).powf(0.06).max(1.15);
        Some(Self::Log(low / room, high * room, base))
    }

    fn linear(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (low, high) = bounds(values)?;
        let (low, high) = (low.clamp(-FARTHEST, 0.0), high.clamp(0.0, FARTHEST));
        (high > low).then_some(Self::Linear(low * 1.08, high * 1.08))
    }

    /// Whether `value` has a place.
    pub(crate) fn shows(self, value: f64) -> bool {
        matches!(self, Self::Linear(..)) || value > 0.0
    }

    /// Where `value` lies: 0 at the lower end, 1 at the upper, held within.
    pub(crate) fn place(self, value: f64) -> f64 {
        let share = match self {
            Self::Linear(low, high) => (value - low) / (high - low),
            Self::Log(low, high, _) => (value / low).ln() / (high / low).ln(),
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// Where the axis stands that bars grow from.
    pub(crate) fn foot(self) -> f64 {
        match self {
            Self::Linear(..) => self.place(0.0),
            Self::Log(..) => 0.0,
        }
    }

    /// Round values along the range, about `count` of them and never many more.
    pub(crate) fn ticks(self, count: usize) -> Vec<f64> {
        let count = count.max(1);
        let mut ticks = match self {
            Self::Linear(low, high) => linear_ticks(low, high, count),
            Self::Log(low, high, base) => log_ticks(low, high, base, count),
        };
        ticks.truncate(4 * count);
        ticks
    }
}

fn bounds(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values.into_iter().filter(|v| v.is_finite()).fold(None, |bounds, v| match bounds {
        None => Some((v, v)),
        Some((low, high)) => Some((v.min(low), v.max(high))),
    })
}

fn linear_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    let rough = (high - low) / count as f64;
    let decade = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|s| s * decade).into_iter().find(|&s| s >= rough * 0.999);
    let Some(step) = step.filter(|step| step.is_normal()) else { return vec![low] };
    let first = (low / step).ceil();
    // `rough` bounds the number of steps; counting them beforehand keeps it so.
    let steps = ((high / step).floor() - first).clamp(0.0, 4.0 * count as f64) as usize;
    // Adding zero turns -0 into 0.
    (0..=steps).map(|i| (first + i as f64) * step + 0.0).collect()
}

fn log_ticks(low: f64, high: f64, base: f64, count: usize) -> Vec<f64> {
    let power = |value: f64| value.ln() / base.ln();
    // A hair of room: the logarithm of a power need not be whole.
    let (first, last) = ((power(low) - 1e-9).ceil() as i32, (power(high) + 1e-9).floor() as i32);
    let powers = usize::try_from(last - first + 1).unwrap_or(0);
    if powers >= 3 || base == 2.0 && powers >= 1 {
        let stride = powers.div_ceil(count);
        return (first..=last).step_by(stride).map(|p| base.powi(p)).collect();
    }
    let within = |steps: &[f64]| -> Vec<f64> {
        let all = (first - 1..=last).flat_map(|d| steps.iter().map(move |s| s * 10f64.powi(d)));
        all.filter(|v| (low..=high).contains(v)).collect()
    };
    [&[1.0, 3.0][..], &[1.0, 2.0, 5.0]]
        .into_iter()
        .filter(|_| base == 10.0)
        .map(within)
        .find(|ticks| ticks.len() >= 3)
        .unwrap_or_else(|| linear_ticks(low, high, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(Range::Linear(0.0, 1.0).ticks(4), [0.0, 0.5, 1.0]);
        assert_eq!(Range::Linear(-0.02, 0.05).ticks(4), [-0.02, 0.0, 0.02, 0.04]);
        assert_eq!(Range::Log(0.9, 1100.0, 10.0).ticks(5), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(Range::Log(0.9, 6.0, 10.0).ticks(5), [1.0, 2.0, 5.0]);
        assert_eq!(Range::Log(0.9, 70.0, 2.0).ticks(4), [1.0, 4.0, 16.0, 64.0]);
    }

    #[test]
    fn no_value_makes_the_ticks_many() {
        let odd =
            [0.0, 5e-324, 1e-300, 1e-290, 1.0, 1.0 + f64::EPSILON, 1e300, f64::MAX, -1.0, f64::MIN];
        for scale in [Scale::Linear, Scale::Log2, Scale::Log10] {
            for (a, b) in odd.iter().flat_map(|a| odd.iter().map(move |b| (*a, *b))) {
                let Some(range) = Range::around(scale, [a, b, f64::NAN]) else { continue };
                let ticks = range.ticks(5);
                assert!(
                    ticks.len() <= 20 && ticks.iter().all(|t| t.is_finite()),
                    "{a:e} {b:e}: {ticks:?}"
                );
                for value in [a, b, f64::NAN, f64::INFINITY] {
                    assert!((0.0..=1.0).contains(&range.place(value)), "{range:?} {value:e}");
                }
            }
        }
        assert_eq!(Range::around(Scale::Log10, [0.0, -1.0]), None);
    }

    #[test]
    fn places_are_held_within() {
        let range = Range::around(Scale::Log10, [1.0, 100.0, f64::NAN, 0.0]).unwrap();
        assert!((range.place(10.0) - 0.5).abs() < 1e-12);
        assert!(!range.shows(0.0) && range.shows(1e-290) && range.place(1e-290) == 0.0);
        let range = Range::around(Scale::Linear, [2.0, -1.0]).unwrap();
        assert!((range.foot() - 1.0 / 3.0).abs() < 1e-12);
    }
}
