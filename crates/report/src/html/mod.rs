//! A report as one HTML page: no script, no network, light and dark, for screens and paper.
//!
//! Every text that comes from outside passes [`printable`] and maud's escaping; nothing is put
//! into the page as markup but what stands in these files.

mod glance;
mod samples;
mod sweep;
mod workloads;

use super::labels::counts;
use super::render::html::{Ids, body, shown};
use gpubench_analysis::ReportInput;
use gpubench_core::hash::base64_sha256;
use gpubench_core::text::printable;
use gpubench_document as document;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");

/// What stands before the workloads.
const FIRST: [&str; 3] = ["devices", "comparison", "ranking"];

/// A part of the page with a heading.
struct Section {
    /// Its anchor.
    id: String,
    /// Its heading.
    title: Markup,
    /// What stands below the heading.
    body: Markup,
}

impl Section {
    fn new(id: &str, title: &str, body: Markup) -> Self {
        Self { id: id.to_owned(), title: html! { (title) }, body }
    }
}

/// The whole page; `sections` are all of the report.
pub fn page(input: &ReportInput, sections: &[document::Section]) -> String {
    let mut ids = Ids::default();
    let is_first = |section: &document::Section| FIRST.contains(&section.id());
    let own = [glance::section(input), workloads::section(input)];
    // What the page's own links lead to is named first: a section within another steps back.
    let own_ids = own.iter().flatten().map(|section| section.id.as_str());
    own_ids.chain(["main"]).for_each(|id| drop(ids.add(id)));
    let anchors: Vec<String> = sections.iter().map(|section| ids.add(section.id())).collect();
    let mut of = |(section, id): (&document::Section, String)| of_document(section, id, &mut ids);
    let (first, last): (Vec<_>, Vec<_>) =
        sections.iter().zip(anchors).partition(|(section, _)| is_first(section));
    let mut all: Vec<Section> = first.into_iter().map(&mut of).collect();
    all.extend(own.into_iter().flatten());
    all.extend(last.into_iter().map(of));
    let title = title(input);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the results" }
                header { h1 { (title) } (summary(input)) }
                nav aria-label="Sections" {
                    ol { @for section in &all { li { a href={ "#" (section.id) } { (section.title) } } } }
                }
                main id="main" {
                    @for section in &all {
                        section aria-labelledby=(section.id) {
                            h2 id=(section.id) { (section.title) }
                            (section.body)
                        }
                    }
                }
                footer { p { "Made by gpubench " (env!("CARGO_PKG_VERSION")) ". This page loads nothing and runs no script." } }
            }
        }
    }
    .into_string()
}

/// A section that every format has.
fn of_document(section: &document::Section, id: String, ids: &mut Ids) -> Section {
    Section { id, title: shown(&section.title), body: body(section, 3, ids) }
}

/// Nothing may be loaded or run; the one style sheet is named by its hash.
fn policy() -> String {
    format!(
        "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        base64_sha256(STYLE.as_bytes())
    )
}

fn title(input: &ReportInput) -> String {
    let mut suites: Vec<String> = vec![];
    for source in &input.sources {
        let suite = printable(&source.header.suite, 60);
        if !suites.contains(&suite) {
            suites.push(suite);
        }
    }
    let more = suites.len().saturating_sub(4);
    suites.truncate(4);
    let and = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("gpubench report: {}{and}", suites.join(", "))
}

fn summary(input: &ReportInput) -> Markup {
    let counts = counts(&input.rows);
    let tiles = [
        ("devices × APIs", input.reported_devices.len(), ""),
        ("✓ cases verified", counts.verified, "good"),
        ("✗ failed", counts.failed, if counts.failed > 0 { "bad" } else { "" }),
        ("○ unchecked", counts.unchecked, ""),
        ("! with a warning", counts.warnings, if counts.warnings > 0 { "warn" } else { "" }),
        ("with a note", counts.notes, ""),
        ("✗ hidden", counts.hidden, if counts.hidden > 0 { "bad" } else { "" }),
        ("skipped", counts.skipped, ""),
    ];
    html! {
        dl.tiles {
            @for (what, count, class) in tiles { div { dt { (what) } dd class=[(!class.is_empty()).then_some(class)] { (count) } } }
        }
        @let not_gpus = input.reported_devices.iter().filter(|s| !s.device.is_gpu()).count();
        @if not_gpus > 0 {
            p.note {
                (not_gpus) " of " (input.reported_devices.len())
                " devices are CPU implementations or simulations: their figures are not those of a GPU. They are marked, and no ranking counts them unless asked to."
            }
        }
    }
}

/// A name that may break behind `_`, `/` and `-`.
fn name(text: &str) -> Markup {
    let pieces = text.split_inclusive(['_', '/', '-']);
    html! { @for (i, piece) in pieces.enumerate() { @if i > 0 { wbr; } (piece) } }
}

/// A table that scrolls within itself where the page is narrow, reachable by keyboard.
fn scroll(name: &str, table: &Markup) -> Markup {
    html! { div.scroll role="region" aria-label=(name) tabindex="0" { (table) } }
}

#[cfg(test)]
mod tests;
