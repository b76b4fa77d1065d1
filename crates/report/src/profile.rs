//! A device's profile as tables.

use super::grid::Grid;
use gpubench_core::class::Class;
use gpubench_core::record::profile::{Apart, Footprint, Profile, Stream, Traffic, Value};
use gpubench_core::text::printable;
use gpubench_core::units::{Bytes, bandwidth, seconds, with_prefix};
use std::fmt::Write;

/// A dependent load that takes this many times the fastest of its level is another level's.
const LEVEL: f64 = 1.5;

/// All that is known of the device, for a terminal of `width` columns.
pub fn text(profile: &Profile, width: u16) -> String {
    let device = &profile.device;
    let mut out = format!("{} {}\n", device.label(), printable(&device.name, 60));
    launch(&mut out, profile);
    section(&mut out, "Instructions", &instructions(profile), width);
    section(&mut out, "Global memory, bandwidth of a full device", &streams(profile), width);
    section(&mut out, "Global memory, bandwidth against groups", &occupancy(profile), width);
    section(&mut out, "One load after the other, by working set", &levels(&profile.chase), width);
    if let Some(strides) = &profile.strides {
        section(&mut out, "Reads apart", &apart(&strides.strides, "neighbours apart"), width);
        let transaction = strides.transaction.map(|n| Bytes(n.into()).to_string());
        line(&mut out, "transaction", transaction, "not resolved by these strides");
        section(
            &mut out,
            "Reads beyond an aligned place",
            &apart(&strides.offsets, "beyond"),
            width,
        );
    }
    local(&mut out, profile, width);
    synchronisation(&mut out, profile, width);
    let units = profile.residency.map(|held| {
        format!(
            "{}, each seen to hold {} groups, {} work-items, {} of local memory",
            held.units,
            held.groups,
            held.work_items,
            Bytes(held.local_memory)
        )
    });
    let driver = profile.device.compute_units;
    let driver = driver.map_or("not known".into(), |n| format!("{n}, as the driver says"));
    out.push('\n');
    line(&mut out, "units", units, &driver);
    out
}

fn section(out: &mut String, title: &str, grid: &Grid, width: u16) {
    if !grid.is_empty() {
        let _ = write!(out, "\n{title}\n{}", grid.text(width));
    }
}

fn line(out: &mut String, what: &str, text: Option<String>, otherwise: &str) {
    let _ = writeln!(out, "{what}: {}", text.as_deref().unwrap_or(otherwise));
}

fn launch(out: &mut String, profile: &Profile) {
    let Some(launch) = &profile.launch else { return };
    let time = |value: Option<Value>| value.map(|value| within(value, seconds));
    line(out, "launch latency", time(launch.latency), "unknown");
    let each = launch.each.map(|each| {
        let rate = with_prefix(1.0 / each.value, "launches/s");
        format!("{} ({rate})", within(each, seconds))
    });
    line(out, "each of many launches", each, "unknown");
}

/// A value with its interval as a share of it.
fn within(value: Value, unit: impl Fn(f64) -> String) -> String {
    let share = 100.0 * value.relative_half_width();
    match share {
        share if share < 0.05 => unit(value.value),
        share => format!("{} ± {share:.1} %", unit(value.value)),
    }
}

fn or_dash(value: Option<Value>, unit: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), |value| within(value, unit))
}

fn instructions(profile: &Profile) -> Grid {
    let mut grid = Grid::new(&["instruction", ">latency", ">whole device", ">cycle of a unit"]);
    for class in Class::priced() {
        let Some(instruction) = profile.instruction(class) else { continue };
        let each = instruction.throughput.zip(profile.units().zip(profile.device.clock_hz));
        grid.row([
            class.name().replace('_', " "),
            or_dash(instruction.latency, seconds),
            or_dash(instruction.throughput, |rate| with_prefix(rate, "/s")),
            each.map_or_else(
                || "–".to_owned(),
                |(rate, (units, clock))| format!("{:.3}", rate.value / f64::from(units) / clock),
            ),
        ]);
    }
    grid
}

fn traffic_word(traffic: Traffic) -> &'static str {
    match traffic {
        Traffic::Read => "read",
        Traffic::Write => "write",
        Traffic::Copy => "copy",
    }
}

fn streams(profile: &Profile) -> Grid {
    let mut grid = Grid::new(&["traffic", ">bytes an access", ">bandwidth", ">at groups"]);
    for stream in &profile.streams {
        let Some(last) = stream.points.last() else { continue };
        grid.row([
            traffic_word(stream.traffic).to_owned(),
            stream.width.to_string(),
            within(last.bandwidth, bandwidth),
            last.groups.to_string(),
        ]);
    }
    grid
}

/// Of each kind of traffic its widest accesses.
fn occupancy(profile: &Profile) -> Grid {
    let kinds = [Traffic::Read, Traffic::Write, Traffic::Copy];
    let widest = |traffic: Traffic| {
        let of_kind = profile.streams.iter().filter(move |stream| stream.traffic == traffic);
        of_kind.max_by_key(|stream| stream.width)
    };
    let mut grid = Grid::new(&[">groups", ">read", ">write", ">copy"]);
    let mut groups: Vec<u32> = kinds
        .into_iter()
        .filter_map(widest)
        .flat_map(|stream| stream.points.iter().map(|point| point.groups))
        .collect();
    groups.sort_unstable();
    groups.dedup();
    for groups in groups {
        let at = |stream: &Stream| stream.points.iter().find(|p| p.groups == groups).copied();
        let cell = |traffic| {
            let point = widest(traffic).and_then(at);
            or_dash(point.map(|point| point.bandwidth), bandwidth)
        };
        grid.row([groups.to_string(), cell(kinds[0]), cell(kinds[1]), cell(kinds[2])]);
    }
    grid
}

/// Working sets, with a new number where a level of cache ends.
fn levels(chase: &[Footprint]) -> Grid {
    let mut grid = Grid::new(&[">working set", ">latency", ">level"]);
    let (mut level, mut fastest) = (0, 0.0);
    for point in chase {
        if point.latency.value > LEVEL * fastest {
            (level, fastest) = (level + 1, point.latency.value);
        }
        fastest = fastest.min(point.latency.value);
        let latency = within(point.latency, seconds);
        grid.row([Bytes(point.bytes).to_string(), latency, level.to_string()]);
    }
    grid
}

fn apart(all: &[Apart], how: &str) -> Grid {
    let heading = format!(">{how}");
    let mut grid = Grid::new(&[&heading, ">each read", ">times"]);
    // Neighbours side by side, or at an aligned place: where that is unknown, nothing is relative.
    let nearest = all.first().filter(|point| point.bytes <= 4).map(|point| point.each.value);
    for point in all {
        let times = nearest.map(|nearest| format!("{:.2}", point.each.value / nearest));
        grid.row([
            Bytes(point.bytes.into()).to_string(),
            within(point.each, seconds),
            times.unwrap_or_else(|| "–".to_owned()),
        ]);
    }
    grid
}

fn local(out: &mut String, profile: &Profile, width: u16) {
    let Some(local) = &profile.local else { return };
    section(out, "Local memory", &apart(&local.strides, "neighbours apart"), width);
    line(out, "latency", local.latency.map(|value| within(value, seconds)), "unknown");
    line(out, "bandwidth", local.bandwidth.map(|value| within(value, bandwidth)), "unknown");
    let banks = local.banks.map(|banks| match banks {
        1 => "no stride makes a difference".to_owned(),
        banks => banks.to_string(),
    });
    line(out, "banks", banks, "unknown");
}

fn synchronisation(out: &mut String, profile: &Profile, width: u16) {
    let mut grid = Grid::new(&["operation", ">cost"]);
    for barrier in &profile.barriers {
        let what = format!("exchange across a barrier, group of {}", barrier.group_size);
        grid.row([what, within(barrier.exchange, seconds)]);
        let barrier_alone = profile.barrier(barrier);
        let what = format!("barrier alone, group of {}", barrier.group_size);
        grid.row([what, or_dash(barrier_alone, seconds)]);
    }
    if let Some(atomics) = &profile.atomics {
        let rate = |rate: f64| with_prefix(rate, "/s");
        grid.row(["atomic additions to one place".into(), or_dash(atomics.contended, rate)]);
        grid.row(["atomic additions, each apart".into(), or_dash(atomics.apart, rate)]);
    }
    section(out, "Synchronisation and atomics", &grid, width);
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::profile::{
        Atomics, Bandwidth, Barrier, Instruction, Launch, Local, Strides, VERSION,
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
        let text = text(&profile(), 80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for part in [
            "launch latency: 5.00 µs ± 1.0 %",
            "int add      4.00 ns ± 1.0 %  2.00 T/s ± 1.0 %",
            "  1.20 ns ± 1.0 %      1",
            "90.0 ns ± 1.0 %      2",
            "transaction: not resolved by these strides",
            "1.25 ns ± 1.0 %   1.25",
            "bandwidth: unknown",
            "banks: 32",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        let barrier = text.lines().find(|line| line.starts_with("barrier alone")).unwrap();
        assert!(barrier.contains("26.0 ns"), "50 ns less twice 10 ns and 4 ns: {barrier}");
        assert!(
            text.contains("2.00 ns ± 1.0 %      –"),
            "nothing side by side to compare:\n{text}"
        );
    }
}
