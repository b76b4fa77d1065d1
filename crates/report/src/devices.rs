//! What was run, on what.

use crate::labels::{kind_label, rounds};
use gpubench_analysis::{ReportInput, Source};
use gpubench_core::gpu::{Clock, DeviceKind};
use gpubench_core::record::{Measured, measured_rounds};
use gpubench_core::workload::Kind;
use gpubench_document::{Column, Section, Sentence, Table, Unit};

/// The runs in a sentence each, and a table of the devices.
pub fn section(input: &ReportInput) -> Section {
    let section = Section::new("devices", "What was run, on what");
    let runs = alike(input.sources.iter());
    let section = runs.into_iter().fold(section, Section::text).table(table(input));
    let devices = &input.reported_devices;
    let section =
        (0..devices.len()).filter_map(|device| clock(input, device)).fold(section, Section::note);
    let note = |are: fn(DeviceKind) -> bool, [one, several]: [&'static str; 2]| {
        let count = devices.iter().filter(|reported| are(reported.device.kind)).count();
        let of = Sentence::new().value(count as f64, Unit::Count).text(" of ");
        let of = of.counted(devices.len() as u64, "device").text(" ");
        let said = of.text(if count == 1 { one } else { several });
        let counts = if count == 1 { " A ranking counts it" } else { " A ranking counts them" };
        (count > 0).then(|| said.text(counts).text(" only where it was asked to."))
    };
    let no_gpus = note(
        |kind| matches!(kind, DeviceKind::Cpu | DeviceKind::Simulated),
        [
            "is a CPU implementation or a simulation: its figures are not those of a GPU.",
            "are CPU implementations or simulations: their figures are not those of a GPU.",
        ],
    );
    let imported = note(
        |kind| kind == DeviceKind::Imported,
        [
            "was measured by another program: how, gpubench does not know.",
            "were measured by other programs: how, gpubench does not know.",
        ],
    );
    no_gpus.into_iter().chain(imported).fold(section, Section::note)
}

/// From this resolution on a clock is too coarse for a short kernel: its samples are of many launches.
const COARSE: f64 = 1e-6;

/// Which clock timed the kernels of a device, where it is not a fine one of the device's own.
fn clock(input: &ReportInput, device: usize) -> Option<Sentence> {
    if input.reported_devices[device].device.kind == DeviceKind::Imported {
        return None;
    }
    let kernels = input.of(device).filter(|row| row.key.measure == Kind::KERNEL);
    let records = kernels.flat_map(|row| &row.records);
    let measured: Vec<&Measured> = records.filter_map(|record| record.measured.as_ref()).collect();
    let own = measured.iter().filter(|measured| measured.clock != Clock::Host);
    let step = own.map(|measured| measured.resolution).reduce(f64::max);
    let of = Sentence::new().name(&input.reported_devices[device].name);
    match step {
        _ if measured.is_empty() => None,
        None => Some(of.text(": kernels are timed by the host's clock.")),
        Some(step) if step < COARSE => None,
        Some(step) => {
            Some(of.text(": its clock goes in steps of ").value(step, Unit::Seconds).text("."))
        }
    }
}

/// A sentence each, how often where several are alike, and how long they took, as far as that is known.
fn alike<'s>(sources: impl Iterator<Item = &'s Source<'s>>) -> Vec<Sentence> {
    let mut different: Vec<(Sentence, u64, f64)> = vec![];
    for source in sources {
        let (run, wall) = (run(source), source.footer.map_or(0.0, |footer| footer.wall));
        match different.iter_mut().find(|(known, ..)| *known == run) {
            Some((_, count, seconds)) => (*count, *seconds) = (*count + 1, *seconds + wall),
            None => different.push((run, 1, wall)),
        }
    }
    let said = |(run, count, seconds): (Sentence, u64, f64)| {
        let run = if count > 1 { run.text(": ").counted(count, "run") } else { run };
        let took = (seconds > 0.0).then(|| Sentence::from(", in ").value(seconds, Unit::Seconds));
        run.then(took.unwrap_or_default()).text(".")
    };
    different.into_iter().map(said).collect()
}

fn run(source: &Source) -> Sentence {
    let header = source.header;
    let day = header.started.get(..10).unwrap_or_default();
    let is_own = header.imported.is_empty();
    let sentence = match is_own {
        true => Sentence::from("Suite ").name(&header.suite).text(" on ").name(&header.host.name),
        false => Sentence::from("Measured by other programs, imported"),
    };
    let measured = measured_rounds(source.records);
    let sentence = sentence.text(" (").name(day).text("), ").then(match measured {
        // Only checked, or nothing ran.
        [_, 0] => Sentence::new().counted(header.rounds.into(), "round"),
        measured => rounds(measured),
    });
    let are_several = measured[1] > 1 || (measured[1] == 0 && header.rounds > 1);
    let sentence = match are_several && is_own {
        true => sentence.text(", each in a fresh process"),
        false => sentence,
    };
    sentence.text(if source.footer.is_none() { ", cut short" } else { "" })
}

fn table(input: &ReportInput) -> Table {
    Table::of("devices", "Devices, each as one API shows it", &input.reported_devices)
        .column(Column::names("short_name", "device"), |of| of.name.clone())
        .column(Column::names("device", "--device"), |of| of.device.label())
        .column(Column::text("name", "reported as"), |of| of.device.name.clone())
        .column(Column::names("kind", "kind"), |of| kind_label(of.device))
        .column(Column::text("api", "API"), |of| of.device.api.clone())
        .column(Column::text("driver", "driver"), |of| of.device.driver.clone())
        .column(Column::new("memory", "memory", Unit::Bytes), |of| {
            of.device.memory.map(|memory| memory.0 as f64)
        })
        .column(Column::new("units", "units", Unit::Count), |of| {
            of.device.compute_units.map(u64::from)
        })
        .column(Column::new("clock", "clock", Unit::Hertz), |of| of.device.clock_hz)
        .table()
}
