//! A workload that characterises a device: what its forms cost beside each other.

use gpubench_core::record::profile::{Apart, Bandwidth, Stream, Traffic, Value};
use gpubench_core::record::{Characterised, FormTimes};
use gpubench_stats::{Summary, overall};

/// Half an interval relative to its value beyond which a bandwidth tells nothing.
const WIDEST: f64 = 0.5;

/// One workload at one size, round by round.
pub(super) struct Probe<'a> {
    pub rounds: Vec<&'a Characterised>,
}

impl<'a> Probe<'a> {
    pub(super) fn forms(&self) -> impl Iterator<Item = &'a FormTimes> {
        self.rounds.iter().flat_map(|round| &round.forms)
    }

    /// A number that all forms share.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.forms().next()?.number(name)
    }

    pub(super) fn group_size(&self) -> Option<f64> {
        self.forms().next().map(|form| f64::from(form.group_size))
    }

    /// The values of a constant, in ascending order.
    pub(super) fn values(&self, name: &str) -> Vec<f64> {
        let mut values: Vec<f64> = self.forms().filter_map(|form| form.number(name)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    }

    /// By how much the two forms differ that are compared.
    pub(super) fn repeated(&self) -> Option<f64> {
        let values = self.values("REPEAT");
        Some(values.last()? - values.first()?).filter(|repeated| *repeated > 0.0)
    }

    /// The numbers of groups that fill the device: the largest that both forms were launched
    /// with, and half of it.
    pub(super) fn fullest(&self, wanted: impl Fn(&FormTimes) -> bool) -> Vec<u32> {
        let mut groups = self.groups(wanted);
        groups.split_off(groups.len().saturating_sub(2))
    }

    /// The numbers of groups that all of the wanted forms were launched with.
    pub(super) fn groups(&self, wanted: impl Fn(&FormTimes) -> bool) -> Vec<u32> {
        let mut forms = self.forms().filter(|form| wanted(form));
        let first = forms.next().map_or(&[][..], |form| form.points.as_slice());
        let rest: Vec<&FormTimes> = forms.collect();
        let all = |groups: &u32| rest.iter().all(|form| form.at(*groups).is_some());
        first.iter().map(|(groups, _)| *groups).filter(all).collect()
    }

    /// Seconds by which the wanted form with the larger REPEAT takes longer, with so many groups;
    /// `None` where the difference is not told apart from nothing.
    pub(super) fn cost(&self, wanted: impl Fn(&FormTimes) -> bool, groups: u32) -> Option<Value> {
        let repeats = self.values("REPEAT");
        let (low, high) = (*repeats.first()?, *repeats.last()?);
        let time = |round: &Characterised, repeat: f64| {
            let form = |form: &&FormTimes| wanted(form) && form.number("REPEAT") == Some(repeat);
            Summary::of(round.forms.iter().find(form)?.at(groups)?)
        };
        let rounds = self.rounds.iter();
        let costs: Vec<Value> =
            rounds.filter_map(|round| difference(time(round, high)?, time(round, low)?)).collect();
        match costs.as_slice() {
            [] => None,
            [only] => Some(*only),
            several => {
                let each: Vec<[f64; 1]> = several.iter().map(|cost| [cost.value]).collect();
                let told = overall(each.iter().map(|value| value.as_slice()))?;
                valid(Value { value: told.value, interval: told.interval })
            }
        }
    }

    /// Bandwidth against groups for each width of access.
    pub(super) fn streams(&self, traffic: Traffic) -> Vec<Stream> {
        let ways = if traffic == Traffic::Copy { 2.0 } else { 1.0 };
        let stream = |width: f64| {
            let wanted = move |form: &FormTimes| form.number("V") == Some(width);
            let size = self.group_size()?;
            let each = 4.0 * width * self.repeated()? * size * ways;
            let point = |groups: u32| {
                let bandwidth = self.cost(wanted, groups)?.rate(each * f64::from(groups));
                let told = bandwidth.relative_half_width() <= WIDEST;
                told.then_some(Bandwidth { groups, bandwidth })
            };
            let points: Vec<_> = self.groups(wanted).into_iter().filter_map(point).collect();
            let stream =
                Stream { traffic, width: 4 * width as u32, group_size: size as u32, points };
            (!stream.points.is_empty()).then_some(stream)
        };
        self.values("V").into_iter().filter_map(stream).collect()
    }

    /// Seconds of one read of one work-item among as many groups as all forms were launched with,
    /// by the value of a constant that says how many words apart neighbours lie; each step of
    /// REPEAT is so many reads.
    pub(super) fn apart(&self, name: &str, reads: f64) -> Vec<Apart> {
        let apart = |words: f64| {
            let wanted = |form: &FormTimes| form.number(name) == Some(words);
            let groups = *self.groups(|_| true).last()?;
            let all = f64::from(groups) * self.group_size()? * self.repeated()? * reads;
            let each = self.cost(wanted, groups)?.times(1.0 / all);
            Some(Apart { bytes: 4 * words as u32, each })
        };
        self.values(name).into_iter().filter_map(apart).collect()
    }
}

/// The difference of two medians; `None` where it is not told apart from nothing.
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

/// A value that is told apart from nothing. Its interval holds it, whatever rounding says.
pub(super) fn valid(value: Value) -> Option<Value> {
    let [low, high] = value.interval;
    let interval = [low.min(value.value), high.max(value.value)];
    let value = Value { interval, ..value };
    (interval[0] > 0.0 && value.relative_half_width() <= 1.0).then_some(value)
}

/// The highest of rates.
pub(super) fn best(rates: impl IntoIterator<Item = Value>) -> Option<Value> {
    let told = rates.into_iter().filter(|rate| rate.relative_half_width() <= WIDEST);
    told.max_by(|a, b| a.value.total_cmp(&b.value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(median: f64, half: f64) -> Summary {
        let interval = [median - half, median + half];
        Summary { count: 9, min: interval[0], median, max: interval[1], interval }
    }

    #[test]
    fn differences_carry_both_intervals() {
        let told = difference(summary(10.0, 0.3), summary(4.0, 0.4)).unwrap();
        assert!((told.value - 6.0).abs() < 1e-12);
        assert!((told.interval[0] - 5.5).abs() < 1e-12 && (told.interval[1] - 6.5).abs() < 1e-12);
        assert_eq!(difference(summary(4.1, 0.3), summary(4.0, 0.4)), None, "not told from nothing");
        assert_eq!(difference(summary(3.0, 0.0), summary(4.0, 0.0)), None);
    }
}
