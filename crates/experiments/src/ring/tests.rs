//! Rings whose ranks are threads of one process.

use super::*;
use crate::ranks::threads::on_ranks;

/// The first simulated device that has `f64`, or that does not.
fn device(has_double: bool) -> Remote {
    let devices = gpubench_device::by_name("sim").unwrap().devices().unwrap();
    let has = |info: &gpubench_core::gpu::DeviceInfo| info.features.iter().any(|f| f == "f64");
    let index = devices.iter().position(|info| has(info) == has_double).unwrap();
    Remote::open("sim", index).unwrap()
}

/// The product of so many ranks, each on a simulated device of its own.
fn product(n: usize, ranks: usize, precision: Precision) -> Vec<u8> {
    let ended = on_ranks(ranks, |me| {
        ring(&device(true), me, precision.suite().unwrap(), n, 5, &Variant::ALL).unwrap()
    });
    let run = |r: &Ringed| r.runs.iter().map(|(variant, ..)| *variant).collect::<Vec<_>>();
    assert!(ended.iter().all(|r| run(r) == Variant::ALL && r.computation > 0.0));
    let slowest = |r: &Ringed| (r.computation, r.transfer, r.communication, r.runs.clone());
    assert!(ended.iter().all(|r| slowest(r) == slowest(&ended[0])), "the slowest rank's, on all");
    assert!(ended[1..].iter().all(|ringed| ringed.product.is_none()));
    ended.into_iter().next().unwrap().product.unwrap()
}

#[test]
fn two_and_four_ranks_compute_what_one_does() {
    for (precision, bytes) in [(Precision::F32, 4), (Precision::F64, 8)] {
        let alone = product(64, 1, precision);
        assert_eq!(alone.len(), 64 * 64 * bytes);
        for ranks in [2, 4] {
            assert_eq!(product(64, ranks, precision), alone, "{ranks} ranks, bit for bit");
        }
    }
}

#[test]
fn a_double_product_is_more_than_a_single_one_written_wider() {
    let single: Vec<f32> = bytemuck::pod_collect_to_vec(&product(16, 1, Precision::F32));
    let double = gpubench_reference::Data::from_bytes(
        gpubench_core::gpu::Scalar::F64,
        &product(16, 1, Precision::F64),
    );
    let number = |i: usize| double.get(i).unwrap();
    let beyond_single = |i: &usize| f64::from(number(*i) as f32) != number(*i);
    assert!((0..256).filter(beyond_single).count() > 200);
    assert!(single.iter().all(|x| x.abs() < 16.0) && (0..256).all(|i| number(i).abs() < 16.0));
}

#[test]
fn a_device_without_double_precision_says_so() {
    let ended = on_ranks(1, |me| {
        let suite = Precision::F64.suite().unwrap();
        ring(&device(false), me, suite, 16, 5, &Variant::ALL).unwrap_err().to_string()
    });
    let reason = "needs `f64`, which the device does not offer";
    assert!(ended[0].contains(reason), "{}", ended[0]);
}

#[test]
fn for_ranks_that_do_not_divide_n_divisors_are_suggested() {
    assert_eq!(columns(1024, 4).unwrap(), 256);
    let message = |n, ranks| columns(n, ranks).unwrap_err().to_string();
    assert_eq!(message(1000, 3), "3 ranks do not divide n = 1000: take 999 or 1002");
    assert_eq!(message(2, 4), "4 ranks do not divide n = 2: take 4");
    assert!(columns(0, 2).is_err());
    assert_eq!(message(64, 0), "a ring has a rank at least");
}

#[test]
fn matrices_grow_with_the_cube_root_of_the_ranks() {
    assert_eq!(alike(1024, 4, 4), 1024);
    assert_eq!(alike(1024, 8, 1), 512);
    assert_eq!((alike(1024, 4, 1), alike(1024, 4, 2)), (645, 812));
    assert_eq!(alike(1, 4, 2), 2);
}

#[test]
fn model_2_expects_the_same_of_messages_that_do_not_block_and_of_a_thread() {
    let strategies = Variant::ALL.map(Variant::strategy);
    let expected = [Strategy::Synchronous, Strategy::Native, Strategy::Native, Strategy::Total];
    assert_eq!(strategies, expected);
    let ended = on_ranks(2, |me| {
        ring(&device(true), me, Precision::F32.suite().unwrap(), 32, 5, &[Variant::NonBlocking])
            .unwrap()
    });
    let Ringed { computation, transfer, communication, runs, .. } = &ended[0];
    let [(Variant::NonBlocking, _, predicted)] = runs[..] else { panic!("{runs:?}") };
    let wanted = 2.0 * transfer + f64::max(2.0 * computation, *communication);
    assert!((predicted / wanted - 1.0).abs() < 1e-12);
}
