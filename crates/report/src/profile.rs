//! A device's profile as a section.

use crate::caches;
use crate::knee::knee;
use gpubench_core::class::Class;
use gpubench_core::record::profile::{Apart, Footprint, Local, Profile, Traffic, Value};
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
    let section = caches::table(&profile.chase).into_iter().fold(section, Section::table);
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
    let section = profile.local.iter().fold(section, local);
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
    let known = Class::priced().filter_map(|class| profile.instruction(class));
    let per_cycle = |rate: Value| {
        let (units, clock) = profile.units().zip(profile.device.clock_hz)?;
        Some(rate.value / f64::from(units) / clock)
    };
    Table::of("instructions", "Instructions", known)
        .column(Column::text("instruction", "instruction"), |of| of.class.name().replace('_', " "))
        .column(Column::new("latency", "latency", Unit::Seconds), |of| {
            of.latency.and_then(quantity)
        })
        .column(Column::new("throughput", "whole device", Unit::PerSecond), |of| {
            of.throughput.and_then(quantity)
        })
        .column(Column::new("per_cycle", "cycle of a unit", Unit::None), |of| {
            of.throughput.and_then(per_cycle)
        })
        .table()
}

fn traffic_word(traffic: Traffic) -> &'static str {
    match traffic {
        Traffic::Read => "read",
        Traffic::Write => "write",
        Traffic::Copy => "copy",
    }
}

fn streams(profile: &Profile) -> Table {
    let all = profile.streams.iter().filter_map(|stream| Some((stream, stream.points.last()?)));
    Table::of("streams", "Global memory, bandwidth of a full device", all)
        .column(Column::text("traffic", "traffic"), |(stream, _)| traffic_word(stream.traffic))
        .column(Column::new("width", "bytes an access", Unit::Count), |(stream, _)| {
            u64::from(stream.width)
        })
        .column(Column::new("bandwidth", "bandwidth", Unit::BytesPerSecond), |(_, last)| {
            quantity(last.bandwidth)
        })
        .column(Column::new("groups", "at groups", Unit::Count), |(_, last)| u64::from(last.groups))
        .column(Column::new("knee", "knee, work-items", Unit::Count), |(stream, _)| knee(stream))
        .table()
}

/// Of each kind of traffic its widest accesses.
fn occupancy(profile: &Profile) -> Table {
    let kinds = [Traffic::Read, Traffic::Write, Traffic::Copy];
    let widest = |traffic: Traffic| {
        let of_kind = profile.streams.iter().filter(move |stream| stream.traffic == traffic);
        of_kind.max_by_key(|stream| stream.width)
    };
    let mut groups: Vec<u32> = kinds
        .into_iter()
        .filter_map(widest)
        .flat_map(|stream| stream.points.iter().map(|point| point.groups))
        .collect();
    groups.sort_unstable();
    groups.dedup();
    let heading = |kind: &Traffic| {
        let label = traffic_word(*kind);
        Column::new(label, label, Unit::BytesPerSecond)
    };
    Table::of("occupancy", "Global memory, bandwidth against groups", groups)
        .column(Column::new("groups", "groups", Unit::Count), |groups| u64::from(*groups))
        .columns(kinds, heading, |groups, kind| {
            let at = widest(*kind)?.points.iter().find(|point| point.groups == *groups)?;
            quantity(at.bandwidth)
        })
        .table()
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
    // Neighbours side by side, or at an aligned place: where that is unknown, nothing is relative.
    let nearest = all.first().filter(|point| point.bytes <= 4).map(|point| point.each.value);
    Table::of(key, title, all)
        .column(Column::new("bytes", how, Unit::Bytes), |point| f64::from(point.bytes))
        .column(Column::new("each", "each read", Unit::Seconds), |point| quantity(point.each))
        .column(Column::new("times", "times", Unit::Ratio), |point| {
            nearest.map(|nearest| point.each.value / nearest)
        })
        .table()
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
        Atomics, Bandwidth, Barrier, Instruction, Launch, Stream, Strides, VERSION,
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
