use super::*;
use gpubench_core::record::Outcome;
use gpubench_core::record::sample::{device, header, key, outcome, record};

fn round(round: u32, seconds: f64) -> Record {
    Record { round, ..record(key("a", 1), seconds) }
}

fn cell(records: &[Record]) -> Result<Cell, &'static str> {
    let matrix = result_matrix([(&header(vec![device("opencl")]), records)]);
    matrix.cell(0, 0).cloned()
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
