//! The order that a model predicts, beside the measured one.

use super::ranking::{full_name, speed};
use super::{reasons, scroll};
use crate::predicted_ranking::{explanation, heading};
use gpubench_analysis::rank::{PredictedRank, PredictedRanking, Ranking};
use gpubench_core::text::{counted, printable};
use maud::{Markup, html};

pub(super) fn part(ranking: &Ranking) -> Markup {
    let Some(prediction) = &ranking.prediction else { return html! {} };
    html! {
        h3 { "Predicted order" }
        p {
            "What a model makes of each kernel's counted instructions and memory traffic with the costs in the devices' profiles. "
            "No parameter of it was fitted to any time of a case ranked here."
        }
        (scroll("Predicted order", &table(ranking, prediction)))
        @if !prediction.unknown.is_empty() {
            ul {
                @for (device, why) in &prediction.unknown {
                    li { (full_name(&ranking.devices[*device])) ": " (printable(why, 200)) }
                }
            }
        }
        @if !prediction.skipped.is_empty() {
            details {
                summary { h4 { "Not predicted" } span { (counted(prediction.skipped.len(), "case")) } }
                (reasons(&prediction.skipped))
            }
        }
    }
}

fn table(ranking: &Ranking, prediction: &PredictedRanking) -> Markup {
    html! {
        table {
            caption { (heading(ranking, prediction)) "; " (explanation(ranking, prediction).replace('\n', "; ")) }
            thead {
                tr {
                    th scope="col" { "device" }
                    th.n scope="col" { "measured rank" }
                    th.n scope="col" { "predicted rank" }
                    th.n scope="col" { "measured speed" }
                    th.n scope="col" { "predicted speed" }
                }
            }
            tbody {
                @for row in &prediction.rows {
                    @let PredictedRank { device, measured, predicted, ranks } = row;
                    tr {
                        th.name scope="row" { (full_name(&ranking.devices[*device])) }
                        @for at in 0..2 { td.n { @match ranks { Some(ranks) => (ranks[at]), None => "–" } } }
                        td.n { (speed(*measured)) }
                        td.n { @match predicted { Some(predicted) => (speed(*predicted)), None => "–" } }
                    }
                }
            }
        }
    }
}
