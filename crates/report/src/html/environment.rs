//! All that a second person needs to repeat the runs.

use super::Section;
use gpubench_analysis::{ReportInput, Source};
use gpubench_core::text::printable;
use gpubench_core::units::{Bytes, seconds};
use maud::{Markup, html};

pub(super) fn section(input: &ReportInput) -> Section {
    let body = html! { @for source in &input.sources { (run(source)) } };
    Section::new("environment", "Environment", body)
}

fn run(source: &Source) -> Markup {
    let header = source.header;
    let host = &header.host;
    let text = |t: &str| printable(t, 200);
    html! {
        h3 { (text(&source.name)) }
        dl.facts {
            dt { "machine" } dd { (text(&host.name)) }
            dt { "processor" } dd { (text(&host.cpu)) ", " (host.cores) " logical" }
            dt { "memory" } dd { (Bytes(host.memory).to_string()) }
            dt { "system" } dd { (text(&host.os)) ", kernel " (text(&host.kernel)) }
            dt { "environment" } dd { @if host.environment.is_empty() { "nothing that changes what drivers do" } @else { (text(&host.environment.join(", "))) } }
            dt { "gpubench" } dd { (text(&header.gpubench)) }
            dt { "suite" } dd { (text(&header.suite)) ", hash " (text(header.suite_hash.get(..16).unwrap_or(&header.suite_hash))) }
            @if !header.filters.is_empty() { dt { "filters" } dd { (text(&header.filters.join(", "))) } }
            dt { "seed" } dd { (header.seed) }
            dt { "rounds" } dd { (header.rounds) " planned" @if header.verify_only { ", results checked only, nothing measured" } }
            dt { "started" } dd { (text(&header.started)) }
            dt { "took" } dd {
                @match source.footer {
                    Some(footer) => { (seconds(footer.wall)) ", " (footer.records) " records" },
                    None => { "unknown: the run was cut short after " (source.records.len()) " records" },
                }
            }
        }
    }
}
