//! Invented runs for the tests of all formats.

use super::comparison::{Compared, Side};
use gpubench_analysis::fit::Model;
use gpubench_analysis::rank::{DeviceTimes, Options, Ranking, predict_ranking, rank};
use gpubench_analysis::{ReportInput, Source};
use gpubench_analysis::{collect, compare, result_matrix};
use gpubench_core::gpu::{DeviceInfo, DeviceKind, MemoryKind};
use gpubench_core::record::sample::{device, header, key, outcome, record};
use gpubench_core::record::{Flag, Footer, Header, Mismatch, Outcome, Record, measured_rounds};
use gpubench_core::workload::{CaseKey, Ceiling, Kind};

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
        let footer = Footer {
            ended: "2025-01-31T12:40:05Z".into(),
            wall: 600.0,
            estimated: None,
            records: count,
        };
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
            host: self.header.host.clone(),
            device: self.header.devices[0].clone(),
            rounds: self.header.rounds,
            measured_rounds: measured_rounds(&self.records),
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
            predict_ranking(&matrix, overall, Model::COMPONENTS, &predicted, unknown);
        assert!(ranking.prediction.is_some());
        ranking
    }
}

/// Names within records.
fn rename(record: &mut Record, name: &str) {
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
            let of_memory = record.family == "memory";
            record.ceiling = Some(if of_memory { Ceiling::Bandwidth } else { Ceiling::Flops });
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
    }
    records
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
