//! A device's profile as a section.

use crate::caches;
use crate::knee::knee;
use gpubench_core::class::Class;
use gpubench_core::record::profile::{Apart, Footprint, Local, Profile, Stream, Traffic, Value};
use gpubench_core::text::printable;
use gpubench_document::{Cell, Column, Quantity, Section, Sentence, Table, Unit};

/// A dependent load that takes this many times the fastest of its level is another level's.
const LEVEL: f64 = 1.5;

/// All that is known of the device.
pub fn section(profile: &Profile) -> Section {
    let device = &profile.device;
    let title = Sentence::new().name(device.label()).text(" ").name(printable(&device.name, 60));
    let section = launch(Section::new(&device.label(), title), profile)
        .table(instructions(profile))
        .table(streams(profile))
        .table(occupancy(profile))
        .table(levels(&profile.chase));
    let section = match caches::table(&profile.chase) {
        Some(caches) => section.table(caches),
        None => section,
    };
    let section = match &profile.strides {
        Some(strides) => section
            .table(apart("strides", "Reads apart", &strides.strides, "neighbours apart"))
            .figure(
                "transaction",
                "transaction",
                or(strides.transaction.map(f64::from), "not resolved by these strides"),
                Unit::Bytes,
            )
            .table(apart("offsets", "Reads beyond an aligned place", &strides.offsets, "beyond")),
        None => section,
    };
    let section = match &profile.local {
        Some(memory) => local(section, memory),
        None => section,
    };
    section.table(synchronisation(profile)).fact("units", "units", units(profile))
}

/// What is not known, in words.
fn or(value: Option<impl Into<Cell>>, otherwise: &'static str) -> Cell {
    value.map_or_else(|| otherwise.into(), Into::into)
}

fn quantity(value: Value) -> Option<Quantity> {
    Quantity::between(value.value, value.interval)
}

fn launch(section: Section, profile: &Profile) -> Section {
    let Some(launch) = &profile.launch else { return section };
    let each = launch.each.map(|each| {
        let time = Sentence::new().quantity(quantity(each), Unit::Seconds).text(" (");
        time.value(1.0 / each.value, Unit::PerSecond).text(")")
    });
    let latency = or(launch.latency.and_then(quantity), "unknown");
    section.figure("latency", "launch latency", latency, Unit::Seconds).fact(
        "each",
        "each of many launches",
        or(each, "unknown"),
    )
}

fn units(profile: &Profile) -> Sentence {
    let count = |n: u32| Sentence::new().value(f64::from(n), Unit::Count);
    let driver = profile.device.compute_units;
    match profile.residency {
        Some(held) => count(held.units)
            .text(", each seen to hold ")
            .then(count(held.groups))
            .text(" groups, ")
            .then(count(held.work_items))
            .text(" work-items, ")
            .value(held.local_memory as f64, Unit::Bytes)
            .text(" of local memory"),
        None => driver.map_or("not known".into(), |n| count(n).text(", as the driver says")),
    }
}

fn instructions(profile: &Profile) -> Table {
    let columns = [
        Column::text("instruction", "instruction"),
        Column::new("latency", "latency", Unit::Seconds),
        Column::new("throughput", "whole device", Unit::PerSecond),
        Column::new("per_cycle", "cycle of a unit", Unit::None),
    ];
    let mut table = Table::new("instructions", "Instructions", columns);
    for class in Class::priced() {
        let Some(instruction) = profile.instruction(class) else { continue };
        let each = instruction.throughput.zip(profile.units().zip(profile.device.clock_hz));
        table.row([
            class.name().replace('_', " ").into(),
            instruction.latency.and_then(quantity).into(),
            instruction.throughput.and_then(quantity).into(),
            each.map(|(rate, (units, clock))| rate.value / f64::from(units) / clock).into(),
        ]);
    }
    table
}

fn traffic_word(traffic: Traffic) -> &'static str {
    match traffic {
        Traffic::Read => "read",
        Traffic::Write => "write",
        Traffic::Copy => "copy",
    }
}

fn streams(profile: &Profile) -> Table {
    let columns = [
        Column::text("traffic", "traffic"),
        Column::new("width", "bytes an access", Unit::Count),
        Column::new("bandwidth", "bandwidth", Unit::BytesPerSecond),
        Column::new("groups", "at groups", Unit::Count),
        Column::new("knee", "knee, work-items", Unit::Count),
    ];
    let title = "Global memory, bandwidth of a full device";
    let mut table = Table::new("streams", title, columns);
    for stream in &profile.streams {
        let Some(last) = stream.points.last() else { continue };
        table.row([
            traffic_word(stream.traffic).into(),
            u64::from(stream.width).into(),
            quantity(last.bandwidth).into(),
            u64::from(last.groups).into(),
            knee(stream).into(),
        ]);
    }
    table
}

/// Of each kind of traffic its widest accesses.
fn occupancy(profile: &Profile) -> Table {
    let kinds = [Traffic::Read, Traffic::Write, Traffic::Copy];
    let widest = |traffic: Traffic| {
        let of_kind = profile.streams.iter().filter(move |stream| stream.traffic == traffic);
        of_kind.max_by_key(|stream| stream.width)
    };
    let column = |kind| {
        let label = traffic_word(kind);
        Column::new(label, label, Unit::BytesPerSecond)
    };
    let columns = [Column::new("groups", "groups", Unit::Count)];
    let title = "Global memory, bandwidth against groups";
    let columns = columns.into_iter().chain(kinds.map(column));
    let mut table = Table::new("occupancy", title, columns);
    let mut groups: Vec<u32> = kinds
        .into_iter()
        .filter_map(widest)
        .flat_map(|stream| stream.points.iter().map(|point| point.groups))
        .collect();
    groups.sort_unstable();
    groups.dedup();
    for groups in groups {
        let at = |stream: &Stream| stream.points.iter().find(|p| p.groups == groups).copied();
        let bandwidth =
            |traffic| Cell::from(widest(traffic).and_then(at).and_then(|p| quantity(p.bandwidth)));
        table.row([u64::from(groups).into()].into_iter().chain(kinds.map(bandwidth)));
    }
    table
}

/// Working sets, with a new number where a level of cache ends.
fn levels(chase: &[Footprint]) -> Table {
    let columns = [
        Column::new("bytes", "working set", Unit::Bytes),
        Column::new("latency", "latency", Unit::Seconds),
        Column::new("level", "level", Unit::Count),
    ];
    let mut table = Table::new("chase", "One load after the other, by working set", columns);
    let (mut level, mut fastest) = (0u64, 0.0);
    for point in chase {
        if point.latency.value > LEVEL * fastest {
            (level, fastest) = (level + 1, point.latency.value);
        }
        fastest = fastest.min(point.latency.value);
        table.row([(point.bytes as f64).into(), quantity(point.latency).into(), level.into()]);
    }
    table
}

fn apart(key: &str, title: &'static str, all: &[Apart], how: &'static str) -> Table {
    let columns = [
        Column::new("bytes", how, Unit::Bytes),
        Column::new("each", "each read", Unit::Seconds),
        Column::new("times", "times", Unit::Ratio),
    ];
    let mut table = Table::new(key, title, columns);
    // Neighbours side by side, or at an aligned place: where that is unknown, nothing is relative.
    let nearest = all.first().filter(|point| point.bytes <= 4).map(|point| point.each.value);
    for point in all {
        let times = nearest.map(|nearest| point.each.value / nearest);
        table.row([f64::from(point.bytes).into(), quantity(point.each).into(), times.into()]);
    }
    table
}

fn local(section: Section, local: &Local) -> Section {
    let value = |value: Option<Value>| or(value.and_then(quantity), "unknown");
    let banks = match local.banks {
        Some(1) => "no stride makes a difference".into(),
        banks => or(banks.map(u64::from), "unknown"),
    };
    section
        .table(apart("local", "Local memory", &local.strides, "neighbours apart"))
        .figure("local_latency", "latency", value(local.latency), Unit::Seconds)
        .figure("local_bandwidth", "bandwidth", value(local.bandwidth), Unit::BytesPerSecond)
        .fact("banks", "banks", banks)
}

fn synchronisation(profile: &Profile) -> Table {
    let columns = [Column::text("operation", "operation"), Column::new("cost", "cost", Unit::None)];
    let mut table = Table::new("synchronisation", "Synchronisation and atomics", columns);
    let cost = |value: Option<Value>, unit: Unit| {
        Cell::from(Sentence::new().quantity(value.and_then(quantity), unit))
    };
    for barrier in &profile.barriers {
        let what = |what| Sentence::from(what).value(f64::from(barrier.group_size), Unit::Count);
        let exchange = cost(Some(barrier.exchange), Unit::Seconds);
        table.row([what("exchange across a barrier, group of ").into(), exchange]);
        let alone = cost(profile.barrier(barrier), Unit::Seconds);
        table.row([what("barrier alone, group of ").into(), alone]);
    }
    if let Some(atomics) = &profile.atomics {
        let contended = cost(atomics.contended, Unit::PerSecond);
        table.row(["atomic additions to one place".into(), contended]);
        let apart = cost(atomics.apart, Unit::PerSecond);
        table.row(["atomic additions, each apart".into(), apart]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::profile::{
        Atomics, Bandwidth, Barrier, Instruction, Launch, Strides, VERSION,
    };
    use gpubench_core::record::sample::device;

    fn value(value: f64) -> Value {
        Value { value, interval: [0.99 * value, 1.01 * value] }
    }

    fn profile() -> Profile {
        let each = |bytes: u32, seconds: f64| Apart { bytes, each: value(seconds) };
        let add = Instruction {
            class: Class::IntAdd,
            latency: Some(value(4e-9)),
            throughput: Some(value(2e12)),
        };
        let point = |groups| Bandwidth { groups, bandwidth: value(1e9 * f64::from(groups)) };
        let stream = Stream {
            traffic: Traffic::Read,
            width: 16,
            group_size: 256,
            points: vec![point(1), point(2)],
        };
        Profile {
            version: VERSION,
            device: device("opencl"),
            gpubench: "test".into(),
            started: "2026-01-01T00:00:00Z".into(),
            launch: Some(Launch { latency: Some(value(5e-6)), each: None }),
            instructions: vec![add],
            streams: vec![stream],
            chase: [(4096, 1e-9), (65536, 1.2e-9), (1 << 24, 9e-8)]
                .map(|(bytes, seconds)| Footprint { bytes, latency: value(seconds) })
                .to_vec(),
            strides: Some(Strides {
                strides: vec![each(8, 1e-9), each(16, 2e-9)],
                offsets: vec![each(0, 1e-9), each(4, 1.25e-9)],
                transaction: None,
            }),
            local: Some(Local {
                latency: Some(value(10e-9)),
                bandwidth: None,
                strides: vec![each(4, 1e-9), each(8, 2e-9)],
                banks: Some(32),
            }),
            barriers: vec![Barrier { group_size: 64, exchange: value(50e-9) }],
            atomics: Some(Atomics { contended: Some(value(1e9)), apart: None }),
            residency: None,
        }
    }

    #[test]
    fn a_profile_reads_well_within_80_columns() {
        let text = crate::render::text::section(&section(&profile()), Some(80));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for part in [
            "launch latency: 5.00 µs ±1.0 %",
            "int add      4.00 ns ±1.0 %  2.00 T/s ±1.0 %",
            "  1.20 ns ±1.0 %      1",
            "90.0 ns ±1.0 %      2",
            "transaction: not resolved by these strides",
            "1.25 ns ±1.0 %  1.25 ×",
            "bandwidth: unknown",
            "banks: 32",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        let barrier =
            text.lines().find(|line| line.trim_start().starts_with("barrier alone")).unwrap();
        assert!(barrier.contains("26.0 ns"), "50 ns less twice 10 ns and 4 ns: {barrier}");
        let alone = text.lines().any(|line| line.ends_with("2.00 ns ±1.0 %"));
        assert!(alone, "nothing side by side to compare:\n{text}");
    }
}
