use super::*;
use gpubench_core::record::Outcome;
use gpubench_core::record::sample::{built, device, header, key, outcome, record};

fn round(round: u32, seconds: f64) -> Record {
    Record { round, ..record(key("a", 1), seconds) }
}

fn cell(records: &[Record]) -> Result<Cell, &'static str> {
    let matrix = result_matrix([(&header(vec![device("opencl")]), records)]);
    matrix.cell(0, 0).cloned()
}

#[test]
fn a_launch_is_one_whether_its_first_record_was_skipped_or_not() {
    let header = header(vec![device("opencl"), device("vulkan")]);
    let of = |record: Record| Record { family: "transfer".into(), ..record };
    let kernel = Some(built("aa"));
    let measured = Record { device: 1, kernel, ..of(record(key("launch", 1), 1e-6)) };
    let skipped = of(outcome(key("launch", 1), Outcome::Skipped("no time".to_owned().into())));
    for records in [[&skipped, &measured], [&measured, &skipped]] {
        let whole: Vec<Record> = records.into_iter().cloned().collect();
        let parts = [&whole[..1], &whole[1..]].map(|part| (&header, part));
        for matrix in [result_matrix([(&header, &whole[..])]), result_matrix(parts)] {
            assert_eq!(matrix.cases[0].family, "latency");
        }
    }
}

#[test]
fn rounds_become_a_mean_and_its_variance() {
    let cell = cell(&[round(0, 1.0), round(1, 2.0), round(2, 4.0)]).unwrap();
    assert!((cell.seconds() - 2.0).abs() < 1e-12);
    let variance = 2f64.ln().powi(2);
    assert!((cell.rounds().between().unwrap() - variance / 3.0).abs() < 1e-12);
}

#[test]
fn rounds_of_two_runs_are_those_of_one() {
    let header = header(vec![device("opencl")]);
    let records: Vec<Record> = (0..5).map(|i| round(i, 1.0 + 0.1 * f64::from(i * 3 % 5))).collect();
    let whole = result_matrix([(&header, &records[..])]);
    let parts = result_matrix([(&header, &records[..2]), (&header, &records[2..])]);
    let (whole, parts) = (whole.cell(0, 0).unwrap(), parts.cell(0, 0).unwrap());
    assert_eq!((whole.rounds(), parts.rounds().count), (parts.rounds(), 5));
}

#[test]
fn one_wrong_round_takes_the_case_out_and_a_skipped_one_does_not() {
    let skipped = || outcome(key("a", 1), Outcome::Skipped("no time".into()));
    let crash = || outcome(key("a", 1), Outcome::Timeout("build".into()));
    assert!(cell(&[round(0, 1.0), skipped()]).is_ok());
    assert!(cell(&[skipped(), round(0, 1.0)]).is_ok());
    assert_eq!(cell(&[skipped()]).unwrap_err(), "skipped");
    assert_eq!(cell(&[crash(), skipped(), round(0, 1.0)]).unwrap_err(), "timeout");
    assert_eq!(cell(&[round(0, 1.0), crash()]).unwrap_err(), "timeout");
    let flags = vec![Flag::Implausible("above the roof".into())];
    assert_eq!(cell(&[Record { flags, ..round(0, 1.0) }]).unwrap_err(), "implausible");
    let unchecked = outcome(key("a", 1), Outcome::Unchecked);
    assert_eq!(cell(&[unchecked]).unwrap_err(), "unchecked");
    assert_eq!(cell(&[round(0, 0.0)]).unwrap_err(), "no usable time");
}

#[test]
fn runs_of_one_device_are_one_entry() {
    let header = header(vec![device("opencl"), device("wgpu")]);
    let matrix = result_matrix([(&header, &[][..]), (&header, &[])]);
    assert_eq!(matrix.entries.len(), 2);
    assert_eq!(matrix.entries[0].runs, 2);
}

#[test]
fn metered_rounds_weigh_alike() {
    assert_eq!(pooled((2, 1.0), (1, 4.0)), (3, 2.0));
    assert_eq!(pooled((0, 9.0), (0, 9.0)), (0, 0.0));
}

#[test]
fn kernels_in_two_languages_match_where_work_and_checks_do() {
    let of = |checks| Cell { kernel: Some((None, checks)), ..Cell::default() };
    let (on, off) = (of(BoundsChecks::On), of(BoundsChecks::Off));
    assert_eq!(on.matches_but_for_text(&on), Ok(()));
    assert_eq!(on.matches_but_for_text(&off), Err("other bounds checks"));
}

#[test]
fn what_differed_once_differs_for_good() {
    let other_work = |seconds| {
        let mut record = round(1, seconds);
        record.measured.iter_mut().for_each(|measured| measured.flops *= 2.0);
        record
    };
    let header = header(vec![device("opencl")]);
    let first = [round(0, 1.0), other_work(1.0)];
    let second = [round(2, 1.0)];
    let matrix = result_matrix([(&header, &first[..]), (&header, &second[..])]);
    assert_eq!(matrix.cell(0, 0).unwrap_err(), "different work in its runs");
}

#[test]
fn cases_are_found_by_their_keys_and_have_times() {
    let of = |name: &str, seconds: f64| record(key(name, 1), seconds);
    let wrong = outcome(key("d", 1), Outcome::Timeout("build".into()));
    let records = [of("a", 1.0), of("b", 2.0), of("c", 4.0), wrong];
    let matrix = result_matrix([(&header(vec![device("opencl")]), &records[..])]);
    let found = ["a", "b", "c", "x"].map(|name| matrix.find(&key(name, 1)));
    assert_eq!(found, [Some(0), Some(1), Some(2), None]);
    let times = matrix.times(0);
    let names: Vec<&str> = times.iter().map(|(case, _)| case.key.workload.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    for ((_, time), wanted) in times.iter().zip([1.0, 2.0, 4.0]) {
        assert!((time.value - wanted).abs() < 1e-9, "{times:?}");
    }
}

#[test]
fn what_was_imported_unchecked_is_ranked_as_it_is_and_nothing_else() {
    let unchecked = Record { outcome: Outcome::Unchecked, ..round(0, 1.0) };
    let of = |kind| {
        let device = DeviceInfo { kind, ..device("opencl") };
        result_matrix([(&header(vec![device]), std::slice::from_ref(&unchecked))])
            .cell(0, 0)
            .is_ok()
    };
    assert!(of(DeviceKind::Imported) && !of(DeviceKind::Discrete));
}

#[test]
fn kernels_are_distinguished_by_their_hashes() {
    let of = |hash: &str| Cell {
        kernel: Some((Some(short_hash(hash)), BoundsChecks::Off)),
        ..Cell::default()
    };
    let [one, other] = ["1111111111111111ff", "2222222222222222ff"].map(of);
    assert_eq!(one.matches(&one), Ok(()));
    assert_eq!(one.matches(&other), Err("another kernel"));
    assert_eq!(short_hash("00000000000000a7ff"), 0xa7);
    assert_ne!(short_hash("no hash"), short_hash("another"));
}

#[test]
fn a_case_is_in_a_cache_where_any_round_is() {
    let cached = |number| Record { flags: vec![Flag::Cache], ..round(number, 1.0) };
    assert!(cell(&[cached(0), round(1, 1.0)]).unwrap().cache);
    assert!(cell(&[round(0, 1.0), cached(1)]).unwrap().cache);
    assert!(!cell(&[round(0, 1.0), round(1, 1.0)]).unwrap().cache);
}
