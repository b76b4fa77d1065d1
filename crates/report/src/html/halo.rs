//! Domains in parts that exchange halos: both designs beside each other.

use super::detailed_cases::{DetailedCase, detailed_cases};
use super::{Section, name, scroll};
use crate::halo::{cut, likeness, percent, rows, verdict};
use crate::input::ReportInput;
use crate::labels;
use gpubench_core::record::Halo;
use gpubench_core::units::{Bytes, seconds};
use gpubench_experiments::analysis::{HaloSummary, halo};
use maud::{Markup, html};

type Case<'m, 'a> = DetailedCase<'m, 'a, Halo, HaloSummary>;

pub(super) fn section(input: &ReportInput) -> Option<Section> {
    let cases: Vec<Case> = detailed_cases(input, halo);
    if cases.is_empty() {
        return None;
    }
    let body = html! {
        p {
            "A domain is cut into parts, and after every pass each part gets what its neighbours have at their borders: "
            "packed by a kernel and copied face by face, or with whole fields copied to the host and exchanged there."
        }
        @for case in &cases { (details(input, case)) }
    };
    Some(Section { id: "halos", title: "Halo exchange", body })
}

fn details(input: &ReportInput, case: &Case) -> Markup {
    let label = &input.reported_devices[case.row.device].label;
    let workload = labels::workload_name(case.row.key, 100);
    let summary = &case.summary;
    html! {
        h3 { (name(&workload)) " " (labels::size(case.row.key)) " on " (label) }
        dl.facts {
            dt { "cut" } dd { (cut(&case.raw)) }
            dt { "a step" } dd { "undivided " (seconds(summary.undivided)) ", in parts with nothing exchanged " (seconds(summary.parts)) }
            @if let Some(host) = summary.host {
                dt { "the host" } dd { "exchanges faces for " (seconds(host)) " of a step in bulk" }
            }
            dt { "better" } dd { (verdict(summary)) }
        }
        (scroll(&format!("Designs of {workload} on {label}"), &table(case)))
    }
}

fn table(case: &Case) -> Markup {
    let fastest = case.summary.packed.min(case.summary.bulk);
    html! {
        table {
            caption { "A step by each design; bytes and copies to the host, and as many back" }
            thead {
                tr {
                    th scope="col" { "halos" }
                    th.n scope="col" { "median" }
                    th.n scope="col" { "exchange" }
                    th.n scope="col" { "bytes each way" }
                    th.n scope="col" { "copies" }
                    th scope="col" { "as undivided" }
                }
            }
            tbody {
                @for row in rows(&case.raw, &case.summary) {
                    tr {
                        th.name scope="row" { (row.design) }
                        td.n.best[row.seconds <= fastest] { (seconds(row.seconds)) }
                        td.n { (percent(row.share)) }
                        td.n { (Bytes(row.bytes)) }
                        td.n { (row.copies) }
                        td { (likeness(row.identical)) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
    use gpubench_core::record::Detail;
    use gpubench_core::record::Record;
    use gpubench_core::record::sample::{device, header, key, record};
    use gpubench_core::workload::{CaseKey, Kind};

    #[test]
    fn both_designs_stand_in_a_table() {
        let header = header(vec![device("opencl")]);
        let key = CaseKey { measure: Kind::new("halo"), ..key("waves", 64) };
        let raw = crate::halo::tests::raw(1.25e-3, 2.5e-3);
        let records = [Record { detail: Some(Detail::new(&raw)), ..record(key, 1e-3) }];
        let warnings = vec![];
        let name = "sample.jsonl".into();
        let source = Source { name, header: &header, records: &records, footer: None, warnings };
        let input = ReportInput::new(vec![source]);
        let page = section(&input).expect("a section").body.into_string();
        assert!(page.contains("<td class=\"n best\">1.25 ms</td>"), "{page}");
        assert!(page.contains("2.00 × as fast as in bulk"), "{page}");
        assert_eq!(page.matches("<tr>").count(), 3, "{page}");
    }
}
