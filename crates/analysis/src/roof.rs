//! Figures above what the device can do, by its own measured ceilings (the roofline, model 3):
//! either the suite counts more work than the kernel does, or the clock cannot be trusted.
//!
//! A ceiling bounds what it is of: operations of a type, or bytes at the level of the memory that the working set
//! is in. Where it is not known that a ceiling bounds a figure, it does not.

mod figure;
mod peaks;

use super::aggregate::Aggregate;
use super::derived_flags::Flagged;
use super::levels::{Curve, Point};
use gpubench_core::gpu::{DeviceKind, Scalar};
use gpubench_core::record::{Flag, Grade, Record, sole_type};
use gpubench_core::units::{self, Bytes};
use gpubench_core::workload::Ceiling;
use gpubench_model::roofline::Ceilings;
use peaks::Peaks;
use std::collections::{BTreeMap, BTreeSet};

pub use figure::Figure;
pub(super) use figure::items;

/// A rate may exceed the ceiling by this factor before it is doubted: clocks rise and fall, and a
/// search for the ceiling may miss the best variant.
pub(super) const DOUBT: f64 = 1.2;
/// A processor reads a line before it writes it. A copy of `n` bytes moves 1.5 `n` and counts `n`, so
/// that a kernel that only reads may be faster by as much.
const READ_BEFORE_WRITE: f64 = 1.5;
/// An empty launch that takes more than this share of a ceiling's time hides what the memory can do.
const LAUNCH: f64 = 0.1;

/// The most that a device was seen to do.
#[derive(Clone, Debug, Default)]
pub struct Roof {
    /// The most operations a second of each type that was measured.
    peaks: Peaks,
    /// Of each workload that is a ceiling of bandwidth.
    curves: BTreeMap<String, Curve>,
    /// The same, of those that were disturbed, too: they bound nothing, but what they reached is possible.
    reached: BTreeMap<String, Curve>,
}

/// Flags those of one device's records that are faster than its ceilings allow. A ceiling is held against those of
/// other workloads only: a better round of it is a better ceiling, not a wrong one.
pub(super) fn flag<T: Flagged>(records: &mut [&mut T], kind: DeviceKind) {
    // One that is impossible itself says nothing of the others.
    for of_ceilings in [true, false] {
        let roof = Roof::of(records.iter().map(|record| &**record));
        if roof.is_unknown() {
            return;
        }
        for record in records.iter_mut() {
            let is_hidden = record.flags().iter().any(|flag| flag.grade() == Grade::Hidden);
            let own = record.ceiling();
            if is_hidden || own.is_some() != of_ceilings {
                continue;
            }
            let why = record.figure().and_then(|figure| roof.above(&figure, own, kind));
            record.flags_mut().extend(why.map(Flag::Implausible));
        }
    }
}

/// What one case may add to a roof: its figure at its value over all rounds.
pub(super) struct Value<'a> {
    /// What its suite calls it a ceiling of.
    ceiling: Option<Ceiling>,
    /// Whether it is a kernel that computes.
    computes: bool,
    /// The type that it computes in, if that is one.
    r#type: Option<Scalar>,
    figure: Figure<'a>,
}

impl<'a> Value<'a> {
    /// Of a case that is right and not doubtful.
    pub(super) fn of(case: &Aggregate<'a>) -> Option<Self> {
        let seconds = [case.time.filter(|_| case.outcome.is_ok() && !case.is_doubtful())?.value; 2];
        let (record, measured) = case.shown().next()?;
        let figure = Figure { seconds, ..Figure::of(record)? };
        Some(Self {
            ceiling: record.ceiling,
            computes: measured.flops > 0.0 && record.key.measure.is_kernel(),
            r#type: sole_type(figure.flops, figure.types),
            figure,
        })
    }
}

impl Roof {
    /// What one device was seen to do at most. A ceiling bounds nothing where it is wrong, or the device
    /// was disturbed. Of bandwidth, a disturbed one still shows what is possible.
    pub fn of<'a, T: Flagged + 'a>(records: impl IntoIterator<Item = &'a T>) -> Self {
        let (mut undisturbed, mut all) = (vec![], vec![]);
        for record in records {
            let (Some(ceiling), Some(figure)) = (record.ceiling(), record.figure()) else {
                continue;
            };
            let has = |grade| record.flags().iter().any(|flag| flag.grade() == grade);
            if has(Grade::Hidden) {
                continue;
            }
            if !has(Grade::Warning) {
                undisturbed.push((Some(ceiling), figure));
            }
            all.push((Some(ceiling), figure));
        }
        Self { reached: Self::from_figures(all).curves, ..Self::from_figures(undisturbed) }
    }

    /// What one device does at most, by the values of its cases over all rounds: what tables show. [`Roof::of`]
    /// takes the fast end of each round's interval, since it is held against figures that may be wrong. Where
    /// arithmetic of a type was measured and a verified kernel computes more, that is the ceiling.
    pub fn at_values<'a, 'm>(cases: impl IntoIterator<Item = &'m Aggregate<'a>>) -> Self
    where
        'a: 'm,
    {
        let values: Vec<_> = cases.into_iter().filter_map(Value::of).collect();
        Self::from_values(values.iter())
    }

    /// The same, of values that are known.
    pub(super) fn from_values<'v, 'a: 'v>(
        values: impl Iterator<Item = &'v Value<'a>> + Clone,
    ) -> Self {
        let is_arithmetic = |value: &&Value| value.ceiling.is_some_and(Ceiling::is_of_arithmetic);
        let arithmetic = values.clone().filter(is_arithmetic);
        let measured: BTreeSet<_> = arithmetic.map(|value| value.r#type).collect();
        Self::from_figures(values.filter_map(|value| {
            let is_measured = value.computes && measured.contains(&value.r#type);
            (value.ceiling.is_some() || is_measured).then_some((value.ceiling, value.figure))
        }))
    }

    /// Of figures by what they bound; of a kernel that is no ceiling, where it may be one.
    pub fn from_figures<'a>(
        ceilings: impl IntoIterator<Item = (Option<Ceiling>, Figure<'a>)>,
    ) -> Self {
        let mut arithmetic: Vec<(Option<Ceiling>, Figure)> = vec![];
        let mut memory: BTreeMap<&str, Vec<Point>> = BTreeMap::new();
        for (ceiling, figure) in ceilings {
            let fastest = figure.seconds[0];
            match ceiling {
                Some(Ceiling::Bandwidth) if figure.empty_launch > LAUNCH * fastest => {}
                Some(Ceiling::Bandwidth) => memory
                    .entry(figure.workload)
                    .or_default()
                    .push(Point { bytes: figure.touched(), rate: figure.bytes / fastest }),
                _ => arithmetic.push((ceiling, figure)),
            }
        }
        let curves = memory
            .into_iter()
            .filter_map(|(workload, points)| Some((workload.to_owned(), Curve::through(points)?)));
        let curves = curves.collect();
        Self { peaks: Peaks::of(&arithmetic), curves, reached: BTreeMap::new() }
    }

    /// Whether nothing was measured that bounds any figure.
    fn is_unknown(&self) -> bool {
        self.curves.is_empty() && self.peaks.all().next().is_none()
    }

    /// Operations a second of each type that was measured, of instructions that do one at a time where those were.
    pub fn types(&self) -> impl Iterator<Item = (Scalar, f64)> {
        self.peaks.all()
    }

    /// Operations a second that a kernel of this mix of types can reach, where every type that it uses was
    /// measured: units of several types may work at once, so that the slowest of its types bounds it. One that is
    /// faster than instructions of one operation uses those of several. Without operations, those of `f32`.
    pub(super) fn peak_to(&self, figure: &Figure) -> Option<f64> {
        self.peaks.of_mix(figure, figure.seconds[0])
    }

    /// The same of plain instructions, whatever the kernel reached.
    pub(super) fn plain_peak_to(&self, figure: &Figure) -> Option<f64> {
        self.peaks.of_mix(figure, f64::INFINITY)
    }

    /// Whether a kernel of this type and rate does several operations in one instruction, as far as its rate shows.
    pub fn does_several(&self, r#type: Scalar, rate: f64) -> bool {
        self.peaks.does_several(r#type, rate)
    }

    /// Operations a second that the kernel of a record can reach, by its mix of types.
    pub fn peak_of(&self, record: &Record) -> Option<f64> {
        self.peak_to(&Figure::of(record)?)
    }

    /// The roof of a kernel: of its own mix of types, and of the level of memory that its working set is in.
    pub fn ceilings_of(&self, record: &Record) -> Option<Ceilings> {
        let figure = Figure::of(record)?;
        let touched = figure.touched();
        let bandwidth = self.level(touched).or_else(|| self.bandwidth_to(touched))?;
        Some(Ceilings { peak: self.peak_to(&figure)?, bandwidth })
    }

    /// Bytes a second from the level of memory that so many bytes are in; `None` where no ceiling touched as many,
    /// or as few.
    pub(super) fn level(&self, bytes: f64) -> Option<f64> {
        let reaching = self.curves.values().filter(|curve| bytes <= curve.largest());
        reaching.filter_map(|curve| curve.reached_at(bytes)).reduce(f64::max)
    }

    /// The levels of memory, from the fastest to the slowest: the smallest working set that was found in each, and
    /// its bandwidth.
    pub fn levels(&self) -> Vec<(f64, f64)> {
        let sizes = self.curves.values().flat_map(Curve::levels).map(|level| level.bytes);
        let best = |bytes| Some(Point { bytes, rate: self.level(bytes)? });
        let levels = Curve::through(sizes.filter_map(best).collect());
        let levels = levels.iter().flat_map(Curve::levels);
        levels.map(|level| (level.bytes, level.rate)).collect()
    }

    /// The curves whose last level is the memory's, as far as was measured: the one that reaches furthest,
    /// and of the others those behind whose largest size that one falls no more. A curve that lost its
    /// large sizes ends in a cache, and its last level is not the memory's.
    fn memory(&self) -> impl Iterator<Item = &Curve> {
        memory_of(self.curves.values())
    }

    /// Bytes a second at the last level that was measured: the memory's, if any size was beyond caches.
    pub fn bandwidth(&self) -> Option<f64> {
        self.memory().map(Curve::last).reduce(f64::max)
    }

    /// As [`Roof::bandwidth`], to a kernel that touches so many bytes: none where no ceiling touched as
    /// many, since the last level may be a cache's that they do not fit.
    pub(super) fn bandwidth_to(&self, bytes: f64) -> Option<f64> {
        let reaches = self.memory().any(|curve| bytes <= curve.largest());
        self.bandwidth().filter(|_| reaches)
    }

    /// The memory's ceiling of a kernel; none where it touches more than any ceiling did.
    pub fn memory_of(&self, record: &Record) -> Option<f64> {
        self.bandwidth_to(Figure::of(record)?.touched())
    }

    /// The highest rate that is possible where so many bytes are touched; `None` where not every workload says.
    fn bound_at(&self, bytes: f64) -> Option<f64> {
        let at = self.curves.values().map(|curve| curve.at(bytes));
        let bound = at.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)?;
        let reached = self.reached.values().filter(|curve| self.may_reach(curve, bytes));
        Some(reached.filter_map(|curve| curve.at(bytes)).fold(bound, f64::max))
    }

    /// The same of other workloads than one that is a ceiling itself, as far as their last level is the memory's: in a
    /// cache a kernel may be bound by its instructions, and another with fewer is faster and right.
    fn bound_by_others_at(&self, bytes: f64, own: &str) -> Option<f64> {
        let of_all: Vec<&Curve> = self.memory().collect();
        let of_others: Vec<&Curve> = memory_of(others(&self.curves, own)).collect();
        let is_among = |some: &[&Curve], curve| some.iter().any(|one| std::ptr::eq(*one, curve));
        // A slight fall may be a moment's: it is the memory's only where none of the others says otherwise.
        let is_memory = |curve: &Curve| {
            curve.has_surely_fallen()
                || is_among(&of_all, curve)
                || curve.has_fallen() && is_among(&of_others, curve)
        };
        let of_memory = others(&self.curves, own).filter(|curve| is_memory(curve));
        let bound = of_memory.filter_map(|curve| curve.in_last_at(bytes)).reduce(f64::max)?;
        // What one reaches with more bytes the memory gives with these, too, however slow another is.
        let further = others(&self.curves, own).filter(|curve| bytes <= curve.largest());
        let reached = others(&self.reached, own).filter(|curve| self.may_reach(curve, bytes));
        Some(further.chain(reached).map(Curve::last).fold(bound, f64::max))
    }

    /// Whether what a disturbed ceiling reached at its largest size may be reached with so many bytes: with fewer, and
    /// with more, too, unless another falls behind that size.
    fn may_reach(&self, curve: &Curve, bytes: f64) -> bool {
        let falls = |other: &Curve| other.falls_beyond(curve.largest()) == Some(true);
        bytes <= curve.largest() || !self.curves.values().any(falls)
    }

    /// Whether so many bytes are served from a faster level than the last; `None` where it is not known.
    pub fn is_cached(&self, bytes: f64) -> Option<bool> {
        let bandwidth = self.bandwidth_to(bytes)?;
        let of_memory = self.memory().map(|curve| curve.at(bytes));
        let of_caches = self.curves.values().filter(|curve| bytes <= curve.largest());
        let at: Vec<Option<f64>> =
            of_memory.chain(of_caches.map(|curve| curve.at(bytes))).collect();
        // One that is fast enough tells, also where another's sizes do not reach down so far.
        let is_fast = at.iter().flatten().any(|rate| *rate > DOUBT * bandwidth);
        (is_fast || at.iter().all(Option::is_some)).then_some(is_fast)
    }

    /// Whether a kernel works in a cache: by what was measured, and where that does not say, by the size
    /// that the driver reports.
    pub fn serves_from_cache(&self, record: &Record) -> bool {
        let known = Figure::of(record).and_then(|figure| self.is_cached(figure.touched()));
        known.unwrap_or_else(|| record.flags.contains(&Flag::Cache))
    }

    /// Why a figure is impossible, by the ceilings of its kind that are not its `own`.
    fn above(&self, figure: &Figure, own: Option<Ceiling>, kind: DeviceKind) -> Option<String> {
        let slowest = figure.seconds[1];
        let except = |of: Ceiling| Some(figure.workload).filter(|_| own == Some(of));
        if own != Some(Ceiling::DotProduct)
            && let Some((r#type, rate, peak)) =
                self.peaks.above(figure, DOUBT, except(Ceiling::Flops))
        {
            return Some(format!(
                "{} of arithmetic in {}, the device's measured ceiling is {}",
                units::operations(rate, r#type.is_float()),
                r#type.name(),
                units::operations(peak, r#type.is_float())
            ));
        }
        let bandwidth = figure.bytes / slowest;
        let touched = figure.touched();
        let ceiling = match except(Ceiling::Bandwidth) {
            Some(own) => self.bound_by_others_at(touched, own),
            None => self.bound_at(touched),
        }?;
        let doubt = if kind == DeviceKind::Cpu { DOUBT * READ_BEFORE_WRITE } else { DOUBT };
        (bandwidth > doubt * ceiling).then(|| {
            format!(
                "{} of memory traffic, the device's measured ceiling from {} is {}",
                units::bandwidth(bandwidth),
                Bytes(touched as u64),
                units::bandwidth(ceiling)
            )
        })
    }
}

/// Those of `curves` whose last level is the memory's.
fn memory_of<'c>(
    curves: impl Iterator<Item = &'c Curve> + Clone,
) -> impl Iterator<Item = &'c Curve> {
    let furthest = curves.clone().max_by(|a, b| a.largest().total_cmp(&b.largest()));
    curves.filter(move |curve| {
        furthest.is_some_and(|furthest| {
            curve.largest() >= furthest.largest()
                || furthest.falls_beyond(curve.largest()) == Some(false)
        })
    })
}

/// The curves of other workloads.
fn others<'c>(
    curves: &'c BTreeMap<String, Curve>,
    own: &str,
) -> impl Iterator<Item = &'c Curve> + Clone {
    curves.iter().filter(move |(workload, _)| *workload != own).map(|(_, curve)| curve)
}

#[cfg(test)]
mod disturbed_tests;
#[cfg(test)]
mod instructions_tests;
#[cfg(test)]
mod tests;
