//! Ceilings that were measured while the device was disturbed.

use super::tests::{bandwidth, ceiling, hidden, hidden_on, moves};
use gpubench_core::gpu::{DeviceInfo, DeviceKind};
use gpubench_core::record::sample::device;
use gpubench_core::record::{Flag, Record};
use gpubench_core::workload::Ceiling;

fn disturbed(mut record: Record) -> Record {
    record.flags.push(Flag::Drift("the reference kernel took longer".into()));
    record
}

fn of(name: &str, mib: f64, rate: f64) -> Record {
    ceiling(Ceiling::Bandwidth, moves(name, mib, rate))
}

#[test]
fn what_one_reached_is_possible() {
    let (triad, kernel) = (bandwidth(192.0, 1e10), moves("a", 256.0, 2e10));
    assert_eq!(hidden(&[triad.clone(), kernel.clone()]), [false, true]);
    let copy = disturbed(of("copy", 128.0, 2e10));
    assert_eq!(hidden(&[triad, copy, kernel]), [false; 3]);
}

#[test]
fn what_one_reached_in_a_cache_is_possible_there_only() {
    let triad = [of("triad", 8.0, 2e11), of("triad", 192.0, 2e10)];
    let copy = disturbed(of("copy", 24.0, 2e11));
    let with = |mib| [&triad[..], &[copy.clone(), moves("a", mib, 1e11)]].concat();
    assert_eq!(hidden(&with(24.0))[3..], [false]);
    assert_eq!(hidden(&with(256.0))[3..], [true]);
    // Nor does one that is right.
    let curves = [of("copy", 8.0, 1.8e11), of("copy", 24.0, 1.7e11), of("copy", 512.0, 2e10)];
    let read = [of("read", 8.0, 2e11), of("read", 24.0, 2e11)];
    let records = [&curves[..], &read, &[of("triad", 600.0, 1e11)]].concat();
    assert_eq!(hidden(&records)[5..], [true]);
}

#[test]
fn one_that_is_impossible_itself_shows_nothing() {
    let read = [of("read", 4.1, 7.9e9), of("read", 66.0, 4e9)];
    let records = [&read[..], &[disturbed(of("copy", 128.0, 1.5e10)), moves("a", 128.0, 1.5e10)]];
    assert_eq!(hidden(&records.concat())[2..], [true; 2]);
}

/// As it happened on lavapipe, where `read` is bound by its instructions: both others were flagged *drift*.
#[test]
fn of_two_either_shows_what_is_possible() {
    let cpu = DeviceInfo { kind: DeviceKind::Cpu, ..device("opencl") };
    let read = [of("read", 4.1, 7.9e9), of("read", 66.0, 4e9)];
    let others = [of("copy", 128.0, 7.8e9), of("triad", 192.0, 7.7e9)].map(disturbed);
    assert_eq!(hidden_on(cpu.clone(), &[&read[..], &others].concat()), [false; 4]);
    let alone = [&read[..], &others[..1]].concat();
    assert_eq!(hidden_on(cpu, &alone), [false, false, true], "nobody else reached it");
}

/// As it happened in a restless hour: `read`, whose instructions bound it, was a quarter slower at 4 MiB than below, and was
/// taken for the memory from there on.
#[test]
fn a_moment_s_fall_is_not_the_memory() {
    let cpu = DeviceInfo { kind: DeviceKind::Cpu, ..device("opencl") };
    let read = [(0.26, 3.5e10), (4.1, 2.84e10), (66.0, 2.02e10), (264.0, 2.6e10)];
    let copy = [(8.0, 1.24e11), (128.0, 3.23e10), (512.0, 3.06e10)];
    let triad = [(12.0, 9.61e10), (192.0, 3.33e10), (768.0, 3.25e10)];
    let all = |name: &str, points: &[(f64, f64)]| -> Vec<Record> {
        points.iter().map(|&(mib, rate)| of(name, mib, rate)).collect()
    };
    let [read, copy, triad] = [all("read", &read), all("copy", &copy), all("triad", &triad)];
    assert_eq!(hidden_on(cpu.clone(), &[&read[..], &copy, &triad].concat()), [false; 10]);
    assert_eq!(hidden_on(cpu.clone(), &[&read[..], &triad].concat()), [false; 7]);
    // One that has lost its large sizes shows no memory either.
    assert_eq!(hidden_on(cpu.clone(), &[&read[..2], &copy, &triad].concat()), [false; 8]);
    let wrong = [&read[..], &copy, &all("triad", &[(768.0, 6.6e10)])].concat();
    assert!(hidden_on(cpu, &wrong)[7], "twice what others reach in the memory");
}

/// As it happened: the memory was twice as fast when `copy` and `triad` of the largest sizes had their turn.
#[test]
fn what_was_fast_for_a_moment_clears_another_of_that_moment() {
    let cpu = DeviceInfo { kind: DeviceKind::Cpu, ..device("opencl") };
    let read = [(4.1, 5.7e10), (66.0, 2.6e10), (264.0, 2.67e10)];
    let copy = [(8.0, 7.5e10), (128.0, 3.5e10), (512.0, 5.4e10)];
    let triad = [(12.0, 9.6e10), (192.0, 3.5e10), (768.0, 5.9e10)];
    let all = |name: &str, points: [(f64, f64); 3]| points.map(|(mib, rate)| of(name, mib, rate));
    let curves = [all("read", read), all("copy", copy), all("triad", triad)];
    assert_eq!(hidden_on(cpu, curves.as_flattened()), [false; 9]);
}
