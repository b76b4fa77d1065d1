//! Old against new, case by case.

use super::{Section, name, reasons, scroll};
use crate::comparison::Compared;
use crate::labels::{case_name, explain};
use crate::render::html::figure::{WIDTH, colour as series, figure, mark, num};
use crate::render::html::scale::Range;
use gpubench_analysis::{Comparison, Row, Verdict};
use gpubench_core::text::{middle, printable};
use gpubench_core::units::seconds;
use gpubench_document::Scale;
use maud::{Markup, html};

pub(super) fn section(all: &[Compared]) -> Option<Section> {
    if all.is_empty() {
        return None;
    }
    let body = html! {
        p {
            "The new time over the old one: below 1 is faster. A case is called faster or slower only where the 95 % interval excludes 1, "
            "the change exceeds the tolerance, and it stands among all cases (Benjamini and Hochberg, 5 %); same, where the interval lies within the tolerance."
        }
        @for compared in all { (device(compared)) }
    };
    Some(Section::new("comparison", "Comparison with the baseline", body))
}

fn device(compared: &Compared) -> Markup {
    let comparison = &compared.comparison;
    let mut changed: Vec<&Row> = comparison
        .rows
        .iter()
        .filter(|row| matches!(row.verdict, Verdict::Slower | Verdict::Faster))
        .collect();
    changed.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    html! {
        h3 { (who(compared)) }
        p.soft { "against " (printable(&compared.old.file, 200)) ", begun " (printable(&compared.old.started, 40)) ", with " (printable(&compared.old.device.driver, 80)) }
        @if comparison.rows.is_empty() {
            p { "No case can be compared:" }
            (reasons(&comparison.skipped))
        } @else {
            (tiles(comparison))
            @if changed.is_empty() { p { "No case changed." } } @else { div.plots { (plot(&changed)) } }
            details {
                summary { h4 { "All cases" } span { (comparison.rows.len()) " compared, " (comparison.skipped.len()) " skipped" } }
                (scroll("Comparison", &table(compared)))
                @if !comparison.skipped.is_empty() { (reasons(&comparison.skipped)) }
            }
        }
    }
}

fn who(compared: &Compared) -> String {
    let device = &compared.new.device;
    format!("{} ({})", printable(&device.name, 80), printable(&device.backend, 12))
}

fn tiles(comparison: &Comparison) -> Markup {
    let count = |wanted: fn(Verdict) -> bool| {
        comparison.rows.iter().filter(|row| wanted(row.verdict)).count()
    };
    let counts = [
        ("bad", "▲ slower", count(|v| v == Verdict::Slower)),
        ("good", "▼ faster", count(|v| v == Verdict::Faster)),
        ("", "= same", count(|v| v == Verdict::Same)),
        ("soft", "? unsure", count(|v| matches!(v, Verdict::Unsure { .. }))),
    ];
    html! {
        dl.tiles {
            @for (class, what, count) in counts {
                div { dt { (what) } dd class=[(count > 0 && !class.is_empty()).then_some(class)] { (count) } }
            }
            div { dt { "mean of all" } dd { @if let Some(mean) = comparison.mean_ratio { (format!("{mean:.3}")) } @else { "–" } } }
        }
    }
}

/// The changed cases, the slowest first: ratio and interval.
fn plot(rows: &[&Row]) -> Markup {
    const MAX_ROWS: usize = 40;
    const LEFT: f64 = 8.0;
    const ROW: f64 = 36.0;
    let rows = &rows[..rows.len().min(MAX_ROWS)];
    let values = rows.iter().flat_map(|row| [row.ratio, row.interval[0], row.interval[1]]);
    let Some(scale) = Range::around(Scale::Log10, values.chain([1.0])) else { return html! {} };
    let place = |v: f64| LEFT + scale.place(v) * (WIDTH - 2.0 * LEFT);
    let bottom = ROW * rows.len() as f64;
    let drawing = html! {
        @for (i, row) in rows.iter().enumerate() {
            @let y = ROW * i as f64;
            @let line = y + 23.0;
            @let look = if row.verdict == Verdict::Slower { 4 } else { 2 };
            rect.band x=(num(LEFT)) y=(num(line - 7.0)) width=(num(WIDTH - 2.0 * LEFT)) height="14" {}
            path.limit d={ "M" (num(place(1.0))) " " (num(line - 7.0)) "v14" } {}
            text x=(num(LEFT)) y=(num(y + 12.0)) { (symbol(row.verdict)) " " (middle(&case_name(&row.key), 40)) }
            text.end x=(num(WIDTH - LEFT)) y=(num(y + 12.0)) { (ratio(row.ratio)) }
            g class=(series(look)) {
                path.whisker d={ "M" (num(place(row.interval[0]))) " " (num(line)) "H" (num(place(row.interval[1]))) } {}
                path.mark d=(mark(look, place(row.ratio), line)) {}
            }
        }
        @for tick in scale.ticks(4) {
            text.tick.mid x=(num(place(tick).clamp(16.0, WIDTH - 16.0))) y=(num(bottom + 14.0)) { (ratio(tick)) }
        }
        text.title.end x=(num(WIDTH - LEFT)) y=(num(bottom + 30.0)) { "new time over old" }
    };
    let description =
        format!("{} changed cases, the slowest first; the figures are in the table.", rows.len());
    figure(&"Changed cases".into(), &description.into(), bottom + 36.0, &drawing, &[])
}

fn ratio(value: f64) -> String {
    format!("{value:.3}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn symbol(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "▲",
        Verdict::Faster => "▼",
        Verdict::Same => "=",
        Verdict::Unsure { .. } => "?",
    }
}

fn verdict(verdict: Verdict) -> Markup {
    let (class, text) = match verdict {
        Verdict::Slower => ("bad", "slower".to_owned()),
        Verdict::Faster => ("good", "faster".to_owned()),
        Verdict::Same => ("soft", "same".to_owned()),
        Verdict::Unsure { rounds: Some(n) } => {
            ("soft", format!("unsure; {n} rounds would settle it"))
        }
        Verdict::Unsure { rounds: None } => ("soft", "unsure".to_owned()),
    };
    html! { span class=(class) { (symbol(verdict)) " " (text) } }
}

fn table(compared: &Compared) -> Markup {
    html! {
        table {
            caption { "All compared cases of " (who(compared)) }
            thead {
                tr {
                    th scope="col" { "case" }
                    th.n scope="col" { "old" }
                    th.n scope="col" { "new" }
                    th.n scope="col" { "new/old" }
                    th.n scope="col" { "95 %" }
                    th.n scope="col" { "tolerance" }
                    th scope="col" { "verdict" }
                }
            }
            tbody {
                @for row in &compared.comparison.rows {
                    tr {
                        th.name scope="row" { (name(&case_name(&row.key))) }
                        td.n { (seconds(row.old)) }
                        td.n { (seconds(row.new)) }
                        td.n { (format!("{:.3}", row.ratio)) }
                        td.n { (format!("{:.3} – {:.3}", row.interval[0], row.interval[1])) }
                        td.n { (format!("{:.1} %", row.tolerance * 100.0)) }
                        td {
                            (verdict(row.verdict))
                            @for doubt in &row.doubts { br; span.soft { "! " (printable(&explain(doubt), 200)) } }
                        }
                    }
                }
            }
        }
    }
}
