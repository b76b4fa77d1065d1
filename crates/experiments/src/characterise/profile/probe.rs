//! A workload that characterises a device: what its variants cost beside each other.

use crate::characterise::data::{Characterised, VariantTimes};
use gpubench_core::record::profile::{Apart, Bandwidth, Stream, Traffic, Value};
use gpubench_stats::{Summary, overall};

/// Half an interval relative to its value beyond which a bandwidth is ignored.
const WIDEST: f64 = 0.5;

/// One workload at one size, round by round.
pub(in super::super) struct Probe {
    pub rounds: Vec<Characterised>,
}

impl Probe {
    pub(super) fn variants(&self) -> impl Iterator<Item = &VariantTimes> {
        self.rounds.iter().flat_map(|round| &round.variants)
    }

    /// A number that all variants share.
    pub(in super::super) fn number(&self, name: &str) -> Option<f64> {
        self.variants().next()?.number(name)
    }

    pub(super) fn group_size(&self) -> Option<f64> {
        self.variants().next().map(|variant| f64::from(variant.group_size))
    }

    /// The values of a constant, in ascending order.
    pub(super) fn values(&self, name: &str) -> Vec<f64> {
        let mut values: Vec<f64> =
            self.variants().filter_map(|variant| variant.number(name)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    }

    /// By how much the two variants differ that are compared.
    pub(in super::super) fn repeated(&self) -> Option<f64> {
        let values = self.values("REPEAT");
        Some(values.last()? - values.first()?).filter(|repeated| *repeated > 0.0)
    }

    /// The numbers of groups that fill the device: the largest that both variants were launched
    /// with, and half of it.
    pub(super) fn fullest(&self, wanted: impl Fn(&VariantTimes) -> bool) -> Vec<u32> {
        let mut groups = self.groups(wanted);
        groups.split_off(groups.len().saturating_sub(2))
    }

    /// The numbers of groups that all of the wanted variants were launched with.
    pub(super) fn groups(&self, wanted: impl Fn(&VariantTimes) -> bool) -> Vec<u32> {
        let mut variants = self.variants().filter(|variant| wanted(variant));
        let first = variants.next().map_or(&[][..], |variant| variant.points.as_slice());
        let rest: Vec<&VariantTimes> = variants.collect();
        let all = |groups: &u32| rest.iter().all(|variant| variant.at(*groups).is_some());
        first.iter().map(|(groups, _)| *groups).filter(all).collect()
    }

    /// Seconds by which the wanted variant with the larger REPEAT takes longer, with so many groups;
    /// `None` where the difference is not significantly different from zero.
    pub(in super::super) fn cost(
        &self,
        wanted: impl Fn(&VariantTimes) -> bool,
        groups: u32,
    ) -> Option<Value> {
        let repeats = self.values("REPEAT");
        let (low, high) = (*repeats.first()?, *repeats.last()?);
        let time = |round: &Characterised, repeat: f64| {
            let with_repeat = |variant: &&VariantTimes| {
                wanted(variant) && variant.number("REPEAT") == Some(repeat)
            };
            Summary::of(round.variants.iter().find(with_repeat)?.at(groups)?)
        };
        let rounds = self.rounds.iter();
        let costs: Vec<Value> =
            rounds.filter_map(|round| difference(time(round, high)?, time(round, low)?)).collect();
        match costs.as_slice() {
            [] => None,
            [only] => Some(*only),
            several => {
                let each: Vec<[f64; 1]> = several.iter().map(|cost| [cost.value]).collect();
                let summary = overall(each.iter().map(|value| value.as_slice()))?;
                valid(Value { value: summary.value, interval: summary.interval })
            }
        }
    }

    /// Bandwidth against groups for each width of access.
    pub(super) fn streams(&self, traffic: Traffic) -> Vec<Stream> {
        let ways = if traffic == Traffic::Copy { 2.0 } else { 1.0 };
        let stream = |width: f64| {
            let wanted = move |variant: &VariantTimes| variant.number("V") == Some(width);
            let size = self.group_size()?;
            let each = 4.0 * width * self.repeated()? * size * ways;
            let point = |groups: u32| {
                let bandwidth = self.cost(wanted, groups)?.rate(each * f64::from(groups));
                let is_precise = bandwidth.relative_half_width() <= WIDEST;
                is_precise.then_some(Bandwidth { groups, bandwidth })
            };
            let points: Vec<_> = self.groups(wanted).into_iter().filter_map(point).collect();
            let stream =
                Stream { traffic, width: 4 * width as u32, group_size: size as u32, points };
            (!stream.points.is_empty()).then_some(stream)
        };
        self.values("V").into_iter().filter_map(stream).collect()
    }

    /// Seconds of one read of one work-item among as many groups as all variants were launched with,
    /// by the value of a constant that says how many words apart neighbours lie; each step of
    /// REPEAT is the number of reads.
    pub(super) fn apart(&self, name: &str, reads: f64) -> Vec<Apart> {
        let apart = |words: f64| {
            let wanted = |variant: &VariantTimes| variant.number(name) == Some(words);
            let groups = *self.groups(|_| true).last()?;
            let all = f64::from(groups) * self.group_size()? * self.repeated()? * reads;
            let each = self.cost(wanted, groups)?.times(1.0 / all);
            Some(Apart { bytes: 4 * words as u32, each })
        };
        self.values(name).into_iter().filter_map(apart).collect()
    }
}

/// The difference of two medians; `None` where it is not significantly different from zero.
fn difference(longer: Summary, shorter: Summary) -> Option<Value> {
    let value = longer.median - shorter.median;
    let off = |long: f64, short: f64| (long - longer.median).hypot(short - shorter.median);
    let low = value - off(longer.interval[0], shorter.interval[1]);
    let high = value + off(longer.interval[1], shorter.interval[0]);
    valid(Value { value, interval: [low, high] })
}

/// A cost without a part of it.
pub(super) fn without(all: Value, part: Value) -> Option<Value> {
    let off = |end: usize, other: usize| {
        (all.interval[end] - all.value).hypot(part.interval[other] - part.value)
    };
    let value = all.value - part.value;
    valid(Value { value, interval: [value - off(0, 1), value + off(1, 0)] })
}

/// A value that is significantly different from zero. Its interval holds it, whatever rounding says.
pub(super) fn valid(value: Value) -> Option<Value> {
    let [low, high] = value.interval;
    let interval = [low.min(value.value), high.max(value.value)];
    let value = Value { interval, ..value };
    (interval[0] > 0.0 && value.relative_half_width() <= 1.0).then_some(value)
}

/// The highest of rates.
pub(super) fn best(rates: impl IntoIterator<Item = Value>) -> Option<Value> {
    let precise = rates.into_iter().filter(|rate| rate.relative_half_width() <= WIDEST);
    precise.max_by(|a, b| a.value.total_cmp(&b.value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(median: f64, half: f64) -> Summary {
        let interval = [median - half, median + half];
        Summary { count: 9, min: interval[0], median, max: interval[1], interval, drift: None }
    }

    #[test]
    fn differences_carry_both_intervals() {
        let found = difference(summary(10.0, 0.3), summary(4.0, 0.4)).unwrap();
        assert!((found.value - 6.0).abs() < 1e-12);
        assert!((found.interval[0] - 5.5).abs() < 1e-12 && (found.interval[1] - 6.5).abs() < 1e-12);
        assert_eq!(
            difference(summary(4.1, 0.3), summary(4.0, 0.4)),
            None,
            "not significantly different from zero"
        );
        assert_eq!(difference(summary(3.0, 0.0), summary(4.0, 0.0)), None);
    }
}
