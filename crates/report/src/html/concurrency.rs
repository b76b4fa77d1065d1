//! Kernels beside each other: what each pair gained, as a matrix, and copies of one kernel.

use super::{Section, name, scroll, staircase};
use crate::concurrency::{letter, tally_words};
use crate::rows::Row;
use crate::subject::Material;
use crate::words;
use gpubench_analysis::{ConcurrencySummary, PairSummary, concurrency, pair_tally};
use gpubench_core::record::{Concurrency, Detail};
use gpubench_core::text::printable;
use gpubench_core::units::seconds;
use maud::{Markup, html};

/// A kernel and what it was put beside, of the first round that was measured, and the pairs of all.
struct Case<'m, 'a> {
    row: &'m Row<'a>,
    raw: &'a Concurrency,
    summary: ConcurrencySummary,
    rounds: Vec<PairSummary>,
}

pub(super) fn section(material: &Material) -> Option<Section> {
    let devices: Vec<(usize, Vec<Case>)> = (0..material.subjects.len())
        .map(|subject| (subject, cases(material, subject)))
        .filter(|(_, cases)| !cases.is_empty())
        .collect();
    if devices.is_empty() {
        return None;
    }
    let body = html! {
        p {
            "Gain is the sum of both times alone over the time together: 1 where kernels take turns, 2 where neither slows the other. "
            "The row's kernel was queued first; the darker a cell, the larger the gain. "
            "The second kernel starts with the first (A), in its last wave (B), or after it (C), as the ends of both tell; swapped: the device began the second one first."
        }
        @for (subject, cases) in &devices {
            @let label = &material.subjects[*subject].label;
            h3 { (label) " " (material.subjects[*subject].name) }
            (scroll(&format!("Gain of pairs on {label}"), &matrix(label, cases)))
            (tally(cases))
            (copies(cases))
            (left_out(cases))
            details {
                summary { h4 { "All pairs" } span { (cases.iter().map(|c| c.summary.pairs.len()).sum::<usize>()) " pairs" } }
                (scroll(&format!("Pairs on {label}"), &table(label, cases)))
            }
        }
    };
    Some(Section { id: "concurrency", title: "Kernels beside each other", body })
}

fn cases<'m, 'a>(material: &'m Material<'a>, subject: usize) -> Vec<Case<'m, 'a>> {
    let device = staircase::device(material, subject);
    let of = |row: &'m Row<'a>| {
        let raws = row.records.iter().filter_map(|record| match &record.detail {
            Some(Detail::Concurrency(raw)) => Some(raw),
            _ => None,
        });
        let raw = raws.clone().next()?;
        let rounds = raws.flat_map(|raw| concurrency(raw, device).pairs).collect();
        Some(Case { row, raw, summary: concurrency(raw, device), rounds })
    };
    material.of(subject).filter(|row| row.outcome.is_ok()).filter_map(of).collect()
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
            caption { "Gain of the row's kernel beside the column's on " (label) }
            thead {
                tr {
                    th scope="col" { "first, beside second" }
                    @for second in &seconds { th.n scope="col" { (name(&printable(second, 40))) } }
                }
            }
            tbody {
                @for case in cases {
                    tr {
                        th.name scope="row" { (name(&printable(&case.row.key.workload, 60))) " " span.soft { (words::size(case.row.key)) } }
                        @for second in &seconds {
                            @match case.summary.pairs.iter().find(|pair| pair.second == *second) {
                                Some(pair) => td.n.(heat(pair.gain[0])) { (format!("{:.2}", pair.gain[0])) },
                                None => td.n { "–" },
                            }
                        }
                    }
                }
            }
        }
    }
}

/// One of six shades, from no gain to twice.
fn heat(gain: f64) -> String {
    format!("h{}", ((gain - 1.0) * 5.0).round().clamp(0.0, 5.0) as u32)
}

/// How well model 7 foresaw all pairs of a device, over all rounds.
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
                @let gains = case.summary.copies.iter().map(|(n, gain)| format!("{n}: {gain:.1}"));
                li { (printable(&case.row.key.workload, 60)) ": copies of itself at once, and their gain: " (gains.collect::<Vec<_>>().join(", ")) }
            }
        }
    }
}

fn left_out(cases: &[Case]) -> Markup {
    let all = || cases.iter().flat_map(|c| c.raw.left_out.iter().map(move |out| (c.row.key, out)));
    if all().next().is_none() {
        return html! {};
    }
    html! {
        details {
            summary { h4 { "Not run" } span { (all().count()) " pairs" } }
            ul {
                @for (first, (second, reason)) in all() {
                    li { (printable(&first.workload, 60)) " beside " (printable(second, 60)) ": " (printable(reason, 200)) }
                }
            }
        }
    }
}

fn table(label: &str, cases: &[Case]) -> Markup {
    html! {
        table {
            caption { "Times alone and together on " (label) }
            thead {
                tr {
                    th scope="col" { "first" }
                    th scope="col" { "second" }
                    th.n scope="col" { "alone" }
                    th.n scope="col" { "alone" }
                    th.n scope="col" { "together" }
                    th.n scope="col" { "reversed" }
                    th.n scope="col" { "gain" }
                    th.n scope="col" { "reversed" }
                    th.n scope="col" { "gain foreseen" }
                    th.n scope="col" { "second slowed" }
                    th.n scope="col" { "foreseen" }
                    th.n scope="col" { "case" }
                    th.n scope="col" { "foreseen" }
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
            @for time in [pair.alone[0], pair.alone[1], pair.together[0], pair.together[1]] { td.n { (seconds(time)) } }
            @for gain in pair.gain { td.n { (format!("{gain:.2}")) } }
            @let expected = pair.expected;
            td.n { (figure(expected.map(|expected| expected.gain))) }
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
