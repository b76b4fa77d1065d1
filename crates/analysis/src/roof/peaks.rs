//! The most operations a second that a device was seen to do, type by type.

use super::{DOUBT, Figure};
use gpubench_core::gpu::Scalar;
use gpubench_core::record::sole_type;
use std::collections::BTreeMap;

/// The peak of each type that was measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Peaks(BTreeMap<Scalar, Peak>);

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
        let mut by_type: BTreeMap<Scalar, Vec<Figure>> = BTreeMap::new();
        for figure in figures {
            if let Some(r#type) = sole_type(figure.flops, figure.types) {
                by_type.entry(r#type).or_default().push(*figure);
            }
        }
        let peaks = by_type.into_iter();
        Self(peaks.filter_map(|(r#type, of)| Some((r#type, Peak::of(&of)?))).collect())
    }

    /// Operations of a type a second.
    pub(super) fn rate(&self, r#type: Scalar) -> Option<f64> {
        self.0.get(&r#type).map(|peak| peak.rate)
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = (Scalar, f64)> {
        self.0.iter().map(|(r#type, peak)| (*r#type, peak.rate))
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

    /// The first type of which a figure computes more than `margin` times what is possible: its rate, and the peak.
    pub(super) fn above(&self, figure: &Figure, margin: f64) -> Option<(Scalar, f64, f64)> {
        let slowest = figure.seconds[1];
        figure.operations().find_map(|(r#type, count)| {
            let bounds = |peak: &&Peak| peak.saturated || figure.items <= peak.items;
            let (rate, peak) = (count / slowest, self.0.get(&r#type).filter(bounds)?.rate);
            (rate > margin * peak).then_some((r#type, rate, peak))
        })
    }
}

impl Peak {
    fn of(figures: &[Figure]) -> Option<Self> {
        let rate = |figure: &Figure| figure.flops / figure.seconds[0];
        let best = figures.iter().map(rate).reduce(f64::max).filter(|rate| *rate > 0.0)?;
        let mut near: Vec<u64> = figures
            .iter()
            .filter(|figure| DOUBT * rate(figure) > best)
            .map(|figure| figure.items)
            .collect();
        near.sort_unstable();
        near.dedup();
        let items = figures.iter().map(|figure| figure.items).max()?;
        Some(Self { rate: best, items, saturated: near.len() > 1 })
    }
}
