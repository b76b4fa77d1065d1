use super::super::result_matrix::result_matrix;
use super::*;
use gpubench_core::gpu::Clock;
use gpubench_core::record::sample::{built, device, header, key, outcome, record};
use gpubench_core::record::{Built, Flag, Header, Outcome, Record};
use gpubench_core::workload::Ceiling;

/// Two devices; the second takes twice the time in `n` cases.
fn two(n: i64) -> (Header, Vec<Record>) {
    let records = (1..=n).flat_map(|i| {
        [1.0, 2.0].into_iter().enumerate().map(move |(device, seconds)| Record {
            device,
            ..record(key("a", i), seconds * i as f64)
        })
    });
    (header(vec![device("opencl"), device("wgpu")]), records.collect())
}

fn ranked(header: &Header, records: &[Record]) -> Ranking {
    rank(&result_matrix([(header, records)]), &Options::default()).unwrap()
}

#[test]
fn twice_the_time_is_half_the_speed() {
    let (header, records) = two(8);
    let ranking = ranked(&header, &records);
    assert_eq!(ranking.reference, Some(0));
    let [first, second] = ranking.families[0].rows[..] else { panic!("two rows") };
    assert_eq!((first.device, first.speed, first.interval), (0, 1.0, [1.0, 1.0]));
    assert!((second.speed - 0.5).abs() < 1e-12);
    assert_eq!((first.ranks, second.ranks), ([1, 1], [2, 2]));
    assert_eq!((first.verified, ranking.families[0].cases), (8, 8));
    let winner = &ranking.families[0].winners[0];
    assert_eq!((winner.workload.as_str(), winner.cases, winner.device), ("a", 8, 0));
    assert!((winner.lead - 2.0).abs() < 1e-12 && winner.is_clear);
    let speeds: Vec<_> = winner.speeds.iter().map(|one| (one.device, one.speed)).collect();
    assert!(matches!(speeds[..], [(0, 1.0), (1, half)] if (half - 0.5).abs() < 1e-12));
    assert_eq!(ranking.families.len(), 1, "one family is the overall ranking");
}

#[test]
fn the_order_does_not_depend_on_the_reference() {
    let (header, records) = two(8);
    let matrix = result_matrix([(&header, &records[..])]);
    let options = Options { reference: Some("WGPU".into()), ..Options::default() };
    let ranking = rank(&matrix, &options).unwrap();
    let family = &ranking.families[0];
    assert_eq!((family.rows[0].device, family.reference), (0, Some(1)));
    assert!((family.rows[0].speed - 2.0).abs() < 1e-12);
    for (name, message) in [("nothing", "no ranked device"), ("invented", "say more")] {
        let options = Options { reference: Some(name.into()), ..Options::default() };
        let error = rank(&matrix, &options).unwrap_err().to_string();
        assert!(error.contains(message) && error.contains("nobody-invented-gpu-wgpu"), "{error}");
    }
}

#[test]
fn what_one_device_lacks_is_outside_the_common_set_and_reported() {
    let (header, mut records) = two(8);
    records.retain(|r| !(r.device == 1 && r.key == key("a", 3)));
    let wrong = outcome(key("a", 5), Outcome::Timeout("launch".into()));
    records.push(Record { device: 1, round: 1, ..wrong });
    let family = &ranked(&header, &records).families[0];
    assert_eq!((family.common.len(), family.cases), (6, 8));
    assert_eq!(
        family.skipped,
        [
            (key("a", 3), "not run on Invented GPU · 1.0 · wgpu".to_owned()),
            (key("a", 5), "timeout on Invented GPU · 1.0 · wgpu".to_owned())
        ]
    );
    assert_eq!(family.rows.iter().map(|r| r.verified).collect::<Vec<_>>(), [8, 6]);
}

#[test]
fn a_device_without_a_familys_cases_does_not_empty_it() {
    let (header, mut records) = two(8);
    for i in 1..4 {
        let family = "overlap".to_owned();
        records.push(Record { family, ..record(key("pipe", i), 1.0) });
    }
    let ranking = ranked(&header, &records);
    let names: Vec<_> = ranking.families.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["overall", "compute", "overlap"]);
    assert_eq!((ranking.families[0].common.len(), ranking.families[0].cases), (8, 11));
    let overlap = &ranking.families[2];
    assert_eq!((overlap.rows.len(), &overlap.absent[..]), (1, &[1][..]));
    assert_eq!(overlap.level, Level::Rounds);
}

#[test]
fn other_work_is_not_compared() {
    let (header, mut records) = two(8);
    if let Some(measured) = &mut records[1].measured {
        measured.flops *= 2.0;
    }
    let family = &ranked(&header, &records).families[0];
    assert_eq!(family.common.len(), 7);
    assert!(family.skipped[0].1.contains("another amount of work"), "{:?}", family.skipped);
}

#[test]
fn processors_and_simulations_stay_out_unless_requested() {
    let (mut header, records) = two(8);
    header.devices[0].kind = DeviceKind::Cpu;
    header.devices[1].kind = DeviceKind::Simulated;
    let none = ranked(&header, &records);
    assert_eq!((none.excluded.len(), none.reference), (2, None));
    assert!(none.families[0].rows.is_empty() && none.families[0].cases == 0);
    let options = Options { include_cpu: true, ..Options::default() };
    let one = rank(&result_matrix([(&header, &records[..])]), &options).unwrap();
    assert_eq!((one.excluded.len(), one.families[0].rows.len()), (1, 1));
}

fn ceiling(name: &str, of: Ceiling, flops: f64, bytes: f64) -> Record {
    let mut record = record(key(name, 1), 1.0);
    record.ceiling = Some(of);
    if let Some(measured) = &mut record.measured {
        (measured.flops, measured.bytes) = (flops, bytes);
    }
    record
}

/// The kernel: 1e6 operations and 4e6 bytes in a second, of which memory needs 0.04.
fn with_ceilings(bytes: f64) -> [Record; 3] {
    [
        ceiling("fma", Ceiling::Flops, 1e9, 1.0),
        ceiling("triad", Ceiling::Bandwidth, 1.0, bytes),
        record(key("kernel", 1), 1.0),
    ]
}

fn roofline(records: &[Record]) -> Option<f64> {
    ranked(&header(vec![device("opencl")]), records).families[0].rows[0].roofline
}

#[test]
fn the_roofline_is_the_devices_own() {
    let wanted = 0.04;
    assert!((roofline(&with_ceilings(1e8)).unwrap() - wanted).abs() < 1e-9);
}

#[test]
fn a_kernel_that_touches_more_than_any_ceiling_has_no_share() {
    // Two million bytes were measured, the kernel touches four.
    assert_eq!(roofline(&with_ceilings(2e6)), None);
}

#[test]
fn a_ceiling_that_was_disturbed_is_none() {
    let mut records = with_ceilings(1e8).to_vec();
    records[1].flags.push(Flag::Throttled("power cap".into()));
    assert_eq!(roofline(&records), None);
    // With two quiet rounds besides, the warning is of the minority.
    let quiet = |round| Record { round, ..with_ceilings(1e8)[1].clone() };
    assert!(roofline(&[&records[..], &[quiet(1), quiet(2)]].concat()).is_some());
}

#[test]
fn nothing_at_all_is_an_empty_ranking() {
    let ranking = rank(&ResultMatrix::default(), &Options::default()).unwrap();
    assert!(ranking.devices.is_empty() && ranking.families[0].rows.is_empty());
}

/// Two devices, of which the second takes `factor` times as long in `n` cases of each family.
fn families(all: &[(&str, i64, f64)]) -> (Header, Vec<Record>) {
    let cases = all.iter().flat_map(|&(family, n, factor)| {
        (1..=n).flat_map(move |i| {
            [1.0, factor].into_iter().enumerate().map(move |(device, seconds)| Record {
                device,
                family: family.into(),
                ..record(key(family, i), seconds * i as f64)
            })
        })
    });
    (header(vec![device("opencl"), device("wgpu")]), cases.collect())
}

#[test]
fn families_weigh_alike_however_many_cases_they_have() {
    let (header, records) = families(&[("compute", 20, 2.0), ("memory", 5, 0.5)]);
    let overall = &ranked(&header, &records).families[0];
    assert!((overall.rows[1].speed - 1.0).abs() < 1e-12, "{:?}", overall.rows);
    let shares: Vec<_> =
        overall.shares.iter().map(|s| (s.family.as_str(), s.share, s.cases)).collect();
    assert_eq!(shares, [("compute", 0.5, 20), ("memory", 0.5, 5)]);
    let order = |family: &str| {
        overall.without.iter().find(|without| without.family == family).unwrap().order.clone()
    };
    assert_eq!((order("compute"), order("memory")), (vec![1, 0], vec![0, 1]));

    let matrix = result_matrix([(&header, &records[..])]);
    let weights = [("memory".to_owned(), 3.0)].into();
    let weighted = rank(&matrix, &Options { weights, ..Options::default() }).unwrap();
    let rows = &weighted.families[0].rows;
    // A quarter of a half and three quarters of a double.
    assert_eq!(rows[0].device, 1);
    assert!((rows[1].speed - 2f64.powf(-0.5)).abs() < 1e-12, "{rows:?}");
}

#[test]
fn copies_of_one_size_count_once() {
    use gpubench_core::gpu::MemoryKind;
    let (header, mut records) = families(&[("transfer", 2, 2.0)]);
    let copies: Vec<Record> = records.iter().filter(|r| r.key.size[0].1 == 1).cloned().collect();
    records.iter_mut().for_each(|r| r.key.host_memory = Some(MemoryKind::Pageable));
    for (place, mut copy) in copies.into_iter().enumerate() {
        // Another way of copying the first size, in which the devices are equal.
        copy.key.host_memory = Some(MemoryKind::Pinned);
        if let Some(measured) = &mut copy.measured {
            measured.samples = vec![1.0; 15];
        }
        copy.device = place % 2;
        records.push(copy);
    }
    let overall = &ranked(&header, &records).families[0];
    assert_eq!((overall.common.len(), overall.shares[0].cases), (3, 2));
    // Half of the first size's two ways, and the whole of the second size.
    assert!((overall.rows[1].speed - 2f64.powf(-0.75)).abs() < 1e-12, "{:?}", overall.rows);
}

#[test]
fn a_launch_is_no_transfer_and_clocks_are_not_mixed() {
    let (header, mut records) = families(&[("transfer", 6, 2.0)]);
    for record in records.iter_mut().filter(|record| record.key.size[0].1 == 6) {
        record.kernel = Some(Built { group: [1; 3], ..built(&"ab".repeat(32)) });
        if let (1, Some(measured)) = (record.device, &mut record.measured) {
            measured.clock = Clock::Host;
        }
    }
    let ranking = ranked(&header, &records);
    let names: Vec<_> = ranking.families.iter().map(|family| family.name.as_str()).collect();
    assert_eq!(names, ["overall", "transfer", "latency"]);
    let latency = &ranking.families[2];
    assert!(latency.rows.is_empty() && latency.skipped[0].1.contains("another clock"));
    assert_eq!(ranking.families[0].shares.len(), 1);
}

#[test]
fn two_drivers_of_a_device_are_two_rows_and_the_reference_may_name_one() {
    let (mut header, records) = two(8);
    header.devices[1] = header.devices[0].clone();
    header.devices[1].driver = "Mesa 25.0".into();
    let matrix = result_matrix([(&header, &records[..])]);
    let options = Options { reference: Some("mesa 25".into()), ..Options::default() };
    let ranking = rank(&matrix, &options).unwrap();
    assert_eq!((ranking.devices.len(), ranking.reference), (2, Some(1)));
    let rounds = ranking.families[0].rows[0].rounds;
    assert_eq!(rounds, [1, 1]);
}

#[test]
fn a_winner_whose_interval_is_wider_than_its_lead_is_not_clear() {
    let header = header(vec![device("opencl"), device("wgpu")]);
    let is_clear = |scatter: f64| {
        let rounds = |device: usize, seconds: f64| {
            (0..3u32).map(move |round| {
                let wobble = 1.0 + scatter * (f64::from(round) - 1.0);
                Record { device, round, ..record(key("a", 1), seconds * wobble) }
            })
        };
        let records: Vec<Record> = rounds(0, 1.0).chain(rounds(1, 1.1)).collect();
        let ranking = ranked(&header, &records);
        let winner = &ranking.families[0].winners[0];
        assert_eq!(winner.device, 0);
        assert!((winner.lead - 1.1).abs() < 0.01, "{winner:?}");
        winner.is_clear
    };
    assert!(is_clear(0.001));
    assert!(!is_clear(0.1));
}

#[test]
fn what_only_devices_outside_the_ranking_ran_is_no_family() {
    let (mut header, mut records) = two(3);
    header.devices[1].kind = DeviceKind::Cpu;
    let of = |device, family: &str, n| Record {
        device,
        family: family.into(),
        ..record(key("b", n), 1.0)
    };
    records.extend([of(0, "memory", 1), of(1, "overlap", 2)]);
    let names = ranked(&header, &records).families.into_iter().map(|family| family.name);
    assert_eq!(names.collect::<Vec<_>>(), ["overall", "compute", "memory"]);
}

#[test]
fn each_kind_of_device_is_out_and_in_for_its_own_reason() {
    let (mut header, records) = two(3);
    let default = Options::default;
    for (kind, why, options) in [
        (DeviceKind::Cpu, "--include-cpu", Options { include_cpu: true, ..default() }),
        (
            DeviceKind::Imported,
            "--include-imported",
            Options { include_imported: true, ..default() },
        ),
        (
            DeviceKind::Simulated,
            "--include-simulated",
            Options { include_simulated: true, ..default() },
        ),
    ] {
        header.devices[1].kind = kind;
        let out = |options: &Options| {
            rank(&result_matrix([(&header, &records[..])]), options).unwrap().excluded
        };
        let [(1, reason)] = &out(&default())[..] else { panic!("{kind:?}") };
        assert!(reason.contains(why), "{reason}");
        assert!(out(&options).is_empty());
    }
}

/// Kernels in two languages differ in their text; in one language they may not.
#[test]
fn kernels_of_one_language_are_the_same() {
    let common = |hashes: [&str; 3]| {
        let devices = [("A", "opencl"), ("B", "wgpu"), ("C", "opencl")]
            .map(|(name, backend)| DeviceInfo { name: name.into(), ..device(backend) });
        let of = |(device, hash): (usize, &str)| {
            let mut record = Record { device, ..record(key("a", 1), 1.0) };
            record.kernel = Some(built(hash));
            record
        };
        let records: Vec<Record> = hashes.into_iter().enumerate().map(of).collect();
        let ranking = ranked(&header(devices.to_vec()), &records);
        let family = &ranking.families[0];
        (family.common.len(), family.skipped.first().map(|(_, why)| why.clone()))
    };
    let [one, other] = ["1111111111111111ff", "2222222222222222ff"];
    assert_eq!(common([one, other, one]), (1, None));
    let (0, Some(why)) = common([one, one, other]) else { panic!() };
    assert!(why.contains("another kernel on C"), "{why}");
}
