//! The most operations a second that a device was seen to do, type by type.

use super::{DOUBT, Figure};
use gpubench_core::gpu::Scalar;
use gpubench_core::record::sole_type;
use gpubench_core::workload::Ceiling;
use std::collections::{BTreeMap, BTreeSet};

/// The peaks of each type that was measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Peaks(BTreeMap<Scalar, TypePeaks>);

/// The peaks of a type.
#[derive(Clone, Debug)]
struct TypePeaks {
    /// Of whatever instruction does most.
    best: Peak,
    rates: Rates,
    /// Operations a second of instructions that do one at a time, where others were measured as well: a dot product's,
    /// a matrix unit's.
    plain: Option<f64>,
    /// Whether instructions were measured that do several at once.
    several: bool,
}

impl TypePeaks {
    /// What a kernel of this `rate` can reach: which instructions it uses, only its rate shows.
    fn reach(&self, rate: f64) -> f64 {
        self.plain.filter(|plain| rate <= DOUBT * plain).unwrap_or(self.best.rate)
    }
}

/// What was measured of a type.
#[derive(Default)]
struct Measured {
    rates: Rates,
    /// The best of the ceilings of plain instructions.
    plain: Option<f64>,
    several: bool,
    /// The rates of kernels that are no ceilings.
    kernels: Vec<f64>,
}

impl Measured {
    fn add(&mut self, ceiling: Option<Ceiling>, figure: &Figure) {
        let rate = figure.flops / figure.seconds[0];
        let is_plain = ceiling != Some(Ceiling::DotProduct);
        let workload = figure.workload.to_owned();
        let best = self.rates.entry((workload, figure.items)).or_insert((0.0, is_plain));
        best.0 = best.0.max(rate);
        match ceiling {
            Some(Ceiling::Flops) => self.plain = Some(self.plain.unwrap_or(0.0).max(rate)),
            Some(Ceiling::DotProduct) => self.several = true,
            _ => self.kernels.push(rate),
        }
    }

    /// Kernels that compute a little more than the ceiling of plain instructions raise it.
    fn peaks(self) -> Option<TypePeaks> {
        let Self { rates, plain, several, kernels } = self;
        let raised = |plain: f64| {
            kernels.into_iter().filter(|rate| *rate <= DOUBT * plain).fold(plain, f64::max)
        };
        let plain = plain.filter(|_| several).map(raised);
        Some(TypePeaks { best: Peak::of(&rates, None)?, rates, plain, several })
    }
}

/// The most operations a second of each workload and number of work-items, and whether its instructions do one at a
/// time: what a peak was found among, so that one workload can be left out.
type Rates = BTreeMap<(String, u64), (f64, bool)>;

/// The most operations a second.
#[derive(Clone, Copy, Debug)]
struct Peak {
    rate: f64,
    /// Work-items of the largest launch of a workload that comes near it.
    items: u64,
    /// Whether a larger launch of one was no faster than a smaller, so that no launch would be.
    saturated: bool,
}

impl Peaks {
    /// Of figures, each with what it bounds where it is a ceiling; one of several types is the ceiling of none of them.
    pub(super) fn of(figures: &[(Option<Ceiling>, Figure)]) -> Self {
        let mut by_type: BTreeMap<Scalar, Measured> = BTreeMap::new();
        for (ceiling, figure) in figures {
            let Some(r#type) = sole_type(figure.flops, figure.types) else { continue };
            by_type.entry(r#type).or_default().add(*ceiling, figure);
        }
        let of_type = |(r#type, measured): (Scalar, Measured)| Some((r#type, measured.peaks()?));
        Self(by_type.into_iter().filter_map(of_type).collect())
    }

    /// Whether a kernel of this type and rate does several operations at once, as far as its rate shows.
    pub(super) fn does_several(&self, r#type: Scalar, rate: f64) -> bool {
        let found = self.0.get(&r#type).filter(|peaks| peaks.several);
        found.is_some_and(|peaks| peaks.plain.is_none_or(|plain| rate > DOUBT * plain))
    }

    /// Operations a second of each type, of instructions that do one at a time where they were measured.
    pub(super) fn all(&self) -> impl Iterator<Item = (Scalar, f64)> {
        self.0.iter().map(|(r#type, peaks)| (*r#type, peaks.reach(0.0)))
    }

    /// Operations a second of such a mix, where all of its types are known, for a kernel that takes so many seconds.
    pub(super) fn of_mix(&self, figure: &Figure, taken: f64) -> Option<f64> {
        let reach = |r#type, rate| self.0.get(&r#type).map(|peaks| peaks.reach(rate));
        let seconds = |(r#type, count)| reach(r#type, count / taken).map(|rate| count / rate);
        let seconds = figure.operations().map(seconds).collect::<Option<Vec<f64>>>()?;
        match seconds.into_iter().reduce(f64::max) {
            Some(seconds) => Some(figure.flops / seconds),
            None => reach(Scalar::F32, 0.0),
        }
    }

    /// The first type of which a figure computes more than `margin` times what is possible: its rate, and the peak.
    /// `except` is the workload of a ceiling of plain instructions, which stands under the others of its sort: a device
    /// may do a dot product by several plain instructions.
    pub(super) fn above(
        &self,
        figure: &Figure,
        margin: f64,
        except: Option<&str>,
    ) -> Option<(Scalar, f64, f64)> {
        let slowest = figure.seconds[1];
        let bounds = |peak: &Peak| peak.saturated || figure.items <= peak.items;
        figure.operations().find_map(|(r#type, count)| {
            let TypePeaks { best, rates, .. } = self.0.get(&r#type)?;
            let peak = if except.is_none() { Some(*best) } else { Peak::of(rates, except) };
            let (rate, peak) = (count / slowest, peak.filter(bounds)?.rate);
            (rate > margin * peak).then_some((r#type, rate, peak))
        })
    }
}

impl Peak {
    /// Of all, or of plain instructions in other workloads than one.
    fn of(rates: &Rates, except: Option<&str>) -> Option<Self> {
        let others = rates.iter().filter(|((workload, _), (_, is_plain))| {
            except.is_none_or(|except| *is_plain && workload != except)
        });
        let all = others.map(|((workload, items), (rate, _))| (workload, *items, *rate));
        let best =
            all.clone().map(|(.., rate)| rate).reduce(f64::max).filter(|best| *best > 0.0)?;
        // How many work-items saturate a device, each ceiling shows by itself.
        let mut near: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
        for (workload, items, _) in all.clone().filter(|(.., rate)| DOUBT * rate > best) {
            near.entry(workload).or_default().insert(items);
        }
        let of_near = all.filter(|(workload, ..)| near.contains_key(workload.as_str()));
        Some(Self {
            rate: best,
            items: of_near.map(|(_, items, _)| items).max()?,
            saturated: near.values().any(|sizes| sizes.len() > 1),
        })
    }
}
