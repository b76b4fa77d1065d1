//! What reports say of kernels that are kept running: rate, clock, power and temperature in time.

use super::analysis::{MIN_WINDOWS, SustainSummary, sustain};
use super::data::{Sustain, Window};
use crate::results::{DetailedCase, detailed_cases};
use gpubench_analysis::{Rate, ReportInput};
use gpubench_core::record::Measured;
use gpubench_document::{
    Axis, Column, Plot, Quantity, Scale, Section, Sentence, Series, Style, Table, Unit,
};
use gpubench_stats::Summary;

type Case<'m, 'a> = DetailedCase<'m, 'a, Sustain>;

/// Rows of the table: the plots have all windows.
const ROWS: usize = 12;

/// One section a case.
pub(super) fn section(input: &ReportInput) -> Section {
    let section = Section::new("sustain", "Sustained rates").text(
        "The same kernel, launched over and over. The first seconds are a tenth of the run, ten \
         seconds at most; the rate that it settles at is that of the last half. Clock, power and \
         temperature come from the device's sensors, where it has any, and the host's from its \
         processor's.",
    );
    detailed_cases(input).map(|case| one(&case)).fold(section, Section::section)
}

fn one(case: &Case) -> Section {
    let Some((measured, unit)) = work(case) else { return case.section() };
    let rate = |seconds: f64| match unit {
        Unit::Seconds => Some(seconds),
        _ => rate(case, measured, seconds).map(|(rate, _)| rate),
    };
    let mut section = case.section();
    if let Some(summary) = sustain(&case.data) {
        section = facts(section, &case.data, &summary, unit, rate);
    } else {
        section = section.note("the run was too short to show what the rate settles at");
    }
    let windows = &case.data.windows;
    let section = section
        .plot(plot(windows, "rate", unit, &[("rate", &|window| rate(window.seconds))]))
        .plot(sensed(windows, "clock", Unit::Hertz, |w| w.hertz, |w| w.host.hertz))
        .plot(sensed(windows, "power", Unit::Watts, |w| w.watts, |w| w.host.watts))
        .plot(sensed(windows, "temperature", Unit::Celsius, |w| w.celsius, |w| w.host.celsius));
    reasons(windows).into_iter().fold(section.table(table(windows, unit, rate)), Section::note)
}

/// A launch's work, and the unit of its rate: seconds where it has none.
fn work<'a>(case: &Case<'_, 'a>) -> Option<(&'a Measured, Unit)> {
    let measured = case.row.rounds().next()?;
    let unit = rate(case, measured, 1.0).map_or(Unit::Seconds, |(_, unit)| unit);
    Some((measured, unit))
}

fn rate(case: &Case, measured: &Measured, seconds: f64) -> Option<(f64, Unit)> {
    Some(match Rate::of(case.row.family, measured, seconds)? {
        Rate::Flops(rate) => (rate, Unit::FlopsPerSecond),
        Rate::Operations(rate) => (rate, Unit::OperationsPerSecond),
        Rate::Bandwidth(rate) => (rate, Unit::BytesPerSecond),
    })
}

fn facts(
    section: Section,
    raw: &Sustain,
    summary: &SustainSummary,
    unit: Unit,
    rate: impl Fn(f64) -> Option<f64>,
) -> Section {
    let steady = match summary.steady {
        true => "yes, the last two quarters of the run differ by less than 2 %",
        false => "no, the last two quarters of the run differ by 2 % or more",
    };
    let of = |summary: &Summary| {
        let [low, high] = summary.interval.map(&rate);
        let ends = if unit == Unit::Seconds { [low?, high?] } else { [high?, low?] };
        let value = Quantity::new(rate(summary.median)?)?;
        Some(if summary.count < MIN_WINDOWS { value } else { value.with_interval(ends) })
    };
    let kept = Quantity::new(summary.kept);
    let kept = kept.map(|kept| match summary.kept_interval {
        Some(interval) => kept.with_interval(interval),
        None => kept,
    });
    let launches: u64 = raw.windows.iter().map(|window| window.launches).sum();
    let ran = raw.windows.last().map_or(0.0, |window| window.at);
    let ran = Sentence::new()
        .value(launches as f64, Unit::Count)
        .text(" launches in ")
        .value(ran, Unit::Seconds);
    section
        .figure("first", "in the first seconds", of(&summary.first), unit)
        .figure("last", "in the last half", of(&summary.last), unit)
        .figure("kept", "rate kept", kept, Unit::Fraction)
        .fact("steady", "steady", steady)
        .fact("ran", "ran", ran.text(" of ").value(raw.asked, Unit::Seconds).text(" asked for"))
}

/// A quantity of a window.
type Value<'a> = &'a dyn Fn(&Window) -> Option<f64>;

/// What sensors of the device and of its host reported.
fn sensed(
    windows: &[Window],
    label: &'static str,
    unit: Unit,
    device: fn(&Window) -> Option<f64>,
    host: fn(&Window) -> Option<f64>,
) -> Plot {
    plot(windows, label, unit, &[(label, &device), ("of the host", &host)])
}

fn plot(
    windows: &[Window],
    label: &'static str,
    unit: Unit,
    values: &[(&'static str, Value)],
) -> Plot {
    let x = Axis::new("time", Unit::Seconds, Scale::Linear);
    let title = Sentence::from(label).text(" against time");
    let plot = Plot::new(label, title, x, Axis::new(label, unit, Scale::Linear));
    let series = values.iter().map(|(label, value)| {
        // A window's value holds from the end of the one before to its own.
        let starts = std::iter::once(0.0).chain(windows.iter().map(|window| window.at));
        let held = starts.zip(windows).filter_map(|(at, window)| Some((at, value(window)?)));
        let last = windows.last().and_then(|window| Some((window.at, value(window)?)));
        Series::new(*label, Style::Steps).points(held.chain(last))
    });
    series.fold(plot, Plot::series).tabled_in("windows")
}

/// Windows at even distances, the first and the last among them.
fn table(windows: &[Window], unit: Unit, rate: impl Fn(f64) -> Option<f64>) -> Table {
    let last = windows.len().saturating_sub(1);
    let mut places: Vec<usize> = (0..ROWS).map(|row| row * last / (ROWS - 1)).collect();
    places.dedup();
    let shown = places.into_iter().filter_map(|place| windows.get(place));
    let host = |key, title, unit| Column::new(key, title, unit).under("of the host");
    Table::of("windows", "Rate and sensors over time", shown)
        .column(Column::new("at", "time", Unit::Seconds), |of| of.at)
        .column(Column::new("rate", "rate", unit), |of| rate(of.seconds))
        .column(Column::new("clock", "clock", Unit::Hertz), |of| of.hertz)
        .column(Column::new("power", "power", Unit::Watts), |of| of.watts)
        .column(Column::new("temperature", "temperature", Unit::Celsius), |of| of.celsius)
        .column(host("host_clock", "clock", Unit::Hertz), |of| of.host.hertz)
        .column(host("host_power", "power", Unit::Watts), |of| of.host.watts)
        .column(host("host_temperature", "temperature", Unit::Celsius), |of| of.host.celsius)
        .table()
        .without_missing()
}

/// What held the clock back: when it was first seen, and in how many windows.
fn reasons(windows: &[Window]) -> Vec<Sentence> {
    let mut seen: Vec<(&str, f64, u64)> = vec![];
    for window in windows {
        let Some(reason) = window.throttled.as_deref() else { continue };
        match seen.iter_mut().find(|(known, ..)| *known == reason) {
            Some((_, _, count)) => *count += 1,
            None => seen.push((reason, window.at, 1)),
        }
    }
    let note = |(reason, at, count): (&str, f64, u64)| {
        let note =
            Sentence::from("the clock was held back: ").name(reason).text(", first seen at ");
        let note = note.value(at, Unit::Seconds).text(", in ").value(count as f64, Unit::Count);
        note.text(" of ").counted(windows.len() as u64, "window")
    };
    seen.into_iter().map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_analysis::Source;
    use gpubench_core::gpu::Clock;
    use gpubench_core::record::{Detail, Sensed, sample};

    #[test]
    fn a_run_that_gets_hot_reads_well() {
        let window = |i: u32| {
            let hot = i > 30;
            Window {
                at: f64::from(i),
                launches: 1000,
                seconds: if hot { 1.25e-3 } else { 1e-3 },
                hertz: Some(if hot { 1.4e9 } else { 1.75e9 }),
                watts: Some(250.0),
                celsius: Some(40.0 + f64::from(i.min(45))),
                throttled: hot.then(|| "power cap".to_owned()),
                host: Sensed { hertz: Some(3.2e9), watts: None, celsius: Some(55.0) },
            }
        };
        let raw = Sustain {
            clock: Clock::Device,
            asked: 100.0,
            windows: (1..=100).map(window).collect(),
        };
        let mut record = sample::record(sample::key("fma", 65536), 1e-3);
        record.detail = Some(Detail::new(&raw));
        let (header, records) = (sample::header(vec![sample::device("opencl")]), [record]);
        let name = "sample.jsonl".into();
        let source =
            Source { name, header: &header, records: &records, footer: None, warnings: vec![] };
        let section = section(&ReportInput::new(vec![source]));
        insta::assert_snapshot!(gpubench_report::render::text::section(&section, Some(80)));
    }
}
