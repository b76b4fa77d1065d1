//! What was run, on what.

use super::plot::Look;
use super::{Section, scroll};
use crate::labels::kind_label;
use gpubench_analysis::{ReportInput, ReportedDevice};
use gpubench_core::gpu::DeviceKind;
use gpubench_core::text::printable;
use gpubench_core::units::with_prefix;
use maud::{Markup, html};

pub(super) fn section(input: &ReportInput) -> Section {
    let body = html! {
        p { (sentence(input)) }
        (scroll("Devices", &table(input)))
    };
    Section::new("devices", "What was run, on what", body)
}

fn sentence(input: &ReportInput) -> String {
    let parts = input.sources.iter().map(|source| {
        let header = source.header;
        let day = header.started.get(..10).unwrap_or_default();
        format!(
            "suite {} on {} ({}), {} round{}{}",
            printable(&header.suite, 60),
            printable(&header.host.name, 60),
            printable(day, 10),
            header.rounds,
            if header.rounds == 1 { "" } else { "s, each in a fresh process" },
            if source.footer.is_none() { ", cut short" } else { "" }
        )
    });
    let text = parts.collect::<Vec<_>>().join("; ");
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect::<String>() + "."
    })
}

fn table(input: &ReportInput) -> Markup {
    html! {
        table {
            caption { "Devices, each as one API shows it. The marks are those of the plots." }
            thead {
                tr {
                    th scope="col" { "device" }
                    th scope="col" { "name" }
                    th scope="col" { "kind" }
                    th scope="col" { "API" }
                    th scope="col" { "driver" }
                    th.n scope="col" { "memory" }
                    th.n scope="col" { "units" }
                    th.n scope="col" { "clock" }
                }
            }
            tbody { @for (i, reported_device) in input.reported_devices.iter().enumerate() { (row(i, reported_device)) } }
        }
    }
}

fn row(i: usize, reported_device: &ReportedDevice) -> Markup {
    let device = reported_device.device;
    html! {
        tr {
            th.w scope="row" { (Look::Marks(i)) " " (reported_device.label) }
            td.name { (printable(&device.name, 120)) }
            td { @if device.is_gpu() { (kind_label(device)) } @else { span.tag { @if device.kind == DeviceKind::Cpu { (kind_label(device)) } @else { "simulated" } } } }
            td { (printable(&device.api, 60)) }
            td.name { (printable(&device.driver, 120)) }
            td.n { @if let Some(memory) = device.memory { (memory.to_string()) } @else { "–" } }
            td.n { @if let Some(units) = device.compute_units { (units) } @else { "–" } }
            td.n { @if let Some(clock) = device.clock_hz { (with_prefix(clock, "Hz")) } @else { "–" } }
        }
    }
}
