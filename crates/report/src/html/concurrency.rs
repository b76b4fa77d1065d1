//! Concurrent kernels: the speedup of each pair, as a matrix, and copies of one kernel.

use super::{Section, name, occupancy_sweep, scroll};
use crate::concurrency::{letter, tally_words};
use crate::input::ReportInput;
use crate::labels;
use gpubench_analysis::Aggregate;
use gpubench_core::record::Concurrency;
use gpubench_core::text::printable;
use gpubench_core::units::seconds;
use gpubench_experiments::analysis::{ConcurrencySummary, PairSummary, concurrency, pair_tally};
use maud::{Markup, html};

/// A kernel and what ran concurrently with it, of the first round that was measured, and the pairs of all.
struct Case<'m, 'a> {
    row: &'m Aggregate<'a>,
    raw: Concurrency,
    summary: ConcurrencySummary,
    rounds: Vec<PairSummary>,
}

pub(super) fn section(input: &ReportInput) -> Option<Section> {
    let devices: Vec<(usize, Vec<Case>)> = (0..input.reported_devices.len())
        .map(|reported_device| (reported_device, cases(input, reported_device)))
        .filter(|(_, cases)| !cases.is_empty())
        .collect();
    if devices.is_empty() {
        return None;
    }
    let body = html! {
        p {
            "Speedup over serial is the sum of both isolated times over the concurrent time: 1 where kernels take turns, 2 where neither slows the other. "
            "The row's kernel was queued first; the darker a cell, the larger the speedup. "
            "The second kernel starts with the first (A), in its last wave (B), or after it (C), as inferred from the ends of both; swapped: the device began the second one first."
        }
        @for (reported_device, cases) in &devices {
            @let label = &input.reported_devices[*reported_device].label;
            h3 { (label) " " (input.reported_devices[*reported_device].name) }
            (scroll(&format!("Speedup of pairs on {label}"), &matrix(label, cases)))
            (tally(cases))
            (copies(cases))
            (skipped(cases))
            details {
                summary { h4 { "All pairs" } span { (cases.iter().map(|c| c.summary.pairs.len()).sum::<usize>()) " pairs" } }
                (scroll(&format!("Pairs on {label}"), &table(label, cases)))
            }
        }
    };
    Some(Section { id: "concurrency", title: "Concurrent kernels", body })
}

fn cases<'m, 'a>(input: &'m ReportInput<'a>, reported_device: usize) -> Vec<Case<'m, 'a>> {
    let device = occupancy_sweep::device(input, reported_device);
    let of = |row: &'m Aggregate<'a>| {
        let raws =
            row.records.iter().filter_map(|record| record.detail.as_ref()?.read::<Concurrency>());
        let raw = raws.clone().next()?;
        let rounds = raws.flat_map(|raw| concurrency(&raw, device).pairs).collect();
        Some(Case { row, summary: concurrency(&raw, device), raw, rounds })
    };
    input.of(reported_device).filter(|row| row.outcome.is_ok()).filter_map(of).collect()
}

fn matrix(label: &str, cases: &[Case]) -> Markup {
    let mut seconds: Vec<&str> = vec![];
    for pair in cases.iter().flat_map(|case| &case.summary.pairs) {
        if !seconds.contains(&pair.second.as_str()) {
            seconds.push(&pair.second);
        }
    }
    html! {
        table.matrix {
            caption { "Speedup over serial of the row's kernel with the column's on " (label) }
            thead {
                tr {
                    th scope="col" { "A (first), with B (second)" }
                    @for second in &seconds { th.n scope="col" { (name(&printable(second, 40))) } }
                }
            }
            tbody {
                @for case in cases {
                    tr {
                        th.name scope="row" { (name(&printable(&case.row.key.workload, 60))) " " span.soft { (labels::size(case.row.key)) } }
                        @for second in &seconds {
                            @match case.summary.pairs.iter().find(|pair| pair.second == *second) {
                                Some(pair) => td.n.(heat(pair.speedup[0])) { (format!("{:.2}", pair.speedup[0])) },
                                None => td.n { "–" },
                            }
                        }
                    }
                }
            }
        }
    }
}

/// One of six shades, from no speedup to twice.
fn heat(speedup: f64) -> String {
    format!("h{}", ((speedup - 1.0) * 5.0).round().clamp(0.0, 5.0) as u32)
}

/// How well model 7 predicted all pairs of a device, over all rounds.
fn tally(cases: &[Case]) -> Markup {
    let pairs = cases.iter().flat_map(|case| &case.rounds);
    html! {
        @if let Some(tally) = pair_tally(pairs) {
            p { "Model 7: " (tally_words(&tally).replace("\n ", ";")) "." }
        }
    }
}

fn copies(cases: &[Case]) -> Markup {
    html! {
        ul {
            @for case in cases.iter().filter(|case| case.summary.copies.len() > 1) {
                @let speedups = case.summary.copies.iter().map(|(n, speedup)| format!("{n}: {speedup:.1}"));
                li { (printable(&case.row.key.workload, 60)) ": copies of itself at once, and their speedup: " (speedups.collect::<Vec<_>>().join(", ")) }
            }
        }
    }
}

fn skipped(cases: &[Case]) -> Markup {
    let all = || cases.iter().flat_map(|c| c.raw.skipped.iter().map(move |out| (c.row.key, out)));
    if all().next().is_none() {
        return html! {};
    }
    html! {
        details {
            summary { h4 { "Not run" } span { (all().count()) " pairs" } }
            ul {
                @for (first, (second, reason)) in all() {
                    li { (printable(&first.workload, 60)) " with " (printable(second, 60)) ": " (printable(reason, 200)) }
                }
            }
        }
    }
}

fn table(label: &str, cases: &[Case]) -> Markup {
    html! {
        table {
            caption { "Isolated and concurrent times on " (label) }
            thead {
                tr {
                    th scope="col" { "first" }
                    th scope="col" { "second" }
                    th.n scope="col" { "isolated" }
                    th.n scope="col" { "isolated" }
                    th.n scope="col" { "A first" }
                    th.n scope="col" { "B first" }
                    th.n scope="col" { "speedup" }
                    th.n scope="col" { "B first" }
                    th.n scope="col" { "speedup predicted" }
                    th.n scope="col" { "second slowed" }
                    th.n scope="col" { "predicted" }
                    th.n scope="col" { "case" }
                    th.n scope="col" { "predicted" }
                }
            }
            tbody { @for case in cases { @for pair in &case.summary.pairs { (pair_row(case, pair)) } } }
        }
    }
}

fn pair_row(case: &Case, pair: &PairSummary) -> Markup {
    html! {
        tr {
            th.name scope="row" { (name(&printable(&case.row.key.workload, 60))) }
            td.name { (name(&printable(&pair.second, 60))) }
            @for time in [pair.isolated[0], pair.isolated[1], pair.concurrent[0], pair.concurrent[1]] { td.n { (seconds(time)) } }
            @for speedup in pair.speedup { td.n { (format!("{speedup:.2}")) } }
            @let expected = pair.expected;
            td.n { (figure(expected.map(|expected| expected.speedup))) }
            td.n { (figure(pair.slowdown.map(|[_, second]| second))) }
            td.n { (figure(expected.map(|expected| expected.slowdown))) }
            td.n { (pair.case.map_or("–", letter)) @if pair.swapped { ", swapped" } }
            td.n { (expected.map_or("–", |expected| letter(expected.case))) }
        }
    }
}

fn figure(number: Option<f64>) -> String {
    number.map_or_else(|| "–".to_owned(), |number| format!("{number:.2}"))
}
