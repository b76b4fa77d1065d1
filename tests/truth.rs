//! Ground truth recovered: random simulated GPUs, measured and analysed as any device is, give
//! back what they were described by. Nothing here is measured on hardware.
#![expect(clippy::unwrap_used, reason = "a helper of tests panics as tests do")]

use gpubench::analyse::{engines, transfer};
use gpubench::backend::sim::{Description, Noise, Rates, Sim, SimDevice};
use gpubench::gpu::MemoryKind;
use gpubench::measure::{Policy, Session, measure};
use gpubench::plan::{Limits, Planned, plan};
use gpubench::record::{Detail, Outcome, Record};
use gpubench::stats::Summary;
use gpubench::suite::{Suite, load};
use gpubench::units::Bytes;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Random devices, by number.
const DEVICES: u64 = 200;

/// A device such as there may be: every number that the truth is compared with is drawn.
fn random(number: u64, noise: f64) -> Description {
    let mut random = Pcg64Mcg::seed_from_u64(number);
    let mut draw = |low: f64, high: f64| low * (high / low).powf(random.random_range(0.0..1.0));
    let shipped = Sim::default().descriptions().unwrap();
    let mut gpu = shipped[number as usize % shipped.len()].clone();
    let (send, receive) = (draw(1e9, 25e9), draw(1e9, 25e9));
    let rates = Rates {
        latency: draw(2e-6, 30e-6),
        send,
        receive,
        send_together: send * draw(0.6, 1.0),
        receive_together: receive * draw(0.6, 1.0),
    };
    gpu.name = format!("random {number}");
    gpu.link.host = [(MemoryKind::Pinned, rates)].into();
    gpu.link.engines = (number % 3) as u8;
    gpu.costs.submit = draw(0.3e-6, 4e-6);
    gpu.costs.launch = draw(2e-6, 20e-6);
    gpu.costs.sync = draw(0.3e-6, 4e-6);
    gpu.units = draw(2.0, 80.0) as u32;
    gpu.clock = draw(0.5e9, 2e9);
    gpu.lanes = 4;
    gpu.noise = Noise { relative: noise, seed: number };
    gpu
}

/// Everything that `gpu` is asked, as records.
fn records(suite: &Suite, gpu: Description, least: usize) -> Vec<Record> {
    let device = SimDevice::new(gpu, 0, 0);
    let mut session = Session::new(Box::new(device));
    let limits = Limits { memory: Some(Bytes::mib(4)), seconds: 1e3, seed: 1 };
    let policy = Policy { least, warmup: 1e3, seconds: 1e3, ..Policy::default() };
    plan(suite, &session.device.info().clone(), &limits)
        .into_iter()
        .map(|planned| {
            let Planned::Case(case) = planned else { panic!("refused: {planned:?}") };
            let finding = measure(&mut session, &case, &policy, &mut |_| {});
            let record = finding.into_record(&case, 0, 0);
            assert_eq!(record.outcome, Outcome::Ok, "{}", record.key);
            record
        })
        .collect()
}

#[test]
fn explore() {
    let suite = load(
        &format!("{}/tests/data/truth/truth.yaml", env!("CARGO_MANIFEST_DIR")),
        &gpubench::reference::names().collect::<Vec<_>>(),
    )
    .unwrap();
    for noise in [0.0, 0.01] {
        let t = std::time::Instant::now();
        let (mut right, mut inside, mut of, mut worst) = (0, [0; 5], 0, [0.0f64; 5]);
        for n in 0..DEVICES {
            let gpu = random(n, noise);
            let records = records(&suite, gpu.clone(), if noise > 0.0 { 15 } else { 1 });
            let rates = gpu.rates(MemoryKind::Pinned).unwrap();
            let details: Vec<_> = records.iter().filter_map(|r| r.detail.as_ref()).collect();
            let told = engines(&details);
            if told.count() == Some(gpu.link.engines.into()) {
                right += 1;
            } else {
                let Some(Detail::Transfer(t)) = &records[0].detail else { panic!() };
                println!(
                    "{n} is {} told {told:?} gain {:.3}",
                    gpu.link.engines,
                    transfer(t).unwrap().gain
                );
            }
            of += 1;
            let mut check = |i: usize, value: f64, interval: [f64; 2], truth: f64| {
                if (interval[0]..=interval[1]).contains(&truth) {
                    inside[i] += 1;
                }
                worst[i] = worst[i].max((value / truth - 1.0).abs());
            };
            for r in &records {
                match &r.detail {
                    Some(Detail::Transfer(t)) => {
                        let s = transfer(t).unwrap();
                        let truths = [
                            rates.latency + gpu.costs.submit,
                            rates.latency + gpu.costs.submit,
                            rates.send,
                            rates.receive,
                        ];
                        for (i, (e, truth)) in [
                            s.send.latency,
                            s.receive.latency,
                            s.send.bandwidth,
                            s.receive.bandwidth,
                        ]
                        .into_iter()
                        .zip(truths)
                        .enumerate()
                        {
                            check(i, e.value, e.interval(), truth);
                        }
                    }
                    None => {
                        let s = Summary::of(&r.measured.as_ref().unwrap().samples).unwrap();
                        check(4, s.median, s.interval, gpu.costs.submit + gpu.costs.launch);
                    }
                    _ => {}
                }
            }
        }
        println!(
            "noise {noise}: right {right} of {of}, inside {inside:?} worst {worst:?} in {:?}",
            t.elapsed()
        );
    }
}
