//! Devices in order of their speed over the cases that all of them got right.

use super::{Section, name, predicted_ranking, reasons, scroll};
use crate::ranking::{NO_ENERGY, energy_heading};
use crate::render::html::figure::{WIDTH, colour as series, figure, mark, num};
use crate::render::html::scale::Range;
use gpubench_analysis::ReportInput;
use gpubench_analysis::rank::{Device, Family, Ranking};
use gpubench_core::text::{counted, middle, printable};
use gpubench_core::units::with_prefix;
use gpubench_document::{Scale, Sentence};
use gpubench_stats::Level;
use maud::{Markup, html};

pub(super) fn section(input: &ReportInput, ranking: &Ranking) -> Option<Section> {
    if input.reported_devices.len() < 2 {
        return None;
    }
    // One device alone is no ranking.
    let shown: Vec<&Family> = ranking.families.iter().filter(|f| f.rows.len() > 1).collect();
    let body = html! {
        @if shown.is_empty() { p { (nothing(ranking)) } } @else {
            p {
                "Speed is the reference's time over the device's own, case by case; a device's is the geometric mean over the common set: "
                "the cases that all of them got right. Bars are 95 % intervals; where two devices' ranks overlap, the data do not distinguish them."
            }
            div.plots { @for family in &shown { (plot(input, ranking, family)) } }
            @if let Some(overall) = shown.first() {
                (scroll("Ranking, overall", &table(ranking, overall)))
                @if shown.len() > 1 {
                    details {
                        summary { h3 { "By family" } span { (shown.len() - 1) @if shown.len() == 2 { " family" } @else { " families" } } }
                        @for family in &shown[1..] { (scroll(&format!("Ranking, {}", printable(&family.name, 40)), &table(ranking, family))) }
                    }
                }
                (energy(ranking)) (predicted_ranking::part(ranking)) (winners(ranking, overall)) (skipped(overall))
            }
        }
        @if !ranking.excluded.is_empty() {
            h3 { "Not ranked" }
            ul {
                @for (device, reason) in &ranking.excluded {
                    li { (full_name(&ranking.devices[*device])) ": " (printable(reason, 200)) }
                }
            }
        }
    };
    Some(Section::new("ranking", "Ranking", body))
}

fn nothing(ranking: &Ranking) -> &'static str {
    match ranking.families.first() {
        Some(family) if family.rows.len() == 1 => "One device alone cannot be ranked.",
        Some(family) if family.cases > 0 => {
            "No case was right on every device, so nothing can be ranked."
        }
        _ => "Nothing to rank: see below which devices were excluded, and why.",
    }
}

pub(super) fn full_name(device: &Device) -> String {
    format!("{} ({})", printable(&device.info.name, 80), printable(&device.info.backend, 12))
}

/// The look of the device in all other plots.
fn look(input: &ReportInput, device: &Device) -> usize {
    let is_it = |info: &gpubench_core::gpu::DeviceInfo| {
        info.name == device.info.name
            && info.backend == device.info.backend
            && info.vendor == device.info.vendor
    };
    input
        .reported_devices
        .iter()
        .position(|reported_device| is_it(reported_device.device))
        .unwrap_or(0)
}

fn title(family: &Family) -> String {
    let mut letters = printable(&family.name, 40);
    if let Some(first) = letters.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    format!("{letters}: {} of {} cases in common", family.common.len(), family.cases)
}

/// One line a device: the name above, mark and interval below.
fn plot(input: &ReportInput, ranking: &Ranking, family: &Family) -> Markup {
    const LEFT: f64 = 8.0;
    const RIGHT: f64 = 8.0;
    const ROW: f64 = 38.0;
    const TOP: f64 = 6.0;
    let values = family.rows.iter().flat_map(|row| [row.speed, row.interval[0], row.interval[1]]);
    let Some(scale) = Range::around(Scale::Log10, values.chain([1.0])) else { return html! {} };
    let place = |v: f64| LEFT + scale.place(v) * (WIDTH - LEFT - RIGHT);
    let bottom = TOP + ROW * family.rows.len() as f64;
    let drawing = html! {
        @for tick in scale.ticks(4) {
            text.tick.mid x=(num(place(tick).clamp(12.0, WIDTH - 12.0))) y=(num(bottom + 14.0)) { (speed(tick)) }
        }
        @for (i, row) in family.rows.iter().enumerate() {
            @let device = &ranking.devices[row.device];
            @let (y, look) = (TOP + ROW * i as f64, look(input, device));
            @let line = y + 24.0;
            rect.band x=(num(LEFT)) y=(num(line - 7.0)) width=(num(WIDTH - LEFT - RIGHT)) height="14" {}
            @for tick in scale.ticks(4) {
                path.grid d={ "M" (num(place(tick))) " " (num(line - 7.0)) "v14" } {}
            }
            path.limit d={ "M" (num(place(1.0))) " " (num(line - 7.0)) "v14" } {}
            text x=(num(LEFT)) y=(num(y + 13.0)) { (rank(row.ranks)) "  " (middle(&full_name(device), 40)) }
            text.end x=(num(WIDTH - RIGHT)) y=(num(y + 13.0)) { (speed(row.speed)) }
            g class=(series(look)) {
                path.whisker d={ "M" (num(place(row.interval[0]))) " " (num(line)) "H" (num(place(row.interval[1]))) } {}
                path.mark d=(mark(look, place(row.speed), line)) {}
            }
        }
        text.title.end x=(num(WIDTH - RIGHT)) y=(num(bottom + 30.0)) { "speed, " (reference(ranking, family)) }
    };
    let order: Vec<String> = family
        .rows
        .iter()
        .map(|row| {
            format!(
                "{} {} ({})",
                rank(row.ranks),
                full_name(&ranking.devices[row.device]),
                speed(row.speed)
            )
        })
        .collect();
    figure(
        &Sentence::from(title(family)),
        &Sentence::from(format!("In order: {}.", order.join(", "))),
        bottom + 36.0,
        &drawing,
        &[],
    )
}

fn reference(ranking: &Ranking, family: &Family) -> String {
    family.reference.map_or_else(String::new, |r| {
        format!("{} = 1", middle(&printable(&ranking.devices[r].info.name, 200), 30))
    })
}

/// `1` or `1–2`.
fn rank([best, worst]: [usize; 2]) -> String {
    if best == worst { format!("{best}.") } else { format!("{best}–{worst}.") }
}

pub(super) fn speed(value: f64) -> String {
    if (0.001..1000.0).contains(&value) {
        let digits = if value < 0.1 {
            3
        } else if value < 10.0 {
            2
        } else {
            0
        };
        format!("{value:.digits$} ×").replace(".00 ", " ")
    } else {
        with_prefix(value, "×")
    }
}

fn table(ranking: &Ranking, family: &Family) -> Markup {
    let level = match family.level {
        Level::Rounds => "for these very cases",
        Level::Cases => "for cases like these",
    };
    html! {
        table {
            caption { (title(family)) "; intervals hold " (level) "; " (reference(ranking, family)) }
            thead {
                tr {
                    th scope="col" { "rank" }
                    th scope="col" { "device" }
                    th.n scope="col" { "speed" }
                    th.n scope="col" { "95 %" }
                    th.n scope="col" { "of its roofline" }
                    th.n scope="col" { "verified" }
                    th.n scope="col" { "runs" }
                }
            }
            tbody {
                @for row in &family.rows {
                    @let device = &ranking.devices[row.device];
                    tr {
                        td.w { (rank(row.ranks)) }
                        th.name scope="row" { (full_name(device)) }
                        td.n { (speed(row.speed)) }
                        td.n { (speed(row.interval[0]).trim_end_matches(" ×")) " – " (speed(row.interval[1])) }
                        td.n { @if let Some(share) = row.roofline { (format!("{:.0} %", share * 100.0)) } @else { "–" } }
                        td.n { (row.verified) "/" (family.cases) }
                        td.n { (device.runs) }
                    }
                }
                @for device in &family.absent {
                    tr {
                        td { "–" }
                        th.name scope="row" { (full_name(&ranking.devices[*device])) }
                        td colspan="5" { "no verified case here" }
                    }
                }
            }
        }
    }
}

fn energy(ranking: &Ranking) -> Markup {
    let Some(energy) = &ranking.energy else {
        return html! { p.soft { (NO_ENERGY) "." } };
    };
    let table = html! {
        table {
            caption { (energy_heading(ranking, energy, &|text| text.to_owned())) }
            thead {
                tr {
                    th scope="col" { "device" }
                    th.n scope="col" { "per watt" }
                    th.n scope="col" { "speed" }
                    th scope="col" { "no other is better in both" }
                }
            }
            tbody {
                @for row in &energy.rows {
                    tr {
                        th.name scope="row" { (full_name(&ranking.devices[row.device])) }
                        td.n { (speed(row.per_joule)) }
                        td.n { (speed(row.speed)) }
                        td { @if row.pareto { "✓ Pareto" } }
                    }
                }
            }
        }
    };
    html! {
        h3 { "Performance per watt" }
        (scroll("Performance per watt", &table))
    }
}

fn winners(ranking: &Ranking, overall: &Family) -> Markup {
    if overall.winners.is_empty() {
        return html! {};
    }
    let table = html! {
        table {
            caption { "The fastest device of every workload in the common set" }
            thead {
                tr {
                    th scope="col" { "workload" }
                    th.n scope="col" { "cases" }
                    th scope="col" { "fastest" }
                    th.n scope="col" { "over the second" }
                }
            }
            tbody {
                @for winner in &overall.winners {
                    tr {
                        th.name scope="row" { (name(&printable(&winner.workload, 80))) }
                        td.n { (winner.cases) }
                        td.name { (full_name(&ranking.devices[winner.device])) }
                        td.n { (speed(winner.lead)) }
                    }
                }
            }
        }
    };
    html! {
        details {
            summary { h3 { "Fastest by workload" } span { (overall.winners.len()) " workloads" } }
            (scroll("Fastest by workload", &table))
        }
    }
}

fn skipped(overall: &Family) -> Markup {
    if overall.skipped.is_empty() {
        return html! {};
    }
    html! {
        details {
            summary { h3 { "Outside the common set" } span { (counted(overall.skipped.len(), "case")) } }
            (reasons(&overall.skipped))
        }
    }
}
