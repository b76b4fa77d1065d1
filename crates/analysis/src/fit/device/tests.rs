//! What a profile says, and what stands in for what it lacks.

use super::*;
use crate::fit::hand_computed::{changed, exact, launch, profile};
use gpubench_core::record::profile::{
    Atomics, Bandwidth, Barrier, Footprint, Instruction, Launch, Residency, Strides,
};

fn of(profile: &Profile) -> Device {
    Device::new(profile, End::Middle).unwrap()
}

fn priced(class: Class, latency: Option<f64>, rate: Option<f64>) -> Instruction {
    Instruction { class, latency: latency.map(exact), throughput: rate.map(exact) }
}

#[test]
fn costs_are_lowest_at_the_fast_end_and_rates_highest() {
    let value = Value { value: 2.0, interval: [1.0, 4.0] };
    assert_eq!([End::Fast, End::Middle, End::Slow].map(|end| end.cost(value)), [1.0, 2.0, 4.0]);
    assert_eq!([End::Fast, End::Middle, End::Slow].map(|end| end.rate(value)), [4.0, 2.0, 1.0]);
}

#[test]
fn what_was_characterised_is_taken_as_it_is() {
    let mut profile = profile();
    profile.device.clock_hz = Some(1.5e9);
    let (latency, each) = (Some(exact(9e-6)), Some(exact(5e-6)));
    profile.launch = Some(Launch { latency, each });
    let small = Footprint { bytes: 1 << 10, latency: exact(20e-9) };
    profile.chase.push(small);
    profile.atomics = Some(Atomics { contended: Some(exact(1e8)), apart: Some(exact(1e9)) });
    // Of two sizes the larger: 30 ns but for two accesses of 5 ns and an addition of 4.
    profile.local.as_mut().unwrap().latency = Some(exact(5e-9));
    let barrier = |group_size, seconds| Barrier { group_size, exchange: exact(seconds) };
    profile.barriers = vec![barrier(64, 25e-9), barrier(256, 30e-9)];
    let device = of(&profile);
    assert_eq!((device.clock, device.launch), (1.5e9, 5e-6));
    assert_eq!(device.memory_latency().unwrap(), 400e-9, "the largest working set's");
    assert_eq!((device.local, device.atomics), (256e9, Some(1e9)));
    assert!((device.barrier - 16e-9).abs() < 1e-15, "{}", device.barrier);
    profile.launch = Some(Launch { latency, each: None });
    assert_eq!(of(&profile).launch, 9e-6);
}

#[test]
fn what_the_profile_lacks_costs_nothing_or_what_is_alike() {
    let mut profile = profile();
    (profile.local, profile.device.clock_hz) = (None, None);
    let device = of(&profile);
    assert_eq!((device.launch, device.barrier, device.atomics), (0.0, 0.0, None));
    assert_eq!((device.clock, device.local), (1e9, 64e9), "that of reading memory");
    profile.chase.clear();
    assert!(of(&profile).memory_latency().is_err());
    // Reads as fast as copies, and else as writes.
    profile.streams.remove(0);
    assert_eq!(of(&profile).read.at(1e9), 32e9);
    let mut copy = profile.streams[0].clone();
    (copy.traffic, copy.points[0].bandwidth) = (Traffic::Copy, exact(48e9));
    profile.streams.push(copy);
    let device = of(&profile);
    assert_eq!((device.read.at(1e9), device.write.at(1e9)), (48e9, 32e9));
    let why = |profile: &Profile| Device::new(profile, End::Middle).unwrap_err().to_string();
    profile.instructions.clear();
    assert!(why(&profile).contains("what any instruction costs"));
    profile.streams.clear();
    assert!(why(&profile).contains("a bandwidth of global memory"));
}

#[test]
fn conflicts_are_known_not_to_matter_where_one_bank_was_found() {
    let with = |banks| {
        let mut profile = profile();
        profile.local.as_mut().unwrap().banks = banks;
        of(&profile).conflicts
    };
    assert_eq!([Some(1), Some(32), None].map(with), [false, true, true]);
}

#[test]
fn a_class_without_a_price_costs_what_its_like_do() {
    let mut profile = profile();
    profile.instructions = vec![
        priced(Class::IntAdd, Some(4e-9), Some(64e9)),
        priced(Class::FloatMul, Some(8e-9), Some(32e9)),
        priced(Class::Logic, Some(5e-9), Some(60e9)),
        priced(Class::Compare, Some(6e-9), Some(50e9)),
        priced(Class::FloatDiv, Some(20e-9), Some(4e9)),
        priced(Class::FloatAdd, Some(3e-9), Some(100e9)),
    ];
    let check = |profile: &Profile, wanted: &[(Class, f64, f64)]| {
        let device = of(profile);
        for &(class, latency, rate) in wanted {
            assert_eq!((device.latency(class), device.rate(class)), (latency, rate), "{class:?}");
        }
    };
    let quick = [
        (Class::Branch, 6e-9, 50e9),
        (Class::Shift, 5e-9, 60e9),
        (Class::Convert, 5e-9, 60e9),
        (Class::FloatFma, 8e-9, 32e9),
        (Class::FloatMinMax, 8e-9, 32e9),
        (Class::IntMul, 4e-9, 64e9),
        (Class::GlobalRead, 4e-9, 64e9),
    ];
    check(&profile, &quick);
    let special = [Class::FloatSqrt, Class::FloatExp, Class::FloatLog, Class::FloatTrigonometry];
    check(&profile, &special.map(|class| (class, 20e-9, 4e9)));
    // Without those, what is commonest of its kind.
    profile.instructions.retain(|one| matches!(one.class, Class::IntAdd | Class::FloatAdd));
    check(&profile, &special.map(|class| (class, 3e-9, 100e9)));
    check(&profile, &[(Class::Shift, 4e-9, 64e9), (Class::FloatMinMax, 3e-9, 100e9)]);
    // And without those, the cheapest that is known.
    let (one, other) = (Class::FloatDiv, Class::IntDiv);
    profile.instructions =
        vec![priced(one, Some(9e-9), Some(2e9)), priced(other, Some(7e-9), Some(3e9))];
    check(&profile, &[(Class::FloatAdd, 7e-9, 3e9), (Class::IntAdd, 7e-9, 3e9)]);
}

/// Two units, on each of which a chain of 64 work-items starts one instruction after the other.
#[test]
fn a_latency_and_a_rate_bound_each_other() {
    let mut profile = profile();
    let rate_of = |profile: &Profile, latency| {
        let mut profile = profile.clone();
        profile.instructions.push(priced(Class::Shift, Some(latency), None));
        of(&profile).rate(Class::Shift)
    };
    assert_eq!(rate_of(&profile, 8e-9), 32e9, "a product takes as long");
    assert_eq!(rate_of(&profile, 4.5e-9), 32e9);
    assert_eq!(rate_of(&profile, 1e-9), 128.0 / 1e-9, "a group a unit alone starts as many");
    profile.instructions.push(priced(Class::Shift, None, Some(16e9)));
    assert_eq!(of(&profile).latency(Class::Shift), 8e-9);
    profile.residency = None;
    profile.device.compute_units = None;
    assert_eq!(of(&profile).latency(Class::Shift), 4e-9, "of one unit");
}

#[test]
fn bandwidth_is_that_of_the_width_that_is_fastest_in_a_full_device() {
    let mut profile = profile();
    let point = |groups, rate| Bandwidth { groups, bandwidth: exact(rate) };
    let mut wide = profile.streams[0].clone();
    (wide.width, wide.group_size) = (16, 128);
    wide.points = vec![point(1, 10e9), point(2, 80e9)];
    let mut empty = wide.clone();
    empty.points.clear();
    profile.streams.extend([wide, empty]);
    let device = of(&profile);
    assert_eq!([128.0, 192.0, 256.0].map(|items| device.read.at(items)), [10e9, 45e9, 80e9]);
}

#[test]
fn a_unit_holds_what_was_seen_and_a_group_at_least() {
    let mut profile = profile();
    let unit = |profile: &Profile| of(profile).unit;
    let held = |groups, items, bytes| Residency {
        units: 3,
        groups,
        work_items: items,
        local_memory: bytes,
    };
    profile.residency = Some(held(5, 500, 65_536));
    let seen = unit(&profile);
    assert_eq!((seen.units, seen.groups, seen.warps), (3, 5, 16));
    assert_eq!((seen.warp, seen.local_memory, seen.registers), (32, 65_536, 0));
    profile.residency = Some(held(5, 100, 100));
    let seen = unit(&profile);
    assert_eq!((seen.warps, seen.local_memory), (8, 32_768), "a group of 256, 32 KiB");
    profile.residency = None;
    let seen = unit(&profile);
    assert_eq!((seen.units, seen.groups), (4, 8), "units as the driver reports, a warp a group");
    profile.device.local_memory = gpubench_core::units::Bytes(1 << 33);
    assert_eq!(unit(&profile).local_memory, u32::MAX);
}

#[test]
fn a_group_that_does_not_fit_is_an_error() {
    let device = of(&profile());
    let why = |change: &dyn Fn(&mut Counts)| {
        let counted = changed(8.0, change).counted.unwrap();
        device.resident(&counted.group, 8.0).unwrap_err().to_string()
    };
    let large = why(&|group| group.group_size = 257);
    assert!(large.contains("257 work-items") && large.contains("takes 256"), "{large}");
    let large = why(&|group| group.local_bytes = 32_769);
    assert!(large.contains("32769 B") && large.contains("has 32768 B"), "{large}");
    let fits = changed(8.0, |group| (group.group_size, group.local_bytes) = (256, 32_768));
    let held = device.resident(&fits.counted.unwrap().group, 8.0).unwrap();
    assert_eq!((held.groups, held.warps, held.rounds), (1, 8, 4));
    let few = launch().counted.unwrap();
    assert_eq!(device.resident(&few.group, 3.0).unwrap().groups, 2);
}

#[test]
fn kernels_are_counted_by_what_is_known_and_else_as_usual() {
    let with = |subgroup, transaction, banks| {
        let mut profile = profile();
        profile.device.subgroup = subgroup;
        profile.strides = Some(Strides { strides: vec![], offsets: vec![], transaction });
        profile.local.as_mut().unwrap().banks = banks;
        let rules = rules(&profile);
        (rules.warp, rules.transaction, rules.banks)
    };
    assert_eq!(with(Some([8, 16]), Some(64), Some(16)), (16, 64, 16));
    assert_eq!(with(Some([1, 128]), None, Some(2)), (128, 128, 2));
    assert_eq!(with(Some([33, 33]), None, Some(1)), (32, 128, 32));
    assert_eq!(with(Some([256, 256]), None, None), (32, 128, 32));
    assert_eq!(with(None, None, None), (32, 128, 32));
}
