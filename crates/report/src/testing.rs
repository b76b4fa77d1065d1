//! Invented runs for the tests of all formats.

use super::comparison::{Compared, Side};
use super::{ReportInput, Source};
use gpubench_analysis::fit::Model;
use gpubench_analysis::rank::{DeviceTimes, Options, Ranking, predict_ranking, rank};
use gpubench_analysis::{collect, compare, result_matrix};
use gpubench_core::gpu::{Clock, DeviceInfo, DeviceKind, MemoryKind};
use gpubench_core::record::sample::{self, device, header, key, outcome, record};
use gpubench_core::record::{
    Concurrency, Detail, Direction, Flag, Footer, Header, Launched, LayoutTransform, Mismatch,
    NamedStep, OccupancySweep, Outcome, Overlap, OverlapRun, Pair, Record, Schedule, Timed,
    Transfer, TransferPoint, Uses,
};
use gpubench_core::workload::{CaseKey, Kind};
use gpubench_experiments::analysis::LADDER;

/// A name that tries everything, 5 kB long.
pub(super) fn hostile() -> String {
    "</script><img src=x onerror=alert(1)>\u{1b}[31m\u{202e}\u{7}|\"'&`_*".to_owned()
        + &"x".repeat(5000)
}

/// A run on three devices.
pub(super) struct Sample {
    header: Header,
    records: Vec<Record>,
    footer: Footer,
}

impl Sample {
    /// With plain names.
    pub(super) fn new() -> Self {
        Self::named("Invented GPU")
    }

    /// With this name for everything that has one.
    pub(super) fn named(name: &str) -> Self {
        let other = DeviceInfo { name: "llvmpipe".into(), kind: DeviceKind::Cpu, ..device("wgpu") };
        let first = DeviceInfo { name: name.into(), ..device("opencl") };
        let slower = DeviceInfo { index: 1, name: "Another GPU".into(), ..device("opencl") };
        let mut header = header(vec![first, other, slower]);
        header.rounds = 2;
        let mut records = vec![];
        for (device, speed) in [1.0, 0.05, 0.5].into_iter().enumerate() {
            records.extend(of_device(device, speed));
        }
        if name != "Invented GPU" {
            header.suite = name.into();
            header.host.name = name.into();
            for record in &mut records {
                rename(record, name);
                record.family = name.into();
                record.tags = vec![name.into()];
                record.key.workload = format!("{name}{}", record.key.workload);
            }
            records.push(outcome(key(name, 1), Outcome::Failed(name.into())));
            records.push(outcome(key(name, 2), Outcome::Unsupported(name.into())));
        }
        let count = records.len() as u64;
        let footer = Footer { ended: "2025-01-31T12:40:05Z".into(), wall: 600.0, records: count };
        Self { header, records, footer }
    }

    /// As a report sees it.
    pub(super) fn input(&self) -> ReportInput<'_> {
        ReportInput::new(vec![Source {
            name: "sample.jsonl".into(),
            header: &self.header,
            records: &self.records,
            footer: Some(&self.footer),
            warnings: vec!["sample.jsonl:7: no record; skipped".into()],
        }])
    }

    /// Its first device against an older run of it.
    pub(super) fn compared(&self) -> Vec<Compared> {
        let new = collect(&self.header, &self.records);
        let mut before = self.records.clone();
        for measured in before.iter_mut().filter_map(|record| record.measured.as_mut()) {
            let factor = if measured.flops > 1e7 { 1.25 } else { 1.0 };
            measured.samples.iter_mut().for_each(|sample| *sample *= factor);
        }
        let old = collect(&self.header, &before);
        let side = |file: &str| Side {
            file: file.into(),
            started: self.header.started.clone(),
            device: self.header.devices[0].clone(),
            rounds: self.header.rounds,
        };
        vec![Compared {
            old: side("older.jsonl"),
            new: side("sample.jsonl"),
            comparison: compare(&old[0], &new[0], &Default::default()),
        }]
    }

    /// Its ranking, with the ranking that a model predicts: all devices alike, and not the first case.
    pub(super) fn ranking(&self) -> Ranking {
        let matrix = result_matrix([(&self.header, &self.records[..])]);
        let mut ranking = rank(&matrix, &Options::default()).expect("ranks");
        let overall = &ranking.families[0];
        let times = |device: usize| {
            let seconds = (0..overall.common.len()).map(|case| match case {
                0 => Err(self.header.devices[0].name.clone()),
                n => Ok(1e-3 * n as f64),
            });
            DeviceTimes { device, seconds: seconds.collect() }
        };
        let predicted: Vec<DeviceTimes> =
            overall.rows.iter().map(|row| times(row.device)).collect();
        let unknown = vec![(1, self.header.devices[0].name.clone())];
        ranking.prediction =
            predict_ranking(&matrix, overall, Model::Components, &predicted, unknown);
        assert!(ranking.prediction.is_some());
        ranking
    }
}

/// Names within details.
fn rename(record: &mut Record, name: &str) {
    if let Some(detail) = record.detail.clone() {
        rename_detail(record, &detail, name);
    }
    record.flags.push(Flag::Throttled(name.into()));
    record.flags.push(Flag::Drift(name.into()));
}

fn of_device(device: usize, speed: f64) -> Vec<Record> {
    let mut records = vec![];
    for round in 0..2 {
        let mut add = |key: CaseKey, family: &str, seconds: f64, flops: f64, bytes: f64| {
            let mut record = record(key, seconds / speed);
            record.device = device;
            record.round = round;
            record.family = family.into();
            record.tags = vec![record.key.workload.clone(), "sample".into()];
            if let Some(measured) = &mut record.measured {
                measured.flops = flops;
                measured.bytes = bytes;
                let wobble = |i: usize| 1.0 + 0.004 * ((i * 7 + round as usize) % 5) as f64;
                measured.samples = (0..9).map(|i| seconds / speed * wobble(i)).collect();
            }
            records.push(record);
        };
        for n in [128i64, 256, 512] {
            let work = 2.0 * (n as f64).powi(3);
            add(key("matmul", n), "compute", work / 268e9, work, 12.0 * (n * n) as f64);
        }
        add(key("fma", 65536), "compute", 1e-3, 1e9, 4.0 * 65536.0);
        add(key("triad", 1 << 20), "memory", 1e-4, 2.0 * 1048576.0, 12.0 * 1048576.0);
        for bytes in [1i64 << 16, 1 << 20, 1 << 24] {
            let copy = CaseKey {
                workload: "copies".into(),
                size: vec![("bytes".into(), bytes)],
                measure: Kind::new("upload"),
                host_memory: Some(MemoryKind::Pinned),
            };
            add(copy, "transfer", 1e-5 + bytes as f64 / 12e9, 0.0, bytes as f64);
        }
    }
    for record in &mut records {
        if matches!(record.key.workload.as_str(), "fma" | "triad") {
            record.tags = vec!["micro".into(), "ceiling".into()];
        }
    }
    records[1].flags = vec![Flag::NotConverged, Flag::WarmUpNotSteady];
    for record in records.iter_mut().filter(|record| record.family == "compute" && device != 1) {
        record.monitor.reference_kernel = Some([1e-4, 1.01e-4]);
        record.monitor.joules = Some(0.2 / speed.sqrt());
    }
    let place = |record: Record| Record { device, ..record };
    records
        .push(place(outcome(key("big", 1 << 14), Outcome::Skipped("1.5 GiB is too much".into()))));
    if device == 1 {
        records.push(place(outcome(key("stencil", 64), Outcome::Unverified(mismatch()))));
    } else {
        records.push(place(details(key("pipeline", 1024), Kind::new("overlap"), overlap())));
        records.push(place(details(key("link", 1), Kind::new("transfer"), transfer())));
        records.push(place(details(key("cut", 10), Kind::new("schedule"), plans())));
        for (variant, factor) in [("climb/1_naive", 4.0), ("climb/2_tiled", 1.0)] {
            let mut rung = record(key(variant, 512), factor * 1e-3 / speed);
            (rung.family, rung.tags) = ("compute".into(), vec![LADDER.into()]);
            records.push(place(rung));
            records.push(place(details(key(variant, 512), Kind::new("overlap"), overlap())));
        }
        records.push(place(details(key("strided", 64), Kind::new("layout"), layout_transform())));
        let pairs = concurrency(&["short", "long"]);
        records.push(place(details(key("short", 16), Kind::new("concurrency"), pairs)));
        for (group, at_once) in [(64, 48), (256, 24)] {
            let sweep = details(
                key("spin", group),
                Kind::new("occupancy"),
                occupancy_sweep(group, at_once),
            );
            records.push(place(sweep));
        }
    }
    records
}

/// Two uses make up for the transform.
fn layout_transform() -> Detail {
    let uses = |count: u32| {
        let n = f64::from(count);
        Uses { count, strided: vec![4e-3 * n; 3], transformed: vec![5e-3 + 1e-3 * n; 3] }
    };
    Detail::new(&LayoutTransform {
        clock: Clock::Device,
        strided: vec![4e-3; 3],
        transform: vec![5e-3; 3],
        contiguous: vec![1e-3; 3],
        uses: vec![uses(1), uses(2)],
    })
}

fn plans() -> Detail {
    let runs = vec![("no partition", timed(2.9, vec![])), ("10 equal parts", timed(1.3, vec![]))];
    Detail::new(&sample::schedule(Clock::Device, runs))
}

/// A kernel concurrent with each of these, all of which take 1 ms isolated.
fn concurrency(seconds: &[&str]) -> Detail {
    let ran = |started, ended| NamedStep { name: "kernel".into(), queue: 0, started, ended };
    let launched =
        |name: &str| Launched { name: name.into(), groups: 12, group_size: 64, local_bytes: 1024 };
    let pair = |second: &&str| Pair {
        second: launched(second),
        first_isolated: timed(1e-3, vec![ran(0.0, 1e-3)]),
        second_isolated: timed(1e-3, vec![ran(0.0, 1e-3)]),
        concurrent_a_first: timed(1.2e-3, vec![ran(0.0, 1e-3), ran(0.0, 1.2e-3)]),
        concurrent_b_first: timed(1.3e-3, vec![]),
    };
    Detail::new(&Concurrency {
        clock: Clock::Device,
        queues: 2,
        kernel: launched("short"),
        pairs: seconds.iter().map(pair).collect(),
        skipped: vec![],
        copies: vec![(1, timed(1e-3, vec![])), (4, timed(1.1e-3, vec![]))],
    })
}

fn mismatch() -> Mismatch {
    Mismatch {
        buffer: "out".into(),
        index: 17,
        found: "NaN".into(),
        expected: "1.5".into(),
        wrong: 3,
        of: 4096,
        when: "timed launches".into(),
    }
}

fn rename_detail(record: &mut Record, detail: &Detail, name: &str) {
    if let Some(mut raw) = detail.read::<Schedule>() {
        raw.runs[0].plan = name.into();
        raw.skipped.push((name.into(), name.into()));
        record.detail = Some(Detail::new(&raw));
    } else if let Some(mut raw) = detail.read::<Concurrency>() {
        raw.kernel.name = name.into();
        raw.pairs[0].second.name = name.into();
        raw.skipped.push((name.into(), name.into()));
        record.detail = Some(Detail::new(&raw));
    } else if let Some(mut raw) = detail.read::<Overlap>() {
        let steps = raw.runs.iter_mut().flat_map(|run| &mut run.timed.steps);
        steps.for_each(|step| step.name += name);
        record.detail = Some(Detail::new(&raw));
    }
}

fn details(key: CaseKey, measure: Kind, detail: Detail) -> Record {
    let mut record = record(CaseKey { measure, ..key }, 9e-3);
    let measured = record.measured.as_mut().expect("measured");
    match measure.name() {
        "transfer" => measured.flops = 0.0,
        "concurrency" | "occupancy" => (measured.flops, measured.bytes) = (0.0, 0.0),
        _ => {}
    }
    Record { detail: Some(detail), family: "overlap".into(), ..record }
}

fn timed(seconds: f64, steps: Vec<NamedStep>) -> Timed {
    Timed { walls: vec![seconds, seconds * 1.02, seconds * 1.05], steps }
}

/// A device that holds `at_once` groups.
fn occupancy_sweep(group: i64, at_once: u32) -> Detail {
    let edges = [1, at_once / 2, at_once, at_once + 1, 2 * at_once, 2 * at_once + 1, 3 * at_once];
    let time = |groups: u32| 1e-4 * f64::from(groups.div_ceil(at_once));
    Detail::new(&OccupancySweep {
        clock: Clock::Device,
        group_size: group as u32,
        local_bytes: 1024,
        points: edges.iter().map(|&groups| (groups, vec![time(groups); 2])).collect(),
    })
}

fn overlap() -> Detail {
    let step =
        |name: &str, queue, started, ended| NamedStep { name: name.into(), queue, started, ended };
    let steps = vec![
        step("upload 0", 0, 0.0, 2e-3),
        step("upload 1", 0, 2e-3, 4e-3),
        step("kernel 0", 1, 2e-3, 4.5e-3),
        step("kernel 1", 1, 4.5e-3, 7e-3),
        step("download 0", 2, 4.5e-3, 6e-3),
        step("download 1", 2, 7e-3, 8.5e-3),
    ];
    let run =
        |chunks, seconds, steps| OverlapRun { chunks, queues: 3, timed: timed(seconds, steps) };
    Detail::new(&Overlap {
        clock: Clock::Device,
        host_memory: MemoryKind::Pinned,
        rows: 1024,
        bytes: [1 << 24, 1 << 24],
        upload: timed(4e-3, vec![]),
        kernel: timed(5e-3, vec![]),
        download: timed(3e-3, vec![]),
        runs: vec![
            run(1, 12e-3, vec![]),
            run(2, 8.5e-3, steps),
            run(4, 8.9e-3, vec![]),
            run(8, 9.5e-3, vec![]),
        ],
    })
}

fn transfer() -> Detail {
    let sizes = [1u64 << 14, 1 << 17, 1 << 20, 1 << 23];
    let point = |direction, bytes: u64, rate: f64| TransferPoint {
        direction,
        bytes,
        samples: (0..5)
            .map(|i| 1e-5 + bytes as f64 / rate * (1.0 + 0.001 * f64::from(i)))
            .collect(),
        spans: None,
    };
    let points = sizes.iter().flat_map(|&bytes| {
        [
            point(Direction::Upload, bytes, 12e9),
            point(Direction::Download, bytes, 10e9),
            point(Direction::Both, bytes, 7e9),
        ]
    });
    Detail::new(&Transfer { host_memory: MemoryKind::Pinned, queues: 2, points: points.collect() })
}
