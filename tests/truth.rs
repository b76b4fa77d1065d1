//! Ground truth recovered: random simulated GPUs, measured and analysed as any device is, give
//! back what they were described by. Nothing here is measured on hardware.
#![expect(clippy::unwrap_used, reason = "a helper of tests panics as tests do")]

use gpubench::backend::sim::{Description, Noise, Rates, Sim, SimDevice};
use gpubench::gpu::MemoryKind;
use gpubench::measure::engines::engines;
use gpubench::measure::load;
use gpubench::measure::occupancy::analysis::occupancy_sweep;
use gpubench::measure::occupancy::data::OccupancySweep;
use gpubench::measure::plan;
use gpubench::measure::residency::residency;
use gpubench::measure::transfer::analysis::transfer;
use gpubench::measure::transfer::data::Transfer;
use gpubench::measure::{Policy, Session, measure};
use gpubench::plan::{Limits, Planned};
use gpubench::record::{Data, Detail, Outcome, Record};
use gpubench::stats::Summary;
use gpubench::suite::Suite;
use gpubench::units::Bytes;
use gpubench::workload::Kind;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Random devices, by number.
const DEVICES: u64 = 200;
/// Devices measured at the same time.
const THREADS: u64 = 4;

/// A device such as there may be: every number that the truth is compared with is drawn.
///
/// Memory serves all work-items that fit at once, as large GPUs' does: else no occupancy sweep has steps.
fn random(number: u64, noise: f64) -> Description {
    let mut random = Pcg64Mcg::seed_from_u64(number);
    let shipped = Sim::default().descriptions().unwrap();
    let mut gpu = shipped[number as usize % shipped.len()].clone();
    gpu.unit.groups = [8, 16, 24, 32][random.random_range(0..4)];
    gpu.unit.threads = [768, 1024, 1536, 2048][random.random_range(0..4)];
    gpu.unit.group_threads = 640;
    gpu.unit.local = [16384, 32768, 49152, 65536, 98304][random.random_range(0..5)];
    gpu.unit.group_local = 16384;
    let mut draw = |low: f64, high: f64| low * (high / low).powf(random.random_range(0.0..1.0));
    let (upload, download) = (draw(1e9, 25e9), draw(1e9, 25e9));
    let rates = Rates {
        latency: draw(2e-6, 30e-6),
        upload,
        download,
        upload_bidirectional: upload * draw(0.6, 1.0),
        download_bidirectional: download * draw(0.6, 1.0),
    };
    gpu.name = format!("random {number}");
    gpu.link.host = [(MemoryKind::Pinned, rates)].into();
    gpu.link.engines = (number % 3) as u8;
    gpu.costs.submit = draw(0.3e-6, 4e-6);
    gpu.costs.launch = draw(2e-6, 20e-6);
    gpu.costs.sync = draw(0.3e-6, 4e-6);
    gpu.units = draw(2.0, 41.0) as u32;
    gpu.clock = draw(0.5e9, 2e9);
    gpu.memory.latency = draw(400e-9, 800e-9);
    gpu.memory.bandwidth = f64::from(gpu.units) * draw(25e9, 50e9);
    gpu.queues = 4;
    gpu.noise = Noise { relative: noise, seed: number };
    gpu
}

/// Everything measured on `gpu`, as records.
fn records(suite: &Suite, gpu: &Description) -> Vec<Record> {
    let mut session = Session::new(Box::new(SimDevice::new(gpu.clone(), 0, 0)));
    let limits =
        Limits { memory: Some(Bytes::mib(4)), seconds: 1e3, seed: 1, cores: 2, host_memory: None };
    // Without noise one sample says all.
    let min_samples = if gpu.noise.relative > 0.0 { Policy::default().min_samples } else { 1 };
    let policy = Policy { min_samples, warmup: 1e3, seconds: 1e3, ..Policy::default() };
    plan(suite, &session.device.info().clone(), &limits)
        .into_iter()
        .map(|planned| {
            let Planned::Case(case) = planned else { panic!("rejected: {planned:?}") };
            let record =
                measure(&mut session, &case, &policy, &mut |_| {}).into_record(&case, 0, 0);
            assert!(
                matches!(record.outcome, Outcome::Ok | Outcome::Unchecked),
                "{} on {}: {:?}",
                record.key,
                gpu.name,
                record.outcome
            );
            record
        })
        .collect()
}

/// A number found beside the one that was described.
#[derive(Clone, Copy)]
struct Found {
    what: &'static str,
    value: f64,
    interval: [f64; 2],
    truth: f64,
}

impl Found {
    fn off(&self) -> f64 {
        (self.value / self.truth - 1.0).abs()
    }

    fn is_inside(&self) -> bool {
        (self.interval[0]..=self.interval[1]).contains(&self.truth)
    }
}

/// The results of one device.
struct DeviceResult {
    name: String,
    numbers: Vec<Found>,
    /// Copy engines as inferred, and as described.
    engines: (Option<u32>, u32),

    /// Units and the groups that one holds in each occupancy sweep, as inferred and as described.
    residents: (Option<Vec<u32>>, Vec<u32>),
}

const NUMBERS: [&str; 5] =
    ["upload latency", "download latency", "upload bandwidth", "download bandwidth", "launch"];

/// Measures and analyses one device.
fn measure_device(suite: &Suite, number: u64, noise: f64) -> DeviceResult {
    let gpu = random(number, noise);
    let records = records(suite, &gpu);
    let rates = gpu.rates(MemoryKind::Pinned).unwrap();
    // What a program waits for, from asking on: the command is queued, too.
    let latency = gpu.costs.submit + rates.latency;
    let mut numbers = vec![];
    let (mut sweeps, mut active) = (vec![], vec![]);
    for record in &records {
        match &record.detail {
            Some(detail) if detail.kind() == Transfer::KIND => {
                let raw: Transfer = detail.read().unwrap();
                let summary = transfer(&raw).unwrap();
                let (upload, download) = (summary.upload, summary.download);
                let found =
                    [upload.latency, download.latency, upload.bandwidth, download.bandwidth];
                let truths = [latency, latency, rates.upload, rates.download];
                numbers.extend(NUMBERS.into_iter().zip(found).zip(truths).map(
                    |((what, found), truth)| Found {
                        what,
                        value: found.value,
                        interval: found.interval(),
                        truth,
                    },
                ));
            }
            Some(detail) if detail.kind() == OccupancySweep::KIND => {
                let raw: OccupancySweep = detail.read().unwrap();
                sweeps.push(occupancy_sweep(&raw).unwrap());
                active.push(holds(&gpu, raw.group_size, raw.local_bytes));
            }
            Some(detail) if detail.kind() == Kind::new("launch") => {
                let summary = Summary::of(&record.measured.as_ref().unwrap().samples).unwrap();
                let (value, interval) = (summary.median, summary.interval);
                let truth = gpu.costs.submit + gpu.costs.launch;
                numbers.push(Found { what: NUMBERS[4], value, interval, truth });
            }
            _ => {}
        }
    }
    let details: Vec<&Detail> = records.iter().filter_map(|r| r.detail.as_ref()).collect();
    let residents =
        residency(sweeps.iter().filter_map(|s| s.groups_at_once()), None).and_then(|found| {
            let each = sweeps.iter().map(|s| Some(s.at_once()? / found.units));
            [Some(found.units)].into_iter().chain(each).collect::<Option<Vec<u32>>>()
        });
    DeviceResult {
        name: gpu.name.clone(),
        numbers,
        engines: (engines(&details).count(), gpu.link.engines.into()),
        residents: (residents, [vec![gpu.units], active].concat()),
    }
}

/// How many groups of `size` work-items and `local` bytes one unit holds.
fn holds(gpu: &Description, size: u32, local: u64) -> u32 {
    let unit = &gpu.unit;
    let piece = u64::from(unit.local_piece);
    let by_local = u64::from(unit.local) / local.next_multiple_of(piece).max(1);
    unit.groups
        .min(unit.threads / size.next_multiple_of(gpu.warp))
        .min(u32::try_from(by_local).unwrap_or(u32::MAX))
}

/// All devices with so much noise.
fn all(noise: f64) -> Vec<DeviceResult> {
    let file = format!("{}/tests/data/truth/truth.yaml", env!("CARGO_MANIFEST_DIR"));
    let suite = load(&file).unwrap();
    let suite = &suite;
    std::thread::scope(|scope| {
        let share = |first: u64| {
            let numbers = (first..DEVICES).step_by(THREADS as usize);
            move || numbers.map(|number| measure_device(suite, number, noise)).collect::<Vec<_>>()
        };
        let threads: Vec<_> = (0..THREADS).map(|first| scope.spawn(share(first))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

/// The share of devices of which `right` holds; those of which it does not are named.
fn share(devices: &[DeviceResult], what: &str, right: impl Fn(&DeviceResult) -> bool) -> f64 {
    let wrong: Vec<&str> =
        devices.iter().filter(|device| !right(device)).map(|device| device.name.as_str()).collect();
    let share = 1.0 - wrong.len() as f64 / devices.len() as f64;
    println!("{what}: {:.1} % of {}; not: {wrong:?}", 100.0 * share, devices.len());
    share
}

/// A number as found on every device: once each, at least.
fn of<'a>(devices: &'a [DeviceResult], what: &str) -> impl Iterator<Item = &'a Found> {
    let is_it = move |found: &&Found| found.what == what;
    assert!(devices.len() as u64 == DEVICES);
    assert!(devices.iter().all(|device| device.numbers.iter().any(|found| is_it(&found))));
    devices.iter().flat_map(|device| &device.numbers).filter(is_it)
}

/// What must hold with and without noise.
fn counts_are_exact(devices: &[DeviceResult]) {
    let engines = share(devices, "copy engines", |t| t.engines.0 == Some(t.engines.1));
    let residents =
        share(devices, "units and groups", |t| t.residents.0.as_ref() == Some(&t.residents.1));
    assert!(engines >= 0.99 && residents >= 0.95, "{engines} {residents}");
}

#[test]
fn without_noise_numbers_are_within_2_percent_and_counts_exact() {
    let devices = all(0.0);
    for what in NUMBERS {
        // What is not a number is the greatest here.
        let worst = of(&devices, what).map(Found::off).max_by(f64::total_cmp).unwrap();
        println!("{what}: off by {:.4} % at most", 100.0 * worst);
        assert!(worst <= 0.02, "{what}: {worst}");
    }
    counts_are_exact(&devices);
}

#[test]
fn with_1_percent_noise_numbers_are_within_their_intervals_and_counts_exact() {
    let devices = all(0.01);
    for what in NUMBERS {
        let mut widths: Vec<f64> = vec![];
        let inside = share(&devices, what, |device| {
            device.numbers.iter().filter(|found| found.what == what).all(Found::is_inside)
        });
        for found in of(&devices, what) {
            widths.push((found.interval[1] - found.interval[0]) / 2.0 / found.truth);
        }
        widths.sort_by(f64::total_cmp);
        // An interval that holds everything would show nothing.
        let middle = widths[widths.len() / 2];
        println!("{what}: half-width {:.2} % in the middle", 100.0 * middle);
        assert!(inside >= 0.93 && middle <= 0.02, "{what}: {inside} {middle}");
    }
    counts_are_exact(&devices);
}
