//! Every sample of a workload on one device: one row a size, one line of dots a round.

use crate::labels;
use crate::render::drawing::figure::{WIDTH, colour as series, figure as draw, num};
use crate::render::drawing::scale::Range;
use gpubench_analysis::Aggregate;
use gpubench_analysis::ReportInput;
use gpubench_document::{Sentence, Unit, tick as tick_text};
use gpubench_stats::quantile;
use maud::{Markup, html};
use std::fmt::Write;

const LEFT: f64 = 8.0;
const RIGHT: f64 = 8.0;
const TEXT: f64 = 16.0;
const TOP: f64 = 4.0;
const BOTTOM: f64 = 32.0;
const GAP: f64 = 6.0;

/// The plot, where anything was measured.
pub(super) fn figure(input: &ReportInput, workload: &[&Aggregate], device: usize) -> Markup {
    let rows: Vec<&Aggregate> =
        workload.iter().copied().filter(|row| row.device == device && row.time.is_some()).collect();
    let Some(scale) = scale(&rows) else { return html! {} };
    let mut top = TOP;
    let bands: Vec<(f64, &Aggregate)> = rows
        .iter()
        .map(|&row| {
            let here = top;
            top += TEXT + band_height(row) + GAP;
            (here, row)
        })
        .collect();
    let height = top + BOTTOM;
    let place = |deviation: f64| LEFT + scale.place(deviation) * (WIDTH - LEFT - RIGHT);
    let ticks: Vec<f64> = scale.ticks(5);
    let drawing = html! {
        @for (y, row) in &bands { (band(*y, row, &place)) }
        @for (y, row) in &bands {
            path.zero d={ "M" (num(place(0.0))) " " (num(y + TEXT)) "v" (num(band_height(row))) } {}
        }
        g class=(series(device)) { @for (y, row) in &bands { (dots(*y, row, &place, scale)) } }
        @for tick in ticks {
            @let percent = tick_text(tick, Unit::Change);
            @let half = percent.chars().count() as f64 * 3.2;
            text.tick.mid x=(num(place(tick).clamp(half.min(180.0), (WIDTH - half).max(180.0)))) y=(num(top + 12.0)) { (percent) }
        }
        text.title.end x=(num(WIDTH - RIGHT)) y=(num(height - 4.0)) { "difference from the row's median" }
    };
    let reported_device = &input.reported_devices[device];
    let description = format!(
        "Samples of {} on {}, {} sizes. Medians and intervals are in the table of the workload.",
        labels::workload_name(workload[0].key, 60),
        reported_device.name,
        rows.len()
    );
    draw(
        &Sentence::from(format!("Samples on {}", reported_device.name)),
        &Sentence::from(description),
        height,
        &drawing,
        &[],
    )
}

fn deviations<'r>(row: &'r Aggregate) -> impl Iterator<Item = f64> + 'r {
    let median = row.time.map_or(f64::NAN, |time| time.value);
    row.rounds().flat_map(|m| &m.samples).map(move |sample| sample / median - 1.0)
}

/// Wide enough for 99 of 100 samples of every row, and never so narrow that noise of a
/// thousandth looks like trouble.
fn scale(rows: &[&Aggregate]) -> Option<Range> {
    let (mut low, mut high) = (-0.02f64, 0.02f64);
    for row in rows {
        let mut all: Vec<f64> = deviations(row).filter(|d| d.is_finite()).collect();
        all.sort_by(f64::total_cmp);
        low = low.min(quantile(&all, 0.01));
        high = high.max(quantile(&all, 0.99));
    }
    (!rows.is_empty()).then(|| Range::Linear(low.max(-0.9) * 1.05, high.min(1.5) * 1.05))
}

fn band_height(row: &Aggregate) -> f64 {
    row.rounds().count().max(1) as f64 * line_height(row) + 4.0
}

fn line_height(row: &Aggregate) -> f64 {
    if row.rounds().count() > 5 { 3.0 } else { 5.0 }
}

fn band(y: f64, row: &Aggregate, place: &dyn Fn(f64) -> f64) -> Markup {
    let time = labels::time(row).map(|time| time.text());
    let Some(overall) = row.time else { return html! {} };
    let [low, high] = overall.interval.map(|t| place(t / overall.value - 1.0));
    let (top, height) = (y + TEXT, band_height(row));
    html! {
        text x=(num(LEFT)) y=(num(y + 11.0)) { (gpubench_core::text::middle(&labels::size(row.key), 30)) }
        text.end x=(num(WIDTH - RIGHT)) y=(num(y + 11.0)) { (time.unwrap_or_default()) }
        rect.band x=(num(LEFT)) y=(num(top)) width=(num(WIDTH - LEFT - RIGHT)) height=(num(height)) {}
        rect.interval x=(num(low)) y=(num(top)) width=(num((high - low).max(0.8))) height=(num(height)) {}
    }
}

/// One line a round. Dots on one spot are drawn once.
fn dots(y: f64, row: &Aggregate, place: &dyn Fn(f64) -> f64, scale: Range) -> Markup {
    let Range::Linear(low, high) = scale else { return html! {} };
    let Some(overall) = row.time else { return html! {} };
    let mut path = String::new();
    let mut outside = String::new();
    for (round, measured) in row.rounds().enumerate() {
        let line = y + TEXT + 2.0 + line_height(row) * (round as f64 + 0.5);
        let mut spots: Vec<i64> = vec![];
        for sample in &measured.samples {
            let deviation = sample / overall.value - 1.0;
            if (low..=high).contains(&deviation) {
                spots.push((place(deviation) * 2.0).round() as i64);
            } else {
                let (x, tip) =
                    if deviation > high { (WIDTH - RIGHT - 3.0, 4.0) } else { (LEFT + 3.0, -4.0) };
                let one = format!("M{} {}v4l{tip} -2Z", num(x), num(line - 2.0));
                if !outside.contains(&one) {
                    outside += &one;
                }
            }
        }
        spots.sort_unstable();
        spots.dedup();
        let mut last = None;
        for spot in spots {
            let _ = match last {
                None => write!(path, "M{} {}h0", num(spot as f64 / 2.0), num(line)),
                Some(last) => write!(path, "m{} 0h0", num((spot - last) as f64 / 2.0)),
            };
            last = Some(spot);
        }
    }
    html! {
        path.dots d=(path) {}
        @if !outside.is_empty() { path.mark d=(outside) {} }
    }
}
