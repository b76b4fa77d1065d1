//! Ladders: what each step gained, and the decision whether another is worth it.

use super::{Section, name, scroll};
use crate::input::ReportInput;
use crate::labels::label;
use crate::ladder::{percent, title, worth};
use gpubench_core::text::printable;
use gpubench_core::units::seconds;
use gpubench_experiments::analysis::{Ladder, Rung, ladders};
use maud::{Markup, html};

pub(super) fn section(input: &ReportInput) -> Option<Section> {
    let of_source = |source: &crate::Source<'_>| {
        let devices = source.header.devices.iter().enumerate();
        let all = devices.flat_map(|(i, device)| {
            let ladders = ladders(source.records, i).into_iter();
            ladders.map(move |ladder| (label(device), ladder))
        });
        all.collect::<Vec<_>>()
    };
    let all: Vec<(String, Ladder)> = input.sources.iter().flat_map(of_source).collect();
    let body = html! {
        p {
            "The same problem solved better and better. Ideal is the time that its operations and bytes need at the device's own measured ceilings; "
            "what a perfect kernel could still save is its share of uploading, computing and downloading times its distance from that."
        }
        @for (device, ladder) in &all {
            @let title = title(ladder, device);
            (scroll(&format!("Ladder of {title}"), &table(&title, ladder)))
        }
    };
    (!all.is_empty()).then_some(Section { id: "ladders", title: "Ladders", body })
}

fn table(title: &str, ladder: &Ladder) -> Markup {
    html! {
        table {
            caption { (title) }
            thead {
                tr {
                    th scope="col" { "step" }
                    th.n scope="col" { "median" }
                    th.n scope="col" { "speedup" }
                    th.n scope="col" { "of ideal" }
                    th.n scope="col" { "of the run" }
                    th.n scope="col" { "could save" }
                    th scope="col" { "another step" }
                }
            }
            tbody { @for (i, rung) in ladder.rungs.iter().enumerate() { (row(i, rung)) } }
        }
    }
}

fn row(place: usize, rung: &Rung) -> Markup {
    html! {
        tr {
            th.name scope="row" { (name(&printable(&rung.variant, 60))) }
            td.n { (seconds(rung.seconds)) }
            td.n { @if place == 0 { "–" } @else { (format!("{:.2} ×", rung.speedup)) } }
            @for share in [rung.of_ideal, rung.share, rung.possible()] { td.n { (percent(share)) } }
            td { (worth(rung)) }
        }
    }
}
