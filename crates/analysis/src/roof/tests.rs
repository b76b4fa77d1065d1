use super::Figure;
use crate::{Roof, aggregate, derive_flags};
use gpubench_core::gpu::{DeviceInfo, DeviceKind, Scalar};
use gpubench_core::record::sample::{built, device, header, key, record};
use gpubench_core::record::{Built, Flag, Grade, Outcome, Record};
use gpubench_core::units::Bytes;
use gpubench_core::workload::Ceiling;

const MIB: f64 = 1024.0 * 1024.0;

/// A kernel that touches all of `mib` MiB once, at so many bytes a second.
pub(super) fn moves(name: &str, mib: f64, rate: f64) -> Record {
    let bytes = mib * MIB;
    let mut record = record(key(name, mib as i64), bytes / rate);
    let measured = record.measured.as_mut().expect("a sample is measured");
    (measured.bytes, measured.flops) = (bytes, 0.0);
    record.working_set = Some(bytes as u64);
    record
}

/// A kernel of `items` work-items that computes at so many operations a second and touches little.
pub(super) fn computes(name: &str, items: u32, rate: f64) -> Record {
    let mut record = record(key(name, i64::from(items)), 1e6 * f64::from(items) / rate);
    let measured = record.measured.as_mut().expect("a sample is measured");
    (measured.bytes, measured.flops) = (4.0, 1e6 * f64::from(items));
    record.kernel = Some(Built { group: [1; 3], groups: [items, 1, 1], ..built("") });
    record
}

pub(super) fn ceiling(of: Ceiling, record: Record) -> Record {
    Record { ceiling: Some(of), ..record }
}

pub(super) fn bandwidth(mib: f64, rate: f64) -> Record {
    ceiling(Ceiling::Bandwidth, moves("triad", mib, rate))
}

/// Which of the records are hidden on such a device.
pub(super) fn hidden_on(device: DeviceInfo, records: &[Record]) -> Vec<bool> {
    let mut records = records.to_vec();
    let header = header(vec![device.clone(), device]);
    derive_flags(&header, &mut records);
    let once = records.clone();
    derive_flags(&header, &mut records);
    assert_eq!(once, records, "deriving flags again changes nothing");
    let is_hidden = |r: &Record| r.flags.iter().any(|flag| flag.grade() == Grade::Hidden);
    records.iter().map(is_hidden).collect()
}

pub(super) fn hidden(records: &[Record]) -> Vec<bool> {
    hidden_on(device("opencl"), records)
}

#[test]
fn faster_than_the_ceiling_is_impossible() {
    let fma = ceiling(Ceiling::Flops, computes("fma", 1024, 1e12));
    let arithmetic = [fma, computes("a", 1024, 1.1e12), computes("b", 1024, 1.3e12)];
    assert_eq!(hidden(&arithmetic), [false, false, true]);
    let memory = [bandwidth(192.0, 1e11), moves("a", 256.0, 1.1e11), moves("b", 256.0, 1.3e11)];
    assert_eq!(hidden(&memory), [false, false, true]);
    let mut elsewhere = memory;
    elsewhere[2].device = 1;
    assert_eq!(hidden(&elsewhere), [false; 3], "another device is no ceiling");
}

/// As it happened: without `triad` the bytes of `fma`, 56.1 MB a second, were taken for a bandwidth.
#[test]
fn the_bytes_of_fma_are_no_bandwidth() {
    let mut fma = ceiling(Ceiling::Flops, computes("fma", 65_536, 4.6e11));
    let measured = fma.measured.as_mut().expect("a sample is measured");
    measured.bytes = 56.1e6 * measured.samples[0];
    fma.working_set = Some(measured.bytes as u64);
    let records = [fma, moves("stencil", 128.0, 2e10), moves("transpose", 32.0, 8e9)];
    assert_eq!(hidden(&records), [false; 3]);
}

/// As it happened: the driver reports a cache of 1 MiB, the processor has 32, and `sepia` works in it.
#[test]
fn a_level_is_where_the_curve_bends_and_not_what_a_driver_reports() {
    let small = DeviceInfo { cache: Some(Bytes::mib(1)), ..device("opencl") };
    let curve = [bandwidth(8.0, 6e10), bandwidth(24.0, 5.5e10), bandwidth(192.0, 1e10)];
    let records = [&curve[..], &[moves("sepia", 24.0, 5e10)]].concat();
    assert_eq!(hidden_on(small.clone(), &records), [false; 4]);
    // With the memory's size alone nothing is known of smaller ones.
    let records = [bandwidth(192.0, 1e10), moves("sepia", 24.0, 5e10)];
    assert_eq!(hidden_on(small.clone(), &records), [false; 2]);
    // In the memory itself it would be impossible.
    let records = [&curve[..], &[moves("sepia", 256.0, 5e10)]].concat();
    assert_eq!(hidden_on(small, &records), [false, false, false, true]);
}

/// As it happened: on PoCL `triad` is three times as fast in the cache as `read`, whose instructions bound it.
#[test]
fn a_ceiling_is_held_against_anothers_memory_and_not_against_its_caches() {
    let cpu = DeviceInfo { kind: DeviceKind::Cpu, ..device("opencl") };
    let reads = |mib, rate| ceiling(Ceiling::Bandwidth, moves("read", mib, rate));
    let falling = [reads(0.26, 3.6e10), reads(4.1, 5.95e10), reads(66.0, 2.8e10)];
    let flat = [reads(0.26, 3.6e10), reads(4.1, 5.95e10), reads(66.0, 5.2e10)];
    let with = |read: &[Record], mib| [read, &[bandwidth(mib, 1.54e11)]].concat();
    assert_eq!(hidden_on(cpu.clone(), &with(&falling, 12.0)), [false; 4]);
    assert_eq!(hidden_on(cpu.clone(), &with(&falling, 192.0)), [false, false, false, true]);
    // A curve that never falls may be its instructions' throughout, unless another shows the memory.
    assert_eq!(hidden_on(cpu.clone(), &with(&flat, 12.0)), [false; 4]);
    assert_eq!(hidden_on(cpu.clone(), &with(&flat, 192.0)), [false; 4]);
    assert_eq!(hidden_on(cpu.clone(), &with(&flat, 66.0)), [false, false, false, true]);
    // Without its large size it may have been in the cache throughout.
    let records = [&falling[..2], &[bandwidth(12.0, 1.54e11)]].concat();
    assert_eq!(hidden_on(cpu, &records), [false; 3]);
}

/// As on lavapipe, where `read` is bound by its instructions: what `triad` reaches with more bytes clears `copy`.
#[test]
fn a_ceiling_may_reach_what_another_reaches_with_more_bytes() {
    let cpu = DeviceInfo { kind: DeviceKind::Cpu, ..device("opencl") };
    let all = |name: &str, of: &[(f64, f64)]| -> Vec<Record> {
        of.iter().map(|&(mib, rate)| ceiling(Ceiling::Bandwidth, moves(name, mib, rate))).collect()
    };
    let read = all("read", &[(0.26, 3e9), (4.1, 7.9e9), (66.0, 4.12e9)]);
    let copy = all("copy", &[(0.5, 4.9e9), (8.0, 1.03e10), (128.0, 9.6e9)]);
    let triad = |rate| all("triad", &[(0.75, 6e9), (12.0, 1.07e10), (192.0, rate)]);
    let with = |rate| [read.clone(), copy.clone(), triad(rate)].concat();
    assert_eq!(hidden_on(cpu.clone(), &with(1.03e10)), [false; 9]);
    let hidden = hidden_on(cpu, &with(4e9));
    assert!(hidden[5], "nothing else reaches what `copy` does there: {hidden:?}");
}

/// The sizes that the suites have, which differ by workload: a clock that is off by 2 shows in the memory.
#[test]
fn a_ceiling_with_a_wrong_clock_is_caught_by_another_ceiling() {
    let points = |name: &str, off: f64, of: [(f64, f64); 3]| {
        of.map(|(mib, rate)| ceiling(Ceiling::Bandwidth, moves(name, mib, off * rate)))
    };
    let records = |triad, copy| {
        let triad = points("triad", triad, [(0.75, 4e12), (12.0, 5e12), (192.0, 2.9e12)]);
        let copy = points("copy", copy, [(0.5, 4e12), (8.0, 5e12), (128.0, 2.8e12)]);
        [triad, copy].concat()
    };
    assert_eq!(hidden(&records(1.0, 1.0)), [false; 6]);
    assert_eq!(hidden(&records(2.0, 1.0)), [false, false, true, false, false, false]);
}

/// An RX 570's memory is specified to move 224 GB a second; a public table lists 1.38 times that. What
/// such cards reach is 85 % of it.
#[test]
fn a_figure_above_the_specification_is_caught() {
    let specified = 224e9;
    let measured = [bandwidth(48.0, 0.84 * specified), bandwidth(192.0, 0.85 * specified)];
    let records = [&measured[..], &[moves("copy", 512.0, 1.38 * specified)]].concat();
    assert_eq!(hidden(&records), [false, false, true]);
}

#[test]
fn a_processor_reads_before_it_writes() {
    let cpu = DeviceInfo { kind: DeviceKind::Cpu, ..device("opencl") };
    let records = |rate| [bandwidth(192.0, 1e10), moves("sums", 256.0, rate)];
    assert_eq!(hidden_on(cpu.clone(), &records(1.6e10)), [false; 2]);
    assert_eq!(hidden_on(cpu, &records(1.9e10)), [false, true]);
    assert_eq!(hidden(&records(1.6e10)), [false, true], "a GPU does not");
}

/// As it happened: one round of `fma` reached 31.2 GFLOP/s while the machine was busy, the next 44.9 with a warning.
#[test]
fn a_ceiling_is_not_held_against_another_round_of_itself() {
    let again = |record: Record| Record {
        round: 1,
        flags: vec![Flag::Drift("10 % longer".into())],
        ..record
    };
    let fma = |rate| ceiling(Ceiling::Flops, computes("fma", 1024, rate));
    let (busy, better) = (fma(31.2e9), again(fma(44.9e9)));
    let kernel_of = |rate| computes("matmul", 1024, rate);
    let kernel = kernel_of(44.9e9);
    let found = hidden(&[busy.clone(), better.clone(), kernel]);
    assert_eq!(found, [false, false, true], "another kernel is no ceiling");
    let chains = ceiling(Ceiling::Flops, computes("chains", 1024, 31.2e9));
    assert_eq!(hidden(&[chains, better]), [false, true], "nor is one above another workload's");
    let (slow, fast) = (bandwidth(192.0, 1e10), again(bandwidth(192.0, 1.5e10)));
    assert_eq!(hidden(&[slow.clone(), fast.clone()]), [false; 2]);
    let copy = ceiling(Ceiling::Bandwidth, moves("copy", 192.0, 1e10));
    assert_eq!(hidden(&[slow.clone(), copy, fast]), [false, false, true]);
    // A ceiling of bandwidth stands under those of arithmetic.
    let mut computing = again(ceiling(Ceiling::Bandwidth, computes("triad", 1024, 44.9e9)));
    computing.working_set = Some(4);
    assert_eq!(hidden(&[busy, slow, computing]), [false, false, true]);
}

#[test]
fn what_a_ceiling_was_too_small_to_show_it_does_not_bound() {
    let of = |name, items, rate| ceiling(Ceiling::Flops, computes(name, items, rate));
    let fast = computes("matmul", 4096, 3e12);
    assert_eq!(hidden(&[of("fma", 512, 1e12), fast.clone()]), [false; 2], "too few work-items");
    let saturated = [of("fma", 512, 0.95e12), of("fma", 1024, 1e12), fast.clone()];
    assert_eq!(hidden(&saturated), [false, false, true], "more work-items were no faster");
    assert_eq!(hidden(&[of("fma", 512, 1e12), of("chains", 1024, 0.95e12), fast]), [false; 3]);
    // An empty launch takes a fifth of the ceiling's time.
    let mut short = bandwidth(1.0, 1e10);
    short.monitor.empty_launch = Some(0.2 * MIB / 1e10);
    assert_eq!(hidden(&[short, moves("a", 64.0, 5e10)]), [false; 2]);
}

#[test]
fn a_ceiling_that_was_disturbed_bounds_nothing() {
    let mut triad = bandwidth(192.0, 1e10);
    triad.flags.push(Flag::Throttled("power cap".into()));
    assert_eq!(hidden(&[triad.clone(), moves("a", 256.0, 2e10)]), [false; 2]);
    triad.flags = vec![Flag::NotConverged];
    assert_eq!(hidden(&[triad.clone(), moves("a", 256.0, 2e10)]), [false, true]);
}

#[test]
fn large_buffers_of_which_little_is_touched_are_in_no_memory() {
    let mut gather = moves("gather", 1.0, 5e10);
    gather.working_set = Some((256.0 * MIB) as u64);
    assert_eq!(hidden(&[bandwidth(192.0, 1e10), gather]), [false; 2]);
}

fn ceiling_at(records: &[Record], mib: f64) -> Option<f64> {
    Roof::of(records).memory_of(&moves("kernel", mib, 1e9))
}

/// What fits a cache ran, what does not was lost: a time limit, too little memory.
#[test]
fn a_curve_that_lost_its_large_sizes_is_no_ceiling_of_the_memory() {
    let whole = [bandwidth(8.0, 2e11), bandwidth(24.0, 2e11), bandwidth(192.0, 2e10)];
    assert_eq!(ceiling_at(&whole, 96.0), Some(2e10));
    let mut disturbed = whole.clone();
    disturbed[2].flags.push(Flag::Throttled("power cap".into()));
    for lost in [&whole[..2], &disturbed] {
        assert_eq!(ceiling_at(lost, 96.0), None, "the cache's is not the memory's");
        assert_eq!(ceiling_at(lost, 16.0), Some(2e11));
        // A curve only falls, so that what exceeds the cache's is impossible in the memory too.
        let impossible = [lost, &[moves("a", 96.0, 2.5e11)]].concat();
        assert_eq!(hidden(&impossible).last(), Some(&true));
    }
}

#[test]
fn a_curve_that_reaches_further_shows_that_another_ends_in_a_cache() {
    let copies = |mib, rate| ceiling(Ceiling::Bandwidth, moves("copy", mib, rate));
    let copy = [copies(8.0, 1.8e11), copies(24.0, 1.7e11), copies(512.0, 2e10)];
    let lost = [bandwidth(8.0, 2e11), bandwidth(24.0, 2e11)];
    let records = [&copy[..], &lost].concat();
    assert_eq!(ceiling_at(&records, 96.0), Some(2e10));
    let roof = Roof::of(&records);
    assert_eq!(roof.bandwidth(), Some(2e10));
    assert_eq!([16.0, 512.0].map(|mib| roof.is_cached(mib * MIB)), [Some(true), Some(false)]);
    // A curve that ends in the memory counts, although another one reaches further.
    let records = [&copy[..], &lost, &[bandwidth(192.0, 2.2e10)]].concat();
    assert_eq!(ceiling_at(&records, 300.0), Some(2e10), "where the other bends is not known");
    let records = [&records[..], &[copies(128.0, 2.1e10)]].concat();
    assert_eq!(ceiling_at(&records, 300.0), Some(2.2e10));
}

/// The same in operations of other types, so many of them.
pub(super) fn typed(record: Record, types: &[(Scalar, f64)]) -> Record {
    let mut record = record;
    let measured = record.measured.as_mut().expect("a sample is measured");
    measured.types =
        types.iter().map(|(r#type, share)| (*r#type, share * measured.flops)).collect();
    record
}

#[test]
fn a_ceiling_bounds_the_type_that_it_is_of() {
    use Scalar::{F32, F64, I32};
    let peak =
        |rate, of| typed(ceiling(Ceiling::Flops, computes("chains", 4096, rate)), &[(of, 1.0)]);
    let kernel = |rate, types: &[(Scalar, f64)]| typed(computes("kernel", 64, rate), types);
    let peaks = [peak(1e12, F32), peak(1e10, F64)];
    let with = |kernels: &[Record]| hidden(&[&peaks[..], kernels].concat())[2..].to_vec();
    let (single, double) = (kernel(9e11, &[]), kernel(1.1e10, &[(F64, 1.0)]));
    assert_eq!(with(&[single.clone(), double.clone()]), [false; 2]);
    assert_eq!(with(&[kernel(1.3e12, &[]), kernel(1.3e10, &[(F64, 1.0)])]), [true; 2]);
    assert_eq!(with(&[kernel(9e12, &[(I32, 1.0)])]), [false], "nothing is known of it");
    // A tenth of the operations are of f64: it computes ten times as many as f64 alone.
    let mixed = |rate| kernel(rate, &[(F64, 0.1)]);
    assert_eq!(with(&[mixed(1e11), mixed(1.3e11)]), [false, true]);
    let roof = Roof::of(&peaks);
    assert_eq!(roof.types().collect::<Vec<_>>(), [(F32, 1e12), (F64, 1e10)]);
    let of = |record| roof.peak_of(&record).map(|rate| (rate / 1e9).round());
    assert_eq!([of(single), of(double), of(mixed(1e11))], [Some(1000.0), Some(10.0), Some(100.0)]);
    assert_eq!(of(kernel(1e9, &[(I32, 0.5)])), None);
}

#[test]
fn a_kernel_stands_under_the_level_that_its_working_set_is_in() {
    let fma = ceiling(Ceiling::Flops, computes("fma", 4096, 1e12));
    let records = [fma, bandwidth(8.0, 2e11), bandwidth(24.0, 1.9e11), bandwidth(192.0, 2e10)];
    let roof = Roof::of(&records);
    let of = |mib| roof.ceilings_of(&moves("kernel", mib, 1e9)).map(|of| of.bandwidth);
    assert_eq!([of(16.0), of(192.0)], [Some(2e11), Some(2e10)]);
    assert_eq!(of(512.0), None, "no ceiling touched as much");
    assert_eq!(of(1.0), Some(2e10), "of so little only the memory's is known");
    assert_eq!(roof.levels(), [(8.0 * MIB, 2e11), (192.0 * MIB, 2e10)]);
}

/// Timestamps of half the true length: every kernel seems twice as fast as on the host's clock, by which the
/// ceilings were measured.
#[test]
fn a_clock_that_is_off_by_two_is_caught_at_every_level_and_in_every_type() {
    let peak =
        |rate, of| typed(ceiling(Ceiling::Flops, computes("chains", 4096, rate)), &[(of, 1.0)]);
    let ceilings = [
        peak(1e12, Scalar::F32),
        peak(1e10, Scalar::F64),
        bandwidth(8.0, 2e11),
        bandwidth(192.0, 2e10),
    ];
    let right = [
        computes("a", 64, 8e11),
        typed(computes("b", 64, 8e9), &[(Scalar::F64, 1.0)]),
        moves("c", 16.0, 1.7e11),
        moves("d", 256.0, 1.7e10),
    ];
    let mut wrong = right.clone();
    for record in &mut wrong {
        let measured = record.measured.as_mut().expect("a sample is measured");
        measured.samples.iter_mut().for_each(|seconds| *seconds /= 2.0);
    }
    assert_eq!(hidden(&[&ceilings[..], &right].concat()), [false; 8]);
    assert_eq!(hidden(&[&ceilings[..], &wrong].concat())[4..], [true; 4]);
}

#[test]
fn a_launch_has_the_items_of_all_its_groups() {
    let mut record = computes("a", 1, 1e9);
    let built = record.kernel.as_mut().unwrap();
    (built.group, built.groups) = ([4, 2, 3], [5, 1, 7]);
    assert_eq!(Figure::of(&record).unwrap().items, 24 * 35);
    record.measured.as_mut().unwrap().samples.fill(0.0);
    assert!(Figure::of(&record).is_none(), "no time, no figure");
}

/// The most that is known of a type is what a verified kernel computes, where arithmetic of it was measured.
#[test]
fn a_kernel_that_computes_more_is_the_ceiling() {
    let peak = |records: &[Record]| {
        let cases = aggregate(records);
        Roof::at_values(&cases).types().map(|(_, rate)| rate).next()
    };
    let measured = ceiling(Ceiling::Flops, computes("fma", 1024, 1e12));
    let near = |found: Option<f64>, wanted: f64| {
        assert!(found.is_some_and(|rate| (rate / wanted - 1.0).abs() < 1e-9), "{found:?} {wanted}");
    };
    near(peak(std::slice::from_ref(&measured)), 1e12);
    near(peak(&[measured.clone(), computes("more", 1024, 1.5e12)]), 1.5e12);
    near(peak(&[measured.clone(), computes("less", 1024, 5e11)]), 1e12);
    assert_eq!(peak(&[computes("more", 1024, 1.5e12)]), None, "no ceiling was measured");
    // What was disturbed or is wrong says nothing, nor does arithmetic of another type.
    let mut disturbed = computes("more", 1024, 1.5e12);
    disturbed.flags = vec![Flag::Drift("by 5 %".into())];
    near(peak(&[measured.clone(), disturbed]), 1e12);
    let wrong = Record { outcome: Outcome::Unchecked, ..computes("more", 1024, 1.5e12) };
    near(peak(&[measured.clone(), wrong]), 1e12);
    let mut other = computes("more", 1024, 1.5e12);
    let typed = other.measured.as_mut().unwrap();
    typed.types = vec![(Scalar::F64, typed.flops)];
    let cases = [measured, other];
    let cases = aggregate(&cases);
    let roof = Roof::at_values(&cases);
    assert_eq!(roof.types().map(|(of, _)| of).collect::<Vec<_>>(), [Scalar::F32]);
}

/// A bandwidth is that of the value over all rounds, not of the fastest samples of one.
#[test]
fn a_roof_at_values_takes_the_value() {
    let mut wide = bandwidth(192.0, 1e11);
    let samples = &mut wide.measured.as_mut().unwrap().samples;
    let usual = samples[0];
    samples.iter_mut().zip(0..).for_each(|(sample, i)| *sample *= 1.0 + 0.1 * f64::from(i % 5 - 2));
    let cases = std::slice::from_ref(&wide);
    let cases = aggregate(cases);
    let value = cases[0].time.unwrap().value;
    assert!((value / usual - 1.0).abs() < 1e-9, "{value}");
    let found = Roof::at_values(&cases).bandwidth().unwrap();
    assert!((found / 1e11 - 1.0).abs() < 1e-9, "{found}");
}

#[test]
fn a_cache_serves_what_its_level_holds_or_the_driver_says_so() {
    let curve = [bandwidth(1.0, 4e11), bandwidth(256.0, 1e11)];
    let roof = Roof::of(&curve);
    assert!(roof.serves_from_cache(&moves("small", 1.0, 3e11)));
    assert!(!roof.serves_from_cache(&moves("large", 256.0, 5e10)));
    // Beyond what was measured the flag decides.
    let mut beyond = moves("huge", 512.0, 5e10);
    assert!(!roof.serves_from_cache(&beyond));
    beyond.flags = vec![Flag::Cache];
    assert!(roof.serves_from_cache(&beyond));
}

/// Of two ceilings of the memory the lower one's cache is within the margin of the higher one.
#[test]
fn a_level_a_little_faster_than_the_memory_is_no_cache() {
    let copies = |mib, rate| ceiling(Ceiling::Bandwidth, moves("copy", mib, rate));
    let records =
        [bandwidth(8.0, 1e11), bandwidth(512.0, 1e11), copies(8.0, 1.1e11), copies(512.0, 8e10)];
    let roof = Roof::of(&records);
    assert_eq!((roof.bandwidth(), roof.is_cached(16.0 * MIB)), (Some(1e11), Some(false)));
}
