//! What the APIs of one physical GPU cost: the same case through each, and how they differ.

mod section;

pub use section::section;

use crate::registry::experiment;
use crate::results::{costs_by_round, over_rounds};
use gpubench_analysis::{Aggregate, ReportInput};
use gpubench_core::gpu::{BoundsChecks, Clock, DeviceInfo, DeviceKind};
use gpubench_core::workload::CaseKey;
use gpubench_device::physical_gpus;
use gpubench_stats::t_quantile;
use std::collections::BTreeMap;

/// Seconds of one thing through one API, with a 95 % interval where there is one that lies above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Figure {
    seconds: f64,
    interval: Option<[f64; 2]>,
    clock: Clock,
}

impl Figure {
    fn new(seconds: f64, interval: Option<[f64; 2]>, clock: Clock) -> Option<Self> {
        let is_time = |seconds: f64| seconds > 0.0 && seconds.is_finite();
        let interval = interval.filter(|ends| ends.iter().all(|end| is_time(*end)));
        is_time(seconds).then_some(Self { seconds, interval, clock })
    }

    /// This over `other`, read from the same clock: how the two differ is within what either may be off by (the
    /// distances of both intervals' ends, added in squares).
    fn over(&self, other: &Self) -> Option<Ratio> {
        let value = self.seconds / other.seconds;
        let interval = self.interval.zip(other.interval).map(|(mine, its)| {
            let off = |my_end: f64, its_end: f64| {
                (my_end / self.seconds).ln().hypot((its_end / other.seconds).ln()).exp()
            };
            [value / off(mine[0], its[1]), value * off(mine[1], its[0])]
        });
        (self.clock == other.clock).then_some(Ratio { value, interval })
    }
}

/// Two times of one thing, the one over the other, with a 95 % interval where both have one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ratio {
    value: f64,
    interval: Option<[f64; 2]>,
}

impl Ratio {
    /// The geometric mean over several things, whose scatter makes the interval; of one it is that one.
    fn mean(all: &[Self]) -> Option<Self> {
        if let [one] = all {
            return Some(*one);
        }
        let logs: Vec<f64> = all.iter().map(|ratio| ratio.value.ln()).collect();
        let count = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / count;
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        let error = (squares / (count - 1.0) / count).sqrt();
        let half = t_quantile(count - 1.0, 0.975) * error;
        let interval = Some([mean - half, mean + half].map(f64::exp));
        (count > 1.0).then(|| Self { value: mean.exp(), interval })
    }
}

/// One thing through every API of a GPU that has it; in the order of the GPU's APIs.
#[derive(Clone, Debug, PartialEq)]
struct Line<F = Figure> {
    /// What kind of thing it is, under which several are put together.
    group: String,
    what: String,
    figures: Vec<Option<F>>,
}

/// What a figure is made of.
#[derive(Clone, Debug)]
enum Source {
    /// The case's time, its interval known.
    Time(Figure),
    /// What else an API costs, by its samples in every round.
    Cost { kind: CostKind, rounds: Vec<Vec<f64>>, clock: Clock },
}

/// Costs that scatter alike: each has a say in the intervals of its own kind.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CostKind {
    /// Of a build, by whether it was the run's first of the kernel.
    Build(Option<bool>),
    /// Of anything else.
    Other,
}

/// Builds by whether they were the run's first, as they are called.
const BUILDS: [(Option<bool>, &str); 3] =
    [(Some(true), "first build"), (Some(false), "further build"), (None, "build")];

/// The views of each physical GPU that was measured through several APIs, the first of each API.
fn physical_views(input: &ReportInput) -> Vec<Vec<usize>> {
    // Every machine numbers its own.
    let devices: Vec<DeviceInfo> = input
        .reported_devices
        .iter()
        .map(|reported| {
            let host = &reported.header.host.name;
            let remote = reported.device.remote.as_deref().unwrap_or_default();
            DeviceInfo { remote: Some(format!("{host} {remote}")), ..reported.device.clone() }
        })
        .collect();
    let mut physical_views: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (view, gpu) in physical_gpus(&devices).into_iter().enumerate() {
        let card = physical_views.entry(gpu).or_default();
        let is_known = card.iter().any(|&known| devices[known].backend == devices[view].backend);
        if !is_known && devices[view].kind != DeviceKind::Simulated {
            card.push(view);
        }
    }
    physical_views.into_values().filter(|card| card.len() > 1).collect()
}

/// A case through one of a GPU's APIs that is compared with no other's.
#[derive(Clone, Debug, PartialEq)]
struct Uncompared {
    case: String,
    api: usize,
    variant: String,
    bounds_checks: Option<BoundsChecks>,
}

/// One case through each of a GPU's APIs.
type Row<'m, 'a> = Vec<Option<&'m Aggregate<'a>>>;

/// The cases that were measured through at least two of a GPU's APIs.
fn shared_cases<'m, 'a>(
    input: &'m ReportInput<'a>,
    card: &[usize],
) -> BTreeMap<&'a CaseKey, Row<'m, 'a>> {
    let mut cases: BTreeMap<&CaseKey, Row> = BTreeMap::new();
    for row in input.rows.iter().filter(|row| row.time.is_some()) {
        if let Some(at) = card.iter().position(|&view| view == row.device) {
            cases.entry(row.key).or_insert_with(|| vec![None; card.len()])[at] = Some(row);
        }
    }
    cases.retain(|_, rows| rows.iter().flatten().count() > 1);
    cases
}

/// What was measured through at least two of a GPU's APIs, in the same terms.
fn lines(input: &ReportInput, card: &[usize]) -> Vec<Line> {
    let cases = shared_cases(input, card);
    let compared = cases.iter().flat_map(|(key, rows)| {
        in_the_same_terms(rows).into_iter().flat_map(|rows| of_case(key, &rows))
    });
    let sources: Vec<Line<Source>> = compared.collect();
    let column = |api: usize| -> Vec<Option<&Source>> {
        sources.iter().map(|line: &Line<Source>| line.figures[api].as_ref()).collect()
    };
    let columns: Vec<_> = (0..card.len()).map(|api| figures(&column(api))).collect();
    let line = |(place, line): (usize, &Line<Source>)| Line {
        group: line.group.clone(),
        what: line.what.clone(),
        figures: columns.iter().map(|column| column[place]).collect(),
    };
    let mut lines: Vec<Line> = sources.iter().enumerate().map(line).collect();
    lines.retain(|line| line.figures.iter().flatten().count() > 1);
    lines
}

/// The figures of one API.
fn figures(sources: &[Option<&Source>]) -> Vec<Option<Figure>> {
    let mut figures: Vec<Option<Figure>> = vec![None; sources.len()];
    let kinds = BUILDS.map(|(first, _)| CostKind::Build(first));
    for wanted in kinds.into_iter().chain([CostKind::Other]) {
        let of_kind = sources.iter().map(|source| match source {
            Some(Source::Cost { kind, rounds, .. }) if *kind == wanted => rounds.clone(),
            _ => vec![],
        });
        let costs = over_rounds(&of_kind.collect::<Vec<_>>());
        for ((figure, source), cost) in figures.iter_mut().zip(sources).zip(costs) {
            if let (Some(Source::Cost { clock, .. }), Some((seconds, interval))) = (source, cost) {
                *figure = Figure::new(seconds, interval, *clock);
            }
        }
    }
    for (figure, source) in figures.iter_mut().zip(sources) {
        if let Some(Source::Time(time)) = source {
            *figure = Some(*time);
        }
    }
    figures
}

/// What was measured through at least two, and is in the terms of no other.
fn uncompared(input: &ReportInput, card: &[usize]) -> Vec<Uncompared> {
    let mut all = vec![];
    for (key, rows) in shared_cases(input, card) {
        for (api, row) in in_the_same_terms(&rows).iter().filter_map(|rows| only(rows)) {
            let built = row.kernel();
            all.push(Uncompared {
                case: key.to_string(),
                api,
                variant: built.map(|built| built.variant.clone()).unwrap_or_default(),
                bounds_checks: built.map(|built| built.bounds_checks),
            });
        }
    }
    all
}

/// The only one there is, with its place.
fn only<'m, 'a>(rows: &[Option<&'m Aggregate<'a>>]) -> Option<(usize, &'m Aggregate<'a>)> {
    let mut all = rows.iter().enumerate().filter_map(|(api, row)| Some((api, (*row)?)));
    all.next().filter(|_| all.next().is_none())
}

/// Those that run one variant, as far as there are variants, with the same checks; then those of another.
fn in_the_same_terms<'m, 'a>(rows: &[Option<&'m Aggregate<'a>>]) -> Vec<Row<'m, 'a>> {
    let terms =
        |row: &Aggregate| row.kernel().map(|built| (built.variant.clone(), built.bounds_checks));
    let mut known = vec![];
    for own in rows.iter().flatten().map(|row| terms(row)) {
        if !known.contains(&own) {
            known.push(own);
        }
    }
    let of = |wanted| rows.iter().map(|row| row.filter(|row| terms(row) == wanted)).collect();
    known.into_iter().map(of).collect()
}

/// The time of a case, the build of its kernel, and what else it shows of an API's cost.
fn of_case(key: &CaseKey, rows: &[Option<&Aggregate>]) -> Vec<Line<Source>> {
    let group = match key.host_memory {
        Some(memory) => format!("{}, {}", key.measure.label(), memory.label()),
        None => key.measure.label(),
    };
    let line = |group: &str, source: &dyn Fn(&Aggregate) -> Option<Source>| Line {
        group: group.to_owned(),
        what: key.to_string(),
        figures: rows.iter().map(|row| row.and_then(source)).collect(),
    };
    let mut lines = vec![line(&group, &|row| time(row).map(Source::Time))];
    for (first, name) in BUILDS {
        lines.push(line(name, &|row| builds(row, first)));
    }
    let mut names: Vec<&str> = vec![];
    for (name, _) in rows.iter().flatten().flat_map(|row| costs(row)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for name in names {
        lines.push(line(name, &|row| {
            let (_, rounds) = costs(row).into_iter().find(|(known, _)| *known == name)?;
            Some(Source::Cost { kind: CostKind::Other, rounds, clock: cost_clock(row)? })
        }));
    }
    lines
}

/// The time over all rounds, where all were read from one clock.
fn time(row: &Aggregate) -> Option<Figure> {
    let time = row.time?;
    let mut clocks = row.rounds().map(|measured| measured.clock);
    let clock = clocks.next()?;
    clocks
        .all(|other| other == clock)
        .then(|| Figure::new(time.value, Some(time.interval), clock))?
}

/// Seconds of the kernel's builds that were, or were not, the run's first, on the host's clock.
fn builds(row: &Aggregate, first: Option<bool>) -> Option<Source> {
    let built = row.shown().filter_map(|(record, _)| Some(&record.kernel.as_ref()?.report));
    // What was kept from another case shows nothing of its own.
    let built = built.filter(|report| report.first == first && !report.kept);
    let rounds: Vec<Vec<f64>> = built.map(|report| vec![report.seconds]).collect();
    let is_of_kernel = row.key.measure.is_kernel() && !rounds.is_empty();
    is_of_kernel.then_some(Source::Cost {
        kind: CostKind::Build(first),
        rounds,
        clock: Clock::Host,
    })
}

/// What a case shows of an API's cost besides its time, in every round.
fn costs(row: &Aggregate) -> Vec<(&'static str, Vec<Vec<f64>>)> {
    costs_by_round(row.shown().filter_map(|(record, _)| {
        let detail = record.detail.as_ref()?;
        Some((experiment(detail.kind())?.costs)(detail))
    }))
}

/// The clock of these costs.
fn cost_clock(row: &Aggregate) -> Option<Clock> {
    Some(match row.shown().next()?.1.clock {
        Clock::Simulated => Clock::Simulated,
        Clock::Device | Clock::Host => Clock::Host,
    })
}

#[cfg(test)]
mod tests;
