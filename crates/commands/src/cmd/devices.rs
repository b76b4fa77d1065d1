//! `gpubench devices`: list the devices of this machine, or of others, one row per device and API.

use super::found;
use super::remotes::RemoteArgs;
use super::show::{print, width, wrapped};
use gpubench_core::error::Result;
use gpubench_core::gpu::{DeviceInfo, DeviceKind, names_matrix_product};
use gpubench_core::text::printable;
use gpubench_core::units::{seconds, with_prefix};
use gpubench_device::device_choice::{Numbered, Selector, without_layers};
use gpubench_device::sim::Source;
use gpubench_document::{Column, Table, Unit};
use gpubench_report::render::{self, json::json};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Arguments of `gpubench devices`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    selector: Selector,
    #[command(flatten)]
    remotes: RemoteArgs,
    /// Print JSON: an array of devices
    #[arg(long)]
    json: bool,
}

/// A device as JSON shows it.
#[derive(Serialize)]
struct Entry<'a> {
    physical_gpu: usize,
    selector: String,
    /// Whether nothing that it measures is measured.
    simulated: bool,
    /// Whether it is a view through a layer above another API, which is measured on request only.
    layer: bool,
    #[serde(flatten)]
    device: &'a DeviceInfo,
    /// Of a simulated device, where its values come from, by their keys.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    sources: BTreeMap<&'a str, &'a str>,
}

/// Runs the command.
pub fn run(args: Args) -> Result<()> {
    let devices = found::find(&args.selector, &args.remotes.connect()?)?;
    let sources = args.selector.simulation().sources()?;
    let of = |device: &DeviceInfo| match device.kind {
        DeviceKind::Simulated => sources.get(device.index).map_or(&[][..], Vec::as_slice),
        _ => &[],
    };
    let measured = without_layers(&devices, &args.selector);
    if args.json {
        let entries = devices.iter().map(|Numbered { physical_gpu, device }| Entry {
            physical_gpu: *physical_gpu,
            selector: device.label(),
            simulated: device.kind == DeviceKind::Simulated,
            layer: !measured.iter().any(|one| one.device == *device),
            device,
            sources: of(device).iter().map(|s| (s.key.as_str(), s.text.as_str())).collect(),
        });
        return print(&json(&entries.collect::<Vec<_>>()));
    }
    print(&text(&devices, of, width()))?;
    for Numbered { device, .. } in devices.iter().filter(|one| !measured.contains(one)) {
        print(&format!(
            "{} is a layer above an API that is measured: runs measure it where it\n\
             is named (--backend {}), or where the suite says `layers: true`.\n",
            device.label(),
            device.backend
        ))?;
    }
    Ok(())
}

/// The table, `width` columns wide, then everything about each device, in at most 80.
fn text<'a>(
    devices: &[Numbered],
    sources: impl Fn(&DeviceInfo) -> &'a [Source],
    width: Option<usize>,
) -> String {
    let mut out = table(devices, width);
    for Numbered { device, .. } in devices {
        let _ = write!(out, "\n{}  {}\n", device.label(), printable(&device.name, 66));
        for (name, value) in details(device) {
            let _ = writeln!(out, "  {name:<13} {}", printable(&value, 63));
        }
        out.push_str(&sources_text(sources(device)));
    }
    out + "\nViews of one physical GPU share its number. --device takes that number,\n\
           opencl:0, a part of a name, a vendor, pci:ADDRESS or uuid:UUID.\n"
}

fn table(devices: &[Numbered], width: Option<usize>) -> String {
    let table = Table::of("devices", "Devices", devices)
        .column(Column::new("gpu", "gpu", Unit::Count), |of| of.physical_gpu as u64)
        .column(Column::names("device", "device"), |of| of.device.label())
        .column(Column::text("name", "name"), |of| of.device.name.clone())
        .column(Column::text("type", "type"), |of| kinds(of.device.kind)[0])
        .column(Column::new("memory", "memory", Unit::Bytes), |of| {
            of.device.memory.map(|memory| memory.0 as f64)
        })
        .column(Column::new("units", "units", Unit::Count), |of| {
            of.device.compute_units.map(u64::from)
        })
        .table();
    render::text::table(&table, width)
}

/// A kind's short name, and what it means.
fn kinds(kind: DeviceKind) -> [&'static str; 2] {
    match kind {
        DeviceKind::Discrete => ["discrete", "GPU with memory of its own"],
        DeviceKind::Integrated => ["integrated", "GPU that shares the host's memory"],
        DeviceKind::Virtual => ["virtual", "virtual GPU"],
        DeviceKind::Cpu => ["CPU", "CPU implementation: what it measures is the processor"],
        DeviceKind::Simulated => ["simulated", "simulated: nothing is measured"],
        DeviceKind::Imported => ["imported", "imported: another program measured it"],
        DeviceKind::Other => ["other", "accelerator"],
    }
}

/// What the table has no room for. What an API does not report is left out.
fn details(device: &DeviceInfo) -> Vec<(&'static str, String)> {
    let list = |numbers: [u32; 3]| numbers.map(|n| n.to_string()).join(" × ");
    let dims = list(device.max_group_dims);
    let mut rows = vec![
        ("vendor", device.vendor.clone()),
        ("type", kinds(device.kind)[1].to_owned()),
        ("driver", device.driver.clone()),
        ("API", device.api.clone()),
        ("memory", memory(device)),
        ("compute units", compute_units(device)),
        ("work-group", format!("{} work-items at most, {dims}", device.max_group_size)),
        ("work-groups", list(device.max_groups)),
        ("local memory", device.local_memory.to_string()),
        ("buffers", format!("{} in one kernel", device.max_storage_buffers)),
        ("queues", format!("{} (in order)", device.queues)),
        ("timestamps", device.timestamp_resolution.map_or("none".into(), seconds)),
        ("host memory", host_memory(device)),
    ];
    let subgroup = device
        .subgroup
        .map(|[low, high]| if low == high { low.to_string() } else { format!("{low} to {high}") });
    let types = device.memory_types.iter().enumerate();
    rows.extend(types.map(|(i, kind)| (if i == 0 { "memory types" } else { "" }, kind.clone())));
    let (products, others): (Vec<String>, Vec<String>) =
        device.features.iter().cloned().partition(|feature| names_matrix_product(feature));
    let optional = [
        ("subgroup", subgroup),
        ("features", Some(others.join(", "))),
        ("PCI address", device.pci.clone()),
        ("UUID", device.uuid.clone()),
    ];
    let known = optional.into_iter().filter_map(|(name, value)| Some((name, value?)));
    rows.extend(known);
    let products = products.into_iter().enumerate();
    rows.extend(products.map(|(i, product)| (if i == 0 { "matrix units" } else { "" }, product)));
    rows.retain(|(_, value)| !value.is_empty());
    rows
}

/// A simulated device's sources, each with the values that come from it.
fn sources_text(sources: &[Source]) -> String {
    let mut by_text: Vec<(&str, Vec<&str>)> = vec![];
    for Source { key, text } in sources {
        match by_text.iter_mut().find(|(other, _)| other == text) {
            Some((_, keys)) => keys.push(key),
            None => by_text.push((text, vec![key])),
        }
    }
    let mut out = String::new();
    for (text, keys) in by_text {
        let heading = if out.is_empty() { "sources" } else { "" };
        let said = format!("{}: {}", printable(&keys.join(", "), 400), printable(text, 200));
        out += &wrapped(&said, [&format!("  {heading:<13} "), &" ".repeat(18)], true);
    }
    out
}

fn memory(device: &DeviceInfo) -> String {
    let mut text = device.memory.map_or(String::new(), |memory| format!("{memory}, "));
    let _ = write!(text, "largest buffer {}", device.max_buffer);
    if device.max_binding < device.max_buffer {
        let _ = write!(text, ", binding {}", device.max_binding);
    }
    if let Some(cache) = device.cache {
        let _ = write!(text, ", cache {cache}");
    }
    text
}

fn compute_units(device: &DeviceInfo) -> String {
    let clock = device.clock_hz.map(|clock| with_prefix(clock, "Hz"));
    match (device.compute_units, clock) {
        (Some(units), Some(clock)) => format!("{units} at up to {clock}"),
        (Some(units), None) => units.to_string(),
        (None, Some(clock)) => format!("unknown, up to {clock}"),
        (None, None) => String::new(),
    }
}

fn host_memory(device: &DeviceInfo) -> String {
    let kinds = device.host_memory.iter().map(|kind| kind.label());
    kinds.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_device::Backend;
    use gpubench_device::sim::Sim;

    #[test]
    fn the_listing_fits_80_columns_and_prints_nothing_but_text() {
        let mut devices = Sim::new(vec![], 0).devices().unwrap();
        devices[0].name =
            "\u{1b}[31mEvil\u{1b}[0m \r\u{7}Vendor's very long device name ".repeat(9);
        devices[0].driver = "driver ".repeat(40);
        devices[0].uuid = Some("ab".repeat(16));
        devices[0].kind = DeviceKind::Cpu;
        devices[1].memory = None;
        devices[1].compute_units = None;
        let products = ["matrix_16x16x16_f16_f32", "f16", "matrix_8x8x8_f16_f16"];
        devices[1].features = products.map(Into::into).to_vec();
        let numbered = devices.into_iter().enumerate();
        let numbered: Vec<_> =
            numbered.map(|(physical_gpu, device)| Numbered { physical_gpu, device }).collect();
        let source = |key: &str, text: &str| Source { key: key.into(), text: text.into() };
        let sources = [
            source("units", "a table"),
            source("clock", &"\u{1b}long ".repeat(99)),
            source(&"k".repeat(99), "a table"),
        ];
        let text = text(&numbered, |_| &sources, Some(80));
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
        }
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'));
        // A line each, of which the first says what they are, and no features.
        let lines: Vec<_> = text.lines().filter(|line| line.contains("matrix_")).collect();
        assert!(lines.len() == 2 && lines[0].contains("matrix units"), "{lines:?}");
        assert!(lines.iter().all(|line| line.matches("matrix_").count() == 1), "{lines:?}");
        assert!(text.contains("CPU implementation") && text.contains("Evil Vendor's"));
        assert!(text.contains("abababababababababababababababab"));
    }
}
