//! A report as one HTML page: no script, no network, light and dark, for screens and paper.
//!
//! Every text that comes from outside passes [`printable`](gpubench_core::text::printable) and maud's
//! escaping; nothing is put into the page as markup but what stands in these files.

mod samples;
mod sweep;
mod workloads;

use super::labels::{counts, suites};
use super::render::html::{Ids, body};
use super::render::markup::shown;
use gpubench_analysis::ReportInput;
use gpubench_core::hash::base64_sha256;
use gpubench_document::Section;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");

/// The whole page; `sections` are all of the report.
pub fn page(input: &ReportInput, sections: &[Section]) -> String {
    let mut ids = Ids::default();
    // What the page's own links lead to is named first: a section within another steps back.
    ["main", workloads::ID].into_iter().for_each(|id| drop(ids.add(id)));
    let anchors: Vec<String> = sections.iter().map(|section| ids.add(section.id())).collect();
    let mut all: Vec<(String, Markup, Markup)> = vec![];
    for (section, id) in sections.iter().zip(anchors) {
        all.push((id, shown(&section.title), body(section, 3, &mut ids)));
        // The plots of what was measured stand behind its tables.
        if section.id() == "results" {
            all.push((workloads::ID.to_owned(), html! { "Workloads" }, workloads::body(input)));
        }
    }
    let intro = html! { p { (shown(&counts(&input.rows))) } };
    framed(&title(input), &intro, &all)
}

/// A page of one section of its own.
pub fn of_section(title: &str, section: &Section) -> String {
    let mut ids = Ids::default();
    ids.add("main");
    let id = ids.add(section.id());
    let body = body(section, 3, &mut ids);
    framed(title, &html! {}, &[(id, shown(&section.title), body)])
}

/// A page of parts, each with its anchor, heading and body.
fn framed(title: &str, intro: &Markup, all: &[(String, Markup, Markup)]) -> String {
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
                header { h1 { (title) } (intro) }
                @if all.len() > 1 {
                    nav aria-label="Sections" {
                        ol { @for (id, title, _) in all { li { a href={ "#" (id) } { (title) } } } }
                    }
                }
                main id="main" {
                    @for (id, title, body) in all {
                        section aria-labelledby=(id) { h2 id=(id) { (title) } (body) }
                    }
                }
                footer { p { "Made by gpubench " (env!("CARGO_PKG_VERSION")) ". This page loads nothing and runs no script." } }
            }
        }
    }
    .into_string()
}

/// Nothing may be loaded or run; the one style sheet is named by its hash.
fn policy() -> String {
    format!(
        "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        base64_sha256(STYLE.as_bytes())
    )
}

fn title(input: &ReportInput) -> String {
    format!("gpubench report: {}", suites(input))
}

#[cfg(test)]
mod tests;
