//! For browsers: sections without script or network.
//!
//! Every text from outside passes `render::name` and maud's escaping; nothing is markup but what
//! stands in these files, in `markup.rs` and in `drawing`. The classes are those of the report's style sheet.

mod table;

pub(crate) use table::table;

use super::markup::{shown, whole};
use super::{cell, drawing};
use gpubench_document::{Cell, Fact, Part, Section, Unit, unique};
use maud::{Markup, html};
use std::collections::HashSet;

/// Anchors that are already in the page.
#[derive(Default)]
pub struct Ids(HashSet<String>);

impl Ids {
    /// An anchor like `id` that the page does not have yet.
    pub fn add(&mut self, id: &str) -> String {
        let id = unique(id.to_owned(), |id| self.0.contains(id));
        self.0.insert(id.clone());
        id
    }
}

/// What stands below a section's heading; `level` is that of the headings in it.
pub fn body(section: &Section, level: usize, ids: &mut Ids) -> Markup {
    let mut drawings: Vec<Markup> = vec![];
    let mut out = html! {};
    for part in section.parts() {
        // Drawings that follow each other stand side by side.
        match part {
            Part::Drawing(drawing) => drawings.extend(drawing::drawn(drawing)),
            other => {
                flush(&mut drawings, &mut out);
                out.0 += &one(other, level, ids).0;
            }
        }
    }
    flush(&mut drawings, &mut out);
    out
}

fn flush(drawings: &mut Vec<Markup>, out: &mut Markup) {
    if !drawings.is_empty() {
        let drawings = std::mem::take(drawings);
        out.0 += &html! { div.plots { @for drawing in &drawings { (drawing) } } }.0;
    }
}

fn one(part: &Part, level: usize, ids: &mut Ids) -> Markup {
    match part {
        Part::Text(sentence) => html! { p { (shown(sentence)) } },
        Part::Note(sentence) => html! { p.note { (shown(sentence)) } },
        Part::Facts { facts: list } => facts(list),
        Part::Table(inner) => table(inner),
        Part::Section(inner) if inner.folded => html! {
            details {
                summary { (heading(inner, level, ids)) }
                (body(inner, level + 1, ids))
            }
        },
        Part::Section(inner) => {
            html! { (heading(inner, level, ids)) (body(inner, level + 1, ids)) }
        }
        // `parts` draws these, since neighbours share a row.
        Part::Drawing(_) => html! {},
    }
}

fn heading(section: &Section, level: usize, ids: &mut Ids) -> Markup {
    let (id, title) = (ids.add(section.id()), shown(&section.title));
    html! {
        @match level {
            ..=3 => h3 id=(id) { (title) },
            4 => h4 id=(id) { (title) },
            5 => h5 id=(id) { (title) },
            _ => h6 id=(id) { (title) },
        }
    }
}

fn facts(facts: &[Fact]) -> Markup {
    html! {
        dl.facts {
            @for fact in facts { dt { (shown(&fact.label)) } dd { (value(&fact.value, fact.unit)) } }
        }
    }
}

fn value(value: &Cell, unit: Unit) -> Markup {
    match value {
        Cell::Text(sentence) => shown(sentence),
        other => html! { (whole(&cell(other, unit))) },
    }
}

#[cfg(test)]
mod tests;
