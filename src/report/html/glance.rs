//! One table with one line a workload: who needs how long.

use super::workloads::{Workload, workloads};
use super::{Section, name, scroll};
use crate::report::rows::Row;
use crate::report::subject::Material;
use crate::report::words;
use crate::workload::CaseKey;
use maud::{Markup, html};
use std::collections::BTreeMap;

pub(super) fn section(material: &Material) -> Option<Section> {
    let workloads = workloads(material);
    let lines: Vec<_> = workloads.iter().filter_map(Line::of).collect();
    if lines.is_empty() {
        return None;
    }
    let body = html! {
        p {
            "Of each workload the largest size that most devices computed rightly: the time of one operation "
            "(geometric mean of the rounds' medians) with its 95 % interval. The shortest of a line is bold. "
            "Not a ranking: devices that share few lines cannot be compared by looking."
        }
        (scroll("Times at a glance", &table(material, &lines)))
    };
    Some(Section { id: "glance", title: "At a glance", body })
}

/// A workload at one size.
struct Line<'m, 'a> {
    family: &'a str,
    key: &'a CaseKey,
    cells: BTreeMap<usize, &'m Row<'a>>,
}

impl<'m, 'a> Line<'m, 'a> {
    fn of(workload: &Workload<'m, 'a>) -> Option<Self> {
        let mut sizes: BTreeMap<&CaseKey, BTreeMap<usize, &Row>> = BTreeMap::new();
        for row in workload.rows.iter().filter(|row| row.time.is_some() && row.outcome.is_ok()) {
            sizes.entry(row.key).or_default().insert(row.device, row);
        }
        // Of equally many devices the last, since keys are in order of size.
        let (key, cells) = sizes.into_iter().max_by_key(|(_, cells)| cells.len())?;
        Some(Self { family: workload.family, key, cells })
    }

    fn best(&self) -> Option<usize> {
        let time = |row: &Row| row.time.map_or(f64::INFINITY, |time| time.value);
        let (device, _) = self.cells.iter().min_by(|a, b| time(a.1).total_cmp(&time(b.1)))?;
        (self.cells.len() > 1).then_some(*device)
    }
}

fn table(material: &Material, lines: &[Line]) -> Markup {
    let columns = material.subjects.len();
    html! {
        table {
            caption { "Median time of one operation, ± half its 95 % interval; ! see the workload's flags" }
            thead {
                tr {
                    th scope="col" { "workload" }
                    th scope="col" { "size" }
                    @for subject in &material.subjects {
                        th.n scope="col" {
                            (subject.label)
                            @if !subject.device.is_gpu() { " " span.tag { (short_kind(subject.device.kind)) } }
                        }
                    }
                }
            }
            @for family in families(lines) {
                tbody {
                    tr { th colspan=(columns + 2) scope="rowgroup" { (family) } }
                    @for line in lines.iter().filter(|line| line.family == family) { (tr(line, columns)) }
                }
            }
        }
    }
}

/// The marker of a device whose figures are not a GPU's.
pub(super) fn short_kind(kind: crate::gpu::DeviceKind) -> &'static str {
    if kind == crate::gpu::DeviceKind::Cpu { "CPU" } else { "simulated" }
}

fn tr(line: &Line, columns: usize) -> Markup {
    let best = line.best();
    html! {
        tr {
            th.name scope="row" { (name(&words::workload_name(line.key, 80))) }
            td { (words::size(line.key)) }
            @for device in 0..columns {
                @match line.cells.get(&device) {
                    None => td.n { "–" },
                    Some(row) => {
                        @let [time, interval] = words::time(row);
                        td.n.best[best == Some(device)] {
                            (time) " " span.soft { (interval) }
                            @if !row.flags.is_empty() { span.warn { " !" } }
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
