//! One table with one line a workload: who needs how long.

use super::{Section, name, scroll};
use crate::labels;
use crate::overview::{Line, lines};
use gpubench_analysis::ReportInput;
use gpubench_core::text::printable;
use maud::{Markup, html};

pub(super) fn section(input: &ReportInput) -> Option<Section> {
    let lines = lines(input);
    if lines.is_empty() {
        return None;
    }
    let body = html! {
        p {
            "Of each workload the largest size that most devices computed rightly: the time of one operation "
            "(geometric mean of the rounds' medians) with its 95 % interval. The shortest of a line is bold. "
            "Not a ranking: devices that share few lines cannot be compared by looking."
        }
        (scroll("Times at a glance", &table(input, &lines)))
    };
    Some(Section::new("glance", "At a glance", body))
}

fn table(input: &ReportInput, lines: &[Line]) -> Markup {
    let columns = input.reported_devices.len();
    html! {
        table {
            caption { "Median time of one operation, ± half its 95 % interval; ! a warning: see the workload's flags" }
            thead {
                tr {
                    th scope="col" { "workload" }
                    th scope="col" { "size" }
                    @for reported_device in &input.reported_devices {
                        th.n scope="col" {
                            (reported_device.label)
                            @if !reported_device.device.is_gpu() { " " span.tag { (short_kind(reported_device.device.kind)) } }
                        }
                    }
                }
            }
            @for family in families(lines) {
                tbody {
                    tr { th colspan=(columns + 2) scope="rowgroup" { (printable(family, 40)) } }
                    @for line in lines.iter().filter(|line| line.family == family) { (tr(line, columns)) }
                }
            }
        }
    }
}

/// The marker of a device whose figures are not a GPU's.
pub(super) fn short_kind(kind: gpubench_core::gpu::DeviceKind) -> &'static str {
    if kind == gpubench_core::gpu::DeviceKind::Cpu { "CPU" } else { "simulated" }
}

fn tr(line: &Line, columns: usize) -> Markup {
    let best = line.best();
    html! {
        tr {
            th.name scope="row" { (name(&labels::workload_name(line.key, 80))) }
            td { (labels::size(line.key)) }
            @for device in 0..columns {
                @match line.cells.get(&device) {
                    None => td.n { "–" },
                    Some(row) => {
                        @let [time, interval] = labels::time(row);
                        td.n.best[best == Some(device)] {
                            (time) " " span.soft { (interval) }
                            @if row.is_doubtful() { span.warn { " !" } }
                        }
                    }
                }
            }
        }
    }
}

fn families<'l>(lines: &'l [Line]) -> Vec<&'l str> {
    let mut families: Vec<&str> = vec![];
    for line in lines {
        if !families.contains(&line.family) {
            families.push(line.family);
        }
    }
    families
}
