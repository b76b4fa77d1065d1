//! The most operations a second that a device was seen to do, type by type.

use super::{DOUBT, Figure};
use gpubench_core::gpu::Scalar;
use gpubench_core::record::sole_type;
use std::collections::BTreeMap;

/// The peak of each type that was measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Peaks(BTreeMap<Scalar, (Peak, Rates)>);

/// The most operations a second of each workload and number of work-items: what a peak was found among, so that one
/// workload can be left out.
type Rates = BTreeMap<(String, u64), f64>;

/// The most operations a second.
#[derive(Clone, Copy, Debug)]
struct Peak {
    rate: f64,
    /// Work-items of the largest launch that was tried.
    items: u64,
    /// Whether a larger launch was no faster than a smaller one, so that no launch would be.
    saturated: bool,
}

impl Peaks {
    /// Of figures that are ceilings; a figure of several types is the ceiling of none of them.
    pub(super) fn of(figures: &[Figure]) -> Self {
        let mut by_type: BTreeMap<Scalar, Rates> = BTreeMap::new();
        for figure in figures {
            let Some(r#type) = sole_type(figure.flops, figure.types) else { continue };
            let rates = by_type.entry(r#type).or_default();
            let best = rates.entry((figure.workload.to_owned(), figure.items)).or_default();
            *best = best.max(figure.flops / figure.seconds[0]);
        }
        let of_type = |(r#type, rates)| Some((r#type, (Peak::of(&rates, None)?, rates)));
        Self(by_type.into_iter().filter_map(of_type).collect())
    }

    /// Operations of a type a second.
    pub(super) fn rate(&self, r#type: Scalar) -> Option<f64> {
        self.0.get(&r#type).map(|(peak, _)| peak.rate)
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = (Scalar, f64)> {
        self.0.iter().map(|(r#type, (peak, _))| (*r#type, peak.rate))
    }

    /// Operations a second of such a mix, where all of its types are known.
    pub(super) fn of_mix(&self, figure: &Figure) -> Option<f64> {
        let seconds = |(r#type, count)| self.rate(r#type).map(|rate| count / rate);
        let seconds = figure.operations().map(seconds).collect::<Option<Vec<f64>>>()?;
        match seconds.into_iter().reduce(f64::max) {
            Some(seconds) => Some(figure.flops / seconds),
            None => self.rate(Scalar::F32),
        }
    }

    /// The first type of which a figure computes more than `margin` times what is possible by all workloads but one:
    /// its rate, and the peak.
    pub(super) fn above(
        &self,
        figure: &Figure,
        margin: f64,
        except: Option<&str>,
    ) -> Option<(Scalar, f64, f64)> {
        let slowest = figure.seconds[1];
        let bounds = |peak: &Peak| peak.saturated || figure.items <= peak.items;
        figure.operations().find_map(|(r#type, count)| {
            let (peak, rates) = self.0.get(&r#type)?;
            let peak = if except.is_none() { Some(*peak) } else { Peak::of(rates, except) };
            let (rate, peak) = (count / slowest, peak.filter(bounds)?.rate);
            (rate > margin * peak).then_some((r#type, rate, peak))
        })
    }
}

impl Peak {
    fn of(rates: &Rates, except: Option<&str>) -> Option<Self> {
        let others = rates.iter().filter(|((workload, _), _)| Some(workload.as_str()) != except);
        let others = others.map(|((_, items), rate)| (*items, *rate));
        let best = others.clone().map(|(_, rate)| rate).reduce(f64::max);
        let best = best.filter(|best| *best > 0.0)?;
        let mut near = others.clone().filter(|(_, rate)| DOUBT * rate > best);
        let (first, _) = near.next()?;
        Some(Self {
            rate: best,
            items: others.map(|(items, _)| items).max()?,
            saturated: near.any(|(items, _)| items != first),
        })
    }
}
