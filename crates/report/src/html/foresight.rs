//! The order that a model foresees, beside the measured one.

use super::ranking::{full_name, speed};
use super::{reasons, scroll};
use crate::foresight::{explanation, heading};
use gpubench_analysis::rank::{Foreseen, Foresight, Ranking};
use gpubench_core::text::{counted, printable};
use maud::{Markup, html};

pub(super) fn part(ranking: &Ranking) -> Markup {
    let Some(foresight) = &ranking.foresight else { return html! {} };
    html! {
        h3 { "Foreseen order" }
        p {
            "What a model makes of each kernel's counted instructions and memory traffic with the costs in the devices' profiles. "
            "No parameter of it was fitted to any time of a case ranked here."
        }
        (scroll("Foreseen order", &table(ranking, foresight)))
        @if !foresight.unknown.is_empty() {
            ul {
                @for (device, why) in &foresight.unknown {
                    li { (full_name(&ranking.devices[*device])) ": " (printable(why, 200)) }
                }
            }
        }
        @if !foresight.left_out.is_empty() {
            details {
                summary { h4 { "Not foreseen" } span { (counted(foresight.left_out.len(), "case")) } }
                (reasons(&foresight.left_out))
            }
        }
    }
}

fn table(ranking: &Ranking, foresight: &Foresight) -> Markup {
    html! {
        table {
            caption { (heading(ranking, foresight)) "; " (explanation(ranking, foresight).replace('\n', "; ")) }
            thead {
                tr {
                    th scope="col" { "device" }
                    th.n scope="col" { "measured rank" }
                    th.n scope="col" { "foreseen rank" }
                    th.n scope="col" { "measured speed" }
                    th.n scope="col" { "foreseen speed" }
                }
            }
            tbody {
                @for row in &foresight.rows {
                    @let Foreseen { device, measured, foreseen, ranks } = row;
                    tr {
                        th.name scope="row" { (full_name(&ranking.devices[*device])) }
                        @for at in 0..2 { td.n { @match ranks { Some(ranks) => (ranks[at]), None => "–" } } }
                        td.n { (speed(*measured)) }
                        td.n { @match foreseen { Some(foreseen) => (speed(*foreseen)), None => "–" } }
                    }
                }
            }
        }
    }
}
